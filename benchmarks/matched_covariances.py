"""What do equal covariances cost, from the same moments; and what a general optimiser takes."""

import time
from collections.abc import Iterator

import numpy as np
import pymanopt
from pymanopt.manifolds import Stiefel
from pymanopt.optimizers import ConjugateGradient

from fairpca import FairPCA, collect_moments
from fairpca.solvers._equalize_covariances_exactly import _match_covariances

from .rows import factor_rows
from .timing import alternate

GRADIENT = 1e-4


def unequal_rows(n: int, d: int) -> tuple[np.ndarray, np.ndarray]:
    """Rows of two groups with different covariances."""
    X, z = factor_rows(n, d, "float64")
    stretch = np.random.default_rng(1).uniform(0.7, 1.4, d)
    X[z == 1] *= stretch
    return X, z


def by_pymanopt(C: np.ndarray, T: np.ndarray, L: np.ndarray, rounds: int = 25) -> np.ndarray:
    """The same augmented Lagrangian, its rounds solved by pymanopt's conjugate gradients."""
    s, k = L.shape
    C, T = C / np.linalg.norm(C, 2), T / np.linalg.norm(T, 2)
    multipliers, penalty, before = np.zeros((k, k)), 10.0, np.inf
    manifold = Stiefel(s, k)
    solver = ConjugateGradient(
        min_gradient_norm=GRADIENT, max_iterations=400, min_step_size=1e-14, verbosity=0
    )
    for _ in range(rounds):
        M, rho = multipliers, penalty

        @pymanopt.function.numpy(manifold)
        def value(L: np.ndarray, M: np.ndarray = M, rho: float = rho) -> float:
            E = L.T @ T @ L
            return float(-np.vdot(L, C @ L) + np.vdot(M, E) + 0.5 * rho * np.vdot(E, E))

        @pymanopt.function.numpy(manifold)
        def gradient(L: np.ndarray, M: np.ndarray = M, rho: float = rho) -> np.ndarray:
            TL = T @ L
            return 2.0 * (TL @ (M + rho * (L.T @ TL)) - C @ L)

        problem = pymanopt.Problem(manifold, value, euclidean_gradient=gradient)
        L = solver.run(problem, initial_point=L).point
        E = L.T @ T @ L
        gap = float(np.linalg.norm(E))
        multipliers = multipliers + rho * E
        penalty *= 4.0 if gap > 0.25 * before else 1.0
        before = gap
        if gap < 1e-8:
            break
    return L


def rows_of_the_table() -> Iterator[list[str]]:
    X, z = unequal_rows(20_000, 100)
    moments = collect_moments(X, z, with_scatters=True)
    exact = FairPCA(10, match="covariances", covariance_directions=1.0)
    means = FairPCA(10)
    seconds = alternate(
        {
            "means": lambda: means.fit_moments(moments),
            "exact": lambda: exact.fit_moments(moments),
        },
        repeats=5,
    )
    yield _row("100 features, k 10", "match='means'", seconds["means"], seconds["exact"])
    C, T, start = _two_group_problem(X, z, 10)
    seconds = alternate(
        {
            "pymanopt": lambda: by_pymanopt(C, T, start),
            "exact": lambda: _match_covariances(C, [T], 10, starts=[start]),
        },
        repeats=3,
        warm_up=False,
    )
    yield _row("100 features, k 10, one start", "pymanopt", seconds["pymanopt"], seconds["exact"])
    X, z = unequal_rows(10_000, 1_000)
    moments = collect_moments(X, z, with_scatters=True)
    started = time.perf_counter()
    FairPCA(50, match="covariances", covariance_directions=1.0, verbose=True).fit_moments(moments)
    yield _row("1,000 features, k 50", "", None, time.perf_counter() - started)


def _two_group_problem(
    X: np.ndarray, z: np.ndarray, k: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    C = np.cov(X.T)
    T = np.cov(X[z == 0].T) - np.cov(X[z == 1].T)
    return C, T, np.linalg.eigh(C)[1][:, ::-1][:, :k]


def _row(what: str, against: str, theirs: float | None, ours: float) -> list[str]:
    return [
        what,
        "equal covariances",
        f"{against} {theirs:.3f} s" if theirs else "",
        f"{ours:.3f} s",
        f"{ours / theirs:.2f}" if theirs else "",
    ]
