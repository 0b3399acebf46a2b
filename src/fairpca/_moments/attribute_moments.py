"""First-order (and, on request, second-order) moments of one attribute's groups.

Sums are about the mean of *all* rows, not about zero: with rows at 1e6 and group differences of
1, that is where the digits are. They are linear in the data, so a new common mean moves them by
``weight * shift`` and nothing is lost.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np

from .._attributes import refuse_identifiers
from .._files import is_array, is_count, is_label, is_number, record
from .._numerics import Array, array_namespace, like, take_rows
from .scatter import Scatter, merge_scatters, scatter_fits

OfRows = Callable[[Array], Array]
OfScatter = Callable[[Scatter], Scatter]

NESTED = 1e-10
"""Combinations of numbers that vary by less of what they might are rounding, as of nested ones."""

DETERMINED = 1e-10
"""An attribute of which numbers leave less of its variance is a function of them."""


class LinearInRows:
    """What follows the rows when they are rescaled or projected."""

    def _mapped(self, rows: OfRows, scatter: OfScatter) -> Self:
        """Return this with one function of all its rows, and one of its scatters."""
        raise NotImplementedError

    def rescaled(self, scale: Array) -> Self:
        """Return the moments of the rows in other units.

        Parameters
        ----------
        scale : ndarray of shape (n_features,)
            What each column is divided by.

        Returns
        -------
        moments
            Of the rows divided by `scale`.
        """
        return self._mapped(lambda rows: rows / scale, lambda s: s.rescaled(scale))

    def compressed(self, B: Array) -> Self:
        """Return the moments of the rows times a matrix: B^T S B and so on.

        Parameters
        ----------
        B : ndarray of shape (n_features, n_columns)
            What the rows are multiplied with.

        Returns
        -------
        moments
            In s dimensions.
        """
        return self._mapped(lambda rows: rows @ B, lambda s: s.compressed(B))


@record()
@dataclass(frozen=True)
class GivenMoments(LinearInRows):
    """Moments of the numbers (q) that an attribute is regressed on, over the rows it is known of.

    The attribute is one column, or one for each of its levels: m of them.
    """

    names: tuple[str, ...]
    mean: np.ndarray
    scatter: np.ndarray  # (q, q): sum of w u u^T, with u the numbers less their mean
    with_attribute: np.ndarray  # (m, q): sum of w z u
    cross: Array  # (q, d): sum of w u x, wherever x is measured from

    def _fits_together(self) -> bool:
        if not isinstance(self.names, tuple) or not is_array(self.cross, len(self.names), None):
            return False
        q, named = len(self.names), all(isinstance(name, str) for name in self.names)
        known = is_array(self.mean, q) and is_array(self.scatter, q, q)
        return named and known and is_array(self.with_attribute, None, q)

    def merged(
        self, other: GivenMoments, weights: tuple[float, float], gap: Array, both: np.ndarray
    ) -> GivenMoments:
        """Return the moments of the union, of `weights` as they are; rows lie a `gap` apart.

        Products with the attribute of `both`, about the own mean of each, are added up by whoever
        knows the attribute.
        """
        step = other.mean - self.mean
        total = sum(weights)
        harmonic = weights[0] * weights[1] / total
        return replace(
            self,
            mean=self.mean + step * (weights[1] / total),
            scatter=self.scatter + other.scatter + harmonic * np.outer(step, step),
            with_attribute=both,
            cross=self.cross + other.cross + like(harmonic * step, gap)[:, None] * gap,
        )

    def _mapped(self, rows: OfRows, scatter: OfScatter) -> GivenMoments:
        return replace(self, cross=rows(self.cross))

    def left_of(self, rows: Array, sizes: np.ndarray) -> Array:
        """Return contrasts of the attribute without what numbers say of it; zero if they say all.

        The covariance of what regressions on the numbers leave of features and of the attribute:
        ``S_zx - S_zu S_uu^+ S_ux``.
        """
        slopes, left = self._regression(sizes)
        found = rows - like(slopes, rows) @ self.cross
        return found * like((left > DETERMINED).astype(float), rows)[:, None]

    def leaves_something(self, sizes: np.ndarray) -> np.ndarray:
        """Return for which columns of the attribute, of these sizes, numbers do not say all."""
        return np.asarray(self._regression(sizes)[1] > DETERMINED)

    def _regression(self, sizes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return slopes (m, q), and the share of the attribute's variance that they leave."""
        unit = np.sqrt(np.diagonal(self.scatter))
        unit = np.where(unit > 0, unit, np.inf)  # a constant says nothing
        values, vectors = np.linalg.eigh(self.scatter / unit / unit[:, None])
        kept = values > NESTED * max(1, len(unit))
        V = vectors[:, kept] / unit[:, None]
        along = self.with_attribute @ V
        slopes = (along / values[kept]) @ V.T
        squares = np.where(sizes > 0, sizes, 1.0) ** 2
        explained = np.sum(along**2 / values[kept], axis=1)
        return slopes, np.where(sizes > 0, 1.0 - explained / squares, 0.0)


@record(later=["given"])
@dataclass(frozen=True)
class LevelMoments(LinearInRows):
    """Moments of the levels of a categorical attribute: m of them, in d dimensions."""

    name: str
    stratum: Any
    labels: tuple[Any, ...]
    count: np.ndarray
    weight: np.ndarray
    total: Array  # (m, d): sum of w (x - mean of all rows) over the rows of each level
    # About each level's own mean, None where it is empty; only to match covariances.
    scatters: tuple[Scatter | None, ...] | None = None
    integral_floats: bool = False  # whole numbers so far, which may turn out to be numeric
    optional: bool = False  # may have one level only
    given: GivenMoments | None = None

    def _fits_together(self) -> bool:
        if not isinstance(self.labels, tuple) or not is_array(self.total, None, None):
            return False
        m, d = self.total.shape
        named = isinstance(self.name, str) and all(map(is_label, (self.stratum, *self.labels)))
        flags = isinstance(self.integral_floats, bool) and isinstance(self.optional, bool)
        if not (named and flags and len(self.labels) == m and is_array(self.weight, m)):
            return False
        counted = isinstance(self.count, np.ndarray) and self.count.dtype.kind == "i"
        counted = counted and self.count.shape == (m,) and bool((self.weight >= 0).all())
        scatters = (None,) * m if self.scatters is None else self.scatters
        known = isinstance(scatters, tuple) and len(scatters) == m and _given_fits(self.given, m, d)
        return counted and known and all(s is None or scatter_fits(s, d) for s in scatters)

    def moved(self, shift: Array) -> LevelMoments:
        """Return the same moments about another mean: the old one lies `shift` beyond it."""
        return replace(self, total=self.total + like(self.weight, shift)[:, None] * shift)

    def with_labels(self, labels: tuple[Any, ...]) -> LevelMoments:
        """Return the moments for a longer list of labels, in its order; new ones are empty."""
        if labels == self.labels:
            return self
        xp, d = array_namespace(self.total), self.total.shape[1]
        position = {label: i for i, label in enumerate(self.labels)}
        found = np.array([position.get(label, -1) for label in labels])
        padded = xp.concat([self.total, like(np.zeros((1, d)), self.total)], axis=0)
        scatters = self.scatters
        if scatters is not None:
            scatters = tuple(None if i < 0 else scatters[i] for i in found)
        given = self.given
        if given is not None:
            longer = np.vstack([given.with_attribute, np.zeros(len(given.names))])
            given = replace(given, with_attribute=longer[found])
        return replace(
            self,
            given=given,
            labels=labels,
            count=np.append(self.count, 0)[found],
            weight=np.append(self.weight, 0.0)[found],
            total=take_rows(padded, np.where(found < 0, len(self.labels), found)),
            scatters=scatters,
        )

    def merged(self, other: LevelMoments, mean: Array | None) -> LevelMoments:
        """Return the moments of the union of the rows; both are about its mean already."""
        labels = tuple(dict.fromkeys((*self.labels, *other.labels)))
        refuse_identifiers(self.name, len(labels))
        a, b = self.with_labels(labels), other.with_labels(labels)
        scatters = None
        if a.scatters is not None and b.scatters is not None:
            scatters = tuple(_merge_level(a, b, g, mean) for g in range(len(labels)))
        return replace(
            a,
            count=a.count + b.count,
            weight=a.weight + b.weight,
            total=a.total + b.total,
            scatters=scatters,
            integral_floats=all(x.integral_floats for x in (self, other) if x.labels),
            given=_merge_given(a, b),
        )

    def _mapped(self, rows: OfRows, scatter: OfScatter) -> LevelMoments:
        scatters = self.scatters and tuple(s and scatter(s) for s in self.scatters)
        given = self.given and self.given._mapped(rows, scatter)
        return replace(self, total=rows(self.total), scatters=scatters, given=given)

    def at(self, levels: Sequence[int]) -> LevelMoments:
        """Return the moments of some of the levels."""
        where = np.asarray(levels, dtype=np.intp)
        given = self.given
        if given is not None:
            given = replace(given, with_attribute=given.with_attribute[where])
        return replace(
            self,
            labels=tuple(self.labels[i] for i in levels),
            count=self.count[where],
            weight=self.weight[where],
            total=take_rows(self.total, where),
            scatters=self.scatters and tuple(self.scatters[i] for i in levels),
            given=given,
        )

    def contrasts(self) -> tuple[Array, np.ndarray]:
        """Return the rows that must vanish, ``W_g (mu_g - mu)``, and the size of their columns.

        The size of a row is the norm of the centred indicator of its level, so row over size
        over the spread of a feature is a correlation.
        """
        xp = array_namespace(self.total)
        observed = self.weight.sum()
        share = self.weight / observed if observed > 0 else self.weight
        rows = self.total - like(share, self.total)[:, None] * xp.sum(self.total, axis=0)
        sizes = np.sqrt(self.weight * np.clip(1.0 - share, 0.0, None))
        return rows if self.given is None else self.given.left_of(rows, sizes), sizes

    @property
    def is_comparable(self) -> bool:
        """Whether rows are in two levels, and that is no function of the numbers given."""
        several = self.optional or int(np.count_nonzero(self.weight)) > 1
        if self.given is None or not several:
            return several
        sizes = replace(self, given=None).contrasts()[1]
        return bool(self.given.leaves_something(sizes).any())

    def independent_contrasts(self) -> tuple[Array, np.ndarray]:
        """Return the contrasts but that of the heaviest level, which the others imply.

        Where nearly all the weight is in one level, its own contrast is what is left of a
        cancellation.
        """
        rows, sizes = self.contrasts()
        heaviest = int(np.argmax(self.weight)) if len(sizes) else 0
        others = [rows[:heaviest, :], rows[heaviest + 1 :, :]]
        return array_namespace(rows).concat(others, axis=0), np.delete(sizes, heaviest)

    def as_numeric(self) -> NumericMoments:
        """Return the moments of the levels read as numbers; exact, since the labels are numbers."""
        xp = array_namespace(self.total)
        values = np.array([float(label) for label in self.labels])
        weight = float(self.weight.sum())
        mean = float(self.weight @ values) / weight if weight > 0 else 0.0
        centred = values - mean
        return NumericMoments(
            name=self.name,
            stratum=self.stratum,
            count=int(self.count.sum()),
            weight=weight,
            value_mean=mean,
            value_scatter=float(self.weight @ centred**2),
            total=xp.sum(self.total, axis=0),
            cross=like(centred, self.total) @ self.total,
            given=self.given
            and replace(self.given, with_attribute=centred[None, :] @ self.given.with_attribute),
        )


def _given_fits(given: Any, m: int, d: int) -> bool:
    if given is None:
        return True
    return isinstance(given, GivenMoments) and bool(
        given.with_attribute.shape[0] == m and given.cross.shape[1] == d
    )


def _merge_given(a: LevelMoments, b: LevelMoments) -> GivenMoments | None:
    """Return the moments of numbers; levels are the same, and numbers may be those of one side."""
    weights = float(a.weight.sum()), float(b.weight.sum())
    if a.given is None or b.given is None or 0.0 in weights:
        return b.given if weights[0] == 0 else a.given
    xp = array_namespace(a.total)
    gap = xp.sum(b.total, axis=0) / weights[1] - xp.sum(a.total, axis=0) / weights[0]
    mean = a.given.mean + (b.given.mean - a.given.mean) * (weights[1] / sum(weights))
    both = a.given.with_attribute + b.given.with_attribute
    both = both + np.outer(a.weight, a.given.mean - mean) + np.outer(b.weight, b.given.mean - mean)
    return a.given.merged(b.given, weights, gap, both)


def _merge_level(a: LevelMoments, b: LevelMoments, g: int, mean: Any) -> Scatter | None:
    assert a.scatters is not None
    assert b.scatters is not None
    of_a, of_b = a.scatters[g], b.scatters[g]
    if of_a is None or of_b is None:
        return of_b if of_a is None else of_a
    weight_a, weight_b = float(a.weight[g]), float(b.weight[g])
    total_a, total_b = a.total[g, :], b.total[g, :]
    return merge_scatters(
        of_a,
        of_b,
        mean=mean + (total_a + total_b) / (weight_a + weight_b),
        gap=total_b / weight_b - total_a / weight_a,
        weight_a=weight_a,
        weight_b=weight_b,
    )


@record(later=["given"])
@dataclass(frozen=True)
class NumericMoments(LinearInRows):
    """Moments of a numeric attribute, and its products with the rows."""

    name: str
    stratum: Any
    count: int
    weight: float
    value_mean: float
    value_scatter: float
    total: Array  # (d,): sum of w (x - mean of all rows)
    cross: Array  # (d,): sum of w (value - value_mean) x, wherever x is measured from
    given: GivenMoments | None = None

    def _fits_together(self) -> bool:
        numbers = all(map(is_number, (self.weight, self.value_mean, self.value_scatter)))
        vectors = is_array(self.total, None) and is_array(self.cross, None)
        if not (numbers and vectors and is_count(self.count)) or self.weight < 0:
            return False
        named = isinstance(self.name, str) and is_label(self.stratum)
        named = named and self.total.shape == self.cross.shape
        return named and _given_fits(self.given, 1, self.total.shape[0])

    def moved(self, shift: Array) -> NumericMoments:
        """Return the same moments about another mean: the old one lies `shift` beyond it."""
        return replace(self, total=self.total + self.weight * shift)

    def merged(self, other: NumericMoments, mean: Array | None) -> NumericMoments:
        """Return the moments of the union of the rows; both are about its mean already."""
        weight = self.weight + other.weight
        if self.weight == 0 or other.weight == 0:
            return other if self.weight == 0 else self
        # Chan, Golub & LeVeque (1983), for the variance of the values and their covariance with x
        step = other.value_mean - self.value_mean
        harmonic = self.weight * other.weight / weight
        gap = other.total / other.weight - self.total / self.weight
        return replace(
            self,
            count=self.count + other.count,
            weight=weight,
            value_mean=self.value_mean + step * other.weight / weight,
            value_scatter=self.value_scatter + other.value_scatter + harmonic * step**2,
            total=self.total + other.total,
            cross=self.cross + other.cross + harmonic * step * gap,
            given=self._merged_given(other, harmonic * step, gap),
        )

    def _merged_given(self, other: NumericMoments, step: float, gap: Array) -> GivenMoments | None:
        a, b = self.given, other.given
        if a is None or b is None:
            return None
        both = a.with_attribute + b.with_attribute + step * (b.mean - a.mean)
        return a.merged(b, (self.weight, other.weight), gap, both)

    def _mapped(self, rows: OfRows, scatter: OfScatter) -> NumericMoments:
        given = self.given and self.given._mapped(rows, scatter)
        return replace(self, total=rows(self.total), cross=rows(self.cross), given=given)

    def contrasts(self) -> tuple[Array, np.ndarray]:
        """Return the row that must vanish, the cross-moment, and the size of its column."""
        if self.is_constant:  # as in a stratum, where what is left of it is rounding
            return 0.0 * self.cross[None, :], np.zeros(1)
        row, size = self.cross[None, :], np.sqrt([self.value_scatter])
        return row if self.given is None else self.given.left_of(row, size), size

    @property
    def is_comparable(self) -> bool:
        """Whether the values differ, and are no function of the numbers given."""
        if self.is_constant or self.given is None:
            return not self.is_constant
        return bool(self.given.leaves_something(np.sqrt([self.value_scatter])).any())

    def independent_contrasts(self) -> tuple[Array, np.ndarray]:
        """Return the only contrast there is."""
        return self.contrasts()

    @property
    def rounding(self) -> float:
        """Correlation that the rounding of the values' mean can cause when batches are added."""
        if self.value_scatter == 0:
            return 0.0
        spread = np.sqrt(self.value_scatter / self.weight)
        return float(np.finfo(float).eps * abs(self.value_mean) / spread)

    @property
    def is_constant(self) -> bool:
        """Whether the values differ by no more than rounding."""
        noise = 8 * np.finfo(float).eps * abs(self.value_mean)
        return bool(self.value_scatter <= self.weight * noise**2)


AttributeMoments = LevelMoments | NumericMoments
