"""What people see of a command: its progress, errors, and the files that it may write."""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, nullcontext
from pathlib import Path
from shutil import copyfileobj
from tempfile import TemporaryDirectory
from time import monotonic
from typing import Any, NoReturn
from unicodedata import bidirectional, category

import typer
from rich.console import Console
from rich.progress import (
    BarColumn,
    Progress,
    ProgressColumn,
    Task,
    TaskID,
    TextColumn,
    TimeElapsedColumn,
)
from rich.text import Text

from ..errors import ExitStatus, FairPCAError

ENDINGS = [s for s in signal.Signals if s.name in ("SIGINT", "SIGTERM", "SIGHUP")]
"""Signals that end a command, and with it drafts of files and other processes."""

_arrived: list[int] = []

BREAKS = "\n\t\r\x85\u2028\u2029"
TURNS = frozenset({"LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI"})
"""Classes of characters that change the direction of writing of others."""

MANY = 1_000_000
"""How many are done between two lines where nobody knows how many there are."""

SPEED_OVER = 600.0
"""Seconds over which the pace is averaged: single steps of an audit take long."""

MOST_NOTICES = 8
"""Of more notices, the others are not printed."""

Report = Callable[[int, int | None, str], None]
"""Takes how many are done of how many, and what is done now."""


def printable(text: str) -> str:
    r"""Return a text without the characters that command terminals: names of columns are data.

    Nor is there anything that changes the direction of writing, or that has no bytes.

    >>> printable("red \x1b[31m\n")
    'red �[31m '
    """
    plain = text.translate(dict.fromkeys(map(ord, BREAKS), " "))
    obeyed = {c for c in plain if category(c) in ("Cc", "Cs") or bidirectional(c) in TURNS}
    return plain.translate(dict.fromkeys(map(ord, obeyed), "�"))


def print_line(text: str, *, quiet: bool = False, stderr: bool = False, style: str = "") -> None:
    """Print a line of text, however long; nothing in it is markup."""
    console = Console(quiet=quiet, stderr=stderr, soft_wrap=True)
    console.print(printable(text), style=style, markup=False, highlight=False)


def print_notices(console: Console, notices: Sequence[str], where: str) -> None:
    """Print data warnings; of many, the first, and where the others are."""
    for notice in notices[:MOST_NOTICES]:
        console.print(Text(f"! {printable(notice)}", style="yellow"))
    if len(notices) > MOST_NOTICES:
        more = f"  and {len(notices) - MOST_NOTICES} more in the {where}"
        console.print(Text(more, style="yellow"))


def complain(text: str) -> None:
    """Print a line on standard error, in red."""
    print_line(" ".join(text.split()), stderr=True, style="red")


@contextmanager
def one_clear_line() -> Iterator[None]:
    """Turn errors that users can fix into one line and exit code 2, without a traceback."""
    try:
        with _ended_by_signals():
            yield
        return
    except (FairPCAError, OSError) as error:
        reason = str(error)
        if isinstance(error, OSError) and error.strerror and error.filename:
            reason = f"{error.filename}: {error.strerror}."
    except UnicodeEncodeError as error:  # names of files that are no text in any encoding
        reason = f"{error.object[:200]!r} cannot be written as text. Use another name."
    except KeyboardInterrupt:
        stopped("Interrupted; nothing was written.")
    complain(f"Error: {reason}")
    raise typer.Exit(ExitStatus.ERROR)


@contextmanager
def _ended_by_signals() -> Iterator[None]:
    def end(number: int, _: Any) -> NoReturn:
        _arrived.append(number)
        raise KeyboardInterrupt

    _arrived.clear()
    allowed = threading.current_thread() is threading.main_thread()
    before = {ending: signal.getsignal(ending) for ending in ENDINGS if allowed}
    try:
        for ending in before:
            if before[ending] != signal.SIG_IGN:  # as nohup has it
                signal.signal(ending, end)
        yield
    except Exception as error:
        if _arrived and not isinstance(error, typer.Exit):  # a library made it of ours
            raise KeyboardInterrupt from None
        raise
    finally:
        for ending, handler in before.items():
            signal.signal(ending, handler)


def _end_if_interrupted() -> None:
    """Raise again what was raised where Python can only ignore it, as while it collects garbage."""
    if _arrived:
        raise KeyboardInterrupt


def stopped(text: str) -> NoReturn:
    """Print a line, and exit with the code of the signal that ended the command."""
    complain(text)
    raise typer.Exit(128 + next(iter(_arrived), signal.SIGINT)) from None


@contextmanager
def files_of(tables: Sequence[str]) -> Iterator[list[str]]:
    """Give the tables as files; what comes through a pipe, or as "-", is kept in one meanwhile.

    A pipe can be read once, a file as often as it takes. Errors name what was given.
    """
    with ExitStack() as stack:
        files, named = [], dict[str, str]()
        for table in tables:
            path = Path(table).expanduser()
            if table != "-" and (path.is_file() or path.is_dir() or not path.exists()):
                files.append(table)
                continue
            if table == "-" and sys.stdin is None:
                raise CommandError("Standard input is closed. Name a file.")
            folder = stack.enter_context(TemporaryDirectory(prefix="fairpca-"))
            standard = table in ("-", "/dev/stdin")
            files.append(str(Path(folder, "standard input" if standard else path.name)))
            named[files[-1]] = "standard input" if standard else table
            source = sys.stdin.buffer if table == "-" else stack.enter_context(path.open("rb"))
            with open(files[-1], "xb") as copy:
                copyfileobj(source, copy)
        try:
            yield files
        except FairPCAError as error:
            text = str(error)
            for file, name in named.items():
                text = text.replace(file, name)
            error.args = (text,)
            raise


class CommandError(FairPCAError):
    """A command cannot do what was asked: of a file or an option."""


def beside(path: Path, ending: str) -> Path:
    """Return the name of a file beside another one."""
    if not path.name:
        raise CommandError(f"'{path}' is no name of a file. Add one.")
    return path.with_suffix(ending)


def check_outputs(
    *paths: Path | None,
    force: bool,
    inputs: Sequence[str | Path | None] = (),
    appended: Path | None = None,
) -> None:
    """Reject before the work what could not be written after it, or would replace an input.

    The file that is `appended` to may exist; whatever is there stays.
    """
    from .._files import is_no_plain_file

    read = [Path(name) for name in inputs if name is not None and Path(name).is_file()]
    given = [path for path in (*paths, appended) if path is not None]
    for path in given:
        added_to = path == appended and path.exists()
        if path.is_dir():
            raise CommandError(f"{path} is a folder, but a file is to be written. Add a file name.")
        if is_no_plain_file(path) and not added_to:
            raise CommandError(
                f"{path} is no plain file, and would be replaced by one. Use another name."
            )
        if path.exists() and not (force or added_to):
            raise CommandError(
                f"{path} exists and is kept. Use --force to replace it, or another name."
            )
        if path.exists() and any(path.samefile(name) for name in read):
            raise CommandError(
                f"{path} is what is read, so it is kept. Give the output another name."
            )
        if added_to:
            if not os.access(path, os.W_OK):
                raise CommandError(f"{path} cannot be written: you may only read it.")
            continue
        folder = Path(os.path.realpath(path)).parent
        while not folder.exists() and folder != folder.parent:  # a drive may be missing
            folder = folder.parent
        if not folder.is_dir() or not os.access(folder, os.W_OK | os.X_OK):
            raise CommandError(
                f"{path} cannot be written: {folder} is not a folder you may write to."
            )
    if len({os.path.normcase(os.path.realpath(path)) for path in given}) < len(given):
        raise CommandError("Two outputs have the same name. Give each its own.")


def write_whole(path: Path, text: str) -> None:
    """Write a text file, or nothing of it; folders on the way are made."""
    from .._files import whole_file

    _end_if_interrupted()
    with whole_file(path) as draft:
        draft.write_text(text, encoding="utf-8", newline="\n")


class _Pace:
    """How fast rows go by, one piece of work after the other.

    >>> times = iter([0.0, 2.0])
    >>> pace = _Pace(clock=lambda: next(times))
    >>> pace("Rows", 100_000, 1_000_000), pace("Rows", 300_000, 1_000_000)
    ('', '100,000 rows per second, 7 s left')
    """

    def __init__(self, clock: Callable[[], float] = monotonic) -> None:
        self._clock = clock
        self._what, self._from, self._since = "", 0, 0.0

    def __call__(self, what: str, done: int, total: int | None) -> str:
        """Return the pace in words; nothing at the first call, which may continue older work."""
        now = self._clock()
        if what != self._what:
            self._what, self._from, self._since = what, done, now
            return ""
        per_second = (done - self._from) / max(now - self._since, 1e-9)
        words = f"{per_second:,.0f} rows per second"
        if total and done < total and per_second > 0:
            words += f", {_duration((total - done) / per_second)} left"
        return words


class _TimeLeft(ProgressColumn):
    """How long the rest takes, at the pace of what is done."""

    max_refresh = 1.0

    def render(self, task: Task) -> Text:
        left = None if task.finished else task.time_remaining
        return Text("" if left is None else f"{_duration(left)} left", style="progress.remaining")


def _duration(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    if hours:
        return f"{hours} h {minutes} min"
    return f"{minutes} min {rest} s" if minutes else f"{rest} s"


@contextmanager
def shown_progress(title: str | None = None, *, quiet: bool) -> Iterator[Report | None]:
    """Give a function that shows how much is done: a bar on a terminal, lines elsewhere.

    A bar has the time left. Without a `title`, what is done is work with rows: it has a bar of its
    own, and rows per second are shown. Nothing is shown if `quiet`.
    """
    if quiet:
        yield None
        return
    console = Console(stderr=True)
    pace = None if title else _Pace()
    bar = Progress(
        TextColumn("[bold]{task.description}"),
        BarColumn(),
        TextColumn("{task.fields[count]}"),
        TimeElapsedColumn(),
        *([_TimeLeft()] if title else []),  # a pace has it in its words
        TextColumn("{task.fields[more]}", style="dim", markup=False),
        console=console,
        transient=True,
        speed_estimate_period=SPEED_OVER,
    )
    show = _on(bar) if console.is_terminal else _lines(console)

    def report(done: int, total: int | None, now: str) -> None:
        _end_if_interrupted()
        count = f"{done:,}" if total is None else f"{done:,} of {total:,}"
        if pace is None:
            show(str(title), done, total, count, now)
        else:
            show(now, done, total, f"{count} rows", pace(now, done, total))

    with bar if console.is_terminal else nullcontext():
        yield report


class LastStep:
    """One more step after work that counts its own: the bar is full when this is done, too.

    >>> last = LastStep()
    >>> report = last.after(lambda *told: print(*told))
    >>> report(32, 32, "summary")
    32 33 summary
    >>> last.is_done("page")
    33 33 page
    """

    def __init__(self) -> None:
        self._report: Report | None = None
        self._total = 1

    def after(self, report: Report) -> Report:
        """Return what tells of the steps before."""
        self._report = report

        def tell(done: int, total: int | None, now: str) -> None:
            self._total = (total or 0) + 1
            report(done, self._total, now)

        return tell

    def is_done(self, now: str) -> None:
        """Tell that all is done."""
        if self._report is not None:
            self._report(self._total, self._total, now)


_Show = Callable[[str, int, int | None, str, str], None]


def _on(bar: Progress) -> _Show:
    tasks = dict[str, TaskID]()

    def show(what: str, done: int, total: int | None, count: str, more: str) -> None:
        if what not in tasks:
            tasks[what] = bar.add_task(what, total=total, count="", more="")
        bar.update(tasks[what], completed=done, total=total, count=count, more=more)

    return show


def _lines(console: Console) -> _Show:
    """Print a line for every tenth of the work, or every million if nobody knows of how many."""
    printed = dict[str, int]()

    def show(what: str, done: int, total: int | None, count: str, more: str) -> None:
        part = 10 * done // total if total else done // MANY
        if part > printed.get(what, 0):
            printed[what] = part
            words = ", ".join(filter(None, [count, more]))
            console.print(f"{what}: {words}", markup=False, highlight=False, soft_wrap=True)

    return show
