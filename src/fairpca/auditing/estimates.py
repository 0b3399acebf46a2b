"""From one number per split to an estimate with an interval."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.stats import norm

from .results import Estimate


def pooled(
    values: Sequence[float] | np.ndarray,
    errors: Sequence[float] | np.ndarray,
    confidence: float,
    *,
    within: tuple[float, float] = (0.0, 1.0),
) -> Estimate:
    r"""Return the mean over splits with a confidence interval.

    Parameters
    ----------
    values, errors : sequence of float of length S
        The number of each split and its standard error from the held-out rows of that split.
    within : (float, float)
        Where such a number can be; the interval is cut there.

    Notes
    -----
    The two splits of a round hold out disjoint halves, so a round has half the sampling variance
    of a split. Another round holds out the same rows again and does not make it smaller; it only
    averages over how the halves were drawn, of which the spread between splits tells. The
    variance is therefore taken as :math:`\overline{e^2}/2 + \mathrm{Var}(values)/S`, which counts
    some of the sampling error twice: intervals are rather too wide than too narrow.

    Examples
    --------
    >>> pooled([0.7, 0.72], [0.02, 0.02], 0.95)  # doctest: +ELLIPSIS
    Estimate(value=0.71, low=0.67..., high=0.74...)
    """
    v, e = np.asarray(values, dtype=float), np.asarray(errors, dtype=float)
    known = np.isfinite(v) & np.isfinite(e)
    v, e = v[known], e[known]
    if len(v) == 0:
        return Estimate(float("nan"), float("nan"), float("nan"))
    between = float(v.var(ddof=1)) / len(v) if len(v) > 1 else 0.0
    halves = 2.0 if len(v) > 1 else 1.0
    error = float(np.sqrt(np.mean(e**2) / halves + between))
    value, reach = float(v.mean()), float(norm.ppf(0.5 + confidence / 2)) * error
    low, high = max(within[0], value - reach), min(within[1], value + reach)
    return Estimate(value, float(min(low, value)), float(max(high, value)))


def share_error(share: float | np.ndarray, n: float | np.ndarray) -> np.ndarray:
    """Return the standard error of a share of n rows.

    One row is added on either side, so that a share of 0 or 1 in a few rows is not called certain.
    """
    n = np.asarray(n, dtype=float)
    softened = (np.asarray(share) * n + 1.0) / (n + 2.0)
    return np.sqrt(softened * (1.0 - softened) / np.maximum(n, 1.0))
