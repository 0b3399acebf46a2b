"""Sensitive columns become levels and numeric attributes; criteria become strata of y."""

from .columns import (
    Columns,
    Roles,
    as_columns,
    assign_roles,
    check_frames,
    close_names,
    did_you_mean,
    indexable,
    is_named,
    listed,
    rows_named,
    split_columns,
)
from .levels import (
    Attribute,
    Levels,
    Numeric,
    drop_unused_labels,
    how_to_say,
    refuse_identifiers,
)
from .reading import (
    KINDS,
    MISSING_LABEL,
    about_a_number,
    about_whole_numbers,
    are_missing,
    as_array,
    attribute_columns,
    check_weights,
    checked_kinds,
    in_words_of_targets,
    name_of_missing,
    read_attributes,
    read_column,
    sorted_labels,
    warn_of_whole_numbers,
)
