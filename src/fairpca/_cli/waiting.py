"""How far a command is, on standard error."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from time import monotonic

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TaskID,
    TextColumn,
    TimeElapsedColumn,
)

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


class Pace:
    """How fast rows go by, one piece of work after the other.

    Parameters
    ----------
    clock : callable
        Returns seconds.

    Examples
    --------
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
def shown_rows(*, quiet: bool) -> Iterator[Say | None]:
    """Give a function that shows how many rows are done, how fast, and how long it will take.

    It is called with the rows done, those there are (None if nobody knows), and what is done
    with them. A bar on a terminal, elsewhere a line for every tenth, or for every million rows.
    """
    console = Console(stderr=True)
    if quiet:
        yield None
    elif console.is_terminal:
        with Progress(
            TextColumn("[bold]{task.description}"),
            BarColumn(),
            TextColumn("{task.fields[rows]}"),
            TextColumn("[dim]{task.fields[pace]}"),
            console=console,
            transient=True,
        ) as bar:
            yield _bars(bar)
    else:
        yield _row_lines(console, Pace())


def _bars(bar: Progress) -> Say:
    pace, tasks = Pace(), dict[str, TaskID]()

    def say(done: int, total: int | None, what: str) -> None:
        if what not in tasks:
            tasks[what] = bar.add_task(what, total=total, rows="", pace="")
        bar.update(
            tasks[what],
            completed=done,
            total=total,
            rows=_of(done, total),
            pace=pace(what, done, total),
        )

    return say


def _row_lines(console: Console, pace: Pace) -> Say:
    said = dict[str, int]()

    def say(done: int, total: int | None, what: str) -> None:
        part = 10 * done // total if total else done // MANY
        going = pace(what, done, total)
        if part > said.get(what, 0):
            said[what] = part
            words = ", ".join(filter(None, [_of(done, total), going]))
            console.print(f"{what}: {words}", markup=False, highlight=False, soft_wrap=True)

    return say


def _of(done: int, total: int | None) -> str:
    return f"{done:,} rows" if total is None else f"{done:,} of {total:,} rows"
