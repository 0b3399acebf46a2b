"""Tables of people as they are on disk: read, told apart, made into numbers."""

from ..errors import TableError
from ._adapters import import_arrow, import_pandas
from ._ahead import ahead
from ._arrow_columns import distinct, simple
from ._column_names import different_names, is_row_index, require_columns
from ._csv_dialect import CsvDialect, sniff
from ._csv_files import MISSING, arrow_stream, explained, options, slowly, typed, with_points
from ._encoder import LARGEST, TableEncoder
from ._file_kinds import existing_file, kind_of_file, undecodable, unreadable
from ._frozen_columns import Column, LevelColumn, NumberColumn, floats
from ._notices import Notice, find_notices
from ._plans import (
    FEWEST_ROWS,
    MOST_GROUPS,
    AttributePlan,
    LevelPlan,
    Measured,
    QuantityPlan,
    as_table,
    as_text,
    binary_target,
    cut_in_two,
    estimator_columns,
    is_known,
    is_quantity,
    measure_attribute,
    plan_levels,
    refuse_dates,
    roles_in,
    what_was_merged,
)
from ._reading import BUILT_IN, damaged, read_table, refuse_text_options, sound, unreadable_binary
from ._record_batches import Batches, open_batches
from ._table import Table, arrow_to_pandas
from ._text_values import NULL_STRINGS, TRUTHS, number, without_nulls

__all__ = [
    "BUILT_IN",
    "Column",
    "Notice",
    "Table",
    "TableEncoder",
    "TableError",
    "find_notices",
    "read_table",
]
