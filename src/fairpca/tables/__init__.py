"""Tables of people as they are on disk: read, checked, and made into numbers."""

from ._adapters import import_arrow, import_pandas
from ._encoder import LARGEST, TableEncoder, checked_missing, require_columns
from ._files import (
    FileState,
    Paths,
    TableFile,
    are_many,
    different_names,
    find_files,
    fingerprint_of_files,
    is_built_in,
    is_on_disk,
    kind_of_file,
)
from ._frozen_columns import ColumnWeight, LevelColumn, NumberColumn, VectorColumn, floats
from ._notices import (
    Notice,
    check_columns,
    check_spellings,
    equal_pairs,
    far_numbers,
    find_person,
    find_spellings,
)
from ._open import (
    GivenVectors,
    RawColumn,
    check_same_columns,
    common_type,
    is_large,
    is_saved_array,
    open_table,
    open_tables,
    read_table,
    with_vectors,
)
from ._streams import BATCH_ROWS, in_memory, open_stream, reading_rows, whole_table
from ._table import (
    Table,
    arrow_columns,
    arrow_to_pandas,
    bytes_of_vectors,
    decoded,
    distinct,
    family,
    is_vector,
    simple,
)
from ._text_values import (
    MARKS,
    NULL_STRINGS,
    NUMBER,
    TEXT,
    TRUTH,
    WHOLE,
    cleaned,
    converted,
    kinds_of_columns,
    number,
    typed,
    with_points,
)

__all__ = ["TableEncoder", "check_columns", "read_table"]
