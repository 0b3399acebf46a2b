"""Files that are whole or not there."""

from __future__ import annotations

import errno
import os
import secrets
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from ..errors import ExistingFileError


@contextmanager
def whole_file(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Give an empty draft beside a file to write to, and put it in the file's place in one step.

    Folders on the way are made, links are followed. The draft, which nobody but the user may read,
    is removed where the block raises. A reader sees the old file, or the whole new one, after a
    loss of power too, and nothing else.
    """
    given, path = Path(path), Path(os.path.realpath(path))
    if path.is_symlink():
        raise OSError(errno.ELOOP, "is a link to itself", str(given))
    if is_no_plain_file(path) and not path.is_dir():  # of a folder the system says what is wrong
        raise OSError(errno.EINVAL, "is a device or a pipe, which a file would replace", str(given))
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_name(f".{path.name[:40]}.{secrets.token_hex(4)}")
    handle = os.open(draft, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o666)
    rights = stat.S_IMODE(os.fstat(handle).st_mode)  # as the user's umask has it
    os.close(handle)
    try:
        draft.chmod(0o600)
        yield draft
        draft.chmod(_rights_after(draft, path, rights))
        _sync(draft, os.O_RDWR)
        os.replace(draft, path)
    finally:
        draft.unlink(missing_ok=True)
    with suppress(OSError):  # not every system can
        _sync(path.parent, os.O_RDONLY)


def keep_existing(*paths: str | os.PathLike[str], overwrite: bool) -> None:
    """Raise for files that are there already, unless they are to be replaced."""
    for path in paths:
        there = os.path.lexists(path) and not is_no_plain_file(Path(path))  # an error later
        if there and not overwrite:
            raise ExistingFileError(
                f"{os.fspath(path)} exists and is kept. Pass overwrite=True to replace it, or "
                f"another name."
            )


def is_no_plain_file(path: Path) -> bool:
    """Return whether something has this name that is no plain file: a pipe, a device, a folder."""
    with suppress(OSError):  # it is not there, or what follows says why it cannot be
        return not stat.S_ISREG(path.stat().st_mode)  # asked once: others may replace it meanwhile
    return False


def _rights_after(draft: Path, path: Path, rights: int) -> int:
    """Return who may use a file: those who could use the old one, but nobody of another group."""
    with suppress(FileNotFoundError):
        before = path.stat()
        same_group = before.st_gid == draft.stat().st_gid
        return stat.S_IMODE(before.st_mode) & (0o7777 if same_group else ~stat.S_IRWXG)
    return rights


def _sync(path: Path, flags: int) -> None:
    handle = os.open(path, flags)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
