"""How far a command is, on standard error."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from time import monotonic

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskID, TextColumn, TimeElapsedColumn

MANY = 1_000_000
"""How many are done between two lines where nobody knows how many there are."""

Report = Callable[[int, int | None, str], None]
"""Takes how many are done of how many, and what is done now."""


class Pace:
    """How fast rows go by, one piece of work after the other.

    >>> times = iter([0.0, 2.0])
    >>> pace = Pace(clock=lambda: next(times))
    >>> pace("Rows", 100_000, 1_000_000), pace("Rows", 300_000, 1_000_000)
    ('', '100,000 rows per second, 7 s left')
    """

    def __init__(self, clock: Callable[[], float] = monotonic) -> None:
        self._clock = clock
        self._what, self._from, self._since = "", 0, 0.0

    def __call__(self, what: str, done: int, total: int | None) -> str:
        """Return the pace in words; nothing at the first call for some work.

        Work that is continued starts with rows that went by another time.
        """
        now = self._clock()
        if what != self._what:
            self._what, self._from, self._since = what, done, now
            return ""
        per_second = (done - self._from) / max(now - self._since, 1e-9)
        words = f"{per_second:,.0f} rows per second"
        if total and done < total and per_second > 0:
            words += f", {_duration((total - done) / per_second)} left"
        return words


def _duration(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    if hours:
        return f"{hours} h {minutes} min"
    return f"{minutes} min {rest} s" if minutes else f"{rest} s"


@contextmanager
def shown_progress(title: str | None = None, *, quiet: bool) -> Iterator[Report | None]:
    """Give a function that shows how much is done: a bar on a terminal, lines elsewhere.

    Without a `title`, what is done is work with rows: it has a bar of its own, and how fast it
    goes is shown. Nothing is shown if `quiet`.
    """
    console = Console(stderr=True)
    if quiet:
        yield None
    elif console.is_terminal:
        with Progress(
            TextColumn("[bold]{task.description}"),
            BarColumn(),
            TextColumn("{task.fields[count]}"),
            TimeElapsedColumn(),
            TextColumn("{task.fields[more]}", style="dim", markup=False),
            console=console,
            transient=True,
        ) as bar:
            yield _bars(bar, title)
    else:
        yield lines(console, title, Pace())


def _bars(bar: Progress, title: str | None) -> Report:
    pace, tasks = Pace(), dict[str, TaskID]()

    def report(done: int, total: int | None, now: str) -> None:
        what = title or now
        more = now if title else pace(what, done, total)
        if what not in tasks:
            tasks[what] = bar.add_task(what, total=total, count="", more="")
        count = _count(done, total, title)
        bar.update(tasks[what], completed=done, total=total, count=count, more=more)

    return report


def lines(console: Console, title: str | None, pace: Pace) -> Report:
    """Print a line for every tenth of the work, or every million if nobody knows of how many."""
    printed = dict[str, int]()

    def report(done: int, total: int | None, now: str) -> None:
        what = title or now
        more = now if title else pace(what, done, total)
        part = 10 * done // total if total else done // MANY
        if part > printed.get(what, 0):
            printed[what] = part
            words = ", ".join(filter(None, [_count(done, total, title), more]))
            console.print(f"{what}: {words}", markup=False, highlight=False, soft_wrap=True)

    return report


def _count(done: int, total: int | None, title: str | None) -> str:
    of = f"{done:,}" if total is None else f"{done:,} of {total:,}"
    return of if title else f"{of} rows"
