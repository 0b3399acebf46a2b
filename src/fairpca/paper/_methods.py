"""The methods of the paper's tables and figures, by the names it gives them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..estimators import FairKernelPCA, FairPCA
from ..peers import FPCA, INLP, PCA, RLACE, MbFPCA


def _fair_pca_s(fraction: float) -> Callable[[int, int], FairPCA]:
    def make(d: int, k: int) -> FairPCA:
        directions = max(k, int(fraction * d))
        return FairPCA(
            k,
            match="covariances",
            covariance_method="spectral",
            covariance_directions=directions,
        )

    return make


METHODS: dict[str, Callable[[int, int], Any]] = {
    "PCA": lambda d, k: PCA(k),
    "FPCA (0.1, 0.01)": lambda d, k: FPCA(k, delta=0.1, mu=0.01),
    "FPCA (0, 0.01)": lambda d, k: FPCA(k, delta=0.0, mu=0.01),
    "MbF-PCA (10^-3)": lambda d, k: MbFPCA(k, tol=1e-3),
    "MbF-PCA (10^-6)": lambda d, k: MbFPCA(k, tol=1e-6),
    "INLP": lambda d, k: INLP(k),
    "RLACE": lambda d, k: RLACE(k),
    "Fair PCA": lambda d, k: FairPCA(k),
    "Fair Kernel PCA": lambda d, k: FairKernelPCA(k, center=False, random_state=0),
    "Fair PCA-S (0.5)": _fair_pca_s(0.5),
    "Fair PCA-S (0.85)": _fair_pca_s(0.85),
}
"""Takes the numbers of features and of components, returns an estimator."""

OURS = tuple(name for name in METHODS if name.startswith("Fair"))
"""The methods that the paper proposes."""


def make_method(name: str, d: int, k: int) -> Any:
    """Return an unfitted estimator with `fit(X, sensitive_features=z)` and `transform(X)`.

    Parameters
    ----------
    name : str
        A name of the paper, a key of `METHODS`.
    d, k : int
        Numbers of features and of components.

    Examples
    --------
    >>> make_method("Fair PCA-S (0.85)", d=20, k=5).covariance_directions
    17
    """
    return METHODS[name](d, k)
