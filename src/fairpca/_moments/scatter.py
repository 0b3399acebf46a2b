"""The scatter of rows about their mean, stored in whichever form is smaller.

Tall data: the d x d matrix. Wide or very sparse data: the rows themselves, from which products
with the scatter, or the small Gram matrix, are computed block by block when they are needed.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse

from .._files import is_array, record
from .._numerics import Array, array_namespace, float64, is_sparse, like
from .._rows import Rows, row_blocks, rows_per_block
from .products import CrossProduct

BLOCK_COLUMNS = 4096

NEARLY_DENSE = 0.9
"""Columns with this share of nonzero entries are shifted inside the sparse structure.

Only such a column can have a mean that is large against its spread, so only such a column could
lose digits when the mean is subtracted afterwards; and it has hardly a zero to lose.
"""


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

    def apply(self, V: Array) -> Array:
        """Return the scatter times `V` of shape (d, k)."""
        return self.matrix @ V

    def compressed(self, B: Array) -> DenseScatter:
        """Return the scatter of the rows times `B`, of shape (d, s)."""
        return DenseScatter(B.T @ (self.matrix @ B))

    def along(self, B: Array) -> Array:
        """Return the sum of squares of the rows along each column of `B`."""
        return array_namespace(B).sum(B * (self.matrix @ B), axis=0)

    def rescaled(self, scale: Array) -> DenseScatter:
        """Return the scatter of the rows divided by `scale`, of shape (d,)."""
        return DenseScatter(self.matrix / scale / scale[:, None])

    def about(self, point: Array, weight: float, gap: Array) -> DenseScatter:
        """Return the scatter about a point from which the mean of the rows differs by `gap`."""
        return DenseScatter(self.matrix + weight * gap[:, None] * gap)

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
                total = total + _sparse_sum_of_squares(rows, self.mean)
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
            return (rows.X @ V - self.mean @ V) * np.sqrt(rows.weights)[:, None]
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
            return _sparse_gram(self.pieces, self.mean, self.scale)
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

    def along(self, B: Array) -> Array:
        """Return the sum of squares of the rows along each column of `B`."""
        Y = self.times_rows(B)
        return array_namespace(Y).sum(Y * Y, axis=0)

    def rescaled(self, scale: Array) -> RowScatter:
        """Return the scatter of the rows divided by `scale`, which is done when they are used."""
        return replace(self, scale=scale if self.scale is None else scale * self.scale)

    def about(self, point: Array, weight: float, gap: Array) -> RowScatter:
        """Return the scatter about a point, in the units of the scatter."""
        return replace(self, mean=point if self.scale is None else point * self.scale)

    def dense(self) -> DenseScatter:
        """Return the scatter as a matrix."""
        d = self.mean.shape[0]
        if self.is_sparse:
            total = sum(_sparse_scatter(rows, self.mean) for rows in self.pieces)
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
    """Return the scatter of the union, whose mean is `mean`, of rows whose means differ by `gap`.

    Rows stay rows while that is the smaller form.
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
    centre = like(mean, rows.empty)
    for block in row_blocks(rows.X.shape[0], rows_per_block(rows.X)):
        B = rows.block(block) - centre
        if rows.weight is not None:
            B *= like(np.sqrt(rows.weight[block, None]), B)
        yield B


def _centred_columns(rows: Rows, mean: Array, scale: Array | None, columns: slice) -> Array:
    """Return a block of columns, transposed: shape (columns, n), C-ordered for the products."""
    block = rows.X[:, columns]
    block = float64(block) if rows.double else block
    block = block - like(mean[columns], block)
    if rows.weight is not None:
        block *= like(np.sqrt(rows.weight)[:, None], block)
    if scale is not None:
        block /= like(scale[columns], block)
    return block.T


def _rows_transposed_times(rows: Rows, mean: Array, V: Array) -> Array:
    if is_sparse(rows.X):
        weighted = V * np.sqrt(rows.weights)[:, None]
        return rows.X.T @ weighted - np.outer(mean, weighted.sum(axis=0))
    total = None
    blocks = row_blocks(V.shape[0], rows_per_block(rows.X))
    for block, B in zip(blocks, _centred_blocks(rows, mean), strict=True):
        part = B.T @ like(V[block, :], B)
        if total is None:
            total = float64(part)
        else:
            total += part
    return array_namespace(V).zeros_like(mean)[:, None] if total is None else total


def sparse_mean_and_sums(rows: Rows, H: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the mean, but for rounding, and ``H.T @ (X - mean)``.

    `H` of shape (n, q) carries the roots of the weights; its first column is 1 times these.
    """
    weighted = H * np.sqrt(rows.weights)[:, None]
    totals = weighted.sum(axis=0)
    about = (rows.X.T @ weighted[:, 0]).astype(float) / (totals[0] or 1.0)
    X, rest, _ = _shifted(rows, about)
    return about, (X.T @ weighted).T - np.outer(totals, rest)


def _sparse_sum_of_squares(rows: Rows, mean: np.ndarray) -> np.ndarray:
    """Return the weighted sum of squares of each column about `mean`."""
    X, rest, weight = _shifted(rows, mean)
    return X.multiply(X).T @ weight - 2 * rest * (X.T @ weight) + weight.sum() * rest**2


def _sparse_scatter(rows: Rows, mean: np.ndarray) -> np.ndarray:
    """Return the d x d weighted scatter of the rows about `mean`."""
    X, rest, weight = _shifted(rows, mean)
    weighted = X if rows.weight is None else X.multiply(weight[:, None]).tocsr()
    product = (weighted.T @ X).toarray()
    along = np.outer(rest, X.T @ weight)
    return product - along - along.T + weight.sum() * np.outer(rest, rest)


def _sparse_gram(pieces: Sequence[Rows], mean: np.ndarray, scale: Array | None) -> np.ndarray:
    """Return the inner products of all centred, scaled, weighted rows."""
    X = scipy.sparse.vstack([scipy.sparse.csr_array(rows.X) for rows in pieces], format="csr")
    together = Rows(X, np.concatenate([rows.weights for rows in pieces]))
    X, rest, weight = _shifted(together, mean)
    if scale is not None:
        X, rest = X.multiply(1.0 / scale).tocsr(), rest / scale
    inner = (X @ X.T).toarray()
    along = X @ rest
    inner += rest @ rest - along[:, None] - along
    return inner * np.sqrt(weight)[:, None] * np.sqrt(weight)


def _shifted(rows: Rows, mean: np.ndarray) -> tuple[scipy.sparse.csr_array, np.ndarray, np.ndarray]:
    """Shift nearly dense columns by their mean; return the rows and the mean that is left."""
    X = scipy.sparse.csr_array(rows.X).astype(np.float64, copy=False)
    filled = np.bincount(X.indices, minlength=X.shape[1]) >= NEARLY_DENSE * max(X.shape[0], 1)
    shift = np.where(filled, mean, 0.0)
    if shift.any():
        ones = scipy.sparse.csr_array(np.ones((X.shape[0], 1)))
        X = scipy.sparse.csr_array(X - ones @ scipy.sparse.csr_array(shift[None, :]))
    return X, mean - shift, rows.weights
