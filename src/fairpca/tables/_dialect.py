"""Find out how a text file is written, from its first lines: refuse rather than guess."""

from __future__ import annotations

import codecs
import csv
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from ..errors import TableError
from ._files import check_text, opened
from ._text_values import cleaned, number

SAMPLE_BYTES = 2**18
WITH_COMMA = re.compile(r"[+-]?\d+,\d+")
WITH_POINT = re.compile(r"[+-]?\d+\.\d+")
DELIMITERS = (",", ";", "\t", "|", " ")
RECORDS = 1000
SHARE_OF_ONE_LENGTH = 0.8
"""A delimiter is believed where this share of the sampled lines has as many fields as most."""


@dataclass(frozen=True)
class CsvDialect:
    """How to read one text file.

    The delimiter " " stands for one or more blanks; decimals are "." or "," for each column; lines
    before the first row count the one with the names; quoted fields may follow a blank.
    """

    encoding: str
    delimiter: str
    decimals: tuple[str, ...]
    names: tuple[str, ...]
    lines_before: int
    spaced_quotes: bool = False


def sniff(
    path: Path,
    *,
    columns: Sequence[str] | None = None,
    header: bool | None = None,
    skip_lines: int = 0,
) -> CsvDialect:
    r"""Find out how a text file is written.

    Examples
    --------
    >>> import tempfile
    >>> file = Path(tempfile.mkdtemp()) / "people.csv"
    >>> _ = file.write_text("age;job\n3,5;nurse\n40,1;cook\n")
    >>> sniff(file)
    CsvDialect(encoding='utf-8-sig', delimiter=';', decimals=(',', '.'), names=('age', 'job'),
               lines_before=1, spaced_quotes=False)
    """
    with opened(path) as stream:
        sample = stream.read(SAMPLE_BYTES)
        whole = len(sample) < SAMPLE_BYTES
        encoding = _encoding_of(sample, stream)
        text = codecs.getincrementaldecoder(encoding)().decode(sample, final=False)
    if not encoding.startswith("utf-16"):
        check_text(path, sample[:4096])
    lines = text.splitlines(keepends=True)
    lines = lines if whole else lines[:-1]  # the last one is cut off
    blank = _leading_blank(lines[skip_lines:])
    start = skip_lines + blank
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
    before = start + (_lines_of_first(lines[start:], delimiter) if has_names else 0)
    return CsvDialect(
        encoding=encoding,
        delimiter=delimiter,
        decimals=decimals,
        names=tuple(names),
        lines_before=before,
        spaced_quotes=spaced,
    )


def _decimal(fields: list[str], delimiter: str) -> str:
    """Return "," where numbers of a column have it and none has a point: columns may differ."""
    comma = delimiter != "," and any(WITH_COMMA.fullmatch(field) for field in fields)
    point = comma and any(WITH_POINT.fullmatch(field) for field in fields)
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
    if header is not None:
        return header
    if columns is not None:
        return False
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


def _leading_blank(lines: list[str]) -> int:
    """Return how many lines come before the first that is not blank."""
    return next((i for i, line in enumerate(lines) if line.strip()), len(lines))


def _records(lines: list[str], delimiter: str) -> list[list[str]]:
    rows = csv.reader(lines, delimiter=delimiter, skipinitialspace=True)
    found = []
    try:
        for row in rows:
            if row:
                found.append(row)
            if len(found) == RECORDS:
                break
    except csv.Error:
        return []
    return found


def _divided(path: Path, lines: list[str]) -> tuple[str, list[list[str]], bool]:
    """Return the delimiter that cuts the most lines into equally many fields."""
    best: tuple[float, str, list[list[str]]] | None = None
    for delimiter in DELIMITERS:
        records = _records([line.strip(" ") for line in lines], delimiter)
        if not records:
            continue
        width, lines_of_it = Counter(map(len, records)).most_common(1)[0]
        share = lines_of_it / len(records)
        if width < 2 or share < SHARE_OF_ONE_LENGTH:
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


def _lines_of_first(lines: list[str], delimiter: str) -> int:
    """Return how many lines the first record takes: a quoted name may hold line breaks."""
    rows = csv.reader(lines, delimiter=delimiter, skipinitialspace=True)
    next(rows)
    return rows.line_num
