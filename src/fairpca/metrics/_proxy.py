"""Differences between groups that are known in part, and what they can be at most."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.stats import norm

from .._attributes import (
    Numeric,
    as_array,
    attribute_columns,
    check_frames,
    read_column,
    read_probabilities,
    warn_of_spellings,
)
from ..errors import SingleGroupError, UsageError
from ._explained import places_between
from ._inputs import row_weights
from ._parity import as_means, check_each_counts
from ._strata import band_ends

_NAME = "sensitive_features"


@dataclass(frozen=True)
class ProxyDifference:
    """Result of `proxy_difference`: an estimate, and bounds that hold without its assumption.

    Attributes
    ----------
    groups : tuple of (object, object)
        The two groups that are compared: the one with the higher rate, or mean, first.
    difference : float
        How much higher it is, if people of equal probabilities are treated alike, and those of
        unknown group like the others of theirs.
    interval : tuple of (float, float)
        Confidence interval of the difference, under the same assumption.
    bounds : tuple of (float, float)
        The smallest and the largest difference that agree with the decisions and what is known
        of the groups, whatever decisions depend on.
    bounds_interval : tuple of (float, float)
        The bounds, widened by their sampling error: it holds the true difference at least as often
        as the confidence says.
    confidence : float
        Level of the intervals.

    See Also
    --------
    proxy_difference : Returns it.

    Examples
    --------
    >>> from fairpca.metrics import proxy_difference
    >>> approved = [1, 1, 1, 0] * 10 + [0, 0, 0, 1] * 10
    >>> sex = {"m": [0.9] * 40 + [0.2] * 40, "f": [0.1] * 40 + [0.8] * 40}
    >>> found = proxy_difference(None, approved, sensitive_features=sex)
    >>> found.groups, round(found.difference, 3)
    (('m', 'f'), 0.354)
    >>> [round(end, 3) for end in found.bounds]
    [0.202, 0.864]
    """

    groups: tuple[Any, Any]
    difference: float
    interval: tuple[float, float]
    bounds: tuple[float, float]
    bounds_interval: tuple[float, float]
    confidence: float

    def __str__(self) -> str:
        (a, b), (low, high), (least, most) = self.groups, self.interval, self.bounds
        return (
            f"{a} above {b} by {self.difference:.3f} [{low:.3f}, {high:.3f}]; "
            f"bounds {least:.3f} to {most:.3f}"
        )


def proxy_difference(
    y_true: ArrayLike | None,
    y_pred: ArrayLike,
    *,
    sensitive_features: Any,
    pos_label: Any = None,
    between: tuple[Any, Any] | None = None,
    sample_weight: ArrayLike | None = None,
    confidence: float = 0.95,
) -> ProxyDifference:
    r"""Estimate and bound the difference between two groups that are known in part.

    Either only probabilities are known, such as where nobody may ask for race and it is predicted
    from surname and address; or the groups of some people are, and not those of others.

    Of probabilities, the estimate counts each person in every group by the probability. It is right
    if people of equal probabilities are treated alike; it is too small if decisions fall by the
    group itself. People of unknown group do not count in it. The bounds need no such assumption:
    there people of unknown group may be of any. Probabilities need to be calibrated for both.
    :doc:`/howto/missing_attributes`

    Parameters
    ----------
    y_true : array-like of shape (n_samples,) or None
        True labels: ignored, as in fairlearn. For true positive rates, pass the rows whose label
        is positive, with probabilities that are calibrated among them.
    y_pred : array-like of shape (n_samples,)
        Decisions as 0 and 1, or predictions, whose means are compared.
    sensitive_features : array-like of shape (n_samples, n_groups) or (n_samples,), frame or dict
        Probability of each group, called by its column. Each row adds up to 1, give or take 0.02
        of rounding, by which it is then divided; where nothing is known, it is missing. Or one
        column with the groups, None or NaN where they are unknown.
    pos_label : object, default=None
        The positive decision, where `y_pred` has others than 0 and 1.
    between : tuple of (object, object), default=None
        Two groups; by default those with the highest and the lowest estimated rate.
    sample_weight : array-like of shape (n_samples,), default=None
        How much each row counts; only ratios matter.
    confidence : float, default=0.95
        Level of the intervals.

    Returns
    -------
    found : ProxyDifference
        The estimate with its interval, and the bounds.

    Raises
    ------
    UsageError
        If probabilities lie outside of 0 to 1 or do not add up, or if nobody may belong to a group.
    MissingGroupError
        If one probability of a row is missing and another is not.

    See Also
    --------
    selection_rate_difference : Takes probabilities, too: the largest estimate.

    Notes
    -----
    With the group z, decisions d, and probabilities :math:`p_g = P(z = g)`, the estimate of a
    group's rate is :math:`E[p_g d] / E[p_g]`. Calibrated, it differs from the rate by (Chen et al.
    2019) :math:`-E[\operatorname{Cov}(d, 1_{z=g} \mid p)] / P(z = g)`. So it shows too small a
    difference if of people with equal probabilities those of the lower group fare worse, and too
    large a one if they fare better. Whose group is known for a sample can be used to see which.

    The bounds are those of Frechet and Hoeffding within bands of equal probability, as Kallus, Mao
    and Zhou (2022) use them: of a band in which the share r is selected, between
    :math:`\max(0, r + p_g - 1)` and :math:`\min(r, p_g)` are selected and of the group. Of
    predictions, the largest or the smallest ones are. There are :math:`n^{1/3}` bands of n people.
    The bounds are sharp for two groups, up to the width of the bands, and safe for more. They are
    wide unless the probabilities are near 0 and 1. Of people whose group is unknown, those with a
    value above the resulting mean raise it most (Manski 1990); if only their shares of the groups
    are known, pass these as their probabilities.

    Intervals take probabilities as given: where these are learned from few people, draw them again,
    too (bootstrap). In simulations of 300 and 2,000 people, with decisions by the probabilities, by
    the group, and by whatever makes the difference as large as the bounds allow, `bounds_interval`
    of 95 % held the truth in 91 to 100 %; with unknown groups, in 94 to 100 %.

    References
    ----------
    .. [1] Chen, Kallus, Mao, Svacha and Udell, "Fairness under unawareness: assessing disparity
       when protected class is unobserved". FAT* 2019.
    .. [2] Kallus, Mao and Zhou, "Assessing algorithmic fairness with unobserved protected class
       using data combination". Management Science, 2022.

    Examples
    --------
    >>> import numpy as np
    >>> from fairpca.metrics import proxy_difference
    >>> rng = np.random.default_rng(0)
    >>> p = rng.beta(0.3, 0.3, size=4000)
    >>> white = rng.random(4000) < p
    >>> approved = rng.random(4000) < np.where(white, 0.7, 0.5)  # a difference of 0.2
    >>> race = {"white": p, "black": 1 - p}
    >>> print(proxy_difference(None, approved, sensitive_features=race))
    white above black by 0.139 [0.115, 0.163]; bounds -0.095 to 0.390

    One in twenty did not tell their group:

    >>> told = np.where(rng.random(4000) < 0.05, None, np.where(white, "white", "black"))
    >>> print(proxy_difference(None, approved, sensitive_features=told))
    white above black by 0.200 [0.170, 0.230]; bounds 0.148 to 0.234
    """
    if not 0.0 < confidence < 1.0:
        raise UsageError(f"confidence={confidence} must be between 0 and 1; 0.95 is usual.")
    values = as_means(y_pred, pos_label)[1]
    levels, P, w = _known_in_part(y_true, y_pred, sensitive_features, sample_weight)
    unknown = np.isnan(P).any(axis=1)
    P, of_known = np.where(unknown[:, None], 0.0, P), w * ~unknown
    check_each_counts(levels, of_known @ P)
    means = (of_known * values) @ P / (of_known @ P)
    a, b = int(np.argmax(means)), int(np.argmin(means))
    if a == b:
        b = (a + 1) % len(levels)
    if between is not None:
        a, b = sorted(places_between(between, levels), key=lambda g: -means[g])

    found = between_groups(values, P[:, [a, b]], w, unknown)
    value, error = found.estimates[0, 1], found.errors[0, 1]
    low, high = -found.most[1, 0], found.most[0, 1]
    of_low, of_high = found.most_errors[1, 0], found.most_errors[0, 1]
    widest = float(np.ptp(values))
    reach = float(norm.ppf(0.5 + confidence / 2))

    def ends(low: float, high: float) -> tuple[float, float]:
        return float(max(low, -widest)), float(min(high, widest))

    return ProxyDifference(
        groups=(levels[a], levels[b]),
        difference=float(value),
        interval=(float(value - reach * error), float(value + reach * error)),
        bounds=ends(low, high),
        bounds_interval=ends(low - reach * of_low, high + reach * of_high),
        confidence=confidence,
    )


@dataclass(frozen=True, eq=False)
class BetweenGroups:
    """By how much any group's mean exceeds any other's, of shape (m, m), with standard errors.

    `most` are the largest differences that are possible; the smallest ones are `-most.T`.
    """

    estimates: np.ndarray
    errors: np.ndarray
    most: np.ndarray
    most_errors: np.ndarray


def between_groups(
    values: np.ndarray, P: np.ndarray, w: np.ndarray, unknown: np.ndarray
) -> BetweenGroups:
    """Return differences of groups that are known in part: `proxy_difference`, for all pairs.

    `P` has the probabilities of each group, 0 in rows whose group is `unknown`.
    """
    means = [_Means.of(values, p, w, unknown) for p in P.T]

    def pairs(first: Sequence[_Mean], second: Sequence[_Mean]) -> tuple[np.ndarray, np.ndarray]:
        apart = [[one - other for other in second] for one in first]
        return (
            np.array([[one.value for one in row] for row in apart]),
            np.array([[one.error for one in row] for row in apart]),
        )

    estimated = [one.estimate for one in means]
    most, least = [one.most for one in means], [one.least for one in means]
    return BetweenGroups(*pairs(estimated, estimated), *pairs(most, least))


def _known_in_part(
    y_true: Any, y_pred: Any, sensitive_features: Any, sample_weight: ArrayLike | None
) -> tuple[list[Any], np.ndarray, np.ndarray]:
    """Return levels, their probabilities (n, levels), NaN of an unknown group, and weights."""
    rows = {"y_true": y_true, "y_pred": y_pred, "sample_weight": sample_weight}
    check_frames(**rows, sensitive_features=sensitive_features)
    n_rows = len(y_pred)
    weight = row_weights(sample_weight, n_rows)
    weight = np.ones(n_rows) if weight is None else weight
    if isinstance(sensitive_features, Mapping) or as_array(sensitive_features).ndim == 2:
        columns = attribute_columns(sensitive_features)
        P = read_probabilities(columns, n_rows, _NAME, may_be_missing=True)
        return list(columns), P, weight
    if (shape := np.shape(sensitive_features)) != (n_rows,):
        raise UsageError(
            f"{_NAME} has shape {shape}, but there are {n_rows} rows. Pass the group of each, None "
            f"where it is unknown, or a column of probabilities for each group."
        )
    found = read_column(_NAME, as_array(sensitive_features))
    if isinstance(found, Numeric):
        raise UsageError(
            f"{_NAME} is one column of fractions, and neither groups nor enough probabilities: a "
            f"column is needed for each group, such as p and 1 - p."
        )
    if len(found.labels) < 2:
        raise SingleGroupError(
            f"{_NAME} has {len(found.labels)} group(s) in {np.count_nonzero(found.codes >= 0)} "
            f"rows that have one, and at least two are compared. Pass rows of another group."
        )
    warn_of_spellings(_NAME, found.labels)
    P = (found.codes[:, None] == np.arange(len(found.labels))).astype(float)
    P[found.codes < 0] = np.nan
    return list(found.labels), P, weight


@dataclass(frozen=True, eq=False)
class _Mean:
    """A mean, or a difference of such, with the influence of every row."""

    value: float
    influence: np.ndarray

    @classmethod
    def of(cls, z: np.ndarray, p: np.ndarray, w: np.ndarray) -> _Mean:
        """Return the sum of z over that of p."""
        value, total = float(w @ z / (w @ p)), float(w @ p)
        return cls(value, w * (z - value * p) / total)

    def __sub__(self, other: _Mean) -> _Mean:
        return _Mean(self.value - other.value, self.influence - other.influence)

    @property
    def error(self) -> float:
        return float(np.linalg.norm(self.influence))


@dataclass(frozen=True, eq=False)
class _Means:
    """What the mean of a group may be: as estimated, at least and at most."""

    estimate: _Mean
    least: _Mean
    most: _Mean

    @classmethod
    def of(cls, y: np.ndarray, p: np.ndarray, w: np.ndarray, unknown: np.ndarray) -> _Means:
        most, least = _largest(y, p, w, unknown), _largest(-y, p, w, unknown)
        return cls(
            _Mean.of(p * y, p, w),
            replace(least, value=-least.value, influence=-least.influence),
            most,
        )


def _largest(y: np.ndarray, p: np.ndarray, w: np.ndarray, unknown: np.ndarray) -> _Mean:
    """Return the largest mean of y over a group: within bands, and with whoever raises it."""
    z, unsure = p * y, np.flatnonzero((p > 0) & (p < 1))
    if len(unsure):
        z[unsure] = _largest_in_bands(y[unsure], p[unsure], w[unsure])
    added = unknown
    while True:  # who raises the mean depends on it; each round leaves out some, and raises it
        mean = _Mean.of(np.where(unknown, added * y, z), np.where(unknown, added, p), w)
        fewer = added & (y > mean.value)
        if (fewer == added).all():
            return mean
        added = fewer


def _largest_in_bands(y: np.ndarray, p: np.ndarray, w: np.ndarray) -> np.ndarray:
    """Return numbers whose sum is that of y over a group that has the largest y of each band.

    With any q, the sum of p q + max(y - q, 0) is as large at least. It is equal where q is the
    value above which so many of a band lie as p says are of the group. Each half of a band takes
    the q of the other: that of its own would fit its chances, and come to less.
    """
    band = np.searchsorted(band_ends(p, max(2, round(len(p) ** (1 / 3)))), p)
    order = np.lexsort((np.random.default_rng(0).random(len(y)), band))
    starts = np.flatnonzero(np.diff(band[order], prepend=-1))
    q = np.empty(len(y))
    for rows in np.split(order, starts[1:]):
        for half, other in ((rows[0::2], rows[1::2]), (rows[1::2], rows[0::2])):
            q[half] = _upper_quantile(y, p, w, other if w[other].any() else rows)
    return p * q + np.maximum(y - q, 0.0)


def _upper_quantile(y: np.ndarray, p: np.ndarray, w: np.ndarray, rows: np.ndarray) -> float:
    falling = rows[np.argsort(-y[rows], kind="stable")]
    share = w[rows] @ p[rows] * (1 - 1e-12)
    at = int(np.searchsorted(np.cumsum(w[falling]), share))
    return float(y[falling[min(at, len(rows) - 1)]])
