"""What texts mean: nothing, a whole number, a number, a truth value, or what they say."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Set
from functools import cache
from typing import Any

import numpy as np

from ..errors import TableError
from ._adapters import import_arrow
from ._table import distinct, is_text, text_of

NULL_STRINGS = frozenset(
    (
        *("", "?", "...", "null", "NULL", "none", "None", "NA", "N/A", "n/a", "<NA>", "#NA"),
        *("#N/A", "#N/A N/A", "nan", "NaN", "-nan", "-NaN"),
        *("1.#QNAN", "-1.#QNAN", "1.#IND", "-1.#IND"),
    )
)
"""Texts that mean "missing": those of pandas and of skrub, which add each other's."""

MISSING = NULL_STRINGS - {"?", "...", "none"}
"""What pandas takes for missing. The others are missing in columns of numbers only."""

TRUTHS = {"true": 1.0, "false": 0.0}

WHOLE, NUMBER, TRUTH, TEXT = "whole number", "number", "truth value", "text"
"""What a column of texts can be, the narrowest first."""

_GROUPED = re.compile(r"[-+]?[$€£]? ?(\d{1,3}([.,' \u00a0\u202f]\d{3})*|\d+)([.,]\d+)? ?[%$€£]?")
"""Numbers as people write them: digits in groups, either decimal sign, a currency, per cent."""

_DATED = re.compile(r"\d{1,4}([-/.])\d{1,2}\1\d{1,4}([ T].*)?")
_NEARLY_ALL = 0.9


def number(text: str) -> float | None:
    """Return the number a text means, or None; as Arrow, it knows no digits of other scripts."""
    try:
        return float(text) if text.isascii() and "_" not in text else None
    except ValueError:
        return None


def cleaned(value: Any, nulls: Set[str] = NULL_STRINGS) -> str | None:
    """Return a value as a text without surrounding blanks, or None where it means "missing"."""
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return None
    text = value.strip() if isinstance(value, str) else text_of(value)
    return None if text in nulls else text


def distinct_texts(array: Any) -> tuple[np.ndarray, list[str | None]]:
    """Return which of the cleaned texts each row has, and these: the last is None, for missing."""
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


def are_truths(texts: list[str]) -> bool:
    """Tell whether all texts mean true or false."""
    return all(text.lower() in TRUTHS for text in texts)


def are_numbers(texts: list[str]) -> bool:
    """Tell whether there are texts, and all mean numbers, or all mean true or false."""
    return bool(texts) and (all(number(t) is not None for t in texts) or are_truths(texts))


def numbers_of_texts(array: Any, *, truths: bool) -> tuple[np.ndarray, str | None]:
    """Return the numbers that texts (or `truths`) mean, NaN where missing, and a text without."""
    if is_text(array.type):
        parsed = _as_kind(_without_nulls(_trimmed(array)), NUMBER)
        if parsed is not None:
            return parsed.to_numpy(zero_copy_only=False), None
    codes, texts = distinct_texts(array)
    meant: dict[str, float | None] = {}
    for text in filter(None, texts):
        found = number(text)
        meant[text] = TRUTHS.get(text.lower()) if found is None and truths else found
    odd = next((text for text, found in meant.items() if found is None), None)
    return np.array([*meant.values(), np.nan], dtype=float)[codes], odd


def nearly_numbers(texts: list[str]) -> list[str]:
    """Return the texts that keep a column from being numbers; none where it is not near that."""
    others = [text for text in texts if number(text) is None]
    alike = len(texts) - len(others) + sum(_GROUPED.fullmatch(text) is not None for text in others)
    return others if texts and alike >= _NEARLY_ALL * len(texts) else []


def look_like_dates(texts: list[str]) -> bool:
    """Whether nearly all texts look like dates, in whatever formats."""
    alike = sum(_DATED.fullmatch(text) is not None for text in texts)
    return bool(texts) and alike >= _NEARLY_ALL * len(texts)


def with_points(texts: Any, decimal: str) -> Any:
    """Return texts of numbers with a decimal point, whatever they are written with."""
    if decimal == ".":
        return texts
    return import_arrow().compute.replace_substring(texts, decimal, ".")


def _trimmed(texts: Any) -> Any:
    return import_arrow().compute.utf8_trim_whitespace(texts)


@cache
def _words(words: frozenset[str], kind: Any) -> Any:
    return import_arrow().array(sorted(words), type=kind)


def _without_nulls(texts: Any, words: frozenset[str] = NULL_STRINGS) -> Any:
    """Return an Arrow array of texts with those missing that mean "missing"."""
    arrow = import_arrow()
    unknown = arrow.compute.is_in(texts, value_set=_words(words, texts.type))
    return arrow.compute.if_else(unknown, arrow.scalar(None, texts.type), texts)


def _as_kind(known: Any, kind: str) -> Any:
    """Return texts as whole numbers, numbers or truth values; None if one of them is none."""
    arrow = import_arrow()
    if kind == TRUTH:
        small = arrow.compute.utf8_lower(known)
        truths = arrow.compute.is_in(small.drop_null(), arrow.array(sorted(TRUTHS)))
        all_are = arrow.compute.all(truths).as_py() is not False
        return arrow.compute.equal(small, "true") if all_are else None
    try:
        numbers = known.cast(arrow.float64())  # first: Arrow takes 0x1F for a whole number only
        return known.cast(arrow.int64()) if kind == WHOLE else numbers
    except arrow.ArrowInvalid:
        return None


def typed(column: Any, decimal: str) -> Any:
    """Return a column of texts as integers, floats or truth values, where all of it is."""
    texts = _without_nulls(_trimmed(column), MISSING)
    known = _without_nulls(texts)
    if known.null_count == len(known):
        return texts
    written = with_points(known, decimal)
    for kind in (WHOLE, NUMBER, TRUTH):
        values = _as_kind(written, kind)
        if values is not None:
            return values
    return texts


def kinds_of_columns(batches: Iterable[Mapping[str, Any]], names: Iterable[str]) -> dict[str, str]:
    """Return the kinds of columns over all their values; stop where all are known to be texts."""
    possible = {name: [WHOLE, NUMBER, TRUTH] for name in names}
    seen = set()
    for batch in batches:
        for name in [name for name, kinds in possible.items() if kinds]:
            known = _without_nulls(_trimmed(batch[name])).drop_null()
            if len(known):
                seen.add(name)
                possible[name] = [k for k in possible[name] if _as_kind(known, k) is not None]
        if not any(possible.values()):
            break
    return {n: kinds[0] if kinds and n in seen else TEXT for n, kinds in possible.items()}


def converted(texts: Any, kind: str, name: str, where: str) -> Any:
    """Return a column of texts as Arrow values of a kind; refuse a value that is none."""
    texts = _trimmed(texts)
    if kind == TEXT:
        return _without_nulls(texts, MISSING).dictionary_encode()
    known = _without_nulls(texts)
    values = _as_kind(known, kind)
    if values is not None:
        return values
    texts = known.drop_null().to_pylist()
    meaning = TRUTHS.get if kind == TRUTH else number
    odd = next((text for text in texts if meaning(text.lower()) is None), "")
    raise TableError(
        f"The column '{name}' has '{odd[:40]}' in {where}, which is no {kind}. Correct it, or "
        f"leave the column out; the command `fairpca fit` encodes columns of any kind."
    )
