"""Which texts mean that a value is missing, and which mean a number."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from typing import Any

import numpy as np

from ._adapters import import_arrow
from ._arrow_columns import distinct, text_of

NULL_STRINGS = frozenset(
    (
        *("", "?", "...", "null", "NULL", "none", "None", "NA", "N/A", "n/a", "<NA>", "#NA"),
        *("#N/A", "#N/A N/A", "nan", "NaN", "-nan", "-NaN"),
        *("1.#QNAN", "-1.#QNAN", "1.#IND", "-1.#IND"),
    )
)
"""Texts that mean "missing": those of pandas and of skrub, which add each other's."""

TRUTHS = {"true": 1.0, "false": 0.0}

GROUPED = re.compile(r"[-+]?[$€£]? ?(\d{1,3}([.,' \u00a0\u202f]\d{3})*|\d+)([.,]\d+)? ?[%$€£]?")
"""Numbers as people write them: digits in groups, either decimal sign, a currency, per cent."""

DATED = re.compile(r"\d{1,4}([-/.])\d{1,2}\1\d{1,4}([ T].*)?")
NEARLY_ALL = 0.9


def cleaned(value: Any) -> str | None:
    """Return a value as a text without surrounding blanks, or None where it means "missing".

    Examples
    --------
    >>> cleaned(" Private "), cleaned("?"), cleaned(3)
    ('Private', None, '3')
    """
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return None
    text = value.strip() if isinstance(value, str) else text_of(value)
    return None if text in NULL_STRINGS else text


def without_nulls(texts: Any, words: Iterable[str] = NULL_STRINGS) -> Any:
    """Return an Arrow array of texts with those missing that mean "missing"."""
    arrow = import_arrow()
    unknown = arrow.compute.is_in(texts, value_set=arrow.array(sorted(words), type=texts.type))
    return arrow.compute.if_else(unknown, arrow.scalar(None, texts.type), texts)


def distinct_texts(array: Any) -> tuple[np.ndarray, list[str | None]]:
    """Return which cleaned texts occur in a column, and which of them each row has.

    Returns
    -------
    codes : array of shape (n,)
        Index into `texts`.
    texts : list of str or None
        Each once; the last is None, the missing ones. Some may occur in no row.
    """
    codes, values = distinct(array)
    place: dict[str, int] = {}
    spots = []
    for value in values:
        text = cleaned(value)
        spots.append(-1 if text is None else place.setdefault(text, len(place)))
    texts: list[str | None] = [*place, None]
    if spots == [*range(len(place)), -1]:
        return codes, texts
    return np.array(spots, dtype=np.int64)[codes] % len(texts), texts


def number(text: str) -> float | None:
    """Return the number a text means, or None.

    Examples
    --------
    >>> number("-1.5e3"), number("1_000"), number("twelve")
    (-1500.0, None, None)
    """
    try:
        return None if "_" in text else float(text)
    except ValueError:
        return None


def nearly_numbers(texts: list[str]) -> list[str]:
    """Return the texts that keep a column from being numbers; none where it is not near that.

    Examples
    --------
    >>> nearly_numbers(["1.234", "12.345.678", "9"]), nearly_numbers(["1", "two"])
    (['12.345.678'], [])
    """
    others = [text for text in texts if number(text) is None]
    alike = len(texts) - len(others) + sum(GROUPED.fullmatch(text) is not None for text in others)
    return others if texts and alike >= NEARLY_ALL * len(texts) else []


def look_like_dates(texts: list[str]) -> bool:
    """Whether nearly all texts look like dates, in whatever formats.

    Examples
    --------
    >>> look_like_dates(["2024-12-31", "31/12/2024"])
    True
    """
    alike = sum(DATED.fullmatch(text) is not None for text in texts)
    return bool(texts) and alike >= NEARLY_ALL * len(texts)
