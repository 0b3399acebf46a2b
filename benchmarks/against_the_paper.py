"""What do the shortcuts buy? A literal null-space implementation, and matched covariances."""

from collections.abc import Iterator

import numpy as np
import scipy.linalg

from fairpca import FairPCA

from .rows import factor_rows
from .timing import alternate


def null_space_fair_pca(X: np.ndarray, z: np.ndarray, k: int) -> np.ndarray:
    """Algorithm 1 as printed: null space, restricted scatter, eigenvectors."""
    X = X - X.mean(axis=0)
    R = scipy.linalg.null_space(((z - z.mean()) @ X)[None, :])
    _, V = np.linalg.eigh(R.T @ (X.T @ X) @ R)
    return R @ V[:, ::-1][:, :k]


def rows_of_the_table() -> Iterator[list[str]]:
    n, d, k = 2_500, 2_000, 50  # few rows: both form the same d x d scatter first
    X, z = factor_rows(n, d, "float64")
    seconds = alternate(
        {
            "paper": lambda: null_space_fair_pca(X, z, k),
            "fairpca": lambda: FairPCA(k).fit(X, sensitive_features=z),
        },
        repeats=5,
    )
    yield [
        f"{n:,} x {d:,}, k {k}",
        "float64",
        f"null space, literally {seconds['paper']:.3f} s",
        f"{seconds['fairpca']:.3f} s",
        f"{seconds['fairpca'] / seconds['paper']:.2f}",
    ]
    n, d, k = 20_000, 1_000, 50
    X, z = factor_rows(n, d, "float64")
    seconds = alternate(
        {
            "means": lambda: FairPCA(k).fit(X, sensitive_features=z),
            "covariances": lambda: FairPCA(
                k, match="covariances", covariance_method="spectral", covariance_directions=0.85
            ).fit(X, sensitive_features=z),
        },
        repeats=5,
    )
    yield [
        f"{n:,} x {d:,}, k {k}, spectral covariances",
        "float64",
        f"match='means' {seconds['means']:.3f} s",
        f"{seconds['covariances']:.3f} s",
        f"{seconds['covariances'] / seconds['means']:.2f}",
    ]
