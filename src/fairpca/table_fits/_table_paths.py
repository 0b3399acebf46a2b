"""Whether a table is in memory, in one file or in many, and whether that file is large."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ..out_of_core import SPECIAL, find_files, read_footer
from ..tables import BUILT_IN, kind_of_file

LARGE_ROWS = 1_000_000
"""A Parquet file of more rows is read in batches."""

LARGE_BYTES = 500_000_000
"""As is any other file of more bytes: as a frame it takes several times its size."""

ENDINGS = (".parquet", ".pq", ".csv", ".csv.gz", ".tsv", ".tsv.gz", ".feather", ".arrow")
"""Of the files of a folder that are tables; a file that is named may be called as it likes."""


def are_many(table: Any) -> bool:
    """Whether a table is given as several files: a list of paths, a folder or a pattern."""
    if isinstance(table, str | os.PathLike):
        text = os.fspath(table)
        if text in BUILT_IN:
            return False
        path = Path(text).expanduser()
        return path.is_dir() or (not path.exists() and bool(SPECIAL & set(text)))
    return isinstance(table, Sequence) and all(isinstance(p, str | os.PathLike) for p in table)


def is_on_disk(table: Any) -> bool:
    """Whether a table is given by the names of files."""
    one = isinstance(table, str | os.PathLike) and os.fspath(table) not in BUILT_IN
    return one or are_many(table)


def input_files(table: Any) -> list[Path]:
    """Return the files that a table is read from; none if there is no such file."""
    if are_many(table):
        return find_files(table, ENDINGS)
    return [Path(table)] if is_on_disk(table) and Path(table).is_file() else []


def is_large(table: Any) -> bool:
    """Whether one file is so large that it should be read in batches."""
    if not isinstance(table, str | os.PathLike) or str(table) in BUILT_IN:
        return False
    path = Path(table).expanduser()
    if not path.is_file() or not path.stat().st_size:
        return False
    if kind_of_file(path) == "parquet":
        return read_footer(path).n_rows > LARGE_ROWS
    return path.stat().st_size > LARGE_BYTES
