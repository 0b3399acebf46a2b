"""Files that are whole or not there."""

from __future__ import annotations

import errno
import os
import stat
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_ONE_AT_A_TIME = threading.Lock()


@contextmanager
def whole_file(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Give an empty draft beside a file to write to, and put it in the file's place in one step.

    Folders on the way are made. The draft, which nobody but the user may read, is removed where
    the block raises: a reader sees the old file, or the whole new one, and nothing else.
    """
    path = Path(path)
    if is_no_plain_file(path) and not path.is_dir():  # of a folder the system says what is wrong
        raise OSError(errno.EINVAL, "is a device or a pipe, which a file would replace", str(path))
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(
        dir=path.parent, prefix=f".{path.name[:40]}."
    )  # names have an end
    os.close(handle)
    draft = Path(name)
    try:
        yield draft
        draft.chmod(_mode_of(path))
        draft.replace(path)
    except BaseException:
        draft.unlink(missing_ok=True)
        raise


def is_no_plain_file(path: Path) -> bool:
    """Return whether something has this name that is no plain file: a pipe, a device, a folder."""
    try:
        kind = path.stat().st_mode  # asked once: another process may replace the file meanwhile
    except OSError:
        return False  # not there, or what follows says why it cannot be
    return not stat.S_ISREG(kind)


def _mode_of(path: Path) -> int:
    """Return who may do what with a file: as before, or as the user's umask has it for new ones."""
    try:
        return stat.S_IMODE(path.stat().st_mode)
    except FileNotFoundError:
        # The mask can only be read by setting it: to what lets nobody in, if a thread looks now.
        with _ONE_AT_A_TIME:  # two threads would restore each other's
            mask = os.umask(0o077)
            os.umask(mask)
        return 0o666 & ~mask
