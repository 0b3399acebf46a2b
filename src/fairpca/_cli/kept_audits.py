"""``fairpca compare`` and ``fairpca report``: audits that were kept as JSON."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from rich.console import Console
from rich.table import Table
from rich.text import Text
from typer import Argument, Exit, Option, echo

from ..errors import ExitStatus
from . import options
from .help_pages import OUTPUT
from .terminal import (
    CommandError,
    check_outputs,
    one_clear_line,
    print_line,
    printable,
    write_whole,
)

if TYPE_CHECKING:
    from ..auditing import ChangesInWords

COMPARE_EXAMPLES = [
    "fairpca compare kept/2026-10.json kept/2026-11.json",
    "fairpca compare kept/2026-10.json kept/2026-11.json --markdown >> summary.md",
]
REPORT_EXAMPLES = [
    "fairpca report kept/2026-11.json --out november.html",
    "fairpca report kept/2026-11.json --since kept/2026-10.json",
]

_HEADS = ("Before", "Now", "Change", "z", "Verdict")


def compare(
    before: Annotated[Path, Argument(metavar="BEFORE", help="JSON file of the earlier audit")],
    now: Annotated[
        Path, Argument(metavar="NOW", help="JSON file of the later audit, of new people")
    ],
    as_json: options.AsJson = False,
    markdown: Annotated[
        bool,
        Option("--markdown", rich_help_panel=OUTPUT, help="Print Markdown, as for a pull request"),
    ] = False,
) -> None:
    """Compare two audits: what changed beyond chance, and whether anything became worse.

    Exit status 0: nothing became worse beyond chance; 1: something did; 3: the audits cannot tell,
    as where they are of the same table or compare other groups.
    """
    with one_clear_line():
        if as_json and markdown:
            raise CommandError("--json and --markdown cannot both be printed. Pass one of them.")
        from ..auditing import ChangesInWords, audit_from_file

        found = audit_from_file(now).since(before)
        assert found.changes is not None
        told = ChangesInWords(found)
    if as_json:
        echo(json.dumps(found.to_dict()["changes"], indent=1, allow_nan=False))
    elif markdown:
        echo(_markdown(told))
    else:
        _print_changes(told)
    status = {"nothing worse": ExitStatus.WITHIN, "worse": ExitStatus.EXCEEDED}
    raise Exit(status.get(found.changes.verdict, ExitStatus.UNDECIDED))


def report(
    numbers: Annotated[Path, Argument(metavar="AUDIT", help="JSON file of an audit")],
    out: options.Out = Path("report.html"),
    since: options.Since = None,
    force: options.Force = False,
    quiet: options.Quiet = False,
) -> None:
    """Draw the HTML report of an audit again from its JSON file, without the table.

    With --since it also has what changed since an earlier audit.
    """
    with one_clear_line():
        check_outputs(out, force=force, inputs=[numbers, since])
        from ..auditing import audit_from_file

        found = audit_from_file(numbers)
        found = found if since is None else found.since(since)
        write_whole(out, found.to_html())
    print_line(f"Report  {out}", quiet=quiet)


def _print_changes(told: ChangesInWords) -> None:
    """Print what changed, a line for all other numbers, what differs otherwise, and the verdict."""
    console = Console()
    console.print(Text(printable(f"{told.sizes()}.")))
    if told.significant:
        console.print()
        table = Table(box=None, pad_edge=False, header_style="bold")
        table.add_column("", overflow="fold")
        for head in _HEADS:
            table.add_column(head, justify="right", no_wrap=True)
        for line in told.significant:
            style = {"worse": "red", "better": "green"}.get(line.verdict, "")
            change = f"{line.difference}\n({line.interval})"
            cells = [line.before, line.now, change, line.z, line.verdict]
            what = "\n  ".join(printable(one) for one in (line.what, line.of) if one)
            table.add_row(*(Text(cell, style=style) for cell in [what, *cells]))
        console.print(table)
    console.print()
    for said in _remarks(told):
        console.print(Text(printable(f"{said}.")), style="dim" if said == told.others() else "")
    console.print(Text(printable(told.headline()), style="bold"))


def _remarks(told: ChangesInWords) -> list[str]:
    said = [told.others(), *told.not_compared(), *told.changes.notes]
    return [*filter(None, said), *filter(None, [told.visible().removesuffix(".")])]


def _markdown(told: ChangesInWords) -> str:
    """Return the same in Markdown; names of columns are data, and no markup."""
    lines = [f"**{_in_markdown(told.headline())}**", "", f"{_in_markdown(told.sizes())}.", ""]
    if told.significant:
        lines += [f"| Number | {' | '.join(_HEADS)} |", "|---|--:|--:|--:|--:|---|"]
        for one in told.significant:
            what = f"{one.what} ({one.of})" if one.of else one.what
            change = f"{one.difference} ({one.interval})"
            cells = [what, one.before, one.now, change, one.z, one.verdict]
            lines.append(f"| {' | '.join(map(_in_markdown, cells))} |")
        lines.append("")
    return "\n".join([*lines, *(f"- {_in_markdown(said)}." for said in _remarks(told))])


def _in_markdown(text: str) -> str:
    from ..auditing import in_markdown

    return in_markdown(printable(text))
