"""The paper's comparison with reductions: accuracy against unfairness, in eight panels.

Section 5.2 and Appendix C.7. Ten draws of 5,000 training and 5,000 test rows; lambda = (i/10)^3 or
eleven difference bounds; fair kernel PCA and Fair PCA-S also in front of logistic regression.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from ._experiment import Experiment, Result, Settings, Summary, Task
from ._summaries import summarize_draws
from ._tradeoff_curves import TradeoffCurve, TradeoffPanel, tradeoff_figure
from ._tradeoff_measures import (
    COMPONENTS,
    KERNEL_SVM,
    LOGISTIC_REGRESSION,
    METRICS,
    REDUCTIONS,
    measure,
    parameters_of,
)

DATASETS = {"adult": "Adult Income", "bank": "Bank Marketing"}
CRITERIA = {
    "demographic_parity": ("DP", "dp_gap", r"$\Delta_{DP}$"),
    "equal_opportunity": ("EO", "eo_gap", r"$\Delta_{EO}$"),
}
"""By criterion: its short name, the metric that measures its violation, and how it is written."""

PANELS = [(c, criterion) for c in (LOGISTIC_REGRESSION, KERNEL_SVM) for criterion in CRITERIA]
METHODS = (*COMPONENTS, REDUCTIONS)
DRAWS, ROWS = 10, 5000
QUICK_DRAWS, QUICK_ROWS, QUICK_PARAMETERS = 1, 1000, slice(None, None, 5)


def _tasks(settings: Settings) -> list[Task]:
    rows = QUICK_ROWS if settings.quick else ROWS
    chosen = QUICK_PARAMETERS if settings.quick else slice(None)
    tasks = []
    for draw in range(QUICK_DRAWS if settings.quick else DRAWS):
        for dataset in DATASETS:
            for classifier, criterion in PANELS:
                for method in METHODS:
                    key: dict[str, str | int | float] = {
                        "dataset": dataset,
                        "criterion": criterion,
                        "classifier": classifier,
                        "method": method,
                        "draw": draw,
                    }
                    fixed = {
                        "parameters": parameters_of(method)[chosen],
                        "n_train": rows,
                        "n_test": rows,
                        "data": None if settings.data is None else str(settings.data),
                    }
                    tasks.append(Task(key, measure, {**key, **fixed}))
    return tasks


def one_by_one(results: Sequence[Result]) -> Iterator[Result]:
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
    for result in one_by_one(results):
        n = len(draws[_panel_of(result)])
        short = CRITERIA[str(result.key["criterion"])][0]
        protocol = f"{short}, {result.key['classifier']}, {n} draw{'s' if n > 1 else ''}"
        told.append(Result({**result.key, "protocol": protocol}, result.values))
    return summarize_draws(told)


def _panel_of(result: Result) -> tuple[Any, ...]:
    return tuple(result.key[name] for name in ("dataset", "criterion", "classifier", "method"))


def curve_of(
    results: Sequence[Result], dataset: str, classifier: str, criterion: str, method: str
) -> TradeoffCurve | None:
    """Return means and standard errors over the draws, in the order of the parameter."""
    wanted = (dataset, criterion, classifier, method)
    points: dict[float, list[tuple[float, ...]]] = {}
    for result in one_by_one([r for r in results if _panel_of(r) == wanted]):
        numbers = tuple(result.values[metric] for metric in METRICS)
        points.setdefault(float(result.key["parameter"]), []).append(numbers)
    if not points:
        return None
    at = [np.array(points[parameter]) for parameter in sorted(points)]
    mean = np.array([numbers.mean(axis=0) for numbers in at])
    error = np.array([numbers.std(axis=0) / np.sqrt(max(len(numbers) - 1, 1)) for numbers in at])
    gap = METRICS.index(CRITERIA[criterion][1])
    columns = (mean[:, gap], mean[:, 0], error[:, gap], error[:, 0])
    return TradeoffCurve(*(column.tolist() for column in columns))


def _how_many_draws(results: Sequence[Result]) -> str:
    """Return "10 draws", or the numbers of both classifiers where a run was cut short."""
    counts = {
        str(classifier): len({r.key["draw"] for r in results if r.key["classifier"] == classifier})
        for classifier in dict.fromkeys(r.key["classifier"] for r in results)
    }
    most = max(counts.values(), default=0)
    fewer = [f"{classifier}: {n}" for classifier, n in counts.items() if n < most]
    several = f" ({', '.join(fewer)})" if fewer else ""
    return f"{most} draw{'s' if most > 1 else ''}{several}"


def draw(results: Sequence[Result], settings: Settings) -> Any:
    """Draw a row of panels per data set."""
    rows = {}
    for dataset, name in DATASETS.items():
        rows[name] = [
            TradeoffPanel(
                title=f"{classifier}, {CRITERIA[criterion][0]}",
                gap_name=CRITERIA[criterion][2],
                curves={
                    method: curve
                    for method in METHODS
                    if (curve := curve_of(results, dataset, classifier, criterion, method))
                },
            )
            for classifier, criterion in PANELS
        ]
    n_rows = f"{QUICK_ROWS if settings.quick else ROWS:,}"
    return tradeoff_figure(
        rows,
        f"Means over {_how_many_draws(results)} of {n_rows} training and {n_rows} "
        f"test rows; bars: standard errors. Up and to the left is better. Markers along a curve: "
        f"$\\lambda$ from\n0 to 1, or for reductions difference bounds from 0.001 to 0.2. "
        f"Reductions decide by lot: their rates are over rows and lots. Solid: methods of this "
        f"package.",
    )


EXPERIMENTS = (
    Experiment(
        name="figure-tradeoff",
        title="Section 5.2: accuracy against unfairness, and the reductions approach",
        tasks=_tasks,
        summarize=_summarize,
        draw=draw,
    ),
)
