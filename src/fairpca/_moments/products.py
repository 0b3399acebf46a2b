"""Products of blocks of dense rows, summed in float64."""

from __future__ import annotations

from .._numerics import (
    SMALL,
    Array,
    array_namespace,
    blas_threads,
    device,
    float64,
    in_host_memory,
    is_numpy,
)
from .._rows import row_blocks

SUMMED_IN_SINGLE = 8192
"""Most rows whose products are added in the precision of the rows, before float64 takes over."""

STACKED = 2048
"""So many rows of a device make a stack: more and shorter ones keep all of a GPU busy."""

THIN, SHORT = 16, 256
"""Products of so few columns with others are taken a few rows at a time, which BLAS does not pack,
unless its threads share them."""

PANEL = 640
"""Columns per panel of a symmetric product: wide enough for a GPU, a tenth of 6,400 features."""


class CrossProduct:
    """Sum of ``A.T @ B`` over blocks of rows, in float64.

    The products themselves run in the precision of the blocks: short float32 blocks summed in
    float64 are as fast as float32 and nearly as good as float64. For ``A is B`` NumPy calls the
    symmetric rank-k update, half the work of a general product. Other libraries have none, so of a
    large symmetric product they compute the panels on and right of the diagonal.
    """

    def __init__(self, shape: tuple[int, int], like_block: Array) -> None:
        self._shape = shape
        self._block = like_block[:0, ...]
        self._total: Array | None = None
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
        if A is B and A.shape[1] >= 2 * PANEL and not is_numpy(A):
            self._add_panels(A)
        elif self._total is None:
            self._total = float64(product(A, B))
        else:
            self._total += product(A, B)

    def _add_panels(self, A: Array) -> None:
        panels = row_blocks(A.shape[1], PANEL)
        products = (product(A[:, panel], A[:, panel.start :]) for panel in panels)
        if not self._panels:
            self._panels = [float64(part) for part in products]
            return
        for i, part in enumerate(products):
            self._panels[i] += part

    def merge(self, other: CrossProduct) -> None:
        """Add the total of other blocks."""
        self._total = self.total + other.total


def product(A: Array, B: Array) -> Array:
    """Return ``A.T @ B``; sums over many rows of single precision are added in float64.

    One call multiplies many short stacks of rows, where a call for each would leave a GPU waiting
    for the next one, and threads for Python.
    """
    n, length = A.shape[0], _stack_length(A, B)
    rest = n % length
    if n <= length:
        return A.T @ B
    xp = array_namespace(A)
    whole = n - rest
    left, right = (xp.reshape(M[:whole, :], (whole // length, length, M.shape[1])) for M in (A, B))
    total = xp.sum(xp.matmul(xp.matrix_transpose(left), right), axis=0, dtype=xp.float64)
    return total + A[whole:, :].T @ B[whole:, :] if rest else total


def _stack_length(A: Array, B: Array) -> int:
    if not is_numpy(A):
        return SUMMED_IN_SINGLE if in_host_memory(A) else STACKED
    single = A.dtype.itemsize < 8
    if A.shape[1] <= THIN and B.shape[1] < SMALL and (single or blas_threads() == 1):
        return SHORT
    return SUMMED_IN_SINGLE if single else max(A.shape[0], 1)


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
