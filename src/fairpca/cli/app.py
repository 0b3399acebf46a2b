"""The commands."""

from __future__ import annotations

from typing import Annotated

import typer

from .. import __version__
from . import audit, fit, inspect, reproduce, transform

app = typer.Typer(
    name="fairpca",
    help="Fair representation learning: remove demographic information, keep the rest, prove it.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
)
app.command(epilog=audit.EXAMPLES)(audit.audit)
app.command(epilog=fit.EXAMPLES)(fit.fit)
app.command(epilog=transform.EXAMPLES)(transform.transform)
app.command()(inspect.inspect)
app.command()(inspect.export)
app.command(epilog=reproduce.EXAMPLES)(reproduce.reproduce)


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"fairpca {__version__}")
        raise typer.Exit


@app.callback()
def options(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_print_version, is_eager=True, help="Show the version."),
    ] = False,
) -> None:
    """Fair representation learning: remove demographic information, keep the rest, prove it."""
