"""Which kind of column this is: the place that knows them all."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._attributes import folded
from ._adapters import import_arrow
from ._dates_and_texts import DateColumn, TextColumn, date_format
from ._frozen_columns import MOST_LEVELS, Learned, LevelColumn, NumberColumn, VectorColumn
from ._table import is_text, is_vector
from ._text_values import (
    Numbers,
    about_numbers,
    as_numbers,
    distinct_texts,
    look_like_dates,
    nearly_numbers,
)

FrozenColumn = NumberColumn | LevelColumn | DateColumn | TextColumn | VectorColumn
"""The kinds. Model files hold no others; ONNX has operators for the first two."""


def learn(name: str, array: Any, like: FrozenColumn | None = None, **numbers: Any) -> Learned:
    """Tell what a column is, as skrub would, and learn how it is encoded.

    Texts that mean numbers, see `as_numbers`, or all mean dates are these, unless they were
    declared categories. Of others, up to `MOST_LEVELS` levels are indicators, more are encoded by
    their letters. What more rows have told, `like`, stands whatever these show. `numbers` are as in
    `NumberColumn.learned`.
    """
    if isinstance(like, NumberColumn):
        numbers = {"ranked": like.ranks is not None, "missing": like.missing}
        numbers["how"] = Numbers(like.decimal, ("",) if like.odd_is_missing else ())
    types, kind = import_arrow().types, array.type
    if array.null_count == len(array):
        return _empty(array)
    if is_vector(kind):
        return VectorColumn.learned(name, array)
    declared, settled = types.is_dictionary(kind), isinstance(like, LevelColumn | TextColumn)
    if not settled and (types.is_timestamp(kind) or types.is_date(kind)):
        return DateColumn.learned(name, array, None)
    if not settled and not declared and not is_text(kind):
        return NumberColumn.learned(name, array, **numbers)
    codes, texts = distinct_texts(array)
    counts = np.bincount(codes, minlength=len(texts))
    rows_of = {text: int(n) for text, n in zip(texts, counts, strict=True) if text and n}
    if not rows_of:
        return _empty(array)
    undecided = like is None and not declared
    if isinstance(like, NumberColumn):
        return NumberColumn.learned(name, array, **numbers)
    if undecided and (how := as_numbers(rows_of, few_levels=MOST_LEVELS)) is not None:
        note = about_numbers(rows_of, how)
        return NumberColumn.learned(name, array, how=how, note=note, **numbers)
    format = like.format if isinstance(like, DateColumn) else None
    if format is not None or (undecided and (format := date_format(list(rows_of))) is not None):
        return DateColumn.learned(name, array, format)
    n_levels = len(set(map(folded, rows_of)))
    if isinstance(like, LevelColumn) or (like is None and n_levels <= MOST_LEVELS):
        return LevelColumn.learned(name, rows_of, int(counts[-1]))
    return TextColumn.learned(name, codes, texts, _nearly(list(rows_of)))


def _empty(array: Any) -> Learned:
    return Learned(None, "empty", len(array), 0, np.empty(0), np.empty(0), "no value at all")


def _nearly(texts: list[str]) -> str:
    """Say where a few texts, or how they are written, keep a column from what it could be."""
    if others := nearly_numbers(texts):
        shown = ", ".join(f"'{text[:20]}'" for text in others[:3]) + (", ..." if others[3:] else "")
        return f"numbers but for {shown}: as texts, unless these are corrected or removed"
    if look_like_dates(texts):
        return "dates in more than one format: as texts, unless all are written in one"
    return ""
