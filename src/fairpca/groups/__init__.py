"""Sensitive columns become levels and numeric attributes; criteria become strata of y."""

from .attributes import Attribute, Levels, Numeric, drop_unused_labels, tie_to_strata
from .kinds import FEW_INTEGRAL_VALUES, ask_about_integers
from .reading import MISSING_LABEL, name_of_missing, read_attributes

__all__ = [
    "FEW_INTEGRAL_VALUES",
    "MISSING_LABEL",
    "Attribute",
    "Levels",
    "Numeric",
    "ask_about_integers",
    "drop_unused_labels",
    "name_of_missing",
    "read_attributes",
    "tie_to_strata",
]
