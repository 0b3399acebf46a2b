"""Sensitive columns become levels and numeric attributes; criteria become strata of y."""

from .advising import advising, can_advise, how_to_decide, how_to_say, how_to_say_kinds
from .columns import (
    Columns,
    Roles,
    as_columns,
    assign_roles,
    check_frames,
    close_names,
    did_you_mean,
    factors_among,
    indexable,
    is_named,
    listed,
    numbers_asked,
    rows_named,
    split_columns,
)
from .factors import (
    FEW_VALUES,
    Factors,
    Stratum,
    factor_columns,
    kind_of_factor,
    kinds_of_factors,
    read_factors,
)
from .levels import (
    MOST_LEVELS,
    Attribute,
    Levels,
    Numbers,
    Numeric,
    about_initials,
    about_spellings,
    drop_unused_labels,
    folded,
    one_spelling,
    refuse_identifiers,
    warn_of_spellings,
)
from .probabilities import probability_columns, read_probabilities
from .reading import (
    KINDS,
    MISSING_LABEL,
    about_a_number,
    about_whole_numbers,
    are_categories,
    are_missing,
    as_array,
    attribute_columns,
    check_weights,
    checked_kinds,
    in_words_of_factors,
    in_words_of_targets,
    name_of_missing,
    read_attributes,
    read_column,
    sorted_labels,
    warn_of_whole_numbers,
)
