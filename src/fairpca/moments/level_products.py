"""Sums of products of rows, in total or level by level."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..arrays import Array, CrossProduct, take_rows
from ..groups import Levels
from .design import Design
from .scatter import DenseScatter


class TotalProducts:
    """``sum (x - shift)(x - shift)^T`` over all rows."""

    def __init__(self, X: Array, design: Design) -> None:
        self._total = CrossProduct((X.shape[1], X.shape[1]), X)

    def add(self, B: Array, block: slice) -> None:
        """Add the products of a block of shifted, weighted rows."""
        self._total.add(B, B)

    def total(self) -> Array:
        """Return the sum over all rows."""
        return self._total.total

    def scatters_by_level(self, sums: Array) -> None:
        """Return None: nothing is known of levels."""


class LevelProducts:
    """The same for each level of each categorical attribute, which also gives the total.

    The levels of an attribute that no row lacks add up to the total, so matching covariances of
    one attribute costs no more products than plain fair PCA.
    """

    def __init__(self, X: Array, design: Design) -> None:
        self.design = design
        d = X.shape[1]
        attributes = enumerate(design.rows.attributes)
        self._levels = {i: a for i, a in attributes if isinstance(a, Levels)}
        self._parts = {
            (i, g): CrossProduct((d, d), X)
            for i, a in self._levels.items()
            for g in range(len(a.labels))
        }
        complete = (i for i, a in self._levels.items() if not a.missing.any())
        self._complete = next(complete, None)
        self._rest = TotalProducts(X, design) if self._complete is None else None

    def add(self, B: Array, block: slice) -> None:
        """Add the products of a block of shifted, weighted rows."""
        if self._rest is not None:
            self._rest.add(B, block)
        for (i, g), part in self._parts.items():
            chosen = np.flatnonzero(self._levels[i].codes[block] == g)
            if len(chosen):
                rows = take_rows(B, chosen)
                part.add(rows, rows)

    def total(self) -> Array:
        """Return the sum over all rows."""
        if self._complete is None:
            assert self._rest is not None
            return self._rest.total()
        m = len(self._levels[self._complete].labels)
        return sum(self._parts[self._complete, g].total for g in range(m))

    def scatters_by_level(self, sums: Array) -> Callable[[int, int], DenseScatter]:
        """Return the scatter of level g of attribute i about its mean, as a function of i and g.

        `sums` is ``H.T @ (X - shift)``.
        """

        def level_scatter(i: int, g: int) -> DenseScatter:
            s = sums[self.design.columns[i].start + g, :]
            weight = float(self.design.level_weights(i)[g])
            return DenseScatter(self._parts[i, g].total - s[:, None] * (s / weight))

        return level_scatter
