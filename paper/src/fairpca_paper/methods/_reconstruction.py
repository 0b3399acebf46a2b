"""Groups that are reconstructed equally well: Balanced PCA, and the fair PCA of Samadi et al."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.optimize import brentq
from scipy.special import softmax

from fairpca.errors import InfeasibleError

from ._base import (
    GroupedRows,
    LinearMethod,
    check_count,
    check_number,
    number_of_components,
    warn_of_fewer,
)
from ._linalg import (
    along_principal_axes,
    deterministic_signs,
    orthonormalize,
    principal_axes,
    top_eigenpairs,
)

FINEST, TINY = 4.0 * float(np.finfo(float).eps), 1e-300
"""The smallest relative tolerance that the root finder takes; no absolute one."""

ROUNDING = 1e-14
"""Losses up to this, relative to the variance of k directions, are zero."""

NEARLY = 1e-12
"""Eigenvalues of an average of projections this close to zero or one are zero or one."""


@dataclass(frozen=True)
class _ExcessLosses:
    r"""How much worse each of m groups is reconstructed than by a PCA of its own.

    The excess loss of a group is its mean squared reconstruction error minus the smallest possible
    with k directions: :math:`\mathrm{tr}_k(C_g) - \mathrm{tr}(C_g P)`. The covariances (m, p, p),
    divisor n, about each group's own mean, are in p coordinates with the orthonormal basis `span`
    of shape (d, p) of what the rows vary along.
    """

    labels: tuple[Any, ...]
    covariances: np.ndarray
    span: np.ndarray
    k: int

    @property
    def best(self) -> np.ndarray:
        """Variance of each group along its own k leading directions."""
        return np.array([top_eigenpairs(C, self.k)[0].sum() for C in self.covariances])

    def kept(self, U: np.ndarray) -> np.ndarray:
        """Return the variance of each group that the columns of U keep."""
        return np.einsum("pk,mpq,qk->m", U, self.covariances, U, optimize=True)

    def leading(self, weights: np.ndarray) -> np.ndarray:
        """Return the k directions that minimise the weighted sum of the losses."""
        return top_eigenpairs(np.tensordot(weights, self.covariances, axes=1), self.k)[1]

    def in_features(self, U: np.ndarray) -> np.ndarray:
        """Return directions in the coordinates of the features."""
        return self.span @ U


def _excess_losses(rows: GroupedRows, k: int | None) -> _ExcessLosses:
    """Return the losses of the groups, with k directions or all."""
    span = principal_axes(rows, k)
    k = span.shape[1] if k is None else k
    return _ExcessLosses(rows.labels, rows.group_covariances(span), span, k)


@dataclass(frozen=True)
class _Balanced:
    """A subspace, the losses of the groups, weights, and a bound that no subspace can beat."""

    U: np.ndarray
    losses: np.ndarray
    weights: np.ndarray
    bound: float

    @property
    def difference(self) -> float:
        """How much more the first group loses."""
        return float(self.losses[0] - self.losses[1])


def _balance(losses: _ExcessLosses) -> _Balanced:
    """Return the k directions whose larger loss, of the two groups, is smallest."""
    best = losses.best

    def weighted(weights: np.ndarray) -> _Balanced:
        U = losses.leading(weights)
        lost = best - losses.kept(U)
        return _Balanced(U, lost, weights, float(weights @ lost))

    # The best subspace of each group: what the other one loses by it is the scale of its losses.
    ends = [weighted(np.array([0.0, 1.0])), weighted(np.array([1.0, 0.0]))]
    scale = np.array([ends[0].losses[0], ends[1].losses[1]])
    if scale.min() <= ROUNDING * float(best.max(initial=0.0)):
        return ends[int(scale[1] < scale[0])]  # the best of one group is the best of both

    def compared(t: float) -> float:
        weights = np.array([t, 1.0 - t]) / scale
        found = weighted(weights / weights.sum())
        ends[0 if found.difference > 0.0 else 1] = found
        return found.difference

    if compared(0.0) * compared(1.0) >= 0.0:  # groups that differ by rounding
        return min(ends, key=lambda found: float(found.losses.max()))
    brentq(compared, 0.0, 1.0, xtol=TINY, rtol=FINEST, maxiter=1000)
    path = _geodesic(ends[0].U, ends[1].U)

    def compared_between(s: float) -> float:
        lost = best - losses.kept(path(s))
        return float(lost[0] - lost[1])

    U = path(_crossing(compared_between))
    tighter = max(ends, key=lambda found: found.bound)
    return _Balanced(U, best - losses.kept(U), tighter.weights, tighter.bound)


def _crossing(f: Callable[[float], float]) -> float:
    """Return where f changes its sign in [0, 1]; the better end if rounding hides the change."""
    start, end = f(0.0), f(1.0)
    if start * end >= 0.0:
        return 0.0 if abs(start) < abs(end) else 1.0
    return float(brentq(f, 0.0, 1.0, xtol=TINY, rtol=FINEST, maxiter=1000))


def _geodesic(A: np.ndarray, B: np.ndarray) -> Callable[[float], np.ndarray]:
    """Return the shortest path between the spans of A and B, as orthonormal bases."""
    left, cosines, right = np.linalg.svd(A.T @ B)
    start, end = A @ left, B @ right.T
    across = end - start * cosines
    lengths = np.linalg.norm(across, axis=0)
    angles = np.arctan2(lengths, cosines)  # all digits of small angles, unlike the arc cosine
    across = across / np.where(lengths > 0, lengths, 1.0)

    def at(s: float) -> np.ndarray:
        return orthonormalize(start * np.cos(s * angles) + across * np.sin(s * angles))

    return at


class BalancedPCA(LinearMethod):
    r"""Reconstruct two groups equally well with k components, as well as that can be done.

    A group's excess loss is its mean squared reconstruction error minus the error that a PCA of
    this group alone would make with k components. Among all k-dimensional subspaces this is one
    whose larger excess loss is smallest; the two losses are then equal. The solution is exact and
    comes with a proof, `duality_gap_`. **It hides nothing**: the groups are as visible as under
    PCA. Use it where the representation is for reconstruction, compression or search, and a
    minority must not get a worse one.

    Parameters
    ----------
    n_components : int or None, default=None
        Number of components k; None for all.

    Attributes
    ----------
    components_ : array of shape (k, d)
        Orthonormal rows, most variance first, signs deterministic.
    losses_ : array of shape (2,)
        Excess loss of each group, in units of variance.
    weights_ : array of shape (2,)
        Weights of the groups with which plain PCA would give this solution.
    duality_gap_ : float
        The larger loss minus a lower bound for every subspace: how far from the optimum this can
        be, at most. At rounding.
    mean_, groups_, n_components_, n_features_in_, feature_names_in_, n_samples_seen_
        As in `fairpca.FairPCA`.

    See Also
    --------
    SamadiPCA : The method this replaces, for more than two groups too.
    fairpca.FairPCA : Hides the groups from linear models, which this does not.

    Notes
    -----
    For weights t and 1 - t the best subspace is spanned by eigenvectors, and its weighted loss
    :math:`\varphi(t)` bounds the larger loss of every subspace from below. :math:`\varphi` is
    concave, its derivative is the difference of the two losses, and its maximum is attained by a
    subspace [2]_, [3]_. Where eigenvalues cross at the maximum, neither of the two neighbouring
    subspaces balances the groups; one on the geodesic between them does, and is as good.

    References
    ----------
    .. [1] Samadi, Tantipongpipat, Morgenstern, Singh, Vempala. "The price of fair PCA: one extra
       dimension". NeurIPS 2018.
    .. [2] Tantipongpipat, Samadi, Singh, Morgenstern, Vempala. "Multi-criteria dimensionality
       reduction with applications to fairness". NeurIPS 2019.
    .. [3] Shen, Davis, Lu, Bai. "Hidden convexity of fair PCA and fast solver via eigenvalue
       optimization". 2025.

    Examples
    --------
    >>> import numpy as np
    >>> from fairpca_paper.methods import BalancedPCA
    >>> rng = np.random.default_rng(0)
    >>> group = np.repeat(["many", "few"], [900, 100])
    >>> X = rng.normal(size=(1000, 4)) * np.where(group == "many", 2.0, 1.0)[:, None]
    >>> X[group == "few", 3] *= 3.0
    >>> balanced = BalancedPCA(n_components=1).fit(X, sensitive_features=group)
    >>> bool(np.isclose(*balanced.losses_)), balanced.duality_gap_ < 1e-12
    (True, True)
    """

    def __init__(self, n_components: int | None = None) -> None:
        self.n_components = n_components

    def _check_parameters(self) -> None:
        number_of_components(self)

    def _learn(self, rows: GroupedRows) -> np.ndarray:
        losses = _excess_losses(rows, number_of_components(self))
        if len(losses.labels) > 2:
            raise InfeasibleError(
                f"BalancedPCA is exact for two groups, but there are {len(losses.labels)}: "
                f"{list(losses.labels)[:10]}. With more, no k directions need attain the bound "
                f"that proves optimality. Merge groups, or use SamadiPCA."
            )
        found = _balance(losses)
        self.losses_, self.weights_ = found.losses, found.weights
        self.duality_gap_ = float(found.losses.max() - found.bound)
        U = along_principal_axes(losses.in_features(found.U), rows)
        warn_of_fewer(U.shape[1], found.U.shape[1])
        return U


def _average_projection(
    losses: _ExcessLosses, eta: float, n_iter: int
) -> tuple[np.ndarray, np.ndarray, bool]:
    """Return a matrix in the fantope, the final weights, and whether it is the average."""
    # Each step takes the leading directions of the weighted covariance, and then raises the weights
    # of groups by the exponential of their excess losses.
    best, m = losses.best, len(losses.labels)
    log_weights = np.zeros(m)
    average = np.zeros(losses.covariances.shape[1:])
    kept_on_average = np.zeros(m)
    for _ in range(n_iter):
        U = losses.leading(softmax(log_weights))
        kept = losses.kept(U)
        log_weights = log_weights + eta * (best - kept)
        average += U @ U.T / n_iter
        kept_on_average += kept / n_iter
    averaged = bool(np.max(best - kept_on_average) < np.max(best - kept))
    return average if averaged else U @ U.T, softmax(log_weights), averaged


class SamadiPCA(LinearMethod):
    r"""Reconstruct all groups about equally well: PCA that no group pays for alone.

    A group's excess loss is its mean squared reconstruction error minus the error that a PCA of
    this group alone would make with as many components. Multiplicative weights look for the
    projection whose largest excess loss is smallest. **This hides nothing**: groups are as visible
    as under PCA. Use it where the representation is for reconstruction, compression or search, and
    a minority must not get a worse one. `BalancedPCA` solves the same problem exactly, with
    exactly k components.

    Parameters
    ----------
    n_components : int or None, default=None
        Number of components k that is aimed at; None for all. The representation may have more:
        the answer is an average of `n_iter` projections.
    eta : float, default=20.0
        How fast weights move to the group that is worse off; divided by k.
    n_iter : int, default=5
        Number of projections.
    original_features : bool, default=False
        Whether `transform` returns the reconstruction, in as many columns as there are features,
        as the authors' code does, instead of its coordinates. Distances are the same.

    Attributes
    ----------
    components_ : array of shape (k', d)
        With k' >= k rows, not orthonormal; the columns of the representation are uncorrelated,
        most variance first. With `original_features`, the symmetric matrix of shape (d, d) that
        rows are multiplied with.
    losses_ : array of shape (m,)
        Excess loss of each group, in units of variance.
    weights_ : array of shape (m,)
        Weights of the groups after the last step.
    averaged_ : bool
        Whether the average of all projections was taken; the last one is if it is better.
    mean_, groups_, n_components_, n_features_in_, feature_names_in_, n_samples_seen_
        As in `fairpca.FairPCA`.

    See Also
    --------
    BalancedPCA : The exact solution for two groups.
    fairpca.FairPCA : Hides the groups from linear models, which this does not.

    Notes
    -----
    The defaults are those of the LFW experiment in the authors' public code. Weights react to
    losses in units of variance, so standardise first. With P the average projection, rows are
    multiplied with :math:`I - (I - P)^{1/2}`, whose reconstruction errors are the
    :math:`\mathrm{tr}(C_g (I - P))` that were balanced. Several attributes are merged into their
    joint groups.

    References
    ----------
    .. [1] Samadi, Tantipongpipat, Morgenstern, Singh, Vempala. "The price of fair PCA: one extra
       dimension". NeurIPS 2018.

    Examples
    --------
    >>> import numpy as np
    >>> from fairpca_paper.methods import SamadiPCA
    >>> rng = np.random.default_rng(0)
    >>> group = np.repeat(["many", "few"], [900, 100])
    >>> X = rng.normal(size=(1000, 4)) * np.where(group == "many", 2.0, 1.0)[:, None]
    >>> X[group == "few", 3] *= 3.0
    >>> balanced = SamadiPCA(n_components=1).fit(X, sensitive_features=group)
    >>> balanced.n_components_ >= 1, balanced.losses_.shape
    (True, (2,))
    """

    def __init__(
        self,
        n_components: int | None = None,
        *,
        eta: float = 20.0,
        n_iter: int = 5,
        original_features: bool = False,
    ) -> None:
        self.n_components = n_components
        self.eta = eta
        self.n_iter = n_iter
        self.original_features = original_features

    def _check_parameters(self) -> None:
        number_of_components(self)
        check_number("eta", self.eta)
        check_count("n_iter", self.n_iter)

    def _learn(self, rows: GroupedRows) -> np.ndarray:
        losses = _excess_losses(rows, number_of_components(self))
        P, self.weights_, self.averaged_ = _average_projection(
            losses, self.eta / losses.k, self.n_iter
        )
        self.losses_ = losses.best - np.tensordot(losses.covariances, P, axes=2)
        values, V = np.linalg.eigh(P)
        values, V = values[values > NEARLY], losses.in_features(V[:, values > NEARLY])
        values = np.where(values > 1.0 - NEARLY, 1.0, values)  # a root would see the rounding
        root = V * (values / (1.0 + np.sqrt(1.0 - values)))  # 1 - sqrt(1 - x), to all digits
        if self.original_features:
            matrix = root @ V.T
            seen = rows.weight @ (rows.centred @ matrix) ** 2 > rows.noise_along(matrix)
            return matrix * seen  # rounding of a feature that is gone could tell anything
        axes = top_eigenpairs(rows.scatter(root), root.shape[1])[1]
        U = rows.varying(deterministic_signs(root @ axes))
        warn_of_fewer(U.shape[1], root.shape[1])
        return U
