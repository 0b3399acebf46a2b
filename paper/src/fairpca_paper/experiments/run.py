"""Run the tasks of an experiment, in parallel where that is honest, and keep what is done."""

from __future__ import annotations

import csv
import hashlib
import json
import math
import multiprocessing
import os
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import astuple, dataclass, fields
from functools import cache
from importlib.metadata import version
from pathlib import Path
from threading import Thread
from time import sleep
from typing import Any

from joblib import Parallel, cpu_count, delayed
from sklearn.exceptions import ConvergenceWarning
from threadpoolctl import threadpool_limits

from fairpca.errors import FairPCAError, ResidualWarning

from ..methods import FewerComponentsWarning, NothingLeftToRemoveWarning
from .experiment import Experiment, Key, Result, Settings, Summary, Task

DIGITS = 6
"""Significant digits of the tidy table."""

Progress = Callable[[int, int, Key | None], None]
"""Told how many tasks are done, of how many, and which one came last."""

TOLD_BY_NUMBERS = (
    FewerComponentsWarning,
    NothingLeftToRemoveWarning,
    ConvergenceWarning,
    ResidualWarning,
)
"""A method that does not reach its aim warns. In a table its numbers show it, row by row."""


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
    >>> from fairpca_paper.experiments import Failure
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
    >>> from fairpca_paper.experiments import Failure, Reproduction
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
        Number of processes, at most one per core; times are measured by one, whatever this
        says.
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
    >>> from fairpca_paper.experiments import Experiment, Settings, Summary, Task, run_experiment
    >>> def accuracy(draw):
    ...     return {"accuracy": 0.8 + draw / 100}
    >>> def tasks(settings):
    ...     return [Task({"draw": draw}, accuracy, {"draw": draw}) for draw in range(3)]
    >>> def summarize(results):
    ...     mean = sum(result.values["accuracy"] for result in results) / len(results)
    ...     return [Summary("mine", None, "coin", "accuracy", mean, std=0.0)]
    >>> experiment = Experiment("mine", "How good is a coin?", tasks, summarize)
    >>> with TemporaryDirectory() as folder:
    ...     made = run_experiment(experiment, Settings(), Path(folder))
    >>> [file.name for file in made.files], round(made.rows[0].mean, 2)
    (['mine.csv'], 0.81)
    """
    tasks = list(experiment.tasks(settings))
    name = f"{experiment.name}-quick" if settings.quick else experiment.name
    stored = _ResultsFile(out / "results" / f"{name}.jsonl", _fingerprint(tasks))
    todo = [task for task in tasks if stored.find(task.key) is None]
    n_done, failures = len(tasks) - len(todo), []
    progress(n_done, len(tasks), None)
    for outcome in _outcomes(todo, 1 if experiment.timed else min(jobs, cpu_count())):
        if isinstance(outcome, Failure):
            failures.append(outcome)
        else:
            stored.add(outcome)
        n_done += 1
        progress(n_done, len(tasks), outcome.key)
    results = [done for task in tasks if (done := stored.find(task.key))]
    rows = experiment.summarize(results)
    files = [_write_table(rows, out / f"{name}.csv")]
    if experiment.draw is not None and results:
        files += _write_figure(experiment.draw(results, settings), out / name)
    return Reproduction(rows, files, failures)


def _outcomes(tasks: Sequence[Task], jobs: int) -> Iterator[Result | Failure]:
    if jobs == 1:
        return map(_run_task, tasks)
    parallel = Parallel(jobs, return_as="generator_unordered", batch_size=1)
    outcomes: Iterator[Result | Failure] = parallel(
        delayed(_run_in_process)(os.getpid(), task) for task in tasks
    )
    return outcomes


def _run_in_process(parent: int, task: Task) -> Result | Failure:
    end_with(parent)
    with threadpool_limits(1):  # the processes have the cores
        return _run_task(task)


@cache
def end_with(pid: int) -> None:
    """End this process soon after its parent, if that is its parent."""
    parent = multiprocessing.parent_process()
    if parent is None or parent.pid != pid:
        return

    def wait() -> None:
        while os.getppid() == pid if parent.sentinel is None else parent.is_alive():
            sleep(0.5)
        os._exit(1)

    Thread(target=wait, name="fairpca-parent", daemon=True).start()


def _run_task(task: Task) -> Result | Failure:
    try:
        with warnings.catch_warnings():
            for category in TOLD_BY_NUMBERS:
                warnings.simplefilter("ignore", category)
            values = task.run(**task.arguments)
    except (ImportError, FileNotFoundError):
        raise  # every other task would fail alike
    except (FairPCAError, ValueError, ArithmeticError, RuntimeError) as error:
        return Failure(task.key, f"{type(error).__name__}: {error}")
    return Result(task.key, {metric: float(value) for metric, value in values.items()})


def _fingerprint(tasks: Iterable[Task]) -> str:
    """Return a text that changes when the functions or versions of an earlier run differ."""
    kinds = sorted({f"{task.run.__module__}.{task.run.__qualname__}" for task in tasks})
    versions = [f"{name} {version(name)}" for name in ("fairpca", "numpy", "scikit-learn")]
    return hashlib.sha256("; ".join([*kinds, *versions]).encode()).hexdigest()[:16]


class _ResultsFile:
    """The results of an experiment on disk, to go on where an interrupted run was: JSON lines.

    The first holds the fingerprint `mark`; a file with another one is set aside.
    """

    def __init__(self, path: Path, mark: str) -> None:
        self.path, self.mark = path, mark
        self._results = self._read()

    def find(self, key: Key) -> Result | None:
        """Return the result of the task with this key, if it is done."""
        return self._results.get(_line(key))

    def add(self, result: Result) -> None:
        """Append a result; it is on disk when this returns."""
        self._results[_line(result.key)] = result
        new = not self.path.exists()
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with self.path.open("a", encoding="utf-8", newline="\n") as file:
            if new:
                file.write(json.dumps({"fingerprint": self.mark}) + "\n")
            values = {m: None if math.isnan(v) else v for m, v in result.values.items()}
            file.write(json.dumps({"key": dict(result.key), "values": values}) + "\n")
            file.flush()
            os.fsync(file.fileno())

    def _read(self) -> dict[str, Result]:
        if not self.path.exists():
            return {}
        lines = self.path.read_text(encoding="utf-8").splitlines(keepends=True)
        whole = {line: entry for line in lines if (entry := _parsed(line))}
        head, *entries = whole.values() or [{}]
        if head.get("fingerprint") != self.mark:
            self.path.replace(self.path.with_suffix(".old"))
            return {}
        if len(whole) < len(lines):  # a run was killed while it wrote: keep whole lines only
            with _whole_file(self.path) as draft:
                draft.write_text("".join(whole), encoding="utf-8", newline="\n")
        found = {}
        for entry in entries:
            values = {m: math.nan if v is None else v for m, v in entry["values"].items()}
            found[_line(entry["key"])] = Result(entry["key"], values)
        return found


def _line(key: Key) -> str:
    return json.dumps(dict(key), sort_keys=True)


def _parsed(line: str) -> dict[str, Any] | None:
    try:
        entry = json.loads(line) if line.endswith("\n") else None
    except ValueError:
        return None
    return entry if isinstance(entry, dict) else None


@contextmanager
def _whole_file(path: Path) -> Iterator[Path]:
    """Give a draft to write to, which takes the place of the file when the block ends well."""
    draft = path.with_name(f".{path.name}.draft")
    path.parent.mkdir(parents=True, exist_ok=True)
    try:
        yield draft
        draft.replace(path)
    finally:
        draft.unlink(missing_ok=True)


def _write_table(rows: Sequence[Summary], path: Path) -> Path:
    """Write the tidy table, one number per row, sorted as given."""
    names = [field.name for field in fields(Summary)]
    if all(row.parameter is None for row in rows):
        names.remove("parameter")
    with _whole_file(path) as draft, draft.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(names)
        for row in rows:
            writer.writerow([_text(v) for v in astuple(row)[: len(names)]])
    return path


def _write_figure(figure: Any, stem: Path) -> list[Path]:
    """Write a matplotlib figure as PNG and PDF."""
    files = []
    # no date in the file: the same numbers give the same bytes
    for kind, metadata in (("png", None), ("pdf", {"CreationDate": None})):
        files.append(stem.with_name(f"{stem.name}.{kind}"))
        with _whole_file(files[-1]) as draft:
            figure.savefig(draft, format=kind, metadata=metadata)
    return files


def _text(value: Any) -> str:
    if value is None:
        return ""
    return f"{value:.{DIGITS}g}" if isinstance(value, float) else str(value)
