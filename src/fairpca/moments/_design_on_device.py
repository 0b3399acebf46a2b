"""The design of rows that another array library holds: codes cross once, H is made there."""

from __future__ import annotations

import numpy as np

from .._attributes import Levels
from .._numerics import Array, array_namespace, device, is_numpy, is_sparse, like
from .._rows import Rows
from ._design import Design


def design_of(rows: Rows, dtype: str) -> Design:
    """Return the design of rows, on the device that their blocks are on."""
    empty = rows.empty
    kind = Design if is_numpy(empty) or is_sparse(empty) else DesignOnDevice
    return kind(rows, dtype)


class DesignOnDevice(Design):
    """A design whose blocks are built on the device of the rows, from a few bytes per row.

    A level is a code, a numeric attribute one number per row. Building H on the host would send
    it with every block, and the device would wait for each.
    """

    def __init__(self, rows: Rows, dtype: str) -> None:
        super().__init__(rows, dtype)
        self._like = rows.empty
        self._roots = None
        if self.root_weight is not None:
            self._roots = like(self.root_weight[:, None], self._like)
        self._there = [self._sent(i) for i in range(len(self.columns))]
        self._positions: dict[tuple[int, int], tuple[np.ndarray, Array]] = {}

    def _sent(self, i: int) -> Array:
        attribute = self.rows.attributes[i]
        if isinstance(attribute, Levels):
            few = np.int8 if len(attribute.labels) < 128 else np.int32
            return self._integers(attribute.codes.astype(few)[:, None])
        return like(self._columns_of[i].block(slice(0, self.rows.n_rows)), self._like)

    def _integers(self, values: np.ndarray) -> Array:
        return array_namespace(self._like).asarray(values, device=device(self._like))

    def block(self, block: slice) -> Array:
        """Return H for a block of rows, times the roots of their weights."""
        xp, X = array_namespace(self._like), self._like
        ones = xp.ones((block.stop - block.start, 1), dtype=X.dtype, device=device(X))
        columns = [ones]
        for position, there in zip(self.columns, self._there, strict=True):
            values = there[block, :]
            if not xp.isdtype(values.dtype, "real floating"):
                width = position.stop - position.start
                codes = xp.arange(width, dtype=values.dtype, device=device(X))
                values = xp.astype(values == codes[None, :], X.dtype)
            columns.append(values)
        H = xp.concat(columns, axis=1)
        roots = self.roots(block)
        return H if roots is None else H * roots

    def roots(self, block: slice) -> Array | None:
        """Return the roots of the weights of a block of rows as a column; None for weights of 1."""
        return None if self._roots is None else self._roots[block, :]

    def rows_of_level(self, i: int, g: int, block: slice) -> Array:
        """Return the positions, within a block, of the rows of level `g` of attribute `i`."""
        if (i, g) not in self._positions:
            here = super().rows_of_level(i, g, slice(0, self.rows.n_rows))
            self._positions[i, g] = here, self._integers(here)
        here, there = self._positions[i, g]
        first, last = np.searchsorted(here, [block.start, block.stop])
        return there[int(first) : int(last)] - block.start
