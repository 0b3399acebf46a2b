"""Files that are whole or not there."""

from __future__ import annotations

import errno
import hashlib
import os
import secrets
import stat
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from glob import escape
from pathlib import Path

from .threads import surely

ABANDONED_AFTER = 3600.0
"""Seconds; where there are no locks, an older draft is nobody's."""

LONGEST = 200
"""Bytes of a name that a draft can bear as well; file systems allow 255 in all."""


@contextmanager
def whole_file(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Give an empty draft beside a file to write to, and put it in the file's place in one step.

    Folders on the way are made, links are followed. The draft, which nobody but the user may read,
    is removed where the block raises, and by who writes the file next where a process was killed: a
    reader sees the old file, or the whole new one, after a loss of power too, and nothing else.
    """
    given, path = Path(path), Path(os.path.realpath(path))
    if path.is_symlink():
        raise OSError(errno.ELOOP, "is a link to itself", str(given))
    if is_no_plain_file(path) and not path.is_dir():  # of a folder the system says what is wrong
        raise OSError(errno.EINVAL, "is a device or a pipe, which a file would replace", str(given))
    path.parent.mkdir(parents=True, exist_ok=True)
    remove_drafts(path)
    draft = path.with_name(f"{_beginning(path)}{secrets.token_hex(4)}")
    with surely(lambda: draft.unlink(missing_ok=True)):
        handle = _opened(draft, 0o600 if path.exists() else 0o666)
        try:
            rights = stat.S_IMODE(os.fstat(handle).st_mode)  # as the user's umask has it
            draft.chmod(0o600)
            yield draft
            _give_rights(draft, path, rights)
            _sync(draft, os.O_RDWR)
            if sys.platform != "win32":  # what is open cannot be put in place there
                draft.replace(path)
        finally:
            os.close(handle)
        if sys.platform == "win32":
            _replace_when_free(draft, path)
    with suppress(OSError):  # not every system can
        _sync(path.parent, os.O_RDONLY)


def remove_drafts(path: Path) -> None:
    """Remove the drafts of a file that killed processes left, and no others.

    Who writes a draft holds a lock on it until it is in place: one that can be locked is nobody's.
    """
    for draft in path.parent.glob(f"{escape(_beginning(path))}????????"):
        with suppress(OSError), draft.open("rb") as stream:  # of somebody else, or locked
            old = time.time() - draft.stat().st_mtime > ABANDONED_AFTER
            if _lock(stream.fileno(), wait=False) or old:
                if sys.platform == "win32":
                    stream.close()  # what is open cannot be removed there
                draft.unlink()


def is_no_plain_file(path: Path) -> bool:
    """Return whether something has this name that is no plain file: a pipe, a device, a folder."""
    with suppress(OSError):  # it is not there, or what follows says why it cannot be
        return not stat.S_ISREG(path.stat().st_mode)  # asked once: others may replace it meanwhile
    return False


def _beginning(path: Path) -> str:
    name = os.fsencode(path.name)
    known = path.name if len(name) <= LONGEST else hashlib.sha256(name).hexdigest()
    return f".{known}.fairpca-"


def _opened(draft: Path, mode: int) -> int:
    """Return a handle of a new file that is locked, where there are locks, until it is closed."""
    while True:
        handle = os.open(draft, os.O_RDWR | os.O_CREAT | os.O_EXCL, mode)
        _lock(handle, wait=True)
        if draft.exists():
            return handle
        os.close(handle)  # taken for nobody's before it was locked


def _lock(handle: int, *, wait: bool) -> bool:
    """Lock a file until it is closed; return whether there are locks, raise if others have it."""
    if sys.platform == "win32":
        return False
    import fcntl

    try:
        fcntl.flock(handle, fcntl.LOCK_EX if wait else fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise
    except OSError:
        return False
    return True


def _give_rights(draft: Path, path: Path, rights: int) -> None:
    """Let those use a new file who could use the old one; nobody of another group."""
    if sys.platform == "win32":  # what may be done with a file is inherited from its folder there
        return
    with suppress(FileNotFoundError):
        before = path.stat()
        rights = stat.S_IMODE(before.st_mode)
        try:
            if before.st_gid != draft.stat().st_gid:
                os.chown(draft, -1, before.st_gid)
        except OSError:
            rights &= ~stat.S_IRWXG
    draft.chmod(rights)


def _replace_when_free(draft: Path, path: Path) -> None:
    """Replace a file that others may have open for a moment, which Windows does not like."""
    for _ in range(20):
        with suppress(PermissionError):
            draft.replace(path)
            return
        time.sleep(0.1)
    draft.replace(path)


def _sync(path: Path, flags: int) -> None:
    handle = os.open(path, flags)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
