"""Which files are meant: a path, a pattern, a folder, or a list of these."""

from __future__ import annotations

import glob
import hashlib
import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from ..errors import TableError
from ..tables import existing_file, unreadable

Paths = str | os.PathLike[str] | Iterable[str | os.PathLike[str]]

SPECIAL = frozenset("*?[")
"""Characters that make a path a pattern, unless a file has that very name."""

HASHED = 2**20
"""Bytes of the beginning, and of the end, that a digest is of."""


@dataclass(frozen=True)
class FileState:
    """What tells whether a file is still the one that was read.

    Parameters
    ----------
    path : str
        Absolute.
    size, modified : int
        Bytes, and nanoseconds since 1970.
    digest : str
        Of what the file says about itself, or of its beginning and end.
    """

    path: str
    size: int
    modified: int
    digest: str

    @classmethod
    def of(cls, path: Path, digest: str | None = None) -> FileState:
        """Return the state of a file now; by default with a digest of its beginning and end."""
        try:
            found = path.stat()
            digest = _digest(path) if digest is None else digest
        except OSError as error:
            raise unreadable(path, error) from error
        return cls(str(path.absolute()), found.st_size, found.st_mtime_ns, digest)


def _digest(path: Path) -> str:
    """Return the sha256 of the first and the last megabyte."""
    digest = hashlib.sha256()
    with path.open("rb") as stream:
        digest.update(stream.read(HASHED))
        size = stream.seek(0, os.SEEK_END)
        stream.seek(max(0, size - HASHED))
        digest.update(stream.read(HASHED))
    return digest.hexdigest()


def find_files(paths: Paths, endings: Sequence[str]) -> list[Path]:
    """Return the files that are meant, those of a pattern or a folder in the order of their names.

    Parameters
    ----------
    paths : path, or iterable of paths
        Each a file, a pattern such as ``"data/*.parquet"``, or a folder, of which all files below
        with one of the `endings` are taken, also through links to other folders; names that start
        with a dot or an underscore are skipped.
    endings : sequence of str
        Of the files of a folder.

    Raises
    ------
    TableError
        If there is no such file, if one is meant twice, or if folders are named ``key=value``:
        such a column is in no file.

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
    try:
        entries = list(folder.iterdir())
        for path in entries:
            if path.name.startswith((".", "_")):
                continue
            if path.is_dir():
                yield from _entries(path, (*above, real))
            elif path.is_file() or path.is_symlink():
                yield path
    except OSError as error:
        raise unreadable(folder, error) from error
