"""``fairpca audit``: from a table on disk to evidence on a page."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from rich.console import Console
from rich.table import Table
from rich.text import Text
from typer import Argument, Option, echo

from . import options
from .terminal import (
    check_outputs,
    files_of,
    one_clear_line,
    print_line,
    printable,
    shown_progress,
    write_whole,
)

if TYPE_CHECKING:
    from ..auditing import Audit, Leak

EXAMPLES = [
    "fairpca audit   # the built-in loan applications",
    "fairpca audit loans.csv --sensitive race --sensitive sex --target approved",
    "zcat loans.csv.gz | fairpca audit - --sensitive race",
    "fairpca audit people.parquet -s gender --quick --out quick.html --json quick.json",
]

PROBES = {"linear": "linear", "boosting": "trees", "kernel": "kernel"}


def audit(
    table: Annotated[
        str | None,
        Argument(
            metavar="DATA",
            help="A CSV (any delimiter, .gz too), Parquet or Feather file, - for standard input, "
            "or a built-in data set: adult, bank, compas, german, loanapp. Without it: loanapp.",
        ),
    ] = None,
    sensitive: options.Sensitive = None,
    target: options.Target = None,
    positive: options.Positive = None,
    ignore: options.Ignore = None,
    numeric: options.Numeric = None,
    categorical: options.Categorical = None,
    out: Annotated[Path, Option("--out", "-o", help="The report.")] = Path("report.html"),
    json_file: Annotated[
        Path | None,
        Option("--json", help="All numbers as JSON, too; '-' prints them, and nothing else."),
    ] = None,
    aim: Annotated[
        str | None,
        Option(
            help="What the advice is for. 'hide': nobody can tell the attributes; 'decide': "
            "decisions hardly depend on them (the default with a target); 'keep': all columns "
            "stay, and their correlation with the attributes goes."
        ),
    ] = None,
    max_gap: Annotated[
        float, Option(min=0.0, max=1.0, help="Largest gap that 'decide' accepts.")
    ] = 0.05,
    n_components: options.Components = None,
    columns: options.Columns = None,
    header: options.Header = None,
    skip_lines: options.SkipLines = 0,
    encoding: options.Encoding = None,
    max_rows: Annotated[
        int | None,
        Option(min=100, help="Rows to draw of more.", show_default="100,000; quick 20,000"),
    ] = None,
    quick: Annotated[
        bool, Option("--quick", help="A first look: fewer rows and splits, no intersections.")
    ] = False,
    seed: options.Seed = 0,
    jobs: Annotated[
        int | None, Option(min=1, help="Number of processes.", show_default="and at most all cores")
    ] = None,
    data: options.DataFolder = None,
    force: options.Force = False,
    quiet: options.Quiet = False,
) -> None:
    """Ask what a table gives away about people, and what it costs to stop that.

    Measures on held-out rows how well models recognise the sensitive attributes from the other
    columns, before and after fair PCA and its relatives, what happens to decisions, and writes one
    page that you can hand to anybody. Sensitive columns never become features.
    """
    with one_clear_line():
        printed = json_file == Path("-")
        json_file = None if printed else json_file
        check_outputs(out, json_file, force=force, inputs=[table])
        from ..auditing import audit as measure
        from ..tables import read_table

        given = table or "loanapp"
        with shown_progress("Auditing", quiet=quiet) as report:
            if report is not None:
                report(0, None, "reading " + ("standard input" if given == "-" else given))
            how = options.reading(columns, header, skip_lines, encoding)
            with files_of([given]) as (file,):
                read = read_table(file, data=data, **how)
            if file != given:  # a pipe, whose copy is gone
                read = replace(read, source=given)
            found = measure(
                read,
                sensitive or None,
                target,
                positive=positive,
                ignore=ignore or (),
                sensitive_kinds=options.kinds(numeric, categorical),
                n_components=n_components,
                aim=aim,
                max_gap=max_gap,
                max_rows=max_rows,
                quick=quick,
                seed=seed,
                n_jobs=jobs,
                progress=report,
            )
        write_whole(out, found.to_html())
        if json_file is not None:
            write_whole(json_file, found.to_json())
    if printed:
        echo(json.dumps(found.to_dict(), indent=1, allow_nan=False))  # ASCII on a terminal
    console = Console(quiet=quiet, stderr=printed)
    _print_audit(console, found)
    for path in filter(None, (json_file, out)):
        console.print()
        what = "report" if path == out else "JSON"
        print_line(f"The {what} is in {path}", quiet=quiet, stderr=printed)


def _print_audit(console: Console, audit: Audit) -> None:
    """Print the summary, the leakage of each attribute, what to look at and the advice."""
    console.print()
    console.print(Text(printable(audit.summary.headline), style="bold"))
    for sentence in audit.summary.sentences[1:]:
        console.print(Text(f"• {printable(sentence)}"))
    for attribute in audit.data.attributes:
        console.print()
        title = f"How well {attribute.name} is recognised (AUC on held-out rows; 0.50 is guessing)"
        console.print(Text(printable(title), style="italic"))
        if attribute.note:
            console.print(Text(printable(attribute.note), style="yellow"))
        console.print(_leakage(audit, attribute.name))
    warnings = [notice for notice in audit.notices if notice.severity == "warning"]
    if warnings:
        console.print()
    for notice in warnings[:8]:
        console.print(Text(f"! {printable(notice.text)}", style="yellow"))
    if len(warnings) > 8:
        console.print(f"  and {len(warnings) - 8} more in the report", style="yellow")
    console.print()
    for reason in audit.advice.reasons:
        console.print(Text(f"→ {printable(reason)}"))
    for caveat in audit.advice.caveats[:1]:
        console.print(Text(printable(caveat), style="italic"))


def _leakage(audit: Audit, attribute: str) -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("", no_wrap=True)
    table.add_column("columns", justify="right")
    for probe in PROBES.values():
        table.add_column(probe, justify="right")
    leaks = {(leak.representation, leak.probe): leak for leak in audit.leakage_of(attribute)}
    for representation in audit.representations:
        if representation.failure is None:
            cells = [_cell(leaks[representation.key, probe]) for probe in PROBES]
            n_columns = Text(str(representation.n_columns), style="dim")
            table.add_row(Text(representation.name), n_columns, *cells)
        else:
            table.add_row(Text(representation.name, style="dim"), *["–"] * (1 + len(PROBES)))
    return table


def _cell(leak: Leak) -> Text:
    text = Text(f"{leak.auc.value:.2f}", style="" if leak.above_chance else "green")
    text.append(f" ±{(leak.auc.high - leak.auc.low) / 2:.2f}", style="dim")
    return text
