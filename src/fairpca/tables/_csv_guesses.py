"""Guesses about a text file, from its first lines."""

from __future__ import annotations

import codecs
import csv
from collections import Counter
from pathlib import Path
from typing import IO

from ..errors import TableError

DELIMITERS = (",", ";", "\t", "|", " ")
RECORDS = 1000
SHARE_OF_ONE_LENGTH = 0.8
"""A delimiter is believed where this share of the sampled lines has as many fields as most."""


def encoding_of(sample: bytes, rest: IO[bytes]) -> str:
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


def leading_blank(lines: list[str]) -> int:
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


def divided(path: Path, lines: list[str]) -> tuple[str, list[list[str]], bool]:
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


def lines_of_first(lines: list[str], delimiter: str) -> int:
    """Return how many lines the first record takes: a quoted name may hold line breaks."""
    rows = csv.reader(lines, delimiter=delimiter, skipinitialspace=True)
    next(rows)
    return rows.line_num
