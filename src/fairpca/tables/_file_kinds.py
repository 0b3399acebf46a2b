"""What is in this file? Its first bytes tell, not its name."""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from .._attributes import close_names
from ..errors import TableError

SAMPLE_BYTES = 2**18
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


def existing_file(path: Path, also: tuple[str, ...] = ()) -> Path:
    """Return the path of a file that is there, or say what is.

    Parameters
    ----------
    path : Path
        Where the file should be.
    also : tuple of str
        Names that could have been meant instead, besides the files of the folder.
    """
    try:
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
    except OSError as error:
        raise unreadable(path, error) from error
    close = close_names(path.name, [*names, *also], cutoff=0.5)
    meant = f" Did you mean {' or '.join(repr(name) for name in close)}?" if close else ""
    raise TableError(f"There is no file '{path}'.{meant}")


def unreadable(path: Path, error: OSError) -> TableError:
    """Return the error for a file that the system refuses to give."""
    return TableError(f"'{path}' cannot be read: {error.strerror or error}.")


def undecodable(path: Path, error: UnicodeDecodeError) -> TableError:
    """Return the error for bytes that are no text in the encoding in which a file begins."""
    return TableError(
        f"'{path}' is damaged or was cut off: it begins as text in {error.encoding.upper()}, but "
        f"has bytes that are none ({error.reason}). Get it again, or save it as UTF-8."
    )


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
    try:
        with path.open("rb") as stream:
            start = stream.read(4096)
    except OSError as error:
        raise unreadable(path, error) from error
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
    """Open a file for reading, unpacked; what is wrong with it becomes a `TableError`."""
    packed = kind_of_file(path) == "gzip"
    try:
        with path.open("rb") as file:
            yield gzip.GzipFile(fileobj=file) if packed else file  # type: ignore[misc]
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise TableError(
            f"'{path}' is damaged or was cut off: it cannot be unpacked ({error}). Get it again."
        ) from error
    except UnicodeDecodeError as error:
        raise undecodable(path, error) from error
    except OSError as error:
        raise unreadable(path, error) from error
