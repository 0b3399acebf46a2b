"""What became of each mutant, kept in a file so that only the survivors need another run."""

from __future__ import annotations

import json
import os
import platform
from dataclasses import dataclass, field
from datetime import date
from importlib.metadata import version
from pathlib import Path

from .mutants import Mutant

DEAD = {"killed", "timed out"}


@dataclass(frozen=True)
class Outcome:
    """A mutant and what became of it: killed, timed out, survived, not tested or impossible."""

    module: str
    function: str
    line: int
    before: str
    after: str
    outcome: str

    @classmethod
    def of(cls, mutant: Mutant, outcome: str) -> Outcome:
        """Return the record of a mutant."""
        place = mutant.module, mutant.function, mutant.lines[0]
        return cls(*place, mutant.before, mutant.after, outcome)

    @property
    def key(self) -> tuple[str, str, str, str]:
        """What an explanation is filed under."""
        return self.module, self.function, self.before, self.after


@dataclass
class Run:
    """Outcomes, and under which circumstances they came about."""

    circumstances: str
    outcomes: list[Outcome] = field(default_factory=list)

    def write(self, path: Path) -> None:
        """Write the run, sorted by place."""
        ordered = sorted(self.outcomes, key=lambda o: (o.module, o.line, o.after))
        content = {"circumstances": self.circumstances, "outcomes": [vars(o) for o in ordered]}
        path.write_text(json.dumps(content, indent=0), encoding="utf-8")

    @classmethod
    def read(cls, path: Path) -> Run:
        """Read a run."""
        content = json.loads(path.read_text(encoding="utf-8"))
        return cls(content["circumstances"], [Outcome(**entry) for entry in content["outcomes"]])


def circumstances(parts: str, processes: int, tests: int, seconds: float) -> str:
    """Return date, versions and cost of a run of the given parts in words."""
    libraries = ("numpy", "scipy", "scikit-learn", "hypothesis", "pytest", "mutmut")
    versions = ", ".join(f"{name} {version(name)}" for name in libraries)
    return (
        f"{parts}: {date.today()}, {tests} tests, "
        f"{processes} processes on {os.cpu_count()} cores, {seconds / 60:.0f} minutes; "
        f"Python {platform.python_version()}, {versions}"
    )
