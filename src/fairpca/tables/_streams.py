"""Tables that arrive in batches: results of queries, Arrow readers and data sets, lazy frames.

Their libraries are not imported: all that hand over batches do it by Arrow's protocol, or have a
method for it.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import narwhals.stable.v1 as nw

from ..errors import TableError
from ._adapters import import_arrow, import_pandas

BATCH_ROWS = 2**17
"""Rows of a batch, where the source may be asked for a number."""


def open_stream(source: Any) -> Any:
    """Return a reader of the record batches of a table that is not in memory; None of all else."""
    arrow = import_arrow()
    if isinstance(source, arrow.RecordBatchReader):
        return source
    known = (import_pandas().DataFrame, arrow.Table, arrow.RecordBatch)
    if isinstance(source, known) or _is_in_memory(source):
        return None
    with reading_rows(source):
        if hasattr(source, "__arrow_c_stream__"):
            return _of_stream(source)
        if hasattr(source, "collect_schema"):  # a lazy frame of polars
            schema = source.head(0).collect().to_arrow().schema
            return arrow.RecordBatchReader.from_batches(schema, _of_lazy_frame(source, schema))
        if hasattr(source, "scanner"):  # a data set of Arrow
            source = source.scanner(batch_size=BATCH_ROWS)
        if hasattr(source, "to_reader"):  # a scanner: some columns of one, or some rows
            return source.to_reader()
    return None


def _of_stream(source: Any) -> Any:
    read = import_arrow().RecordBatchReader.from_stream
    try:
        return read(source)
    except Exception as error:  # DuckDB before 1.3 hands over the result of a relation once
        if "no query result" not in str(error):
            raise
        return read(source.select("*"))


def _is_in_memory(frame: Any) -> bool:
    return nw.from_native(frame, eager_only=True, pass_through=True) is not frame


def _of_lazy_frame(frame: Any, schema: Any) -> Iterator[Any]:
    if not hasattr(frame, "collect_batches"):  # of polars before 1.34
        yield from frame.collect().to_arrow().cast(schema).to_batches(BATCH_ROWS)
        return
    for batch in frame.collect_batches(chunk_size=BATCH_ROWS, maintain_order=True):
        yield from batch.to_arrow().cast(schema).to_batches()


def in_memory(source: Any) -> Any:
    """Return a table that arrives in batches as an Arrow table, and all else as it is."""
    reader = open_stream(source)
    if reader is None:
        return source
    with reader, reading_rows(source):
        return whole_table(list(reader), reader.schema, source)


def whole_table(batches: list[Any], schema: Any, source: Any) -> Any:
    """Return all batches as a table; raise where a reader has none, since it had some, perhaps."""
    table = import_arrow().Table.from_batches(batches, schema)
    if isinstance(source, import_arrow().RecordBatchReader) and not table.num_rows:
        raise TableError(
            "The RecordBatchReader has no rows. It hands its rows over once, so they may have been "
            "read before: make the reader again, or keep its rows with reader.read_all()."
        )
    return table


@contextmanager
def reading_rows(source: Any) -> Iterator[None]:
    """Say in one line what went wrong while rows were made; every library has its own errors."""
    try:
        yield
    except (TableError, MemoryError):
        raise
    except Exception as error:
        why = " ".join(str(error).split()).rstrip(".") or type(error).__name__
        raise TableError(
            f"The rows of the {type(source).__name__} could not be read ({why}). Correct the query "
            f"or its connection."
        ) from error
