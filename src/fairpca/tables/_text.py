"""Text files: how they are written is found out, not guessed; every line is read, or none."""

from __future__ import annotations

import codecs
import csv
import io
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import IO, Any, ClassVar

from ..errors import TableError
from ._adapters import import_arrow
from ._files import (
    FileState,
    TableFile,
    check_text,
    different_names,
    kind_of_file,
    opened,
    reading,
)
from ._text_values import MISSING, cleaned, number, typed, with_points

_BLOCK_BYTES = 2**22
_SAMPLE_BYTES = 2**18
_WITH_COMMA = re.compile(r"[+-]?\d+,\d+")
_WITH_POINT = re.compile(r"[+-]?\d+\.\d+")
_DELIMITERS = (",", ";", "\t", "|", " ")
_RECORDS = 1000
_SHARE_OF_ONE_LENGTH = 0.8
"""A delimiter is believed where this share of the sampled lines has as many fields as most."""


@dataclass(frozen=True)
class _Dialect:
    """How to read one text file: " " is one or more blanks, each column has its decimal sign."""

    encoding: str
    delimiter: str
    decimals: tuple[str, ...]
    names: tuple[str, ...]
    lines_before: int  # before the first row; the line with the names is one
    spaced_quotes: bool  # whether quoted fields may follow a blank


def _sniff(
    path: Path,
    *,
    columns: Sequence[str] | None,
    header: bool | None,
    skip_lines: int,
) -> _Dialect:
    """Find out how a text file is written."""
    with opened(path) as stream:
        sample = stream.read(_SAMPLE_BYTES)
        whole = len(sample) < _SAMPLE_BYTES
        encoding = _encoding_of(sample, stream)
        text = codecs.getincrementaldecoder(encoding)().decode(sample, final=False)
    if not encoding.startswith("utf-16"):
        check_text(path, sample[:4096])
    lines = text.splitlines(keepends=True)
    lines = lines if whole else lines[:-1]  # the last one is cut off
    filled = (i for i, line in enumerate(lines[skip_lines:], skip_lines) if line.strip())
    start = next(filled, len(lines))
    if not "".join(lines[start:]).strip():
        after = f" after the first {skip_lines} line(s), which are left out" if skip_lines else ""
        raise TableError(f"'{path}' is empty{after}.")
    delimiter, records, spaced = _divided(path, lines[start:])
    width = Counter(map(len, records)).most_common(1)[0][0]
    first = [field.strip() for field in records[0]]
    if columns is not None and len(first) != width:
        raise TableError(
            f"The first line of '{path}' has {len(first)} fields ({_shown(first)}), most lines "
            f"have {width}. Leave out what comes before the table: skip_lines=1, on the command "
            f"line --skip-lines 1."
        )
    has_names = _has_names(path, first, records[1:], width, columns, header)
    names = list(columns) if columns is not None else first
    if columns is None and not has_names:
        names = [f"column_{i + 1}" for i in range(width)]
    if len(names) != width:
        given = "columns= names" if columns is not None else "the first line names"
        raise TableError(
            f"'{path}' has {width} columns in most of its lines, but {given} {len(names)}: "
            f"{_shown(names)}. Correct the names; to leave out lines at the beginning, use "
            f"skip_lines, on the command line --skip-lines."
        )
    if sum(not name.strip() for name in names) > width / 2:
        raise TableError(
            f"'{path}' is not a table: most of its {width} columns have no name ({_shown(names)})."
        )
    rows = [record for record in records[has_names:] if len(record) == width]
    decimals = tuple(_decimal([row[i].strip() for row in rows], delimiter) for i in range(width))
    if has_names:  # a quoted name may hold line breaks
        first_record = csv.reader(lines[start:], delimiter=delimiter, skipinitialspace=True)
        next(first_record)
        start += first_record.line_num
    return _Dialect(encoding, delimiter, decimals, tuple(names), start, spaced)


def _decimal(fields: list[str], delimiter: str) -> str:
    """Return "," where numbers of a column have it and none has a point: columns may differ."""
    comma = delimiter != "," and any(_WITH_COMMA.fullmatch(field) for field in fields)
    point = comma and any(_WITH_POINT.fullmatch(field) for field in fields)
    return "," if comma and not point else "."


def _has_names(
    path: Path,
    first: list[str],
    others: list[list[str]],
    width: int,
    columns: Sequence[str] | None,
    header: bool | None,
) -> bool:
    """Whether the first record has the names of the columns; refuse to guess."""
    if header is not None or columns is not None:
        return bool(header)
    numbers = [field for field in first if field and number(field) is not None]
    repeated = sum(
        any(len(row) > i and row[i].strip() == field for row in others)
        for i, field in enumerate(first)
        if field
    )
    if len(first) == width and (numbers or 2 * repeated > width):
        why = f"'{numbers[0]}' is a number" if numbers else "its values occur again below"
        raise TableError(
            f"The first line of '{path}' looks like data, not like names of columns: {why} "
            f"({_shown(first)}). Name the {width} columns (columns=[...], on the command line "
            f"--columns a,b,...), number them (header=False, --no-header), or say that these are "
            f"the names (header=True, --header)."
        )
    return True


def _shown(names: Sequence[str]) -> str:
    listed = ", ".join(repr(cleaned(name) or name) for name in names[:4])
    return listed + (", ..." if len(names) > 4 else "")


def _encoding_of(sample: bytes, rest: IO[bytes]) -> str:
    """Return the encoding of a whole file: UTF-8 unless a byte somewhere says otherwise."""
    if sample.startswith((b"\xff\xfe", b"\xfe\xff")):
        return "utf-16"
    decoder = codecs.getincrementaldecoder("utf-8")()
    piece = sample
    try:
        while piece:
            decoder.decode(piece)
            piece = rest.read(2**20)
        decoder.decode(b"", final=True)
    except UnicodeDecodeError:
        return "latin-1"
    return "utf-8-sig"


def _records(lines: list[str], delimiter: str) -> list[list[str]]:
    rows = csv.reader(lines, delimiter=delimiter, skipinitialspace=True)
    try:
        return list(islice(filter(None, rows), _RECORDS))
    except csv.Error:
        return []


def _divided(path: Path, lines: list[str]) -> tuple[str, list[list[str]], bool]:
    """Return the delimiter that cuts the most lines into equally many fields."""
    best: tuple[float, str, list[list[str]]] | None = None
    for delimiter in _DELIMITERS:
        records = _records([line.strip(" ") for line in lines], delimiter)
        if not records:
            continue
        width, lines_of_it = Counter(map(len, records)).most_common(1)[0]
        share = lines_of_it / len(records)
        if width < 2 or share < _SHARE_OF_ONE_LENGTH:
            continue
        # Blanks also occur within fields, so they are the last resort.
        merit = share - (0.5 if delimiter == " " else 0.0) + 0.001 * min(width, 99)
        if best is None or merit > best[0]:
            best = merit, delimiter, records
    if best is None:
        raise TableError(
            f"'{path}' is not a table: its lines are not divided into the same number of columns "
            f"(two or more) by a comma, semicolon, tab, bar or blank."
        )
    _, delimiter, records = best
    spaced = delimiter != " " and any(f'{delimiter} "' in line for line in lines)
    return delimiter, records, spaced


@dataclass(frozen=True, eq=False)
class TextTable(TableFile):
    """A text file, perhaps gzipped, whose dialect was found out."""

    kind: ClassVar[str] = "text"
    dialect: _Dialect

    @classmethod
    def open(cls, path: Path, **how: Any) -> TextTable:
        """Find out how a file is written; `how` is what was said about it."""
        state, dialect = FileState.of(path), _sniff(path, **how)
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
        options["read_options"].block_size = _BLOCK_BYTES
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
                null_values=sorted(MISSING),
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
                held.append([None if value in MISSING else value for value in row])
                if len(held) == batch_rows:
                    yield batch(held)
                    held = []
            if held:
                yield batch(held)


@contextmanager
def _arrow_stream(path: Path) -> Iterator[Any]:
    """Open a text file for Arrow to read in blocks; what it is decides, not its name."""
    if kind_of_file(path) == "gzip":
        with opened(path) as stream:
            yield stream
    else:
        with reading(path), import_arrow().input_stream(str(path), compression=None) as stream:
            yield stream
