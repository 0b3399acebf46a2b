"""Products of rows: blocks of dense ones summed in float64, sparse ones centred but never dense."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import scipy.sparse

from .._numerics import Array, array_namespace, device, float64, is_numpy
from .._rows import Rows, row_blocks

SUMMED_IN_SINGLE = 8192
"""Most rows whose products are added in the precision of the rows, before float64 takes over."""

PANEL = 640
"""Columns per panel of a symmetric product: wide enough for a GPU, a tenth of 6,400 features."""

NEARLY_DENSE = 0.9
"""Columns with this share of nonzero entries are shifted inside the sparse structure.

Only such a column can have a mean that is large against its spread, so only such a column could
lose digits when the mean is subtracted afterwards; and it has hardly a zero to lose.
"""


class CrossProduct:
    """Sum of ``A.T @ B`` over blocks of rows, in float64, reusing one buffer.

    The products themselves run in the precision of the blocks: short float32 blocks summed in
    float64 are as fast as float32 and nearly as good as float64. For ``A is B`` NumPy calls the
    symmetric rank-k update, half the work of a general product. Other libraries have none, so of a
    large symmetric product they compute the panels on and right of the diagonal.
    """

    def __init__(self, shape: tuple[int, int], like_block: Array) -> None:
        self._shape = shape
        self._block = like_block[:0, ...]
        self._buffer = np.empty(shape, like_block.dtype) if is_numpy(like_block) else None
        self._total = None if self._buffer is None else np.zeros(shape)
        self._panels: list[Array] = []

    @property
    def total(self) -> Array:
        """The sum so far, of shape (p, q)."""
        if self._panels:
            whole = _from_panels(self._panels)
            self._total = whole if self._total is None else self._total + whole
            self._panels = []
        if self._total is None:
            xp = array_namespace(self._block)
            self._total = xp.zeros(self._shape, dtype=xp.float64, device=device(self._block))
        return self._total

    def add(self, A: Array, B: Array) -> None:
        """Add ``A.T @ B`` to the total."""
        if self._buffer is not None:
            np.matmul(A.T, B, out=self._buffer)
            self._total += self._buffer
        elif A is B and A.shape[1] >= 2 * PANEL:
            self._add_panels(A)
        elif self._total is None:
            self._total = float64(_product(A, B))
        else:
            self._total += _product(A, B)

    def _add_panels(self, A: Array) -> None:
        panels = row_blocks(A.shape[1], PANEL)
        products = (_product(A[:, panel], A[:, panel.start :]) for panel in panels)
        if not self._panels:
            self._panels = [float64(product) for product in products]
            return
        for i, product in enumerate(products):
            self._panels[i] += product

    def merge(self, other: CrossProduct) -> None:
        """Add the total of other blocks."""
        self._total = self.total + other.total


def _product(A: Array, B: Array) -> Array:
    """Return ``A.T @ B``; sums over many rows are split up and added in float64.

    Few features: one call multiplies many short stacks of rows, where a call for each would leave
    a GPU waiting for the next one.
    """
    rest = A.shape[0] % SUMMED_IN_SINGLE
    if A.shape[0] <= SUMMED_IN_SINGLE:
        return A.T @ B
    xp = array_namespace(A)
    whole = A.shape[0] - rest
    left, right = (
        xp.reshape(M[:whole, :], (whole // SUMMED_IN_SINGLE, SUMMED_IN_SINGLE, M.shape[1]))
        for M in (A, B)
    )
    total = xp.sum(xp.matmul(xp.matrix_transpose(left), right), axis=0, dtype=xp.float64)
    return total + A[whole:, :].T @ B[whole:, :] if rest else total


def _from_panels(panels: list[Array]) -> Array:
    """Return the symmetric matrix whose panels, from the diagonal on, are given."""
    xp = array_namespace(panels[0])
    d = panels[0].shape[1]
    rows = []
    for panel in panels:
        start, height = d - panel.shape[1], panel.shape[0]
        above = [p[:, start - d + p.shape[1] :][:, :height].T for p in panels[: start // PANEL]]
        rows.append(xp.concat([*above, panel], axis=1))
    return xp.concat(rows, axis=0)


def sparse_mean_and_sums(rows: Rows, H: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the mean, but for rounding, and ``H.T @ (X - mean)``.

    `H` of shape (n, q) carries the roots of the weights; its first column is 1 times these.
    """
    weighted = H * _root_weight(rows)[:, None]
    totals = weighted.sum(axis=0)
    about = (rows.X.T @ weighted[:, 0]).astype(float) / (totals[0] or 1.0)
    X, rest, _ = _shifted(rows, about)
    return about, (X.T @ weighted).T - np.outer(totals, rest)


def sparse_times(rows: Rows, mean: np.ndarray, V: np.ndarray) -> np.ndarray:
    """Return the centred, weighted rows times `V`."""
    product: np.ndarray = (rows.X @ V - mean @ V) * _root_weight(rows)[:, None]
    return product


def sparse_transposed_times(rows: Rows, mean: np.ndarray, V: np.ndarray) -> np.ndarray:
    """Return the transpose of the centred, weighted rows times `V`."""
    weighted = V * _root_weight(rows)[:, None]
    product: np.ndarray = rows.X.T @ weighted - np.outer(mean, weighted.sum(axis=0))
    return product


def sparse_sum_of_squares(rows: Rows, mean: np.ndarray) -> np.ndarray:
    """Return the weighted sum of squares of each column about `mean`."""
    X, rest, weight = _shifted(rows, mean)
    squares: np.ndarray = (
        X.multiply(X).T @ weight - 2 * rest * (X.T @ weight) + weight.sum() * rest**2
    )
    return squares


def sparse_scatter(rows: Rows, mean: np.ndarray) -> np.ndarray:
    """Return the d x d weighted scatter of the rows about `mean`."""
    X, rest, weight = _shifted(rows, mean)
    weighted = X if rows.weight is None else X.multiply(weight[:, None]).tocsr()
    product = (weighted.T @ X).toarray()
    along = np.outer(rest, X.T @ weight)
    about: np.ndarray = product - along - along.T + weight.sum() * np.outer(rest, rest)
    return about


def sparse_gram(pieces: Sequence[Rows], mean: np.ndarray, scale: Array | None) -> np.ndarray:
    """Return the inner products of all centred, scaled, weighted rows."""
    X = scipy.sparse.vstack([scipy.sparse.csr_array(rows.X) for rows in pieces], format="csr")
    together = Rows(X, np.concatenate([_root_weight(rows) ** 2 for rows in pieces]))
    X, rest, weight = _shifted(together, mean)
    if scale is not None:
        X, rest = X.multiply(1.0 / scale).tocsr(), rest / scale
    inner = (X @ X.T).toarray()
    along = X @ rest
    inner += rest @ rest - along[:, None] - along
    weighted: np.ndarray = inner * np.sqrt(weight)[:, None] * np.sqrt(weight)
    return weighted


def _root_weight(rows: Rows) -> np.ndarray:
    return np.ones(rows.X.shape[0]) if rows.weight is None else np.sqrt(rows.weight)


def _shifted(rows: Rows, mean: np.ndarray) -> tuple[scipy.sparse.csr_array, np.ndarray, np.ndarray]:
    """Shift nearly dense columns by their mean; return the rows and the mean that is left."""
    X = scipy.sparse.csr_array(rows.X).astype(np.float64, copy=False)
    filled = np.bincount(X.indices, minlength=X.shape[1]) >= NEARLY_DENSE * max(X.shape[0], 1)
    shift = np.where(filled, mean, 0.0)
    if shift.any():
        ones = scipy.sparse.csr_array(np.ones((X.shape[0], 1)))
        X = scipy.sparse.csr_array(X - ones @ scipy.sparse.csr_array(shift[None, :]))
    weight = np.ones(X.shape[0]) if rows.weight is None else rows.weight
    return X, mean - shift, weight
