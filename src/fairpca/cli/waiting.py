"""How far a command is, on standard error."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

MANY = 1_000_000
"""How many are done between two lines where nobody knows how many there are."""

Say = Callable[[int, int | None, str], None]


@contextmanager
def shown_progress(title: str, *, quiet: bool) -> Iterator[Say | None]:
    """Give a function that shows how many of how many are done, and what is done now.

    A bar on a terminal, a line for every tenth of the work elsewhere, nothing if `quiet`.
    """
    console = Console(stderr=True)
    if quiet:
        yield None
    elif console.is_terminal:
        with Progress(
            TextColumn("[bold]{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
            TextColumn("[dim]{task.fields[now]}"),
            console=console,
            transient=True,
        ) as bar:
            task = bar.add_task(title, total=None, now="")
            yield lambda done, total, now: bar.update(task, completed=done, total=total, now=now)
    else:
        yield _lines(console, title)


def _lines(console: Console, title: str) -> Say:
    said = -1

    def say(done: int, total: int | None, now: str) -> None:
        nonlocal said
        part = 10 * done // total if total else done // MANY
        if done and part > said:
            said = part
            of = f" of {total:,}" if total else ""
            console.print(f"{title}: {done:,}{of} {now}".rstrip(), markup=False, highlight=False)

    return say
