"""Text files, read block by block in bounded memory."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .._attributes import Roles
from ..errors import TableError
from ..tables import Batches, import_arrow, kind_of_file, open_batches
from ._column_roles import check_same_names
from ._pieces import Piece, in_pieces
from ._text_kinds import converted

BLOCK_ROWS = 2**15
"""Most rows that are texts at a time."""


@dataclass(frozen=True, eq=False)
class TextFile:
    """A text file, perhaps gzipped, whose columns are known.

    Parameters
    ----------
    path : Path
    batches : Batches
        How to read it.
    """

    path: Path
    batches: Batches

    @classmethod
    def open(cls, path: Path, **how: Any) -> TextFile:
        """Find out how a file is written."""
        kind = kind_of_file(path)
        if kind in ("parquet", "arrow"):
            raise TableError(
                f"'{path}' is a {kind} file, not a text one. Parquet files are read by ParquetRows "
                f"and moments_from_parquet."
            )
        return cls(path, open_batches(path, BLOCK_ROWS, **how))

    @property
    def names(self) -> list[str]:
        """The columns there are."""
        return self.batches.names

    def texts(self, wanted: Sequence[str], numbers: Sequence[str]) -> Iterator[dict[str, Any]]:
        """Yield blocks of texts by column; say after which row the file cannot be read."""
        done = 0
        try:
            for block in self.batches.read(wanted, numbers):
                yield block
                done += len(next(iter(block.values())))
        except TableError as error:
            raise TableError(f"{error} (This is after row {done:,}.)") from error


def check_same_columns(files: Sequence[TextFile], roles: Roles, *, every: bool) -> None:
    """Raise unless all files have the needed columns; `every` column of each is one otherwise."""
    first = files[0]
    for file in files:
        check_same_names(file.path, file.names, first.path, first.names, roles.needed, every=every)


@dataclass(frozen=True)
class WholeFile:
    """All rows of a text file.

    Parameters
    ----------
    file : TextFile
    kinds : dict of str to str
        What the columns are made of their texts; others stay texts.
    numbers : sequence of str
        Columns whose decimal sign is made a point.
    """

    file: TextFile
    columns: tuple[str, ...]
    kinds: Mapping[str, str]
    numbers: tuple[str, ...]
    piece_rows: int
    number: int

    def pieces(self, skip: int) -> Iterator[Piece]:
        """Yield the pieces in order, without the first few."""
        return in_pieces(
            self._batches(skip * self.piece_rows),
            self.piece_rows,
            skip=skip,
            stretch=self.number,
            where=f"'{self.file.path}'",
        )

    def _batches(self, done_before: int) -> Iterator[Any]:
        arrow, done = import_arrow(), 0
        for block in self.file.texts(self.columns, self.numbers):
            n = len(next(iter(block.values())))
            # What is skipped is not made numbers again.
            kinds = self.kinds if done + n > done_before else {}
            where = f"rows {done:,} to {done + n - 1:,} of '{self.file.path}'"
            arrays = [
                converted(texts, kinds[name], name, where) if name in kinds else texts
                for name, texts in block.items()
            ]
            yield arrow.RecordBatch.from_arrays(arrays, names=list(block))
            done += n
