"""A random sample of rows that come in parts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.sparse import vstack

from .._numerics import fingerprint_of, is_sparse, take_rows
from .._rows import Part, Rows, RowsElsewhere
from ..errors import UsageError
from ._reader import NO_ROWS, Reader, check_finite

SAMPLE_ROWS, SAMPLE_NUMBERS = 20_000, 2**24
"""A sample that comes to one place has at most so many rows, and numbers."""


def sampled_rows(reader: Reader, source: RowsElsewhere, *, fewest: int, seed: int) -> Rows:
    """Return rows drawn at random, in their order; all rows that count where these are few.

    The reader is one `for_batches`; at least `fewest` rows are needed.
    """
    assert reader.columns is not None
    n = max(fewest, min(SAMPLE_ROWS, SAMPLE_NUMBERS // max(1, reader.columns[0])))
    drawn = source.fold(DrawRows(reader, n, seed))
    if drawn is None:
        raise UsageError(NO_ROWS.format(type(source).__name__))
    weight = None if (drawn.weight == 1).all() else drawn.weight
    return Rows(drawn.X, weight)


@dataclass(frozen=True)
class DrawRows:
    """Give every row a random key and keep the rows with the smallest: a sample that adds up.

    The draw depends on the seed and on how rows are divided into parts, not on which part is read
    first.
    """

    reader: Reader
    n: int
    seed: int

    def __call__(self, part: Part) -> DrawnRows | None:
        """Return the rows of a part that count and may be in the sample."""
        if part.n_rows == 0:
            return None
        rows = self.reader.of_batch(part)
        check_finite(rows)  # here it is known where the rows are
        keys = np.random.default_rng([self.seed, part.number]).random(rows.n_rows)
        chosen = np.sort(np.argsort(keys, kind="stable")[: self.n])
        order = np.stack([np.full(len(chosen), part.number), chosen])
        weight = np.ones(len(chosen)) if rows.weight is None else rows.weight[chosen]
        return DrawnRows(self.n, keys[chosen], order, rows.take(chosen), weight)

    @property
    def asked_later(self) -> str:
        """Fingerprint of what the sample is for: who cannot have one is told before the draw."""
        return fingerprint_of(self.reader, self.reader.name)


@dataclass(frozen=True)
class DrawnRows:
    """Rows that may be in a sample of `n`, with their keys and places (part, row)."""

    n: int
    keys: np.ndarray
    places: np.ndarray
    X: Any
    weight: np.ndarray

    def __add__(self, other: DrawnRows) -> DrawnRows:
        keys = np.concatenate([self.keys, other.keys])
        places = np.concatenate([self.places, other.places], axis=1)
        kept = smallest_keys(keys, places, self.n)
        weight = np.concatenate([self.weight, other.weight])
        X = take_rows(_stacked(self.X, other.X), kept)
        return DrawnRows(self.n, keys[kept], places[:, kept], X, weight[kept])


def smallest_keys(keys: np.ndarray, places: np.ndarray, n: int) -> np.ndarray:
    """Return the positions of the n smallest keys, in the order of their places (part, row).

    Examples
    --------
    >>> smallest_keys(np.array([0.3, 0.9, 0.1]), np.array([[1, 0, 0], [0, 7, 2]]), n=2).tolist()
    [2, 0]
    """
    kept = np.lexsort((places[1], places[0], keys))[:n]
    return kept[np.lexsort((places[1, kept], places[0, kept]))]


def _stacked(a: Any, b: Any) -> Any:
    if is_sparse(a):
        return vstack([a, b], format="csr")
    return np.concatenate([a, b])
