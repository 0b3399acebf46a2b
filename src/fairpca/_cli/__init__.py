"""The command line: the commands, one file each."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated

import typer

from .. import __version__
from . import audit, gate, kept_audits, models, plan
from .help_pages import HELP_NAMES, WithCommands, paragraphs, with_help

__all__ = ["app"]

app = typer.Typer(
    name="fairpca",
    cls=WithCommands,
    context_settings={"help_option_names": HELP_NAMES},
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)

COMMANDS: dict[Callable[..., None], list[str]] = {
    audit.audit: audit.EXAMPLES,
    gate.gate: gate.EXAMPLES,
    kept_audits.compare: kept_audits.COMPARE_EXAMPLES,
    kept_audits.report: kept_audits.REPORT_EXAMPLES,
    models.fit: models.FIT_EXAMPLES,
    models.transform: models.TRANSFORM_EXAMPLES,
    models.inspect: [],
    models.export: [],
    plan.plan: plan.PLAN_EXAMPLES,
}
"""Every command, and how people call it."""

for command, examples in COMMANDS.items():
    told = "\n\n".join(paragraphs(command))
    app.command(cls=with_help(command, examples), help=told)(command)


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
    """Remove information about race, sex or age from features, and audit what is left."""
