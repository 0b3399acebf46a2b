"""Row groups of Parquet files, read piece by piece in bounded memory."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from ..errors import TableError
from ..tables import import_arrow, sound, unreadable
from ._column_types import TEXT, kind_of_column
from ._parquet_footers import Footer
from ._pieces import Piece, in_pieces

BUFFER_BYTES = 2**14
"""A column is read through a buffer: without one, all of its row group is read at once."""

READ_ROWS = 2**16
"""Rows that pyarrow reads at a time. It keeps the last ones while it reads the next."""


@dataclass(frozen=True)
class RowGroups:
    """Consecutive row groups of a file: a large one, or small ones that make one piece."""

    footer: Footer
    first: int
    last: int
    columns: tuple[str, ...]
    piece_rows: int
    number: int

    @property
    def where(self) -> str:
        """For messages; row groups are counted from 0, as pyarrow does."""
        groups = f"row groups {self.first} to {self.last}"
        groups = f"row group {self.first}" if self.first == self.last else groups
        return f"{groups} of '{self.footer.path}'"

    def pieces(self, skip: int) -> Iterator[Piece]:
        """Yield the pieces in order, without the first few."""
        arrow, footer = import_arrow(), self.footer
        texts = [n for n in self.columns if kind_of_column(footer.types[n]) == TEXT]
        with (
            self._whole(),
            # Neither mapped nor buffered ahead: both keep what was read, up to the whole file.
            arrow.parquet.ParquetFile(
                footer.path,
                read_dictionary=texts,
                memory_map=False,
                pre_buffer=False,
                buffer_size=BUFFER_BYTES,
                page_checksum_verification=True,  # of files that have checksums
            ) as file,
        ):
            batches = file.iter_batches(
                min(READ_ROWS, self.piece_rows),
                row_groups=list(range(self.first, self.last + 1)),
                columns=list(self.columns),
                use_threads=False,
            )
            yield from in_pieces(
                map(sound, batches),
                self.piece_rows,
                skip=skip,
                stretch=self.number,
                where=self.where,
            )

    @contextmanager
    def _whole(self) -> Iterator[None]:
        arrow = import_arrow()
        try:
            yield
        except (arrow.ArrowException, UnicodeDecodeError) as error:
            raise self._damaged(error) from error
        except OSError as error:
            if error.errno is not None:
                raise unreadable(self.footer.path, error) from error
            raise self._damaged(error) from error

    def _damaged(self, error: Exception) -> TableError:
        why = str(error).splitlines()[0].rstrip(".") if str(error) else type(error).__name__
        where = self.where[0].upper() + self.where[1:]
        return TableError(f"{where} cannot be read: {why}. The file is damaged; get it again.")


def stretches_of(
    footers: Sequence[Footer], columns: Sequence[str], piece_rows: int
) -> list[RowGroups]:
    """Return row groups, small neighbours together while they make one piece."""
    found: list[RowGroups] = []
    for footer in footers:
        first, held = 0, 0
        for i, rows in enumerate((*footer.rows, piece_rows)):
            if i > first and held + rows > piece_rows:
                found.append(
                    RowGroups(footer, first, i - 1, tuple(columns), piece_rows, len(found))
                )
                first, held = i, 0
            held += rows
    return found
