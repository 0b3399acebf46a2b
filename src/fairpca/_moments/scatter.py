"""The scatter of rows about their mean, stored in whichever form is smaller.

Tall data: the d x d matrix. Wide or very sparse data: the rows themselves, from which products
with the scatter, or the small Gram matrix, are computed block by block when they are needed.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from .._numerics import Array, array_namespace, float64, is_array, is_sparse, like, record
from .._rows import Rows, row_blocks, rows_per_block
from .products import (
    CrossProduct,
    sparse_gram,
    sparse_scatter,
    sparse_sum_of_squares,
    sparse_times,
    sparse_transposed_times,
)

BLOCK_COLUMNS = 4096


@record()
@dataclass(frozen=True)
class DenseScatter:
    """A scatter as a symmetric matrix: the sum of ``w (x - mean)(x - mean)^T`` over the rows."""

    matrix: Array

    def _fits_together(self) -> bool:
        return is_array(self.matrix, None, None) and self.matrix.shape[0] == self.matrix.shape[1]

    @property
    def diagonal(self) -> Array:
        """Sum of squares of each feature about its mean."""
        return array_namespace(self.matrix).linalg.diagonal(self.matrix)

    def compressed(self, B: Array) -> DenseScatter:
        """Return the scatter of the rows times `B`, of shape (d, s)."""
        return DenseScatter(B.T @ (self.matrix @ B))

    def rescaled(self, scale: Array) -> DenseScatter:
        """Return the scatter of the rows divided by `scale`, of shape (d,)."""
        return DenseScatter(self.matrix / scale / scale[:, None])

    def dense(self) -> DenseScatter:
        """Return the scatter itself."""
        return self


@record("pieces", "mean")
@dataclass(frozen=True)
class RowScatter:
    """A scatter as the rows it comes from: ``sum w (x - mean)(x - mean)^T / (scale scale^T)``."""

    pieces: tuple[Rows, ...]
    mean: Array
    scale: Array | None = None

    def _fits_together(self) -> bool:
        return is_array(self.mean, None) and all(
            isinstance(rows, Rows) and rows.X.shape[1] == len(self.mean) for rows in self.pieces
        )

    @property
    def entries(self) -> int:
        """How many numbers are stored."""
        return sum(rows.entries for rows in self.pieces)

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return sum(rows.X.shape[0] for rows in self.pieces)

    @property
    def is_sparse(self) -> bool:
        """Whether rows are sparse."""
        return any(is_sparse(rows.X) for rows in self.pieces)

    @cached_property
    def diagonal(self) -> Array:
        """Sum of squares of each feature about its mean."""
        xp = array_namespace(self.mean)
        total = xp.zeros_like(self.mean)
        for rows in self.pieces:
            if is_sparse(rows.X):
                total = total + sparse_sum_of_squares(rows, self.mean)
            else:
                for block in _centred_blocks(rows, self.mean):
                    total = total + float64(xp.linalg.vecdot(block, block, axis=-2))
        return total if self.scale is None else total / self.scale**2

    def apply(self, V: Array) -> Array:
        """Return the scatter times `V` of shape (d, k); no d x d matrix is formed."""
        scaled = V if self.scale is None else V / self.scale[:, None]
        total = array_namespace(V).zeros_like(V)
        for rows in self.pieces:
            total = total + _rows_transposed_times(rows, self.mean, self._times(rows, scaled))
        return total if self.scale is None else total / self.scale[:, None]

    def times_rows(self, V: Array) -> Array:
        """Return the centred, weighted rows times `V` of shape (d, k)."""
        scaled = V if self.scale is None else V / self.scale[:, None]
        return array_namespace(V).concat(
            [self._times(rows, scaled) for rows in self.pieces], axis=0
        )

    def rows_transposed(self, V: Array) -> Array:
        """Return the transpose of the centred, weighted rows times `V` of shape (n, k)."""
        total, start = None, 0
        for rows in self.pieces:
            stop = start + rows.X.shape[0]
            part = _rows_transposed_times(rows, self.mean, V[start:stop, :])
            total, start = part if total is None else total + part, stop
        return total if self.scale is None else total / self.scale[:, None]

    def _times(self, rows: Rows, V: Array) -> Array:
        xp = array_namespace(V)
        if is_sparse(rows.X):
            return sparse_times(rows, self.mean, V)
        return xp.concat(
            [float64(B @ like(V, B)) for B in _centred_blocks(rows, self.mean)], axis=0
        )

    @property
    def cancelled(self) -> float:
        """What inner products of sparse rows lose when the mean is taken out of them."""
        mean = self.mean if self.scale is None else self.mean / self.scale
        weight = sum(rows.total_weight for rows in self.pieces if is_sparse(rows.X))
        return float(weight * (mean @ mean))

    def gram(self) -> Array:
        """Return the n x n matrix of inner products of the centred, weighted rows."""
        if self.is_sparse:
            return sparse_gram(self.pieces, self.mean, self.scale)
        n, d = self.n_rows, self.mean.shape[0]
        product = CrossProduct((n, n), self.pieces[0].X)
        xp = array_namespace(self.pieces[0].X)
        for columns in row_blocks(d, BLOCK_COLUMNS):
            parts = [_centred_columns(rows, self.mean, self.scale, columns) for rows in self.pieces]
            block = parts[0] if len(parts) == 1 else xp.concat(parts, axis=1)
            product.add(block, block)
        return product.total

    def compressed(self, B: Array) -> DenseScatter:
        """Return the scatter of the rows times `B`, of shape (d, s)."""
        Y = self.times_rows(B)
        return DenseScatter(Y.T @ Y)

    def rescaled(self, scale: Array) -> RowScatter:
        """Return the scatter of the rows divided by `scale`, which is done when they are used."""
        return replace(self, scale=scale if self.scale is None else scale * self.scale)

    def dense(self) -> DenseScatter:
        """Return the scatter as a matrix."""
        d = self.mean.shape[0]
        if self.is_sparse:
            total = sum(sparse_scatter(rows, self.mean) for rows in self.pieces)
        else:
            product = CrossProduct((d, d), self.pieces[0].X)
            for rows in self.pieces:
                for block in _centred_blocks(rows, self.mean):
                    product.add(block, block)
            total = product.total
        scatter = DenseScatter(total)
        return scatter if self.scale is None else scatter.rescaled(self.scale)


Scatter = DenseScatter | RowScatter


def scatter_fits(scatter: Any, d: int) -> bool:
    """Tell whether this is the scatter of rows of d features."""
    if isinstance(scatter, RowScatter):
        return len(scatter.mean) == d
    return isinstance(scatter, DenseScatter) and len(scatter.matrix) == d


def merge_scatters(
    a: Scatter, b: Scatter, *, mean: Array, gap: Array, weight_a: float, weight_b: float
) -> Scatter:
    """Return the scatter of the union of two disjoint sets of rows.

    `gap` is the difference of their means and `mean` the mean of the union. Rows stay rows while
    that is the smaller form.
    """
    d = mean.shape[0]
    if isinstance(a, RowScatter) and isinstance(b, RowScatter):
        assert a.scale is None, "moments are rescaled after they are added"
        assert b.scale is None, "moments are rescaled after they are added"
        together = RowScatter(a.pieces + b.pieces, mean)
        return together if together.entries < d * d else together.dense()
    if weight_a == 0 or weight_b == 0:
        return (b if weight_a == 0 else a).dense()
    # Chan, Golub & LeVeque (1983)
    between = (weight_a * weight_b / (weight_a + weight_b)) * gap[:, None] * gap
    return DenseScatter(a.dense().matrix + b.dense().matrix + between)


def _centred_blocks(rows: Rows, mean: Array) -> Iterator[Array]:
    centre = like(mean, rows.X)
    for block in row_blocks(rows.X.shape[0], rows_per_block(rows.X)):
        B = rows.X[block, :] - centre
        if rows.weight is not None:
            B *= like(np.sqrt(rows.weight[block, None]), B)
        yield B


def _centred_columns(rows: Rows, mean: Array, scale: Array | None, columns: slice) -> Array:
    """Return a block of columns, transposed: shape (columns, n), C-ordered for the products."""
    X = rows.X
    block = X[:, columns] - like(mean[columns], X)
    if rows.weight is not None:
        block *= like(np.sqrt(rows.weight)[:, None], X)
    if scale is not None:
        block /= like(scale[columns], X)
    return block.T


def _rows_transposed_times(rows: Rows, mean: Array, V: Array) -> Array:
    if is_sparse(rows.X):
        return sparse_transposed_times(rows, mean, V)
    total = array_namespace(V).zeros_like(mean)[:, None]
    blocks = row_blocks(V.shape[0], rows_per_block(rows.X))
    for block, B in zip(blocks, _centred_blocks(rows, mean), strict=True):
        total = total + float64(B.T @ like(V[block, :], B))
    return total
