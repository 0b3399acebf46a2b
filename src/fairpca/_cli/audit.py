"""``fairpca audit``: from a table on disk to evidence on a page."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.text import Text

from .._numerics import whole_file
from .audit_tables import print_audit
from .failures import check_outputs, one_clear_line, printable
from .options import (
    Columns,
    Components,
    DataFolder,
    Force,
    Header,
    Ignore,
    Positive,
    Quiet,
    Seed,
    Sensitive,
    SkipLines,
    Target,
    names_in,
)
from .waiting import shown_progress

EXAMPLES = """
[bold]Examples[/bold]

  fairpca audit   [dim]# the built-in loan applications[/dim]

  fairpca audit loans.csv --sensitive race --sensitive sex --target approved

  fairpca audit people.parquet -s gender --quick --out quick.html --json quick.json
"""


STANDARD_OUTPUT = Path("-")


def audit(
    table: Annotated[
        str | None,
        typer.Argument(
            metavar="DATA",
            help="A CSV (any delimiter, .gz too), Parquet or Feather file, or a built-in data set: "
            "adult, bank, compas, german, loanapp. Without it: loanapp.",
        ),
    ] = None,
    sensitive: Sensitive = None,
    target: Target = None,
    positive: Positive = None,
    ignore: Ignore = None,
    out: Annotated[Path, typer.Option("--out", "-o", help="The report.")] = Path("report.html"),
    json_file: Annotated[
        Path | None,
        typer.Option("--json", help="All numbers as JSON, too; '-' prints them, and nothing else."),
    ] = None,
    aim: Annotated[
        str | None,
        typer.Option(
            help="What the advice is for. 'hide': nobody can tell the attributes; 'decide': "
            "decisions hardly depend on them (the default with a target); 'keep': all columns "
            "stay, and their correlation with the attributes goes."
        ),
    ] = None,
    max_gap: Annotated[
        float, typer.Option(min=0.0, max=1.0, help="Largest gap that 'decide' accepts.")
    ] = 0.05,
    n_components: Components = None,
    columns: Columns = None,
    header: Header = None,
    skip_lines: SkipLines = 0,
    max_rows: Annotated[
        int | None,
        typer.Option(min=100, help="Rows to draw of more.", show_default="100,000; quick 20,000"),
    ] = None,
    quick: Annotated[
        bool, typer.Option("--quick", help="A first look: fewer rows and splits, no intersections.")
    ] = False,
    seed: Seed = 0,
    jobs: Annotated[
        int | None, typer.Option(min=1, help="Number of processes.", show_default="all cores")
    ] = None,
    data: DataFolder = None,
    force: Force = False,
    quiet: Quiet = False,
) -> None:
    """Ask what a table gives away about people, and what it costs to stop that.

    Measures on held-out rows how well models recognise the sensitive attributes from the other
    columns, before and after fair PCA and its relatives, what happens to decisions, and writes one
    page that you can hand to anybody. Sensitive columns never become features.
    """
    with one_clear_line():
        printed = json_file == STANDARD_OUTPUT
        json_file = None if printed else json_file
        check_outputs(out, json_file, force=force, inputs=[table])
        from ..auditing import audit as measure
        from ..tables import read_table

        with shown_progress("Auditing", quiet=quiet) as say:
            if say is not None:
                say(0, None, "reading")
            read = read_table(
                table or "loanapp",
                data=data,
                columns=names_in(columns),
                header=header,
                skip_lines=skip_lines,
            )
            found = measure(
                read,
                sensitive or None,
                target,
                positive=positive,
                ignore=ignore or (),
                n_components=n_components,
                aim=aim,
                max_gap=max_gap,
                max_rows=max_rows,
                quick=quick,
                seed=seed,
                n_jobs=jobs,
                progress=say,
            )
        page = found.to_html()
        with whole_file(out) as draft:
            draft.write_text(page, encoding="utf-8")
        if json_file is not None:
            with whole_file(json_file) as draft:
                draft.write_text(found.to_json(), encoding="utf-8")
    if printed:
        typer.echo(json.dumps(found.to_dict(), indent=1, allow_nan=False))  # ASCII on a terminal
    console = Console(quiet=quiet, stderr=printed)
    print_audit(console, found)
    for path in filter(None, (json_file, out)):
        what = "report" if path == out else "JSON"
        console.print(Text("\n" + printable(f"The {what} is in {path}")), soft_wrap=True)
