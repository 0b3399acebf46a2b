"""Tests are collected once; each mutant gets a fork that runs those which execute its lines.

The fork stops at the first failure. Tests near the mutated module and quick tests come first.
"""

from __future__ import annotations

import os
import shutil
import signal
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from .measuring import Baseline, each, in_forks, measure, silence
from .mutants import Mutant
from .patching import CannotBePatched, put_in_place

KILLED, SURVIVED, IMPOSSIBLE = 0, 7, 8
"""Exit states of a fork; anything else is a crash, which kills as well."""


class MutationRun:
    """A pytest plugin that runs mutants in place of the tests.

    Parameters
    ----------
    mutants : list of Mutant
        What to run.
    processes : int
        How many forks at a time.
    test_seconds : float
        The tests of one mutant are cut off after this much of their normal time.
    done : callable
        Called with each mutant and its outcome.
    """

    def __init__(
        self,
        mutants: Sequence[Mutant],
        *,
        processes: int,
        test_seconds: float,
        done: Callable[[Mutant, str], None],
    ) -> None:
        self.mutants = mutants
        self.processes = processes
        self.test_seconds = test_seconds
        self.done = done
        self.baseline = Baseline()
        self._scratch = Path(tempfile.mkdtemp(prefix="mutation-"))

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection(self, session: pytest.Session) -> None:
        """Property tests stop at the first example that fails, and may be slow."""
        from hypothesis import HealthCheck, Phase, settings  # pytest wants to import it first

        settings.register_profile(
            "mutation",
            settings(),
            phases=(Phase.explicit, Phase.generate),
            suppress_health_check=list(HealthCheck),
            database=None,
        )
        settings.load_profile("mutation")

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        """Run all tests once, then the mutants."""
        if session.testsfailed:
            raise session.Interrupted("some tests could not be collected")
        try:
            parts = [session.items[i :: self.processes] for i in range(self.processes)]
            for part in in_forks(self._scratch, measure, [(p, self.mutants) for p in parts if p]):
                self.baseline.seconds |= part.seconds
                self.baseline.failed += part.failed
                self.baseline.lines |= part.lines
            failed = "\n  ".join(["", *self.baseline.failed])
            sys.stdout.write(
                f"{len(self.baseline.seconds)} tests, {sum(self.baseline.seconds.values()):.0f} s; "
                f"{len(self.baseline.failed)} fail without any mutant and are left out{failed}\n"
            )
            self._run(session)
        finally:
            shutil.rmtree(self._scratch, ignore_errors=True)
        return True

    def _run(self, session: pytest.Session) -> None:
        items = {item.nodeid: item for item in session.items}
        waiting = list(reversed(self.mutants))
        running: dict[int, tuple[Mutant, float, Path]] = {}
        while waiting or running:
            while waiting and len(running) < self.processes:
                mutant = waiting.pop()
                names = self._tests_of(mutant)
                if not names:
                    self.done(mutant, "not tested")
                    continue
                normal = sum(self.baseline.seconds[name] for name in names)
                folder = Path(tempfile.mkdtemp(dir=self._scratch))
                pid = os.fork()
                if pid == 0:
                    _test(mutant, [items[name] for name in names], folder)
                running[pid] = mutant, time.monotonic() + 20.0 + 6.0 * normal, folder
            for pid, (mutant, deadline, folder) in list(running.items()):
                ended, status = os.waitpid(pid, os.WNOHANG)
                late = not ended and time.monotonic() > deadline
                if late:
                    os.killpg(pid, signal.SIGKILL)
                    os.waitpid(pid, 0)
                if ended or late:
                    del running[pid]
                    shutil.rmtree(folder, ignore_errors=True)
                    self.done(mutant, "timed out" if late else _outcome(status))
            time.sleep(0.005)

    def _tests_of(self, mutant: Mutant) -> list[str]:
        """Return the tests to run: those that execute the statement, nearest and quickest first."""
        first, last = mutant.lines
        package = mutant.module.split(".")[1]
        chosen = []
        for name, by_module in self.baseline.lines.items():
            lines = by_module.get(mutant.module, set())
            if lines and (not mutant.function or any(first <= n <= last for n in lines)):
                near = package in name.partition("::")[0]
                chosen.append((not near, self.baseline.seconds[name], name))
        names, seconds = [], 0.0
        for _, duration, name in sorted(chosen):
            if seconds + duration <= self.test_seconds:
                names.append(name)
                seconds += duration
        return names


def _outcome(status: int) -> str:
    code = os.waitstatus_to_exitcode(status)
    return {SURVIVED: "survived", IMPOSSIBLE: "impossible"}.get(code, "killed")


def _test(mutant: Mutant, items: list[pytest.Item], folder: Path) -> None:
    """In a fork: put the mutant in place, run the tests, exit with the outcome."""
    code = KILLED
    try:
        os.setpgid(0, 0)
        os.environ["PYTEST_DEBUG_TEMPROOT"] = str(folder)
        silence()
        put_in_place(mutant)
        code = SURVIVED if all(passed for _, passed, _ in each(items)) else KILLED
    except CannotBePatched:
        code = IMPOSSIBLE
    except BaseException:  # such as a constant without which the module cannot be imported
        code = KILLED
    finally:
        os._exit(code)
