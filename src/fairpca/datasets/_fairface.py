"""Faces of people of seven races, both genders and all ages, in equal measure."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from ..errors import MissingDataError, UsageError
from ._attributes import chosen_besides_target
from ._dataset import Dataset
from ._files import require
from ._images import chosen_rows, grey_rows, pixel_names
from ._tables import categories, frame, frame_of, read_csv

HOW_TO_GET = (
    "FairFace has no stable address for downloads. Follow the links at "
    "https://github.com/joojs/fairface to the pictures (padding 0.25) and the labels, and lay "
    "them out as FOLDER/fairface/fairface_label_val.csv and FOLDER/fairface/val/1.jpg, ..."
)

ATTRIBUTES = ("gender", "race", "age")

AGES = ["0-2", "3-9", "10-19", "20-29", "30-39", "40-49", "50-59", "60-69", "more than 70"]

DESCRIPTION = (
    "Faces from public pictures, cropped, in grey, chosen so that seven races are about equally "
    "frequent. Gender, race and age are what the people who labelled them saw. A row is a "
    "picture, a column a pixel."
)

CITATION = (
    'Kärkkäinen, K., & Joo, J. (2021). "FairFace: Face Attribute Dataset for Balanced Race, '
    'Gender, and Age for Bias Measurement and Mitigation". WACV 2021, 1548-1558.'
)


def load_fairface(
    *,
    data: str | os.PathLike[str] | None = None,
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
    >>> from fairpca.datasets import load_fairface
    >>> faces = load_fairface(sensitive=["race"], target="gender", rows=100)  # doctest: +SKIP
    >>> faces  # doctest: +SKIP
    <Dataset fairface: 100 rows, 6400 features, target 'gender', sensitive: race>
    """
    if split not in ("val", "train"):
        raise UsageError(f"split={split!r}, but FairFace has the parts 'val' and 'train'.")
    listed = require(data, "fairface", f"fairface_label_{split}.csv", how_to_get=HOW_TO_GET)
    pictures = require(data, "fairface", split, how_to_get=HOW_TO_GET)
    labels = read_csv(listed)
    present = {f"{split}/{entry.name}" for entry in os.scandir(pictures)}
    labels = labels[labels["file"].isin(present)]
    if labels.empty:
        raise MissingDataError(
            f"None of the pictures labelled in '{listed}' is in '{pictures}'. {HOW_TO_GET}"
        )
    names = chosen_besides_target(target, sensitive, ATTRIBUTES, ATTRIBUTES)
    labels = labels.iloc[chosen_rows(rows, len(labels))]
    paths = [pictures.parent / file for file in labels["file"]]
    pixels = grey_rows(paths, size, crop=True, sha256=_checksums(pictures.parent))
    features = frame_of(pixels, pixel_names(size))
    columns = {
        name: categories(labels[name], features.index, AGES if name == "age" else None)
        for name in ATTRIBUTES
    }
    return Dataset(
        name="fairface",
        features=features,
        target=None if target is None else columns[target].rename(target),
        sensitive=frame({name: columns[name] for name in names}, features.index),
        description=DESCRIPTION,
        citation=CITATION,
        licence="CC BY 4.0",
    )


def _checksums(folder: Path) -> dict[Path, str]:
    """Read ``images.sha256`` where there is one; its paths begin with the folder's usual name."""
    listed = folder / "images.sha256"
    if not listed.is_file():
        return {}
    lines = [line.split(maxsplit=1) for line in listed.read_text().splitlines() if line.strip()]
    return {folder / path.removeprefix("fairface/"): digest for digest, path in lines}
