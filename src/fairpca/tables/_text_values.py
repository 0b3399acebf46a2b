"""What texts mean: nothing, a whole number, a number, a truth value, or what they say."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Set
from dataclasses import dataclass
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

MARKS = frozenset((".", "-", "--", "\u2013", "\u2014"))
"""Texts that mean "missing" among numbers, and in no other column."""

_BLANKS = "' \u2019\u00a0\u202f"
_WRITTEN = {
    decimal: re.compile(
        rf"(?P<before>[-+\u2212]?(?P<unit>[$€£¥]?) ?[-+\u2212]?)"
        rf"(?P<digits>(?:[1-9]\d{{0,2}}(?P<group>[{group}{_BLANKS}])\d{{3}}(?:(?P=group)\d{{3}})*|"
        rf"\d*)(?:[{decimal}]\d+|(?<=\d)))(?P<after> ?[%$€£¥]?)"
    )
    for decimal, group in ((".", ","), (",", "."))
}
"""Numbers as people write them, by their decimal sign: digits in groups, a currency, per cent."""

_DATED = re.compile(r"\d{1,4}([-/.])\d{1,2}\1\d{1,4}([ T].*)?")
_NEARLY_ALL, _ALL_BUT_A_FEW = 0.9, 0.95
"""From these shares on a column looks like what few of its texts are not; and is read as that."""


_GLANCE = 100
"""So many texts, evenly spread, tell whether it is worth to look at all of them."""


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


def numbers_of_texts(
    array: Any, *, truths: bool, decimal: str = ""
) -> tuple[np.ndarray, str | None]:
    """Return the numbers that texts (or `truths`) mean, NaN where missing, and a text without.

    With a `decimal` sign, they are as people write them.
    """
    if is_text(array.type) and decimal != ",":
        parsed = _as_kind(_without_nulls(_trimmed(array)), NUMBER)
        if parsed is not None:
            return parsed.to_numpy(zero_copy_only=False), None
    codes, texts = distinct_texts(array)
    meant: dict[str, float | None] = {}
    for text in filter(None, texts):
        found = written_number(text, decimal) if decimal else number(text)
        found = np.nan if found is None and text in MARKS else found
        meant[text] = TRUTHS.get(text.lower()) if found is None and truths else found
    odd = next((text for text, found in meant.items() if found is None), None)
    return np.array([*meant.values(), np.nan], dtype=float)[codes], odd


def written_number(text: str, decimal: str) -> float | None:
    """Return the number that a text means to people who write it with this decimal sign, or None.

    >>> written_number("$1,234.50", "."), written_number("(5,8 %)", ","), written_number("1,5", ".")
    (1234.5, -5.8, None)
    """
    plain = number(text) if decimal == "." else None
    if plain is not None:
        return plain
    negative = text.startswith("(") and text.endswith(")")
    found = _WRITTEN[decimal].fullmatch(text[1:-1] if negative else text)
    if found is None or (found["unit"] and found["after"].strip()):
        return None
    digits = found["digits"].replace(found["group"] or " ", "").replace(decimal, ".")
    value = number(digits)
    negative = negative or any(sign in found["before"] for sign in "-\u2212")
    return value if value is None or not negative else -value


@dataclass(frozen=True)
class Numbers:
    """How texts are numbers: plainly, or as people write them with a `decimal` sign.

    The `odd` texts are none, and are taken for missing.
    """

    decimal: str = ""
    odd: tuple[str, ...] = ()

    @property
    def has_words(self) -> bool:
        """Whether some of the odd texts are more than marks, which are always missing."""
        return not MARKS.issuperset(self.odd)


def as_numbers(n_rows: Mapping[str, int], *, few_levels: int) -> Numbers | None:
    """Tell how texts, of so many rows each, are numbers; None where that is not evident.

    All have to be, but for marks of missing values; where the numbers are more than `few_levels`,
    nearly all. Amounts of several currencies, or some of them per cent, are no numbers.
    """
    texts = list(n_rows)
    if are_numbers(texts):
        return Numbers()
    some = texts[:: max(1, len(texts) // _GLANCE)]  # names of a million people are soon told
    if 2 * sum(any(written_number(t, d) is not None for d in _WRITTEN) for t in some) < len(some):
        return None
    best: tuple[int, str, list[str]] = 0, "", []
    for decimal in _WRITTEN:
        read = [text for text in texts if written_number(text, decimal) is not None]
        rows = sum(n_rows[text] for text in read)
        if rows > best[0]:
            best = rows, decimal, read
    rows, decimal, read = best
    known = set(read)
    odd = [text for text in texts if text not in known]
    words = [text for text in odd if text not in MARKS]
    units = {unit for text in read if (unit := _unit(text)) or written_number(text, decimal)}
    if not read or len(units - {""}) > 1 or ("%" in units and "" in units):
        return None
    if words:
        total = rows + sum(n_rows[text] for text in words)
        few = rows >= _ALL_BUT_A_FEW * total and len(read) >= _ALL_BUT_A_FEW * len(texts)
        if not few or len(read) <= few_levels:
            return None
    plain = all(number(text) is not None for text in read)
    return Numbers("" if plain else decimal, tuple(odd))


def about_numbers(n_rows: Mapping[str, int], how: Numbers) -> str:
    """Return how texts were read as numbers, and which of them are missing; nothing if plainly."""
    told = []
    if how.decimal:
        odd = {*how.odd, ""}
        example = next(t for t in n_rows if t not in odd and number(t) is None)
        meant = written_number(example, how.decimal)
        told.append(f"read as numbers, such as '{example[:30]}' as {meant:.15g}")
    if how.odd:
        rows = sum(n_rows[text] for text in how.odd)
        shown = ", ".join(f"'{text[:20]}'" for text in how.odd[:3])
        more = ", ..." if how.odd[3:] else ""
        told.append(f"{rows:,} rows ({shown}{more}) are no numbers and count as missing")
    return "; ".join(told)


def _unit(text: str) -> str:
    return next((sign for sign in "%$€£¥" if sign in text), "")


def nearly_numbers(texts: list[str]) -> list[str]:
    """Return the texts that keep a column from being numbers; none where it is not near that."""
    others = [text for text in texts if number(text) is None]
    alike = [t for t in others if any(written_number(t, d) is not None for d in _WRITTEN)]
    near = len(texts) - len(others) + len(alike) >= _NEARLY_ALL * len(texts)
    return others if texts and near else []


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
    """Return a column of texts as Arrow values of a kind; raise for a value that is none."""
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
