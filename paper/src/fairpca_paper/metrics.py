"""Fairness of a representation as the paper measures it: MMD², and linear inseparability."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import Any, Literal

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from scipy.spatial.distance import cdist, pdist, squareform
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils import check_array, gen_batches

from fairpca.errors import MissingGroupError, SingleGroupError, UsageError

__all__ = ["MMDTest", "linear_inseparability", "median_bandwidth", "mmd_test", "squared_mmd"]

_MOST_ROWS_FOR_MEDIAN = 5000
_BLOCK_ENTRIES, _SHUFFLED_ENTRIES = 2**21, 2**22
_KEPT = 50  # rows that a group keeps in a sample, if it has them, however rare it is


def squared_mmd(
    X: Any, sensitive_features: ArrayLike, *, bandwidth: float | Literal["median"] = "median"
) -> float:
    r"""Squared maximum mean discrepancy between the groups' rows; 0 means equal distributions.

    Unlike the distance between group means, it reacts to any difference between the
    distributions: scale, shape and correlations too. The estimate is biased upwards, for groups
    of sizes a and b by at most 1/a + 1/b, so compare it between representations of the same rows.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        Rows of a representation.
    sensitive_features : array-like of shape (n_samples,)
        Group of each row. With more than two groups the largest value over all pairs of groups is
        returned.
    bandwidth : float or "median", default="median"
        The :math:`\sigma` of the Gaussian kernel; "median" takes ``median_bandwidth(X)``. To
        compare representations, choose one number for all of them (see Notes).

    Returns
    -------
    mmd2 : float
        Between 0 and 2.

    Notes
    -----
    The kernel is :math:`k(a, b) = \exp(-|a - b|^2 / 2\sigma^2)` and the estimate for groups
    a and b is the V-statistic :math:`\bar k_{aa} + \bar k_{bb} - 2 \bar k_{ab}`, with
    :math:`\bar k` the mean over all pairs of rows, a row paired with itself included [1]_.
    Time is O(n^2 k); memory is bounded by a block of pairs.

    The tables of the paper take the bandwidth from the *training* rows projected by plain PCA with
    the same number of components, and the discrepancy from the test rows:
    ``squared_mmd(T_test, z_test, bandwidth=median_bandwidth(pca.transform(X_train)))``.

    References
    ----------
    .. [1] Gretton, Borgwardt, Rasch, Schölkopf, Smola. "A kernel two-sample test". JMLR 2012.

    Examples
    --------
    >>> from fairpca_paper.metrics import squared_mmd
    >>> X = [[0.0], [1.0], [0.0], [1.0]]
    >>> squared_mmd(X, ["a", "a", "b", "b"])
    0.0
    >>> round(squared_mmd(X, ["a", "b", "a", "b"], bandwidth=1.0), 3)
    0.787
    """
    X = _finite(X)
    levels, codes = _coded(sensitive_features, len(X))
    sigma = median_bandwidth(X) if bandwidth == "median" else _checked_bandwidth(bandwidth)
    parts = [X[codes == level] for level in range(len(levels))]
    within = [_mean_kernel(A, A, sigma) for A in parts]
    discrepancies = (
        within[a] + within[b] - 2 * _mean_kernel(parts[a], parts[b], sigma)
        for a, b in combinations(range(len(parts)), 2)
    )
    return max(0.0, *discrepancies)  # a V-statistic is negative by rounding only


def median_bandwidth(X: Any) -> float:
    r"""Kernel width at the scale of the rows: the median heuristic.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        Rows, at least two. Of more than 5000 rows, 5000 are drawn with a fixed seed, so the
        result is still the same on every call.

    Returns
    -------
    sigma : float
        With :math:`\sigma^2` half the median of :math:`|x_i - x_j|^2` over all pairs
        :math:`i < j`.

    Raises
    ------
    UsageError
        If half of the pairs or more are pairs of equal rows, which leaves no scale.

    Examples
    --------
    >>> from fairpca_paper.metrics import median_bandwidth
    >>> median_bandwidth([[0.0], [1.0], [3.0]])  # the squared distances are 1, 4 and 9
    1.4142135623730951
    """
    X = _finite(X, 2)
    if len(X) > _MOST_ROWS_FOR_MEDIAN:
        rng = np.random.default_rng(0)
        X = X[rng.choice(len(X), size=_MOST_ROWS_FOR_MEDIAN, replace=False)]
    return _bandwidth_of(pdist(X, "sqeuclidean"), len(X))


def _finite(X: Any, min_rows: int = 1) -> np.ndarray:
    rows: np.ndarray = check_array(X, dtype=[np.float64, np.float32], ensure_min_samples=min_rows)
    return rows


def _bandwidth_of(squares: np.ndarray, n_rows: int) -> float:
    """Return the median heuristic of the squared distances of all pairs of `n_rows` rows."""
    median = float(np.median(squares))
    if median == 0:
        raise UsageError(
            f"At least half of the pairs among the {n_rows} rows of X are equal, so their median "
            f"distance is 0 and a kernel of width 0 compares nothing. Pass the bandwidth as a "
            f"number at the scale at which rows count as different."
        )
    return float(np.sqrt(median / 2))


def _checked_bandwidth(bandwidth: float | str) -> float:
    if isinstance(bandwidth, str) or not 0 < bandwidth < np.inf:
        raise UsageError(
            f"bandwidth={bandwidth!r} is not a width: the kernel divides by its square. Pass a "
            f"positive finite number, or 'median'."
        )
    return float(bandwidth)


def _coded(sensitive_features: ArrayLike, n_rows: int) -> tuple[list[Any], np.ndarray]:
    """Return the levels, two at least, and the position of each row's level there."""
    codes, levels = pd.factorize(np.asarray(sensitive_features), sort=True)
    if codes.shape != (n_rows,):
        raise UsageError(
            f"sensitive_features has {len(codes)} values for {n_rows} rows. Pass one per row."
        )
    if (codes < 0).any():
        raise MissingGroupError(
            f"sensitive_features is missing in {(codes < 0).sum()} of {n_rows} rows, and a row of "
            f"unknown group cannot be counted. Drop those rows."
        )
    if len(levels) < 2:
        raise SingleGroupError(
            f"sensitive_features takes the single value {levels.tolist()[0]!r} in all {n_rows} "
            f"rows. Pass rows of at least two groups."
        )
    return levels.tolist(), codes


def _mean_kernel(A: np.ndarray, B: np.ndarray, sigma: float) -> float:
    # Distances from differences: |a|^2 + |b|^2 - 2ab is faster, but loses all digits for rows
    # far from zero, and the discrepancies of interest are small differences of such means.
    total = 0.0
    for rows in gen_batches(len(A), max(1, _BLOCK_ENTRIES // len(B))):
        squared_distances = cdist(A[rows], B, "sqeuclidean")
        squared_distances *= -0.5 / sigma**2
        total += float(np.exp(squared_distances, out=squared_distances).sum())
    return total / (len(A) * len(B))


@dataclass(frozen=True)
class MMDTest:
    """A discrepancy between groups, and what shuffled groups give on the same rows.

    Attributes
    ----------
    mmd2 : float
        As `squared_mmd` on the rows drawn: the largest over pairs of groups.
    p_value : float
        How often shuffled groups differ as much or more.
    chance_mean, chance_high : float
        Mean and 95 % quantile of `mmd2` of shuffled groups; it is not 0, since no two samples are
        equal.
    n_rows : int
        Number of rows that were compared.
    """

    mmd2: float
    p_value: float
    chance_mean: float
    chance_high: float
    n_rows: int

    @property
    def above_chance(self) -> bool:
        """Whether shuffled groups differ as much in fewer than 5 % of cases."""
        return self.p_value < 0.05


def mmd_test(
    X: Any,
    sensitive_features: ArrayLike,
    *,
    bandwidth: float | Literal["median"] = "median",
    n_permutations: int = 200,
    max_rows: int = 2000,
    random_state: int | None = None,
) -> MMDTest:
    """Test whether the groups' rows have the same distribution.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        Rows of a representation that was not fitted to them.
    sensitive_features : array-like of shape (n_samples,)
        Group of each row.
    bandwidth : float or "median", default="median"
        As in `squared_mmd`; "median" is that of the rows drawn.
    n_permutations : int, default=200
        How often the groups are shuffled; the smallest possible p-value is one over it plus one.
    max_rows : int, default=2000
        Of more rows than this a sample is drawn, by groups: time and memory are those of
        `max_rows` squared. Rare groups keep up to 50 rows, whatever their share.
    random_state : int or None, default=None
        Seeds the sample and the shuffling.

    Returns
    -------
    MMDTest
        The discrepancy, and what chance gives.

    Notes
    -----
    For two groups of sizes a and b that are distributed alike, the mean of the estimate is
    proportional to 1/a + 1/b. With several groups, the p-value is that of the largest ratio to it
    over all pairs, so that the noise of the smallest group does not hide a difference between
    large ones; `mmd2` is the largest value itself. All shuffles go through one matrix product
    with one kernel matrix.

    Examples
    --------
    >>> import numpy as np
    >>> from fairpca_paper.metrics import mmd_test
    >>> rng = np.random.default_rng(0)
    >>> X, z = rng.normal(size=(300, 2)), np.arange(300) % 2
    >>> mmd_test(X, z, random_state=0).above_chance
    False
    >>> mmd_test(X * (1 + z[:, None]), z, random_state=0).above_chance  # equal means, other spread
    True
    """
    if n_permutations < 1:
        raise UsageError(f"n_permutations={n_permutations} was given. At least one is needed.")
    X = _finite(X, 2)
    codes = _coded(sensitive_features, len(X))[1]
    rng = np.random.default_rng(random_state)
    rows = _sample(codes, max_rows, rng)
    X, codes = X[rows], codes[rows]

    squares = pdist(X, "sqeuclidean")
    median = bandwidth == "median"
    sigma = _bandwidth_of(squares, len(X)) if median else _checked_bandwidth(bandwidth)
    kernel = squareform(np.exp(squares * (-0.5 / sigma**2)))
    np.fill_diagonal(kernel, 1.0)

    reciprocal = 1.0 / np.bincount(codes)
    expected = (reciprocal[:, None] + reciprocal)[np.triu_indices(len(reciprocal), 1)]
    observed = _pair_discrepancies(kernel, codes[None])[0]
    block = max(1, _SHUFFLED_ENTRIES // (len(codes) * len(reciprocal)))
    chance = np.concatenate(
        [
            _pair_discrepancies(kernel, rng.permuted(np.tile(codes, (len(part), 1)), axis=1))
            for part in np.array_split(np.arange(n_permutations), -(-n_permutations // block))
        ]
    )
    largest, ratio = chance.max(axis=1), (chance / expected).max(axis=1)
    # Equal shuffles may differ by rounding.
    as_large = np.count_nonzero(ratio >= (observed / expected).max() - 1e-10)
    return MMDTest(
        mmd2=float(observed.max()),
        p_value=float((1 + as_large) / (1 + n_permutations)),
        chance_mean=float(largest.mean()),
        chance_high=float(np.quantile(largest, 0.95)),
        n_rows=len(rows),
    )


def _sample(codes: np.ndarray, max_rows: int, rng: np.random.Generator) -> np.ndarray:
    """Return positions of at most `max_rows` rows; groups in proportion, but some of each."""
    counts = np.bincount(codes)
    if len(counts) > max_rows // 2:
        raise UsageError(
            f"There are {len(counts)} groups, but at most max_rows={max_rows} rows are drawn, "
            f"which leaves fewer than two of each. Merge groups, or raise max_rows."
        )
    if len(codes) <= max_rows:
        return np.arange(len(codes))
    kept = np.minimum(counts, min(_KEPT, max_rows // (2 * len(counts))))
    left = counts - kept
    sizes = kept + (left * ((max_rows - kept.sum()) / left.sum())).astype(int)
    drawn = [
        rng.choice(np.flatnonzero(codes == level), size=size, replace=False)
        for level, size in enumerate(sizes)
    ]
    return np.sort(np.concatenate(drawn))


def _pair_discrepancies(kernel: np.ndarray, codes: np.ndarray) -> np.ndarray:
    """Squared discrepancies of each pair of groups under each labelling, shape (p, pairs)."""
    p, n = codes.shape
    m = int(codes[0].max()) + 1
    shares = (codes.T[:, :, None] == np.arange(m)) / np.bincount(codes[0])  # (n, p, m)
    products = (kernel @ shares.reshape(n, p * m)).reshape(n, p, m)
    means = np.matmul(shares.transpose(1, 2, 0), products.transpose(1, 0, 2))
    within = np.diagonal(means, axis1=1, axis2=2)
    squared = within[:, :, None] + within[:, None, :] - 2 * means
    first, second = np.triu_indices(m, 1)
    return np.maximum(squared[:, first, second], 0.0)


def linear_inseparability(
    X: Any,
    sensitive_features: ArrayLike,
    *,
    X_test: ArrayLike | None = None,
    sensitive_features_test: ArrayLike | None = None,
) -> float:
    """Error rate of a linear classifier that predicts the attribute; higher is fairer.

    The classifier is scikit-learn's LogisticRegression on standardised columns. The error rate
    depends on the group sizes: always answering the larger group errs only on the smaller one,
    so a rare group looks fairly treated in any representation that separates few rows.
    `fairpca.metrics.leakage` does not depend on them, and says what chance gives.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        Representation of the rows the classifier is trained on.
    sensitive_features : array-like of shape (n_samples,)
        Their groups.
    X_test, sensitive_features_test : array-likes, optional
        Rows to count the errors on. Without them the errors are those on the training rows.

    Returns
    -------
    error_rate : float
        Share of the rows whose group is predicted wrongly.

    Examples
    --------
    >>> from fairpca_paper.metrics import linear_inseparability
    >>> X, z = [[0.0], [1.0], [2.0], [3.0]], ["a", "a", "b", "b"]
    >>> linear_inseparability(X, z)
    0.0
    >>> linear_inseparability(X, z, X_test=[[0.5]], sensitive_features_test=["b"])
    1.0
    """
    if (X_test is None) != (sensitive_features_test is None):
        raise UsageError(
            "X_test and sensitive_features_test belong together. Pass both, or neither to count "
            "the errors on the training rows."
        )
    X = _finite(X)
    _coded(sensitive_features, len(X))
    z = np.asarray(sensitive_features)
    classifier = make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000)).fit(X, z)
    rows, z_test = (X, z) if X_test is None else (X_test, np.asarray(sensitive_features_test))
    unknown = np.setdiff1d(z_test, classifier.classes_)
    if len(unknown):
        raise UsageError(
            f"{len(unknown)} group(s) of the test rows are not among the training rows, such as "
            f"{unknown.tolist()[0]!r}, and the classifier cannot predict what it never saw."
        )
    return float(np.mean(classifier.predict(rows) != z_test))
