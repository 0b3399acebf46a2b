"""Tell what kind of column this is, and learn from it."""

from __future__ import annotations

from typing import Any

import numpy as np

from ._adapters import date_format, import_arrow
from ._date_column import DateColumn, fit_dates
from ._frozen_column import Learned
from ._level_column import MOST_LEVELS, LevelColumn, fit_levels
from ._number_column import NumberColumn, are_numbers, fit_numbers
from ._text_column import TextColumn, fit_texts
from ._text_values import distinct_texts, look_like_dates, nearly_numbers

KINDS: dict[str, Any] = {
    "numeric": NumberColumn,
    "category": LevelColumn,
    "date": DateColumn,
    "text": TextColumn,
}
"""The classes of encoders by the name they have in plain data."""


def learn(name: str, array: Any) -> Learned:
    """Tell what a column is, as skrub would, and learn how it is encoded.

    Parameters
    ----------
    name : str
        The column.
    array : pyarrow.Array
        Its values.

    Notes
    -----
    Numbers, truth values and durations are numbers, as are texts that all mean numbers. Dates
    are dates, as are texts that can all be read in one format. Anything else has levels: up to
    `MOST_LEVELS` are indicators, more are encoded by their letters. Declared categories are
    never read as numbers or dates.
    """
    types, kind = import_arrow().types, array.type
    if array.null_count == len(array):
        return Learned(None, "empty", len(array), 0, np.empty(0), np.empty(0), "no value at all")
    if types.is_timestamp(kind) or types.is_date(kind):
        return fit_dates(name, array, None)
    if types.is_dictionary(kind):
        return _learn_levels(name, array)
    if types.is_string(kind) or types.is_large_string(kind):
        return _learn_texts(name, array)
    return fit_numbers(name, array)


def _learn_texts(name: str, array: Any) -> Learned:
    texts = [text for text in distinct_texts(array)[1] if text is not None]
    if not texts:
        return _learn_levels(name, array)
    if are_numbers(texts):
        return fit_numbers(name, array)
    format = date_format(texts)
    if format is not None:
        return fit_dates(name, array, format)
    return _learn_levels(name, array)


def _learn_levels(name: str, array: Any) -> Learned:
    codes, texts = distinct_texts(array)
    used = set(np.unique(codes).tolist())
    levels = [text for i, text in enumerate(texts[:-1]) if i in used and text is not None]
    if not levels:
        missing = len(array)
        return Learned(None, "empty", missing, 0, np.empty(0), np.empty(0), "no value at all")
    if len(levels) <= MOST_LEVELS:
        return fit_levels(name, array)
    return fit_texts(name, array, _nearly(levels))


def _nearly(texts: list[str]) -> str:
    """Say so where a few texts, or how they are written, keep a column from what it could be."""
    if others := nearly_numbers(texts):
        shown = ", ".join(f"'{text[:20]}'" for text in others[:3]) + (", ..." if others[3:] else "")
        return f"numbers but for {shown}: as texts, unless these are corrected or removed"
    if look_like_dates(texts):
        return "dates in more than one format: as texts, unless all are written in one"
    return ""
