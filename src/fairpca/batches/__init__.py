"""Where rows come from, cut into blocks that stay in cache."""

from .in_memory import Rows, row_blocks

__all__ = ["Rows", "row_blocks"]
