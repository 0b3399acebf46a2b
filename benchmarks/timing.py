"""Measure a line: contestants in hot processes of their own, or in turns in one process.

Machines are noisy and change speed, so contestants are measured round after round, each for a
moment, and a ratio is taken in every round: the lowest and the highest of them are its noise.
Nobody pauses. Alone, each contestant has a process of its own; the others wait at a pipe, and
the first run after waiting does not count. Alternating, all are called in turns in one process,
where threads of one library may still spin when another's start.
"""

import multiprocessing
import os
import signal
import statistics
import time
import warnings
from collections.abc import Iterable
from contextlib import ExitStack
from dataclasses import dataclass, replace
from tempfile import TemporaryDirectory

from .lines import ALONE, OURS, Line
from .results import Row, Spread

SLOWER = 1.5
"""Other contestants who take so many times as long as the best of them are not measured again."""

ANSWER = 120.0
"""Seconds after which nobody waits for an answer any more."""


class Measured(float):
    """What a contestant measured itself, instead of the time of the call."""


class NoAnswer(Exception):
    """Why a line, or a contestant, has no number."""


@dataclass(frozen=True)
class Pace:
    """How much is measured: rounds of some seconds of each contestant, least and most runs there.

    Runs in the first `idle` seconds of a round, and one at least, do not count; none if None.
    """

    rounds: int = 5
    seconds: float = 0.2
    least: int = 2
    runs: int = 100
    idle: float | None = None


FULL, QUICK = Pace(), Pace(rounds=3, seconds=0.15, least=1)
WARM_UP = Pace(seconds=0.5, least=1, runs=2)

LONG = 0.5
"""A contestant that takes so many seconds is called once a round, three rounds, and hot enough."""


class Guests:
    """A process with one contestant or several, who run when they are asked to."""

    def __init__(self, line: Line, names: Iterable[str], folder: str) -> None:
        self.names = tuple(names)
        fresh = multiprocessing.get_context("spawn")
        self._pipe, there = fresh.Pipe()
        self._process = fresh.Process(target=_serve, args=(there, line, self.names, folder))
        self._process.start()
        there.close()

    def answer(self, patience: float):
        """Wait for what the process says."""
        try:
            if not self._pipe.poll(patience):
                raise NoAnswer(f"no answer after {patience:.0f} s")
            said, content = self._pipe.recv()
        except (EOFError, OSError):
            raise NoAnswer("its process died") from None
        if said == "failed":
            raise NoAnswer(content)
        return content

    def run(self, names: Iterable[str], pace: Pace, patience: float) -> dict:
        """Return the numbers of each contestant, called in turns for some seconds."""
        self._pipe.send((tuple(names), pace))
        return self.answer(patience)

    def __enter__(self) -> "Guests":
        return self

    def __exit__(self, *error: object) -> None:
        self._pipe.close()  # at which it ends, unless it is busy
        self._process.join(2.0)
        self._process.kill()
        self._process.join()


def _serve(pipe, line: Line, names: tuple[str, ...], folder: str) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # whoever asked decides
    os.environ["TMPDIR"] = folder  # of whoever asked, who removes it
    warnings.simplefilter("ignore")
    for stream in (1, 2):
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream)
    try:
        runs = {name: line.contestant(name) for name in names}
        pipe.send(("ready", _threads()))
        while True:
            asked, pace = pipe.recv()
            pipe.send(("measured", _in_turns({name: runs[name] for name in asked}, pace)))
    except EOFError:
        return
    except Exception as error:
        first = str(error).strip().splitlines() or [""]
        pipe.send(("failed", f"{type(error).__name__}: {first[0]}"))


def _in_turns(runs: dict, pace: Pace) -> dict[str, list[float]]:
    found: dict[str, list[float]] = {name: [] for name in runs}
    hot = None if pace.idle is None else time.perf_counter() + pace.idle
    while hot is not None:
        for run in runs.values():
            run()
        hot = hot if time.perf_counter() < hot else None
    ends = time.perf_counter() + pace.seconds * len(runs)
    for turn in range(pace.runs):
        if turn >= pace.least and time.perf_counter() > ends:
            break
        for name, run in runs.items():
            started = time.perf_counter()
            result = run()
            took = time.perf_counter() - started
            found[name].append(float(result) if isinstance(result, Measured) else took)
    return found


def _threads() -> int:
    from threadpoolctl import threadpool_info

    found = [library["num_threads"] for library in threadpool_info()]
    return max(found, default=1)


def measured(line: Line, mode: str, pace: Pace = FULL, patience: float = ANSWER) -> Row:
    """Return the row of a line in a mode; where something fails, a row with the reason."""
    ends = time.monotonic() + patience
    row = Row.of(line, mode)
    names = [OURS, *line.against]
    teams = [[name] for name in names] if mode == ALONE else [names]
    try:
        with ExitStack() as stack:
            folder = stack.enter_context(TemporaryDirectory(prefix="fairpca-"))
            guests = [stack.enter_context(Guests(line, team, folder)) for team in teams]
            return _contest(line, row, guests, pace, ends)
    except NoAnswer as why:
        return row.without_numbers(str(why))


def _contest(line: Line, row: Row, guests: list[Guests], pace: Pace, ends: float) -> Row:
    notes: dict[str, str] = {}
    first: dict[str, list[float]] = {}

    def left() -> float:
        return max(ends - time.monotonic(), 0.1)

    # All make their data at once; then each is called, and the last call tells who is worth more.
    for step in ("start", "warm up"):
        for team in [g for g in guests if not notes.keys() & set(g.names)]:
            try:
                if step == "start":
                    row.threads = team.answer(left())
                else:
                    first |= team.run(team.names, replace(WARM_UP, runs=2 - line.once), left())
            except NoAnswer as why:
                if OURS in team.names:
                    raise
                notes[team.names[0]] = str(why)
    last = {name: values[-1] for name, values in first.items()}
    best = min((last[name] for name in last if name != OURS), default=0.0)
    kept = [name for name in last if name == OURS or last[name] <= SLOWER * best]
    rounds = [first] if line.once else []
    waited = row.mode == ALONE and line.unit == "s"
    pace = replace(pace, idle=0.1 if waited else None)
    if max(last[name] for name in kept) > LONG:
        pace = replace(pace, rounds=3, least=1, idle=None)
    for _ in range(0 if line.once else pace.rounds):
        rounds.append({})
        for team in guests:
            here = [name for name in team.names if name in kept]
            if here:
                rounds[-1] |= team.run(here, pace, left())
    return _judged(row, line, rounds, {n: first[n] for n in last if n not in kept}, notes)


def _judged(row: Row, line: Line, rounds: list[dict], slow: dict, notes: dict) -> Row:
    medians = {name: [statistics.median(r[name]) for r in rounds] for name in rounds[0]}
    row.contestants = {
        name: Spread.of(medians[name], sum(len(r[name]) for r in rounds)) for name in medians
    } | {name: Spread.of(values[-1:], 1) for name, values in slow.items()}
    row.ours = statistics.median(medians[OURS])
    row.rounds = len(rounds)
    row.low, row.high = min(medians[OURS]), max(medians[OURS])
    row.note = "; ".join(f"{name}: {why}" for name, why in notes.items())
    others = {n: statistics.median(values) for n, values in medians.items() if n != OURS}
    if others:
        row.against = min(others, key=others.__getitem__)
        row.theirs = others[row.against]
        pairs = zip(medians[OURS], medians[row.against], strict=True)
        ratios = [a / b for a, b in pairs if b > 0]  # a fit may need no memory of its own
        if ratios:
            row.ratio, row.low, row.high = statistics.median(ratios), min(ratios), max(ratios)
    elif line.against and not row.note:
        row.note = "nobody to compare with"
    return row
