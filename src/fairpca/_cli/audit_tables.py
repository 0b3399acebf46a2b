"""An audit on a terminal: the sentences, and what three probes recognise."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.console import Console
from rich.table import Table
from rich.text import Text

from .failures import printable

if TYPE_CHECKING:
    from ..auditing import Audit, Leak

PROBES = {"linear": "linear", "boosting": "trees", "kernel": "kernel"}


def print_audit(console: Console, audit: Audit) -> None:
    """Print the summary, the leakage of each attribute, what to look at and the advice."""
    console.print()
    console.print(Text(printable(audit.summary.headline), style="bold"))
    for sentence in audit.summary.sentences[1:]:
        console.print(Text(f"• {printable(sentence)}"))
    for attribute in audit.data.attributes:
        console.print()
        title = f"How well {attribute.name} is recognised (AUC on held-out rows; 0.50 is guessing)"
        console.print(Text(printable(title), style="italic"))
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
    for probe in PROBES.values():
        table.add_column(probe, justify="right")
    leaks = {(leak.representation, leak.probe): leak for leak in audit.leakage_of(attribute)}
    for representation in audit.representations:
        if representation.failure is None:
            cells = [_cell(leaks[representation.key, probe]) for probe in PROBES]
            table.add_row(Text(representation.name), *cells)
        else:
            table.add_row(Text(representation.name, style="dim"), *["–"] * len(PROBES))
    return table


def _cell(leak: Leak) -> Text:
    text = Text(f"{leak.auc.value:.2f}", style="" if leak.above_chance else "green")
    text.append(f" ±{(leak.auc.high - leak.auc.low) / 2:.2f}", style="dim")
    return text
