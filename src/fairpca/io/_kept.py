"""Tables that arrive in batches, kept in a file while they are read: too large for memory."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from itertools import chain
from pathlib import Path
from tempfile import TemporaryDirectory, gettempdir
from typing import Any

from ..errors import TableError
from ..tables import (
    BATCH_ROWS,
    different_names,
    import_arrow,
    open_stream,
    reading_rows,
    simple,
    whole_table,
)
from ._rows import in_equal_batches

MOST_ROWS, MOST_BYTES = 1_000_000, 500_000_000
"""So many rows, or bytes of them, stay in memory."""


@contextmanager
def in_memory_or_file(source: Any) -> Iterator[Any]:
    """Give a table that arrives in batches as an Arrow table; a large one as a list of one file.

    Its rows are read once. The file is gone after the block. All else is given as it is.
    """
    reader = open_stream(source)
    if reader is None:
        yield source
        return
    with reader:  # a database waits until its result is read to the end, or closed
        yield from _held_or_kept(reader, source)


def _held_or_kept(reader: Any, source: Any) -> Iterator[Any]:
    held: list[Any] = []
    n_rows = n_bytes = 0
    with reading_rows(source):
        for batch in reader:
            held.append(batch)
            n_rows, n_bytes = n_rows + batch.num_rows, n_bytes + batch.nbytes
            if n_rows > MOST_ROWS or n_bytes > MOST_BYTES:
                break
        else:
            held = [whole_table(held, reader.schema, source)]
    if n_rows <= MOST_ROWS and n_bytes <= MOST_BYTES:
        yield held.pop()
        return
    with TemporaryDirectory() as folder:
        path = Path(folder, "table.parquet")
        _write(chain(_handed_over(held), _rest(reader, source)), reader.schema, path)
        try:
            yield [path]
        except TableError as error:  # nobody knows of that file
            told = str(error).replace(f"'{path}'", f"the {type(source).__name__}")
            raise TableError(told) from error


def _handed_over(batches: list[Any]) -> Iterator[Any]:
    while batches:
        yield batches.pop(0)


def _rest(reader: Any, source: Any) -> Iterator[Any]:
    with reading_rows(source):
        yield from reader


def _kept_as(kind: Any) -> Any:
    """Return a type that Parquet has for all values: decimals of databases may have a digit more.

    A HUGEINT is a decimal of 38 digits, and the largest have 39.
    """
    arrow = import_arrow()
    if not arrow.types.is_decimal128(kind) or kind.precision < 38:
        return kind
    return arrow.decimal256(39, kind.scale)


def _write(batches: Iterator[Any], schema: Any, path: Path) -> None:
    """Write batches in row groups of one size, with the columns that tables in memory have."""
    arrow = import_arrow()
    types = [_kept_as(simple(arrow.nulls(0, field.type)).type) for field in schema]
    schema = arrow.schema(list(zip(different_names(schema.names)[0], types, strict=True)))

    def plain() -> Iterator[Any]:
        for batch in batches:
            arrays = [simple(column) for column in batch.columns]
            arrays = [a if a.type == t else a.cast(t) for a, t in zip(arrays, types, strict=True)]
            yield arrow.RecordBatch.from_arrays(arrays, schema=schema)

    try:
        with arrow.parquet.ParquetWriter(path, schema, compression="zstd") as writer:
            for table in in_equal_batches(plain(), BATCH_ROWS):
                writer.write_table(table, row_group_size=BATCH_ROWS)
    except OSError as error:
        raise TableError(
            f"The table is too large for memory, and its rows could not be kept in "
            f"'{gettempdir()}' ({error}). Set TMPDIR to a folder with more room."
        ) from error
