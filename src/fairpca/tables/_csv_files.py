"""Read a text file whose dialect is known, every line of it or none."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from ..errors import TableError
from ._adapters import import_arrow
from ._csv_dialect import CsvDialect
from ._file_kinds import kind_of_file, opened
from ._text_values import NULL_STRINGS, TRUTHS, without_nulls

MISSING = sorted(NULL_STRINGS - {"?", "...", "none"})
"""What pandas takes for missing. The others are missing in columns of numbers only."""


def read_texts(path: Path, dialect: CsvDialect, names: Sequence[str]) -> Any:
    """Return an Arrow table of texts, one column per name."""
    if dialect.delimiter == " " or dialect.spaced_quotes:
        batches = list(slowly(path, dialect, names))
        if not batches:
            raise TableError(f"'{path}' has names of columns but no rows.")
        return import_arrow().Table.from_batches(batches)
    arrow = import_arrow()
    with opened(path) as stream:
        try:
            table = arrow.csv.read_csv(stream, **options(dialect, names))
        except arrow.ArrowInvalid as error:
            raise explained(path, error, dialect) from error
    return table


@contextmanager
def arrow_stream(path: Path) -> Iterator[Any]:
    """Open a text file for Arrow to read in blocks, unpacked as it is when it is read whole.

    What the file is decides, not its name; and Arrow does not unpack all that is packed.
    """
    if kind_of_file(path) == "gzip":
        with opened(path) as stream:
            yield stream
    else:
        with import_arrow().input_stream(str(path), compression=None) as stream:
            yield stream


def options(
    dialect: CsvDialect, names: Sequence[str], wanted: Sequence[str] | None = None
) -> dict[str, Any]:
    """Return how Arrow has to read a file of this dialect: as texts, all or the wanted columns."""
    arrow = import_arrow()
    types = {name: arrow.string() for name in (names if wanted is None else wanted)}
    return {
        "read_options": arrow.csv.ReadOptions(
            column_names=list(names),
            skip_rows=dialect.lines_before,
            encoding="utf8" if dialect.encoding == "utf-8-sig" else dialect.encoding,
        ),
        "parse_options": arrow.csv.ParseOptions(
            delimiter=dialect.delimiter, newlines_in_values=True
        ),
        "convert_options": arrow.csv.ConvertOptions(
            column_types=types,
            include_columns=list(types),
            strings_can_be_null=True,
            null_values=MISSING,
        ),
    }


def explained(path: Path, error: Exception, dialect: CsvDialect) -> TableError:
    """Return Arrow's complaint about a text file in the words of this package."""
    text = str(error)
    expected = re.search(r"Expected (\d+) columns, got (\d+): ?(.*)", text, re.DOTALL)
    if expected:
        return _miscounted(path, int(expected[2]), int(expected[1]), expected[3])
    if "Empty CSV" in text:
        return TableError(f"'{path}' has names of columns but no rows.")
    return TableError(f"'{path}' cannot be read as a table: {text.splitlines()[0]}")


def _miscounted(path: Path, found: int, expected: int, line: str) -> TableError:
    start = " ".join(line.split())[:60]
    return TableError(
        f"'{path}' has a line with {found} fields instead of {expected}: '{start}'. Was the file "
        f"cut off? Correct the line, or remove it."
    )


def slowly(
    path: Path, dialect: CsvDialect, names: Sequence[str], batch_rows: int = 2**16
) -> Iterator[Any]:
    """Yield batches of what Arrow cannot read: runs of blanks, and blanks before quotes."""
    arrow = import_arrow()
    schema = arrow.schema([(name, arrow.string()) for name in names])
    missing = set(MISSING)
    with opened(path) as stream:
        lines = io.TextIOWrapper(stream, encoding=dialect.encoding, newline="")
        for _ in range(dialect.lines_before):
            next(lines, None)
        stripped = (line.strip(" \r\n") + "\n" for line in lines)
        rows = csv.reader(stripped, delimiter=dialect.delimiter, skipinitialspace=True)
        held: list[list[str | None]] = []
        for row in rows:
            if not row:
                continue
            if len(row) != len(names):
                raise _miscounted(path, len(row), len(names), dialect.delimiter.join(row))
            held.append([None if value in missing else value for value in row])
            if len(held) == batch_rows:
                yield _batch(held, schema)
                held = []
        if held:
            yield _batch(held, schema)


def _batch(rows: list[list[str | None]], schema: Any) -> Any:
    arrow = import_arrow()
    columns = [arrow.array(values, arrow.string()) for values in zip(*rows, strict=True)]
    return arrow.RecordBatch.from_arrays(columns, schema=schema)


def with_points(texts: Any, decimal: str) -> Any:
    """Return texts of numbers with a decimal point, whatever they are written with."""
    if decimal == ".":
        return texts
    return import_arrow().compute.replace_substring(texts, decimal, ".")


def typed(column: Any, decimal: str) -> Any:
    """Return a column of texts as integers, floats or truth values, where all of it is.

    Examples
    --------
    >>> import pyarrow as pa
    >>> typed(pa.chunked_array([["1", " 2", "?"]]), ".").to_pylist()
    [1, 2, None]
    >>> typed(pa.chunked_array([["1", "b ", "?"]]), ".").to_pylist()
    ['1', 'b', '?']
    """
    arrow = import_arrow()
    compute = arrow.compute
    texts = compute.utf8_trim_whitespace(column)
    texts = without_nulls(texts, MISSING)
    known = without_nulls(texts)
    if known.null_count == len(known):
        return texts
    written = with_points(known, decimal)
    for kind in (arrow.int64(), arrow.float64()):
        try:
            return written.cast(kind)
        except arrow.ArrowInvalid:
            continue
    truths = arrow.array(sorted(TRUTHS))
    small = compute.utf8_lower(known)
    if compute.all(compute.is_in(small.drop_null(), truths)).as_py():
        return compute.equal(small, "true")
    return texts
