"""What Section 5.2 compares: two data sets, drawn and standardised, methods, and parameters."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

import numpy as np
from sklearn.preprocessing import StandardScaler

from fairpca import FairKernelPCA, FairPCA

from ..datasets import Split, load_adult, load_bank
from .protocol import make_method

SEED = 1111
"""Draw r permutes the rows with the seed SEED * r."""

LAMBDAS = tuple((i / 10) ** 3 for i in range(11))
REDUCTIONS = "Reductions"
BOUNDS = (0.001, 0.005, 0.01, 0.015, 0.02, 0.03, 0.05, 0.07, 0.1, 0.15, 0.2)
"""The difference bounds of the paper's figures."""

COMPONENTS: dict[str, Callable[[int], int | None]] = {
    "Fair PCA": lambda d: None,  # d - 1, or as many as there are
    "Fair Kernel PCA": lambda d: d - 1,
    "Fair PCA-S (0.5)": lambda d: d // 4,
    "Fair PCA-S (0.85)": lambda d: d // 2,
}
"""How many components of d features each method keeps."""

LOGISTIC_REGRESSION, KERNEL_SVM = "logistic regression", "kernel SVM"
REGULARIZATION = {LOGISTIC_REGRESSION: 0.01, KERNEL_SVM: 0.00005}


def draw_rows(dataset: str, draw: int, n_train: int, n_test: int, data: str | None = None) -> Split:
    """Return one draw: the first of the permuted rows train and standardise, the next ones test."""
    X, y, z = _table(dataset, data)
    order = np.random.default_rng(SEED * draw).permutation(len(X))
    train, test = order[:n_train], order[n_train : n_train + n_test]
    scaler = StandardScaler().fit(X[train])
    return Split(
        scaler.transform(X[train]), y[train], z[train], scaler.transform(X[test]), y[test], z[test]
    )


@lru_cache(maxsize=2)
def _table(dataset: str, data: str | None) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return Adult Income with the attribute sex, or Bank Marketing with older than 40."""
    group = {"adult": "Male", "bank": "older than 40"}[dataset]
    if dataset == "adult":
        table = load_adult(data=data, sensitive=["sex"])
    else:  # the paper counts 20 features, so the duration of the call is one of them
        table = load_bank(data=data, duration=True)
    assert table.target is not None
    z = (table.sensitive.iloc[:, 0] == group).to_numpy().astype(int)
    return table.numeric_features().to_numpy(dtype=float), table.target.to_numpy(), z


def parameters_of(method: str, quick: bool = False) -> tuple[float, ...]:
    """Return lambdas, or for reductions bounds; for quick runs every fifth."""
    return (BOUNDS if method == REDUCTIONS else LAMBDAS)[:: 5 if quick else 1]


def count(n: int) -> str:
    """Return "1 draw", "2 draws", ..."""
    return f"{n} draw{'s' if n > 1 else ''}"


def price(classifier: str, n: int) -> float:
    """Return the paper's C for n training rows."""
    return 1.0 / (2 * n * REGULARIZATION[classifier])


def our_estimator(method: str, d: int, criterion: str) -> FairPCA | FairKernelPCA:
    """Return the unfitted estimator of one of the paper's methods."""
    unfitted: FairPCA | FairKernelPCA = make_method(method, d, COMPONENTS[method](d))
    unfitted.set_params(criterion=criterion)
    return unfitted
