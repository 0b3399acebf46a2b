"""What targets that read tables share: files to start from, a model, several things to do."""

from __future__ import annotations

from pathlib import Path
from typing import ClassVar

from fairpca import FairTableTransformer, load

from ..cases import Case, Target

MODEL = "x.fairpca"
"""The file of a model that was fitted to the columns of the tables."""


class TableTarget(Target):
    """Read, sum up, map and fit to files of tables."""

    actions: ClassVar[tuple[str, ...]]
    """What can be done with a file; one that stands twice is done twice as often."""

    def load_seeds(self, folder: Path) -> None:
        """Read the files."""
        self.seeds = [p.read_bytes() for p in sorted(folder.iterdir()) if p.name != MODEL]
        self.model_file = folder / MODEL

    def warm_up(self, folder: Path) -> None:
        """Do everything with each of them."""
        self.model: FairTableTransformer = load(self.model_file)
        for i, content in enumerate(self.seeds):
            for action in set(self.actions):
                place = folder / f"{action}{i}"
                place.mkdir()
                self.check(Case(self.name, content, "unchanged", {"action": action}), place)
