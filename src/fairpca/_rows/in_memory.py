"""Rows of an array or a sparse matrix, with their weights and attributes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from .._attributes import Attribute
from .._files import is_array, record
from .._numerics import (
    Array,
    array_namespace,
    each_item,
    float64,
    in_host_memory,
    is_foreign,
    is_single,
    is_sparse,
    machine_epsilon,
    quiet_overflow,
    take_rows,
)

BLOCK_ROWS = 8192
"""Most rows per block: long enough for BLAS, short enough for float32 sums."""

FEW_FEATURES = 1024
"""Products of blocks with more features keep a GPU busy by themselves."""

NUMBERS_PER_BLOCK = 2**26
"""Of fewer features: 256 MB of float32, so that a GPU works longer than it takes to ask it to."""


NUMBERS_HELD = 2**25
"""Features of rows that are read several times are held if they are at most so many: 256 MB."""


def block_rows(d: int) -> int:
    """Return how many rows of `d` features make a block."""
    # Few features: blocks that stay in the cache. Many: at most 4 million numbers, so that a
    # shifted or weighted copy of a block stays small next to a d x d matrix or a gigabyte of rows.
    return BLOCK_ROWS // 2 if d <= 128 else max(64, min(BLOCK_ROWS, 2**22 // d))


def rows_per_block(X: Array) -> int:
    """Return how many rows of an array make a block: for the cache, or for a busy GPU."""
    d = int(X.shape[1])
    if in_host_memory(X):
        return block_rows(d)
    if d >= FEW_FEATURES:
        return BLOCK_ROWS
    return max(1, NUMBERS_PER_BLOCK // max(d, 64) // BLOCK_ROWS) * BLOCK_ROWS


@record("X", "weight", "double", later=["double"])
@dataclass(frozen=True)
class Rows:
    """Rows of features, never written to and never copied as a whole, with what belongs to them.

    `chosen` has the positions in `X` of the n rows that count, None for all; weights, which are
    positive, and attributes are theirs. So criteria and zero weights select rows without a copy.
    Where a criterion left rows out, `everyone` has these too. `targets` are the columns of y, where
    they are to be kept, read as attributes are. Blocks are in the precision of `X`, or `double`.
    """

    X: Array
    weight: np.ndarray | None = None
    attributes: tuple[Attribute, ...] = field(default=())
    chosen: np.ndarray | None = None
    everyone: Rows | None = None
    targets: tuple[Attribute, ...] = field(default=())
    double: bool = False

    def _fits_together(self) -> bool:
        X, weight = self.X, self.weight
        n, d = X.shape
        numbers = is_array(X, n, d) or (is_sparse(X) and X.dtype.kind == "f")
        weighted = weight is None or (is_array(weight, n) and bool((weight > 0).all()))
        return numbers and weighted and isinstance(self.double, bool)

    @property
    def n_rows(self) -> int:
        """Number of rows that count."""
        return int(self.X.shape[0] if self.chosen is None else len(self.chosen))

    @property
    def weights(self) -> np.ndarray:
        """The weight of each row that counts: 1 where none were given."""
        return np.ones(self.n_rows) if self.weight is None else self.weight

    @property
    def total_weight(self) -> float:
        """Sum of the weights."""
        return float(self.n_rows if self.weight is None else self.weight.sum())

    @property
    def entries(self) -> int:
        """How many numbers it takes to store the features."""
        return int(self.X.nnz if is_sparse(self.X) else self.n_rows * self.X.shape[1])

    @property
    def empty(self) -> Array:
        """No rows at all: tells the number of features, their type and their array library."""
        return self.block(slice(0, 0))

    def block(self, rows: slice) -> Array:
        """Return the features of some of the rows that count; a view where possible."""
        block = self.X[rows, :] if self.chosen is None else take_rows(self.X, self.chosen[rows])
        return float64(block) if self.double else block

    def blocks(self, slices: Iterable[slice]) -> Iterator[Array]:
        """Yield the features of blocks of rows; each is valid until the next is asked for."""
        return map(self.block, slices)

    def take(self, positions: np.ndarray) -> Array:
        """Return the features of the rows that count at the given positions, as a copy."""
        some = take_rows(self.X, positions if self.chosen is None else self.chosen[positions])
        return float64(some) if self.double else some

    @property
    def single(self) -> bool:
        """Whether sums over blocks have the digits of single precision only."""
        # Sums of few entries, as of sparse rows, are taken in double anyway.
        return not is_sparse(self.X) and is_single(machine_epsilon(self.empty))

    def in_double(self) -> Rows:
        """Return the rows, and everyone, whose blocks are converted one by one: X stays."""
        everyone = self.everyone and self.everyone.in_double()
        return replace(self, everyone=everyone, double=True) if self.single else self

    def safe_to_keep(self) -> Rows:
        """Return rows that later changes of the caller's arrays do not reach."""
        # Only rows that moments hold on to are copied: sparse ones, and fewer than features.
        if not is_sparse(self.X) and self.n_rows >= self.X.shape[1]:
            return self
        X = self.X
        X = array_namespace(X).asarray(X, copy=True) if is_foreign(X) else X.copy()
        return replace(self, X=X, weight=None if self.weight is None else self.weight.copy())

    def as_rows_of(self, kind: type[Rows], **how: Any) -> Rows:
        """Return the rows, and everyone, as rows of another kind."""
        everyone = self.everyone and self.everyone.as_rows_of(kind, **how)
        same = (self.X, self.weight, self.attributes, self.chosen, everyone, self.targets)
        return kind(*same, self.double, **how)

    def materialized(self) -> Rows:
        """Return the same rows with the chosen features in an array of their own."""
        if self.chosen is None:
            return self
        return self._of(take_rows(self.X, self.chosen), self.weight)

    def _of(self, X: Array, weight: np.ndarray | None) -> Rows:
        return Rows(X, weight, self.attributes, None, self.everyone, self.targets, self.double)


def _as_it_is(X: Array) -> Array:
    return X


@dataclass(frozen=True)
class MappedRows(Rows):
    """Rows seen through a feature map, block by block; the features are never held as a whole."""

    features: Callable[[Any], Array] = field(kw_only=True)

    def block(self, rows: slice) -> Array:
        """Return the features of some of the rows that count."""
        return self.features(super().block(rows))

    def take(self, positions: np.ndarray) -> Array:
        """Return the features of the rows that count at the given positions."""
        return self.features(super().take(positions))

    def computed_once(self) -> MappedRows:
        """Return the same rows with their features held, if these are not too many."""
        n, p = self.n_rows, self.empty.shape[1]
        if n * p > NUMBERS_HELD:
            return self
        held = np.empty((n, p))

        def fill(block: slice) -> None:
            with quiet_overflow():  # an error comes with the moments
                held[block] = self.block(block)

        each_item(fill, row_blocks(n, block_rows(p)))
        return replace(self, X=held, chosen=None, everyone=None, features=_as_it_is)

    def safe_to_keep(self) -> Rows:
        """Return these rows: features are computed, so nothing of the caller's is kept."""
        return self

    def materialized(self) -> Rows:
        """Return the features, and the weights, as arrays of their own."""
        weight = None if self.weight is None else self.weight.copy()
        return self._of(self.block(slice(0, self.n_rows)), weight)


def row_blocks(n: int, size: int) -> Iterator[slice]:
    """Yield slices of at most `size` rows that cover `n` rows in order."""
    for start in range(0, n, size):
        yield slice(start, min(start + size, n))
