"""The rows of a table on disk as parts, added in order, with a checkpoint."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import Any

from .._rows import Collect, Part
from ..errors import TableError
from ..out_of_core import FileRows, Piece, Stretch
from ..tables import import_arrow
from ._table_files import TableFile
from ._table_stretches import stretches

Progress = Callable[[int, int | None, str], None]
"""Called with the rows done, the rows there are or None, and what is being done."""

CHECKPOINT_SECONDS = 10.0


class TableParts(FileRows):
    """Parts whose features are Arrow tables of the columns as they are in the files.

    Parameters
    ----------
    table : sequence of TableFile
        The files.
    columns : sequence of str
        Which columns are read.
    piece_rows : int
        Rows of a part.
    title : str
        What is being done, for people who wait.
    n_jobs : int or None
        Threads.
    checkpoint : path or None
        Where to keep sums of moments.
    progress : callable or None
    """

    def __init__(
        self,
        table: Sequence[TableFile],
        columns: Sequence[str],
        *,
        piece_rows: int,
        title: str,
        n_jobs: int | None = None,
        checkpoint: str | os.PathLike[str] | None = None,
        progress: Progress | None = None,
    ) -> None:
        self.table, self.columns = table, tuple(columns)
        counted = [file.n_rows for file in table if file.n_rows is not None]
        say = None if progress is None else lambda done, total: progress(done, total, title)
        super().__init__(
            [file.state for file in table],
            None,  # type: ignore[arg-type]  # parts are made here, of columns of any kind
            piece_rows=piece_rows,
            n_rows=sum(counted) if len(counted) == len(table) else None,
            n_jobs=n_jobs,
            checkpoint=checkpoint,
            checkpoint_seconds=CHECKPOINT_SECONDS,
            progress=say,
        )

    @property
    def head(self) -> Part:
        """A table without rows; texts as texts."""
        arrow, types = import_arrow(), self.table[0].types
        empty = {name: arrow.array([], types.get(name, arrow.string())) for name in self.columns}
        return Part(arrow.table(empty))

    def fold(self, collect: Collect) -> Any:
        """Return the sum of what `collect` returns for the parts, as `FileRows.fold` does."""

        def work(piece: Piece) -> Any:
            table = import_arrow().table(dict(piece.columns))
            try:
                return collect(Part(table, number=piece.number))
            except TableError as error:
                raise TableError(f"In {piece.where}: {error}") from error

        return self._sum(self.columns, work, getattr(collect, "fingerprint", None))

    def _stretches(self, columns: Sequence[str]) -> Sequence[Stretch]:
        return stretches(self.table, columns, self.piece_rows)

    def _asked(self, fingerprint: str | None) -> dict[str, str]:
        return {
            "columns": repr(self.columns),
            "way to read the files": repr([file.dialect for file in self.table]),
            "rows per batch": repr(self.piece_rows),
            "columns, parameters or seed": repr(fingerprint),
        }

    def __repr__(self) -> str:
        return f"<TableParts: {len(self.table)} files, {len(self.columns)} columns>"
