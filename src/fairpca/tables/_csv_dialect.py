"""Find out how a text file is written: its encoding, its delimiter, its names."""

from __future__ import annotations

import codecs
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from ..errors import TableError
from ._csv_guesses import divided, encoding_of, leading_blank, lines_of_first
from ._file_kinds import SAMPLE_BYTES, check_text, opened
from ._text_values import cleaned, number

WITH_COMMA = re.compile(r"[+-]?\d+,\d+")
WITH_POINT = re.compile(r"[+-]?\d+\.\d+")


@dataclass(frozen=True)
class CsvDialect:
    """How to read one text file.

    Parameters
    ----------
    encoding : str
        As Python calls it.
    delimiter : str
        Between fields; " " stands for one or more blanks.
    decimals : tuple of str
        "." or "," for each column.
    names : tuple of str
        Of the columns, as written in the file or given.
    lines_before : int
        Lines before the first row, the one with the names among them.
    spaced_quotes : bool
        Whether quoted fields follow a blank after the delimiter.
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

    Parameters
    ----------
    path : Path
        The file, perhaps gzipped.
    columns : sequence of str, optional
        Names of the columns; the file then has none, unless ``header=True``.
    header : bool, optional
        Whether the first line has the names. By default it must look so.
    skip_lines : int
        Lines to leave out at the beginning.

    Raises
    ------
    TableError
        If this is no table, or if the first line may be data.

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
        encoding = encoding_of(sample, stream)
        text = codecs.getincrementaldecoder(encoding)().decode(sample, final=False)
    if not encoding.startswith("utf-16"):
        check_text(path, sample[:4096])
    lines = text.splitlines(keepends=True)
    lines = lines if whole else lines[:-1]  # the last one is cut off
    blank = leading_blank(lines[skip_lines:])
    start = skip_lines + blank
    if not "".join(lines[start:]).strip():
        after = f" after the first {skip_lines} line(s), which are left out" if skip_lines else ""
        raise TableError(f"'{path}' is empty{after}.")
    delimiter, records, spaced = divided(path, lines[start:])
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
        given = f"columns= names {len(names)}" if columns is not None else "the first line names"
        given = given if columns is not None else f"{given} {len(names)}"
        raise TableError(
            f"'{path}' has {width} columns in most of its lines, but {given}: "
            f"{_shown(names)}. Correct the names; to leave out lines at the beginning, use "
            f"skip_lines, on the command line --skip-lines."
        )
    if sum(not name.strip() for name in names) > width / 2:
        raise TableError(
            f"'{path}' is not a table: most of its {width} columns have no name ({_shown(names)})."
        )
    rows = [record for record in records[has_names:] if len(record) == width]
    decimals = tuple(_decimal([row[i].strip() for row in rows], delimiter) for i in range(width))
    before = start + (lines_of_first(lines[start:], delimiter) if has_names else 0)
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
