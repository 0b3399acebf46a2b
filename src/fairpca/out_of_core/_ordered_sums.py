"""Pieces are collected side by side and added in order: the same bits from any number of threads.

A stretch (a row group, a text file) has a sum of its own, to which its pieces are added one after
the other; sums of stretches are added to the total one after the other. Which thread does what, and
when, changes nothing of this.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from threading import Condition, Thread
from typing import Any

from .._numerics import one_blas_thread
from .._rows import plus
from ..tables import ahead
from ._pieces import Piece, Stretch
from ._sums import OpenSum, SumSoFar


@dataclass
class _Lane:
    """A stretch that is being read."""

    pieces: Iterator[Piece]
    sum: OpenSum
    started: int
    reading: bool = False
    ended: bool = False
    waiting: dict[int, tuple[Any, int]] = field(default_factory=dict)


def sum_in_order(
    stretches: Sequence[Stretch],
    work: Callable[[Piece], Any],
    *,
    n_jobs: int,
    so_far: SumSoFar,
    after_each: Callable[[SumSoFar], None],
) -> Any:
    """Return the sum of what `work` makes of all pieces; None where it is always None.

    Parameters
    ----------
    stretches : sequence of Stretch
        All of them, also those that were finished before.
    work : callable
        From a piece to something that can be added, or None. Runs in threads, each with one BLAS
        thread.
    n_jobs : int
        How many of them. At most one stretch more than that is open.
    so_far : SumSoFar
        Where to start.
    after_each : callable
        Called in this thread with where the work stands, after additions. What it raises ends the
        work.
    """
    # Threads that enter and leave `catch_warnings`, as scikit-learn's checks do, may restore the
    # filters of one another; what was set before is set again at the end.
    with warnings.catch_warnings(), one_blas_thread():
        workers = _Workers(stretches, work, n_jobs, so_far)
        try:
            while workers.wait():
                workers.add()
                after_each(workers.so_far)
        finally:
            workers.stop()
    return workers.so_far.total


class _Workers:
    """Threads that read and collect; the one that made them adds."""

    def __init__(
        self,
        stretches: Sequence[Stretch],
        work: Callable[[Piece], Any],
        n_jobs: int,
        so_far: SumSoFar,
    ) -> None:
        self.stretches, self.work, self.n_jobs, self.so_far = stretches, work, n_jobs, so_far
        self.lanes: dict[int, _Lane] = {}
        self.next_stretch = so_far.finished
        self.changed = Condition()
        self.stopped = False
        self.errors: list[tuple[int, int, BaseException]] = []
        self.threads = [
            Thread(target=self._run, name=f"fairpca-pieces-{i}", daemon=True) for i in range(n_jobs)
        ]
        for thread in self.threads:
            thread.start()

    def wait(self) -> bool:
        """Wait until something can be added; False when all is done. Raise what a thread raised."""
        with self.changed:
            while True:
                if self.errors:
                    raise min(self.errors, key=lambda error: error[:2])[2]
                if any(lane.sum.added in lane.waiting for lane in self.lanes.values()):
                    return True
                if self._is_complete(self.so_far.finished):
                    return True
                if not self.lanes and self.next_stretch == len(self.stretches):
                    return False
                self.changed.wait()

    def add(self) -> None:
        """Add what is next in its stretch, and stretches that are next in the total."""
        with self.changed:
            lanes = dict(self.lanes)
        for lane in lanes.values():
            while lane.sum.added in lane.waiting:
                result, rows = lane.waiting.pop(lane.sum.added)
                before = lane.sum
                total = plus(before.total, result)
                lane.sum = OpenSum(total, before.added + 1, before.rows + rows)
        with self.changed:
            self.so_far = self._merged(lanes)
            self.changed.notify_all()

    def _merged(self, lanes: Mapping[int, _Lane]) -> SumSoFar:
        """Return where the work stands; stretches that are complete, and next, join the total."""
        before = self.so_far
        total, finished, rows = before.total, before.finished, before.rows
        opened = dict(before.open)
        for number, lane in lanes.items():
            ended = lane.ended and lane.sum.added == lane.started
            opened[number] = replace(lane.sum, ended=ended)
        while self._is_complete(finished):
            stretch = self.lanes.pop(finished).sum
            total, rows = plus(total, stretch.total), rows + stretch.rows
            opened.pop(finished, None)
            finished += 1
        return SumSoFar(total, finished, rows, opened)

    def _is_complete(self, number: int) -> bool:
        lane = self.lanes.get(number)
        return lane is not None and lane.ended and lane.sum.added == lane.started

    def stop(self) -> None:
        """End the threads, after what they are at."""
        with self.changed:
            self.stopped = True
            self.changed.notify_all()
        for thread in self.threads:
            thread.join()
        for lane in self.lanes.values():
            lane.pieces.close()  # type: ignore[attr-defined]

    def _run(self) -> None:
        while (taken := self._take()) is not None:
            number, lane = taken
            index = lane.started
            try:
                piece = next(lane.pieces, None)
                with self.changed:
                    lane.reading = False
                    lane.ended = piece is None
                    lane.started += piece is not None
                    self.changed.notify_all()
                if piece is None:
                    continue
                result = self.work(piece)
                with self.changed:
                    lane.waiting[index] = (result, piece.n_rows)
                    self.changed.notify_all()
            except BaseException as error:
                with self.changed:
                    self.errors.append((number, index, error))
                    self.stopped = True
                    self.changed.notify_all()

    def _take(self) -> tuple[int, _Lane] | None:
        """Return the first stretch that nobody reads, to read the next piece; None at the end."""
        with self.changed:
            while not self.stopped:
                for number, lane in self.lanes.items():
                    behind = lane.started - lane.sum.added
                    if not (lane.reading or lane.ended) and behind <= self.n_jobs:
                        lane.reading = True
                        return number, lane
                if self.next_stretch < len(self.stretches) and len(self.lanes) <= self.n_jobs:
                    return self._open()
                if not self.lanes and self.next_stretch == len(self.stretches):
                    return None
                self.changed.wait()
            return None

    def _open(self) -> tuple[int, _Lane]:
        number = self.next_stretch
        kept = self.so_far.open.get(number, OpenSum())
        # One thread that reads and one that collects overlap; several overlap by themselves.
        pieces = iter(()) if kept.ended else self.stretches[number].pieces(kept.added)
        lane = _Lane(_closing(ahead(pieces) if self.n_jobs == 1 else pieces), kept, kept.added)
        lane.reading = True
        self.lanes[number] = lane
        self.next_stretch += 1
        return number, lane


def _closing(pieces: Iterator[Piece]) -> Iterator[Piece]:
    """Return a generator, which can be closed before its end."""
    yield from pieces
