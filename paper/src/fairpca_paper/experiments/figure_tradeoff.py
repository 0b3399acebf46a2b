"""The paper's comparison with reductions: accuracy against unfairness, in eight panels.

Section 5.2 and Appendix C.7. Ten draws of 5,000 training and 5,000 test rows; lambda = (i/10)^3 or
eleven difference bounds; fair kernel PCA and Fair PCA-S also in front of logistic regression.
Kernel SVMs share what they have in common: the same fits as scikit-learn's, sooner.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.linear_model import LogisticRegression
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.svm import SVC

from fairpca.tradeoff import tradeoff_curve

from ..datasets import Split
from ..methods import Reductions
from .experiment import Experiment, Result, Settings, Summary, Task, combinations, summarize_draws
from .panels import line_options, method_legend, note, write
from .style import FAINT, in_order, paper_figure, style_of
from .tradeoff import (
    COMPONENTS,
    KERNEL_SVM,
    LOGISTIC_REGRESSION,
    REDUCTIONS,
    count,
    draw_rows,
    our_estimator,
    parameters_of,
    price,
)

DATASETS = {"adult": "Adult Income", "bank": "Bank Marketing"}
CRITERIA = {
    "demographic_parity": ("DP", "dp_gap", r"$\Delta_{DP}$"),
    "equal_opportunity": ("EO", "eo_gap", r"$\Delta_{EO}$"),
}
"""By criterion: its short name, the metric that measures its violation, and how it is written."""

CLASSIFIERS = (LOGISTIC_REGRESSION, KERNEL_SVM)
PANELS = [(classifier, criterion) for classifier in CLASSIFIERS for criterion in CRITERIA]
METHODS = (*COMPONENTS, REDUCTIONS)
METRICS = ("accuracy", "dp_gap", "eo_gap")
DRAWS, ROWS = 10, 5000
QUICK_DRAWS, QUICK_ROWS = 1, 1000

Curve = dict[str, list[float]]
"""Means x (gap) and y (accuracy) with standard errors xerr and yerr, as `errorbar` takes them."""


def _tasks(settings: Settings) -> list[Task]:
    rows = QUICK_ROWS if settings.quick else ROWS
    data = None if settings.data is None else str(settings.data)
    fixed = {"n_train": rows, "n_test": rows, "data": data}
    lambdas = {method: parameters_of(method, settings.quick) for method in METHODS}
    keys = combinations(
        draw=range(QUICK_DRAWS if settings.quick else DRAWS),
        dataset=DATASETS,
        classifier=CLASSIFIERS,
        criterion=CRITERIA,
        method=METHODS,
    )
    return [
        Task(key, _measure, {**key, **fixed, "parameters": lambdas[key["method"]]}) for key in keys
    ]


def _measure(
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
    C = price(classifier, len(rows.y_train))
    if method == REDUCTIONS:
        for chance in _by_reductions(rows, criterion, classifier, C, parameters):
            yield _judged(rows, chance)
        return
    model: Any = LogisticRegression(C=C, solver="newton-cholesky", tol=1e-7, max_iter=1000)
    if classifier == KERNEL_SVM:  # the authors' code takes its gamma from the training data
        model = _TwoClassSVC(C=C, gamma=_default_gamma(rows.X_train))
    for point in tradeoff_curve(
        our_estimator(method, rows.X_train.shape[1], criterion),
        model,
        *(rows.X_train, rows.y_train, rows.X_test, rows.y_test),
        sensitive_features_train=rows.z_train,
        sensitive_features_test=rows.z_test,
        tradeoffs=parameters,
        compact=classifier == KERNEL_SVM,
    ):
        yield point.accuracy, point.selection_rate_difference, point.true_positive_rate_difference


def _judged(rows: Split, chance: np.ndarray) -> tuple[float, float, float]:
    """Return accuracy and both gaps of decisions, or of the probabilities of positive ones."""
    positive, z = rows.y_test == 1, rows.z_test
    accuracy = float(np.where(positive, chance, 1.0 - chance).mean())
    everyone = np.ones_like(positive)
    dp, eo = (
        float(np.ptp([chance[among & (z == group)].mean() for group in np.unique(z)]))
        for among in (everyone, positive)
    )
    return accuracy, dp, eo


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


class _TwoClassSVC(SVC):
    """An SVC of two classes that decides by a matrix product, in a tenth of the time."""

    def decision_function(self, X: np.ndarray) -> np.ndarray:
        """Return a score per row, positive for the second class."""
        kernel = rbf_kernel(X, self.support_vectors_, gamma=self.gamma)
        return np.asarray(kernel @ self.dual_coef_[0] + self.intercept_[0])

    def predict(self, X: np.ndarray) -> np.ndarray:
        """Return the class of every row."""
        return np.asarray(self.classes_[(self.decision_function(X) > 0).astype(int)])


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


def _one_by_one(results: Sequence[Result]) -> Iterator[Result]:
    """Yield a result per parameter: a task measures all of them."""
    for result in results:
        points: dict[float, dict[str, float]] = {}
        for name, value in result.values.items():
            metric, at = name.split(" at ")
            points.setdefault(float(at), {})[metric] = value
        for parameter, values in points.items():
            yield Result({**result.key, "parameter": parameter}, values)


def _summarize(results: Sequence[Result]) -> list[Summary]:
    """Average over draws; the protocol says which panel a row is of, and how many draws."""
    draws: dict[tuple[Any, ...], set[Any]] = {}
    for result in results:
        draws.setdefault(_panel_of(result), set()).add(result.key["draw"])
    told = []
    for result in _one_by_one(results):
        n = len(draws[_panel_of(result)])
        short = CRITERIA[str(result.key["criterion"])][0]
        protocol = f"{short}, {result.key['classifier']}, {count(n)}"
        told.append(Result({**result.key, "protocol": protocol}, result.values))
    return summarize_draws(told)


def _panel_of(result: Result) -> tuple[Any, ...]:
    return tuple(result.key[name] for name in ("dataset", "criterion", "classifier", "method"))


def _curve_of(
    results: Sequence[Result], dataset: str, classifier: str, criterion: str, method: str
) -> Curve | None:
    """Return means and standard errors over the draws, in the order of the parameter."""
    wanted = (dataset, criterion, classifier, method)
    points: dict[float, list[tuple[float, ...]]] = {}
    for result in _one_by_one([r for r in results if _panel_of(r) == wanted]):
        numbers = tuple(result.values[metric] for metric in METRICS)
        points.setdefault(float(result.key["parameter"]), []).append(numbers)
    if not points:
        return None
    at = [np.array(points[parameter]) for parameter in sorted(points)]
    mean = np.array([numbers.mean(axis=0) for numbers in at])
    error = np.array([numbers.std(axis=0) / np.sqrt(max(len(numbers) - 1, 1)) for numbers in at])
    gap = METRICS.index(CRITERIA[criterion][1])
    columns = {"x": mean[:, gap], "y": mean[:, 0], "xerr": error[:, gap], "yerr": error[:, 0]}
    return {name: column.tolist() for name, column in columns.items()}


def _how_many_draws(results: Sequence[Result]) -> str:
    """Return "10 draws", or the numbers of both classifiers where a run was cut short."""
    counts = {
        str(classifier): len({r.key["draw"] for r in results if r.key["classifier"] == classifier})
        for classifier in dict.fromkeys(r.key["classifier"] for r in results)
    }
    most = max(counts.values(), default=0)
    fewer = [f"{classifier}: {n}" for classifier, n in counts.items() if n < most]
    return count(most) + (f" ({', '.join(fewer)})" if fewer else "")


def _draw(results: Sequence[Result], settings: Settings) -> Any:
    """Draw a row of panels per data set, which share their accuracy."""
    n_rows = f"{QUICK_ROWS if settings.quick else ROWS:,}"
    shown: set[str] = set()
    with paper_figure(2.35 * len(PANELS), 2.45 * len(DATASETS) + 1.0) as figure:
        grid = figure.subplots(len(DATASETS), len(PANELS), sharey="row", squeeze=False)
        for line, (dataset, name) in zip(grid, DATASETS.items(), strict=True):
            for axes, (classifier, criterion) in zip(line, PANELS, strict=True):
                curves = {
                    method: curve
                    for method in METHODS
                    if (curve := _curve_of(results, dataset, classifier, criterion, method))
                }
                shown |= set(curves)
                short, _, gap_name = CRITERIA[criterion]
                axes.set_title(f"{classifier}, {short}", loc="left")
                axes.set_xlabel(gap_name)
                _curves(axes, curves)
            line[0].set_ylabel("accuracy")
            look = {"rotation": 90, "va": "center", "ha": "right", "weight": "bold", "size": 10}
            write(line[0], name, (0, 0.5), (-46, 0), **look)
        method_legend(figure, in_order(shown))
        note(
            figure,
            f"Means over {_how_many_draws(results)} of {n_rows} training and {n_rows} test rows; "
            f"bars: standard errors. Up and to the left is better. Markers along a curve: "
            f"$\\lambda$ from\n0 to 1, or for reductions difference bounds from 0.001 to 0.2. "
            f"Reductions decide at random: their rates are expectations. Solid: methods of this "
            f"package.",
        )
    return figure


def _curves(axes: Any, curves: Mapping[str, Curve]) -> None:
    axes.grid()
    axes.tick_params(length=0)
    axes.margins(x=0.06, y=0.08)
    axes.locator_params(axis="x", nbins=4, steps=[1, 2, 5, 10])
    for method in in_order(set(curves)):
        curve, style = curves[method], style_of(method)
        bars = {"ecolor": style.colour, "elinewidth": 0.8, "alpha": 0.35, "zorder": style.order - 1}
        axes.errorbar(**curve, linestyle="none", **bars)
        thinner = {"markersize": 4.2, "linewidth": 1.4 if style.ours else 1.1}
        axes.plot(curve["x"], curve["y"], linestyle=style.line, **line_options(style) | thinner)
    axes.set_xlim(left=min(0.0, axes.get_xlim()[0]))
    write(axes, "fairer ←", (0, 1), (3, -3), va="top", size=7.5, color=FAINT)


EXPERIMENTS = (
    Experiment(
        "figure-tradeoff",
        "Section 5.2: accuracy against unfairness, and the reductions approach",
        *(_tasks, _summarize, _draw),
    ),
)
