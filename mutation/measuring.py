"""All tests are run once without any mutant, to learn what each executes and how long it takes."""

from __future__ import annotations

import os
import pickle
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import coverage
import pytest
from _pytest.runner import runtestprotocol

from .mutants import Mutant


@dataclass
class Baseline:
    """What each test executes, and how long it takes, without any mutant."""

    seconds: dict[str, float] = field(default_factory=dict)
    failed: list[str] = field(default_factory=list)
    lines: dict[str, dict[str, set[int]]] = field(default_factory=dict)
    """By test, then by module: the lines executed."""


def measure(items: Sequence[pytest.Item], mutants: Sequence[Mutant]) -> Baseline:
    """In a fork: run all tests and note the lines that each executes."""
    baseline = Baseline()
    files = {str(sys.modules[m.module].__file__): m.module for m in mutants}
    tracer = coverage.Coverage(data_file=None, include=list(files), config_file=False)
    tracer.start()
    for item, passed, seconds in each(items, before=lambda i: tracer.switch_context(i.nodeid)):
        if passed:
            baseline.seconds[item.nodeid] = seconds
        else:
            baseline.failed.append(item.nodeid)
    tracer.stop()
    for file, module in files.items():
        for line, names in tracer.get_data().contexts_by_lineno(file).items():
            for name in names:
                if name in baseline.seconds:
                    modules = baseline.lines.setdefault(name, {})
                    modules.setdefault(module, set()).add(line)
    return baseline


def each(
    items: Sequence[pytest.Item], before: Callable[[pytest.Item], object] = lambda item: None
) -> Iterator[tuple[pytest.Item, bool, float]]:
    """Run tests one after the other; yield whether each passed, and its seconds."""
    for item, following in zip(items, [*items[1:], None], strict=True):
        before(item)
        began = time.perf_counter()
        reports = runtestprotocol(item, log=False, nextitem=following)
        yield item, not any(report.failed for report in reports), time.perf_counter() - began


def in_forks(folder: Path, work: Callable[..., Any], jobs: Sequence[tuple[Any, ...]]) -> list[Any]:
    """Return what `work` returns in forked processes, so that this one stays as it is."""
    forks = []
    for i, job in enumerate(jobs):
        pid = os.fork()
        if pid == 0:
            silence()
            try:
                answer = work(*job)
            except BaseException as error:
                answer = RuntimeError(f"{type(error).__name__}: {error}")
            (folder / f"answer-{i}").write_bytes(pickle.dumps(answer))
            os._exit(0)
        forks.append(pid)
    for pid in forks:
        os.waitpid(pid, 0)
    answers = [pickle.loads((folder / f"answer-{i}").read_bytes()) for i in range(len(jobs))]
    for answer in answers:
        if isinstance(answer, RuntimeError):
            raise answer
    return answers


def silence() -> None:
    """Send what tests print, in this process, nowhere."""
    nowhere = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(nowhere, stream)
