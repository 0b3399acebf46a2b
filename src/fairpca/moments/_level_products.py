"""Sums of products of rows, in total or level by level."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .._attributes import Levels
from .._numerics import Array, array_namespace, float64, like, take_rows
from ._cross_product import CrossProduct
from ._design import Design
from ._scatter import DenseScatter

CENTRE_ROWS = 32


class Products:
    """What to collect besides first-order moments; this base class: nothing."""

    def __init__(self, X: Array, design: Design, shift: Array | None) -> None:
        self.design = design
        self.shift = shift

    def add(self, B: Array, block: slice) -> None:
        """Add the products of a block of shifted, weighted rows."""

    def merge(self, other: Any) -> None:
        """Add the products of other rows."""

    def total(self, sums: Array) -> Array:
        """Return the sum of ``(x - shift)(x - shift)^T`` over all rows.

        `sums` is ``H.T @ (X - shift)``.
        """
        raise TypeError("no products were collected")

    def scatters_by_level(self, sums: Array) -> Callable[[int, int], DenseScatter] | None:
        """Return the scatter of level g of attribute i about its mean, as a function of i and g.

        `sums` is ``H.T @ (X - shift)``. None where nothing is known of levels.
        """
        return None


class TotalProducts(Products):
    """Products of all rows."""

    def __init__(self, X: Array, design: Design, shift: Array | None) -> None:
        super().__init__(X, design, shift)
        self._total = CrossProduct((X.shape[1], X.shape[1]), X)

    def add(self, B: Array, block: slice) -> None:
        self._total.add(B, B)

    def merge(self, other: Any) -> None:
        self._total.merge(other._total)

    def total(self, sums: Array) -> Array:
        return self._total.total


class LevelProducts(Products):
    """Products of the rows of each level of each categorical attribute, and so of all rows.

    The levels of an attribute that no row lacks add up to the total, so matching covariances of
    one attribute costs no more products than plain fair PCA. The rows of a level are shifted by
    the mean of a few of them: levels may lie far apart and still be narrow.
    """

    def __init__(self, X: Array, design: Design, shift: Array | None) -> None:
        super().__init__(X, design, shift)
        d = X.shape[1]
        attributes = enumerate(design.rows.attributes)
        self._levels = {i: a for i, a in attributes if isinstance(a, Levels)}
        self._parts = {
            (i, g): CrossProduct((d, d), X)
            for i, a in self._levels.items()
            for g in range(len(a.labels))
        }
        self._centres = {key: self._centre(*key) for key in self._parts}
        complete = (i for i, a in self._levels.items() if not a.missing.any())
        self._complete = next(complete, None)
        self._rest = TotalProducts(X, design, shift) if self._complete is None else None

    def _centre(self, i: int, g: int) -> Array:
        """Return the mean of a few rows of a level, measured from the shift of all rows."""
        few = np.flatnonzero(self._levels[i].codes == g)[:CENTRE_ROWS]
        some = float64(self.design.rows.take(few))
        xp = array_namespace(some)
        if len(few) == 0:
            return xp.sum(some, axis=0)
        mean = xp.mean(some, axis=0)
        return mean if self.shift is None else mean - self.shift

    def add(self, B: Array, block: slice) -> None:
        if self._rest is not None:
            self._rest.add(B, block)
        roots = self.design.roots(block)
        for (i, g), part in self._parts.items():
            chosen = self.design.rows_of_level(i, g, block)
            if chosen.shape[0]:
                centre = like(self._centres[i, g], B)
                if roots is not None:
                    centre = like(take_rows(roots, chosen), B) * centre
                rows = take_rows(B, chosen) - centre
                part.add(rows, rows)

    def merge(self, other: Any) -> None:
        for key, part in self._parts.items():
            part.merge(other._parts[key])
        if self._rest is not None:
            self._rest.merge(other._rest)

    def total(self, sums: Array) -> Array:
        if self._complete is None:
            assert self._rest is not None
            return self._rest.total(sums)
        total = None
        level_scatter = self.scatters_by_level(sums)
        for g in range(len(self._levels[self._complete].labels)):
            weight = float(self.design.level_weights(self._complete)[g])
            if weight > 0:
                s = sums[self.design.columns[self._complete].start + g, :]
                part = level_scatter(self._complete, g).matrix + s[:, None] * s / weight
                total = part if total is None else total + part
        return total

    def scatters_by_level(self, sums: Array) -> Callable[[int, int], DenseScatter]:
        def level_scatter(i: int, g: int) -> DenseScatter:
            weight = float(self.design.level_weights(i)[g])
            s = sums[self.design.columns[i].start + g, :] - weight * self._centres[i, g]
            return DenseScatter(self._parts[i, g].total - s[:, None] * s / weight)

        return level_scatter
