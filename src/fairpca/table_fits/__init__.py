"""Tables that are spread over files, or too large for memory."""

from ._drawn_rows import Drawn, LargestKey, taken
from ._table_columns import RawColumn, raw_columns
from ._table_files import TableFile, fingerprint_of_files, open_files
from ._table_parts import Progress, TableParts
from ._table_paths import are_many, input_files, is_large, is_on_disk
