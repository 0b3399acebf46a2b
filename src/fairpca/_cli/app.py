"""The commands."""

from __future__ import annotations

from collections.abc import Callable
from inspect import cleandoc
from typing import Annotated

import typer

from .. import __version__
from . import audit, fit, reproduce, saved_models

app = typer.Typer(
    name="fairpca",
    help="Fair representation learning: remove demographic information, keep the rest, prove it.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
)


def paragraphs(command: Callable[..., None]) -> str:
    """Return what a command says about itself, its lines joined: terminals break them anew."""
    return "\n\n".join(
        " ".join(part.split()) for part in cleandoc(command.__doc__ or "").split("\n\n")
    )


for command, examples in (
    (audit.audit, audit.EXAMPLES),
    (fit.fit, fit.EXAMPLES),
    (saved_models.transform, saved_models.TRANSFORM_EXAMPLES),
    (saved_models.inspect, None),
    (saved_models.export, None),
    (reproduce.reproduce, reproduce.EXAMPLES),
):
    app.command(help=paragraphs(command), epilog=examples)(command)


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
