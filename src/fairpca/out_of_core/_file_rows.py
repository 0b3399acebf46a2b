"""Rows of files as estimators take them: parts, added in order, with a checkpoint."""

from __future__ import annotations

import contextlib
import os
import time
from abc import abstractmethod
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from joblib import effective_n_jobs

from .._numerics import blas_threads
from .._rows import Collect, Part, RowsElsewhere
from ..errors import CheckpointError, TableError, UnknownQuestionError, UsageError
from ._checkpoint import Checkpoint, Question
from ._number_parts import Parts
from ._ordered_sums import sum_in_order
from ._paths import FileState
from ._pieces import Piece, Stretch
from ._sums import SumSoFar

Progress = Callable[[int, int | None], None]


class FileRows(RowsElsewhere):
    """Rows of files that may be larger than the memory.

    Parameters
    ----------
    files : sequence of FileState
        As they were found.
    parts : Parts
        From columns to the arguments of `fit`.
    piece_rows : int
        Rows at a time.
    n_rows : int or None
        How many there are, where the files say so.
    n_jobs : int or None
        Pieces that are read and collected side by side, each with one BLAS thread; None: as many
        as BLAS may use threads, -1: as many as there are cores. The result is the same to the bit.
    checkpoint : path or None
        Where to save how far the work is.
    checkpoint_seconds : float
        How often.
    progress : callable or None
        Called with the number of rows that were added, and of all rows or None.
    """

    def __init__(
        self,
        files: Sequence[FileState],
        parts: Parts,
        *,
        piece_rows: int,
        n_rows: int | None,
        n_jobs: int | None,
        checkpoint: str | os.PathLike[str] | None,
        checkpoint_seconds: float,
        progress: Progress | None,
    ) -> None:
        if n_jobs is not None and (type(n_jobs) is not int or n_jobs == 0):
            raise UsageError(
                f"n_jobs={n_jobs!r} is no number of threads. Use 1 or more, -1 or None."
            )
        if type(piece_rows) is not int or piece_rows < 1:
            raise UsageError(f"batch_rows={piece_rows!r} is no number of rows. Use 1 or more.")
        self.files, self.parts, self.piece_rows, self.n_rows = files, parts, piece_rows, n_rows
        self.n_jobs, self.progress = n_jobs, progress
        self.checkpoint = None if checkpoint is None else Checkpoint(checkpoint)
        self.checkpoint_seconds = checkpoint_seconds
        if self.checkpoint is not None and parts is not None:
            parts.check_known()

    @abstractmethod
    def _stretches(self, columns: Sequence[str]) -> Sequence[Stretch]:
        """Return all rows, in the stretches in which they are read."""

    @property
    def head(self) -> Part:
        """A part without rows: it tells the names and types of the columns."""
        return self.parts.head

    def fold(self, collect: Collect) -> Any:
        """Return the sum of what `collect` returns for the parts; None if all parts are empty.

        With a checkpoint, the work continues where it was when it was saved, if `collect` tells its
        fingerprint; a sample of rows is drawn anew.

        Parameters
        ----------
        collect : callable
            From a `Part` to something that can be added, or None where it has no rows.

        Returns
        -------
        object or None
            The sum; the same to the bit for any number of threads.
        """
        needed = self.parts.roles.needed

        def work(piece: Piece) -> Any:
            part = self.parts(piece)
            piece.columns.clear()  # before the products: a piece is in memory once
            try:
                return collect(part)
            except ValueError as error:
                raise _placed(error, part, piece.where) from error

        return self._sum(needed, work, self._fingerprint(collect))

    def _fingerprint(self, collect: Collect) -> str | None:
        """Return what tells this question from others; without a checkpoint nobody asks."""
        if self.checkpoint is None:
            return None
        try:
            getattr(collect, "asked_later", None)  # refused now, not after all rows were read
            return getattr(collect, "fingerprint", None)
        except UnknownQuestionError as error:
            raise CheckpointError(f"{error} Or work without a checkpoint.") from error

    def _sum(
        self, columns: Sequence[str], work: Callable[[Piece], Any], fingerprint: str | None
    ) -> Any:
        question = Question(self.files, self._asked(fingerprint))
        stretches = self._stretches(columns)
        so_far = self._where_it_stood(question, len(stretches), known=fingerprint is not None)
        keeps = self.checkpoint if fingerprint is not None else None
        if keeps is not None:
            keeps.save(question, so_far)  # at once: a place that cannot be written to is told early
        if self.progress is not None and so_far.rows_done:
            self.progress(so_far.rows_done, self.n_rows)  # what an earlier run has done
        saved, latest = time.monotonic(), so_far

        def after_each(now: SumSoFar) -> None:
            nonlocal saved, latest
            more = now.rows_done > latest.rows_done  # the end of a stretch adds no rows
            latest = now
            if self.progress is not None and more:
                self.progress(now.rows_done, self.n_rows)
            if keeps is not None and time.monotonic() - saved >= self.checkpoint_seconds:
                keeps.save(question, now)
                saved = time.monotonic()

        n_jobs = blas_threads() if self.n_jobs is None else effective_n_jobs(self.n_jobs)
        try:
            total = sum_in_order(
                stretches, work, n_jobs=n_jobs, so_far=so_far, after_each=after_each
            )
            self._check_unchanged()
        except (Exception, KeyboardInterrupt) as error:
            if isinstance(error, TableError):
                self._check_unchanged()  # or that is what went wrong
            if keeps is not None:
                with contextlib.suppress(ValueError):  # what went wrong first is what matters
                    keeps.save(question, latest)
            raise
        if keeps is not None:
            keeps.remove()
        return total

    def _where_it_stood(self, question: Question, n_stretches: int, *, known: bool) -> SumSoFar:
        if self.checkpoint is None:
            return SumSoFar()
        found = self.checkpoint.load(question, files_only=not known)
        if found.finished > n_stretches or any(i >= n_stretches for i in found.open):
            raise CheckpointError(
                f"The checkpoint '{self.checkpoint.path}' is damaged: it counts more parts than "
                f"the files have. Delete it to start anew, or give another name."
            )
        return found if known else SumSoFar()

    def _asked(self, fingerprint: str | None) -> dict[str, str]:
        roles = self.parts.roles
        return {
            "features": repr((roles.features, str(self.parts.dtype), tuple(self.parts.names))),
            "columns": repr((roles.sensitive, roles.target, roles.weight)),
            "encoder or attributes": "" if self.checkpoint is None else self.parts.fingerprint,
            "batch_rows": repr(self.piece_rows),
            "reading": self._reading(),
            "parameters, or random_state": repr(fingerprint),
        }

    def _reading(self) -> str:
        """Return what else decides how the files are read."""
        return type(self).__name__

    def _check_unchanged(self) -> None:
        for state in self.files:
            now = FileState.of(Path(state.path), state.digest)
            if now != state:
                raise TableError(
                    f"'{state.path}' was changed while it was read, so its rows are some of the "
                    f"old and some of the new ones. Wait until it is written, and start anew."
                )

    def __repr__(self) -> str:
        rows = "" if self.n_rows is None else f"{self.n_rows:,} rows, "
        files = f"{len(self.files)} file{'s' if len(self.files) != 1 else ''}"
        return f"<{type(self).__name__}: {files}, {rows}{len(self.parts.names)} features>"


def _placed(error: ValueError, part: Part, where: str) -> ValueError:
    """Return an error about some rows with the place of these rows."""
    X = part.X.to_numpy()
    finite = np.isfinite(X)
    if not finite.all():
        row, column = (int(i) for i in np.argwhere(~finite)[0])
        value = "missing (NaN)" if np.isnan(X[row, column]) else "infinite"
        return TableError(
            f"The feature '{part.X.columns[column]}' is {value} in row {row:,} of {where}. Fill it "
            f"in, or leave the column or the row out."
        )
    if len(error.args) != 1 or not isinstance(error.args[0], str):
        return error
    return type(error)(f"In {where}: {error}")
