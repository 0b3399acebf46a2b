"""The tidy tables of a run as pages to read, paper beside ours.

``python paper/tests/reproduced_pages.py FOLDER`` prints the tables of a folder that
``fairpca-paper`` wrote; with ``--text`` the numbers that the paper says in its text.
"""

from __future__ import annotations

import csv
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path

from fairpca_paper.experiments.protocol import HELD_OUT, PAPER, published

Row = dict[str, str]

RELATIONS = {"about": "about ", "above": "> ", "below": "< "}
SECONDS, STOPPED = "seconds", "seconds_stopped_after"

COLUMNS = {
    "explained_variance_pct": ("%Var", 2),
    "mmd2": ("MMD²", 3),
    "kernel_svm_acc_pct": ("kernel SVM %acc", 2),
    "kernel_svm_dp": ("ΔDP", 2),
    "linear_svm_acc_pct": ("linear SVM %acc", 2),
    "linear_svm_dp": ("ΔDP", 2),
    "mlp_acc_pct": ("MLP %acc", 2),
    "mlp_dp": ("ΔDP", 2),
    "linear_probe_auc": ("linear probe AUC", 2),
    "boosting_probe_auc": ("boosting probe AUC", 2),
}
"""Heading and printed digits of each metric, in the paper's order."""

TITLES = {
    PAPER: "the paper's protocol, paper / ours",
    HELD_OUT: "held out: models trained on the training split, scored on the test split",
}


def page(tables: Iterable[Path]) -> str:
    """Return a Markdown page with one table of "paper / ours" for each file, k and protocol.

    Bold is what differs by more than one of the paper's standard deviations.
    """
    parts = []
    for path in tables:
        with path.open(encoding="utf-8") as file:
            rows = list(csv.DictReader(file))
        parts.append(f"## {path.stem}\n")
        blocks: dict[tuple[str, str, str], list[Row]] = {}
        for row in rows:
            blocks.setdefault((row["dataset"], row["k"], row["protocol"]), []).append(row)
        for (dataset, k, protocol), block in blocks.items():
            parts.append(f"**{dataset}, k = {k}** ({TITLES.get(protocol, protocol)})\n")
            parts.append(_markdown(block))
    return "\n".join(parts)


def _markdown(rows: Sequence[Row]) -> str:
    metrics = [m for m in COLUMNS if any(row["metric"] == m for row in rows)]
    cells = {(row["method"], row["metric"]): row for row in rows}
    lines = [
        " | ".join(["| method", *(COLUMNS[m][0] for m in metrics)]) + " |",
        "|---|" + "--:|" * len(metrics),
    ]
    for method in dict.fromkeys(row["method"] for row in rows):
        found = [_cell(cells.get((method, m)), COLUMNS[m][1]) for m in metrics]
        lines.append(" | ".join([f"| {method}", *found]) + " |")
    return "\n".join(lines) + "\n"


def _cell(row: Row | None, digits: int) -> str:
    if row is None:
        return ""
    ours = f"{float(row['mean']):.{digits}f}"
    if not row["paper_mean"]:
        return ours
    paper = float(row["paper_mean"])
    far = abs(float(row["mean"]) - paper) > float(row["paper_std"]) + 0.5 * 10**-digits
    return f"{paper:.{digits}f} / " + (f"**{ours}**" if far else ours)


def text_page(folder: Path) -> str:
    """Return a Markdown table with one row for each number of the paper's text.

    Bold is what leaves the paper's bound; never times, which are of another machine.
    """
    lines = ["| where | what | paper | ours |", "|---|---|--:|--:|"]
    for said in published("text"):
        with (folder / f"{said['experiment']}.csv").open(encoding="utf-8") as file:
            rows = [row for row in csv.DictReader(file) if _is_meant(row, said)]
        paper = f"{RELATIONS[said['relation']]}{said['number']} {said['unit']}".strip()
        lines.append(f"| {said['where']} | {said['what']} | {paper} | {_ours(rows, said)} |")
    return "\n".join(lines) + "\n"


def _is_meant(row: Row, said: Row) -> bool:
    """Tell whether a row is of the methods and the protocol that the paper speaks of."""
    return (
        row["method"] in said["methods"].split(";")
        and row["metric"] in (said["metric"], STOPPED)
        and row["protocol"].startswith(said["protocol"])
    )


def _ours(rows: Sequence[Row], said: Row) -> str:
    wanted = said["parameters"].split(";")
    values = [float(r["mean"]) for r in rows if r["parameter"] in wanted and r["metric"] != STOPPED]
    shown = _range(values, said["unit"])
    if said["metric"] == SECONDS:
        # Methods are not tried again beyond the size at which they were stopped.
        stopped = [r for r in rows if r["metric"] == STOPPED]
        reached = [r for r in stopped if float(r["parameter"]) <= float(said["parameters"])]
        ends = [f"> {float(r['mean']):g} s at {r['parameter']}, stopped" for r in reached]
        return "; ".join(filter(None, [shown, *ends[:1]]))
    number = float(said["number"])
    beyond = {"about": False, "above": min(values) < number, "below": max(values) > number}
    return f"**{shown}**" if beyond[said["relation"]] else shown


def _range(values: Sequence[float], unit: str) -> str:
    ends = [f"{value:.2g}" for value in sorted({min(values), max(values)})] if values else []
    return f"{' to '.join(dict.fromkeys(ends))} {unit}".strip() if ends else ""


if __name__ == "__main__":
    folder = Path(sys.argv[1])
    tables = sorted(folder.glob("table-*.csv"))
    sys.stdout.write(text_page(folder) if "--text" in sys.argv else page(tables))
