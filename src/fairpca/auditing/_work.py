"""Many small jobs on all cores, with word of how far they are."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from threading import Thread
from time import sleep
from typing import Any

from joblib import Parallel, delayed

from .._numerics import one_thread

Progress = Callable[[int, int, str], None]
"""Called with the number of jobs done, the number of all, and what was done last."""


@dataclass(frozen=True, eq=False)
class Job:
    """A call to be made somewhere.

    Parameters
    ----------
    what : str
        In words, for people who wait.
    function : callable
        Of a module, so that another process can find it.
    arguments : tuple
    """

    what: str
    function: Callable[..., Any]
    arguments: tuple[Any, ...]

    def run(self) -> Any:
        """Return the result, computed by one thread."""
        with one_thread():  # several small problems at once beat one on all cores
            return self.function(*self.arguments)


class Workers:
    """Runs jobs, side by side where that is allowed.

    Parameters
    ----------
    n_jobs : int or None
        Number of processes; None is one per core, 1 is this process. They start at once and import
        what they need while the caller reads the table.
    progress : callable, optional
    """

    def __init__(self, n_jobs: int | None, progress: Progress | None = None) -> None:
        self.n_jobs = n_jobs if n_jobs is not None else _cores()
        self._progress = progress
        self._done, self._total = 0, 0
        self._starting = Thread(target=self._start, daemon=True)
        if self.n_jobs > 1:
            self._starting.start()

    def expect(self, n_jobs: int) -> None:
        """Say how many jobs there will have been in the end."""
        self._total = n_jobs

    def _start(self) -> None:
        Parallel(n_jobs=self.n_jobs)(delayed(_ready)(i) for i in range(self.n_jobs))

    def run(self, jobs: Sequence[Job]) -> list[Any]:
        """Return the results in the order of the jobs."""
        results: list[Any] = [None] * len(jobs)
        if self.n_jobs == 1:
            for i, job in enumerate(jobs):
                results[i] = job.run()
                self._say(job)
            return results
        self._starting.join()
        parallel = Parallel(n_jobs=self.n_jobs, return_as="generator_unordered")
        for i, result in parallel(delayed(_numbered)(i, job) for i, job in enumerate(jobs)):
            results[i] = result
            self._say(jobs[i])
        return results

    def _say(self, job: Job) -> None:
        self._done += 1
        if self._progress is not None:
            self._progress(self._done, self._total, job.what)


def _ready(i: int) -> int:
    sleep(0.05)  # so that every process takes one of these, and imports this package for it
    return i


def _numbered(i: int, job: Job) -> tuple[int, Any]:
    return i, job.run()


def _cores() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
