"""Sensitive columns become levels and numeric attributes; criteria become strata of y."""

from .columns import (
    Columns,
    Roles,
    as_columns,
    assign_roles,
    check_frames,
    close_names,
    closest,
    did_you_mean,
    indexable,
    is_named,
    listed,
    rows_named,
    split_columns,
)
from .levels import Attribute, Levels, Numeric, drop_unused_labels, tie_to_strata
from .reading import (
    FEW_INTEGRAL_VALUES,
    KINDS,
    MISSING_LABEL,
    ask_about_integers,
    attribute_columns,
    name_of_missing,
    read_attributes,
)
