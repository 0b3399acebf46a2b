"""What does fairness cost in kernel methods, exact and with landmarks; and in fair PLS?"""

import numpy as np
import scipy.linalg

from .data import made_rows
from .lines import OURS, Line

LANDMARKS, FEW = 500, 400


def contestant(line: Line, name: str):
    X, z = made_rows(line.n, line.d, line.dtype, line.spectrum)
    gamma = 1 / (line.d * X.var())
    if line.what.startswith("fair PLS"):
        return _predictive(line, name, X, z, gamma)
    if name == OURS:
        from fairpca import FairKernelPCA

        few = {"approximation": "nystroem", "n_landmarks": LANDMARKS, "random_state": 0}
        fair = FairKernelPCA(line.k, **(few if "landmarks" in line.what else {}))
        return lambda: fair.fit(X, sensitive_features=z)
    if name == "Algorithm 3":
        return lambda: algorithm_3(X, z, gamma, line.k)
    if name == "Nystroem + PCA":
        return lambda: nystroem_and_pca(X, gamma, line.k)
    from sklearn.decomposition import KernelPCA

    options = {"kernel": "rbf", "gamma": gamma, "eigen_solver": name.split()[1], "random_state": 0}
    return lambda: KernelPCA(line.k, **options).fit(X)


def algorithm_3(X: np.ndarray, z: np.ndarray, gamma: float, k: int) -> np.ndarray:
    """As printed: a null space of n - 1 vectors and a generalised eigenproblem."""
    from sklearn.metrics.pairwise import rbf_kernel

    n, K = len(X), rbf_kernel(X, gamma=gamma)
    R = scipy.linalg.null_space(((z - z.mean()) @ K)[None, :])
    B = R.T @ K @ R + 1e-5 * np.eye(n - 1)  # the authors' remedy for a singular kernel
    top = [n - 1 - k, n - 2]
    _, Lam = scipy.linalg.eigh(R.T @ K @ K @ R, B, subset_by_index=top, driver="gvx")
    return K @ R @ Lam


def nystroem_and_pca(X: np.ndarray, gamma: float, k: int) -> object:
    from sklearn.decomposition import PCA
    from sklearn.kernel_approximation import Nystroem

    features = Nystroem(gamma=gamma, n_components=LANDMARKS, random_state=0).fit_transform(X)
    return PCA(k, svd_solver="covariance_eigh").fit(features)


def _predictive(line: Line, name: str, X: np.ndarray, z: np.ndarray, gamma: float):
    y = (X[:, 0] + X[:, 1] ** 2 > 2).astype(int)
    if name == OURS:
        from fairpca import FairPLS

        match = line.what.rpartition(" ")[2]
        fair = FairPLS(match=match, kernel="rbf", n_landmarks=FEW, random_state=0)
        return lambda: fair.fit(X, y, sensitive_features=z)
    from sklearn.kernel_approximation import Nystroem
    from sklearn.linear_model import Ridge
    from sklearn.pipeline import make_pipeline

    features = Nystroem(gamma=gamma, n_components=FEW, random_state=0)
    return lambda: make_pipeline(features, Ridge()).fit(X, y)
