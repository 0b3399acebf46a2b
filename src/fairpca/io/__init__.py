"""Files of any size as rows to fit to, in place of arrays."""

from ._kept import in_memory_or_file
from ._rows import CSVRows, ParquetRows, TableRows, rows_per_batch

__all__ = ["CSVRows", "ParquetRows"]
