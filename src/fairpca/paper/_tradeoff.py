"""Accuracy and unfairness over a method's parameter, on one draw: the paper's Section 5.2.

Two data sets, drawn, split and standardised; logistic regression, and kernel SVMs that share what
they have in common: the same fits as scikit-learn's, sooner.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.linear_model import LogisticRegression
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from ..datasets import Split, load_adult, load_bank
from ..estimators import FairKernelPCA, FairPCA
from ..metrics import JudgedRows
from ..peers import Reductions
from ..tradeoff import PAPERS_TRADEOFFS, TradeoffParts, tradeoff_curve
from ._protocol import make_method

SEED = 1111
"""Draw r permutes the rows with the seed SEED * r."""

REDUCTIONS = "Reductions"
BOUNDS = (0.001, 0.005, 0.01, 0.015, 0.02, 0.03, 0.05, 0.07, 0.1, 0.15, 0.2)
"""The difference bounds of the paper's figures."""

COMPONENTS: dict[str, Callable[[int], int]] = {
    "Fair PCA": lambda d: d - 1,
    "Fair Kernel PCA": lambda d: d - 1,
    "Fair PCA-S (0.5)": lambda d: d // 4,
    "Fair PCA-S (0.85)": lambda d: d // 2,
}
"""How many components of d features each method keeps."""

LOGISTIC_REGRESSION, KERNEL_SVM = "logistic regression", "kernel SVM"
REGULARIZATION = {LOGISTIC_REGRESSION: 0.01, KERNEL_SVM: 0.00005}
METRICS = ("accuracy", "dp_gap", "eo_gap")


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
    return (BOUNDS if method == REDUCTIONS else PAPERS_TRADEOFFS)[:: 5 if quick else 1]


def count(n: int) -> str:
    """Return "1 draw", "2 draws", ..."""
    return f"{n} draw{'s' if n > 1 else ''}"


def price(classifier: str, n: int) -> float:
    """Return the paper's C for n training rows."""
    return 1.0 / (2 * n * REGULARIZATION[classifier])


def measure(
    dataset: str,
    criterion: str,
    classifier: str,
    method: str,
    draw: int,
    parameters: Sequence[float],
    n_train: int = 5000,
    n_test: int = 5000,
    data: str | None = None,
) -> dict[str, float]:
    """Return every metric at every parameter, as ``"metric at parameter"``."""
    rows = draw_rows(dataset, draw, n_train, n_test, data)
    points = _curve(rows, criterion, classifier, method, parameters)
    return {
        f"{metric} at {parameter:.6g}": number
        for parameter, numbers in zip(parameters, points, strict=True)
        for metric, number in zip(METRICS, numbers, strict=True)
    }


def _curve(
    rows: Split, criterion: str, classifier: str, method: str, parameters: Sequence[float]
) -> Iterator[tuple[float, float, float]]:
    """Yield accuracy and both gaps on the test rows for every parameter."""
    judged = JudgedRows.coded(rows.y_test, rows.z_test, 1)
    C = price(classifier, len(rows.y_train))
    if method == REDUCTIONS:
        yield from map(judged.judge, _by_reductions(rows, criterion, classifier, C, parameters))
        return
    estimator = our_estimator(method, rows.X_train.shape[1], criterion)
    if classifier == KERNEL_SVM:
        yield from map(judged.judge, _by_svm(rows, estimator, C, parameters))
        return
    for point in tradeoff_curve(
        estimator,
        LogisticRegression(C=C),
        *(rows.X_train, rows.y_train, rows.X_test, rows.y_test),
        sensitive_train=rows.z_train,
        sensitive_test=rows.z_test,
        tradeoffs=parameters,
    ):
        yield point.accuracy, point.selection_rate_gap, point.true_positive_rate_gap


def our_estimator(method: str, d: int, criterion: str) -> FairPCA | FairKernelPCA:
    """Return the unfitted estimator of one of the paper's methods."""
    unfitted: FairPCA | FairKernelPCA = make_method(method, d, COMPONENTS[method](d))
    unfitted.set_params(criterion=criterion)
    return unfitted


def _by_svm(
    rows: Split, estimator: FairPCA | FairKernelPCA, C: float, lambdas: Sequence[float]
) -> Iterator[np.ndarray]:
    """Yield decisions of an SVM; the authors' code takes its gamma from the training data."""
    X, y, z, X_test, *_ = rows
    parts = TradeoffParts.fit(estimator, X, y, sensitive_features=z)
    train, test = parts.common_rows(X), parts.common_rows(X_test)
    for tradeoff in lambdas:
        B = parts.factor(tradeoff)
        yield _svm_decisions(train @ B, y, test @ B, C=C, gamma=_default_gamma(X))


def _by_reductions(
    rows: Split, criterion: str, classifier: str, C: float, bounds: Sequence[float]
) -> Iterator[np.ndarray]:
    """Yield probabilities of a positive decision: rates are those over rows and coins."""
    X, y, z, X_test, *_ = rows
    base: Any = LogisticRegression(C=C, max_iter=10_000)
    if classifier == KERNEL_SVM:
        shared = _KernelRows(X, X_test, C)
        base, X, X_test = _SVCOfNumberedRows(shared), shared.training_numbers, shared.test_numbers
    for bound in bounds:
        fair = Reductions(base, criterion=criterion, difference_bound=bound)
        yield fair.fit(X, y, sensitive_features=z).decision_probability(X_test)


def _default_gamma(T: np.ndarray) -> float:
    """Return what ``SVC(gamma="scale")`` takes for these training rows."""
    variance = float(T.var())
    return 1.0 / (T.shape[1] * variance) if variance > 0 else 1.0


def _svm_decisions(
    train: np.ndarray, y: np.ndarray, test: np.ndarray, *, C: float, gamma: float
) -> np.ndarray:
    """Return decisions, 0 or 1, as `SVC.predict`: a matrix product takes a tenth of its time."""
    model = SVC(C=C, gamma=gamma).fit(train, y)
    scores = rbf_kernel(test, train[model.support_], gamma=gamma) @ model.dual_coef_[0]
    return np.asarray(scores + model.intercept_[0] > 0, dtype=int)


class _KernelRows:
    """Training rows and then test rows, known by their numbers, and the fits already made to them.

    Reductions fit the same rows again and again, often with the labels and weights of an earlier
    round. Here the kernel is computed once, nothing is copied, and no fit is made twice.
    """

    def __init__(self, train: np.ndarray, test: np.ndarray, C: float) -> None:
        self.C, self.n = C, len(train)
        self.K = rbf_kernel(np.vstack([train, test]), train, gamma=_default_gamma(train))
        numbers = np.arange(len(self.K), dtype=float)[:, None]
        self.training_numbers, self.test_numbers = numbers[: self.n], numbers[self.n :]
        self._made: dict[tuple[bytes, bytes], np.ndarray] = {}

    def decisions(self, y: np.ndarray, weight: np.ndarray) -> np.ndarray:
        """Return the decisions on all rows of an SVM fitted to these labels and weights."""
        key = (y.tobytes(), weight.tobytes())
        if key not in self._made:
            model = SVC(C=self.C, kernel="precomputed")
            model.fit(self.K[: self.n], y, sample_weight=weight)
            dual = np.zeros(self.n)
            dual[model.support_] = model.dual_coef_[0]
            self._made[key] = (self.K @ dual + model.intercept_[0] > 0).astype(int)
        return self._made[key]


class _SVCOfNumberedRows(ClassifierMixin, BaseEstimator):
    """An SVM on rows of a `_KernelRows`, which all its copies share; X is a column of numbers."""

    def __init__(self, rows: _KernelRows) -> None:
        self.rows = rows

    def __sklearn_clone__(self) -> _SVCOfNumberedRows:
        return _SVCOfNumberedRows(self.rows)  # shares the kernel: that is its purpose

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit to all training rows with these labels and weights."""
        y = np.asarray(y)
        weight = np.ones(len(y)) if sample_weight is None else np.asarray(sample_weight)
        self.classes_ = np.array([0, 1])
        self.decisions_ = self.rows.decisions(y, weight)
        return self

    def predict(self, X: Any) -> np.ndarray:
        """Return the decisions on rows with these numbers."""
        return self.decisions_[np.asarray(X)[:, 0].astype(int)]
