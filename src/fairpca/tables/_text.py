"""Text files: their dialect is detected, or an error; every line is read, or none."""

from __future__ import annotations

import codecs
import csv
import io
import re
from collections import Counter, deque
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from pathlib import Path
from threading import Lock
from typing import Any, ClassVar

from ..errors import TableError
from ._adapters import import_arrow
from ._files import FileState, TableFile, check_text, different_names, kind_of_file, opened, reading
from ._text_values import MISSING, cleaned, number, typed, with_points

_BLOCK_BYTES, _PIECE_BYTES = 2**22, 2**18
_LINES = 10
_LONGEST = 2**26
"""Characters of a field, and of what is looked at to find so many lines."""

_UTF_8 = "utf-8-sig"
_MARKS = {
    codecs.BOM_UTF32_LE: "utf-32",
    codecs.BOM_UTF32_BE: "utf-32",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}
_LIMIT_OF_CSV = Lock()
_WITH_COMMA = re.compile(r"[+-]?\d+,\d+")
_WITH_POINT = re.compile(r"[+-]?\d+\.\d+")
_DELIMITERS = (",", ";", "\t", "|", " ")
_SHARE_OF_ONE_LENGTH = 0.8
"""A delimiter is believed where this share of the sampled lines has as many fields as most."""


@dataclass(frozen=True)
class _Dialect:
    """How to read one text file: each column has its decimal sign."""

    encoding: str
    delimiter: str
    decimals: tuple[str, ...]
    names: tuple[str, ...]
    lines_before: int  # before the first row; the line with the names is one
    block_bytes: int  # that are read at a time


def _sniff(
    path: Path,
    *,
    columns: Sequence[str] | None = None,
    header: bool | None = None,
    skip_lines: int = 0,
    encoding: str | None = None,
) -> _Dialect:
    """Find out how a text file is written."""
    encoding = _encoding_of(path, encoding)
    texts = _texts(path, encoding)
    lines = _first_lines(path, texts, skip_lines)
    deque(texts, maxlen=0)  # to the end: what is no text is told now
    filled = (i for i, line in enumerate(lines[skip_lines:], skip_lines) if line.strip())
    start = next(filled, len(lines))
    if start == len(lines):
        after = f" after the first {skip_lines} line(s), which are left out" if skip_lines else ""
        raise TableError(f"'{path}' is empty{after}.")
    delimiter, records = _divided(path, lines[start:])
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
    # Arrow needs a row, and all that comes before the first one, within a block.
    sizes = [len(line.encode()) for line in lines]
    block_bytes = max(_BLOCK_BYTES, 2 * sum(sizes[:start]), 8 * max(sizes))
    return _Dialect(encoding, delimiter, decimals, tuple(names), start, block_bytes)


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
    """Whether the first record has the names of the columns; raise where it is unclear."""
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
            f"--columns a,b,...), number them (header=False, --no-header), or declare these "
            f"to be the names (header=True, --header)."
        )
    return True


def _shown(names: Sequence[str]) -> str:
    texts = [cleaned(name) or name for name in names[:4]]
    listed = ", ".join(repr(text if len(text) <= 60 else f"{text[:57]}...") for text in texts)
    return listed + (", ..." if len(names) > 4 else "")


def _encoding_of(path: Path, told: str | None) -> str:
    """Return the encoding that was told, or that of the mark a file begins with: UTF-8 if none."""
    with opened(path) as stream:
        start = stream.read(4096)
    marked = next((name for mark, name in _MARKS.items() if start.startswith(mark)), _UTF_8)
    try:
        found = marked if told is None else codecs.lookup(told).name
        text = start.decode(found, "replace")
    except (LookupError, TypeError, ValueError) as error:
        raise TableError(
            f"encoding={told!r} is no encoding of texts. Some are 'utf-8', 'cp1252' (Windows), "
            f"'latin-1', 'utf-16' and 'shift_jis'."
        ) from error
    check_text(path, text)
    if found == "utf-8":
        return _UTF_8  # with a mark or without
    return marked if found.startswith(marked) else found  # as UTF-16LE does


def _texts(path: Path, encoding: str) -> Iterator[str]:
    """Yield the text of a file in pieces; name the line where it is none in its encoding."""
    decoder, n_lines = codecs.getincrementaldecoder(encoding)(), 1
    with opened(path) as stream:
        try:
            while piece := stream.read(_PIECE_BYTES):
                text = decoder.decode(piece)
                n_lines += _breaks(text)
                yield text
            decoder.decode(b"", final=True)
        except UnicodeError as error:
            what = f" ({error})"  # such as that UTF-16 must begin with a mark
            if isinstance(error, UnicodeDecodeError) and "BOM" not in error.reason:
                before = error.object[len(decoder.getstate()[0]) : error.start]
                lenient = codecs.getincrementaldecoder(encoding)("replace")
                lenient.setstate(decoder.getstate())
                with suppress(UnicodeError):  # UTF-16 without its mark
                    n_lines += _breaks(lenient.decode(before))
                what = f", because of the byte 0x{error.object[error.start]:02X}"
            called = "UTF-8" if encoding == _UTF_8 else encoding.upper()
            raise TableError(
                f"'{path}' is not all text in {called}: line {n_lines:,} is none{what}. Correct "
                f"it; or, if all lines are in another encoding, name that: encoding='cp1252', on "
                f"the command line --encoding cp1252."
            ) from error


def _breaks(text: str) -> int:
    return max(text.count("\n"), text.count("\r"))


def _first_lines(path: Path, texts: Iterator[str], skip_lines: int) -> list[str]:
    """Return whole lines from the beginning of a file, enough of them to tell how it is written."""
    pieces, n_lines, size = [""], 0, 0
    for text in texts:
        if n_lines > skip_lines + _LINES or size > _LONGEST:
            break
        pieces.append(text)
        n_lines, size = n_lines + _breaks(text), size + len(text)
    else:
        return list(io.StringIO("".join(pieces), newline=""))
    lines = list(io.StringIO("".join(pieces), newline=""))[:-1]  # the last one is cut off
    if len(lines) <= skip_lines:
        raise TableError(
            f"'{path}' is not a table: the first {_LONGEST:,} characters are {len(lines)} line(s)."
        )
    return lines


def _records(rows: Iterator[list[str]], n: int) -> list[list[str]]:
    """Return the next records of a file, however long their fields are."""
    with _LIMIT_OF_CSV:  # csv has one limit for all threads
        limit = csv.field_size_limit()
        csv.field_size_limit(_LONGEST)
        try:
            return list(islice(filter(None, rows), n))
        finally:
            csv.field_size_limit(limit)


def _divided(path: Path, lines: list[str]) -> tuple[str, list[list[str]]]:
    """Return the delimiter that cuts the most lines into equally many fields."""
    best: tuple[float, str, list[list[str]]] | None = None
    for delimiter in _DELIMITERS:
        stripped = [line.strip(" ") for line in lines]
        try:
            records = _records(
                csv.reader(stripped, delimiter=delimiter, skipinitialspace=True), 1000
            )
        except csv.Error:
            continue
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
    several = [line for line in map(str.rstrip, lines) if line.startswith(" ") or "  " in line]
    if delimiter == " " and several:
        raise TableError(
            f"'{path}' has several blanks between the fields of a line: '{several[0][:60]}'. Write "
            f"the file with one comma or tab between them."
        )
    with suppress(csv.Error):
        for record in _records(csv.reader(lines, delimiter=delimiter), 1000):
            quoted = next((field for field in record if re.match(' +"', field)), None)
            if quoted is not None:
                raise TableError(
                    f"'{path}' has a blank before a quote, which then quotes nothing: "
                    f"'{quoted.strip()[:60]}'. Write the file without blanks between its fields."
                )
    return delimiter, records


@dataclass(frozen=True, eq=False)
class TextTable(TableFile):
    """A text file, perhaps gzipped, whose dialect was detected."""

    kind: ClassVar[str] = "text"
    dialect: _Dialect

    @classmethod
    def open(cls, path: Path, **how: Any) -> TextTable:
        """Find out how a file is written; `how` is what was said about it."""
        state, dialect = FileState.of(path), _sniff(path, **how)
        names, renamed = different_names(dialect.names)
        places = {name: i for i, name in enumerate(names)}
        return cls(path, state, tuple(names), renamed, {}, None, dialect.names, places, dialect)

    @cached_property
    def decimals(self) -> dict[str, str]:
        """The decimal sign of each column."""
        return dict(zip(self.names, self.dialect.decimals, strict=True))

    def read(self) -> Any:
        """Return all of it as an Arrow table, of numbers where all values are."""
        arrow = import_arrow()
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
        decimals = {name: self.decimals[name] for name in numbers}
        signs = [decimals.get(name, ".") for name in columns]
        for batch in self._read_in_blocks(columns, use_threads):
            for start in range(0, batch.num_rows, rows):
                part = batch.slice(start, rows).select(list(columns))
                points = map(with_points, part.columns, signs)
                yield arrow.RecordBatch.from_arrays(list(points), names=list(columns))

    def _read_in_blocks(self, columns: Sequence[str], use_threads: bool) -> Iterator[Any]:
        options = self._options(columns)
        options["read_options"].use_threads = use_threads
        with _arrow_stream(self.path) as stream, self._explained(rows_needed=False):
            yield from import_arrow().csv.open_csv(stream, **options)

    def _options(self, wanted: Sequence[str]) -> dict[str, Any]:
        """Return how Arrow has to read this file: the wanted columns, as texts."""
        csv, dialect = import_arrow().csv, self.dialect
        return {
            "read_options": csv.ReadOptions(
                column_names=list(self.names),
                skip_rows=dialect.lines_before,
                block_size=dialect.block_bytes,
                encoding="utf8" if dialect.encoding == _UTF_8 else dialect.encoding,
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
            if "straddling" in text or "out of sync" in text:
                text = f"a row is longer than {self.dialect.block_bytes:,} bytes. Is a quote open?"
            first = text.splitlines()[0]
            raise TableError(f"'{self.path}' cannot be read as a table: {first}") from error

    def _miscounted(self, found: int, expected: int, line: str) -> TableError:
        start = " ".join(line.split())[:60]
        return TableError(
            f"'{self.path}' has a line with {found} fields instead of {expected}: '{start}'. Was "
            f"the file cut off? Correct the line, or remove it."
        )


@contextmanager
def _arrow_stream(path: Path) -> Iterator[Any]:
    """Open a text file for Arrow to read in blocks; what it is decides, not its name."""
    if kind_of_file(path) == "gzip":
        with opened(path) as stream:
            yield stream
    else:
        with reading(path), import_arrow().input_stream(str(path), compression=None) as stream:
            yield stream
