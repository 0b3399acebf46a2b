"""Numbers: as they are, the missing ones filled in."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..errors import TableError
from ._adapters import import_arrow
from ._frozen_column import MISSING_SHARE, Arrays, Learned, Plain, moments
from ._text_values import NULL_STRINGS, TRUTHS, cleaned, distinct_texts, number, without_nulls


@dataclass(frozen=True)
class NumberColumn:
    """A number per row, and perhaps whether it was missing.

    Parameters
    ----------
    name : str
        The column.
    fill : float
        What a missing or infinite value becomes: the median.
    boolean : bool
        Whether the values are true (1) and false (0).
    indicator : bool
        Whether "missing" is a second output.
    """

    name: str
    fill: float
    boolean: bool = False
    indicator: bool = False

    @property
    def outputs(self) -> list[str]:
        """Names of the outputs."""
        return [self.name, f"{self.name}_missing"][: 1 + self.indicator]

    def rows(self, array: Any) -> tuple[None, np.ndarray]:
        """Return the numbers, of shape (n, 1) or (n, 2)."""
        values = floats(array, self.name, boolean=self.boolean)
        known = np.isfinite(values)
        if not known.all():
            values = np.where(known, values, self.fill)
        if not self.indicator:
            return None, values[:, None]
        return None, np.column_stack([values, ~known])

    def to_plain(self) -> tuple[Plain, Arrays]:
        """Return the learned data."""
        return {**vars(self), "kind": "numeric"}, {}

    @classmethod
    def from_plain(cls, plain: Plain, arrays: Arrays) -> NumberColumn:
        """Return what `to_plain` was called on."""
        return cls(plain["name"], float(plain["fill"]), plain["boolean"], plain["indicator"])


def fit_numbers(name: str, array: Any) -> Learned:
    """Learn how a column of numbers is encoded."""
    arrow = import_arrow()
    boolean = arrow.types.is_boolean(array.type) or _says_true_or_false(array)
    values = floats(array, name, boolean=boolean)
    known = np.isfinite(values)
    n_missing = int(np.sum(~known))
    n_infinite = int(np.isinf(values).sum())
    fill = float(np.median(values[known])) if known.any() else 0.0
    if boolean:
        fill = float(round(fill))
    column = NumberColumn(name, fill, boolean, indicator=n_missing > MISSING_SHARE * len(values))
    mean, scale = moments(column.rows(array)[1])
    n_distinct = len(arrow.array(values[known] + 0.0).unique())  # -0.0 is 0.0
    note = f"{n_infinite} infinite values count as missing" if n_infinite else ""
    return Learned(column, "numeric", n_missing, n_distinct, mean, scale, note)


def floats(array: Any, name: str, *, boolean: bool = False) -> np.ndarray:
    """Return an Arrow array as floats, NaN where missing, or say which value is no number."""
    arrow = import_arrow()
    types, kind = arrow.types, array.type
    if types.is_dictionary(kind) and not _is_text(kind.value_type):
        array = array.dictionary_decode()
        kind = array.type
    if types.is_duration(kind):
        whole = array.cast(arrow.duration("us"), safe=False).cast(arrow.int64())
        microseconds: np.ndarray = whole.cast(arrow.float64()).to_numpy(zero_copy_only=False)
        return microseconds / 1e6
    if types.is_boolean(kind):  # by way of integers, which keeps to one conversion per type
        array = array.cast(arrow.int8())
    elif types.is_timestamp(kind) or types.is_date(kind):
        raise TableError(
            f"Column '{name}' held numbers when the encoder was fitted, but has dates "
            f"({kind}) here. Give it the numbers, or fit again."
        )
    elif types.is_dictionary(kind) or _is_text(kind):
        return _parsed(array, name, boolean)
    values: np.ndarray = array.cast(arrow.float64(), safe=False).to_numpy(zero_copy_only=False)
    return values


def _is_text(kind: Any) -> bool:
    types = import_arrow().types
    return bool(types.is_string(kind) or types.is_large_string(kind))


def _parsed(array: Any, name: str, boolean: bool) -> np.ndarray:
    """Return the numbers that texts mean."""
    arrow = import_arrow()
    if _is_text(array.type):
        known = without_nulls(arrow.compute.utf8_trim_whitespace(array))
        try:
            parsed: np.ndarray = known.cast(arrow.float64()).to_numpy(zero_copy_only=False)
            return parsed
        except arrow.ArrowInvalid:
            pass  # look at each text, to name the one that is no number
    codes, texts = distinct_texts(array)
    numbers = np.full(len(texts), np.nan)
    for i, text in enumerate(texts[:-1]):
        found = number(text or "")
        if found is None and boolean:
            found = TRUTHS.get((text or "").lower())
        if found is None:
            raise TableError(
                f"Column '{name}' held numbers when the encoder was fitted, but has '{text}' "
                f"here. Correct the value, or leave it empty."
            )
        numbers[i] = found
    of_rows: np.ndarray = numbers[codes]
    return of_rows


def are_numbers(texts: list[str]) -> bool:
    """Whether all texts mean numbers, or all mean true or false."""
    if not texts:
        return False
    return all(number(t) is not None for t in texts) or all(t.lower() in TRUTHS for t in texts)


def _says_true_or_false(array: Any) -> bool:
    if not _is_text(array.type):
        return False
    texts = [cleaned(value) for value in array.unique().to_pylist()]
    return all(t.lower() in TRUTHS for t in texts if t is not None and t not in NULL_STRINGS)
