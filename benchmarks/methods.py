"""What do other methods cost: the paper's as printed, equal covariances, curves of a trade-off."""

import time
from functools import lru_cache

import numpy as np
import scipy.linalg

from fairpca import FairPCA
from fairpca.moments import collect_moments

from .data import made_rows, unequal_rows
from .lines import OURS, Line
from .timing import Measured

SPECTRAL = {"covariance_method": "spectral", "covariance_directions": 0.85}
BOUNDS = (0.05,)
"""Of the difference of selection rates: a point of a curve, some seconds."""


def contestant(line: Line, name: str):
    if line.what == "fit, paper":
        X, z = made_rows(line.n, line.d)
        fair = FairPCA(line.k)
        literal = name == "Algorithm 1"
        return lambda: algorithm_1(X, z, line.k) if literal else fair.fit(X, sensitive_features=z)
    if line.what == "Fair PCA-S":
        X, z = made_rows(line.n, line.d)
        fair = FairPCA(line.k)
        if name == OURS:
            fair.set_params(match="covariances", **SPECTRAL)
        return lambda: fair.fit(X, sensitive_features=z)
    if line.what == "a point of a curve":
        return a_point(name)
    X, z = unequal_rows(line.n, line.d)
    if line.what == "equal covariances":
        moments = collect_moments(X, z, with_scatters=True)
        fair = FairPCA(line.k)
        if name == OURS:
            fair.set_params(match="covariances", covariance_directions=1.0)
        return lambda: fair.fit_moments(moments)
    C, T = np.cov(X.T), np.cov(X[z == 0].T) - np.cov(X[z == 1].T)
    start = np.linalg.eigh(C)[1][:, ::-1][:, : line.k]
    if name == OURS:
        from fairpca.solvers._equalize_covariances_exactly import _match_covariances

        return lambda: _match_covariances(C, [T], line.k, starts=[start])
    return lambda: by_pymanopt(C, T, start)


def algorithm_1(X: np.ndarray, z: np.ndarray, k: int) -> np.ndarray:
    """As printed: null space, restricted scatter, eigenvectors."""
    X = X - X.mean(axis=0)
    R = scipy.linalg.null_space(((z - z.mean()) @ X)[None, :])
    _, V = np.linalg.eigh(R.T @ (X.T @ X) @ R)
    return R @ V[:, ::-1][:, :k]


def by_pymanopt(C: np.ndarray, T: np.ndarray, L: np.ndarray, rounds: int = 25) -> np.ndarray:
    """The same augmented Lagrangian, its rounds solved by pymanopt's conjugate gradients."""
    import pymanopt
    from pymanopt.manifolds import Stiefel
    from pymanopt.optimizers import ConjugateGradient

    s, k = L.shape
    C, T = C / np.linalg.norm(C, 2), T / np.linalg.norm(T, 2)
    M, penalty, before = np.zeros((k, k)), 10.0, np.inf
    manifold = Stiefel(s, k)
    solver = ConjugateGradient(
        min_gradient_norm=1e-4, max_iterations=400, min_step_size=1e-14, verbosity=0
    )
    for _ in range(rounds):

        @pymanopt.function.numpy(manifold)
        def value(L: np.ndarray, M: np.ndarray = M, rho: float = penalty) -> float:
            E = L.T @ T @ L
            return float(-np.vdot(L, C @ L) + np.vdot(M, E) + 0.5 * rho * np.vdot(E, E))

        @pymanopt.function.numpy(manifold)
        def gradient(L: np.ndarray, M: np.ndarray = M, rho: float = penalty) -> np.ndarray:
            TL = T @ L
            return 2.0 * (TL @ (M + rho * (L.T @ TL)) - C @ L)

        problem = pymanopt.Problem(manifold, value, euclidean_gradient=gradient)
        L = solver.run(problem, initial_point=L).point
        E = L.T @ T @ L
        gap = float(np.linalg.norm(E))
        M = M + penalty * E
        penalty *= 4.0 if gap > 0.25 * before else 1.0
        before = gap
        if gap < 1e-8:
            break
    return L


@lru_cache
def adult_rows(n: int = 40_000) -> tuple[np.ndarray, ...]:
    """Return standardised features, labels and sex of n rows, then of the others."""
    from sklearn.preprocessing import StandardScaler

    from fairpca_paper.datasets import load_adult

    adult = load_adult(sensitive=["sex"])
    X, y = adult.numeric_features().to_numpy(), adult.target.to_numpy()
    z = (adult.sensitive["sex"] == "Male").to_numpy().astype(int)
    order = np.random.default_rng(0).permutation(len(X))
    train, test = order[:n], order[n:]
    scale = StandardScaler().fit(X[train]).transform
    return scale(X[train]), y[train], z[train], scale(X[test]), y[test], z[test]


def a_point(name: str):
    """Return what measures the seconds for a point of a curve: a classifier and its decisions."""
    from sklearn.linear_model import LogisticRegression

    from fairpca.tradeoff import tradeoff_curve

    X, y, z, X_test, y_test, z_test = adult_rows()
    lambdas = [(i / 10) ** 3 for i in range(11)]
    k, classifier = X.shape[1] - 9, LogisticRegression(C=1 / (0.02 * len(X)), max_iter=10_000)

    def null_spaces() -> int:
        for tradeoff in lambdas:  # both bases anew for every lambda, as users would loop
            standard = np.linalg.eigh(X.T @ X)[1][:, -k:]
            U = np.hstack([algorithm_1(X, z, k), tradeoff * standard])
            classifier.fit(X @ U, y).predict(X_test @ U)
        return len(lambdas)

    def reductions() -> int:
        from fairpca_paper.methods import Reductions

        for bound in BOUNDS:
            fair = Reductions(classifier, difference_bound=bound).fit(X, y, sensitive_features=z)
            fair.predict(X_test)
        return len(BOUNDS)

    def one_pass() -> int:
        data = {"sensitive_features_train": z, "sensitive_features_test": z_test}
        return len(tradeoff_curve(FairPCA(k), classifier, X, y, X_test, y_test, **data))

    points = {OURS: one_pass, "ExponentiatedGradient": reductions}.get(name, null_spaces)

    def seconds() -> Measured:
        started = time.perf_counter()
        made = points()
        return Measured((time.perf_counter() - started) / made)

    return seconds
