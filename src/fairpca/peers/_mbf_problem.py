"""Variance against MMD: the objectives of MbF-PCA and a metric in which they are round."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import scipy.linalg

from .._numerics import Inverse, Metric, Objective, each_item, minimize_on_stiefel
from .._rows import row_blocks

TILE = 256
"""Rows per tile of the kernel matrix: tiles stay in the cache, and no n x n matrix is needed."""

FEATURES_PER_UNKNOWN = 1.5
"""Random features in the sketch of the curvature, for each entry of a basis."""

MOST_UNKNOWNS, FEW_FEATURES = 1200, 500
"""Beyond so many entries, the sketch holds few features: the steepest directions only."""

UNFINISHED = 1e-3
"""More than this share of the variance in sight, and the search has not converged."""


@dataclass(frozen=True)
class _GroupDiscrepancy:
    r"""Squared MMD of the rows of ``X V`` with the Gaussian kernel, and its derivatives in V.

    The n rows X are centred (distances near zero keep their digits); `signs` are the share of each
    in the mean of its group, negative for the second one. With :math:`K` the kernel matrix of the
    projected rows T the value is :math:`a^\top K a`, and with :math:`B = a a^\top \circ K` the
    gradient is :math:`-\frac{2}{\sigma^2} X^\top (\mathrm{diag}(B 1) - B) T`. Half of K is
    computed, tile by tile.
    """

    X: np.ndarray
    signs: np.ndarray
    sigma: float

    def __call__(self, V: np.ndarray) -> tuple[float, np.ndarray]:
        """Return the squared MMD under V of shape (d, k), and its gradient of the same shape."""
        T = (self.X @ V) / self.sigma
        n, k = T.shape
        half_squares = -0.5 * np.einsum("ij,ij->i", T, T)[:, None]
        # Exponents -|t - t'|^2 / 2 in one product: (t, -|t|^2/2, 1) . (t', 1, -|t'|^2/2).
        left = np.hstack([T, half_squares, np.ones((n, 1))])
        right = np.hstack([T, np.ones((n, 1)), half_squares])
        weighted = self.signs[:, None] * np.hstack([T, np.ones((n, 1))])

        def products_with_later_rows(block: slice) -> np.ndarray:
            total = np.zeros((n, k + 1))
            for later in row_blocks(n - block.start, TILE):
                other = slice(block.start + later.start, block.start + later.stop)
                K = left[block] @ right[other].T
                np.exp(K, out=K)
                total[block] += K @ weighted[other]
                if other.start > block.start:
                    total[other] += K.T @ weighted[block]
            return total

        products = np.zeros((n, k + 1))
        for part in each_item(products_with_later_rows, row_blocks(n, TILE)):
            products += part
        value = float(self.signs @ products[:, k])
        pulls = self.signs[:, None] * (products[:, k:] * T - products[:, :k])
        return value, (-2.0 / self.sigma) * (self.X.T @ pulls)

    def curvature(self, V: np.ndarray, rng: np.random.Generator, features: int) -> np.ndarray:
        """Return J (d k, features) so that 2 J J^T estimates the Gauss-Newton Hessian."""
        # The kernel is an average of products of random Fourier features (Rahimi, Recht 2007), so
        # the discrepancy is one of squares, and J holds their gradients.
        d, k = V.shape
        frequencies = rng.normal(size=(k, features)) / self.sigma
        phases = rng.uniform(0.0, 2.0 * np.pi, features)
        slopes = np.sin((self.X @ V) @ frequencies + phases)
        slopes *= self.signs[:, None]
        along = self.X.T @ slopes
        J: np.ndarray = along[:, None, :] * (frequencies * np.sqrt(2.0 / features))
        return J.reshape(d * k, features)


@dataclass(frozen=True)
class Found:
    """A basis V (d, k): its share of the variance, squared MMD, price, relative gain in sight."""

    V: np.ndarray
    share: float
    discrepancy: float
    penalty: float = 0.0
    in_sight: float = np.inf
    evaluations: int = 1


class VarianceAtDiscrepancy:
    """The share of the variance that a basis keeps, against the squared MMD of the groups."""

    def __init__(
        self, X: np.ndarray, signs: np.ndarray, sigma: float, C: np.ndarray, seed: int
    ) -> None:
        self.discrepancy, self.C = _GroupDiscrepancy(X, signs, sigma), C
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
        objective: Objective,
        V: np.ndarray,
        slopes: Callable[[np.ndarray], tuple[float, float]],
        *,
        tol: float,
        max_steps: int,
    ) -> Found:
        """Minimise; `slopes` are the first two derivatives of the objective in the discrepancy."""
        end = minimize_on_stiefel(
            objective, V, metric=self._metric(slopes), tol=tol, max_steps=max_steps
        )
        share, value = float(np.vdot(end.L, self.C @ end.L)), self.discrepancy(end.L)[0]
        in_sight = end.decrement / max(share, np.finfo(float).tiny)
        return Found(end.L, share, value, slopes(end.L)[0], in_sight, end.evaluations)

    def _metric(self, slopes: Callable[[np.ndarray], tuple[float, float]]) -> Metric:
        """Return inverses of ``2 slope J J^T + bend g g^T + curvature of the variance``."""

        def at(V: np.ndarray) -> Inverse:
            slope, bend = slopes(V)
            many = V.size <= MOST_UNKNOWNS
            features = int(FEATURES_PER_UNKNOWN * V.size) + 50 if many else FEW_FEATURES
            L = np.sqrt(2.0 * slope) * self.discrepancy.curvature(V, self.rng, features)
            if bend > 0:
                g = self.discrepancy(V)[1].reshape(-1, 1)
                L = np.hstack([L, np.sqrt(bend) * g])
            return _inverse(L, self.curvature_of_variance)

        return at


def _inverse(L: np.ndarray, ridge: float) -> Inverse:
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
