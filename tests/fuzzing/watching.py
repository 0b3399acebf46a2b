"""What inputs must not do: run anything, reach anything, write elsewhere."""

from __future__ import annotations

import contextlib
import os
import sys
import sysconfig
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from .cases import Failed

NEVER = {
    *("os.system", "os.exec", "os.posix_spawn", "os.spawn", "os.startfile", "subprocess.Popen"),
    *("pickle.find_class", "socket.connect", "socket.bind", "socket.getaddrinfo", "urllib.Request"),
    *("ctypes.dlopen", "code.__new__", "function.__new__", "pty.spawn", "webbrowser.open"),
    *("smtplib.connect", "ftplib.connect", "http.client.connect", "sqlite3.connect"),
}
"""Events of Python's audit hooks (PEP 578) that no input may cause."""

OPTIONAL = {"torch", "cupy"}
"""Libraries that the package imports by these names when a model asks for a device."""

ON_FILES = {
    **dict.fromkeys(("os.remove", "os.rmdir", "os.mkdir", "os.chmod", "os.chown"), (0,)),
    **dict.fromkeys(("os.truncate", "os.utime", "shutil.rmtree"), (0,)),
    **dict.fromkeys(("os.rename", "shutil.move"), (0, 1)),
    **dict.fromkeys(("os.link", "os.symlink", "shutil.copyfile", "shutil.copytree"), (1,)),
}
"""Events, and which of their arguments must be paths in the folder of the case."""

TRUSTED = tuple(
    str(Path(place).resolve())
    for place in {
        *(sysconfig.get_paths()[kind] for kind in ("stdlib", "platstdlib", "purelib", "platlib")),
        Path(__file__).parents[1],
    }
)
"""Code from files in these places is installed, not given."""


class _Watch:
    def __init__(self) -> None:
        self.folder: str | None = None
        self.seen: list[str] = []
        self.known: frozenset[str] = frozenset()
        self.installed = self.learning = False
        self.learnt = set(OPTIONAL)

    def install(self) -> None:
        """Begin to listen; this cannot be undone, so the hook looks whether it is wanted."""
        if not self.installed:
            sys.addaudithook(self.hook)
            self.installed = True

    def hook(self, event: str, arguments: tuple[Any, ...]) -> None:
        if event == "import" and self.learning:
            self.learnt.add(arguments[0].partition(".")[0])
        if self.folder is None:
            return
        wrong = self._wrong(event, arguments)
        if wrong:
            self.seen.append(wrong)
            raise Failed(wrong)

    def _wrong(self, event: str, arguments: tuple[Any, ...]) -> str:
        if event in NEVER and not (event == "code.__new__" and _is_importing()):
            return f"{event} {_short(arguments)}"
        if event == "exec" and not _is_installed(getattr(arguments[0], "co_filename", "")):
            return "" if _made_by_the_library() else f"exec {_short(arguments)}"
        if event == "compile" and not (_is_importing() or _made_by_the_library()):
            return f"compile {_short(arguments)}"
        if event == "import" and arguments[0].partition(".")[0] not in self.known | self.learnt:
            return f"import {_short(arguments)}"
        if event == "open" and _writes(arguments) and not self._is_inside(arguments[0]):
            return f"open for writing {_short(arguments)}"
        touched = ON_FILES.get(event, ())
        if not all(self._is_inside(arguments[i]) for i in touched):
            return f"{event} {_short(arguments)}"
        return ""

    def _is_inside(self, path: Any) -> bool:
        if isinstance(path, int):
            return True  # a file that is open already
        place = os.path.realpath(os.fsdecode(path))
        assert self.folder is not None
        return place == "/dev/null" or place == self.folder or place.startswith(self.folder + "/")


_watch = _Watch()


@contextlib.contextmanager
def watched(folder: Path) -> Iterator[None]:
    """Fail if anything in the block runs a program, opens a connection or writes elsewhere.

    Code that swallows the exception is found out all the same: what was seen is kept. Libraries
    in C that open files by themselves are not seen.
    """
    _watch.install()
    _watch.seen.clear()
    _watch.known = frozenset(name.partition(".")[0] for name in sys.modules)
    _watch.folder = os.path.realpath(folder)
    try:
        yield
    finally:
        _watch.folder = None
    if _watch.seen:
        raise Failed(f"was seen to {_watch.seen[0]}")


@contextlib.contextmanager
def learning() -> Iterator[None]:
    """Remember what valid inputs make libraries import, also what is not installed."""
    _watch.install()
    _watch.learning = True
    try:
        yield
    finally:
        _watch.learning = False


def _writes(arguments: tuple[Any, ...]) -> bool:
    mode, flags = arguments[1], arguments[2]
    if isinstance(mode, str):
        return any(letter in mode for letter in "wax+")
    return bool(flags & (os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND))


def _is_installed(filename: str) -> bool:
    return filename.startswith("<frozen ") or os.path.realpath(filename).startswith(TRUSTED)


def _is_importing() -> bool:
    frame = sys._getframe(1)
    while frame is not None:
        if frame.f_code.co_filename.startswith("<frozen importlib"):
            return True
        frame = frame.f_back  # type: ignore[assignment]
    return False


def _made_by_the_library() -> bool:
    """Tell whether dataclasses and the like write methods of an installed class.

    `ast.literal_eval` is fine too: it makes a tree of constants and runs nothing. NumPy reads the
    headers of its files with it. And so is jinja2, which compiles the templates of the page.
    """
    frame = sys._getframe(1)
    makers = ("dataclasses.py", "collections/__init__.py", "typing.py", "inspect.py", "enum.py")
    makers += ("/jinja2/environment.py",)
    while frame is not None:
        code = frame.f_code
        if code.co_filename.endswith(makers) or _is_importing():
            return True
        if code.co_filename.endswith("/ast.py") and code.co_name == "literal_eval":
            return True
        frame = frame.f_back  # type: ignore[assignment]
    return False


def _short(arguments: tuple[Any, ...]) -> str:
    return repr(arguments)[:120]
