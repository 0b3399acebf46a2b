"""MbF-PCA: most variance among the subspaces in which the groups are distributed almost alike."""

from __future__ import annotations

from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from fairpca.errors import InfeasibleError, ResidualWarning, UsageError

from ..metrics import median_bandwidth
from ._base import GroupedRows, LinearMethod, check_count, check_number, warn, warn_of_fewer
from ._linalg import complete_basis, deterministic_signs, top_eigenpairs
from ._mbf_problem import THREADS_FROM, UNFINISHED, MostVariance

NO_VARIANCE = 1e-13
"""Directions with less than this share of the largest variance have none but rounding."""


def _live_and_quiet_directions(X: np.ndarray, k: int) -> tuple[np.ndarray, int]:
    """Return a basis, most variance first, and in how many columns the rows vary."""
    # After those it has k directions without variance, or as many as there are: more are of no use.
    n, d = X.shape
    if d <= n:
        squares, V = np.linalg.eigh(X.T @ X)
        squares, V = squares[::-1], V[:, ::-1]
    else:
        _, values, Vt = np.linalg.svd(X, full_matrices=False)
        squares, V = values**2, Vt.T
    live = int(np.sum(squares > NO_VARIANCE * squares[0]))
    return complete_basis(V[:, :live], min(live + k, d)), live


def _signs_of_groups(rows: GroupedRows) -> np.ndarray:
    """Return the share of each row in the mean of its group, negative for the second group."""
    signs = np.where(rows.codes == 0, 1.0, -1.0)
    return signs * rows.weight / rows.group_weights()[rows.codes]


class MbFPCA(LinearMethod):
    r"""Keep the most variance under a bound on the MMD between two groups.

    The squared maximum mean discrepancy with a Gaussian kernel is zero for equal distributions
    only, so unlike equal means and covariances a small one leaves little to any model, on the
    training rows: **a bound far below 1/n, which is what chance makes of equal distributions, says
    little about new rows.** The problem is not convex. Where the published path of penalties [1]_
    does not reach the bound, other starts are tried, and the best result is kept.

    Parameters
    ----------
    n_components : int, default=2
        Number of components k.
    tol : float, default=1e-3
        Largest squared MMD between the groups of the training rows; published: 1e-3 and 1e-6.
    bandwidth : float or "median", default="median"
        The :math:`\sigma` of the kernel; "median" takes it from the rows projected by PCA with as
        many components, as published, whatever their weights.
    tighten : bool, default=False
        Whether to use all of `tol`. As published, the penalty is doubled until the squared MMD is
        at most `tol`, which often leaves it far below, at less variance.
    n_init : int, default=3
        Number of starts where the path of penalties leads nowhere.
    max_iter : int, default=300
        Most steps for one penalty, and for each weight of the barrier.
    random_state : int, RandomState instance or None, default=0
        Seed of the starts after the first.

    Attributes
    ----------
    components_ : array of shape (k, d)
        Orthonormal rows, uncorrelated, most variance first. Fewer than asked for where some have
        no variance: that is a way to meet a small `tol`, and they are left out.
    explained_variance_, explained_variance_ratio_ : array of shape (k,)
        Variance of each component, absolute and relative to the total.
    mmd2_ : float
        Squared MMD between the groups of the training rows. Above `tol` only with a warning.
    bandwidth_ : float
        The :math:`\sigma` that was used.
    penalty_ : float
        Price of the squared MMD, in shares of the variance, at which this is the best basis nearby.
    in_sight_ : float
        Relative gain of variance that the last step still promised; above 1e-3 with a warning.
    n_iter_ : int
        How often the squared MMD was computed.
    mean_, n_components_, groups_, n_features_in_, feature_names_in_, n_samples_seen_
        As in `fairpca.FairPCA`.

    See Also
    --------
    fairpca.FairPCA : Equal means, or means and covariances, without iterating over pairs of rows.

    Notes
    -----
    One evaluation takes O(n^2 k + n d k) operations and no n x n matrix. Descent on the Stiefel
    manifold is limited-memory BFGS in a metric from random Fourier features, which takes a tenth to
    a twentieth of the evaluations of plain BFGS.

    References
    ----------
    .. [1] Lee, Kim, Olfat, Hasegawa-Johnson, Yoo. "Fast and efficient MMD-based fair PCA via
       optimization over Stiefel manifold". AAAI 2022.

    Examples
    --------
    >>> import numpy as np
    >>> from fairpca_paper.methods import MbFPCA
    >>> rng = np.random.default_rng(0)
    >>> sex = rng.choice(["f", "m"], size=200)
    >>> X = rng.normal(size=(200, 6))
    >>> X[:, 0] += 2.0 * (sex == "m")
    >>> fair = MbFPCA(n_components=2, tol=1e-3).fit(X, sensitive_features=sex)
    >>> fair.mmd2_ <= 1e-3
    True
    """

    _reading = "two"

    def __init__(
        self,
        n_components: int = 2,
        *,
        tol: float = 1e-3,
        bandwidth: float | str = "median",
        tighten: bool = False,
        n_init: int = 3,
        max_iter: int = 300,
        random_state: Any = 0,
    ) -> None:
        self.n_components = n_components
        self.tol = tol
        self.bandwidth = bandwidth
        self.tighten = tighten
        self.n_init = n_init
        self.max_iter = max_iter
        self.random_state = random_state

    def _check_parameters(self) -> None:
        for name in ("n_components", "n_init", "max_iter"):
            check_count(name, getattr(self, name))
        if not isinstance(self.tighten, bool | np.bool_):
            raise UsageError(f"tighten={self.tighten!r} is not a bool. Use True or False.")
        check_number("tol", self.tol)
        if not (isinstance(self.bandwidth, str) and self.bandwidth == "median"):
            check_number("bandwidth", self.bandwidth, or_else="'median'")

    def _learn(self, rows: GroupedRows) -> np.ndarray:
        k, d = int(self.n_components), rows.n_features
        if k > d:
            raise InfeasibleError(
                f"n_components={k} is too large: the rows have {d} feature(s). Use n_components "
                f"<= {d}.",
                available=d,
            )
        few = rows.n_rows < THREADS_FROM
        with threadpool_limits(1 if few else None, user_api="blas"):
            basis, live = _live_and_quiet_directions(rows.centred, k)
            X = rows.centred @ basis
            X[:, live:] = 0.0  # what rounding left of directions without variance
            scatter = (X.T * rows.weight) @ X
            given = self.bandwidth != "median"
            pca = top_eigenpairs(scatter, k)[1]
            self.bandwidth_ = float(self.bandwidth) if given else median_bandwidth(X @ pca)
            problem = MostVariance(
                X, _signs_of_groups(rows), self.bandwidth_, scatter, self._seed()
            )
            found = problem.solved(pca, live, rules=self)
        rotation = top_eigenpairs(found.V.T @ scatter @ found.V, k)[1]
        kept = rows.varying(deterministic_signs(basis @ (found.V @ rotation)))
        warn_of_fewer(kept.shape[1], k)
        squares = rows.weight @ (rows.centred @ kept) ** 2
        self.explained_variance_ = squares / rows.degrees_of_freedom
        self.explained_variance_ratio_ = squares / scatter.trace()
        self.mmd2_, self.penalty_ = found.discrepancy, found.penalty
        self.in_sight_, self.n_iter_ = found.in_sight, found.evaluations
        self._warn_of_a_residual()
        return kept

    def _warn_of_a_residual(self) -> None:
        if self.mmd2_ > self.tol:
            warn(
                f"No subspace of {self.n_components} component(s) with a squared MMD of at most "
                f"tol={self.tol:.1e} was found; this one has {self.mmd2_:.1e}, the least found. "
                f"Use fewer components or a larger tol. The number is in mmd2_.",
                ResidualWarning,
            )
        elif self.in_sight_ > UNFINISHED:
            warn(
                f"The search stopped while {self.in_sight_:.1%} more variance was in sight. Allow "
                f"more steps with max_iter. The number is in in_sight_.",
                ResidualWarning,
            )
