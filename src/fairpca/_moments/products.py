"""Products of blocks of dense rows, summed in float64."""

from __future__ import annotations

import numpy as np

from .._numerics import Array, array_namespace, device, float64, is_numpy
from .._rows import row_blocks

SUMMED_IN_SINGLE = 8192
"""Most rows whose products are added in the precision of the rows, before float64 takes over."""

PANEL = 640
"""Columns per panel of a symmetric product: wide enough for a GPU, a tenth of 6,400 features."""


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
