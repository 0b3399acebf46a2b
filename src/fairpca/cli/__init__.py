"""The command line: ``fairpca reproduce ...``."""

from __future__ import annotations

import sys

from ..errors import MissingExtraError

__all__ = ["main"]


def main() -> None:
    """Run the command line; without its libraries, say how to install them."""
    try:
        from .app import app
    except ModuleNotFoundError as error:
        if error.name not in ("typer", "rich"):
            raise
        sys.exit(str(MissingExtraError(error.name, "cli", "The command line")))
    app()
