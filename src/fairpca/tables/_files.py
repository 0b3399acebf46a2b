"""Which files are meant, and what is in them: their first bytes tell, not their names."""

from __future__ import annotations

import glob
import gzip
import hashlib
import os
import re
import zlib
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import IO, Any, ClassVar

from .._attributes import close_names
from ..errors import TableError
from ._adapters import import_arrow

Paths = str | os.PathLike[str] | Iterable[str | os.PathLike[str]]

BUILT_IN = "loanapp"
"""The data set that is known by its name, where no file is called so."""

_SPECIAL = frozenset("*?[")
"""Characters that make a path a pattern, unless a file has that very name."""

ENDINGS = (".parquet", ".pq", ".csv", ".csv.gz", ".tsv", ".tsv.gz", ".feather", ".arrow")
"""Of the files of a folder that are tables; a file that is named may be called as it likes."""

_READABLE = "CSV (any delimiter, also gzipped), Parquet and Feather files"
SAVED_ARRAY = b"\x93NUMPY"
_OTHERS = {
    SAVED_ARRAY: "is an array of NumPy: pass it as the vectors of a table with the labels",
    b"PK\x03\x04": "is a zip archive or an Excel workbook; unpack it, or save the sheet as CSV",
    b"\xd0\xcf\x11\xe0": "is an Excel workbook; save the sheet as CSV",
    b"FEA1": "is a Feather file of version 1; write it again with a current library",
    b"%PDF": "is a PDF document",
    b"\xfd7zXZ": "is compressed by xz; unpack it, or use gzip",
    b"BZh": "is compressed by bzip2; unpack it, or use gzip",
    b"\x28\xb5\x2f\xfd": "is compressed by zstd; unpack it, or use gzip",
    b"SQLite format 3": "is an SQLite database; export the table as CSV",
    b"\x89PNG": "is an image",
    b"\xff\xd8\xff": "is an image",
    b"\x89HDF": "is an HDF5 file; save the table as Parquet or CSV",
}

_MARKUP = re.compile(r"<(!doctype|html|\?xml|!--|[a-z][^<>,;|\t]*>\s*(<|[\r\n]|$))", re.I)
"""How pages begin; names of columns may begin with a < as well."""

_HASHED = 2**20
"""Bytes of the beginning, and of the end, that a digest is of."""

_WHOLE_HASH_BYTES = 500_000_000
"""Of more bytes, the fingerprint covers the beginning and the end of each file."""


@dataclass(frozen=True)
class FileState:
    """What tells whether a file is still the one that was read."""

    path: str
    size: int
    modified: int

    @classmethod
    def of(cls, path: Path) -> FileState:
        """Return the state of a file now."""
        with reading(path):
            found = path.stat()
        return cls(str(path.absolute()), found.st_size, found.st_mtime_ns)


def _hash_ends(path: Path, digest: Any) -> Any:
    with path.open("rb") as stream:
        digest.update(stream.read(_HASHED))
        size = stream.seek(0, os.SEEK_END)
        stream.seek(max(0, size - _HASHED))
        digest.update(stream.read(_HASHED))
    return digest


def fingerprint_of_files(paths: Sequence[Path], *, whole: bool = False) -> str:
    """Return the sha256 of the files' bytes; of many bytes, of their beginnings and ends."""
    sizes = [path.stat().st_size for path in paths]
    whole = whole or sum(sizes) <= _WHOLE_HASH_BYTES
    digest = hashlib.sha256()
    for path, size in zip(paths, sizes, strict=True):
        if len(paths) > 1:
            digest.update(f"{path.name} {size}\n".encode())
        if not whole:
            _hash_ends(path, digest)
            continue
        with path.open("rb") as stream:
            while piece := stream.read(_HASHED):
                digest.update(piece)
    return f"sha256{'' if whole else ' of beginnings and ends'}:{digest.hexdigest()}"


@dataclass(frozen=True, eq=False)
class TableFile(ABC):
    """A table on disk that was looked into: its columns, and its rows in batches.

    `types` are those of Arrow, none for a text file; `n_rows` is None where the file does not say.
    `written` are the names in the file, `places` where in it the columns are, and `renamed` the
    names that had to be changed because they were blank or there before.
    """

    kind: ClassVar[str]
    path: Path
    state: FileState
    names: tuple[str, ...]
    renamed: tuple[tuple[str, str], ...]
    types: Mapping[str, Any]
    n_rows: int | None
    written: tuple[str, ...]
    places: Mapping[str, int]

    def check_once(self, names: Iterable[str]) -> None:
        """Raise if one of the names is that of several columns."""
        for name in names:
            if self._times[name] > 1:
                raise TableError(
                    f"'{self.path}' has two columns called '{name}'. Rename one of them."
                )

    @cached_property
    def _times(self) -> Counter[str]:
        """How often each name is in the file."""
        return Counter(self.written)

    @abstractmethod
    def read(self) -> Any:
        """Return all of it as an Arrow table; texts of text files become numbers where all are."""

    @abstractmethod
    def batches(
        self,
        columns: Sequence[str],
        rows: int,
        *,
        span: range | None = None,
        numbers: Sequence[str] = (),
        use_threads: bool = True,
    ) -> Iterator[Any]:
        """Yield record batches of some columns, of so many rows at most.

        A span is one of `spans`. Texts come as texts, those of `numbers` with decimal points.
        """

    def spans(self, rows: int) -> list[range | None]:
        """Return what can be read on its own: ranges of row groups, small ones together."""
        return [None]

    def where(self, span: range | None) -> str:
        """Return what a span is called in messages."""
        return f"'{self.path}'"


def different_names(names: Sequence[str]) -> tuple[list[str], tuple[tuple[str, str], ...]]:
    """Return names of which no two are the same, and which were changed."""
    given = set(names)
    found: dict[str, None] = {}
    copies: dict[str, int] = {}  # of each name so far: counting from 2 again would take forever
    for i, name in enumerate(names):
        candidate = base = name.strip() or f"column_{i + 1}"
        while candidate in found or (candidate != name and candidate in given):
            copies[base] = copies.get(base, 1) + 1
            candidate = f"{base} ({copies[base]})"
        found[candidate] = None
    changed = tuple((a, b) for a, b in zip(names, found, strict=True) if a.strip() != b)
    return list(found), changed


def existing_file(path: Path, also: tuple[str, ...] = ()) -> Path:
    """Return the path of a file that is there, or say what is; `also` could have been meant."""
    with reading(path):
        if path.is_file():
            return path
        if path.is_dir():
            inside = sorted(p.name for p in path.iterdir() if p.is_file())[:5]
            holds = f" It holds {', '.join(map(repr, inside))}." if inside else " It is empty."
            raise TableError(f"'{path}' is a folder, not a table.{holds} Name one file.")
        if path.exists():
            raise TableError(
                f"'{path}' is a pipe or a device, which can be read only once. Save what comes "
                f"from it as a file; the commands do that themselves, also for '-'."
            )
        folder = path.parent
        if not folder.is_dir():
            raise TableError(f"There is no file '{path}': its folder '{folder}' does not exist.")
        names = [p.name for p in folder.iterdir() if p.is_file()]
    close = close_names(path.name, [*names, *also], cutoff=0.5)
    meant = f" Did you mean {' or '.join(map(repr, close))}?" if close else ""
    raise TableError(f"There is no file '{path}'.{meant}")


def kind_of_file(path: Path) -> str:
    """Return "parquet", "arrow", "gzip" or "text", or say why a file is no table."""
    with reading(path), path.open("rb") as stream:
        start = stream.read(4096)
    if not start:
        raise TableError(f"'{path}' is empty.")
    for magic, kind in ((b"PAR1", "parquet"), (b"ARROW1", "arrow"), (b"\x1f\x8b", "gzip")):
        if start.startswith(magic):
            return kind
    for magic, what in _OTHERS.items():
        if start.startswith(magic):
            raise TableError(f"'{path}' {what}. These can be read: {_READABLE}.")
    return "text"


def check_text(path: Path, start: str) -> None:
    """Raise for what is no text, and for texts that are no tables."""
    if any(c < " " and c not in "\t\n\r\f\x1b" for c in start):
        raise TableError(f"'{path}' is not a table: it is binary. These can be read: {_READABLE}.")
    head = start.removeprefix("\ufeff").lstrip()
    if _MARKUP.match(head):
        raise TableError(
            f"'{path}' is not a table: it is HTML or XML, perhaps a page about the data. "
            f"Download the file itself."
        )
    if head.startswith(('{"', "[{", "{\n", "{\r")):
        raise TableError(f"'{path}' is JSON, which is not read. Save the table as CSV or Parquet.")


@contextmanager
def opened(path: Path) -> Iterator[IO[bytes]]:
    """Open a text file for reading, unpacked; what is wrong with it becomes a `TableError`."""
    packed = kind_of_file(path) == "gzip"
    with reading(path), path.open("rb") as file:
        yield gzip.GzipFile(fileobj=file) if packed else file  # type: ignore[misc]


@contextmanager
def reading(path: Path, kind: str = "text", where: str | None = None) -> Iterator[None]:
    """Turn whatever goes wrong while a file, or a place in a binary one, is read into one line."""
    try:
        yield
    except TableError:
        raise
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise TableError(
            f"'{path}' is damaged or was cut off: it cannot be unpacked ({error}). Get it again."
        ) from error
    except OSError as error:
        # What Arrow calls a failure of the system is one only if it has a number.
        if kind != "text" and error.errno is None:
            raise _damaged(path, kind, where, error) from error
        raise TableError(f"'{path}' cannot be read: {error.strerror or error}.") from error
    except Exception as error:
        broken = (UnicodeDecodeError, import_arrow().ArrowException)
        if kind == "text" or not isinstance(error, broken):
            raise
        raise _damaged(path, kind, where, error) from error


def _damaged(path: Path, kind: str, where: str | None, error: Exception) -> TableError:
    why = str(error).splitlines()[0].rstrip(".") if str(error) else type(error).__name__
    if where is None:
        return TableError(f"'{path}' is a damaged or cut-off {kind} file: {why}. Get it again.")
    where = where[0].upper() + where[1:]
    return TableError(f"{where} cannot be read: {why}. The file is damaged; get it again.")


def is_built_in(table: Any) -> bool:
    """Whether the built-in data set is meant, and no file of its name."""
    return str(table) == BUILT_IN and not Path(BUILT_IN).exists()


def are_many(table: Any) -> bool:
    """Whether a table is given as several files: a list of paths, a folder or a pattern."""
    if isinstance(table, str | os.PathLike):
        text = os.fspath(table)
        if is_built_in(text):
            return False
        path = Path(text).expanduser()
        return path.is_dir() or (not path.exists() and bool(_SPECIAL & set(text)))
    return isinstance(table, Sequence) and all(isinstance(p, str | os.PathLike) for p in table)


def is_on_disk(table: Any) -> bool:
    """Whether a table is given by the names of files."""
    one = isinstance(table, str | os.PathLike) and not is_built_in(table)
    return one or are_many(table)


def find_files(paths: Paths, endings: Sequence[str] = ENDINGS) -> list[Path]:
    """Return the files that are meant, those of a pattern or a folder in the order of their names.

    Of a folder all files below with one of the endings are taken, also through links to other
    folders, but for names that start with a dot or an underscore. Files that are named twice raise
    an error, as do folders named ``key=value``: such a column is in no file.
    """
    listed = [paths] if isinstance(paths, str | os.PathLike) else list(paths)
    if not listed:
        raise TableError("The list of files is empty. Name at least one.")
    found: dict[tuple[int, int | Path], Path] = {}
    for given in listed:
        for path in _meant(Path(given).expanduser(), endings):
            state = path.stat()
            first = found.setdefault((state.st_dev, state.st_ino or path.resolve()), path)
            if first is not path:
                again = "twice" if first == path else f"also as '{first}'"
                raise TableError(
                    f"'{path}' is named {again}, so its rows would count twice. Name it once."
                )
    return list(found.values())


def _meant(path: Path, endings: Sequence[str]) -> list[Path]:
    if path.is_dir():
        return _below(path, endings)
    if _SPECIAL & set(str(path)) and not path.exists():
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
    """Yield files below a folder, and links that lead nowhere; links to folders are followed."""
    real = folder.resolve()
    if real in above:  # linked from below itself; other links name files twice, which users settle
        return
    with reading(folder):
        for path in list(folder.iterdir()):
            if path.name.startswith((".", "_")):
                continue
            if path.is_dir():
                yield from _entries(path, (*above, real))
            elif path.is_file() or path.is_symlink():
                yield path
