"""Tables of benchmarks: for the terminal, and as Markdown for the documentation."""

import os
import platform
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import date
from importlib.metadata import version
from pathlib import Path

from rich.table import Table

from fairpca._numerics.threads import blas_threads
from fairpca._numerics.whole_files import whole_file


@dataclass
class BenchTable:
    """A title, columns, and rows of texts that are added one by one."""

    title: str
    columns: Sequence[str]
    rows: list[Sequence[str]] = field(default_factory=list)

    def printed(self) -> Table:
        made = Table(title=self.title, title_justify="left", box=None, pad_edge=False)
        for i, column in enumerate(self.columns):
            made.add_column(column, justify=self._side(i), overflow="fold")
        for row in self.rows:
            made.add_row(*row)
        return made

    def markdown(self) -> str:
        rules = ["---" if self._side(i) == "left" else "--:" for i in range(len(self.columns))]
        rows = [self.columns, rules, *self.rows]
        lines = [f"| {' | '.join(cell.replace('|', '/') for cell in row)} |" for row in rows]
        return "\n".join([f"**{self.title}**", "", *lines, ""])

    @staticmethod
    def _side(i: int) -> str:
        return "left" if i < 3 else "right"  # what was compared, then numbers


def how_it_was_measured(*libraries: str) -> str:
    """Return a sentence with the date, the machine and the versions that times belong to."""
    versions = ", ".join(f"{p} {version(p)}" for p in libraries)
    return (
        f"Medians of alternating runs, {date.today()}: {_processor()}, {os.cpu_count()} cores, "
        f"BLAS threads: {blas_threads()}, Python {platform.python_version()}, {versions}."
    )


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        lines = []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.machine()


def write_markdown(path: str, tables: Sequence[BenchTable], measured: str) -> None:
    """Write the tables that have rows, and under them how they were measured."""
    parts = [table.markdown() for table in tables if table.rows]
    with whole_file(path) as draft:
        draft.write_text("\n".join([*parts, measured, ""]), encoding="utf-8")
