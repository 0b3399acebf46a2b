"""``python -m fairpca`` is the command ``fairpca``."""

from __future__ import annotations

import sys

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
    app()


if __name__ == "__main__":
    main()
