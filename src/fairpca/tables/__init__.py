"""Tables of people as they are on disk: read, told apart, made into numbers."""

from .encoder import TableEncoder
from .errors import TableError
from .frozen_column import Column
from .odd_columns import Notice
from .proxies import find_notices
from .reading import BUILT_IN, read_table
from .streaming import stream_transform
from .table import Table

__all__ = [
    "BUILT_IN",
    "Column",
    "Notice",
    "Table",
    "TableEncoder",
    "TableError",
    "find_notices",
    "read_table",
    "stream_transform",
]
