"""Accuracy and unfairness over a method's parameter, on one draw: the paper's Section 5.2."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np
from sklearn.linear_model import LogisticRegression

from ..estimators import FairKernelPCA, FairPCA
from ..metrics import JudgedRows
from ..peers import Reductions
from ..tradeoff import PAPERS_TRADEOFFS, TradeoffParts, tradeoff_curve
from ._kernel_svm import KernelRows, SVCOfNumberedRows, default_gamma, svm_decisions
from ._methods import make_method
from ._tradeoff_draws import Draw, draw_rows

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


def parameters_of(method: str) -> tuple[float, ...]:
    """Return lambdas, or for reductions bounds."""
    return BOUNDS if method == REDUCTIONS else PAPERS_TRADEOFFS


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
    values = {}
    for parameter, numbers in zip(
        parameters, curve(rows, criterion, classifier, method, parameters), strict=True
    ):
        for metric, number in zip(METRICS, numbers, strict=True):
            values[f"{metric} at {parameter:.6g}"] = number
    return values


def curve(
    rows: Draw, criterion: str, classifier: str, method: str, parameters: Sequence[float]
) -> Iterator[tuple[float, float, float]]:
    """Yield accuracy and both gaps on the test rows for every parameter."""
    judged = JudgedRows.coded(rows.y_test, rows.z_test, 1)
    C = price(classifier, len(rows.y))
    if method == REDUCTIONS:
        yield from map(judged.judge, _by_reductions(rows, criterion, classifier, C, parameters))
        return
    estimator = our_estimator(method, rows.X.shape[1], criterion)
    if classifier == KERNEL_SVM:
        yield from map(judged.judge, _by_svm(rows, estimator, C, parameters))
        return
    for point in tradeoff_curve(
        estimator,
        LogisticRegression(C=C),
        rows.X,
        rows.y,
        rows.X_test,
        rows.y_test,
        sensitive_train=rows.z,
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
    rows: Draw, estimator: FairPCA | FairKernelPCA, C: float, lambdas: Sequence[float]
) -> Iterator[np.ndarray]:
    """Yield decisions of an SVM; its default gamma is that of all columns, not the compact ones."""
    parts = TradeoffParts.fit(estimator, rows.X, rows.y, sensitive_features=rows.z)
    both = parts.fitted.transform(rows.X)
    train, test = parts.common_rows(rows.X), parts.common_rows(rows.X_test)
    for tradeoff in lambdas:
        B, gamma = parts.factor(tradeoff), default_gamma(parts.scaled(both, tradeoff))
        yield svm_decisions(train @ B, rows.y, test @ B, C=C, gamma=gamma)


def _by_reductions(
    rows: Draw, criterion: str, classifier: str, C: float, bounds: Sequence[float]
) -> Iterator[np.ndarray]:
    """Yield probabilities of a positive decision: rates are those over rows and coins."""
    if classifier == KERNEL_SVM:
        shared = KernelRows(rows.X, rows.X_test, C)
        base, X, X_test = SVCOfNumberedRows(shared), shared.training_numbers, shared.test_numbers
    else:
        base, X, X_test = LogisticRegression(C=C, max_iter=10_000), rows.X, rows.X_test
    for bound in bounds:
        fair = Reductions(base, criterion=criterion, difference_bound=bound)
        yield fair.fit(X, rows.y, sensitive_features=rows.z).decision_probability(X_test)
