"""The tidy tables of a run as a page to read: paper / ours.

``python -m fairpca.paper._page FOLDER`` prints it for a folder that ``fairpca reproduce``
wrote.
"""

from __future__ import annotations

import csv
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path

from ._evaluate import HELD_OUT, PAPER

Row = dict[str, str]

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
    """Return a Markdown page with one table for each file, k and protocol.

    Parameters
    ----------
    tables : iterable of Path
        Tidy tables that `run_experiment` wrote.

    Returns
    -------
    text : str
        A cell reads "paper / ours" where the paper prints the number, else ours alone; bold where
        the two differ by more than one of the paper's standard deviations.
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


if __name__ == "__main__":
    sys.stdout.write(page(sorted(Path(sys.argv[1]).glob("table-*.csv"))))
