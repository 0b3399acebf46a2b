"""What goes wrong, said in one line, and the files that a command is about to write."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from unicodedata import bidirectional, category

import typer
from rich.console import Console

from .._numerics import is_no_plain_file
from ..errors import FairPCAError

USER_ERROR = 2
INTERRUPTED = 130
BREAKS = "\n\t\r\x85\u2028\u2029"
TURNS = frozenset({"LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI"})
"""Classes of characters that change the direction of writing of others."""


def printable(text: str) -> str:
    r"""Return a text without the characters that command terminals: names of columns are data.

    Nor is there anything that changes the direction of writing, or that has no bytes.

    >>> printable("red \x1b[31m\n")
    'red �[31m '
    """
    shown = (" " if c in BREAKS else "�" if _is_obeyed(c) else c for c in text)
    return "".join(shown)


def _is_obeyed(character: str) -> bool:
    return category(character) in ("Cc", "Cs") or bidirectional(character) in TURNS


def print_line(text: str, *, quiet: bool = False, stderr: bool = False, style: str = "") -> None:
    """Print a line of text, however long; nothing in it is markup."""
    console = Console(quiet=quiet, stderr=stderr, soft_wrap=True)
    console.print(printable(text), style=style, markup=False, highlight=False)


def complain(text: str) -> None:
    """Print a line on standard error, in red."""
    print_line(" ".join(text.split()), stderr=True, style="red")


@contextmanager
def one_clear_line() -> Iterator[None]:
    """Turn what users can mend into one line and exit code 2, without a traceback."""
    try:
        yield
    except (FairPCAError, OSError) as error:
        complain(f"Error: {_reason(error)}")
        raise typer.Exit(USER_ERROR) from None
    except UnicodeEncodeError as error:  # names of files that are no text in any encoding
        complain(f"Error: {error.object[:200]!r} cannot be written as text. Use another name.")
        raise typer.Exit(USER_ERROR) from None
    except KeyboardInterrupt:
        complain("Interrupted; nothing was written.")
        raise typer.Exit(INTERRUPTED) from None


def _reason(error: Exception) -> str:
    if isinstance(error, OSError) and error.strerror and error.filename:
        return f"{error.filename}: {error.strerror}."
    return str(error)


class Refusal(FairPCAError):
    """A file cannot be written, or may not be."""


def beside(path: Path, ending: str) -> Path:
    """Return the name of a file beside another one."""
    if not path.name:
        raise Refusal(f"'{path}' is no name of a file. Add one.")
    return path.with_suffix(ending)


def check_outputs(
    *paths: Path | None, force: bool, inputs: Sequence[str | Path | None] = ()
) -> None:
    """Refuse before the work what could not be written after it, or would replace an input.

    Folders on the way to a file are made when it is written.
    """
    read = [Path(name) for name in inputs if name is not None and Path(name).is_file()]
    given = [path for path in paths if path is not None]
    for path in given:
        if path.is_dir():
            raise Refusal(f"{path} is a folder, but a file is to be written. Add a file name.")
        if is_no_plain_file(path):
            raise Refusal(
                f"{path} is no plain file, and would be replaced by one. Use another name."
            )
        if path.exists() and not force:
            raise Refusal(f"{path} exists and is kept. Use --force to replace it, or another name.")
        if path.exists() and any(path.samefile(name) for name in read):
            raise Refusal(f"{path} is what is read, so it is kept. Give the output another name.")
        folder = path.absolute().parent
        while not folder.exists():
            folder = folder.parent
        if not folder.is_dir() or not os.access(folder, os.W_OK | os.X_OK):
            raise Refusal(f"{path} cannot be written: {folder} is not a folder you may write to.")
    if len({path.absolute() for path in given}) < len(given):
        raise Refusal("Two outputs have the same name. Give each its own.")
