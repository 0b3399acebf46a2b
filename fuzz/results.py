"""What came of a run: counts by target, for people, for the docs and for programs."""

from __future__ import annotations

import platform
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

from rich.table import Table

from .cases import EQUAL, REFUSED, VALID

HEADINGS = (
    "target",
    "inputs",
    "refused with our error",
    "accepted: the same",
    "accepted: another valid one",
    "failures",
    "seconds",
)
LIBRARIES = ("numpy", "scipy", "scikit-learn", "pandas", "pyarrow", "safetensors", "skops", "typer")


@dataclass
class Kept:
    """A failure that was kept."""

    path: Path
    size: int


@dataclass
class Tally:
    """How many inputs of a target came to what."""

    target: str
    tried: int = 0
    counts: Counter[str] = field(default_factory=Counter)
    failures: dict[str, Kept] = field(default_factory=dict)
    seconds: float = 0.0

    def add(self, outcome: str) -> None:
        """Count an input."""
        self.tried += 1
        self.counts[outcome] += 1

    def found(self, which: str, path: Path, size: int) -> None:
        """Remember where a failure is kept."""
        self.failures[which] = Kept(path, size)

    @property
    def failed(self) -> int:
        """Number of inputs that failed."""
        return self.counts["failed"]

    @property
    def cells(self) -> list[str]:
        """What the table shows."""
        numbers = (self.tried, *(self.counts[kind] for kind in (REFUSED, EQUAL, VALID, "failed")))
        return [self.target, *(f"{n:,}" for n in numbers), f"{self.seconds:.0f}"]


def as_table(tallies: Iterable[Tally]) -> Table:
    """Return the counts for a terminal."""
    table = Table(box=None, pad_edge=False, header_style="bold")
    for i, heading in enumerate(HEADINGS):
        table.add_column(heading, justify="right" if i else "left")
    for tally in tallies:
        table.add_row(*tally.cells, style="red" if tally.failed else "")
    return table


def as_markdown(tallies: Sequence[Tally], seed: int) -> str:
    """Return the counts for a page."""
    lines = [
        f"| {' | '.join(HEADINGS)} |",
        "|---" + "|--:" * (len(HEADINGS) - 1) + "|",
        *(f"| {' | '.join(tally.cells)} |" for tally in tallies),
        "",
        f"Last run: {datetime.now(UTC):%Y-%m-%d}, seed {seed}, {_machine()}.",
    ]
    return "\n".join(lines) + "\n"


def as_plain(tallies: Sequence[Tally], seed: int) -> dict[str, Any]:
    """Return the counts for programs."""
    return {
        "date": f"{datetime.now(UTC):%Y-%m-%d}",
        "seed": seed,
        "machine": _machine(),
        "targets": [
            {
                "target": tally.target,
                "inputs": tally.tried,
                **{kind: tally.counts[kind] for kind in (REFUSED, EQUAL, VALID, "failed")},
                "seconds": round(tally.seconds, 1),
                "failures": {which: kept.path.name for which, kept in tally.failures.items()},
            }
            for tally in tallies
        ],
    }


def _machine() -> str:
    found = ", ".join(f"{name} {version(name)}" for name in LIBRARIES)
    return f"Python {platform.python_version()}, {found}"
