"""What is in this file? Its first bytes tell, not its name; what is wrong with it is one line."""

from __future__ import annotations

import gzip
import hashlib
import os
import re
import zlib
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, ClassVar

from .._attributes import close_names
from ..errors import TableError
from ._adapters import import_arrow

READABLE = "CSV (any delimiter, also gzipped), Parquet and Feather files"
OTHERS = {
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

_ROW_INDEX = re.compile(r"__index_level_\d+__|__null_dask_index__")

HASHED = 2**20
"""Bytes of the beginning, and of the end, that a digest is of."""


@dataclass(frozen=True)
class FileState:
    """What tells whether a file is still the one that was read.

    The digest is of what the file says about itself, or of its beginning and end.
    """

    path: str
    size: int
    modified: int
    digest: str

    @classmethod
    def of(cls, path: Path, digest: str | None = None) -> FileState:
        """Return the state of a file now; by default with a digest of its beginning and end."""
        with reading(path):
            found = path.stat()
            digest = _digest_of_ends(path) if digest is None else digest
        return cls(str(path.absolute()), found.st_size, found.st_mtime_ns, digest)


def _digest_of_ends(path: Path) -> str:
    digest = hashlib.sha256()
    with path.open("rb") as stream:
        digest.update(stream.read(HASHED))
        size = stream.seek(0, os.SEEK_END)
        stream.seek(max(0, size - HASHED))
        digest.update(stream.read(HASHED))
    return digest.hexdigest()


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

    @property
    def twice(self) -> list[str]:
        """Names that several columns have."""
        return sorted(name for name in self.places if self.written.count(name) > 1)

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


def places_of_columns(
    written: Sequence[str], *, as_written: bool = False
) -> tuple[dict[str, int], tuple[tuple[str, str], ...]]:
    """Return where the columns of a file are, by different names, and which names were changed.

    The unnamed index that pandas or Dask put into a file is no column: it numbers the rows, says
    nothing about people, and is none when these libraries read it.

    Examples
    --------
    >>> places_of_columns(["__index_level_0__", "age", "age"])
    ({'age': 1, 'age (2)': 2}, (('age', 'age (2)'),))
    """
    places = [i for i, name in enumerate(written) if not _ROW_INDEX.fullmatch(name)]
    names = [written[i] for i in places]
    if as_written:
        return dict(zip(names, places, strict=True)), ()
    names, renamed = different_names(names)
    return dict(zip(names, places, strict=True)), renamed


def different_names(names: Sequence[str]) -> tuple[list[str], tuple[tuple[str, str], ...]]:
    """Return names of which no two are the same, and which were changed.

    Examples
    --------
    >>> different_names(["id", "age", "age", ""])
    (['id', 'age', 'age (2)', 'column_4'], (('age', 'age (2)'), ('', 'column_4')))
    """
    taken = set(names)
    found: list[str] = []
    for i, name in enumerate(names):
        candidate = base = name.strip() or f"column_{i + 1}"
        copy = 2
        while candidate in found or (candidate != name and candidate in taken):
            candidate, copy = f"{base} ({copy})", copy + 1
        found.append(candidate)
    changed = tuple((a, b) for a, b in zip(names, found, strict=True) if a.strip() != b)
    return found, changed


def existing_file(path: Path, also: tuple[str, ...] = ()) -> Path:
    """Return the path of a file that is there, or say what is; `also` could have been meant."""
    with reading(path):
        if path.is_file():
            return path
        if path.is_dir():
            inside = sorted(p.name for p in path.iterdir() if p.is_file())[:5]
            holds = f" It holds {', '.join(map(repr, inside))}." if inside else " It is empty."
            raise TableError(f"'{path}' is a folder, not a table.{holds} Name one file.")
        folder = path.parent
        if not folder.is_dir():
            raise TableError(f"There is no file '{path}': its folder '{folder}' does not exist.")
        names = [p.name for p in folder.iterdir() if p.is_file()]
    close = close_names(path.name, [*names, *also], cutoff=0.5)
    meant = f" Did you mean {' or '.join(map(repr, close))}?" if close else ""
    raise TableError(f"There is no file '{path}'.{meant}")


def kind_of_file(path: Path) -> str:
    r"""Return "parquet", "arrow", "gzip" or "text", or say why a file is no table.

    Examples
    --------
    >>> import tempfile
    >>> file = Path(tempfile.mkdtemp()) / "people.csv"
    >>> _ = file.write_text("age,sex\n30,f\n")
    >>> kind_of_file(file)
    'text'
    """
    with reading(path), path.open("rb") as stream:
        start = stream.read(4096)
    if not start:
        raise TableError(f"'{path}' is empty.")
    for magic, kind in ((b"PAR1", "parquet"), (b"ARROW1", "arrow"), (b"\x1f\x8b", "gzip")):
        if start.startswith(magic):
            return kind
    for magic, what in OTHERS.items():
        if start.startswith(magic):
            raise TableError(f"'{path}' {what}. These can be read: {READABLE}.")
    if start.startswith((b"\xff\xfe", b"\xfe\xff")):
        return "text"  # UTF-16, which is full of zero bytes
    check_text(path, start)
    return "text"


def check_text(path: Path, start: bytes) -> None:
    """Refuse what is no text, and texts that are no tables."""
    if b"\0" in start or sum(byte < 32 and byte not in b"\t\n\r\f\x1b" for byte in start):
        raise TableError(f"'{path}' is not a table: it is binary. These can be read: {READABLE}.")
    head = start.removeprefix(b"\xef\xbb\xbf").lstrip().lower()
    if head.startswith((b"<!doctype", b"<html", b"<?xml", b"<")):
        raise TableError(
            f"'{path}' is not a table: it is HTML or XML, perhaps a page about the data. "
            f"Download the file itself."
        )
    if head.startswith((b'{"', b"[{", b"{\n", b"{\r")):
        raise TableError(f"'{path}' is JSON, which is not read. Save the table as CSV or Parquet.")


@contextmanager
def opened(path: Path) -> Iterator[IO[bytes]]:
    """Open a text file for reading, unpacked; what is wrong with it becomes a `TableError`."""
    packed = kind_of_file(path) == "gzip"
    with reading(path), path.open("rb") as file:
        yield gzip.GzipFile(fileobj=file) if packed else file  # type: ignore[misc]


@contextmanager
def reading(path: Path, kind: str = "text", where: str | None = None) -> Iterator[None]:
    """Turn whatever goes wrong while a file is read into one clear line.

    Of a binary file, `where` is the place that cannot be read, if it is not all of it.
    """
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
    except UnicodeDecodeError as error:
        if kind != "text":
            raise _damaged(path, kind, where, error) from error
        raise TableError(
            f"'{path}' is damaged or was cut off: it begins as text in {error.encoding.upper()}, "
            f"but has bytes that are none ({error.reason}). Get it again, or save it as UTF-8."
        ) from error
    except Exception as error:
        if kind == "text" or not isinstance(error, import_arrow().ArrowException):
            raise
        raise _damaged(path, kind, where, error) from error


def _damaged(path: Path, kind: str, where: str | None, error: Exception) -> TableError:
    why = str(error).splitlines()[0].rstrip(".") if str(error) else type(error).__name__
    if where is None:
        return TableError(f"'{path}' is a damaged or cut-off {kind} file: {why}. Get it again.")
    where = where[0].upper() + where[1:]
    return TableError(f"{where} cannot be read: {why}. The file is damaged; get it again.")


def checked(rows: Any) -> Any:
    """Return an Arrow table or batch of a file whose texts, lengths and codes were checked.

    What comes after trusts them: lengths beyond the end would be read, and crash.
    """
    rows.validate(full=True)
    return rows
