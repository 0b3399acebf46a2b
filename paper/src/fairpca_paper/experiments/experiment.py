"""What an experiment is: independent tasks, numbers out of each, a summary, perhaps a figure."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

Key = Mapping[str, str | int | float]
"""What tells a task from the others: dataset, k, method, protocol, parameter, draw, ..."""

Published = Callable[[dict[str, Any], str], tuple[float, float] | None]
"""Takes a key without its draw and a metric, returns the paper's mean and standard deviation."""

BETWEEN = "/"
"""Between the protocol and the metric in the names of a task's values."""


@dataclass(frozen=True)
class Settings:
    """What the user chose for all experiments of a run.

    Parameters
    ----------
    data : Path or None
        Folder with the data; None: download, or the environment's `FAIRPCA_DATA`.
    quick : bool
        Whether to run a small part of everything, to see that it works.

    Examples
    --------
    >>> from fairpca_paper.experiments import Settings
    >>> Settings(quick=True)
    Settings(data=None, quick=True)
    """

    data: Path | None = None
    quick: bool = False


@dataclass(frozen=True)
class Task:
    """One piece of work that can run in a process of its own, and be skipped when it was done.

    Parameters
    ----------
    key : mapping
        Strings and numbers; with the same key the same numbers are computed.
    run : callable
        A function of a module; returns ``{metric: number}``. A metric may be NaN, for "not
        applicable". Large data are loaded inside, not passed.
    arguments : mapping
        Small keyword arguments of `run`.

    Examples
    --------
    >>> from fairpca_paper.experiments import Task
    >>> def accuracy(draw):
    ...     return {"accuracy": draw / 4}
    >>> task = Task({"method": "mine", "draw": 3}, accuracy, {"draw": 3})
    >>> task.run(**task.arguments)
    {'accuracy': 0.75}
    """

    key: Key
    run: Callable[..., Mapping[str, float]]
    arguments: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Result:
    """What came out of one task.

    Parameters
    ----------
    key : mapping
        The task's key.
    values : mapping
        The task's numbers by metric.

    Examples
    --------
    >>> from fairpca_paper.experiments import Result
    >>> Result({"method": "mine", "draw": 3}, {"accuracy": 0.83}).values["accuracy"]
    0.83
    """

    key: Key
    values: Mapping[str, float]


@dataclass(frozen=True)
class Summary:
    """One row of the tidy table that an experiment writes.

    Parameters
    ----------
    dataset, k, method, metric, protocol
        Which number.
    mean, std : float
        Over the draws or splits; std is the population standard deviation.
    paper_mean, paper_std : float or None
        What the paper prints, where it does.
    parameter : float or None
        The position on the figure's axis (lambda, n, d, ...).

    Examples
    --------
    >>> from fairpca_paper.experiments import Summary
    >>> row = Summary("adult", 2, "Fair PCA", "accuracy", mean=0.82, std=0.01, paper_mean=0.81)
    >>> round(row.mean - row.paper_mean, 2)
    0.01
    """

    dataset: str
    k: int | None
    method: str
    metric: str
    mean: float
    std: float
    paper_mean: float | None = None
    paper_std: float | None = None
    protocol: str = ""
    parameter: float | None = None


@dataclass(frozen=True)
class Experiment:
    """A table or a figure of the paper.

    Parameters
    ----------
    name : str
        As typed after ``fairpca-paper``.
    title : str
        One line for ``--list``.
    tasks : callable
        ``tasks(settings)`` returns all tasks, in the order in which results are wanted.
    summarize : callable
        ``summarize(results)`` returns the rows of the tidy table; must cope with results that
        are still missing.
    draw : callable, optional
        ``draw(results, settings)`` returns a matplotlib figure.
    timed : bool
        Whether the numbers are times, so that tasks must run one after the other.

    See Also
    --------
    run_experiment : Runs one, and goes on with one that was interrupted.

    Examples
    --------
    >>> from fairpca_paper.experiments import Experiment, Settings, Summary, Task
    >>> def accuracy(draw):
    ...     return {"accuracy": 0.8 + draw / 100}
    >>> def tasks(settings):
    ...     return [Task({"draw": draw}, accuracy, {"draw": draw}) for draw in range(3)]
    >>> def summarize(results):
    ...     mean = sum(result.values["accuracy"] for result in results) / len(results)
    ...     return [Summary("mine", None, "coin", "accuracy", mean, std=0.0)]
    >>> experiment = Experiment("mine", "How good is a coin?", tasks, summarize)
    >>> [task.key for task in experiment.tasks(Settings())]
    [{'draw': 0}, {'draw': 1}, {'draw': 2}]
    """

    name: str
    title: str
    tasks: Callable[[Settings], Sequence[Task]]
    summarize: Callable[[Sequence[Result]], Sequence[Summary]]
    draw: Callable[[Sequence[Result], Settings], Any] | None = None
    timed: bool = False


def combinations(**choices: Iterable[Any]) -> list[dict[str, Any]]:
    """Return every combination of the choices by their names; the last choice changes fastest."""
    return [dict(zip(choices, values, strict=True)) for values in product(*choices.values())]


def by_protocol(results: Iterable[Result]) -> list[Result]:
    """Give each protocol of values called ``protocol/metric`` a key of its own."""
    return [
        Result({**result.key, "protocol": protocol}, {metric: value})
        for result in results
        for name, value in result.values.items()
        for protocol, metric in [name.split(BETWEEN)]
    ]


def summarize_draws(
    results: Sequence[Result], published: Published = lambda key, metric: None
) -> list[Summary]:
    """Average over the key ``draw``; all other keys identify a row."""
    values: dict[tuple[Any, str], list[float]] = {}
    for result in results:
        others = tuple(sorted(item for item in result.key.items() if item[0] != "draw"))
        for metric, value in result.values.items():
            values.setdefault((others, metric), []).append(value)
    rows = []
    for (items, metric), numbers in values.items():
        key: dict[str, Any] = dict(items)
        mean, std = published(key, metric) or (None, None)
        row: dict[str, Any] = {name: key.get(name) for name in ("k", "parameter")}
        row |= {name: str(key.get(name, "")) for name in ("dataset", "method", "protocol")}
        row |= {"metric": metric, "mean": float(np.mean(numbers)), "std": float(np.std(numbers))}
        rows.append(Summary(**row, paper_mean=mean, paper_std=std))
    return rows
