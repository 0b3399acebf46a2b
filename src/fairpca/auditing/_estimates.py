"""From one number per split to an estimate with an interval."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

import numpy as np
from scipy.stats import norm, studentized_range

from ._results import Estimate


def pooled(
    values: Sequence[float] | np.ndarray,
    errors: Sequence[float] | np.ndarray,
    confidence: float,
    *,
    within: tuple[float, float] = (0.0, 1.0),
) -> Estimate:
    r"""Return the mean over splits with a confidence interval, cut where such a number can be.

    Each split has its number and its standard error from the held-out rows of that split.

    Notes
    -----
    The two splits of a round hold out disjoint halves, so a round has half the sampling variance
    of a split. Another round holds out the same rows again and does not make it smaller; it only
    averages over how the halves were drawn, of which the spread between splits tells. The
    variance is therefore taken as :math:`\overline{e^2}/2 + \mathrm{Var}(values)/S`, which counts
    some of the sampling error twice. In simulations (200 and 600 rows, one and two rounds) 95 %
    intervals of accuracies, AUCs and rates covered in 93 to 98 % of cases and were up to 45 % wider
    than ideal ones; without the second term they covered in 87 to 95 %. Where no error is given
    (0), an interval is the spread over splits only, and too narrow for a level to be claimed.

    Examples
    --------
    >>> pooled([0.7, 0.72], [0.02, 0.02], 0.95)  # doctest: +ELLIPSIS
    Estimate(value=0.71, low=0.67..., high=0.74...)
    """
    value, error = mean_and_error(values, errors)
    if np.isnan(value):
        return Estimate(value, value, value)
    reach = float(norm.ppf(0.5 + confidence / 2)) * error
    low, high = max(within[0], value - reach), min(within[1], value + reach)
    return Estimate(value, float(min(low, value)), float(max(high, value)))


def mean_and_error(
    values: Sequence[float] | np.ndarray, errors: Sequence[float] | np.ndarray
) -> tuple[float, float]:
    """Return the mean over splits and its standard error, as `pooled` explains; NaN of nothing."""
    v, e = np.asarray(values, dtype=float), np.asarray(errors, dtype=float)
    known = np.isfinite(v) & np.isfinite(e)
    v, e = v[known], e[known]
    if len(v) == 0:
        return float("nan"), float("nan")
    between = float(v.var(ddof=1)) / len(v) if len(v) > 1 else 0.0
    halves = 2.0 if len(v) > 1 else 1.0
    return float(v.mean()), float(np.sqrt(np.mean(e**2) / halves + between))


def largest_difference(
    values: Sequence[float] | np.ndarray, errors: Sequence[float] | np.ndarray, confidence: float
) -> Estimate:
    r"""Return the largest difference between groups, with an interval for it.

    Of the groups' shares and standard errors; groups without a number do not count. NaN where fewer
    than two have one.

    Notes
    -----
    The largest of many noisy differences is too large: m groups of equal rates and standard error
    e are found about 1.1 e apart for m = 2, 2.5 e for m = 6, 3.3 e for m = 12. The lower end knows
    that: with q the quantile of the studentised range of m groups, all differences at once exceed
    the true ones by at most :math:`q \sqrt{(e_g^2 + e_h^2)/2}` (Tukey, Kramer). The upper end needs
    no such care, since the two groups that truly differ most do not depend on the rows, and what
    is observed of them is at most the largest difference; it is the largest of the usual upper
    ends of all pairs. For two groups this is the usual interval. It is wide where a group has few
    rows: its rate may be anything. In simulations with 2 to 12 groups of 30 to 1000 rows, 95 %
    intervals with errors over two splits covered in 95 to 100 % of cases, with those of one split
    in 92 % at worst (12 groups of 30 rows).

    Examples
    --------
    >>> found = largest_difference([0.5, 0.4], [0.03, 0.04], 0.95)
    >>> round(found.value, 3), round(found.low, 3), round(found.high, 3)
    (0.1, 0.002, 0.198)
    """
    v, e = np.asarray(values, dtype=float), np.asarray(errors, dtype=float)
    known = np.isfinite(v) & np.isfinite(e)
    v, e = v[known], e[known]
    if len(v) < 2:
        return Estimate(float("nan"), float("nan"), float("nan"))
    first, second = np.triu_indices(len(v), 1)
    apart = np.abs(v[first] - v[second])
    error = np.hypot(e[first], e[second])
    one, any_of_all = norm.ppf(0.5 + confidence / 2), _studentised_range(len(v), confidence)
    low = max(0.0, float(np.max(apart - any_of_all * error / np.sqrt(2))))
    high = min(1.0, float(np.max(apart + one * error)))
    return Estimate(float(apart.max()), low, high)


@cache
def _studentised_range(m: int, confidence: float) -> float:
    return float(studentized_range.ppf(confidence, m, np.inf))


def share_error(share: float | np.ndarray, n: float | np.ndarray) -> np.ndarray:
    """Return the standard error of a share of n rows.

    One row is added on either side, so that a share of 0 or 1 in a few rows is not called certain.
    """
    n = np.asarray(n, dtype=float)
    softened = (np.asarray(share) * n + 1.0) / (n + 2.0)
    error: np.ndarray = np.sqrt(softened * (1.0 - softened) / np.maximum(n, 1.0))
    return error
