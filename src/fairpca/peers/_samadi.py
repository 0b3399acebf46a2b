"""Fair PCA of Samadi et al.: groups are reconstructed equally well, by multiplicative weights."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import softmax

from .._moments import GroupMoments
from .._numerics import deterministic_signs
from .._rows import LinearMap
from ..estimators import FairTransformer, Reader, check_count, check_number, learned_from
from ..solvers import maximize_variance
from ._shared import ExcessLosses, excess_losses, number_of_components

ROUNDING = 1e-12
"""Eigenvalues of an average of projections this close to zero or one are zero or one."""


def _average_projection(
    losses: ExcessLosses, eta: float, n_iter: int
) -> tuple[np.ndarray, np.ndarray, bool]:
    """Return a matrix in the fantope, the final weights, and whether it is the average.

    Each step takes the leading directions of the weighted covariance, and then raises the weights
    of groups by the exponential of their excess losses.
    """
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


class SamadiPCA(FairTransformer):
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
    mean_, groups_, n_components_, moments_, n_features_in_, feature_names_in_, n_samples_seen_
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
    >>> from fairpca.peers import SamadiPCA
    >>> rng = np.random.default_rng(0)
    >>> group = np.repeat(["many", "few"], [900, 100])
    >>> X = rng.normal(size=(1000, 4)) * np.where(group == "many", 2.0, 1.0)[:, None]
    >>> X[group == "few", 3] *= 3.0
    >>> balanced = SamadiPCA(n_components=1).fit(X, sensitive_features=group)
    >>> balanced.n_components_ >= 1, balanced.losses_.shape
    (True, (2,))
    """

    intersectional: bool = True
    _learned = FairTransformer._learned | {"losses_", "weights_", "averaged_"}

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

    def _reader(self) -> Reader:
        return Reader.of(self, with_scatters=True)

    def _solve(self, moments: GroupMoments) -> dict[str, Any]:
        losses = excess_losses(moments, number_of_components(self), type(self).__name__)
        P, weights, averaged = _average_projection(losses, self.eta / losses.k, self.n_iter)
        kept = np.tensordot(losses.covariances, P, axes=2)
        values, V = np.linalg.eigh(P)
        values, V = values[values > ROUNDING], losses.in_features(V[:, values > ROUNDING])
        values = np.where(values > 1.0 - ROUNDING, 1.0, values)  # a root would see the rounding
        root = V * (values / (1.0 + np.sqrt(1.0 - values)))  # 1 - sqrt(1 - x), to all digits
        if self.original_features:
            matrix = root @ V.T
        else:
            axes = maximize_variance(moments.compressed(root), root.shape[1]).basis
            matrix = deterministic_signs(root @ axes)
        return {
            **learned_from(LinearMap(matrix, moments.mean), moments),
            "losses_": losses.best - kept,
            "weights_": weights,
            "averaged_": averaged,
        }
