"""Files of any size become moments in bounded memory."""

from .csv_rows import CSVRows
from .errors import CheckpointError
from .moments_of_files import moments_from_csv, moments_from_parquet
from .parquet_rows import ParquetRows

__all__ = [
    "CSVRows",
    "CheckpointError",
    "ParquetRows",
    "moments_from_csv",
    "moments_from_parquet",
]
