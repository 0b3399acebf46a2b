"""Sums of products of rows, in total or level by level."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..arrays import Array, CrossProduct, take_rows
from ..groups import Levels
from .design import Design
from .scatter import DenseScatter


class Products:
    """What to collect besides first-order moments; this base class: nothing."""

    def __init__(self, X: Array, design: Design) -> None:
        self.design = design

    def add(self, B: Array, block: slice) -> None:
        """Add the products of a block of shifted, weighted rows."""

    def merge(self, other: Any) -> None:
        """Add the products of other rows."""

    def total(self) -> Array:
        """Return the sum of ``(x - shift)(x - shift)^T`` over all rows."""
        raise TypeError("no products were collected")

    def scatters_by_level(self, sums: Array) -> Callable[[int, int], DenseScatter] | None:
        """Return the scatter of level g of attribute i about its mean, as a function of i and g.

        `sums` is ``H.T @ (X - shift)``. None where nothing is known of levels.
        """
        return None


class TotalProducts(Products):
    """Products of all rows."""

    def __init__(self, X: Array, design: Design) -> None:
        super().__init__(X, design)
        self._total = CrossProduct((X.shape[1], X.shape[1]), X)

    def add(self, B: Array, block: slice) -> None:  # noqa: D102
        self._total.add(B, B)

    def merge(self, other: Any) -> None:  # noqa: D102
        self._total.merge(other._total)

    def total(self) -> Array:  # noqa: D102
        return self._total.total


class LevelProducts(Products):
    """Products of the rows of each level of each categorical attribute, which also gives the total.

    The levels of an attribute that no row lacks add up to the total, so matching covariances of
    one attribute costs no more products than plain fair PCA.
    """

    def __init__(self, X: Array, design: Design) -> None:
        super().__init__(X, design)
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

    def add(self, B: Array, block: slice) -> None:  # noqa: D102
        if self._rest is not None:
            self._rest.add(B, block)
        for (i, g), part in self._parts.items():
            chosen = np.flatnonzero(self._levels[i].codes[block] == g)
            if len(chosen):
                rows = take_rows(B, chosen)
                part.add(rows, rows)

    def merge(self, other: Any) -> None:  # noqa: D102
        for key, part in self._parts.items():
            part.merge(other._parts[key])
        if self._rest is not None and other._rest is not None:
            self._rest.merge(other._rest)

    def total(self) -> Array:  # noqa: D102
        if self._complete is None:
            assert self._rest is not None
            return self._rest.total()
        m = len(self._levels[self._complete].labels)
        return sum(self._parts[self._complete, g].total for g in range(m))

    def scatters_by_level(self, sums: Array) -> Callable[[int, int], DenseScatter]:  # noqa: D102
        def level_scatter(i: int, g: int) -> DenseScatter:
            s = sums[self.design.columns[i].start + g, :]
            weight = float(self.design.level_weights(i)[g])
            return DenseScatter(self._parts[i, g].total - s[:, None] * (s / weight))

        return level_scatter
