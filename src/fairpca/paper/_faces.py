"""Faces to learn from and faces to show: CelebA where the user has it, else FairFace."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import numpy as np

from ..datasets import load_celeba, load_fairface
from ..errors import MissingDataError

FITTED_SHARE = 0.7
MOST_FACES, MOST_PROBED = 20_000, 3_000
"""Images to load, and held-out ones to probe: half a gigabyte, and minutes."""
OLD = ("50-59", "60-69", "more than 70")
SHORT = {
    "Latino_Hispanic": "Latino",
    "Middle Eastern": "Mid. Eastern",
    "Southeast Asian": "SE Asian",
    "more than 70": "over 70",
}
"""Levels too long to stand above a picture."""
SHOWN = 10


@dataclass(frozen=True, eq=False)
class Faces:
    """Pictures as rows, and what is known of each.

    Parameters
    ----------
    name : str
        Data set.
    X : array of shape (n, size * size)
        Grey values from 0 to 1.
    attributes : mapping of str to array of shape (n,)
        What to erase, one at a time.
    words : sequence of str
        A few words about each picture.
    fitted, held_out : array of int
        Rows to learn from, and others.
    """

    name: str
    X: np.ndarray
    attributes: Mapping[str, np.ndarray]
    words: np.ndarray
    fitted: np.ndarray
    held_out: np.ndarray

    @property
    def size(self) -> int:
        """Height and width of a picture in pixels."""
        return int(np.sqrt(self.X.shape[1]))

    def pictures(self, rows: np.ndarray) -> np.ndarray:
        """Return rows as pictures, an array of shape (m, size, size)."""
        return rows.reshape(-1, self.size, self.size)


@lru_cache(maxsize=1)
def load_faces(data: Path | None, size: int, most: int = MOST_FACES) -> Faces:
    """Load CelebA, or FairFace where there is no CelebA, with a fixed choice of held-out faces.

    Parameters
    ----------
    data : Path or None
        Folder with the data.
    size : int
        Height and width in pixels.
    most : int
        Number of pictures at most, the first ones.

    Raises
    ------
    MissingDataError
        If neither data set is there; the message tells where to get FairFace.
    """
    try:
        dataset = load_celeba(data=data, size=size, rows=most)
    except MissingDataError:
        dataset = load_fairface(data=data, size=size, rows=most)
    known = {name: dataset.sensitive[name].astype(str).to_numpy() for name in dataset.sensitive}
    levels = zip(*known.values(), strict=True)
    words = np.array([_words(dict(zip(known, row, strict=True))) for row in levels])
    if dataset.name == "fairface":
        known["age 50+"] = np.where(np.isin(known.pop("age"), OLD), "yes", "no")
    order = np.random.default_rng(0).permutation(len(words))
    cut = round(FITTED_SHARE * len(words))
    return Faces(
        name=dataset.name,
        X=dataset.features.to_numpy(),
        attributes=known,
        words=words,
        fitted=np.sort(order[:cut]),
        held_out=np.sort(order[cut : cut + MOST_PROBED]),
    )


def chosen_faces(faces: Faces, n: int = SHOWN) -> np.ndarray:
    """Return held-out faces to show: each time the first new one of the group that lacks most.

    The groups of an attribute are to have equal shares, so all groups of all attributes are
    there; and nobody has looked at the pictures to choose.
    """
    groups = [
        (faces.held_out[z[faces.held_out] == level], len(np.unique(z)))
        for z in faces.attributes.values()
        for level in np.unique(z)
    ]
    chosen: list[int] = []
    while len(chosen) < n:
        fresh = [(group, m) for group, m in groups if not np.isin(group, chosen).all()]
        if not fresh:
            break
        lacking, _ = min(fresh, key=lambda pair: np.isin(chosen, pair[0]).sum() * pair[1])
        chosen.append(int(lacking[~np.isin(lacking, chosen)][0]))
    return np.array(chosen)


def _words(known: Mapping[str, str]) -> str:
    """Say what is known of a face: yes is the attribute's name, no is nothing."""
    said = [
        name if level == "yes" else SHORT.get(level, level)
        for name, level in known.items()
        if level != "no"
    ]
    return "\n".join(said)
