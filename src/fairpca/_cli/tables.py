"""Tidy rows as a table for people, with the deviation from the paper marked."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console
from rich.table import Table
from rich.text import Text

from ..paper import Experiment, Summary

LABELS = {
    "explained_variance_pct": "%Var",
    "mmd2": "MMD²",
    "kernel_svm_acc_pct": "kernel SVM %acc",
    "kernel_svm_dp": "ΔDP",
    "linear_svm_acc_pct": "linear SVM %acc",
    "linear_svm_dp": "ΔDP",
    "mlp_acc_pct": "MLP %acc",
    "mlp_dp": "ΔDP",
    "linear_probe_auc": "linear probe AUC",
    "boosting_probe_auc": "boosting AUC",
}
SECONDS = "seconds"
WIDE = 140
"""Columns of a terminal from which standard deviations find room."""

MANY = 60
"""Tables of more rows than this are for the CSV, not for the terminal."""


def print_rows(console: Console, experiment: Experiment, rows: Sequence[Summary]) -> None:
    """Print one table for each data set, k and protocol: methods down, metrics across."""
    blocks: dict[tuple[str, int | None, str], list[Summary]] = {}
    for row in rows:
        blocks.setdefault((row.dataset, row.k, row.protocol), []).append(row)
    for (dataset, k, protocol), block in blocks.items():
        parts = [experiment.name, dataset, f"k = {k}" if k is not None else "", protocol]
        spread = console.width >= WIDE
        console.print(_block(" · ".join(filter(None, parts)), block, spread=spread))
    if any(row.paper_mean is not None and row.metric != SECONDS for row in rows):
        console.print(
            "[dim]Means; standard deviations are in the CSV. Against the paper: "
            "[green]=[/green] to the printed digit, [yellow]~[/yellow] within one of its "
            "standard deviations, [red]![/red] beyond (its number in brackets).[/dim]"
        )


def _block(title: str, rows: Sequence[Summary], *, spread: bool) -> Table:
    metrics = list(dict.fromkeys(row.metric for row in rows))
    places = list(dict.fromkeys((row.method, row.parameter) for row in rows))
    cells = {(row.method, row.parameter, row.metric): row for row in rows}
    with_parameter = any(parameter is not None for _, parameter in places)
    table = Table(title=title, title_justify="left", box=None, pad_edge=False, header_style="bold")
    table.add_column("method", no_wrap=True)
    if with_parameter:
        table.add_column("at", justify="right")
    for metric in metrics:
        table.add_column(LABELS.get(metric, metric.replace("_", " ")), justify="right")
    for method, parameter in places[:MANY]:
        first = [method, f"{parameter:g}" if parameter is not None else ""]
        found = [cells.get((method, parameter, metric)) for metric in metrics]
        table.add_row(*first[: 1 + with_parameter], *(cell(row, spread=spread) for row in found))
    if len(places) > MANY:
        table.caption = f"and {len(places) - MANY} more rows in the CSV"
    return table


def cell(row: Summary | None, *, spread: bool = True) -> Text:
    """Return the mean, and the deviation if asked, marked by how near the paper's number is."""
    if row is None:
        return Text("–", style="dim")
    digits = 3 if row.metric == "mmd2" else 2
    how = ".2g" if row.metric == SECONDS else f".{digits}f"
    text = Text(f"{row.mean:{how}}")
    if spread and row.std > 0:
        text.append(f" ±{row.std:{how}}", style="dim")
    if row.paper_mean is not None and row.metric == SECONDS:
        text.append(f" ({row.paper_mean:g})", style="dim")  # of another machine
    elif row.paper_mean is not None:
        mark, style = _agreement(row, digits)
        text.append(f" {mark}", style=style)
        if mark == "!":
            text.append(f" ({row.paper_mean:g})", style="dim")
    return text


def _agreement(row: Summary, digits: int) -> tuple[str, str]:
    assert row.paper_mean is not None
    if round(row.mean, digits) == round(row.paper_mean, digits):
        return "=", "green"
    near = abs(row.mean - row.paper_mean) <= (row.paper_std or 0.0)
    return ("~", "yellow") if near else ("!", "red")
