"""Maximum mean discrepancy: how differently the groups are distributed, and whether by chance."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike
from scipy.spatial.distance import cdist, pdist, squareform
from sklearn.utils import check_random_state, gen_batches

from .._attributes import check_frames
from ..errors import SingleGroupError, UsageError
from ._inputs import coded_levels, finite_rows, shuffled, stratified_rows

_MOST_ROWS_FOR_MEDIAN = 5000
_BLOCK_ENTRIES, _SHUFFLED_ENTRIES = 2**21, 2**22

_RandomState = int | np.random.RandomState | None


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
        Group label of each row; a number with fractions is cut at its median. With more than two
        groups the largest value over all pairs of groups is returned.
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
    T = finite_rows(T, groups=groups)
    levels, codes = coded_levels(groups, len(T), "groups")
    sigma = median_bandwidth(T) if bandwidth == "median" else _checked_bandwidth(bandwidth)

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
    return _bandwidth_of(pdist(T, "sqeuclidean"), len(T))


def _bandwidth_of(squares: np.ndarray, n_rows: int) -> float:
    """Return the median heuristic of the squared distances of all pairs of `n_rows` rows."""
    median = float(np.median(squares))
    if median == 0:
        raise UsageError(
            f"At least half of the pairs among the {n_rows} rows of T are equal, so their median "
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

    Parameters
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

    See Also
    --------
    mmd_test : What makes it.

    Examples
    --------
    >>> import numpy as np
    >>> from fairpca.metrics import mmd_test
    >>> T, sex = np.random.default_rng(0).normal(size=(300, 2)), np.arange(300) % 2
    >>> found = mmd_test(T + sex[:, None], sex, random_state=0)
    >>> found.above_chance, found.mmd2 > found.chance_high
    (True, True)
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
    T: ArrayLike,
    groups: ArrayLike,
    *,
    bandwidth: float | Literal["median"] = "median",
    n_permutations: int = 200,
    max_rows: int = 2000,
    random_state: _RandomState = None,
) -> MMDTest:
    r"""Test whether the groups' rows have the same distribution.

    It sees any difference: of means, scales, shapes and correlations. Use rows that the
    representation was not fitted to.

    Parameters
    ----------
    T : array of shape (n, k)
        Rows of a representation.
    groups : array of shape (n,)
        Group of each row; a number with fractions is cut at its median.
    bandwidth : float or "median", default="median"
        As in `squared_mmd`; "median" is that of the rows drawn.
    n_permutations : int, default=200
        How often the groups are shuffled; the smallest possible p-value is one over it plus one.
    max_rows : int, default=2000
        Of more rows than this a sample is drawn, by groups: time and memory are those of
        `max_rows` squared. Rare groups keep up to 50 rows, whatever their share.
    random_state : int, RandomState or None, default=None
        Seeds the sample and the shuffling.

    Returns
    -------
    MMDTest

    See Also
    --------
    MMDTest : What it returns.
    MMDKernel : For several attributes of the same rows.
    leakage : What a model can tell, in AUC.

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
    >>> from fairpca.metrics import mmd_test
    >>> rng = np.random.default_rng(0)
    >>> T, z = rng.normal(size=(300, 2)), np.arange(300) % 2
    >>> mmd_test(T, z, random_state=0).above_chance
    False
    >>> mmd_test(T * (1 + z[:, None]), z, random_state=0).above_chance  # equal means, other spread
    True
    """
    random = check_random_state(random_state)
    kernel = MMDKernel(
        T, bandwidth=bandwidth, max_rows=max_rows, strata=groups, random_state=random
    )
    return kernel.test(groups, n_permutations=n_permutations, random_state=random)


class MMDKernel:
    """Kernel values of all pairs of rows, computed once for tests of several attributes.

    Parameters
    ----------
    T : array of shape (n, k)
        Rows of a representation.
    bandwidth, max_rows
        As in `mmd_test`.
    strata : array of shape (n,), optional
        What the sample is drawn by, if there are more than `max_rows` rows: one attribute, or
        the joint groups of several. Without it, rows are drawn whatever their group.
    random_state : int, RandomState or None, default=None
        Seeds the sample.

    Attributes
    ----------
    rows : array of int
        Positions of the rows drawn, ascending.

    Examples
    --------
    >>> import numpy as np
    >>> from fairpca.metrics import MMDKernel
    >>> rng = np.random.default_rng(0)
    >>> T = rng.normal(size=(200, 2))
    >>> sex, age = np.arange(200) % 2, np.where(T[:, 0] > 0, "old", "young")
    >>> kernel = MMDKernel(T)
    >>> kernel.test(sex, random_state=0).above_chance, kernel.test(age).above_chance
    (False, True)
    """

    def __init__(
        self,
        T: ArrayLike,
        *,
        bandwidth: float | Literal["median"] = "median",
        max_rows: int = 2000,
        strata: ArrayLike | None = None,
        random_state: _RandomState = None,
    ) -> None:
        self._labelled = T.iloc[:, :0] if hasattr(T, "iloc") else None
        T = finite_rows(T, min_rows=2, strata=strata)
        self.n_given = len(T)
        self.rows = stratified_rows(len(T), max_rows, strata, check_random_state(random_state))
        squares = pdist(T[self.rows], "sqeuclidean")
        median = bandwidth == "median"
        sigma = _bandwidth_of(squares, len(self.rows)) if median else _checked_bandwidth(bandwidth)
        squares *= -0.5 / sigma**2
        self._kernel = squareform(np.exp(squares, out=squares))
        np.fill_diagonal(self._kernel, 1.0)

    def test(
        self, groups: ArrayLike, *, n_permutations: int = 200, random_state: _RandomState = None
    ) -> MMDTest:
        """Test whether groups of these rows have the same distribution, as `mmd_test` does.

        Parameters
        ----------
        groups : array-like of shape (n,)
            Group of each row of `T`; those of the rows that were not drawn are not used.
        n_permutations : int, default=200
            How often the groups are shuffled.
        random_state : int, RandomState or None, default=None
            Seeds the shuffling.

        Returns
        -------
        MMDTest
            The discrepancy, and what chance gives.
        """
        if n_permutations < 1:
            raise UsageError(
                f"n_permutations={n_permutations} was given, but at least one is needed to know "
                f"what chance gives. The default is 200."
            )
        check_frames(T=self._labelled, groups=groups)
        levels, codes = coded_levels(groups, self.n_given, "groups")
        drawn, codes = np.unique(codes[self.rows], return_inverse=True)
        if len(drawn) < 2:
            raise SingleGroupError(
                f"All {len(codes)} rows that were drawn are of the group {levels[drawn[0]]!r}, and "
                f"there is nothing to compare. Draw them by groups (strata), or raise max_rows."
            )
        rng = np.random.default_rng(check_random_state(random_state).randint(2**31 - 1))
        pairs = np.triu_indices(codes.max() + 1, 1)
        reciprocal = 1.0 / np.bincount(codes)
        expected = (reciprocal[:, None] + reciprocal)[pairs]

        block_size = _SHUFFLED_ENTRIES // (len(codes) * (int(codes.max()) + 1))

        observed = self._pair_discrepancies(codes[None])[0]
        chance = np.concatenate(
            [
                self._pair_discrepancies(block)
                for block in shuffled(codes, n_permutations, rng, block_size=block_size)
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
            n_rows=len(self.rows),
        )

    def _pair_discrepancies(self, codes: np.ndarray) -> np.ndarray:
        """Squared discrepancies of each pair of groups under each labelling, shape (p, pairs)."""
        p, n = codes.shape
        m = int(codes[0].max()) + 1
        shares = (codes.T[:, :, None] == np.arange(m)) / np.bincount(codes[0])  # (n, p, m)
        products = (self._kernel @ shares.reshape(n, p * m)).reshape(n, p, m)
        means = np.matmul(shares.transpose(1, 2, 0), products.transpose(1, 0, 2))
        within = np.diagonal(means, axis1=1, axis2=2)
        squared = within[:, :, None] + within[:, None, :] - 2 * means
        first, second = np.triu_indices(m, 1)
        return np.maximum(squared[:, first, second], 0.0)
