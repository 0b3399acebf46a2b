"""Drafts of a file that several processes or threads may be writing at once.

Who writes a draft holds a lock on it until it is in place, and the system drops the locks of
processes that are killed: a draft that can be locked is nobody's.
"""

from __future__ import annotations

import contextlib
import os
import sys
import time
from collections.abc import Iterator
from glob import escape
from pathlib import Path
from typing import IO

from .._numerics import whole_file

ABANDONED_AFTER = 3600.0
"""Seconds; where there are no locks, an older draft is nobody's."""

ATTEMPTS = 3


def write_shared(path: Path, *pieces: bytes) -> None:
    """Write a file in one step, also where others write it, and remove its drafts, meanwhile.

    Raises
    ------
    FileNotFoundError
        If others removed the draft again and again.
    """
    for attempt in range(ATTEMPTS):
        try:
            _write(path, pieces)
        except FileNotFoundError:  # the draft was taken for nobody's before it was locked
            if attempt == ATTEMPTS - 1 or not path.parent.is_dir():
                raise
        else:
            return


def _write(path: Path, pieces: tuple[bytes, ...]) -> None:
    with contextlib.ExitStack() as until_in_place, whole_file(path) as draft:
        stream = draft.open("r+b")
        until_in_place.callback(stream.close)
        with contextlib.suppress(OSError):  # a file system without locks
            _lock(stream, wait=True)
        for piece in pieces:
            stream.write(piece)
        stream.flush()
        os.fsync(stream.fileno())
        if sys.platform == "win32":
            stream.close()  # what is open cannot be put in place there


def remove_drafts(path: Path) -> None:
    """Remove the drafts of a file that killed processes left, and no others."""
    for draft in path.parent.glob(f".{escape(path.name)}.????????"):
        with contextlib.suppress(OSError), _if_abandoned(draft) as abandoned:
            if abandoned:
                draft.unlink()


@contextlib.contextmanager
def _if_abandoned(draft: Path) -> Iterator[bool]:
    old = time.time() - draft.stat().st_mtime > ABANDONED_AFTER
    with draft.open("rb") as stream:
        try:
            locked = _lock(stream, wait=False)
        except BlockingIOError:
            yield False
            return
        except OSError:
            locked = False
        yield locked or old


def _lock(stream: IO[bytes], *, wait: bool) -> bool:
    """Lock a file until it is closed; return whether there are locks on this system."""
    if sys.platform == "win32":
        return False
    import fcntl

    fcntl.flock(stream, fcntl.LOCK_EX if wait else fcntl.LOCK_EX | fcntl.LOCK_NB)
    return True
