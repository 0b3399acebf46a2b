"""Appendix C.7: running time against the number of training rows, classifier included."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import astuple
from time import perf_counter
from typing import Any

import numpy as np
from sklearn.linear_model import LogisticRegression

from ..peers import Reductions
from ..tradeoff import TradeoffParts, logistic_path
from ._curves import Timing
from ._experiment import Experiment, Result, Settings, Summary, Task
from ._runtime_of_rows import TOGETHER, runtime_of_rows_figure
from ._tradeoff_draws import Draw, draw_rows
from ._tradeoff_measures import LOGISTIC_REGRESSION, REDUCTIONS, our_estimator, parameters_of, price

DATASET = "adult"
CRITERIA = {"demographic_parity": "DP", "equal_opportunity": "EO"}
METHODS = ("Fair PCA", TOGETHER, "Fair PCA-S (0.5)", "Fair PCA-S (0.85)", REDUCTIONS)
ROWS, DRAWS, DRAWS_OF_REDUCTIONS = (1000, 2000, 5000, 10_000, 20_000, 40_000), 10, 3
QUICK_ROWS, QUICK_PARAMETERS = (1000, 3000), slice(None, None, 5)
PAPER_SECONDS = {(REDUCTIONS, "DP", 40_000): 32.0}
"""What the text of the paper says, "more than", of another machine."""


def seconds(
    criterion: str,
    method: str,
    n: int,
    draw: int,
    parameters: Sequence[float],
    data: str | None = None,
) -> dict[str, float]:
    """Return how long each parameter took: the method, and the classifier on top of it."""
    rows = draw_rows(DATASET, draw, n, 1, data)  # training is all that is timed
    classifier = LogisticRegression(C=price(LOGISTIC_REGRESSION, n), max_iter=10_000)
    _warm_up(classifier, rows)
    if method == TOGETHER:
        start = perf_counter()
        _fit_together(rows, criterion, parameters, classifier.C)
        return {"mean_of_all": (perf_counter() - start) / len(parameters)}
    values = {}
    for parameter in parameters:
        start = perf_counter()
        if method == REDUCTIONS:
            fair = Reductions(classifier, criterion=criterion, difference_bound=parameter)
            fair.fit(rows.X, rows.y, sensitive_features=rows.z)
        else:
            fair = our_estimator(method, rows.X.shape[1], criterion).set_params(tradeoff=parameter)
            fair.fit(rows.X, rows.y, sensitive_features=rows.z)
            classifier.fit(fair.transform(rows.X), rows.y)
        values[f"at {parameter:.6g}"] = perf_counter() - start
    return values


def _fit_together(rows: Draw, criterion: str, lambdas: Sequence[float], C: float) -> None:
    """Train the models of all lambdas from one fit, as `tradeoff_curve` does."""
    estimator = our_estimator("Fair PCA", rows.X.shape[1], criterion)
    parts = TradeoffParts.fit(estimator, rows.X, rows.y, sensitive_features=rows.z)
    logistic_path(parts.common_rows(rows.X), rows.y, map(parts.factor, lambdas), C)


def _warm_up(classifier: LogisticRegression, rows: Draw) -> None:
    """Let libraries load and threads start before time counts."""
    few = Draw(*(array[:500] for array in astuple(rows)))
    _fit_together(few, "demographic_parity", [0.0, 0.5], classifier.C)
    for method in ("Fair PCA", "Fair PCA-S (0.5)"):
        fair = our_estimator(method, few.X.shape[1], "demographic_parity")
        classifier.fit(fair.fit(few.X, sensitive_features=few.z).transform(few.X), few.y)
    Reductions(classifier, max_iter=1).fit(few.X, few.y, sensitive_features=few.z)


def _tasks(settings: Settings) -> list[Task]:
    chosen = QUICK_PARAMETERS if settings.quick else slice(None)
    tasks = []
    for n in QUICK_ROWS if settings.quick else ROWS:
        for criterion in CRITERIA:
            for method in METHODS:
                draws = DRAWS_OF_REDUCTIONS if method == REDUCTIONS else DRAWS
                for draw in range(1 if settings.quick else draws):
                    key: dict[str, Any] = {
                        "criterion": criterion,
                        "method": method,
                        "n": n,
                        "draw": draw,
                    }
                    fixed = {
                        "parameters": parameters_of(method)[chosen],
                        "data": None if settings.data is None else str(settings.data),
                    }
                    tasks.append(Task({"dataset": DATASET, **key}, seconds, {**key, **fixed}))
    return tasks


def timings(results: Sequence[Result]) -> dict[tuple[str, str, int], Timing]:
    """Return mean and standard deviation over parameters and draws, by criterion, method and n."""
    times: dict[tuple[str, str, int], list[float]] = {}
    for result in results:
        key = result.key
        place = (CRITERIA[str(key["criterion"])], str(key["method"]), int(key["n"]))
        times.setdefault(place, []).extend(result.values.values())
    return {
        place: Timing(float(np.mean(numbers)), float(np.std(numbers)))
        for place, numbers in times.items()
    }


def _draws_of(results: Sequence[Result], *, reductions: bool) -> int:
    chosen = [r for r in results if (r.key["method"] == REDUCTIONS) == reductions]
    return len({result.key["draw"] for result in chosen})


def _summarize(results: Sequence[Result]) -> list[Summary]:
    rows = []
    for (criterion, method, n), timing in timings(results).items():
        n_draws = _draws_of(results, reductions=method == REDUCTIONS)
        rows.append(
            Summary(
                dataset=DATASET,
                k=None,
                method=method,
                metric="seconds",
                mean=timing.mean,
                std=timing.std,
                paper_mean=PAPER_SECONDS.get((method, criterion, n)),
                protocol=f"{criterion}, {LOGISTIC_REGRESSION}, {n_draws} draw"
                + ("s" if n_draws > 1 else ""),
                parameter=float(n),
            )
        )
    return rows


def draw(results: Sequence[Result], settings: Settings) -> Any:
    """Draw a panel per criterion."""
    panels: dict[str, dict[str, dict[int, Timing]]] = {
        f"Adult Income, {short}": {} for short in CRITERIA.values()
    }
    for (criterion, method, n), timing in timings(results).items():
        panels[f"Adult Income, {criterion}"].setdefault(method, {})[n] = timing
    ours, theirs = (_draws_of(results, reductions=which) for which in (False, True))
    counted = f"{ours} draw{'s' if ours > 1 else ''} ({theirs} of reductions)"
    return runtime_of_rows_figure(
        panels,
        f"Fair representation and logistic regression on top of it, or reductions of logistic "
        f"regression. Means and standard\ndeviations over the values of $\\lambda$ or of the "
        f"difference bound, and over {counted}. Dotted: the models of\nall $\\lambda$ are trained "
        f"together, from one pass over the rows; their time is divided by their number.",
    )


EXPERIMENTS = (
    Experiment(
        name="figure-runtime-n",
        title="Appendix C.7: running time against the number of rows, and reductions",
        tasks=_tasks,
        summarize=_summarize,
        draw=draw,
        timed=True,
    ),
)
