"""Most variance within a bound on the MMD: the objectives of MbF-PCA, and the search."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.linalg
from joblib import cpu_count
from threadpoolctl import threadpool_limits

from ._linalg import top_eigenpairs
from ._stiefel import Inverse, Metric, Objective, minimize_on_stiefel

TILE = 256
"""Rows per tile of the kernel matrix: tiles stay in the cache, and no n x n matrix is needed."""

THREADS_FROM = 2048
"""Rows from which threads share the kernel matrix; with fewer, they would wait for each other."""

FEATURES_PER_UNKNOWN = 1.5
"""Random features in the sketch of the curvature, for each entry of a basis."""

MOST_UNKNOWNS, FEW_FEATURES = 1200, 500
"""Beyond so many entries, the sketch holds few features: the steepest directions only."""

UNFINISHED = 1e-3
"""More than this share of the variance in sight, and the search has not converged."""


LARGEST_PENALTY, LAST_RESORT = 1e10, 1e6
"""Where the path of penalties ends, and the penalty under which nothing but the MMD counts.

Both in units of one over the squared MMD of PCA.
"""

ON_THE_WAY = 60
"""Most steps for a penalty that is not the last one."""

STALLED = 0.2
"""A doubled penalty that lowers the discrepancy by less than this share leads nowhere soon."""

BARRIERS = (1.0, 1e-1, 1e-2, 1e-3, 1.6e-4)
"""Weights of the barrier, relative to the variance that is there to be kept."""

PRECISION = 1e-9
"""Descent ends where less than this share of the variance is in sight."""


def _tiles(start: int, n: int) -> Iterator[slice]:
    for begin in range(start, n, TILE):
        yield slice(begin, min(begin + TILE, n))


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
            for other in _tiles(block.start, n):
                K = left[block] @ right[other].T
                np.exp(K, out=K)
                total[block] += K @ weighted[other]
                if other.start > block.start:
                    total[other] += K.T @ weighted[block]
            return total

        products = np.zeros((n, k + 1))
        if n < THREADS_FROM:
            parts = list(map(products_with_later_rows, _tiles(0, n)))
        else:
            with ThreadPoolExecutor(cpu_count()) as pool, threadpool_limits(1, user_api="blas"):
                parts = list(pool.map(products_with_later_rows, _tiles(0, n)))
        for part in parts:
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
class _Found:
    """A basis V (d, k): its share of the variance, squared MMD, price, relative gain in sight."""

    V: np.ndarray
    share: float
    discrepancy: float
    penalty: float = 0.0
    in_sight: float = np.inf
    evaluations: int = 1


class MostVariance:
    """The share of the variance that a basis keeps, against the squared MMD of the groups."""

    def __init__(
        self, X: np.ndarray, signs: np.ndarray, sigma: float, scatter: np.ndarray, seed: int
    ) -> None:
        self.discrepancy = _GroupDiscrepancy(X, signs, sigma)
        self.C = scatter / scatter.trace()
        self.seed, self.rng = seed, np.random.default_rng(seed)
        self.curvature_of_variance = 2.0 * float(np.linalg.eigvalsh(self.C)[-1])

    def solved(self, pca: np.ndarray, live: int, rules: Any) -> _Found:
        """Return the best basis found by the rules of MbF-PCA; rows vary in `live` directions."""
        unfair, (d, k) = self.judged(pca), pca.shape
        if unfair.discrepancy <= rules.tol:
            return replace(unfair, in_sight=0.0)  # nothing keeps more variance than PCA
        contrast = self.discrepancy.X.T @ self.discrepancy.signs
        length = float(np.linalg.norm(contrast))
        fair = pca
        if k < d and length > 0:  # the leading directions in which the means agree; q comes last
            q = contrast[:, None] / length
            P = np.eye(d) - q @ q.T
            fair = top_eigenpairs(P @ self.C @ P - q @ q.T, k)[1]

        def others() -> Iterator[np.ndarray]:
            yield fair
            rng, rows = np.random.default_rng(self.seed), max(live, k)
            for _ in range(int(rules.n_init) - 1):
                V = np.zeros((d, k))
                V[:rows] = np.linalg.qr(rng.normal(size=(rows, k)))[0]
                yield V

        search = _Search(
            self,
            bound=float(rules.tol),
            unit=1.0 / unfair.discrepancy,
            quiet=np.eye(d)[:, d - k :],
            max_steps=int(rules.max_iter),
        )
        return _best_found(search, fair, others, tighten=bool(rules.tighten))

    def judged(self, V: np.ndarray) -> _Found:
        """Return a basis with its share of the variance and its discrepancy."""
        return _Found(V, float(np.vdot(V, self.C @ V)), self.discrepancy(V)[0])

    def penalized(self, V: np.ndarray, rho: float, *, tol: float, max_steps: int) -> _Found:
        """Minimise ``-share + rho * discrepancy`` from V."""

        def objective(V: np.ndarray) -> tuple[float, np.ndarray]:
            CV, (value, gradient) = self.C @ V, self.discrepancy(V)
            return rho * value - float(np.vdot(V, CV)), rho * gradient - 2.0 * CV

        return self._minimized(objective, V, lambda V: (rho, 0.0), tol=tol, max_steps=max_steps)

    def inside(self, V: np.ndarray, bound: float, weight: float, *, max_steps: int) -> _Found:
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
    ) -> _Found:
        """Minimise; `slopes` are the first two derivatives of the objective in the discrepancy."""
        end = minimize_on_stiefel(
            objective, V, metric=self._metric(slopes), tol=tol, max_steps=max_steps
        )
        share, value = float(np.vdot(end.V, self.C @ end.V)), self.discrepancy(end.V)[0]
        in_sight = end.decrement / max(share, np.finfo(float).tiny)
        return _Found(end.V, share, value, slopes(end.V)[0], in_sight, end.evaluations)

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


@dataclass(frozen=True)
class _Search:
    """How to look for the most variance within a bound on the squared MMD.

    `unit` is one over the squared MMD of PCA, the first penalty; `quiet` of shape (d, k) are the
    directions of least variance; `max_steps` holds for one penalty or barrier.
    """

    problem: MostVariance
    bound: float
    unit: float
    quiet: np.ndarray
    max_steps: int

    def follow_penalties(self, V: np.ndarray) -> _Found:
        """Double the penalty until the discrepancy is within the bound, or hardly falls."""
        # The published method, REPMS; only the descent for one penalty is another one.
        evaluations, discrepancies, rho = 0, [], self.unit
        while True:
            steps = min(ON_THE_WAY, self.max_steps)
            found = self.problem.penalized(V, rho, tol=1e3 * PRECISION, max_steps=steps)
            evaluations += found.evaluations
            if found.discrepancy <= self.bound:
                found = self.problem.penalized(
                    found.V, rho, tol=PRECISION, max_steps=self.max_steps
                )
                evaluations += found.evaluations
                if found.discrepancy <= self.bound:
                    break
            discrepancies.append(found.discrepancy)
            if self._stalled(discrepancies) or rho > LARGEST_PENALTY * self.unit:
                break
            V, rho = found.V, 2.0 * rho
        return replace(found, evaluations=evaluations)

    def _stalled(self, discrepancies: list[float]) -> bool:
        """Tell whether two doublings hardly lowered a discrepancy that is far from the bound."""
        if len(discrepancies) < 3 or discrepancies[-1] <= 1.5 * self.bound:
            return False
        return discrepancies[-1] > (1.0 - STALLED) ** 2 * discrepancies[-3]

    def climb_inside(self, start: _Found, weights: Iterable[float]) -> _Found:
        """Follow the barrier from a basis inside the bound to one that uses all of it."""
        found, evaluations = start, start.evaluations
        for weight in weights:
            found = self.problem.inside(found.V, self.bound, weight, max_steps=self.max_steps)
            evaluations += found.evaluations
        return replace(found, evaluations=evaluations)

    def tightened(self, found: _Found) -> _Found:
        """Return a basis near a solution that uses what is left of the bound."""
        weight = found.penalty * (self.bound - found.discrepancy)
        return self.climb_inside(found, [weight * b for b in BARRIERS])

    def from_within(self, starts: Iterable[np.ndarray]) -> list[_Found]:
        """Shrink each start until it is inside the bound, and climb from there."""
        quiet = self.problem.judged(self.quiet)
        if quiet.discrepancy >= 0.5 * self.bound:
            quiet = self.least_discrepancy(self.quiet)
        if quiet.discrepancy >= 0.5 * self.bound:
            return []
        found = []
        for F in starts:
            most = float(np.vdot(F, self.problem.C @ F))
            found.append(self.climb_inside(self._shrunken(F, quiet), [most * b for b in BARRIERS]))
        return found

    def _shrunken(self, F: np.ndarray, quiet: _Found) -> _Found:
        """Turn the columns of F towards quiet directions until they are inside the bound."""
        # All rows then lie so close that the kernel sees all of them. Where the rows are far apart,
        # those that stand alone feel no slope, and the path of penalties stalls.
        best, low, high = quiet, 0.0, 0.5 * np.pi
        for _ in range(20):
            angle = 0.5 * (low + high)
            V = np.linalg.qr(np.cos(angle) * quiet.V + np.sin(angle) * F)[0]
            tried = self.problem.judged(V)
            if tried.discrepancy < 0.5 * self.bound:
                low, best = angle, tried
            else:
                high = angle
        return replace(best, evaluations=quiet.evaluations + 20)

    def least_discrepancy(self, V: np.ndarray) -> _Found:
        """Return a basis of small discrepancy near V, whatever variance it keeps."""
        rho = LAST_RESORT * self.unit
        return self.problem.penalized(V, rho, tol=PRECISION, max_steps=self.max_steps)


def _best_found(
    search: _Search, start: np.ndarray, others: Callable[[], Iterable[np.ndarray]], *, tighten: bool
) -> _Found:
    """Return the best basis found within the bound, else the nearest; `others` are more starts."""
    path = search.follow_penalties(start)
    if path.discrepancy <= search.bound and path.in_sight <= UNFINISHED:
        return search.tightened(path) if tighten else path
    candidates = search.from_within(others())
    if path.discrepancy <= search.bound:
        candidates.append(search.tightened(path))
    if candidates:
        best = max(candidates, key=lambda found: found.share)
    else:
        nearest = [search.least_discrepancy(V) for V in (path.V, search.quiet)]
        best = min(nearest, key=lambda found: found.discrepancy)
    total = path.evaluations + sum(found.evaluations for found in candidates)
    return replace(best, evaluations=total)
