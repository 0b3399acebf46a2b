"""How many rows of each group lie below thresholds on scores, and how that changes with the scores.

Counts are soft, so they have slopes; both are sums over rows, so they add as moments do. To an
attribute they are more features of the rows: that is how its groups are matched by label, and
how numbers, missing values and strata keep their meaning. So is having a certain score: that is
how the distributions themselves are compared.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from .._numerics import (
    Array,
    array_namespace,
    full_precision,
    is_single,
    is_sparse,
    like,
    machine_epsilon,
    quiet_overflow,
    to_numpy,
)
from .._rows import MappedRows, Rows, row_blocks, rows_per_block
from ..errors import UsageError
from .accumulate import TotalProducts, one_pass
from .attribute_moments import AttributeMoments, LevelMoments
from .design import Design
from .group_moments import merge_attributes
from .products import CrossProduct

MOST_VALUES = 2**20
"""Of more different values, over all scores, distributions are known to three digits."""

SAME, SAME_SINGLE = 1e-9, 2e-6
"""Scores of unit variance that are no further apart are those of rows that are alike."""


@dataclass(frozen=True)
class Scores:
    """Scores ``(x - centre) @ W`` with W (d, k), each compared with J thresholds of its own.

    A row counts as below a threshold t with ``1 / (1 + exp((score - t) / width))``. Thresholds and
    widths are of shape (k, J).
    """

    W: Array
    centre: Array
    thresholds: np.ndarray
    widths: np.ndarray


@dataclass(frozen=True)
class SharesBelow:
    """Sums over the rows of each group: k J soft counts, then the d slopes of each of them.

    `attributes` are moments whose features are these numbers, J thresholds of the first score
    first; slopes are those of minus the count with respect to W.
    """

    attributes: tuple[AttributeMoments, ...]
    n_counts: int

    def __add__(self, other: SharesBelow) -> SharesBelow:
        both = merge_attributes(self.attributes, other.attributes, None)
        return replace(self, attributes=both)

    def check_same_rows(self, attributes: Sequence[AttributeMoments]) -> None:
        """Raise if other rows were counted than those whose moments are given."""
        now, before = _weights(self.attributes), _weights(attributes)
        for key in now | before:
            a, b = before.get(key, 0.0), now.get(key, 0.0)
            if abs(a - b) > 1e-6 * max(a, b):
                raise UsageError(
                    f"The rows changed while they were read: of the attribute {key[0]!r}, those "
                    f"with {key[2]!r} had weight {a:g} in the first pass and {b:g} now. Read what "
                    f"stays as it is: a copy, or a collection that is kept in memory."
                )

    def contrasts(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return how far groups differ from the rest: shares (c, kJ), slopes (c, kJ, d), weights.

        For a level, its share below a threshold minus that of all other rows. For a numeric
        attribute, twice its covariance, in standard deviations, with being below: of numbers that
        are 0 for one half of the rows and 1 for the other, the same difference. The weights (c,) of
        two groups add up to 1. A small group has a small one: its shares are known badly.
        """
        found, n = np.concatenate([_from_the_rest(a) for a in self.attributes]), self.n_counts
        slopes = found[:, n:].reshape(len(found), n, -1)
        weights = [np.ones(1) if w is None else w for w in map(_counts_for, self.attributes)]
        return found[:, :n], slopes, np.concatenate(weights)


def _from_the_rest(a: AttributeMoments) -> np.ndarray:
    """Return how far the mean of each group is from that of all other rows, feature by feature."""
    sums, _ = a.contrasts()
    size: Any
    if isinstance(a, LevelMoments):
        # W_g (mean_g - mean), and mean_g - mean is (1 - p_g) (mean_g - mean_rest)
        size = a.weight * (1.0 - a.weight / max(a.weight.sum(), 1e-300))
        size = np.where(size > 0, size, np.inf)
    else:
        size = 0.5 * np.sqrt(a.value_scatter * a.weight) or np.inf
    return to_numpy(sums) / np.reshape(size, (-1, 1))


def _counts_for(a: AttributeMoments) -> np.ndarray | None:
    """Return how much each group of an attribute counts; None for a number."""
    if not isinstance(a, LevelMoments):
        return None
    share = a.weight / max(a.weight.sum(), 1e-300)
    spread = float(np.sum(share * (1.0 - share))) or 1.0
    return 2.0 * share * (1.0 - share) ** 2 / spread


@dataclass(frozen=True)
class Distribution:
    """The different values of a score, and the weight of all rows, and of groups, at each; adds.

    `attributes` are moments whose features are the u values. Scores of rows that are alike differ
    by rounding, so values no further apart than `tol` are one. More than `most` are `rounded` to
    three digits: memory is bounded, and the order of what is left stays.
    """

    values: np.ndarray
    weight: np.ndarray
    attributes: tuple[AttributeMoments, ...]
    tol: float
    most: int
    rounded: bool = False

    def __add__(self, other: Distribution) -> Distribution:
        u, v = len(self.values), len(other.values)
        mine = tuple(_each_feature(a, partial(_padded, before=0, after=v)) for a in self.attributes)
        theirs = tuple(
            _each_feature(a, partial(_padded, before=u, after=0)) for a in other.attributes
        )
        both = Distribution(
            np.concatenate([self.values, other.values]),
            np.concatenate([self.weight, other.weight]),
            merge_attributes(mine, theirs, None),
            self.tol,
            self.most,
            self.rounded or other.rounded,
        )
        return both.sorted()

    def sorted(self) -> Distribution:
        """Return the same with each value once, in ascending order."""
        values, rounded = self.values, self.rounded
        order = np.argsort(values, kind="stable")
        starts = _new_values(values[order], self.tol)
        if rounded or len(starts) > self.most:
            values, rounded = _to_three_digits(values), True
            starts = _new_values(values[order], 0.0)

        def together(rows: Array) -> np.ndarray:
            return np.add.reduceat(to_numpy(rows)[..., order], starts, axis=-1)

        attributes = tuple(_each_feature(a, together) for a in self.attributes)
        values, weight = values[order][starts], together(self.weight)
        return replace(self, values=values, weight=weight, attributes=attributes, rounded=rounded)

    @property
    def gap(self) -> float:
        """The largest difference of a group's share at or below a value from that of all others.

        Kolmogorov's distance. Of rounded values: what it can be at most.
        """
        largest = 0.0
        for a in self.attributes:
            gaps = _from_the_rest(_each_feature(a, partial(np.cumsum, axis=-1)))
            largest = max(largest, float(np.abs(gaps).max(initial=0.0)))
            if self.rounded and isinstance(a, LevelMoments):
                here = to_numpy(a.total)
                others, weight = here.sum(axis=0) - here, a.weight.sum() - a.weight
                own, rest = (
                    part / np.where(of > 0, of, np.inf)[:, None]
                    for part, of in ((here, a.weight), (others, weight))
                )
                # Within a value that stands for several, one of the two may come first.
                bounds = np.abs(np.stack([gaps + rest, gaps - own]))
                largest = max(largest, float(bounds.max(initial=0.0)))
        return min(largest, 1.0)

    def means_between(self, levels: np.ndarray) -> np.ndarray:
        """Return the mean of the scores between each two quantiles: J + 1 levels, J means.

        Unlike a quantile, it does not jump where rows tie.
        """
        reached = np.concatenate([[0.0], np.cumsum(self.weight)])
        reached, total = reached / reached[-1], reached[-1]
        sums = np.concatenate([[0.0], np.cumsum(self.weight / total * self.values)])
        return np.diff(np.interp(levels, reached, sums)) / np.diff(levels)


@dataclass(frozen=True)
class Distributions:
    """Those of several scores; they add one by one."""

    each: tuple[Distribution, ...]

    def __add__(self, other: Distributions) -> Distributions:
        return Distributions(tuple(a + b for a, b in zip(self.each, other.each, strict=True)))


def distributions_of(rows: Rows, W: Array, centre: Array) -> Distributions:
    """Return how the scores ``(x - centre) @ W`` are distributed in all groups, in one pass."""
    if is_sparse(rows.empty):
        rows = rows.as_rows_of(MappedRows, features=_as_dense)
    rows = replace(rows, targets=())
    single, n = is_single(machine_epsilon(rows.empty)), rows.n_rows
    blocks = list(row_blocks(n, rows_per_block(rows.empty)))
    with quiet_overflow(), full_precision(rows.empty):
        scores = np.concatenate(
            [
                np.empty((0, W.shape[1])),
                *(to_numpy((B - like(centre, B)) @ like(W, B)) for B in rows.blocks(blocks)),
            ]
        )
    design = Design(rows, "float64")
    H = design.block(slice(0, n)).T
    if design.root_weight is not None:
        H = H * design.root_weight
    attributes = design.read(H, None)["attributes"]
    how: dict[str, Any] = {
        "tol": SAME_SINGLE if single else SAME,
        "most": MOST_VALUES // scores.shape[1],
    }
    every = (Distribution(s, H[0], attributes, **how).sorted() for s in scores.T.astype(float))
    return Distributions(tuple(every))


def _each_feature(a: AttributeMoments, rows: Callable[[Array], Array]) -> AttributeMoments:
    return a._mapped(rows, _no_scatter)


def _no_scatter(scatter: Any) -> Any:
    raise AssertionError("counts have no scatter")


def _padded(rows: Array, before: int, after: int) -> np.ndarray:
    sides = [(0, 0)] * (rows.ndim - 1) + [(before, after)]
    return np.pad(to_numpy(rows), sides)


def _new_values(values: np.ndarray, tol: float) -> np.ndarray:
    """Return the places of ascending values that are larger than the one before."""
    return np.flatnonzero(np.concatenate([[True], np.diff(values) > tol])[: len(values)])


def _to_three_digits(values: np.ndarray) -> np.ndarray:
    mantissa, exponent = np.frexp(values)
    return np.ldexp(np.round(mantissa * 1024.0), exponent - 10)


def _weights(attributes: Sequence[AttributeMoments]) -> dict[Any, float]:
    found: dict[Any, float] = {}
    for a in attributes:
        if isinstance(a, LevelMoments):
            weights = a.weight.tolist()
            found |= {(a.name, a.stratum, g): w for g, w in zip(a.labels, weights, strict=True)}
        else:
            found[a.name, a.stratum, "a number"] = a.weight
    return found


def shares_below(rows: Rows, scores: Scores) -> SharesBelow:
    """Return how many rows of each group lie below the thresholds, in one pass."""
    if is_sparse(rows.empty):
        rows = rows.as_rows_of(MappedRows, features=_as_dense)
    rows = replace(rows, targets=())
    with quiet_overflow(), full_precision(rows.empty):
        design = Design.of(rows)
        _, counts = one_pass(rows, design, scores.centre, partial(_Counts, scores))
        assert isinstance(counts, _Counts)
        found = design.read(counts.sums, None)["attributes"]
    return SharesBelow(found, scores.thresholds.size)


def _as_dense(X: Any) -> np.ndarray:
    return X.toarray()


class _Counts(TotalProducts):
    """Soft counts and slopes of the rows of each column of the design."""

    def __init__(self, scores: Scores, X: Array, design: Design, shift: Array | None) -> None:
        xp = array_namespace(X)
        self._design, self._xp = design, xp
        self._W, self._n = like(scores.W, X), scores.thresholds.size
        self._at, self._per_unit = (like(a, X) for a in (scores.thresholds, 1.0 / scores.widths))
        self._counts = CrossProduct((design.width, self._n), X)
        self._slopes = CrossProduct((self._n * (design.width - 1), X.shape[1]), X)

    def add(self, B: Array, block: slice) -> None:
        xp, n = self._xp, B.shape[0]
        roots = self._design.roots(block)
        score = B @ self._W
        if roots is not None:
            roots = like(roots, B)
            score = score / roots
        # tanh, not exp: it does not overflow
        t = xp.tanh(0.5 * (self._at - score[:, :, None]) * self._per_unit)
        slope = xp.reshape(0.25 * (1.0 - t * t) * self._per_unit, (n, self._n))
        below = xp.reshape(0.5 * (1.0 + t), (n, self._n))
        H = like(self._design.block(block), B)
        self._counts.add(H, below if roots is None else below * roots)
        H = H[:, 1:]  # nobody asks for the slopes of all rows together
        each = xp.reshape(slope[:, :, None] * H[:, None, :], (n, self._n * H.shape[1]))
        self._slopes.add(each, B)

    def merge(self, other: Any) -> None:
        self._counts.merge(other._counts)
        self._slopes.merge(other._slopes)

    @property
    def sums(self) -> Array:
        """One row per column of the design: the counts, then the slopes of each."""
        xp, groups = self._xp, self._design.width - 1
        slopes = xp.reshape(self._slopes.total, (self._n, groups, -1))
        slopes = xp.reshape(xp.permute_dims(slopes, (1, 0, 2)), (groups, -1))
        slopes = xp.concat([0.0 * slopes[:1, :], slopes], axis=0)
        return xp.concat([self._counts.total, slopes], axis=1)
