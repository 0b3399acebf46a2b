"""Tables that are spread over files, or too large for memory: which files, which columns."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..errors import TableError
from ..out_of_core import FileState, Footer, find_files, read_footer
from ..tables import (
    CsvDialect,
    damaged,
    different_names,
    import_arrow,
    is_row_index,
    kind_of_file,
    refuse_text_options,
    sniff,
)
from ._table_columns import check_same_columns
from ._table_paths import ENDINGS

WHOLE_HASH_BYTES = 500_000_000
"""Of more bytes, the fingerprint covers the beginning and the end of each file."""

HASHED = 2**20


@dataclass(frozen=True, eq=False)
class TableFile:
    """One file of a table.

    Parameters
    ----------
    path : Path
    state : FileState
        Tells whether it is still the same file later.
    kind : {"parquet", "arrow", "text"}
    names : tuple of str
        Its columns.
    types : dict
        Arrow types of the columns of a binary file.
    footer : Footer or None
        Of a Parquet file.
    dialect : CsvDialect or None
        Of a text file.
    """

    path: Path
    state: FileState
    kind: str
    names: tuple[str, ...]
    types: Mapping[str, Any]
    footer: Footer | None = None
    dialect: CsvDialect | None = None

    @property
    def n_rows(self) -> int | None:
        """Number of rows, where the file says so."""
        return None if self.footer is None else self.footer.n_rows


def open_files(
    table: Any,
    columns: Sequence[str] | None = None,
    header: bool | None = None,
    skip_lines: int = 0,
) -> list[TableFile]:
    """Find the files of a table, look into each, and check that all have the same columns.

    Parameters
    ----------
    table : path, or iterable of paths
        Each a file, a pattern such as ``"data/*.parquet"``, or a folder.
    columns, header, skip_lines
        As in `fairpca.tables.read_table`, of each file.

    Raises
    ------
    TableError
        If they are of several kinds, or a later one has other columns, or others than numbers
        where the first has numbers. The message names the file.
    """
    how = {"columns": columns, "header": header, "skip_lines": skip_lines}
    files: list[TableFile] = []
    for path in find_files(table, ENDINGS):
        kind = kind_of_file(path)
        kind = "text" if kind == "gzip" else kind
        if files and kind != files[0].kind:
            raise TableError(
                f"'{files[0].path}' is a {files[0].kind} file, but '{path}' is a {kind} file, and "
                f"they cannot be one table. Name files of one kind."
            )
        if kind == "text":
            files.append(_opened_text(path, how))
        else:
            refuse_text_options(path, kind, **how)  # type: ignore[arg-type]
            files.append(_opened_parquet(path) if kind == "parquet" else _opened_arrow(path))
        check_same_columns(files[0], files[-1])
    return files


def _opened_text(path: Path, how: dict[str, Any]) -> TableFile:
    state, dialect = FileState.of(path), sniff(path, **how)
    names = tuple(different_names(dialect.names)[0])
    return TableFile(path, state, "text", names, {}, dialect=dialect)


def _opened_parquet(path: Path) -> TableFile:
    footer = read_footer(path)
    if footer.twice:
        raise _twice(path, min(footer.twice))
    _check_names(path, list(footer.types))
    return TableFile(
        path, footer.state, "parquet", tuple(footer.types), footer.types, footer=footer
    )


def _opened_arrow(path: Path) -> TableFile:
    arrow, state = import_arrow(), FileState.of(path)
    try:
        with arrow.OSFile(str(path)) as source:
            schema = arrow.ipc.open_file(source).schema
        names = schema.names
    except (arrow.ArrowException, UnicodeDecodeError) as error:
        raise damaged(path, "arrow", error) from error
    twice = [name for i, name in enumerate(names) if name in names[:i]]
    if twice:
        raise _twice(path, twice[0])
    _check_names(path, names)
    pairs = zip(names, schema.types, strict=True)
    types = {name: kind for name, kind in pairs if not is_row_index(name)}
    return TableFile(path, state, "arrow", tuple(types), types)


def _twice(path: Path, name: str) -> TableError:
    return TableError(f"'{path}' has two columns called '{name}'. Rename one of them.")


def _check_names(path: Path, names: Sequence[str]) -> None:
    """Refuse names that are changed where a table is read as a whole."""
    odd = [
        name
        for name, better in zip(names, different_names(names)[0], strict=True)
        if name != better
    ]
    if odd:
        raise TableError(
            f"'{path}' has a column called '{odd[0]}': nothing, or a name with blanks around it. "
            f"Rename it."
        )


def fingerprint_of_files(files: Sequence[TableFile]) -> str:
    """Return the sha256 of the files' bytes; of large ones, of their beginnings and ends.

    A single file that is not large has the fingerprint that `read_table` gives it.
    """
    sizes = [file.path.stat().st_size for file in files]
    whole = sum(sizes) <= WHOLE_HASH_BYTES
    digest = hashlib.sha256()
    for file, size in zip(files, sizes, strict=True):
        if len(files) > 1:
            digest.update(f"{file.path.name} {size}\n".encode())
        with file.path.open("rb") as stream:
            if whole:
                while piece := stream.read(HASHED):
                    digest.update(piece)
                continue
            digest.update(stream.read(HASHED))
            stream.seek(max(0, size - HASHED))
            digest.update(stream.read())
    return f"sha256{'' if whole else ' of beginnings and ends'}:{digest.hexdigest()}"
