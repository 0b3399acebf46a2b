"""A random sample of rows that come in batches: a sample that adds up."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import scipy.sparse

from .._numerics import is_sparse


def stacked(pieces: Sequence[Any]) -> Any:
    """Return arrays or sparse matrices as one."""
    if is_sparse(pieces[0]):
        return scipy.sparse.vstack(pieces, format="csr")
    return np.concatenate(pieces)


@dataclass
class LargestKey:
    """The largest random key that a row of the sample can have; threads share it, and it shrinks.

    Which of them is first does not decide what is drawn, only how much is drawn in vain.
    """

    value: float = 1.0


@dataclass(frozen=True)
class Sample:
    """The rows with the `n` smallest random keys, and some that may be; adds, in any order.

    Each piece has keys, places (batch, row), and rows: arrays, sparse matrices, or whatever has
    `take` and can be put together by `stack`.
    """

    n: int
    pieces: tuple[tuple[np.ndarray, np.ndarray, tuple[Any, ...]], ...]
    largest_key: LargestKey = field(default_factory=LargestKey)
    stack: Callable[[Sequence[Any]], Any] = stacked

    @classmethod
    def of(
        cls,
        n: int,
        keys: np.ndarray,
        number: int,
        rows: Callable[[np.ndarray], tuple[Any, ...]],
        largest_key: LargestKey | None = None,
        stack: Callable[[Sequence[Any]], Any] = stacked,
    ) -> Sample:
        """Draw from a batch of this number; `rows` returns the rows at given positions."""
        limit = largest_key or LargestKey()
        chosen = np.flatnonzero(keys <= limit.value)
        if len(chosen) > n:
            chosen = np.sort(chosen[np.argsort(keys[chosen], kind="stable")[:n]])
        places = np.stack([np.full(len(chosen), number), chosen])
        return cls(n, ((keys[chosen], places, rows(chosen)),), limit, stack)

    def __add__(self, other: Sample) -> Sample:
        both = replace(self, pieces=self.pieces + other.pieces)
        held = sum(len(keys) for keys, _, _ in both.pieces)
        return both.merged() if held > 1.5 * self.n else both

    def merged(self) -> Sample:
        """Return the sample in one piece, its rows in their order."""
        keys = np.concatenate([keys for keys, _, _ in self.pieces])
        places = np.concatenate([places for _, places, _ in self.pieces], axis=1)
        smallest = np.lexsort((places[1], places[0], keys))[: self.n]
        kept = smallest[np.lexsort((places[1, smallest], places[0, smallest]))]
        each = zip(*(rows for _, _, rows in self.pieces), strict=True)
        rows = tuple(rows_at(self.stack(column), kept) for column in each)
        if len(kept) == self.n:
            self.largest_key.value = min(self.largest_key.value, float(keys[kept].max()))
        return replace(self, pieces=((keys[kept], places[:, kept], rows),))

    @property
    def rows(self) -> tuple[Any, ...]:
        """The rows of the sample."""
        ((_, _, rows),) = self.merged().pieces
        return rows


def rows_at(rows: Any, positions: np.ndarray) -> Any:
    """Return some rows of an array, a sparse matrix, or of what has `take`."""
    if isinstance(rows, np.ndarray) or is_sparse(rows):
        return rows[positions]
    return rows.take(np.asarray(positions, dtype=np.int64))
