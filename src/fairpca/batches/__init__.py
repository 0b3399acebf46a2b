"""Where rows come from, cut into blocks that stay in cache."""

from .elsewhere import Collect, Part, RowsElsewhere, plus
from .in_memory import BLOCK_ROWS, MappedRows, Rows, block_rows, row_blocks

__all__ = [
    "BLOCK_ROWS",
    "Collect",
    "MappedRows",
    "Part",
    "Rows",
    "RowsElsewhere",
    "block_rows",
    "plus",
    "row_blocks",
]
