"""Rows, levels and numbers as the moments take them: the one place where these tests make them."""

from fairpca._attributes import Levels, Numeric
from fairpca._rows import BLOCK_ROWS, Rows, rows_per_block


def levels(name, labels, codes, **more):
    """Return a sensitive column of levels."""
    return Levels(name, labels, codes, **more)


def numeric(name, values):
    """Return a sensitive column of numbers."""
    return Numeric(name, values)


def rows(X, weight=None, *attributes):
    """Return rows in memory."""
    return Rows(X, weight, attributes)


__all__ = ["BLOCK_ROWS", "levels", "numeric", "rows", "rows_per_block"]
