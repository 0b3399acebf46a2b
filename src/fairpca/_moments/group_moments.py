"""The waist of the hourglass: all that a linear method needs to know about the rows."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from .._attributes import (
    MISSING_LABEL,
    how_to_decide,
    how_to_say_kinds,
    name_of_missing,
    sorted_labels,
)
from .._files import is_array, is_count, is_number, record
from .._numerics import Array, array_namespace, placed
from .._rows import BLOCK_ROWS
from ..errors import UsageError
from .attribute_moments import (
    AttributeMoments,
    LevelMoments,
    LinearInRows,
    NumericMoments,
    OfRows,
    OfScatter,
)
from .scatter import DenseScatter, RowScatter, Scatter, merge_scatters, scatter_fits

_ROUNDING_OF_A_MEAN = 32.0 * float(np.finfo(float).eps)


class MoreDigitsNeeded(Exception):
    """Sums in single precision do not tell directions from rounding; those in double may."""


@record()
@dataclass(frozen=True)
class Everyone(LinearInRows):
    """Weight, mean and standard deviations of all rows, where a criterion counts some of them."""

    weight: float
    mean: Array
    spread: Array  # (d,): standard deviations, divisor n

    def _fits_together(self) -> bool:
        d = len(self.mean)
        return is_array(self.mean, d) and is_array(self.spread, d) and is_number(self.weight)

    @property
    def varies(self) -> Array:
        """Mask of the features that vary by more than rounding of their mean explains."""
        return self.spread > _ROUNDING_OF_A_MEAN * array_namespace(self.mean).abs(self.mean)

    def __add__(self, other: Everyone) -> Everyone:
        weight = self.weight + other.weight
        share = other.weight / weight if weight > 0 else 0.0
        gap = other.mean - self.mean
        variance = (1.0 - share) * (self.spread**2 + share * gap**2) + share * other.spread**2
        spread = array_namespace(variance).sqrt(variance)
        return Everyone(weight, self.mean + share * gap, spread)

    def _mapped(self, rows: OfRows, scatter: OfScatter) -> Everyone:
        # Combinations of features have other deviations; nobody asks for these.
        return replace(self, mean=rows(self.mean), spread=rows(self.spread))


MOST_FAR_VALUES = 100


@record()
@dataclass(frozen=True)
class FarValue:
    """A column in which few rows, far from all others, hold nearly all of the scatter.

    `value` is the furthest of them, in the given `row` (None: in some batch); `n_rows` are far, and
    hold a `share` of the scatter about the median; `distance` is in quartile ranges from there.
    """

    column: int
    row: int | None
    value: float
    n_rows: int
    share: float
    distance: float

    def _fits_together(self) -> bool:
        counts = is_count(self.column) and is_count(self.n_rows)
        placed = self.row is None or is_count(self.row)
        return counts and placed and all(map(is_number, (self.value, self.share, self.distance)))

    def told(self, name: str) -> str:
        """Return what is far in the column of that name, as a part of a sentence."""
        where = "" if self.row is None else f" in row {self.row}"
        others = f" and {self.n_rows - 1:,} more" if self.n_rows > 1 else ""
        return (
            f"{name} has {self.value:g}{where}{others} ({self.distance:,.0f} quartile ranges from "
            f"the median, {100 * self.share:.1f} % of the scatter)"
        )


@record(later=["resolution", "provisional", "far_values"])
@dataclass(frozen=True)
class GroupMoments(LinearInRows):
    """Weight, mean and scatter of the rows, and the moments of their groups.

    Moments of disjoint sets of rows add up with ``+``, so batches, files and machines can be
    reduced in any order. Levels are matched by label: a batch need not have seen them all.

    Attributes
    ----------
    n_rows : int
        Number of rows.
    weight : float
        Their total weight.
    mean : ndarray of shape (n_features,)
        Weighted mean row.
    scatter : DenseScatter or RowScatter
        Sum of ``w (x - mean)(x - mean)^T``. It is never divided by n: a covariance is a way to
        read the scatter, not a thing to store.
    attributes : tuple of LevelMoments or NumericMoments
        One entry per attribute and stratum.
    precision : float
        Rounding unit of the coarsest numbers that were added up.
    everyone : Everyone or None, default=None
        Mean and variance of all rows, where the criterion counts only some of them.
    targets : tuple of LevelMoments or NumericMoments, default=()
        Moments of the classes, or of the numbers, of each column of y, which `FairPLS` needs.
    resolution : float, default=0.0
        Rounding unit of the coarsest numbers the rows came in, where they were added up in a finer
        one.
    provisional : bool, default=False
        Whether rows are available to be added up again in double precision, which a solver asks for
        before it treats anything as rounding.
    far_values : tuple of FarValue, default=()
        Columns in which few rows hold nearly all of the scatter; `fit` warns of them.

    See Also
    --------
    collect_moments : Computes them from rows.

    Examples
    --------
    >>> import numpy as np
    >>> from fairpca.moments import collect_moments
    >>> X = np.array([[0.0, 1.0], [2.0, 1.0], [4.0, 4.0]])
    >>> first = collect_moments(X[:2], sensitive_features=["a", "b"])
    >>> both = first + collect_moments(X[2:], sensitive_features=["b"])
    >>> both.mean
    array([2., 2.])
    >>> both.scatter.dense().matrix
    array([[8., 6.],
           [6., 6.]])
    """

    n_rows: int
    weight: float
    mean: Array
    scatter: Scatter
    attributes: tuple[AttributeMoments, ...]
    precision: float
    everyone: Everyone | None = None
    targets: tuple[AttributeMoments, ...] = ()
    resolution: float = 0.0
    provisional: bool = False
    far_values: tuple[FarValue, ...] = ()

    def _fits_together(self) -> bool:
        both = (self.attributes, self.targets)
        if not all(isinstance(v, FarValue) and v.column < len(self.mean) for v in self.far_values):
            return False
        if not is_array(self.mean, None) or not all(isinstance(of, tuple) for of in both):
            return False
        d = len(self.mean)
        everyone = self.everyone
        fits = everyone is None or (isinstance(everyone, Everyone) and len(everyone.mean) == d)
        known = fits and all(
            isinstance(a, LevelMoments | NumericMoments) and a.total.shape[-1] == d
            for of in both
            for a in of
        )
        numbers = all(map(is_number, (self.weight, self.precision, self.resolution)))
        numbers = numbers and self.weight >= 0 and isinstance(self.provisional, bool)
        return known and numbers and is_count(self.n_rows) and scatter_fits(self.scatter, d)

    @property
    def n_features(self) -> int:
        """Number of features d."""
        return int(self.mean.shape[0])

    @property
    def centre(self) -> Array:
        """Where rows are measured from: the mean of everyone."""
        return self.mean if self.everyone is None else self.everyone.mean

    @property
    def objective(self) -> Scatter:
        """Scatter of the rows about the centre, which a subspace keeps as much of as it can.

        A criterion says who is compared, not where features are measured from: about their own
        mean, the rows that count would lose the direction that tells them from the others.
        """
        if self.everyone is None:
            return self.scatter
        return self.scatter.about(self.centre, self.weight, self.mean - self.centre)

    @property
    def degrees_of_freedom(self) -> float:
        """Divide a scatter by this to get an unbiased variance; n - 1 for unit weights."""
        return self.weight * (1.0 - 1.0 / self.n_rows) if self.n_rows > 1 else self.weight

    def __add__(self, other: GroupMoments) -> GroupMoments:
        if not isinstance(other, GroupMoments):
            return NotImplemented
        if self.n_features != other.n_features:
            raise UsageError(
                f"Moments of {self.n_features} features cannot be added to moments of "
                f"{other.n_features}: they describe rows of different length. Collect both from "
                f"the same columns."
            )
        _check_same_targets(self, other)
        other = moments_at(other, self.mean)
        weight = self.weight + other.weight
        share = other.weight / weight if weight > 0 else 0.0
        gap = other.mean - self.mean
        mean = self.mean + share * gap

        def merged(mine: Iterable[AttributeMoments], theirs: Iterable[AttributeMoments]) -> Any:
            mine = [a.moved(-share * gap) for a in mine]
            return merge_attributes(mine, [b.moved((1.0 - share) * gap) for b in theirs], mean)

        scatter = merge_scatters(
            self.scatter,
            other.scatter,
            mean=mean,
            gap=gap,
            weight_a=self.weight,
            weight_b=other.weight,
        )
        return GroupMoments(
            n_rows=self.n_rows + other.n_rows,
            weight=weight,
            mean=mean,
            scatter=scatter,
            attributes=merged(self.attributes, other.attributes),
            precision=max(self.precision, other.precision),
            resolution=max(self.resolution, other.resolution),
            everyone=_merge_everyone(self, other),
            targets=tuple(map(_in_order, merged(self.targets, other.targets))),
            far_values=_merge_far_values(self.far_values, other.far_values),
        )

    def __radd__(self, other: object) -> GroupMoments:
        return self if other == 0 else NotImplemented  # so that sum() works

    def _mapped(self, rows: OfRows, scatter: OfScatter) -> GroupMoments:
        return replace(
            self,
            mean=rows(self.mean),
            scatter=scatter(self.scatter),
            attributes=tuple(a._mapped(rows, scatter) for a in self.attributes),
            everyone=self.everyone and self.everyone._mapped(rows, scatter),
            targets=tuple(a._mapped(rows, scatter) for a in self.targets),
            far_values=(),  # of other columns
        )

    def about_the_origin(self) -> GroupMoments:
        """Return moments whose scatter is ``sum w x x^T``; group differences are the same."""
        zero = array_namespace(self.mean).zeros_like(self.mean)
        scatter = self.scatter.dense().about(zero, self.weight, self.mean)
        return replace(self, mean=zero, scatter=scatter, everyone=None)

    def contrasts(self) -> tuple[Array, np.ndarray]:
        """Return independent constraint rows of all attributes, and the size of each row.

        Row over size over the norm of a centred feature is a correlation: a number without
        units, in which rounding errors of all attributes and features compare.
        """
        pairs = [a.independent_contrasts() for a in self.attributes]
        xp = array_namespace(self.mean)
        rows = xp.concat([rows for rows, _ in pairs], axis=0)
        # A constant far from zero has contrasts of rounding, and no norm to compare them with.
        rows = xp.where(self.varies, rows, xp.zeros_like(rows))
        return rows, np.concatenate([sizes for _, sizes in pairs])

    @property
    def varies(self) -> Array:
        """Mask of the features that vary by more than rounding of their mean explains."""
        noise = _ROUNDING_OF_A_MEAN * self.mean
        return self.scatter.diagonal > self.weight * noise * noise

    @property
    def spread(self) -> Array:
        """Norm of each centred feature; 1 for a constant one."""
        xp = array_namespace(self.mean)
        squares = self.scatter.diagonal
        return xp.sqrt(xp.where(self.varies, squares, xp.ones_like(squares)))

    @property
    def standard_deviations(self) -> Array:
        """Standard deviation (divisor n) of each feature; 1 for a constant one."""
        xp, everyone = array_namespace(self.mean), self.everyone
        if everyone is not None:
            return xp.where(everyone.varies, everyone.spread, xp.ones_like(everyone.spread))
        variance = self.scatter.diagonal / self.weight
        return xp.sqrt(xp.where(self.varies, variance, xp.ones_like(variance)))

    def need_all_digits(self) -> None:
        """Before something is called rounding: ask for sums in double, where possible."""
        if self.provisional:
            raise MoreDigitsNeeded

    @property
    def rounding(self) -> float:
        """Size of rounding errors in a correlation computed from these moments.

        Summing a block of b rows leaves errors of about eps sqrt(b) of the sum of squares; those
        of many blocks average out.
        """
        n = max(self.n_rows, 1)
        within_blocks = self.precision * np.sqrt(min(n, BLOCK_ROWS) / n)
        return float(16.0 * (within_blocks + np.finfo(float).eps))


def _settled(
    attributes: Sequence[AttributeMoments], others: Sequence[AttributeMoments]
) -> list[AttributeMoments]:
    """Return attributes of which those that were missing in every row are as in the others.

    Where all values are missing, levels look like numbers, and missing values are an
    attribute of their own, as for numbers. Moments that know levels have no such attribute, and
    then the missing values become the level that they are there.
    """
    known = {a.name for a in others}
    missing = {(a.name, a.stratum): a for a in attributes}
    found: list[AttributeMoments] = []
    dropped = set()
    for a in attributes:
        companion = name_of_missing(a.name)
        unknown = isinstance(a, LevelMoments) and not a.labels and a.integral_floats
        if unknown and companion not in known and (companion, a.stratum) in missing:
            dropped.add(companion)
            found.append(_as_level(a, missing[companion, a.stratum]))
        else:
            found.append(a)
    return [a for a in found if a.name not in dropped]


def _as_level(a: AttributeMoments, missing: AttributeMoments) -> LevelMoments:
    assert isinstance(missing, LevelMoments)
    where = [i for i, label in enumerate(missing.labels) if label is True]
    return replace(
        missing.at(where),
        name=a.name,
        labels=(MISSING_LABEL,) if where else (),
        integral_floats=False,
        optional=False,
    )


def _check_same_targets(a: GroupMoments, b: GroupMoments) -> None:
    targets = [[x.name for x in m.targets] for m in (a, b)]
    if targets[0] != targets[1]:
        raise UsageError(
            f"Moments of the targets {targets[0]} cannot be added to moments of {targets[1]}: "
            f"neither is known for all rows. Pass y with the same columns in every batch."
        )


def _check_same_attributes(*both: Iterable[AttributeMoments]) -> None:
    names = [list(dict.fromkeys(x.name for x in attributes)) for attributes in both]
    if set(names[0]) != set(names[1]):
        raise UsageError(
            f"Moments of the attributes {names[0]} cannot be added to moments of {names[1]}: rows "
            f"of one would belong to no group of the other. Name the attributes alike in all "
            f"batches; if their kinds differ, {how_to_say_kinds()}."
        )
    _check_same_factors(*both)


def _check_same_factors(*both: Iterable[AttributeMoments]) -> None:
    """Raise where other factors are given; moments without rows know none."""
    found = [{(a.name, _factors_of(a)) for a in attributes} for attributes in both]
    different = sorted({name for name, _ in found[0] ^ found[1]})
    if different and all(any(factors for _, factors in of) for of in found):
        told = [_told(next(f for name, f in of if name == different[0])) for of in found]
        raise UsageError(
            f"Moments of {different[0]!r} given {told[0]} cannot be added to moments of it given "
            f"{told[1]}: people are compared with others. Pass the same factors with every batch, "
            f"and {how_to_say_kinds()}."
        )
    if different and any(any(factors for _, factors in of) for of in found):
        raise UsageError(
            f"Moments of {different[0]!r} given legitimate factors cannot be added to moments of "
            f"it without any. Pass given=... with every batch, or with none."
        )


def _factors_of(a: AttributeMoments) -> tuple[tuple[str, ...], ...]:
    """Return the names of the categories and of the numbers that are given; nothing without any."""
    stratum = a.stratum if isinstance(a.stratum, tuple) else ()
    numbers = () if a.given is None else a.given.names
    return (tuple(name for name, _ in stratum), numbers) if stratum or numbers else ()


def _told(factors: tuple[tuple[str, ...], ...]) -> str:
    kinds = zip(("the levels of", "the numbers"), factors, strict=False)
    return " and ".join(f"{kind} {', '.join(names)}" for kind, names in kinds if names) or "nothing"


def _merge_everyone(a: GroupMoments, b: GroupMoments) -> Everyone | None:
    if a.everyone is None and b.everyone is None:
        return None
    if a.everyone is None or b.everyone is None:
        raise UsageError(
            "Moments that know the mean of all rows (criterion='equal_opportunity') cannot be "
            "added to moments that do not. Collect both anew, with the same criterion."
        )
    return a.everyone + b.everyone


def _merge_far_values(mine: Sequence[FarValue], theirs: Sequence[FarValue]) -> tuple[FarValue, ...]:
    """Return what is far in either, once for each column: the furthest of it."""
    if not theirs or not mine:
        return tuple(mine or theirs)
    found: dict[int, FarValue] = {}
    for each in sorted((*mine, *theirs), key=lambda v: (-v.distance, v.column)):
        before = found.get(each.column)
        n_rows = each.n_rows if before is None else before.n_rows + each.n_rows
        found[each.column] = replace(before or each, n_rows=n_rows)
    return tuple(found.values())[:MOST_FAR_VALUES]


def merge_attributes(
    mine: Sequence[AttributeMoments], theirs: Sequence[AttributeMoments], mean: Array | None
) -> tuple[AttributeMoments, ...]:
    """Return the moments of the union; both are about its mean, which scatters need, already."""
    mine, theirs = _settled(mine, theirs), _settled(theirs, mine)
    _check_same_attributes(mine, theirs)
    merged: dict[tuple[str, Any], AttributeMoments] = {(a.name, a.stratum): a for a in mine}
    for b in theirs:
        a = merged.get((b.name, b.stratum))
        merged[b.name, b.stratum] = b if a is None else _merge_pair(a, b, mean)
    return _agree_across_strata(list(merged.values()))


def _in_order(a: AttributeMoments) -> AttributeMoments:
    """Return classes in an order that does not depend on which batch came first."""
    return a.with_labels(sorted_labels(a.labels)) if isinstance(a, LevelMoments) else a


def _merge_pair(a: AttributeMoments, b: AttributeMoments, mean: Array | None) -> AttributeMoments:
    if isinstance(a, LevelMoments) and isinstance(b, LevelMoments):
        return a.merged(b, mean)
    return _to_numeric(a).merged(_to_numeric(b), mean)


def _to_numeric(a: AttributeMoments) -> NumericMoments:
    if isinstance(a, NumericMoments):
        return a
    if not a.integral_floats:
        raise UsageError(
            f"The column {a.name!r} is numeric in one batch and has the levels "
            f"{list(a.labels)[:5]} in another, so the two cannot be added. {how_to_decide()}."
        )
    return a.as_numeric()


def _agree_across_strata(attributes: list[AttributeMoments]) -> tuple[AttributeMoments, ...]:
    """Give the strata of one attribute the same kind and the same labels.

    A column of floats is numeric as soon as one of its values, in any batch or stratum, has a
    fraction; and a level seen in one stratum is a level of all of them.
    """
    by_name: dict[str, list[AttributeMoments]] = {}
    for a in attributes:
        by_name.setdefault(a.name, []).append(a)
    agreed: dict[str, tuple[Any, ...] | None] = {}
    for name, strata in by_name.items():
        levels = [a for a in strata if isinstance(a, LevelMoments)]
        labels = tuple(dict.fromkeys(label for a in levels for label in a.labels))
        agreed[name] = None if len(levels) < len(strata) else labels
    return tuple(_agreeing(a, agreed[a.name]) for a in attributes)


def _agreeing(a: AttributeMoments, labels: tuple[Any, ...] | None) -> AttributeMoments:
    if labels is None:
        return _to_numeric(a)
    assert isinstance(a, LevelMoments)
    return a.with_labels(labels)


def noise_along(moments: GroupMoments, B: Array | None = None) -> Array:
    """Return how large sums of squares along the columns of `B` (d, k) rounding can make.

    What the features add to a direction, v_j times their spread, may cancel, as in the
    difference of two copies; its square is known to `rounding` of the square of the whole. Rows
    far from the origin are themselves rounded by more, and so are those that came in float32 and
    were added up in double. A feature in small units has small terms, so its own direction is no
    noise beside one in large units. Without `B`, of all unit vectors the largest.
    """
    parts = noise_of_features(moments)
    if B is None:
        return sum(array_namespace(part).sum(part * part) for part in parts)
    return sum((part @ array_namespace(B).abs(B)) ** 2 for part in parts)


def noise_of_features(moments: GroupMoments) -> list[Array]:
    """Return what rounding adds to the norm of each feature: a vector for each of its causes."""
    xp, squares = array_namespace(moments.mean), moments.objective.diagonal
    spread = xp.sqrt(xp.where(squares > 0, squares, xp.zeros_like(squares)))
    unit = max(8.0 * moments.precision, 32.0 * float(np.finfo(float).eps))
    far = float(moments.weight) ** 0.5 * xp.abs(moments.mean)
    parts = [(2.0 * moments.rounding) ** 0.5 * spread, unit * far]
    if moments.resolution > 0:  # of which numbers are off by half
        parts.append(2.0 * moments.resolution * xp.sqrt(spread * spread + far * far))
    return parts


def moments_at(moments: GroupMoments, example: Array) -> GroupMoments:
    """Return the moments as arrays of the library and on the device of `example`.

    Moments of sparse rows hold the rows themselves, and these stay on the host: nothing is moved.
    """
    held = moments.scatter
    if placed(moments.mean, example) is moments.mean or (
        isinstance(held, RowScatter) and held.is_sparse
    ):
        return moments
    return moments._mapped(lambda rows: placed(rows, example), lambda s: _scatter_at(s, example))


def _scatter_at(scatter: Scatter, example: Array) -> Scatter:
    if isinstance(scatter, DenseScatter):
        return DenseScatter(placed(scatter.matrix, example))
    return replace(
        scatter,
        pieces=tuple(replace(rows, X=placed(rows.X, example)) for rows in scatter.pieces),
        mean=placed(scatter.mean, example),
        scale=None if scatter.scale is None else placed(scatter.scale, example),
    )
