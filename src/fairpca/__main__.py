"""``python -m fairpca`` is the command ``fairpca``."""

from __future__ import annotations

import errno
import os
import sys
from contextlib import suppress

from .errors import MissingExtraError


def main() -> None:
    """Run the command line; without its libraries, say how to install them."""
    try:
        from ._cli import app
    except ModuleNotFoundError as error:
        if error.name not in ("typer", "rich"):
            raise
        # The extra brings the rest of what the commands need, too.
        sys.exit(str(MissingExtraError(error.name, "audit", "The command line")))
    if hasattr(sys.stdout, "reconfigure"):  # not every console, nor every log, knows every letter
        sys.stdout.reconfigure(errors="replace")
    try:
        try:
            app()
        finally:
            if sys.stdout is not None:
                sys.stdout.flush()  # what is still to be written fails here, or nobody hears of it
    except OSError as error:  # of all else the commands have told
        _stop_printing()
        if error.errno == errno.EPIPE:  # who reads has seen enough
            sys.exit(1)
        sys.exit(_told(error))


def _told(error: OSError) -> int:
    """Say that standard output cannot be written, and return the exit code."""
    with suppress(OSError):  # nor can standard error, perhaps
        sys.stderr.write(
            f"Error: standard output cannot be written: {error.strerror or error}. Files that were "
            f"asked for are written before that.\n"
        )
    return 2


def _stop_printing() -> None:
    """Send what is left to nowhere: Python would try again when it ends."""
    with suppress(OSError, ValueError, AttributeError):  # there is none, or it is closed
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


if __name__ == "__main__":
    main()
