"""Run the tasks of an experiment, in parallel where that is honest, and keep what is done."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import joblib
from sklearn.exceptions import ConvergenceWarning

from ..errors import FairPCAError, MissingExtraError, NothingLeftToRemoveWarning, ResidualWarning
from ._experiment import Experiment, Key, Result, Settings, Summary, Task
from ._outputs import write_figure, write_table
from ._results_file import ResultsFile, fingerprint

Progress = Callable[[int, int, Key | None], None]
"""Told how many tasks are done, of how many, and which one came last."""


TOLD_BY_NUMBERS = (NothingLeftToRemoveWarning, ConvergenceWarning, ResidualWarning)
"""A method that does not reach its aim warns. In a table its numbers say so, row by row."""


@dataclass(frozen=True)
class Failure:
    """A task that raised.

    Parameters
    ----------
    key : mapping
        The task's key.
    reason : str
        Type and message of the exception.

    Examples
    --------
    >>> from fairpca.paper import Failure
    >>> Failure({"method": "mine", "draw": 3}, "ValueError: no rows").reason
    'ValueError: no rows'
    """

    key: Key
    reason: str


@dataclass(frozen=True)
class Reproduction:
    """What running an experiment left behind.

    Parameters
    ----------
    rows : sequence of Summary
        The tidy table.
    files : sequence of Path
        What was written.
    failures : sequence of Failure
        Tasks that raised; they are tried again by the next run.

    See Also
    --------
    run_experiment : What makes it.

    Examples
    --------
    >>> from fairpca.paper import Failure, Reproduction
    >>> failure = Failure({"draw": 3}, "ValueError: no rows")
    >>> made = Reproduction(rows=[], files=[], failures=[failure])
    >>> [failure.key["draw"] for failure in made.failures]
    [3]
    """

    rows: Sequence[Summary]
    files: Sequence[Path]
    failures: Sequence[Failure]


def run_experiment(
    experiment: Experiment,
    settings: Settings,
    out: Path,
    *,
    jobs: int = 1,
    progress: Progress = lambda done, total, key: None,
) -> Reproduction:
    """Run what is not done yet, then write the table and the figure.

    Parameters
    ----------
    experiment : Experiment
        What to run.
    settings : Settings
        Where the data are, and how much of it to run.
    out : Path
        Folder for the outputs; results so far are kept in ``out/results``.
    jobs : int
        Number of processes; times are measured by one, whatever this says.
    progress : callable
        Told of every finished task.

    Returns
    -------
    Reproduction
        The table, what was written, and what failed.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from fairpca.paper import Experiment, Settings, Summary, Task, run_experiment
    >>> def accuracy(draw):
    ...     return {"accuracy": 0.8 + draw / 100}
    >>> def tasks(settings):
    ...     return [Task({"draw": draw}, accuracy, {"draw": draw}) for draw in range(3)]
    >>> def summarize(results):
    ...     mean = sum(result.values["accuracy"] for result in results) / len(results)
    ...     return [Summary("mine", None, "guess", "accuracy", mean, std=0.0)]
    >>> experiment = Experiment("mine", "How good is a guess?", tasks, summarize)
    >>> with TemporaryDirectory() as folder:
    ...     made = run_experiment(experiment, Settings(), Path(folder))
    >>> [file.name for file in made.files], round(made.rows[0].mean, 2)
    (['mine.csv'], 0.81)
    """
    tasks = list(experiment.tasks(settings))
    name = f"{experiment.name}-quick" if settings.quick else experiment.name
    stored = ResultsFile(out / "results" / f"{name}.jsonl", fingerprint(tasks))
    todo = [task for task in tasks if not stored.has(task.key)]
    done, failures = len(tasks) - len(todo), []
    progress(done, len(tasks), None)
    for outcome in _outcomes(todo, 1 if experiment.timed else jobs):
        if isinstance(outcome, Failure):
            failures.append(outcome)
        else:
            stored.add(outcome)
        done += 1
        progress(done, len(tasks), outcome.key)
    results = [stored.get(task.key) for task in tasks if stored.has(task.key)]
    rows = experiment.summarize(results)
    files = [write_table(rows, out / f"{name}.csv")]
    if experiment.draw is not None and results:
        files += write_figure(experiment.draw(results, settings), out / name)
    return Reproduction(rows, files, failures)


def _outcomes(tasks: Sequence[Task], jobs: int) -> Iterator[Result | Failure]:
    if jobs == 1:
        yield from map(_run_task, tasks)
        return
    # One BLAS thread each: the processes would otherwise wait for one another's threads.
    with joblib.parallel_config("loky", inner_max_num_threads=1):
        parallel = joblib.Parallel(n_jobs=jobs, return_as="generator_unordered", batch_size=1)
        yield from parallel(joblib.delayed(_run_task)(task) for task in tasks)


def _run_task(task: Task) -> Result | Failure:
    try:
        with warnings.catch_warnings():
            for category in TOLD_BY_NUMBERS:
                warnings.simplefilter("ignore", category)
            values = task.run(**task.arguments)
    except (MissingExtraError, FileNotFoundError):
        raise  # every other task would fail alike
    except (FairPCAError, ValueError, ArithmeticError, RuntimeError) as error:
        return Failure(task.key, f"{type(error).__name__}: {error}")
    return Result(task.key, {metric: float(value) for metric, value in values.items()})
