"""From tables with messy columns, in memory or on disk, to models that can be saved."""

from ._fitting import fit_table
from ._table_paths import input_files

__all__ = ["fit_table"]
