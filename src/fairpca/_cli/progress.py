"""How far a run is, for people who wait."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)

from ..paper import Experiment, Key

Report = Callable[[int, int, Key | None], None]


@contextmanager
def progress_bar(console: Console, experiment: Experiment) -> Iterator[Report]:
    """Show a bar on a terminal, a line for every tenth of the work elsewhere."""
    if not console.is_terminal:
        yield _lines(console, experiment)
        return
    with Progress(
        TextColumn("[bold]{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
        TextColumn("[dim]{task.fields[last]}"),
        console=console,
        transient=True,
    ) as bar:
        shown = bar.add_task(experiment.name, last="")
        yield lambda done, total, key: bar.update(
            shown, completed=done, total=total, last=describe(key)
        )


def describe(key: Key | None) -> str:
    """Return a task's key in a few words.

    Examples
    --------
    >>> describe({"dataset": "adult", "k": 2, "method": "PCA", "draw": 3})
    'adult k=2 PCA draw=3'
    """
    if key is None:
        return ""
    spoken = ("dataset", "method", "protocol")
    return " ".join(str(v) if name in spoken else f"{name}={v}" for name, v in key.items())


def _lines(console: Console, experiment: Experiment) -> Report:
    said = -1

    def report(done: int, total: int, key: Key | None) -> None:
        nonlocal said
        tenth = 10 * done // total if total else 10
        if tenth > said:
            said = tenth
            console.print(f"{experiment.name}: {done} of {total}")

    return report
