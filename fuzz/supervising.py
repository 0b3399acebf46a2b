"""One target, from its seeds to its tally: workers are started, watched and replaced."""

from __future__ import annotations

import json
import os
import select
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path

from .cases import Case, numbered
from .results import Tally
from .targets import TARGETS
from .worker import OUT_OF_MEMORY

SILENT = 90.0
"""Seconds without a word after which a worker hangs."""

MOST_FAILURES = 200
"""A target with more is given up: it is broken, not unlucky."""

_one_at_a_time = threading.Lock()
"""Models are fitted in one thread: libraries that import each other in two get in their way."""

Say = Callable[[Tally], None]


def run_target(
    name: str, *, seconds: float, inputs: int, seed: int, failures: Path, say: Say
) -> Tally:
    """Try inputs of a target until time is up or all are tried."""
    tally = Tally(name)
    with tempfile.TemporaryDirectory(prefix=f"fuzz-{name}-") as temporary:
        folder = Path(temporary)
        (folder / "seeds").mkdir()
        with _one_at_a_time:
            TARGETS[name]().prepare(folder / "seeds")
        start = time.monotonic()
        while tally.tried < inputs and (left := seconds - (time.monotonic() - start)) > 0:
            died = _one_worker(tally, folder, seed, inputs, left, failures, say)
            if died:
                words = (folder / "words").read_text(errors="replace", encoding="utf-8")[-3000:]
                if not (folder / "at").exists():
                    raise RuntimeError(f"{name} cannot start: {died}\n{words}")
                _keep(tally, folder, seed, tally.tried, died, f"{died}\n{words}", failures)
                tally.add("failed")
            if tally.failed >= MOST_FAILURES:
                break
        tally.seconds = time.monotonic() - start
    return tally


def _one_worker(
    tally: Tally, folder: Path, seed: int, inputs: int, left: float, failures: Path, say: Say
) -> str:
    """Run a worker to its end; return how it died, if it did."""
    reading, writing = os.pipe()
    command = [sys.executable, "-c", _START, tally.target, str(folder), str(seed)]
    command += [str(tally.tried), str(inputs), str(left)]
    with (folder / "words").open("w", encoding="utf-8") as words:
        process = subprocess.Popen(
            command,
            stdout=words,
            stderr=words,
            stdin=subprocess.DEVNULL,
            pass_fds=(writing,),
            env={**os.environ, "FUZZ_PIPE": str(writing), **_ONE_THREAD},
        )
    os.close(writing)
    with os.fdopen(reading, "r", encoding="utf-8") as pipe:
        while True:
            ready, _, _ = select.select([pipe], [], [], SILENT)
            if not ready:
                process.kill()
                process.wait()
                return f"a hang: not a word for {SILENT:g} seconds"
            line = pipe.readline()
            if not line:
                break
            told = json.loads(line)
            tally.add(told["outcome"])
            if told["outcome"] == "failed":
                _keep(tally, folder, seed, told["index"], told["which"], told["story"], failures)
            say(tally)
    code = process.wait()
    return "" if code in (0, OUT_OF_MEMORY) else f"a crash: the process ended with {code}"


_START = """
import os, runpy, sys
os.dup2(int(os.environ["FUZZ_PIPE"]), 3)
runpy.run_module("fuzz.worker", run_name="__main__", alter_sys=True)
"""
_ONE_THREAD = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}


def _keep(
    tally: Tally, folder: Path, seed: int, index: int, which: str, story: str, failures: Path
) -> None:
    """Make the case again, and keep the shortest of those that fail alike."""
    target = TARGETS[tally.target]()
    target.load_seeds(folder / "seeds")
    case: Case = target.case(numbered(tally.target, seed, index))
    known = tally.failures.get(which)
    if known is None or len(case.content) < known.size:
        if known is not None:
            known.path.unlink(missing_ok=True)
        tally.found(which, case.keep(failures, f"{which}\n{story}"), len(case.content))
