"""Text files whose dialect is known: every line is read, or none."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from ..errors import TableError
from ._adapters import import_arrow
from ._dialect import CsvDialect, sniff
from ._files import FileState, TableFile, different_names, kind_of_file, opened, reading
from ._text_values import MISSING, typed, with_points

BLOCK_BYTES = 2**22


@dataclass(frozen=True, eq=False)
class TextTable(TableFile):
    """A text file, perhaps gzipped, whose dialect was found out."""

    kind: ClassVar[str] = "text"
    dialect: CsvDialect

    @classmethod
    def open(cls, path: Path, **how: Any) -> TextTable:
        """Find out how a file is written; `how` is what was said about it."""
        state, dialect = FileState.of(path), sniff(path, **how)
        names, renamed = different_names(dialect.names)
        places = {name: i for i, name in enumerate(names)}
        return cls(path, state, tuple(names), renamed, {}, None, dialect.names, places, dialect)

    @property
    def decimals(self) -> dict[str, str]:
        """The decimal sign of each column."""
        return dict(zip(self.names, self.dialect.decimals, strict=True))

    def read(self) -> Any:
        """Return all of it as an Arrow table, of numbers where all values are."""
        arrow = import_arrow()
        if self._is_for_python:
            batches = list(self._slowly(2**16))
            if not batches:
                raise TableError(f"'{self.path}' has names of columns but no rows.")
            texts = arrow.Table.from_batches(batches)
        else:
            with opened(self.path) as stream, self._explained():
                texts = arrow.csv.read_csv(stream, **self._options(self.names))
        columns = [typed(c, d) for c, d in zip(texts.columns, self.dialect.decimals, strict=True)]
        return arrow.table(columns, names=texts.column_names)

    def batches(
        self,
        columns: Sequence[str],
        rows: int,
        *,
        span: range | None = None,
        numbers: Sequence[str] = (),
        use_threads: bool = True,
    ) -> Iterator[Any]:
        """Yield record batches of texts; none if there are names of columns only."""
        arrow = import_arrow()
        signs = [self.decimals[name] if name in set(numbers) else "." for name in columns]
        read = self._slowly(rows) if self._is_for_python else self._fast(columns, use_threads)
        for batch in read:
            for start in range(0, batch.num_rows, rows):
                part = batch.slice(start, rows).select(list(columns))
                points = map(with_points, part.columns, signs)
                yield arrow.RecordBatch.from_arrays(list(points), names=list(columns))

    def _fast(self, columns: Sequence[str], use_threads: bool) -> Iterator[Any]:
        options = self._options(columns)
        options["read_options"].block_size = BLOCK_BYTES
        options["read_options"].use_threads = use_threads
        with _arrow_stream(self.path) as stream, self._explained(rows_needed=False):
            yield from import_arrow().csv.open_csv(stream, **options)

    @property
    def _is_for_python(self) -> bool:
        return self.dialect.delimiter == " " or self.dialect.spaced_quotes

    def _options(self, wanted: Sequence[str]) -> dict[str, Any]:
        """Return how Arrow has to read this file: the wanted columns, as texts."""
        csv, dialect = import_arrow().csv, self.dialect
        return {
            "read_options": csv.ReadOptions(
                column_names=list(self.names),
                skip_rows=dialect.lines_before,
                encoding="utf8" if dialect.encoding == "utf-8-sig" else dialect.encoding,
            ),
            "parse_options": csv.ParseOptions(delimiter=dialect.delimiter, newlines_in_values=True),
            "convert_options": csv.ConvertOptions(
                column_types={name: import_arrow().string() for name in wanted},
                include_columns=list(wanted),
                strings_can_be_null=True,
                null_values=MISSING,
            ),
        }

    @contextmanager
    def _explained(self, *, rows_needed: bool = True) -> Iterator[None]:
        """Say Arrow's complaint about a text file in the words of this package."""
        try:
            yield
        except import_arrow().ArrowInvalid as error:
            text = str(error)
            counts = re.search(r"Expected (\d+) columns, got (\d+): ?(.*)", text, re.DOTALL)
            if counts:
                raise self._miscounted(int(counts[2]), int(counts[1]), counts[3]) from error
            if "Empty CSV" in text and not rows_needed:
                return  # some engines write such files
            if "Empty CSV" in text:
                raise TableError(f"'{self.path}' has names of columns but no rows.") from error
            first = text.splitlines()[0]
            raise TableError(f"'{self.path}' cannot be read as a table: {first}") from error

    def _miscounted(self, found: int, expected: int, line: str) -> TableError:
        start = " ".join(line.split())[:60]
        return TableError(
            f"'{self.path}' has a line with {found} fields instead of {expected}: '{start}'. Was "
            f"the file cut off? Correct the line, or remove it."
        )

    def _slowly(self, batch_rows: int) -> Iterator[Any]:
        """Yield batches of what Arrow cannot read: runs of blanks, and blanks before quotes."""
        arrow, dialect, width = import_arrow(), self.dialect, len(self.names)
        missing = set(MISSING)

        def batch(rows: list[list[str | None]]) -> Any:
            columns = [arrow.array(values, arrow.string()) for values in zip(*rows, strict=True)]
            return arrow.RecordBatch.from_arrays(columns, names=list(self.names))

        with opened(self.path) as stream:
            lines = io.TextIOWrapper(stream, encoding=dialect.encoding, newline="")
            for _ in range(dialect.lines_before):
                next(lines, None)
            stripped = (line.strip(" \r\n") + "\n" for line in lines)
            held: list[list[str | None]] = []
            for row in csv.reader(stripped, delimiter=dialect.delimiter, skipinitialspace=True):
                if not row:
                    continue
                if len(row) != width:
                    raise self._miscounted(len(row), width, dialect.delimiter.join(row))
                held.append([None if value in missing else value for value in row])
                if len(held) == batch_rows:
                    yield batch(held)
                    held = []
            if held:
                yield batch(held)


@contextmanager
def _arrow_stream(path: Path) -> Iterator[Any]:
    """Open a text file for Arrow to read in blocks, unpacked as it is when it is read whole.

    What the file is decides, not its name; and Arrow does not unpack all that is packed.
    """
    if kind_of_file(path) == "gzip":
        with opened(path) as stream:
            yield stream
    else:
        with reading(path), import_arrow().input_stream(str(path), compression=None) as stream:
            yield stream
