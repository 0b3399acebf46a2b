"""The variance that a subspace keeps, and how far groups are apart in mean and covariance."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from scipy.stats import rankdata
from sklearn.utils import gen_batches

from .._attributes import Numeric
from ..errors import UsageError
from ._inputs import coded_levels, finite_rows, read_groups

_BLOCK_ENTRIES = 2**22


def explained_variance_ratio(X: ArrayLike, components: ArrayLike) -> float:
    r"""Share of the total variance of the rows that a subspace keeps.

    Held-out data give the honest number. Rows are centred at their own mean.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        Rows in the original features, at least two of them different.
    components : array-like of shape (n_components, n_features)
        Orthonormal rows that span the subspace, as in ``components_``.

    Returns
    -------
    ratio : float
        Between 0 (all variance lost) and 1 (all variance kept).

    Raises
    ------
    ValueError
        If the rows of `components` are not orthonormal to 1e-6, if the numbers of features
        differ, or if X does not vary.

    Notes
    -----
    With :math:`A` the covariance of `X` and :math:`U` the matrix `components`, this is
    :math:`\mathrm{tr}(U A U^\top) / \mathrm{tr}(A)`; the divisor of the covariance cancels,
    and the d x d matrix :math:`A` is never formed.

    Examples
    --------
    >>> from fairpca.metrics import explained_variance_ratio
    >>> X = [[0.0, 0.0], [4.0, 0.0], [0.0, 3.0], [4.0, 3.0]]
    >>> explained_variance_ratio(X, components=[[1.0, 0.0]])
    0.64
    """
    X = finite_rows(X)
    U = finite_rows(components).astype(np.float64)
    if U.shape[1] != X.shape[1]:
        raise UsageError(
            f"components has shape {U.shape}, but X has {X.shape[1]} features, so each row of "
            f"components needs {X.shape[1]} entries. Pass one component per row, as in "
            f"scikit-learn's `components_`."
        )
    deviation = np.abs(U @ U.T - np.eye(len(U))).max()
    if deviation > 1e-6:
        raise UsageError(
            f"components has rows that are not orthonormal: components @ components.T differs "
            f"from the identity by {deviation:.2g}, more than 1e-6, and the trace formula holds "
            f"for orthonormal rows only. Orthonormalise them first, for example with "
            f"scipy.linalg.orth(components.T).T."
        )

    mean = X.mean(axis=0, dtype=np.float64)
    kept = total = 0.0
    for rows in gen_batches(len(X), max(1, _BLOCK_ENTRIES // X.shape[1])):
        centred = X[rows] - mean
        kept += float(np.square(centred @ U.T).sum())
        total += float(np.square(centred).sum())
    if total == 0:
        raise UsageError(
            f"X has {len(X)} row(s) that are all equal: their total variance is 0, and no "
            f"share of it can be given. Pass at least two different rows."
        )
    return min(1.0, kept / total)


def mean_gap(X: ArrayLike, sensitive_features: ArrayLike, *, robust: bool = False) -> float:
    r"""Return the largest distance of a group's mean from the mean of all rows, over columns.

    In standard deviations of the column, like the ``mean_gap_`` of `fairpca.FairPCA` for its
    training data. 0.2 means that in some column the average member of some group is 0.2 standard
    deviations above or below the average row. Two groups of equal size are then 0.4 apart, and a
    normally distributed column alone predicts the group with an AUC of 0.61; 1 means groups that do
    not overlap, 0 that a linear model fitted to these rows is a constant.

    On held-out data it is never 0: a group of n rows is off by about :math:`1/\sqrt n` by chance
    alone, and the largest of many groups and columns by more. Compare it with shuffled groups.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        Representation.
    sensitive_features : array-like of shape (n_samples,)
        Group of each row; or floats with fractions, a numeric attribute.
    robust : bool, default=False
        Whether to compare medians, in units of the interquartile range. A few values far from all
        others decide means and deviations, so that the gap of means may be zero while nearly
        everybody differs; medians hardly move.

    Returns
    -------
    gap : float
        The largest distance; 0 where no column varies. For a numeric attribute, its largest
        correlation with a column (with `robust`, the rank correlation).

    See Also
    --------
    covariance_gap : Compares covariances.
    leakage : How well a model predicts the attribute.

    Notes
    -----
    :math:`\max_{g,j} |\bar t_{gj} - \bar t_j| / s_j`, with the standard deviation of all rows.
    Columns that vary by no more than rounding do not count. It is taken over columns, not over
    all directions: over all directions, k columns of pure noise give about :math:`\sqrt{k/n}` in
    every representation, and a fair one of 100 columns would look worse than an unfair one of 5.

    Examples
    --------
    >>> from fairpca.metrics import mean_gap
    >>> X = [[0.0, 5.0], [2.0, 5.0], [4.0, 5.0], [6.0, 5.0]]
    >>> round(mean_gap(X, ["a", "a", "b", "b"]), 3)
    0.894
    >>> mean_gap(X, ["a", "b", "b", "a"])
    0.0
    >>> X = [[0.0], [1.0], [2.0], [9.0], [3.0], [4.0], [2.0], [3.0]]  # nine may be an error
    >>> groups = ["a", "a", "a", "a", "b", "b", "b", "b"]
    >>> mean_gap(X, groups), round(mean_gap(X, groups, robust=True), 2)
    (0.0, 0.67)
    """
    rows = finite_rows(X, min_rows=2, sensitive_features=sensitive_features).astype(np.float64)
    found = read_groups(sensitive_features, len(rows), "sensitive_features")
    if robust:
        if isinstance(found, Numeric):
            return mean_gap(
                rankdata(rows, axis=0), rankdata(found.values) + 0.25
            )  # no whole numbers
        return _median_gap(rows, found.codes, len(found.labels))
    centred = rows - rows.mean(axis=0)
    deviation = np.sqrt(np.mean(centred**2, axis=0))
    counts = deviation > 100 * np.finfo(float).eps * np.abs(rows).max(axis=0)
    if not counts.any():
        return 0.0
    if isinstance(found, Numeric):
        values = found.values - found.values.mean()
        size = np.linalg.norm(values) * deviation[counts] * np.sqrt(len(rows))
        return float(np.max(np.abs(values @ centred[:, counts]) / size))
    of_group = np.zeros((len(found.labels), len(rows)))
    of_group[found.codes, np.arange(len(rows))] = 1.0
    means = of_group @ centred[:, counts] / of_group.sum(axis=1, keepdims=True)
    return float(np.max(np.abs(means) / deviation[counts]))


def _median_gap(rows: np.ndarray, codes: np.ndarray, n_groups: int) -> float:
    low, median, high = np.quantile(rows, [0.25, 0.5, 0.75], axis=0)
    unit = high - low
    counts = unit > 100 * np.finfo(float).eps * np.abs(rows).max(axis=0)
    if not counts.any():
        return 0.0
    medians = np.stack([np.median(rows[codes == g], axis=0) for g in range(n_groups)])
    return float(np.max(np.abs(medians - median)[:, counts] / unit[counts]))


def covariance_gap(X: ArrayLike, sensitive_features: ArrayLike) -> float:
    """Return the largest difference between a group's covariance and the average, relative to it.

    A ratio of Frobenius norms, like the ``covariance_gap_`` of `fairpca.FairPCA` for its training
    data. On held-out data it is larger, by sampling error: compare it with shuffled groups. Groups
    with equal covariances may differ in shape; `leakage` with ``probe="strong"`` measures that.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        Representation.
    sensitive_features : array-like of shape (n_samples,)
        Group of each row; a float attribute is cut at its median.

    Returns
    -------
    gap : float
        The largest difference over groups; 0 where no column varies.

    See Also
    --------
    mean_gap : Compares means.

    Examples
    --------
    >>> import numpy as np
    >>> from fairpca.metrics import covariance_gap
    >>> X = np.array([[1.0], [-1.0], [2.0], [-2.0]])
    >>> covariance_gap(X, ["a", "a", "b", "b"])
    1.2
    """
    X = finite_rows(X, min_rows=2, sensitive_features=sensitive_features)
    levels, codes = coded_levels(sensitive_features, len(X), "sensitive_features")
    counts = np.bincount(codes, minlength=len(levels))
    if counts.min() < 2:
        few = [level for level, count in zip(levels, counts, strict=True) if count < 2]
        raise UsageError(
            f"The group(s) {few} have one row, which has no covariance. Merge them with others, or "
            f"leave them out."
        )
    covariances = [np.atleast_2d(np.cov(X[codes == g].T)) for g in range(len(levels))]
    average = sum(c / len(X) * S for c, S in zip(counts, covariances, strict=True))
    size = float(np.linalg.norm(np.cov(X.T, ddof=0)))
    gaps = [float(np.linalg.norm(S - average)) for S in covariances]
    return max(gaps) / size if size > 0 else 0.0
