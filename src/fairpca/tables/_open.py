"""The one door for tables on disk: what is in a file decides how it is read."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from .._attributes import did_you_mean
from ..errors import TableError
from ._adapters import import_arrow
from ._feather import FeatherTable
from ._files import HASHED, FileState, TableFile, different_names, existing_file, kind_of_file
from ._parquet import ParquetTable
from ._paths import BUILT_IN_NAMES, ENDINGS, Paths, find_files
from ._table import arrow_columns, family
from ._text import TextTable

WHOLE_HASH_BYTES = 500_000_000
"""Of more bytes, the fingerprint covers the beginning and the end of each file."""


def open_table(
    source: str | os.PathLike[str],
    *,
    columns: Sequence[str] | None = None,
    header: bool | None = None,
    skip_lines: int = 0,
    as_written: bool = False,
) -> TableFile:
    """Open a file, to be read whole or in batches.

    Columns have different names, unless they are taken `as_written`; the other options are those
    of `read_table`, and are for text files.
    """
    path = existing_file(Path(source).expanduser(), also=BUILT_IN_NAMES)
    kind = kind_of_file(path)
    if kind not in ("parquet", "arrow"):
        return TextTable.open(path, columns=columns, header=header, skip_lines=skip_lines)
    if columns is not None or header is not None or skip_lines:
        raise TableError(
            f"'{path}' is a {kind} file, which has its own names: columns, header and skip_lines "
            f"are for text files. Leave them out."
        )
    opened = ParquetTable if kind == "parquet" else FeatherTable
    return opened.open(path, as_written=as_written)


def open_tables(paths: Paths, **how: Any) -> list[TableFile]:
    """Find the files that are one table, and look into each; they must be alike.

    They are of one kind and have the same columns, of types that go together, by names that are
    the same where a file is read as a whole.
    """
    files: list[TableFile] = []
    for path in find_files(paths, ENDINGS):
        file = open_table(path, as_written=True, **how)
        if files and file.kind != files[0].kind:
            raise TableError(
                f"'{files[0].path}' is a {files[0].kind} file, but '{path}' is a {file.kind} file, "
                f"and they cannot be one table. Name files of one kind."
            )
        files.append(file)
        _check_plain_names(file)
        check_same_columns(files)
        _check_same_families(files)
    return files


@dataclass(frozen=True, eq=False)
class FrameTable(TableFile):
    """A table that is in memory already, by its columns as Arrow arrays."""

    kind: ClassVar[str] = "memory"
    arrays: dict[str, Any]

    @classmethod
    def of(cls, frame: Any) -> FrameTable:
        """Return a frame as if it were a file."""
        arrays = arrow_columns(frame)
        types = {name: array.type for name, array in arrays.items()}
        names, n = tuple(arrays), len(frame)
        state = FileState("", 0, 0, "")
        return cls(Path(), state, names, (), types, n, names, dict.fromkeys(names, 0), arrays)

    def read(self) -> Any:
        """Return all of it as an Arrow table."""
        return import_arrow().table(self.arrays)

    def batches(self, columns: Sequence[str], rows: int, **how: Any) -> Iterator[Any]:
        """Yield record batches of some columns."""
        for start in range(0, self.n_rows or 0, rows):
            found = [self.arrays[name].slice(start, rows) for name in columns]
            yield import_arrow().RecordBatch.from_arrays(found, names=list(columns))


def in_equal_batches(batches: Iterator[Any], rows: int, skip: int = 0) -> Iterator[Any]:
    """Yield Arrow tables of exactly so many rows, but for the last, however the rows come.

    The first few are left out.
    """
    table_of = import_arrow().Table.from_batches
    source, rest = iter(batches), None
    held: list[Any] = []
    n, index = 0, 0
    while (batch := next(source, None) if rest is None else rest) is not None:
        part = batch.slice(0, rows - n)
        rest = batch.slice(rows - n) if batch.num_rows > rows - n else None
        n += part.num_rows
        if index >= skip:
            held.append(part)
        del batch, part  # what a generator has names for stays in memory while it waits
        if n == rows:
            if index >= skip:
                done, held = [table_of(held)], []
                yield done.pop()
            n, index = 0, index + 1
    if held:
        done, held = [table_of(held)], []
        yield done.pop()


def check_same_columns(
    files: Sequence[TableFile], needed: Sequence[str] | None = None, *, every: bool = True
) -> None:
    """Raise unless all files have the columns of the first, or the `needed` ones of them.

    Where `every` column of the first is used, other files must not have more.
    """
    first, whole = files[0], "All files of a table must have the same columns."
    for file in files:
        lacking = [name for name in needed or first.names if name not in file.names]
        if lacking:
            advice = "Leave that file out, or add the column." if needed else whole
            raise TableError(
                f"'{file.path}' lacks the column '{lacking[0]}', which '{first.path}' has."
                f"{did_you_mean(lacking[0], file.names)} {advice}"
            )
        more = [name for name in file.names if name not in first.names]
        if every and more:
            advice = "Name the features, or write all files with the same columns."
            raise TableError(
                f"'{file.path}' has the column '{more[0]}', which '{first.path}' has not. "
                f"{advice if needed else whole}"
            )


def _check_same_families(files: Sequence[TableFile]) -> None:
    """Raise unless the columns of all files are of types that go together, such as numbers."""
    first = files[0]
    for file in files:
        for name, kind in file.types.items():
            if len({family(first.types[name]), family(kind)} - {"nothing"}) > 1:
                raise TableError(
                    f"The column '{name}' is of the type {kind} in '{file.path}', but of the type "
                    f"{first.types[name]} in '{first.path}'. Write both alike."
                )


def _check_plain_names(file: TableFile) -> None:
    """Refuse names that are changed where a table is read as a whole."""
    if file.kind == "text":
        return
    if file.twice:
        raise TableError(
            f"'{file.path}' has two columns called '{file.twice[0]}'. Rename one of them."
        )
    better = zip(file.names, different_names(file.names)[0], strict=True)
    odd = [name for name, changed in better if name != changed]
    if odd:
        raise TableError(
            f"'{file.path}' has a column called '{odd[0]}': nothing, or a name with blanks around "
            f"it. Rename it."
        )


def fingerprint_of_files(paths: Sequence[Path], *, whole: bool = False) -> str:
    """Return the sha256 of the files' bytes; of many bytes, of their beginnings and ends."""
    sizes = [path.stat().st_size for path in paths]
    whole = whole or sum(sizes) <= WHOLE_HASH_BYTES
    digest = hashlib.sha256()
    for path, size in zip(paths, sizes, strict=True):
        if len(paths) > 1:
            digest.update(f"{path.name} {size}\n".encode())
        with path.open("rb") as stream:
            if whole:
                while piece := stream.read(HASHED):
                    digest.update(piece)
                continue
            digest.update(stream.read(HASHED))
            stream.seek(max(0, size - HASHED))
            digest.update(stream.read())
    return f"sha256{'' if whole else ' of beginnings and ends'}:{digest.hexdigest()}"
