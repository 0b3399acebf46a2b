"""Balanced PCA: the k directions that reconstruct two groups equally well, exactly."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.optimize import brentq

from .._moments import GroupMoments
from .._numerics import complete_basis, orthonormalize
from .._rows import LinearMap
from ..errors import InfeasibleError
from ..estimators import FairTransformer, Reader, learned_from
from ._shared import ExcessLosses, along_principal_axes, excess_losses, number_of_components

FINEST, TINY = 4.0 * float(np.finfo(float).eps), 1e-300
"""The smallest relative tolerance that the root finder takes; no absolute one."""

ROUNDING = 1e-14
"""Losses up to this, relative to the variance of k directions, are zero."""


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


def balance(losses: ExcessLosses) -> _Balanced:
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
    path = geodesic(ends[0].U, ends[1].U)

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


def geodesic(A: np.ndarray, B: np.ndarray) -> Callable[[float], np.ndarray]:
    """Return the shortest path between the spans of A and B, as orthonormal bases.

    It turns the principal vectors of A into those of B, so it stays within what both span.
    """
    left, cosines, right = np.linalg.svd(A.T @ B)
    start, end = A @ left, B @ right.T
    across = end - start * cosines
    lengths = np.linalg.norm(across, axis=0)
    angles = np.arctan2(lengths, cosines)  # all digits of small angles, unlike the arc cosine
    across = across / np.where(lengths > 0, lengths, 1.0)

    def at(s: float) -> np.ndarray:
        basis: np.ndarray = orthonormalize(start * np.cos(s * angles) + across * np.sin(s * angles))
        return basis

    return at


class BalancedPCA(FairTransformer):
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
    mean_, groups_, n_components_, moments_, n_features_in_, feature_names_in_, n_samples_seen_
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
    >>> from fairpca.peers import BalancedPCA
    >>> rng = np.random.default_rng(0)
    >>> group = np.repeat(["many", "few"], [900, 100])
    >>> X = rng.normal(size=(1000, 4)) * np.where(group == "many", 2.0, 1.0)[:, None]
    >>> X[group == "few", 3] *= 3.0
    >>> balanced = BalancedPCA(n_components=1).fit(X, sensitive_features=group)
    >>> bool(np.isclose(*balanced.losses_)), balanced.duality_gap_ < 1e-12
    (True, True)
    """

    intersectional: bool = True
    _learned = FairTransformer._learned | {"losses_", "weights_", "duality_gap_"}

    def __init__(self, n_components: int | None = None) -> None:
        self.n_components = n_components

    def _check_parameters(self) -> None:
        number_of_components(self)

    def _reader(self) -> Reader:
        return Reader.of(self, with_scatters=True)

    def _solve(self, moments: GroupMoments) -> dict[str, Any]:
        k = number_of_components(self)
        losses = excess_losses(moments, k, type(self).__name__)
        if len(losses.labels) > 2:
            raise InfeasibleError(
                f"BalancedPCA is exact for two groups, but there are {len(losses.labels)}: "
                f"{list(losses.labels)[:10]}. With more, no k directions need attain the bound "
                f"that proves optimality. Merge groups, or use SamadiPCA."
            )
        found = balance(losses)
        U = losses.in_features(found.U)
        k = U.shape[1] if k is None else k
        basis = along_principal_axes(complete_basis(U, U[:, :0], k), moments, k)
        return {
            **learned_from(LinearMap(basis, moments.mean), moments),
            "losses_": found.losses,
            "weights_": found.weights,
            "duality_gap_": float(found.losses.max() - found.bound),
        }
