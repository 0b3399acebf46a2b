"""Is a column a set of levels, or numbers? Decided by its type, unless the user says so.

Strings, bools, categoricals and integers are levels. Floats are numeric, unless they are few
integral values such as 0.0 and 1.0, which are levels that passed through a float column.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import narwhals as nw
import numpy as np

from ..errors import ManyLevelsWarning, UsageError, warn_user
from .coded_texts import coded_by_arrow, sorted_if_possible
from .levels import Attribute, Levels, Numeric, drop_unused_labels

FEW_INTEGRAL_VALUES = 10
MANY_INTEGER_LEVELS = 20
MOST_LEVELS = 10_000
LARGEST = 1e75
"""Fourth powers of numbers up to this are numbers."""


def read_column(name: str, column: Any, kind: str | None) -> Attribute:
    """Return one column as levels or as numbers, by its type unless `kind` says which."""
    return _refuse_identifiers(_by_type(name, column, kind))


def _by_type(name: str, column: Any, kind: str | None) -> Attribute:
    if isinstance(column, nw.Series):
        if kind is None and not _may_be_floats(column.dtype):
            kind = "categorical"  # even where all entries are missing
        coded = None if kind == "numeric" else coded_by_arrow(name, column)
        if coded is not None:
            return coded
        column = _plain_values(column)
    if kind == "numeric":
        return _numeric(name, _as_float(name, column))
    if column.dtype.kind == "f":
        return _read_floats(name, column, kind)
    if column.dtype.kind in "biu":
        return _read_integers(name, column)
    return _read_objects(name, column, kind)


def _may_be_floats(dtype: Any) -> bool:
    """Tell whether a column of this type can hold floats: levels or numbers, by their values."""
    return dtype.is_float() or dtype in (nw.Object, nw.Unknown)


def _plain_values(series: nw.Series[Any]) -> np.ndarray:
    """Return numbers as numbers and everything else as objects, None where missing."""
    null = series.is_null()
    if series.dtype.is_numeric() or series.dtype == nw.Boolean:
        if not null.any():
            return series.to_numpy()
        if series.dtype.is_float():
            return series.cast(nw.Float64).fill_null(float("nan")).to_numpy()
    values = np.asarray(series.to_list(), dtype=object)
    values[null.to_numpy()] = None
    return values


def _read_floats(name: str, values: np.ndarray, kind: str | None) -> Attribute:
    known = ~np.isnan(values)
    head = values[known][: 4 * FEW_INTEGRAL_VALUES]  # most numeric columns give themselves away
    if kind is None and np.any(head != np.rint(head)):
        return _numeric(name, values)
    distinct, inverse = np.unique(values[known], return_inverse=True)
    integral = bool(np.all(distinct == np.rint(distinct)))
    if kind is None and not (integral and len(distinct) <= FEW_INTEGRAL_VALUES):
        return _numeric(name, values)
    codes = np.full(len(values), -1)
    codes[known] = inverse
    return Levels(name, tuple(distinct.tolist()), codes, integral_floats=kind is None)


def _numeric(name: str, values: np.ndarray) -> Numeric:
    if np.isinf(values).any():
        raise UsageError(
            f"The numeric sensitive attribute {name!r} holds {int(np.isinf(values).sum())} "
            f"infinite values, so its covariance with the features is undefined. Replace them (NaN "
            f"counts as missing), or declare the attribute 'categorical' in sensitive_kinds."
        )
    largest = float(np.nanmax(np.abs(values), initial=0.0))
    if largest > LARGEST:
        raise UsageError(
            f"The numeric sensitive attribute {name!r} holds values of the size {largest:.0e}, "
            f"whose squares overflow. Divide it by a constant first: correlations do not change."
        )
    return Numeric(name, values.astype(float))


def _read_integers(name: str, values: np.ndarray) -> Attribute:
    if values.dtype.kind == "b":
        return drop_unused_labels(Levels(name, (False, True), values.astype(np.intp)))
    low, high = (int(values.min()), int(values.max())) if len(values) else (0, -1)
    if high - low < 1 << 16 and high < 1 << 62:  # counting beats sorting
        values = values.astype(np.int64)
        labels, codes = tuple(range(low, high + 1)), (values - low).astype(np.intp)
        return drop_unused_labels(Levels(name, labels, codes))
    distinct, codes = np.unique(values, return_inverse=True)
    return Levels(name, tuple(distinct.tolist()), codes)


def _refuse_identifiers(attribute: Attribute) -> Attribute:
    if isinstance(attribute, Levels) and len(attribute.labels) > MOST_LEVELS:
        raise UsageError(
            f"The sensitive attribute {attribute.name!r} has {len(attribute.labels)} levels, more "
            f"than the {MOST_LEVELS} that make sense as groups: it looks like an identifier. Leave "
            f"it out, merge levels, or declare it 'numeric' in sensitive_kinds."
        )
    return attribute


def ask_about_integers(name: str, labels: Sequence[Any]) -> None:
    """Warn of integer levels so many that they look like a quantity."""
    numbers = [label for label in labels if type(label) is int]
    m = len(numbers)
    if m > MANY_INTEGER_LEVELS and m >= len(labels) - 1:  # one may stand for missing values
        warn_user(
            f"The integer attribute {name!r} has {m} distinct values; each became a group whose "
            f"mean is matched, which takes up to {m - 1} directions. If it is a quantity such as "
            f"an age, pass it as floats or set sensitive_kinds={{{name!r}: 'numeric'}}; if it is "
            f"a code, declare it 'categorical' to silence this.",
            ManyLevelsWarning,
        )


def _read_objects(name: str, values: np.ndarray, kind: str | None) -> Attribute:
    entries = [None if _is_missing(v) else v for v in values.tolist()]
    try:
        known = dict.fromkeys(v for v in entries if v is not None)
    except TypeError:
        raise UsageError(
            f"The sensitive attribute {name!r} holds entries of type {type(entries[0]).__name__}, "
            f"which cannot be levels. Pass strings, numbers or bools, one per row."
        ) from None
    if known and kind is None and all(isinstance(v, float) for v in known):
        return _read_floats(name, np.array(entries, dtype=float), kind)
    if not known:
        return Levels(name, (), np.full(len(entries), -1), integral_floats=kind is None)
    labels = tuple(sorted_if_possible(known))
    position: dict[Any, int] = {label: i for i, label in enumerate(labels)}
    position[None] = -1
    return Levels(name, labels, np.array([position[v] for v in entries], dtype=np.intp))


def _is_missing(value: Any) -> bool:
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return True
    return isinstance(value, float | np.floating) and bool(np.isnan(value))


def _as_float(name: str, values: np.ndarray) -> np.ndarray:
    try:
        return np.array([np.nan if _is_missing(v) else v for v in values.tolist()], dtype=float)
    except (TypeError, ValueError) as error:
        raise UsageError(
            f"The sensitive attribute {name!r} was declared 'numeric', but it holds entries that "
            f"are not numbers ({error}). Declare it 'categorical', or convert it first."
        ) from None
