"""Faces as rows of grey values, from folders that the user has: CelebA and FairFace."""

from __future__ import annotations

import hashlib
import io
import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from PIL import Image

from fairpca.datasets import Dataset
from fairpca.errors import UsageError

from .errors import DamagedDataError, MissingDataError
from .source import DataFolder, chosen_names, listed, read_csv, source

if TYPE_CHECKING:
    from pandas import DataFrame, Series


# The attributes of the paper, in its words: a column of CelebA's list, and what means yes there.
PAPER = {
    "bald": ("Bald", 1),
    "beard": ("No_Beard", -1),
    "eyeglasses": ("Eyeglasses", 1),
    "hat": ("Wearing_Hat", 1),
    "mustache": ("Mustache", 1),
    "smiling": ("Smiling", 1),
}

AGES = ["0-2", "3-9", "10-19", "20-29", "30-39", "40-49", "50-59", "60-69", "more than 70"]


def load_celeba(
    *,
    data: DataFolder = None,
    sensitive: Sequence[str] | None = None,
    target: str | None = None,
    size: int = 80,
    crop: bool = False,
    rows: int | Sequence[int] | None = None,
) -> Dataset:
    """Load CelebA from a folder that you have: up to 202,599 faces as rows of grey values.

    Parameters
    ----------
    data : path, optional
        Folder that holds ``celeba/img_align_celeba/`` and ``celeba/list_attr_celeba.txt``, or
        that holds these two itself. By default the folder in the environment variable
        `FAIRPCA_DATA`. Nothing is downloaded: the licence forbids redistribution.
    sensitive : sequence of str, optional
        Of "bald", "beard", "eyeglasses", "hat", "mustache" and "smiling", the attributes of the
        paper, which are the default, or any of the 40 names in the list, such as "Male".
    target : str, optional
        One of the same names. By default there is no target.
    size : int, default=80
        Pictures are made `size` pixels wide and high; 80 in the paper.
    crop : bool, default=False
        Whether to cut a centred square first, so that faces keep their proportions. The pictures
        are 178 x 218; the paper squeezes them.
    rows : int or sequence of int, optional
        The first so many pictures, or positions in the list, such as ``range(10_000, 20_000)``.
        All of them at size 80 take 5.2 GB.

    Returns
    -------
    Dataset
        ``size * size`` features `pixel_row_column` from 0 to 1, float32, in one block of memory;
        sensitive attributes with the levels "no" and "yes"; target 0 or 1, or None.

    Raises
    ------
    MissingDataError
        If there is no such folder; the message tells where to get the data.
    DamagedDataError
        If the list was cut off, or a picture is not readable.
    MissingExtraError
        If pandas or PIL is not installed.

    Notes
    -----
    Rows are the pictures that are both in the list and in the folder, in the order of the list.

    "beard" is the opposite of the annotation "No_Beard". The annotations are judgements of the
    people who labelled the pictures, "Attractive" and "Young" among them.

    To learn from more pictures than memory holds, load them in parts by `rows` and call
    `partial_fit` of `fairpca.FairPCA` with each.

    References
    ----------
    .. [1] Liu, Luo, Wang, Tang. "Deep Learning Face Attributes in the Wild". ICCV 2015.

    Examples
    --------
    >>> from fairpca_paper.datasets import load_celeba
    >>> celeba = load_celeba(data="my-data", sensitive=["eyeglasses"], rows=1000)  # doctest: +SKIP
    >>> celeba  # doctest: +SKIP
    <Dataset celeba: 1000 rows, 6400 features, no target, sensitive: eyeglasses>

    The licence forbids sharing the pictures, so the folder has to be there:

    >>> from fairpca_paper.datasets import MissingDataError
    >>> try:
    ...     load_celeba(data="no-such-folder")
    ... except MissingDataError as error:
    ...     print(str(error).split(".")[0])
    data='no-such-folder' is not a folder
    """
    celeba = source("celeba")
    labels = celeba.require(data, "list_attr_celeba.txt")
    folder = celeba.require(data, "img_align_celeba")
    annotations = _annotations(labels)
    present = {entry.name for entry in os.scandir(folder)}
    annotations = annotations[annotations.index.isin(present)]
    if annotations.empty:
        raise MissingDataError(
            f"None of the pictures listed in '{labels}' is in '{folder}'. {celeba.how_to_get}"
        )
    names = _chosen_besides_target(
        target, sensitive, list(PAPER), [*PAPER, *annotations], lambda name: _meaning(name)[0]
    )
    annotations = annotations.iloc[_chosen_rows(rows, len(annotations))]
    features = _pixels([folder / name for name in annotations.index], size, crop=crop)
    answers = {
        name: _categories(_is(annotations, name).map({0: "no", 1: "yes"}), features.index)
        for name in names
    }
    return celeba.dataset(
        features,
        pd.DataFrame(answers, index=features.index),
        None if target is None else _is(annotations, target).rename(target),
    )


def load_fairface(
    *,
    data: DataFolder = None,
    sensitive: Sequence[str] | None = None,
    target: str | None = None,
    split: str = "val",
    size: int = 80,
    rows: int | Sequence[int] | None = None,
) -> Dataset:
    """Load FairFace from a folder that you have: faces as rows of grey values.

    Parameters
    ----------
    data : path, optional
        Folder that holds ``fairface/val/`` and ``fairface/fairface_label_val.csv``, or that holds
        these two itself. By default the folder in the environment variable `FAIRPCA_DATA`.
        Nothing is downloaded: there is no stable address.
    sensitive : sequence of str, optional
        Of "gender", "race" and "age"; by default all that are not the target.
    target : str, optional
        One of the same names. By default there is no target.
    split : {"val", "train"}, default="val"
        Which of the published parts.
    size : int, default=80
        Pictures are made `size` pixels wide and high.
    rows : int or sequence of int, optional
        The first so many pictures, or positions among those that are there.

    Returns
    -------
    Dataset
        ``size * size`` features `pixel_row_column` from 0 to 1, float32, in one block of memory;
        sensitive attributes (and target) as categories, ages in their natural order.

    Raises
    ------
    MissingDataError
        If there is no such folder; the message tells where to get the data.
    DamagedDataError
        If a picture is not readable, or has another sha256 than the list says.
    MissingExtraError
        If pandas or PIL is not installed.

    Notes
    -----
    Rows are the pictures that are both labelled and in the folder, in the order of the labels:
    10,954 in the complete validation part.

    Where the folder of the data has a list ``images.sha256`` (lines of a checksum and a path such
    as ``fairface/val/1.jpg``), every picture that is loaded is checked against it.

    References
    ----------
    .. [1] Kärkkäinen, Joo. "FairFace: Face Attribute Dataset for Balanced Race, Gender, and Age
       for Bias Measurement and Mitigation". WACV 2021.

    Examples
    --------
    >>> from fairpca_paper.datasets import load_fairface
    >>> faces = load_fairface(sensitive=["race"], target="gender", rows=100)  # doctest: +SKIP
    >>> faces  # doctest: +SKIP
    <Dataset fairface: 100 rows, 6400 features, target 'gender', sensitive: race>
    """
    if split not in ("val", "train"):
        raise UsageError(f"split={split!r}, but FairFace has the parts 'val' and 'train'.")
    fairface = source("fairface")
    file = fairface.require(data, f"fairface_label_{split}.csv")
    pictures = fairface.require(data, split)
    labels = read_csv(file)
    present = {f"{split}/{entry.name}" for entry in os.scandir(pictures)}
    labels = labels[labels["file"].isin(present)]
    if labels.empty:
        raise MissingDataError(
            f"None of the pictures labelled in '{file}' is in '{pictures}'. {fairface.how_to_get}"
        )
    names = _chosen_besides_target(target, sensitive, fairface.sensitive, fairface.sensitive)
    labels = labels.iloc[_chosen_rows(rows, len(labels))]
    paths = [pictures.parent / file for file in labels["file"]]
    features = _pixels(paths, size, crop=True, sha256=_checksums(pictures.parent))
    columns = {
        name: _categories(labels[name], features.index, AGES if name == "age" else None)
        for name in fairface.sensitive
    }
    return fairface.dataset(
        features,
        pd.DataFrame({name: columns[name] for name in names}, index=features.index),
        None if target is None else columns[target].rename(target),
    )


def _chosen_besides_target(
    target: str | None,
    given: Sequence[str] | None,
    default: Sequence[str],
    available: Sequence[str],
    meaning: Callable[[str], str] = str,
) -> tuple[str, ...]:
    """Return the sensitive names; none may have the same meaning as the target."""
    if target is None:
        return chosen_names(given, default, available)
    if target not in set(available):
        raise UsageError(
            f"target='{target}', which these data do not have. There are: {listed(available)}."
        )
    others = [name for name in default if meaning(name) != meaning(target)]
    names = chosen_names(given, others, available)
    if meaning(target) in map(meaning, names):
        raise UsageError(
            f"target='{target}' is among the sensitive attributes {listed(names)}. A "
            f"representation that hides it cannot predict it; leave it out of one of the two."
        )
    return names


def _chosen_rows(rows: int | Sequence[int] | None, n_rows: int) -> np.ndarray:
    """Return positions of rows: all, the first so many, or those named."""
    if rows is None:
        return np.arange(n_rows)
    if isinstance(rows, int | np.integer):
        if rows < 1:
            raise UsageError(f"rows={rows}, but at least one row is needed.")
        return np.arange(min(int(rows), n_rows))
    positions = np.asarray(rows, dtype=int)
    if positions.size == 0 or positions.min() < 0 or positions.max() >= n_rows:
        raise UsageError(
            f"rows must name at least one of the rows 0 to {n_rows - 1}, each by its position; "
            f"given were {positions.size} positions"
            + (f" from {positions.min()} to {positions.max()}." if positions.size else ".")
        )
    return positions


def _pixels(
    paths: Sequence[Path], size: int, *, crop: bool, sha256: Mapping[Path, str] | None = None
) -> DataFrame:
    """Return a row of grey values per picture, made square, float32 from 0 (black) to 1 (white)."""
    if size < 1:
        raise UsageError(f"size={size}, but a picture has at least one pixel.")
    values = np.empty((len(paths), size * size), dtype=np.float32)
    for row, path in zip(values, paths, strict=True):
        content = path.read_bytes()
        expected = (sha256 or {}).get(path)
        if expected and (found := hashlib.sha256(content).hexdigest()) != expected:
            raise DamagedDataError(
                f"'{path}' is not the listed picture: its sha256 is {found}, expected {expected}. "
                f"Replace it, or remove it to do without it."
            )
        row[:] = _grey(path, content, size, crop)
    values /= 255
    names = [f"pixel_{row}_{column}" for row in range(size) for column in range(size)]
    return pd.DataFrame(values, columns=names, copy=False)


def _grey(path: Path, content: bytes, size: int, crop: bool) -> np.ndarray:
    try:
        with Image.open(io.BytesIO(content)) as picture:
            grey = picture.convert("L")
    except (OSError, SyntaxError, ValueError) as error:
        raise DamagedDataError(
            f"'{path}' is not a readable picture ({error}). Replace it, or remove it to do "
            f"without it."
        ) from error
    box = None
    if crop:
        side = min(grey.size)
        left, top = ((length - side) / 2 for length in grey.size)
        box = (left, top, left + side, top + side)
    return np.asarray(grey.resize((size, size), Image.Resampling.LANCZOS, box=box)).ravel()


def _categories(values: Any, index: Any, levels: list[str] | None = None) -> Series:
    """Return a categorical column; without `levels`, those that occur, sorted."""
    return pd.Series(pd.Categorical(values, categories=levels), index=index)


def _annotations(path: Path) -> DataFrame:
    """Read the list: how many pictures, the names of the annotations, then one line each."""
    with path.open(encoding="utf-8") as lines:
        announced = lines.readline().strip()
    table = read_csv(path, sep=r"\s+", skiprows=1)
    if announced != str(len(table)) or not table.isin([-1, 1]).all(axis=None):
        raise DamagedDataError(
            f"'{path}' announces {announced} pictures in its first line, but has {len(table)} "
            f"lines, or values other than -1 and 1. It was cut off or changed; get it again."
        )
    return table


def _is(annotations: DataFrame, name: str) -> Series:
    column, yes = _meaning(name)
    return (annotations[column] == yes).astype(int).reset_index(drop=True)


def _meaning(name: str) -> tuple[str, int]:
    return PAPER.get(name, (name, 1))


def _checksums(folder: Path) -> dict[Path, str]:
    """Read ``images.sha256`` where there is one; its paths begin with the folder's usual name."""
    listed = folder / "images.sha256"
    if not listed.is_file():
        return {}
    text = listed.read_text(encoding="utf-8")
    lines = [line.split(maxsplit=1) for line in text.splitlines() if line.strip()]
    return {folder / path.removeprefix("fairface/"): digest for digest, path in lines}
