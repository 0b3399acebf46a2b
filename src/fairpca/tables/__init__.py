"""Tables of people as they are on disk: read, told apart, made into numbers."""

from ..errors import TableError
from ._adapters import import_arrow, import_pandas
from ._encoder import LARGEST, TableEncoder, require_columns
from ._files import FileState, TableFile, existing_file, kind_of_file
from ._frozen_columns import Column, LevelColumn, NumberColumn, floats
from ._notices import Notice, find_notices
from ._open import (
    FrameTable,
    check_same_columns,
    fingerprint_of_files,
    in_equal_batches,
    open_table,
    open_tables,
)
from ._paths import Paths, are_many, find_files, input_files, is_large, is_on_disk
from ._plans import (
    FEWEST_ROWS,
    MOST_GROUPS,
    AttributePlan,
    LevelPlan,
    Measured,
    QuantityPlan,
    as_table,
    binary_target,
    estimator_columns,
    measure_attribute,
    plan_column,
    refuse_dates,
    roles_in,
    what_was_merged,
)
from ._raw_columns import RawColumn, raw_columns
from ._reading import BUILT_IN, read_table
from ._table import Table, arrow_to_pandas, distinct, family, simple
from ._text_values import (
    MISSING,
    NULL_STRINGS,
    NUMBER,
    TEXT,
    TRUTH,
    WHOLE,
    converted,
    kinds_of_columns,
    typed,
    with_points,
)

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
