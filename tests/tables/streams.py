"""A file as it is read in a stream, batch by batch."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from fairpca.tables import open_table


def streamed(path: Path, **how: Any) -> tuple[list[str], int]:
    """Return the names of the columns, and how many rows come."""
    table = open_table(path, **how)
    return list(table.names), sum(batch.num_rows for batch in table.batches(table.names, 16))


def streamed_values(path: Path, **how: Any) -> dict[str, list[Any]]:
    """Return what is in each column."""
    table = open_table(path, **how)
    values: dict[str, list[Any]] = {name: [] for name in table.names}
    for batch in table.batches(table.names, 16):
        for name, column in zip(table.names, batch.columns, strict=True):
            values[name] += column.to_pylist()
    return values
