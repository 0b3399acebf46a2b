"""Which files are meant: a path, a pattern, a folder, or a list of these."""

from __future__ import annotations

import glob
import os
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from ..errors import TableError
from ._files import existing_file, kind_of_file, reading
from ._parquet import ParquetTable

Paths = str | os.PathLike[str] | Iterable[str | os.PathLike[str]]

BUILT_IN_NAMES = ("loanapp", "adult", "bank", "german", "compas")
"""Data sets by name; they win over files of exactly that name."""

SPECIAL = frozenset("*?[")
"""Characters that make a path a pattern, unless a file has that very name."""

ENDINGS = (".parquet", ".pq", ".csv", ".csv.gz", ".tsv", ".tsv.gz", ".feather", ".arrow")
"""Of the files of a folder that are tables; a file that is named may be called as it likes."""

LARGE_ROWS = 1_000_000
"""A Parquet file of more rows is read in batches."""

LARGE_BYTES = 500_000_000
"""As is any other file of more bytes: as a frame it takes several times its size."""


def are_many(table: Any) -> bool:
    """Whether a table is given as several files: a list of paths, a folder or a pattern."""
    if isinstance(table, str | os.PathLike):
        text = os.fspath(table)
        if text in BUILT_IN_NAMES:
            return False
        path = Path(text).expanduser()
        return path.is_dir() or (not path.exists() and bool(SPECIAL & set(text)))
    return isinstance(table, Sequence) and all(isinstance(p, str | os.PathLike) for p in table)


def is_on_disk(table: Any) -> bool:
    """Whether a table is given by the names of files."""
    one = isinstance(table, str | os.PathLike) and os.fspath(table) not in BUILT_IN_NAMES
    return one or are_many(table)


def input_files(table: Any) -> list[Path]:
    """Return the files that a table is read from; none if there is no such file."""
    if are_many(table):
        return find_files(table)
    return [Path(table)] if is_on_disk(table) and Path(table).is_file() else []


def is_large(table: Any) -> bool:
    """Whether one file is so large that it should be read in batches."""
    if not isinstance(table, str | os.PathLike) or str(table) in BUILT_IN_NAMES:
        return False
    path = Path(table).expanduser()
    if not path.is_file() or not path.stat().st_size:
        return False
    if kind_of_file(path) == "parquet":
        return (ParquetTable.open(path).n_rows or 0) > LARGE_ROWS
    return path.stat().st_size > LARGE_BYTES


def find_files(paths: Paths, endings: Sequence[str] = ENDINGS) -> list[Path]:
    """Return the files that are meant, those of a pattern or a folder in the order of their names.

    Of a folder all files below with one of the endings are taken, also through links to other
    folders, but for names that start with a dot or an underscore. Files that are named twice are
    refused, as are folders named ``key=value``: such a column is in no file.

    Examples
    --------
    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp())
    >>> for name in ("b.csv", "a.csv", "_log.csv", "notes.txt"):
    ...     _ = (folder / name).write_text("x")
    >>> [path.name for path in find_files(folder, [".csv"])]
    ['a.csv', 'b.csv']
    """
    listed = [paths] if isinstance(paths, str | os.PathLike) else list(paths)
    if not listed:
        raise TableError("The list of files is empty. Name at least one.")
    found: dict[tuple[int, int], Path] = {}
    for given in listed:
        for path in _meant(Path(given).expanduser(), endings):
            state = path.stat()
            first = found.setdefault((state.st_dev, state.st_ino), path)
            if first is not path:
                again = "twice" if first == path else f"also as '{first}'"
                raise TableError(
                    f"'{path}' is named {again}, so its rows would count twice. Name it once."
                )
    return list(found.values())


def _meant(path: Path, endings: Sequence[str]) -> list[Path]:
    if path.is_dir():
        return _below(path, endings)
    if SPECIAL & set(str(path)) and not path.exists():
        matches = sorted(Path(name) for name in glob.glob(str(path), recursive=True))
        files = [match for match in matches if match.is_file()]
        if not files:
            only = " but folders" if matches else ""
            raise TableError(f"No file{only} matches '{path}'. Check the pattern and the folder.")
        return files
    return [existing_file(path)]


def _below(folder: Path, endings: Sequence[str]) -> list[Path]:
    files = []
    for path in sorted(_entries(folder, ())):
        parts = path.relative_to(folder).parts
        if path.name.lower().endswith(tuple(endings)):
            keyed = next((part for part in parts[:-1] if "=" in part), None)
            if keyed is not None:
                key = keyed.partition("=")[0]
                raise TableError(
                    f"'{folder}' is divided into folders such as '{keyed}': the column '{key}' is "
                    f"in their names and in no file, so it would be lost. Write it into the files; "
                    f"or, if it is not needed, name them by a pattern such as "
                    f"'{folder / '*' / ('*' + endings[0])}'."
                )
            files.append(existing_file(path))  # a link may lead nowhere
    if not files:
        raise TableError(
            f"The folder '{folder}' holds no file that ends in {' or '.join(endings)}. Name "
            f"another folder, or the files."
        )
    return files


def _entries(folder: Path, above: tuple[Path, ...]) -> Iterator[Path]:
    """Yield files below a folder, and links that lead nowhere; links to folders are followed.

    A folder that is linked from below itself is not entered again. One that is linked from
    elsewhere is: its files are then named twice, which is for the user to settle.
    """
    real = folder.resolve()
    if real in above:
        return
    with reading(folder):
        for path in list(folder.iterdir()):
            if path.name.startswith((".", "_")):
                continue
            if path.is_dir():
                yield from _entries(path, (*above, real))
            elif path.is_file() or path.is_symlink():
                yield path
