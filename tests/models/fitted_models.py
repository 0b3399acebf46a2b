"""One small fitted model of every kind that can be saved."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from sklearn.base import clone

from fairpca import FairKernelPCA, FairPCA, peers


def small_rows(
    n: int = 120, d: int = 6, seed: int = 0
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return rows with a group difference, the groups, and labels."""
    rng = np.random.default_rng(seed)
    X, sex = rng.normal(size=(n, d)) + 3.0, rng.choice(["f", "m"], n)
    X[sex == "m", 0] += 1.0
    return X, sex, rng.integers(0, 2, n)


MODELS: dict[str, Any] = {
    "fair pca": FairPCA(2),
    "one component": FairPCA(1),
    "all components": FairPCA(),
    "with a trade-off": FairPCA(2, tradeoff=0.3, scale=True),
    "matched covariances": FairPCA(2, match="covariances"),
    "spectral covariances": FairPCA(2, match="covariances", covariance_method="spectral"),
    "equal opportunity": FairPCA(2, criterion="equal_opportunity"),
    "equalized odds": FairPCA(2, criterion="equalized_odds"),
    "rbf kernel": FairKernelPCA(3),
    "kernel with a trade-off": FairKernelPCA(3, tradeoff=0.5),
    "laplacian kernel": FairKernelPCA(3, kernel="laplacian"),
    "poly kernel": FairKernelPCA(3, kernel="poly", degree=2),
    "cosine kernel": FairKernelPCA(2, kernel="cosine"),
    "sigmoid kernel": FairKernelPCA(2, kernel="sigmoid", gamma=0.01),
    "linear kernel": FairKernelPCA(2, kernel="linear"),
    "nystroem": FairKernelPCA(3, approximation="nystroem", n_landmarks=20, random_state=0),
    "random features": FairKernelPCA(
        3, approximation="random_features", n_landmarks=20, random_state=0
    ),
    "pca": peers.PCA(2),
    "leace": peers.LEACE(),
    "sal": peers.SAL(),
    "mean projection": peers.MeanProjection(),
    "splince": peers.SPLINCE(),
    "inlp": peers.INLP(4),
    "rlace": peers.RLACE(4, max_iter=60, evaluate_every=30),
    "fpca": peers.FPCA(2),
    "mbf pca": peers.MbFPCA(2, max_iter=20, n_init=1),
    "balanced pca": peers.BalancedPCA(2),
    "samadi": peers.SamadiPCA(2),
    "kernel pca": peers.KernelPCA(2),
    "kernel sal": peers.KernelSAL(n_components=3),
}


def fitted(name: str) -> Any:
    """Return the model of this name, fitted to the small rows."""
    return fitted_anew(MODELS[name])


def fitted_anew(estimator: Any) -> Any:
    """Return a clone of an estimator, fitted to the small rows."""
    X, sex, y = small_rows()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # few steps and few rows: of no matter here
        return clone(estimator).fit(X, y, sensitive_features=sex)
