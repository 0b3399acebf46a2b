"""Appendix C.7: running time against the number of training rows, classifier included."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np
from sklearn.linear_model import LogisticRegression

from fairpca.tradeoff import tradeoff_curve

from ..datasets import Split
from ..methods import Reductions
from .experiment import Experiment, Result, Settings, Summary, Task, combinations
from .panels import error_curve, horizontal_grid, note
from .style import in_order, label_of, paper_figure, style_of
from .tradeoff import (
    LOGISTIC_REGRESSION,
    REDUCTIONS,
    count,
    draw_rows,
    our_estimator,
    parameters_of,
    price,
)

DATASET = "adult"
CRITERIA = {"demographic_parity": "DP", "equal_opportunity": "EO"}
TOGETHER = "Fair PCA, all λ at once"
"""Not a method of its own but another way to fit Fair PCA."""

METHODS = ("Fair PCA", TOGETHER, "Fair PCA-S (0.5)", "Fair PCA-S (0.85)", REDUCTIONS)
ROWS, DRAWS, DRAWS_OF_REDUCTIONS = (1000, 2000, 5000, 10_000, 20_000, 40_000), 10, 3
QUICK_ROWS = (1000, 3000)
SCORED = 100
"""Test rows, of which only the curve of all lambdas at once takes any notice."""
PAPER_SECONDS = {(REDUCTIONS, "DP", 40_000): 32.0}
"""What the text of the paper says, "more than", of another machine."""


class _Timing(NamedTuple):
    """Mean and standard deviation of running times, in seconds."""

    mean: float
    std: float


def _seconds(
    criterion: str,
    method: str,
    n: int,
    draw: int,
    parameters: Sequence[float],
    data: str | None = None,
) -> dict[str, float]:
    """Return how long each parameter took: the method, and the classifier on top of it."""
    rows = draw_rows(DATASET, draw, n, SCORED, data)
    X, y, z, *_ = rows
    classifier = LogisticRegression(C=price(LOGISTIC_REGRESSION, n), max_iter=10_000)
    _warm_up(classifier, X[:500], y[:500], z[:500])
    if method == TOGETHER:
        start = perf_counter()
        _fit_together(rows, criterion, parameters, classifier)
        return {"mean_of_all": (perf_counter() - start) / len(parameters)}
    values = {}
    for parameter in parameters:
        start = perf_counter()
        if method == REDUCTIONS:
            theirs = Reductions(classifier, criterion=criterion, difference_bound=parameter)
            theirs.fit(X, y, sensitive_features=z)
        else:
            fair = our_estimator(method, X.shape[1], criterion).set_params(tradeoff=parameter)
            classifier.fit(fair.fit(X, y, sensitive_features=z).transform(X), y)
        values[f"at {parameter:.6g}"] = perf_counter() - start
    return values


def _fit_together(
    rows: Split, criterion: str, lambdas: Sequence[float], classifier: LogisticRegression
) -> None:
    """Train the models of all lambdas from one fit, and score them on a few rows."""
    tradeoff_curve(
        our_estimator("Fair PCA", rows.X_train.shape[1], criterion),
        classifier,
        *(rows.X_train, rows.y_train, rows.X_test, rows.y_test),
        sensitive_features_train=rows.z_train,
        sensitive_features_test=rows.z_test,
        tradeoffs=lambdas,
    )


def _warm_up(classifier: LogisticRegression, X: np.ndarray, y: np.ndarray, z: np.ndarray) -> None:
    """Let libraries load and threads start before time counts."""
    _fit_together(Split(X, y, z, X, y, z), "demographic_parity", [0.0, 0.5], classifier)
    for method in ("Fair PCA", "Fair PCA-S (0.5)"):
        fair = our_estimator(method, X.shape[1], "demographic_parity")
        classifier.fit(fair.fit(X, sensitive_features=z).transform(X), y)
    Reductions(classifier, max_iter=1).fit(X, y, sensitive_features=z)


def _tasks(settings: Settings) -> list[Task]:
    data = None if settings.data is None else str(settings.data)
    sizes, draws = (QUICK_ROWS, 1) if settings.quick else (ROWS, DRAWS)
    tasks = []
    for key in combinations(n=sizes, criterion=CRITERIA, method=METHODS, draw=range(draws)):
        if key["method"] != REDUCTIONS or key["draw"] < DRAWS_OF_REDUCTIONS:
            fixed = {"parameters": parameters_of(key["method"], settings.quick), "data": data}
            tasks.append(Task({"dataset": DATASET, **key}, _seconds, {**key, **fixed}))
    return tasks


def _timings(results: Sequence[Result]) -> dict[tuple[str, str, int], _Timing]:
    """Return mean and standard deviation over parameters and draws, by criterion, method and n."""
    times: dict[tuple[str, str, int], list[float]] = {}
    for result in results:
        key = result.key
        place = (CRITERIA[str(key["criterion"])], str(key["method"]), int(key["n"]))
        times.setdefault(place, []).extend(result.values.values())
    return {
        place: _Timing(float(np.mean(numbers)), float(np.std(numbers)))
        for place, numbers in times.items()
    }


def _draws_of(results: Sequence[Result], *, reductions: bool) -> int:
    chosen = [r for r in results if (r.key["method"] == REDUCTIONS) == reductions]
    return len({result.key["draw"] for result in chosen})


def _summarize(results: Sequence[Result]) -> list[Summary]:
    rows = []
    for (criterion, method, n), timing in _timings(results).items():
        draws = count(_draws_of(results, reductions=method == REDUCTIONS))
        place = f"{criterion}, {LOGISTIC_REGRESSION}, {draws}", float(n)
        printed = PAPER_SECONDS.get((method, criterion, n)), None
        rows.append(Summary(DATASET, None, method, "seconds", *timing, *printed, *place))
    return rows


def _draw(results: Sequence[Result], settings: Settings) -> Any:
    """Draw a panel per criterion, on logarithmic axes."""
    panels: dict[str, dict[str, dict[int, _Timing]]] = {short: {} for short in CRITERIA.values()}
    for (criterion, method, n), timing in _timings(results).items():
        panels[criterion].setdefault(method, {})[n] = timing
    ours, theirs = (_draws_of(results, reductions=which) for which in (False, True))
    counted = f"{count(ours)} ({theirs} of reductions)"
    with paper_figure(7.4, 4.0) as figure:
        row = figure.subplots(1, len(panels), sharey=True, squeeze=False)[0]
        for axes, (criterion, by_method) in zip(row, panels.items(), strict=True):
            axes.set_title(f"Adult Income, {criterion}", loc="left")
            axes.set_xlabel("number of training rows")
            axes.set(xscale="log", yscale="log")
            horizontal_grid(axes)
            for method in in_order(set(by_method)):
                _timed(axes, method, by_method[method])
            numbers = sorted({n for at in by_method.values() for n in at})
            axes.set_xticks(numbers, [f"{n:,}" for n in numbers], rotation=30)
            axes.tick_params(axis="x", which="minor", length=0)
            axes.minorticks_off()
        row[0].set_ylabel("seconds per trained model")
        handles: dict[str, Any] = {}
        for axes in row:
            drawn, labels = axes.get_legend_handles_labels()
            handles |= dict(zip(labels, drawn, strict=True))
        place = {"loc": "outside upper center", "ncols": 3, "handlelength": 2.8}
        figure.legend(handles.values(), handles.keys(), **place)
        note(
            figure,
            f"Fair representation and logistic regression on top of it, or reductions of logistic "
            f"regression. Means and standard\ndeviations over the values of $\\lambda$ or of the "
            f"difference bound, and over {counted}. Dotted: the models of\nall $\\lambda$ are "
            f"trained together, from one pass over the rows; their time is divided by their "
            f"number.",
        )
    return figure


def _timed(axes: Any, method: str, timings: Mapping[int, _Timing]) -> None:
    style = style_of(method)
    if method == TOGETHER:
        style = replace(style_of("Fair PCA"), line=":", filled=False)
    n = sorted(timings)
    mean, std = np.array([timings[at] for at in n]).T
    # An error bar that reaches down to zero has no place on a logarithmic axis.
    below = np.minimum(std, 0.9 * mean)
    error_curve(axes, style, n, mean, [below, std], label=label_of(method))


EXPERIMENTS = (
    Experiment(
        "figure-runtime-n",
        "Appendix C.7: running time against the number of rows, and reductions",
        *(_tasks, _summarize, _draw),
        timed=True,
    ),
)
