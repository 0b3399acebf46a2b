"""Files of any size become moments in bounded memory."""

from ..errors import CheckpointError
from ._csv_rows import CSVRows
from ._file_rows import FileRows
from ._moments_of_files import moments_from_csv, moments_from_parquet
from ._parquet_footers import Footer, read_footer
from ._parquet_rows import ParquetRows
from ._paths import SPECIAL, FileState, find_files
from ._pieces import Piece, Stretch, in_pieces, rows_per_piece
from ._row_groups import stretches_of

__all__ = [
    "CSVRows",
    "CheckpointError",
    "ParquetRows",
    "moments_from_csv",
    "moments_from_parquet",
]
