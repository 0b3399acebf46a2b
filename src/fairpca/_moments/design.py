"""The small matrix H through which attributes meet the rows, and the way back from H^T X."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import scipy.sparse

from .._attributes import Levels, Numbers, Numeric
from .._numerics import (
    Array,
    array_namespace,
    device,
    float64,
    is_numpy,
    is_single,
    is_sparse,
    like,
    machine_epsilon,
)
from .._rows import Rows
from .attribute_moments import AttributeMoments, GivenMoments, LevelMoments, NumericMoments
from .products import product
from .scatter import Scatter

MANY_LEVELS = 32
"""Indicators of more levels are sums over rows, one by one; products would grow with them.

So are those of as many levels in strata, since a row is in one of them.
"""

FEW_LEVELS = 16
"""So few are counted one by one, which reads bytes only."""


class Design:
    """One column of ones, then the columns of each attribute, then those of each target.

    A categorical attribute has an indicator column per level. A numeric attribute has its centred
    values in units of their standard deviation, and the indicator of the rows where it is known.
    The numbers that an attribute is regressed on follow it, centred and in such units.
    So ``H.T @ X`` holds every first-order moment that any attribute needs. `columns` are those of
    each attribute, `totals` the weighted sum of each column, `dtype` that of the blocks of H.
    """

    def __init__(self, rows: Rows, dtype: str) -> None:
        self.rows = rows
        self.dtype = np.dtype(dtype)
        self.root_weight = None if rows.weight is None else np.sqrt(rows.weight)
        self.columns: list[slice] = []
        self._columns_of: list[_Columns] = []
        width = 1
        self.described = (*rows.attributes, *rows.targets)
        for a in self.described:
            kind = _LevelColumns if isinstance(a, Levels) else _NumericColumns
            own: _LevelColumns | _NumericColumns = kind(a, rows.weight)  # type: ignore[arg-type]
            numbers = a.numbers
            columns = own if numbers is None else _ColumnsGiven(own, numbers, rows.weight)
            self.columns.append(slice(width, width + columns.width))
            self._columns_of.append(columns)
            width += columns.width
        self.width = width
        self._many = _summed_one_by_one(self._columns_of)
        self._few = [c for c in self._columns_of if c not in self._many]
        self.totals = np.concatenate([[rows.total_weight], *(c.totals for c in self._columns_of)])

    @staticmethod
    def of(rows: Rows) -> Design:
        """Return the design of rows, where their blocks are and as exact as these."""
        empty, sparse = rows.empty, is_sparse(rows.empty)
        kind = Design if sparse or is_numpy(empty) else _DesignOnDevice
        single = not sparse and is_single(machine_epsilon(empty))
        return kind(rows, "float32" if single else "float64")

    def block(self, block: slice) -> np.ndarray:
        """Return H for a block of rows, times the roots of their weights."""
        return self._written(block, self._columns_of)

    def _written(self, block: slice, chosen: Sequence[_Columns]) -> Array:
        """Return the column of ones and some others; each is one piece of memory."""
        widths = [1, *(columns.width for columns in chosen)]
        H = np.ones((sum(widths), block.stop - block.start), dtype=self.dtype)
        for columns, out in zip(chosen, np.split(H, np.cumsum(widths)[:-1])[1:], strict=True):
            columns.write(block, out)
        if self.root_weight is not None:
            H *= self.root_weight[block]
        return H.T

    def sums(self, block: slice, B: Array) -> Array:
        """Return ``H.T @ B`` for a block of shifted, weighted rows; many levels cost no more."""
        dense = product(self._written(block, self._few), B)
        if not self._many:
            return dense
        one_by_one, parts = self._sums_one_by_one(block, B), [dense[:1]]
        start = {True: 0, False: 1}
        for columns in self._columns_of:
            many = columns in self._many
            found = one_by_one if many else dense
            parts.append(found[start[many] : start[many] + columns.width])
            start[many] += columns.width
        return np.concatenate(parts)

    def _sums_one_by_one(self, block: slice, B: Array) -> Array:
        at, into, width = [], [], 0
        for columns in self._many:
            codes = columns.attribute.codes[block]
            known = np.flatnonzero(codes >= 0)
            at.append(known)
            into.append(width + codes[known].astype(np.intp))
            width += columns.width
        row, column = np.concatenate(at), np.concatenate(into)
        roots = self.roots(block)
        values = np.ones(len(row)) if roots is None else roots[row, 0]
        H = scipy.sparse.csr_array((values, (column, row)), (width, block.stop - block.start))
        return H @ B

    def roots(self, block: slice) -> Array | None:
        """Return the roots of the weights of a block as a column; None for weights of 1."""
        return None if self.root_weight is None else self.root_weight[block, None]

    def rows_of_level(self, i: int, g: int, block: slice) -> Array:
        """Return the positions, within a block, of the rows of level `g` of attribute `i`."""
        levels = self.rows.attributes[i]
        assert isinstance(levels, Levels)
        return np.flatnonzero(levels.codes[block] == g)

    def level_weights(self, i: int) -> np.ndarray:
        """Return the total weight of each level of the categorical attribute `i`."""
        return self.totals[self.columns[i]]

    def read(
        self, sums: Array, level_scatter: Callable[[int, int], Scatter | None] | None
    ) -> dict[str, Any]:
        """Return the moments of attributes and targets from ``H.T @ (X - mean)``."""
        p = len(self.rows.attributes)
        scatters = [None if level_scatter is None else partial(level_scatter, i) for i in range(p)]
        scatters += [None] * (len(self.described) - p)  # nobody matches covariances of targets
        found = tuple(
            columns.read(sums[position, :], of_level)
            for columns, position, of_level in zip(
                self._columns_of, self.columns, scatters, strict=True
            )
        )
        return {"attributes": found[:p], "targets": found[p:]}


def _summed_one_by_one(
    columns_of: Sequence[_Columns],
) -> dict[_LevelColumns, None]:
    levels = [c for c in columns_of if isinstance(c, _LevelColumns)]
    many = sum(c.width for c in levels if c.attribute.stratum is not None) > MANY_LEVELS
    return dict.fromkeys(
        c for c in levels if c.width > MANY_LEVELS or (many and c.attribute.stratum is not None)
    )


class _LevelColumns:
    def __init__(self, attribute: Levels, weight: np.ndarray | None) -> None:
        self.attribute = attribute
        self.width = m = len(attribute.labels)
        # Comparing bytes beats counting integers.
        self.codes = attribute.codes.astype(np.int8 if m < 128 else np.int32, copy=False)
        if m <= FEW_LEVELS and weight is None:
            counts = (np.count_nonzero(self.codes == g) for g in range(m))
            self.count = totals = np.fromiter(counts, np.intp, count=m)
        else:
            codes = attribute.codes + np.intp(1)
            self.count = totals = np.bincount(codes, minlength=m + 1)[1:]
            if weight is not None:
                totals = np.bincount(codes, weight, minlength=m + 1)[1:]
        self.totals = totals.astype(float)  # without rows, they are integers

    def write(self, block: slice, out: np.ndarray) -> None:
        levels = np.arange(self.width, dtype=self.codes.dtype)
        np.equal(self.codes[block], levels[:, None], out=out)

    def read(
        self, sums: Array, level_scatter: Callable[[int], Scatter | None] | None
    ) -> LevelMoments:
        a = self.attribute
        scatters = None
        if level_scatter is not None:
            scatters = tuple(level_scatter(g) if self.count[g] else None for g in range(self.width))
        return LevelMoments(
            name=a.name,
            stratum=a.stratum,
            labels=a.labels,
            count=self.count,
            weight=self.totals,
            total=sums,
            scatters=scatters,
            integral_floats=a.integral_floats,
            optional=a.optional,
        )


class _NumericColumns:
    width = 2

    def __init__(self, attribute: Numeric, weight: np.ndarray | None) -> None:
        self.attribute = attribute
        known = ~attribute.missing
        w = known.astype(float) if weight is None else np.where(known, weight, 0.0)
        self.count = int(known.sum())
        self.weight = float(w.sum())
        values = np.where(known, attribute.values, 0.0)
        self.mean = float(w @ values) / self.weight if self.weight > 0 else 0.0
        # The rounding of the mean counts where values lie far from zero.
        centred = np.where(known, values - self.mean, 0.0)
        self.rounded_off = float(w @ centred) / self.weight if self.weight > 0 else 0.0
        self.squares = float(w @ (centred - self.rounded_off) ** 2)
        self.unit = np.sqrt(self.squares / self.weight) if self.squares > 0 else 1.0
        self.totals = np.array([0.0, self.weight])

    def write(self, block: slice, out: np.ndarray) -> None:
        values = self.attribute.values[block]
        known = ~np.isnan(values)
        centred = (values - self.mean) - self.rounded_off
        out[:] = np.where(known, centred / self.unit, 0.0), known

    def read(
        self, sums: Array, level_scatter: Callable[[int], Scatter | None] | None
    ) -> NumericMoments:
        return NumericMoments(
            name=self.attribute.name,
            stratum=self.attribute.stratum,
            count=self.count,
            weight=self.weight,
            value_mean=self.mean,
            value_scatter=self.squares,
            total=sums[1, :],
            cross=sums[0, :] * like(self.unit, sums),
        )


class _ColumnsGiven:
    """The columns of an attribute, and the numbers it is regressed on where it is known."""

    def __init__(
        self, of: _LevelColumns | _NumericColumns, numbers: Numbers, weight: np.ndarray | None
    ) -> None:
        self.of, self.attribute, self.names = of, of.attribute, numbers.names
        self.at = np.flatnonzero(~of.attribute.missing)
        w = np.ones(len(self.at)) if weight is None else weight[self.at]
        self.mean, self.values = _centred(numbers.values[self.at], w)
        weighted = w[:, None] * self.values
        self.scatter = self.values.T @ weighted
        self.with_attribute = self._columns(w).T @ weighted
        self.unit = np.sqrt(np.diagonal(self.scatter) / max(float(w.sum()), 1e-300))
        self.unit[self.unit == 0] = 1.0
        self.width = of.width + len(self.names)
        self.totals = np.append(of.totals, np.zeros(len(self.names)))

    def _columns(self, w: np.ndarray) -> np.ndarray | scipy.sparse.csr_array:
        """Return the attribute where it is known: indicators, or values less their mean."""
        if isinstance(self.attribute, Levels):
            n, m = len(self.at), len(self.attribute.labels)
            codes, rows = self.attribute.codes[self.at].astype(np.intp), np.arange(n)
            return scipy.sparse.csr_array((np.ones(n), (rows, codes)), (n, m))
        return _centred(self.attribute.values[self.at, None], w)[1]

    def write(self, block: slice, out: np.ndarray) -> None:
        first, last = np.searchsorted(self.at, [block.start, block.stop])
        self.of.write(block, out[: self.of.width])
        out[self.of.width :] = 0.0
        values = (self.values[first:last] / self.unit).T
        out[self.of.width :, self.at[first:last] - block.start] = values

    def read(
        self, sums: Array, level_scatter: Callable[[int], Scatter | None] | None
    ) -> AttributeMoments:
        width = self.of.width
        cross = sums[width:, :] * like(self.unit, sums)[:, None]
        found = GivenMoments(self.names, self.mean, self.scatter, self.with_attribute, cross)
        return replace(self.of.read(sums[:width, :], level_scatter), given=found)


_Columns = _LevelColumns | _NumericColumns | _ColumnsGiven


def _centred(values: np.ndarray, w: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the weighted mean of each column, and the columns less it; twice, for its rounding."""
    mean, total = np.zeros(values.shape[1]), float(w.sum())
    for _ in range(2 if total > 0 else 0):
        off = w @ values / total
        mean, values = mean + off, values - off
    return mean, values


class _DesignOnDevice(Design):
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
        columns = self._columns_of[i]
        if isinstance(columns, _LevelColumns):
            return self._integers(columns.codes[:, None])
        values = np.empty((columns.width, self.rows.n_rows))
        columns.write(slice(0, self.rows.n_rows), values)
        return like(values.T, self._like)

    def _integers(self, values: np.ndarray) -> Array:
        return array_namespace(self._like).asarray(values, device=device(self._like))

    def block(self, block: slice) -> Array:
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

    def sums(self, block: slice, B: Array) -> Array:
        return float64(product(self.block(block), B))

    def roots(self, block: slice) -> Array | None:
        return None if self._roots is None else self._roots[block, :]

    def rows_of_level(self, i: int, g: int, block: slice) -> Array:
        if (i, g) not in self._positions:
            here = super().rows_of_level(i, g, slice(0, self.rows.n_rows))
            self._positions[i, g] = here, self._integers(here)
        here, there = self._positions[i, g]
        first, last = np.searchsorted(here, [block.start, block.stop])
        return there[int(first) : int(last)] - block.start


def attributes_over_rows(rows: Rows) -> tuple[AttributeMoments, ...]:
    """Return the attributes' moments with every row as a feature of its own.

    A kernel knows rows only through their products with each other, so a mean is a combination of
    rows. The ``contrasts()`` of the result are the coefficients of these combinations: the
    columns of the paper's Z as rows of length n, times the roots of the weights. For groups of one
    and three of four rows: (0.75, -0.25, -0.25, -0.25), and the negative of it.
    """
    design = Design(rows, "float64")
    return design.read(design.block(slice(0, rows.n_rows)).T, None)["attributes"]
