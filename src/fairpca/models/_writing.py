"""Write batches of rows to a file, whole or not at all."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from .._numerics import whole_file
from ..errors import TableError
from ..tables import import_arrow

FORMATS = {
    ".parquet": "parquet",
    ".pq": "parquet",
    ".feather": "arrow",
    ".arrow": "arrow",
    ".ipc": "arrow",
    ".csv": "csv",
    ".csv.gz": "csv",
}


def format_of(path: Path) -> str:
    """Return the format that the ending of a name stands for.

    Examples
    --------
    >>> format_of(Path("fair.parquet"))
    'parquet'
    """
    for ending, kind in FORMATS.items():
        if path.name.lower().endswith(ending):
            return kind
    raise TableError(
        f"'{path}' does not say in which format to write. Use one of these endings: "
        f"{', '.join(FORMATS)}."
    )


@contextmanager
def written(path: Path, schema: Any, plain: list[str]) -> Iterator[Callable[[Any], None]]:
    """Give a function that adds batches to a file, which appears when all of them are written.

    Parameters
    ----------
    path : Path
        Its ending decides on the format.
    schema : pyarrow.Schema
        Of the batches.
    plain : list of str
        Columns whose values hardly ever repeat, so that a dictionary of them is of no use.

    Yields
    ------
    callable
        Takes one record batch.
    """
    arrow, kind = import_arrow(), format_of(path)
    try:
        with whole_file(path) as draft, ExitStack() as stack:
            if kind == "parquet":
                repeating = [name for name in schema.names if name not in set(plain)]
                writer = arrow.parquet.ParquetWriter(
                    draft, schema, use_dictionary=repeating or False, write_statistics=repeating
                )
                write = writer.write_batch
            elif kind == "arrow":
                fast = arrow.ipc.IpcWriteOptions(compression="lz4")
                writer = arrow.ipc.new_file(str(draft), schema, options=fast)
                write = writer.write_batch
            else:
                packing = "gzip" if path.name.lower().endswith(".gz") else None
                stream = arrow.output_stream(str(draft), compression=packing)
                writer = arrow.csv.CSVWriter(stack.enter_context(stream), schema)
                write = writer.write_batch
            stack.callback(writer.close)
            yield write
            stack.close()  # before the draft takes its place
    except arrow.ArrowException as error:
        why = str(error).splitlines()[0].rstrip(".") if str(error) else type(error).__name__
        raise TableError(f"'{path}' cannot be written: {why}. Do not keep that column.") from error
    except OSError as error:
        if error.errno is None:
            raise
        raise TableError(f"'{path}' cannot be written: {error.strerror or error}.") from error
