"""Rows of one text or Feather file of a table, read one after the other."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from ..out_of_core import Piece, Stretch, in_pieces, stretches_of
from ..tables import (
    arrow_stream,
    damaged,
    explained,
    import_arrow,
    options,
    slowly,
    sound,
    undecodable,
    unreadable,
    unreadable_binary,
)
from ._table_files import TableFile

CSV_BLOCK = 2**21


@dataclass(frozen=True)
class WholeFile:
    """A file without row groups.

    Parameters
    ----------
    file : TableFile
        Text or Feather.
    columns : tuple of str
        Which columns are read; texts come as they are.
    piece_rows, number : int
        Rows of a piece; number of the stretch.
    """

    file: TableFile
    columns: tuple[str, ...]
    piece_rows: int
    number: int

    def pieces(self, skip: int) -> Iterator[Piece]:
        """Yield the pieces in order, without the first few."""
        read = _texts if self.file.kind == "text" else _feather
        where = f"'{self.file.path}'"
        yield from in_pieces(
            read(self.file, self.columns),
            self.piece_rows,
            skip=skip,
            stretch=self.number,
            where=where,
        )


def _feather(file: TableFile, columns: Sequence[str]) -> Iterator[Any]:
    arrow = import_arrow()
    wanted = sorted(file.names.index(name) for name in columns)
    only = arrow.ipc.IpcReadOptions(included_fields=wanted)
    try:
        with arrow.OSFile(str(file.path)) as source:
            opened = arrow.ipc.open_file(source, options=only)
            for i in range(opened.num_record_batches):
                yield sound(opened.get_batch(i))
    except (arrow.ArrowException, UnicodeDecodeError) as error:
        raise damaged(file.path, "arrow", error) from error
    except OSError as error:
        raise unreadable_binary(file.path, "arrow", error) from error


def _texts(file: TableFile, columns: Sequence[str]) -> Iterator[Any]:
    arrow, dialect = import_arrow(), file.dialect
    assert dialect is not None
    if dialect.delimiter == " " or dialect.spaced_quotes:
        for batch in slowly(file.path, dialect, file.names):
            yield batch.select(list(columns))
        return
    asked = options(dialect, file.names, columns)
    asked["read_options"].block_size = CSV_BLOCK
    asked["read_options"].use_threads = False  # others do the work meanwhile
    try:
        with arrow_stream(file.path) as stream:
            yield from arrow.csv.open_csv(stream, **asked)
    except arrow.ArrowInvalid as error:
        if "Empty CSV" not in str(error):  # names of columns and no rows: some engines write such
            raise explained(file.path, error, dialect) from error
    except UnicodeDecodeError as error:
        raise undecodable(file.path, error) from error
    except OSError as error:
        raise unreadable(file.path, error) from error


def stretches(
    files: Sequence[TableFile], columns: Sequence[str], piece_rows: int
) -> Sequence[Stretch]:
    """Return all rows of a table, in order."""
    footers = [file.footer for file in files if file.footer is not None]
    if footers:
        return stretches_of(footers, columns, piece_rows)
    return [WholeFile(file, tuple(columns), piece_rows, i) for i, file in enumerate(files)]
