"""The command line: the commands, one file each."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from inspect import cleandoc
from typing import Annotated

import typer

from .. import __version__
from . import audit, models

__all__ = ["app"]

app = typer.Typer(
    name="fairpca",
    help="Fair data: remove what linear models read of groups, keep the rest, measure what stays.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
)


def _paragraphs(command: Callable[..., None]) -> str:
    """Return what a command says about itself, its lines joined: terminals break them anew."""
    return "\n\n".join(
        " ".join(part.split()) for part in cleandoc(command.__doc__ or "").split("\n\n")
    )


def _epilog(examples: Sequence[str]) -> str | None:
    shown = [re.sub("(#.*)", r"[dim]\1[/dim]", example) for example in examples]
    return "\n\n  ".join(["\n[bold]Examples[/bold]", *shown]) + "\n" if shown else None


COMMANDS: dict[Callable[..., None], list[str]] = {
    audit.audit: audit.EXAMPLES,
    models.fit: models.FIT_EXAMPLES,
    models.transform: models.TRANSFORM_EXAMPLES,
    models.inspect: [],
    models.export: [],
}
"""Every command, and how people call it."""

for command, examples in COMMANDS.items():
    app.command(help=_paragraphs(command), epilog=_epilog(examples))(command)


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"fairpca {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_print_version, is_eager=True, help="Show the version."),
    ] = False,
) -> None:
    """Fair data: remove what linear models read of groups, keep the rest, measure what stays."""
