"""Try an input where it can do no harm: in a folder of its own, watched, with little time."""

from __future__ import annotations

import os
import shutil
import tempfile
import traceback
from pathlib import Path

from .cases import Case, Failed, Target
from .limits import little_memory, timed
from .watching import watched


def tried(target: Target, case: Case, folder: Path) -> tuple[str, str, str]:
    """Try a case; return what came of it, and of a failure its name and its story."""
    place = folder / "case"
    shutil.rmtree(place, ignore_errors=True)
    place.mkdir()
    before = os.getcwd()
    try:
        os.chdir(place)
        tempfile.tempdir = str(place)  # where a pipe may be kept
        with watched(place), timed(target.seconds), little_memory():
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
    ours = [f for f in frames if "/src/fairpca/" in f.filename] or frames[-1:]
    where = f"{Path(ours[-1].filename).name}:{ours[-1].name}" if ours else ""
    told = str(error)[:60] if isinstance(error, Failed) else ""
    return f"{type(error).__name__} in {where} {told}".strip()
