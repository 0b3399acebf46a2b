"""One small estimator of every kind and setting, and the rows to fit it to."""

from __future__ import annotations

import inspect
from functools import cache
from typing import Any

from fairpca import FairKernelPCA, FairPCA, peers
from models.fitted_models import MODELS, fitted_anew

ESTIMATORS: dict[str, Any] = {
    **MODELS,
    "dense solver": FairPCA(2, solver="dense"),
    "iterative solver": FairPCA(2, solver="iterative", random_state=3),
    "directions by held-out rows": FairPCA(
        2,
        match="covariances",
        covariance_method="spectral",
        covariance_directions="auto",
        random_state=1,
    ),
    "dense kernel solver": FairKernelPCA(3, solver="dense"),
    "iterative kernel solver": FairKernelPCA(3, solver="iterative", random_state=3),
    "oracle leace": peers.OracleLEACE(),
    "reductions": peers.Reductions(max_iter=5),
}
"""All that the package and its peers export, by a name that says what is special."""

NEEDS = {"reductions": "fairlearn"}
"""Optional libraries without which an estimator cannot be fitted."""


@cache
def fitted(name: str) -> Any:
    """Return the estimator of this name, fitted to the small rows; nobody may fit it again."""
    return fit_anew(name)


def fit_anew(name: str) -> Any:
    """Fit the estimator of this name to the small rows."""
    return fitted_anew(ESTIMATORS[name])


def transformed(estimator: Any, X: Any, sex: Any) -> Any:
    """Return what it makes of rows; one peer asks for their groups, one answers with decisions."""
    if not hasattr(estimator, "transform"):
        return estimator.predict(X)
    if "sensitive_features" in inspect.signature(estimator.transform).parameters:
        return estimator.transform(X, sensitive_features=sex)
    return estimator.transform(X)
