"""Every estimator of the package, small, in its settings, and what each promises.

A new estimator has its entry here and nowhere else in the tests.
"""

from __future__ import annotations

import copy
import warnings
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from sklearn.base import clone

from fairpca import FairKernelPCA, FairPCA, FairPLS, erasers
from fairpca.estimators import PlainPCA


@dataclass(frozen=True)
class Known:
    """An estimator, unfitted, and what holds after a fit that was not refused.

    Parameters
    ----------
    estimator : estimator
        With few components, landmarks and steps.
    fair : bool
        Whether all groups have the same mean, and numeric attributes are uncorrelated, on the
        rows of the fit.
    orthonormal : bool
        Whether the rows of `components_` are orthonormal.
    nasty : bool
        Whether it is also tried on nasty data, which takes longer.
    """

    estimator: Any
    fair: bool = False
    orthonormal: bool = False
    nasty: bool = True

    def made(self) -> Any:
        return clone(self.estimator)


def linear(*args: Any, nasty: bool = True, **options: Any) -> Known:
    return Known(FairPCA(*args, **options), fair=True, orthonormal=True, nasty=nasty)


def kernel(*args: Any, nasty: bool = True, **options: Any) -> Known:
    options = {"random_state": 0, **options}
    return Known(FairKernelPCA(*args, **options), fair=True, nasty=nasty)


def predictive(*args: Any, nasty: bool = True, **options: Any) -> Known:
    options = {"random_state": 0, **options}
    return Known(FairPLS(*args, **options), fair=True, nasty=nasty)


COVARIANCES = {"match": "covariances"}
SPECTRAL = {**COVARIANCES, "covariance_method": "spectral"}
DISTRIBUTIONS = {"match": "distributions", "random_state": 0}

ESTIMATORS = {
    "fair pca": linear(2),
    "one component": linear(1),
    "all components": linear(),
    "half of the variance": linear(0.5),
    "scaled": linear(scale=True),
    "with a trade-off": linear(1, tradeoff=0.5, scale=True),
    "dense solver": linear(2, solver="dense", nasty=False),
    "iterative solver": linear(1, solver="iterative", random_state=3),
    "equal opportunity": linear(criterion="equal_opportunity"),
    "equalized odds": linear(1, criterion="equalized_odds"),
    "joint groups": linear(intersectional=True, missing_sensitive="ignore"),
    "missing as a group": linear(missing_sensitive="group"),
    "missing ignored": linear(1, missing_sensitive="ignore", scale=True),
    "matched covariances": linear(1, **COVARIANCES),
    "two of nearly matched covariances": linear(2, covariance_tol=0.1, **COVARIANCES),
    "spectral covariances": linear(1, **SPECTRAL),
    "all spectral covariances": linear(covariance_directions=1.0, **SPECTRAL),
    "matched distributions": linear(1, **DISTRIBUTIONS),
    "scaled distributions": linear(2, scale=True, tradeoff=0.5, nasty=False, **DISTRIBUTIONS),
    "rbf kernel": kernel(1),
    "all of the rbf kernel": kernel(),
    "laplacian kernel": kernel(2, kernel="laplacian", missing_sensitive="group"),
    "linear kernel": kernel(1, kernel="linear", missing_sensitive="ignore"),
    "cosine kernel": kernel(1, kernel="cosine", tradeoff=0.5),
    "poly kernel": kernel(1, kernel="poly", degree=2, criterion="equalized_odds"),
    "sigmoid kernel": kernel(1, kernel="sigmoid", gamma=0.01, criterion="equal_opportunity"),
    "uncentred kernel": kernel(1, center=False),
    "dense kernel solver": kernel(3, solver="dense", nasty=False),
    "iterative kernel solver": kernel(3, solver="iterative", random_state=3, nasty=False),
    "nystroem": kernel(1, approximation="nystroem", n_landmarks=6),
    "random features": kernel(1, approximation="random_features", n_landmarks=6),
    "kernel distributions": kernel(
        1, approximation="nystroem", n_landmarks=6, nasty=False, **DISTRIBUTIONS
    ),
    "fair pls": predictive(),
    "fair pls, spread": predictive(match="covariances", scale=True),
    "fair pls, means": predictive(1, match="means", criterion="equalized_odds"),
    "fair pls, equal opportunity": predictive(criterion="equal_opportunity"),
    "fair pls, kernel": predictive(kernel="rbf", n_landmarks=10, scale=True),
    "fair pls, kernel spread": predictive(
        kernel="poly", degree=2, match="covariances", nasty=False
    ),
    "plain pca": Known(PlainPCA(), orthonormal=True),
    "leace": Known(erasers.LEACE(), fair=True),
    "mean projection": Known(erasers.MeanProjection(), fair=True),
    "sal": Known(erasers.SAL(), fair=True),
    "one direction of sal": Known(erasers.SAL(1)),
    "splince": Known(erasers.SPLINCE(), fair=True),
    "splince, what is possible": Known(erasers.SPLINCE("possible"), fair=True),
    "kernel sal": Known(erasers.KernelSAL(n_components=1), fair=True),
}
"""By a name that says what is special."""

NASTY = [name for name, known in ESTIMATORS.items() if known.nasty]


def small_rows(
    n: int = 120, d: int = 6, seed: int = 0
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return rows with a group difference, the groups, and labels."""
    rng = np.random.default_rng(seed)
    X, sex = rng.normal(size=(n, d)) + 3.0, rng.choice(["f", "m"], n)
    X[sex == "m", 0] += 1.0
    return X, sex, rng.integers(0, 2, n)


def fitted_anew(name: str) -> Any:
    """Fit the estimator of this name to the small rows."""
    X, sex, y = small_rows()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # few steps and few rows: of no matter here
        return ESTIMATORS[name].made().fit(X, y, sensitive_features=sex)


@cache
def fitted_once(name: str) -> Any:
    """Return the same fitted estimator to everybody; nobody may fit it again."""
    return fitted_anew(name)


def fitted(name: str) -> Any:
    """Return the fitted estimator for the caller alone, who may do with it what it likes."""
    return copy.deepcopy(fitted_once(name))
