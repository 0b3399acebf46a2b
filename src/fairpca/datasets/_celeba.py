"""Faces of celebrities with what can be seen in them: glasses, hats, beards, smiles."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from ..errors import DamagedDataError, MissingDataError
from ._attributes import chosen_besides_target
from ._dataset import Dataset
from ._files import require
from ._images import chosen_rows, grey_rows, pixel_names
from ._tables import categories, frame, frame_of, read_csv

if TYPE_CHECKING:
    from pandas import DataFrame, Series

HOW_TO_GET = (
    "CelebA may not be redistributed, so it cannot be downloaded here. Get img_align_celeba.zip "
    "and list_attr_celeba.txt from https://mmlab.ie.cuhk.edu.hk/projects/CelebA.html and lay them "
    "out as FOLDER/celeba/list_attr_celeba.txt and FOLDER/celeba/img_align_celeba/000001.jpg, ..."
)


class Annotation(NamedTuple):
    """A column of the list, and the value there that means yes."""

    column: str
    yes: int


# The attributes of the paper, in its words.
PAPER: dict[str, Annotation] = {
    "bald": Annotation("Bald", 1),
    "beard": Annotation("No_Beard", -1),
    "eyeglasses": Annotation("Eyeglasses", 1),
    "hat": Annotation("Wearing_Hat", 1),
    "mustache": Annotation("Mustache", 1),
    "smiling": Annotation("Smiling", 1),
}

DESCRIPTION = (
    "Faces of celebrities from the internet, aligned and cropped, in grey; 40 annotations of what "
    "can be seen. A row is a picture, a column a pixel."
)

CITATION = (
    'Liu, Z., Luo, P., Wang, X., & Tang, X. (2015). "Deep Learning Face Attributes in the Wild". '
    "ICCV 2015, 3730-3738."
)


def load_celeba(
    *,
    data: str | os.PathLike[str] | None = None,
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
    >>> from fairpca.datasets import load_celeba
    >>> celeba = load_celeba(data="my-data", sensitive=["eyeglasses"], rows=1000)  # doctest: +SKIP
    >>> celeba  # doctest: +SKIP
    <Dataset celeba: 1000 rows, 6400 features, no target, sensitive: eyeglasses>

    The pictures may not be given away, so the folder has to be there:

    >>> from fairpca.datasets import MissingDataError
    >>> try:
    ...     load_celeba(data="no-such-folder")
    ... except MissingDataError as refusal:
    ...     print(str(refusal).split(".")[0])
    data='no-such-folder' is not a folder
    """
    listed = require(data, "celeba", "list_attr_celeba.txt", how_to_get=HOW_TO_GET)
    folder = require(data, "celeba", "img_align_celeba", how_to_get=HOW_TO_GET)
    annotations = _annotations(listed)
    present = {entry.name for entry in os.scandir(folder)}
    annotations = annotations[annotations.index.isin(present)]
    if annotations.empty:
        raise MissingDataError(
            f"None of the pictures listed in '{listed}' is in '{folder}'. {HOW_TO_GET}"
        )
    names = chosen_besides_target(
        target, sensitive, list(PAPER), [*PAPER, *annotations], lambda name: _meaning(name).column
    )
    annotations = annotations.iloc[chosen_rows(rows, len(annotations))]
    pixels = grey_rows([folder / name for name in annotations.index], size, crop=crop)
    features = frame_of(pixels, pixel_names(size))
    answers = {
        name: categories(_is(annotations, name).map({0: "no", 1: "yes"}), features.index)
        for name in names
    }
    return Dataset(
        name="celeba",
        features=features,
        target=None if target is None else _is(annotations, target).rename(target),
        sensitive=frame(answers, features.index),
        description=DESCRIPTION,
        citation=CITATION,
        licence="Non-commercial research only; no redistribution",
    )


def _annotations(path: Path) -> DataFrame:
    """Read the list: how many pictures, the names of the annotations, then one line each."""
    with path.open() as lines:
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


def _meaning(name: str) -> Annotation:
    return PAPER.get(name, Annotation(name, 1))
