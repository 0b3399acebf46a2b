"""Rows in arrays of other libraries, which stay on the device they live on."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from .._numerics import Array, array_namespace, device, in_host_memory
from .in_memory import BLOCK_ROWS, Rows, block_rows

FEW_FEATURES = 1024
"""Products of blocks with more features keep a GPU busy by themselves."""

NUMBERS_PER_BLOCK = 2**26
"""Of fewer features: 256 MB of float32, so that a GPU works longer than it takes to ask it to."""


def rows_per_block(X: Array) -> int:
    """Return how many rows of an array make a block.

    In host memory: blocks that stay in the cache. A GPU has no use for these; it wants so much
    work at once that the time it takes to ask for it does not matter.

    Examples
    --------
    >>> import numpy as np
    >>> rows_per_block(np.ones((5, 6400)))
    655
    """
    d = int(X.shape[1])
    if in_host_memory(X):
        return block_rows(d)
    if d >= FEW_FEATURES:
        return BLOCK_ROWS
    return max(1, NUMBERS_PER_BLOCK // max(d, 64) // BLOCK_ROWS) * BLOCK_ROWS


class DeviceRows(Rows):
    """Rows of an array that another library holds, on whatever device.

    Which rows count crosses to the device once, not with every block.
    """

    @cached_property
    def _positions(self) -> Array:
        return _index(self.chosen, self.X)

    def block(self, rows: slice) -> Array:
        """Return the features of some of the rows that count; a view where possible."""
        if self.chosen is None:
            return self.X[rows, :]
        return array_namespace(self.X).take(self.X, self._positions[rows], axis=0)

    def safe_to_keep(self) -> Rows:
        """Return rows that later changes of the caller's arrays do not reach."""
        if self.n_rows >= self.X.shape[1]:
            return self
        X = array_namespace(self.X).asarray(self.X, copy=True)
        weight = None if self.weight is None else self.weight.copy()
        return DeviceRows(X, weight, self.attributes, self.chosen)


def _index(positions: np.ndarray | None, X: Array) -> Array:
    return array_namespace(X).asarray(positions, device=device(X))
