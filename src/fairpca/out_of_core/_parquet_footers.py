"""What Parquet files say about themselves, before any row is read."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..errors import TableError
from ..tables import (
    damaged,
    import_arrow,
    is_row_index,
    kind_of_file,
    unreadable,
    unreadable_binary,
)
from ._paths import FileState


@dataclass(frozen=True)
class Footer:
    """What a Parquet file says about itself.

    Parameters
    ----------
    path : Path
    state : FileState
        With the digest of the footer.
    types : dict of str to pyarrow.DataType
        The columns.
    twice : frozenset of str
        Names of more than one column.
    rows : tuple of int
        Rows of each row group.
    """

    path: Path
    state: FileState
    types: dict[str, Any]
    twice: frozenset[str]
    rows: tuple[int, ...]

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return sum(self.rows)


def read_footer(path: Path) -> Footer:
    """Return what a Parquet file says about itself.

    Raises
    ------
    TableError
        If it is empty, cut off, or no Parquet file.
    """
    kind = kind_of_file(path)
    if kind != "parquet":
        raise TableError(
            f"'{path}' is not a Parquet file, but {'a text' if kind == 'text' else kind} one. "
            f"Text files are read by CSVRows and moments_from_csv."
        )
    arrow = import_arrow()
    state = FileState.of(path, _digest(path))
    try:
        with arrow.parquet.ParquetFile(path, memory_map=False) as file:
            schema, metadata = file.schema_arrow, file.metadata
            rows = tuple(metadata.row_group(i).num_rows for i in range(metadata.num_row_groups))
        names = schema.names
    except (arrow.ArrowException, UnicodeDecodeError) as error:
        raise damaged(path, "parquet", error) from error
    except OSError as error:
        raise unreadable_binary(path, "parquet", error) from error
    twice = frozenset(name for name in names if names.count(name) > 1) if _repeats(names) else ()
    types = {n: schema.field(i).type for i, n in enumerate(names) if not is_row_index(n)}
    return Footer(path, state, types, frozenset(twice), rows)


def _repeats(names: Sequence[str]) -> bool:
    return len(set(names)) < len(names)


def _digest(path: Path) -> str:
    """Return the sha256 of the footer, which the last eight bytes of a file tell the length of."""
    try:
        with path.open("rb") as stream:
            size = stream.seek(0, 2)
            stream.seek(max(0, size - 8))
            length = int.from_bytes(stream.read(4), "little") + 8
            stream.seek(max(0, size - length))
            return hashlib.sha256(stream.read()).hexdigest() if length <= size else ""
    except OSError as error:
        raise unreadable(path, error) from error
