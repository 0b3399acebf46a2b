"""The process in which inputs are tried: it may die, and somebody watches it.

It tells what it did on a pipe of its own, a line of JSON at a time, and which case it is at in a
file, which is still there when it is not.
"""

from __future__ import annotations

import faulthandler
import json
import os
import shutil
import sys
import tempfile
import time
import traceback
from pathlib import Path
from typing import Any

from .cases import Case, Failed, Target, numbered
from .limits import EXTRA_MEMORY, limit_memory, peak_memory, timed
from .targets import TARGETS
from .watching import learning, watched

OUT_OF_MEMORY = 66
"""Exit code of a process that has grown too much: the next input needs a fresh one."""


def tried(target: Target, case: Case, folder: Path) -> tuple[str, str, str]:
    """Try a case; return what came of it, and of a failure its name and its story."""
    place = folder / "case"
    shutil.rmtree(place, ignore_errors=True)
    place.mkdir()
    before = os.getcwd()
    try:
        os.chdir(place)
        tempfile.tempdir = str(place)  # where a pipe may be kept
        with watched(place), timed(target.seconds):
            return target.check(case, place), "", ""
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # whatever else it is, it is a failure
        return "failed", signature(error), "".join(traceback.format_exception(error))[-6000:]
    finally:
        tempfile.tempdir = None
        os.chdir(before)


def signature(error: BaseException) -> str:
    """Return the same text for failures that are probably the same."""
    frames = traceback.extract_tb(error.__traceback__)
    ours = [f for f in frames if "/fairpca/" in f.filename] or frames[-1:]
    where = f"{Path(ours[-1].filename).name}:{ours[-1].name}" if ours else ""
    told = str(error)[:60] if isinstance(error, Failed) else ""
    return f"{type(error).__name__} in {where} {told}".strip()


def work(name: str, folder: Path, seed: int, first: int, last: int, seconds: float) -> int:
    """Try cases until there are no more, or time is up."""
    target, start = TARGETS[name](), time.monotonic()
    with (
        os.fdopen(3, "w", buffering=1, encoding="utf-8") as pipe,
        (folder / "at").open("w", encoding="utf-8") as at,
    ):

        def tell(**what: Any) -> None:
            pipe.write(json.dumps(what) + "\n")

        target.load_seeds(folder / "seeds")
        with learning():
            target.warm_up(Path(tempfile.mkdtemp(dir=folder)))
        limit_memory()
        warm = peak_memory()
        for index in range(first, last):
            at.seek(0)
            at.write(f"{index:012d}")
            at.flush()
            case = target.case(numbered(name, seed, index))
            outcome, which, story = tried(target, case, folder)
            grown = peak_memory() - warm
            if grown > EXTRA_MEMORY and outcome != "failed":
                outcome, which = "failed", "took too much memory"
                story = f"The process has grown by {grown / 2**20:.0f} MB."
            tell(index=index, outcome=outcome, which=which, story=story)
            if grown > EXTRA_MEMORY:
                return OUT_OF_MEMORY
            if time.monotonic() - start > seconds:
                break
    return 0


if __name__ == "__main__":
    faulthandler.enable()
    _, named, where, of, begin, end, lasting = sys.argv
    sys.exit(work(named, Path(where), int(of), int(begin), int(end), float(lasting)))
