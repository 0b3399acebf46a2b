"""Maximum mean discrepancy: how differently the groups are distributed."""

from __future__ import annotations

from itertools import combinations
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike
from scipy.spatial.distance import cdist, pdist
from sklearn.utils import gen_batches

from ..errors import UsageError
from ._inputs import finite_rows, integer_levels, present_values

_MOST_ROWS_FOR_MEDIAN = 5000
_BLOCK_ENTRIES = 2**21


def squared_mmd(
    T: ArrayLike, groups: ArrayLike, *, bandwidth: float | Literal["median"] = "median"
) -> float:
    r"""Squared maximum mean discrepancy between the groups' rows; 0 means equal distributions.

    Unlike the distance between group means, it reacts to any difference between the
    distributions: scale, shape and correlations too. The estimate is biased upwards, for groups
    of sizes a and b by at most 1/a + 1/b, so compare it between representations of the same rows.

    Parameters
    ----------
    T : array of shape (n, k)
        Rows of a representation.
    groups : array of shape (n,)
        Group label of each row. With more than two groups the largest value over all pairs of
        groups is returned.
    bandwidth : float or "median", default="median"
        The :math:`\sigma` of the Gaussian kernel; "median" takes ``median_bandwidth(T)``. To
        compare representations, choose one number for all of them (see Notes).

    Returns
    -------
    mmd2 : float
        Between 0 and 2.

    See Also
    --------
    fairpca.metrics.mmd_test : The same on at most a few thousand rows, with a p-value.

    Notes
    -----
    The kernel is :math:`k(a, b) = \exp(-|a - b|^2 / 2\sigma^2)` and the estimate for groups
    a and b is the V-statistic :math:`\bar k_{aa} + \bar k_{bb} - 2 \bar k_{ab}`, with
    :math:`\bar k` the mean over all pairs of rows, a row paired with itself included [1]_.
    Time is O(n^2 k); memory is bounded by a block of pairs.

    The tables of the fair PCA paper [2]_ take the bandwidth from the *training* rows projected by
    plain PCA with the same number of components, and the discrepancy from the test rows:
    ``squared_mmd(T_test, z_test, bandwidth=median_bandwidth(pca.transform(X_train)))``.

    References
    ----------
    .. [1] Gretton, Borgwardt, Rasch, Schölkopf, Smola. "A kernel two-sample test". JMLR 2012.
    .. [2] Kleindessner, Donini, Russell, Zafar. "Efficient fair PCA for fair representation
       learning". AISTATS 2023.

    Examples
    --------
    >>> from fairpca.metrics import squared_mmd
    >>> T = [[0.0], [1.0], [0.0], [1.0]]
    >>> squared_mmd(T, ["a", "a", "b", "b"])
    0.0
    >>> round(squared_mmd(T, ["a", "b", "a", "b"], bandwidth=1.0), 3)
    0.787
    """
    T = finite_rows(T)
    levels, codes = integer_levels(present_values(groups, len(T), "groups"), "groups")
    sigma = median_bandwidth(T) if bandwidth == "median" else checked_bandwidth(bandwidth)

    parts = [T[codes == level] for level in range(len(levels))]
    within = [_mean_kernel(A, A, sigma) for A in parts]
    discrepancies = (
        within[a] + within[b] - 2 * _mean_kernel(parts[a], parts[b], sigma)
        for a, b in combinations(range(len(parts)), 2)
    )
    return max(0.0, *discrepancies)  # a V-statistic is negative by rounding only


def median_bandwidth(T: ArrayLike) -> float:
    r"""Kernel width at the scale of the rows: the median heuristic.

    Parameters
    ----------
    T : array of shape (n, k)
        Rows, at least two. Of more than 5000 rows, 5000 are drawn with a fixed seed, so the
        result is still the same on every call.

    Returns
    -------
    sigma : float
        With :math:`\sigma^2` half the median of :math:`|t_i - t_j|^2` over all pairs
        :math:`i < j`.

    Raises
    ------
    ValueError
        If half of the pairs or more are pairs of equal rows, which leaves no scale.

    Examples
    --------
    >>> from fairpca.metrics import median_bandwidth
    >>> median_bandwidth([[0.0], [1.0], [3.0]])  # the squared distances are 1, 4 and 9
    1.4142135623730951
    """
    T = finite_rows(T, min_rows=2)
    if len(T) > _MOST_ROWS_FOR_MEDIAN:
        rng = np.random.default_rng(0)
        T = T[rng.choice(len(T), size=_MOST_ROWS_FOR_MEDIAN, replace=False)]
    return bandwidth_of(pdist(T, "sqeuclidean"), len(T))


def bandwidth_of(squares: np.ndarray, n_rows: int) -> float:
    """Return the median heuristic of the squared distances of all pairs of `n_rows` rows."""
    median = float(np.median(squares))
    if median == 0:
        raise UsageError(
            f"At least half of the pairs among the {n_rows} rows of T are equal, so their median "
            f"distance is 0 and a kernel of width 0 compares nothing. Pass the bandwidth as a "
            f"number at the scale at which rows count as different."
        )
    return float(np.sqrt(median / 2))


def checked_bandwidth(bandwidth: float | str) -> float:
    """Return a width as a plain number; raise if it is none."""
    if isinstance(bandwidth, str) or not 0 < bandwidth < np.inf:
        raise UsageError(
            f"bandwidth={bandwidth!r} is not a width: the kernel divides by its square. Pass a "
            f"positive finite number, or 'median'."
        )
    return float(bandwidth)


def _mean_kernel(A: np.ndarray, B: np.ndarray, sigma: float) -> float:
    # Distances from differences: |a|^2 + |b|^2 - 2ab is faster, but loses all digits for rows
    # far from zero, and the discrepancies of interest are small differences of such means.
    total = 0.0
    for rows in gen_batches(len(A), max(1, _BLOCK_ENTRIES // len(B))):
        squared_distances = cdist(A[rows], B, "sqeuclidean")
        squared_distances *= -0.5 / sigma**2
        total += float(np.exp(squared_distances, out=squared_distances).sum())
    return total / (len(A) * len(B))
