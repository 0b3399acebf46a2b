"""Variance against MMD: the objectives of MbF-PCA and a metric in which they are round."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import scipy.linalg

from .._numerics import complete_basis
from ._mmd_on_rows import GroupDiscrepancy
from ._preconditioned_descent import Metric, minimize_with_metric

FEATURES_PER_UNKNOWN = 1.5
"""Random features in the sketch of the curvature, for each entry of a basis."""

MOST_UNKNOWNS, FEW_FEATURES = 1200, 500
"""Beyond so many entries, the sketch holds few features: the steepest directions only."""

NO_VARIANCE = 1e-13
"""Directions with less than this share of the largest variance have none but rounding."""

UNFINISHED = 1e-3
"""More than this share of the variance in sight, and the search has not converged."""


@dataclass(frozen=True)
class Found:
    """A basis, and what it is worth.

    Parameters
    ----------
    V : array of shape (d, k)
        Orthonormal columns.
    share : float
        Share of the variance that it keeps.
    discrepancy : float
        Squared MMD between the groups.
    penalty : float
        Price of the discrepancy at which it is best.
    in_sight : float
        Gain, relative to `share`, that the last step still promised.
    evaluations : int
        How often the discrepancy was computed.
    """

    V: np.ndarray
    share: float
    discrepancy: float
    penalty: float = 0.0
    in_sight: float = np.inf
    evaluations: int = 1

    @property
    def is_finished(self) -> bool:
        """Whether no more than a little variance was in sight at the end."""
        return self.in_sight <= UNFINISHED


class VarianceAtDiscrepancy:
    """The share of the variance that a basis keeps, against the squared MMD of the groups.

    Parameters
    ----------
    discrepancy : GroupDiscrepancy
        The squared MMD.
    C : array of shape (d, d)
        Covariance, divided by its trace.
    seed : int
        Of the sketches of the curvature. They shape the steps, not what is minimised.
    """

    def __init__(self, discrepancy: GroupDiscrepancy, C: np.ndarray, seed: int) -> None:
        self.discrepancy, self.C = discrepancy, C
        self.rng = np.random.default_rng(seed)
        self.curvature_of_variance = 2.0 * float(np.linalg.eigvalsh(C)[-1])

    def judged(self, V: np.ndarray) -> Found:
        """Return a basis with its share of the variance and its discrepancy."""
        return Found(V, float(np.vdot(V, self.C @ V)), self.discrepancy(V)[0])

    def penalized(self, V: np.ndarray, rho: float, *, tol: float, max_steps: int) -> Found:
        """Minimise ``-share + rho * discrepancy`` from V."""

        def objective(V: np.ndarray) -> tuple[float, np.ndarray]:
            CV, (value, gradient) = self.C @ V, self.discrepancy(V)
            return rho * value - float(np.vdot(V, CV)), rho * gradient - 2.0 * CV

        return self._minimized(objective, V, lambda V: (rho, 0.0), tol=tol, max_steps=max_steps)

    def inside(self, V: np.ndarray, bound: float, weight: float, *, max_steps: int) -> Found:
        """Minimise ``-share - weight * log(1 - discrepancy / bound)`` from a V inside the bound."""

        def objective(V: np.ndarray) -> tuple[float, np.ndarray]:
            CV, (value, gradient) = self.C @ V, self.discrepancy(V)
            if value >= bound:
                return np.inf, gradient
            barrier = -weight * float(np.log1p(-value / bound))
            return barrier - float(np.vdot(V, CV)), weight / (bound - value) * gradient - 2.0 * CV

        def slopes(V: np.ndarray) -> tuple[float, float]:
            slack = bound - self.discrepancy(V)[0]
            return weight / slack, weight / slack**2

        return self._minimized(objective, V, slopes, tol=1e-3 * weight, max_steps=max_steps)

    def _minimized(
        self,
        objective: Callable[[np.ndarray], tuple[float, np.ndarray]],
        V: np.ndarray,
        slopes: Callable[[np.ndarray], tuple[float, float]],
        *,
        tol: float,
        max_steps: int,
    ) -> Found:
        """Minimise; `slopes` are the first two derivatives of the objective in the discrepancy."""
        end = minimize_with_metric(objective, V, self._metric(slopes), tol=tol, max_steps=max_steps)
        share, value = float(np.vdot(end.V, self.C @ end.V)), self.discrepancy(end.V)[0]
        in_sight = end.decrement / max(share, np.finfo(float).tiny)
        return Found(end.V, share, value, slopes(end.V)[0], in_sight, end.evaluations)

    def _metric(self, slopes: Callable[[np.ndarray], tuple[float, float]]) -> Metric:
        """Return inverses of ``2 slope J J^T + bend g g^T + curvature of the variance``."""

        def at(V: np.ndarray) -> Callable[[np.ndarray], np.ndarray]:
            slope, bend = slopes(V)
            many = V.size <= MOST_UNKNOWNS
            features = int(FEATURES_PER_UNKNOWN * V.size) + 50 if many else FEW_FEATURES
            L = np.sqrt(2.0 * slope) * self.discrepancy.curvature(V, self.rng, features)
            if bend > 0:
                g = self.discrepancy(V)[1].reshape(-1, 1)
                L = np.hstack([L, np.sqrt(bend) * g])
            return _inverse(L, self.curvature_of_variance)

        return at


def _inverse(L: np.ndarray, ridge: float) -> Callable[[np.ndarray], np.ndarray]:
    """Return a function that multiplies by the inverse of ``L L^T + ridge I``."""
    thin = L.shape[1] < L.shape[0]
    inner = L.T @ L if thin else L @ L.T
    inner[np.diag_indices(len(inner))] += ridge
    factor = scipy.linalg.cho_factor(inner, lower=True, overwrite_a=True, check_finite=False)

    def solve(g: np.ndarray) -> np.ndarray:
        if thin:  # Woodbury
            rest = scipy.linalg.cho_solve(factor, L.T @ g, check_finite=False)
            step: np.ndarray = (g - L @ rest) / ridge
        else:
            step = scipy.linalg.cho_solve(factor, g, check_finite=False)
        return step

    return lambda G: solve(G.ravel()).reshape(G.shape)


def live_and_quiet_directions(X: np.ndarray, k: int) -> tuple[np.ndarray, int]:
    """Return an orthonormal basis, most variance first, and in how many columns the rows vary.

    After those it has k directions without variance, or as many as there are. More of them would
    be of no use, and the search is faster without.
    """
    n, d = X.shape
    if d <= n:
        squares, V = np.linalg.eigh(X.T @ X)
        squares, V = squares[::-1], V[:, ::-1]
    else:
        _, values, Vt = np.linalg.svd(X, full_matrices=False)
        squares, V = values**2, Vt.T
    live = int(np.sum(squares > NO_VARIANCE * squares[0]))
    return complete_basis(V[:, :live], V[:, :0], min(live + k, d)), live
