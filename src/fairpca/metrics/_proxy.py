"""Differences between groups that are known as probabilities, and what they can be at most."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.stats import norm

from ..errors import UsageError
from ._explained import places_between
from ._parity import as_means, probable_groups
from ._strata import band_ends


@dataclass(frozen=True)
class ProxyDifference:
    """Result of `proxy_difference`: an estimate, and bounds that hold without its assumption.

    Attributes
    ----------
    groups : tuple of (object, object)
        The two groups that are compared: the one with the higher rate, or mean, first.
    difference : float
        How much higher it is, if people of equal probabilities are treated alike.
    interval : tuple of (float, float)
        Confidence interval of the difference, under the same assumption.
    bounds : tuple of (float, float)
        The smallest and the largest difference that agree with the decisions and the
        probabilities, whatever decisions depend on.
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
    r"""Estimate and bound the difference between two groups of which only probabilities are known.

    Where nobody may ask for race, it is often predicted from surname and address. The estimate
    counts each person in every group by its probability. It is right if people of equal
    probabilities are treated alike; it is too small if decisions fall by the group itself. The
    bounds need no such assumption: both need probabilities that are calibrated.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,) or None
        True labels: ignored, as in fairlearn. For true positive rates, pass the rows whose label
        is positive, with probabilities that are calibrated among them.
    y_pred : array-like of shape (n_samples,)
        Decisions as 0 and 1, or predictions, whose means are compared.
    sensitive_features : array-like of shape (n_samples, n_groups), frame or dict
        Probability of each group, called by its column. Each row adds up to 1, give or take 0.02
        of rounding, by which it is then divided.
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
        If a probability is missing.

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
    wide unless the probabilities are near 0 and 1. In simulations of 300 and 2,000 people, with
    decisions by the probabilities, by the group, and by whatever makes the difference as large as
    the bounds allow, `bounds_interval` of 95 % held the truth in 91 to 100 %.

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
    """
    if not 0.0 < confidence < 1.0:
        raise UsageError(f"confidence={confidence} must be between 0 and 1; 0.95 is usual.")
    values = as_means(y_pred, pos_label)[1]
    found = probable_groups(y_true, y_pred, sensitive_features, sample_weight)
    if found is None:
        raise UsageError(
            f"sensitive_features has shape {np.shape(sensitive_features)}, but a column of "
            f"probabilities is needed for each group. If the group of each row is known, use "
            f"selection_rate_difference."
        )
    levels, P, w = found
    means = (w * values) @ P / (w @ P)
    a, b = int(np.argmax(means)), int(np.argmin(means))
    if a == b:
        b = (a + 1) % len(levels)
    if between is not None:
        a, b = sorted(places_between(between, levels), key=lambda g: -means[g])

    of_a, of_b = (_Means.of(values, P[:, g], w) for g in (a, b))
    estimate = of_a.estimate - of_b.estimate
    low, high = of_a.least - of_b.most, of_a.most - of_b.least
    widest = float(np.ptp(values))
    reach = float(norm.ppf(0.5 + confidence / 2))
    return ProxyDifference(
        groups=(levels[a], levels[b]),
        difference=estimate.value,
        interval=(
            estimate.value - reach * estimate.error,
            estimate.value + reach * estimate.error,
        ),
        bounds=(max(low.value, -widest), min(high.value, widest)),
        bounds_interval=(
            max(low.value - reach * low.error, -widest),
            min(high.value + reach * high.error, widest),
        ),
        confidence=confidence,
    )


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
    def of(cls, y: np.ndarray, p: np.ndarray, w: np.ndarray) -> _Means:
        band = np.searchsorted(band_ends(p, max(2, round(len(p) ** (1 / 3)))), p)
        estimate, least, most = p * y, -_largest(-y, p, w, band), _largest(y, p, w, band)
        return cls(*(_Mean.of(z, p, w) for z in (estimate, least, most)))


def _largest(y: np.ndarray, p: np.ndarray, w: np.ndarray, band: np.ndarray) -> np.ndarray:
    """Return numbers whose sum is that of y over a group that has the largest y of each band.

    With any q, the sum of p q + max(y - q, 0) is as large at least. It is equal where q is the
    value above which so many of a band lie as p says are of the group. Each half of a band takes
    the q of the other: that of its own would fit its chances, and come to less.
    """
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
