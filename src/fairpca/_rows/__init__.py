"""Where rows come from, and how they are cut into blocks."""

from typing import TYPE_CHECKING, Any

from .devices import (
    DeviceRows,
    StreamedRows,
    check_all_finite,
    checked_rows,
    example_on,
    in_numpy,
    streamed,
)
from .elsewhere import Batch, Collect, RowsElsewhere, plus, rows_elsewhere
from .in_memory import BLOCK_ROWS, MappedRows, Rows, block_rows, row_blocks, rows_per_block
from .sample import LargestKey, Sample, rows_at

if TYPE_CHECKING:
    from .files import CSVRows, FileRows, ParquetRows, TableRows, rows_per_batch

_OF_FILES = ("CSVRows", "FileRows", "ParquetRows", "TableRows", "rows_per_batch")
"""Names that are imported when they are first used: they need the readers of tables."""


def __getattr__(name: str) -> Any:
    if name not in _OF_FILES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from . import files

    return getattr(files, name)
