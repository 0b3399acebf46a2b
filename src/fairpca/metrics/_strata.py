"""Strata of people whose legitimate factors are equal, and sums over the groups in them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from itertools import combinations
from typing import Any

import numpy as np

from .._attributes import are_categories, are_missing, as_array, attribute_columns, check_frames
from ..errors import UsageError

FEW_VALUES = 10
"""Numbers of so few values are not cut into bands: each value is a stratum."""

Number = tuple[float, float]
"""A value and its standard error."""


def conditional_difference(
    z: np.ndarray, groups: np.ndarray, strata: Strata, weight: np.ndarray | None
) -> float:
    """Return the largest unexplained difference of means between two groups."""
    cells = Cells.of(z, groups, strata, weight)
    found = [
        abs(parts.unexplained[0])
        for a, b in combinations(range(len(cells.n)), 2)
        if (parts := cells.split(a, b)) is not None
    ]
    if not found:
        raise UsageError(
            "No stratum of given has people of two groups, so nobody has a counterpart to be "
            "compared with. Use fewer or coarser factors."
        )
    return max(found)


@dataclass(frozen=True, eq=False)
class Strata:
    """The stratum of each row, and what each stratum is.

    Of strata there are a `level` (of all categories together, and of which numbers are missing)
    and the `places` of numbers among their bands, of shape (strata, numbers). Bands at most `reach`
    apart are near. `numbers` are those of the rows, 0 where they are missing.
    """

    codes: np.ndarray
    level: np.ndarray
    places: np.ndarray
    reach: np.ndarray
    numbers: np.ndarray

    def at(self, rows: np.ndarray) -> Strata:
        """Return the strata of some rows."""
        return replace(self, codes=self.codes[rows], numbers=self.numbers[rows])

    def joined(self, both: np.ndarray) -> np.ndarray:
        """Return a number for each stratum, where those in which not `both` groups are join others.

        They join the nearest near one of the same level in which both are, if there is one.
        """
        where = np.arange(len(both))
        if not self.places.shape[1] or not both.any():
            return where
        for level in np.unique(self.level[~both]):  # apart, since all pairs may be very many
            others, known = (np.flatnonzero((self.level == level) & of) for of in (~both, both))
            if not len(known):
                continue
            steps = np.abs(self.places[others, None] - self.places[None, known])
            near = (steps <= self.reach).all(axis=2)
            nearest = np.where(near, steps.sum(axis=2), np.inf).argmin(axis=1)
            found = near.any(axis=1)
            where[others[found]] = known[nearest[found]]
        return np.unique(where, return_inverse=True)[1]


@dataclass(frozen=True)
class Parts:
    """The parts of a difference between two groups, each with its standard error."""

    difference: Number
    explained: Number
    unexplained: Number
    unmatched: Number
    without_counterpart: tuple[float, float]
    n_strata: int


@dataclass(frozen=True, eq=False)
class Cells:
    """Sums over the rows of every group in every stratum, of shape (groups, strata); they add.

    They are the number of rows, and, with w the weight of a row and z its value, the sums of w,
    w^2, w z, w^2 z and w^2 z^2. `flags` says that z is 0 or 1; other z are about their mean.
    """

    strata: Strata
    flags: bool
    n: np.ndarray
    w: np.ndarray
    w2: np.ndarray
    wz: np.ndarray
    w2z: np.ndarray
    w2z2: np.ndarray

    @classmethod
    def of(
        cls,
        z: np.ndarray,
        groups: np.ndarray,
        strata: Strata,
        weight: np.ndarray | None = None,
        *,
        m: int = 0,
        flags: bool = False,
    ) -> Cells:
        """Return the sums over rows; at least `m` groups are counted, coded from 0."""
        m, n_strata = max(m, int(groups.max(initial=-1)) + 1), len(strata.level)
        cell, z = groups * n_strata + strata.codes, z.astype(float)
        w = np.ones(len(z)) if weight is None else weight
        if not flags:  # only differences matter, and squares of large numbers lose their digits
            z = z - np.average(z, weights=w)

        def total(of: np.ndarray) -> np.ndarray:
            return np.bincount(cell, of, minlength=m * n_strata).reshape(m, n_strata)

        sums = (w > 0, w, w**2, w * z, w**2 * z, (w * z) ** 2)
        return cls(strata, flags, *map(total, sums))

    @property
    def means(self) -> np.ndarray:
        """Means of the groups; NaN of nobody."""
        return _ratio(self.wz.sum(axis=1), self.w.sum(axis=1))

    def between(self, a: int, b: int) -> Cells:
        """Return the sums of two groups, in strata that are joined where one has nobody."""
        where = self.strata.joined((self.w[a] > 0) & (self.w[b] > 0))
        n_strata = int(where.max()) + 1

        def total(of: np.ndarray) -> np.ndarray:
            return np.stack([np.bincount(where, of[g], minlength=n_strata) for g in (a, b)])

        sums = (self.n, self.w, self.w2, self.wz, self.w2z, self.w2z2)
        return Cells(self.strata, self.flags, *map(total, sums))

    def split(self, a: int, b: int) -> Parts | None:
        """Split the mean of group a minus that of b; None where no stratum has people of both.

        Errors are those of the linearised parts: a person's influence is what the mean of the
        stratum gives, and what the person deviates from that mean. The variance within a stratum
        counts one row of the group's pooled variance more, so that it is known of a single person,
        too.
        """
        return self.between(a, b)._split()

    def influences(self, z: np.ndarray, groups: np.ndarray, weight: np.ndarray) -> np.ndarray:
        """Return by how much each row moves the parts of `split(0, 1)`, of shape (4, n).

        These are the rows that were counted, of two groups. With a row's weight times 1 + e, for a
        small e, a part is larger by e times the influence. Parts are in the order of `Parts`.
        """
        where = self.strata.joined((self.w[0] > 0) & (self.w[1] > 0))
        joined, own = self.between(0, 1), where[self.strata.codes]
        n_strata = joined.w.shape[1]
        sums = np.bincount(groups * n_strata + own, weight * z, minlength=2 * n_strata)
        apart = z - _ratio(sums.reshape(2, n_strata), joined.w)[groups, own]
        scaled = weight / joined.w.sum(axis=1)[groups]
        return np.stack(
            [
                scaled * (level[groups, own] + slope[groups, own] * apart)
                for level, slope in joined._slopes().values()
            ]
        )

    def _split(self) -> Parts | None:
        both = (self.w > 0).all(axis=0)
        if not both.any():
            return None
        w, lonely = self.w, bool((self.w[:, ~both] > 0).any())
        total, inside = w.sum(axis=1), w[:, both].sum(axis=1)
        r = np.nan_to_num(_ratio(self.wz, w))
        p = np.where(both, w, 0.0) / inside[:, None]
        mean = (w * r).sum(axis=1) / total
        apart, middle = r[0] - r[1], (r[0] + r[1]) / 2
        explained = float((p[0] - p[1]) @ middle)
        unexplained = float(p.sum(axis=0) @ np.where(both, apart, 0.0)) / 2
        difference = float(mean[0] - mean[1])
        away = difference - explained - unexplained
        seen = inside / total
        within = self._within()
        extra = self._of_flags(mean)
        errors = {}
        for name, (level, slope) in self._slopes().items():
            spread = (self.w2 * level**2 + slope**2 * within).sum(axis=1)
            more = extra if name in ("difference", "unexplained") else 0.0
            errors[name] = float(np.sqrt(((spread + more) / total**2).sum()))
        return Parts(
            difference=(difference, errors["difference"]),
            explained=(explained, errors["explained"]),
            unexplained=(unexplained, errors["unexplained"]),
            unmatched=(away, errors["unmatched"]) if lonely else (0.0, 0.0),
            without_counterpart=(float(1 - seen[0]), float(1 - seen[1])) if lonely else (0.0, 0.0),
            n_strata=int(both.sum()),
        )

    def _slopes(self) -> dict[str, tuple[np.ndarray, np.ndarray]]:
        """Return, for each part, what a stratum gives, and the slope of deviations from its mean.

        They are of shape (2, strata), and influences of rows, times the weight of their group.
        """
        w, both = self.w, (self.w > 0).all(axis=0)
        total, inside = w.sum(axis=1), w[:, both].sum(axis=1)
        r = np.nan_to_num(_ratio(self.wz, w))
        p = np.where(both, w, 0.0) / inside[:, None]
        mean, matched = (w * r).sum(axis=1) / total, (p * r).sum(axis=1)
        apart, middle, seen = r[0] - r[1], (r[0] + r[1]) / 2, inside / total
        sign = np.array([[1.0], [-1.0]])
        scale = np.where(both, 1.0, 0.0) / seen[:, None]

        def centred(of: np.ndarray) -> np.ndarray:
            return scale * (of - (p * of).sum(axis=1, keepdims=True))

        others = _ratio(p[::-1], p)  # of the other group's share to the own
        others[~np.isfinite(others)] = 0.0
        lonely = r - mean[:, None] - scale * (r - matched[:, None])
        return {
            "difference": (sign * (r - mean[:, None]), sign * np.ones(r.shape)),
            "explained": (centred(sign * middle), sign * scale * (1 - others) / 2),
            "unexplained": (centred(np.stack([apart, apart]) / 2), sign * scale * (1 + others) / 2),
            "unmatched": (sign * lonely, sign * (1.0 - scale)),
        }

    def _within(self) -> np.ndarray:
        """Return the variances of the cells' sums of w (z - mean), of shape (2, strata)."""
        n, w2 = self.n, self.w2
        r = np.nan_to_num(_ratio(self.wz, self.w))
        squares = np.maximum(self.w2z2 - 2 * r * self.w2z + r**2 * w2, 0.0)
        free = np.where(n > 0, w2 * (n - 1) / np.maximum(n, 1), 0.0).sum(axis=1)
        found = squares.sum(axis=1)
        if self.flags:  # one deviation more, of the largest variance
            each = w2.sum(axis=1) / np.maximum(n.sum(axis=1), 1)
            pooled = (found + each / 4) / (free + each)
        else:
            R = self.means
            whole = self.w2z2.sum(axis=1) - 2 * R * self.w2z.sum(axis=1)
            whole = np.maximum(whole + R**2 * w2.sum(axis=1), 0.0) / w2.sum(axis=1)
            pooled = np.where(free > 0, found / np.where(free > 0, free, 1.0), whole)
        return squares + np.where(n > 0, w2 / np.maximum(n, 1), 0.0) * pooled[:, None]

    def _of_flags(self, mean: np.ndarray) -> np.ndarray:
        """Return what one row on either side adds, so that a rate of 0 or 1 is not certain."""
        if not self.flags:
            return np.zeros(2)
        n = np.maximum(self.n.sum(axis=1), 1)
        soft = (mean * n + 1) / (n + 2)
        return np.asarray(self.w2.sum(axis=1) / n * (soft**2 + (1 - soft) ** 2))


def _ratio(above: np.ndarray, below: np.ndarray) -> np.ndarray:
    return np.divide(above, below, out=np.full(np.shape(below), np.nan), where=below > 0)


def strata_of(
    given: Any,
    n_rows: int,
    *,
    kinds: Mapping[str, str] | None = None,
    name: str = "given",
    coarser: float = 1.0,
    n_people: int | None = None,
) -> Strata:
    """Return the strata of factors; `kinds` says 'categorical' where numbers are codes.

    Bands of numbers are so much `coarser`: for probes, which need rows to learn from. They are as
    many as `n_people` allow where rows are not all counted, such as several of one person.
    """
    check_frames(**{name: given})
    columns = attribute_columns(given, unnamed=name)
    if not columns:
        raise UsageError(f"{name} has no columns. Pass a factor, or leave it out.")
    values = {str(of): _values(str(of), column, n_rows) for of, column in columns.items()}
    codes = [of for of, kind in (kinds or {}).items() if kind == "categorical"]
    codes += [str(of) for of, column in columns.items() if are_categories(column)]
    numbers = {of: None if of in codes else _numbers(found) for of, found in values.items()}
    n_numbers = sum(found is not None for found in numbers.values())
    most_bands = max(2, round((n_people or n_rows) ** (1 / (2 + max(1, n_numbers))) / coarser))
    levels, places, reach = [], [], []
    for of, found in values.items():
        missing = are_missing(found)
        if (of_number := numbers[of]) is None:
            levels.append(_levels(of, found, missing))
            continue
        place = _bands(of, of_number, missing, most_bands)
        places.append(place)
        reach.append(1 + int(place.max()) // 4)
        levels.append(missing.astype(int))
    known = [np.nan_to_num(found) for found in numbers.values() if found is not None]
    return _crossed(levels, places, reach, np.array(known).reshape(len(known), n_rows).T)


def _crossed(
    levels: list[np.ndarray], places: list[np.ndarray], reach: list[int], numbers: np.ndarray
) -> Strata:
    """Return a stratum for each combination that occurs."""
    rows = np.stack([*levels, *places], axis=1)
    found, codes = np.unique(rows, axis=0, return_inverse=True)
    level = np.unique(found[:, : len(levels)], axis=0, return_inverse=True)[1].ravel()
    ends = found[:, len(levels) :], np.array(reach, dtype=int)
    return Strata(codes.ravel(), level, *ends, numbers)


def _bands(name: str, numbers: np.ndarray, missing: np.ndarray, most: int) -> np.ndarray:
    """Return the band of each row's number; 0 where it is missing."""
    known = numbers[~missing]
    _check_distinct(name, np.unique(known).tolist(), missing)
    return np.where(missing, 0, np.searchsorted(band_ends(known, most), numbers))


def band_ends(numbers: np.ndarray, most: int) -> np.ndarray:
    """Return the upper ends of bands of about equally many numbers; of few values, all of them."""
    ends = np.unique(numbers)
    if len(ends) > max(most, FEW_VALUES):
        shares = np.arange(1, most) / most
        ends = np.unique(np.quantile(numbers, shares, method="inverted_cdf"))
    return ends


def _levels(name: str, values: np.ndarray, missing: np.ndarray) -> np.ndarray:
    """Return the level of each row; -1 where it is missing."""
    known = [_hashable(value) for value in values[~missing].tolist()]
    place = {value: i for i, value in enumerate(dict.fromkeys(known))}
    _check_distinct(name, list(place), missing)
    if len(place) == len(values):
        raise UsageError(
            f"The factor '{name}' has another value in each of {len(values)} rows, so nobody is "
            f"alike. Leave it out, or pass coarser levels."
        )
    codes = np.full(len(values), -1)
    codes[~missing] = [place[value] for value in known]
    return codes


def _check_distinct(name: str, known: Sequence[Any], missing: np.ndarray) -> None:
    if len(known) + bool(missing.any()) < 2:
        value = f" {known[0]!r}" if len(known) else ""
        raise UsageError(
            f"The factor '{name}' has the single value{value} in all {len(missing)} rows, so it "
            f"explains nothing. Leave it out."
        )


def _values(name: str, column: Any, n_rows: int) -> np.ndarray:
    values = as_array(column)
    if values.shape != (n_rows,):
        raise UsageError(
            f"The factor '{name}' has shape {values.shape}, but there are {n_rows} rows. Pass one "
            f"value per row, in the same order."
        )
    return values


def _numbers(values: np.ndarray) -> np.ndarray | None:
    """Return values as floats, dates as well; None where they are levels."""
    if values.dtype.kind in "mM":
        return np.where(are_missing(values), np.nan, values.astype("int64"))
    if values.dtype.kind in "iuf":
        return values.astype(float)
    if values.dtype != object:
        return None
    missing = are_missing(values)
    known = values[~missing].tolist()
    if not known or not all(isinstance(v, int | float | Decimal | np.number) for v in known):
        return None
    if any(isinstance(v, bool) for v in known):
        return None
    found = np.full(len(values), np.nan)
    found[~missing] = [float(v) for v in known]
    return found


def _hashable(value: Any) -> Any:
    try:
        hash(value)
    except TypeError:
        return repr(value)
    return value
