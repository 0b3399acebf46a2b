"""The command line in this process: made once, run often."""

from __future__ import annotations

import io
import sys
from functools import cache
from typing import Any

import typer
from typer.testing import CliRunner, Result

from fairpca._cli import app


@cache
def command() -> Any:
    """Return the commands; making them takes longer than most runs."""
    return typer.main.get_command(app)


def run_command(arguments: list[str]) -> tuple[int, str]:
    """Return the exit code, and what was printed on either stream; what is raised is raised.

    The streams take bytes, as Python's do, so that texts without bytes are found.
    """
    printed = io.BytesIO()
    before = sys.stdout, sys.stderr
    streams = [
        io.TextIOWrapper(printed, encoding="utf-8", errors=errors, write_through=True)
        for errors in ("strict", "backslashreplace")
    ]
    sys.stdout, sys.stderr = streams
    try:
        code = command().main(list(arguments), prog_name="fairpca", standalone_mode=True)
    except SystemExit as end:
        code = end.code
    finally:
        sys.stdout, sys.stderr = before
    output = printed.getvalue().decode("utf-8")  # before the streams are closed
    return (0 if code is None else int(code)), output


def invoke(arguments: list[str]) -> Result:
    """Run a command as typer's tests do; what is raised is in the result."""
    return CliRunner().invoke(app, list(arguments))
