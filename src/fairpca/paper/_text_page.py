"""The numbers that the paper says in its text, beside ours.

``python -m fairpca.paper._text_page FOLDER`` prints them for a folder that
``fairpca reproduce`` wrote.
"""

from __future__ import annotations

import csv
import sys
from collections.abc import Sequence
from importlib.resources import files
from pathlib import Path

from ._page import Row

RELATIONS = {"about": "about ", "above": "> ", "below": "< "}
SECONDS = "seconds"
STOPPED = "seconds_stopped_after"


def text_page(folder: Path) -> str:
    """Return a Markdown table with one row for each number of the paper's text.

    Parameters
    ----------
    folder : Path
        Tidy tables that `run_experiment` wrote.

    Returns
    -------
    text : str
        Ours is a range where the paper speaks of several methods or dimensions; bold where it
        leaves the paper's bound. Times are never bold: they are of another machine.
    """
    lines = ["| where | what | paper | ours |", "|---|---|--:|--:|"]
    for said in published_in_the_text():
        with (folder / f"{said['experiment']}.csv").open(encoding="utf-8") as file:
            rows = [row for row in csv.DictReader(file) if _is_meant(row, said)]
        paper = f"{RELATIONS[said['relation']]}{said['number']} {said['unit']}".strip()
        lines.append(f"| {said['where']} | {said['what']} | {paper} | {_ours(rows, said)} |")
    return "\n".join(lines) + "\n"


def published_in_the_text() -> list[Row]:
    """Return the numbers of the paper's text, and where ours are found."""
    text = files(f"{__package__}.published").joinpath("text.csv").read_text(encoding="utf-8")
    return list(csv.DictReader(text.splitlines()))


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
    sys.stdout.write(text_page(Path(sys.argv[1])))
