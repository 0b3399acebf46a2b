"""From whatever users hold (lists, arrays, Series, frames) to attributes: levels, or numbers.

Which of the two is decided by the type of a column, unless the user says so. Strings, bools,
categoricals and integers are levels. Floats are numeric, unless they are few integral values such
as 0.0 and 1.0, which are levels that passed through a float column.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import narwhals as nw
import numpy as np

from .._numerics import is_foreign, to_numpy
from ..errors import ManyLevelsWarning, MissingGroupError, UsageError, warn_user
from .levels import Attribute, Levels, Numeric, drop_unused_labels, intersect

MISSING_LABEL = "(missing)"

KINDS = ("categorical", "numeric")

FEW_INTEGRAL_VALUES = 10

MANY_INTEGER_LEVELS = 20

MOST_LEVELS = 10_000

LARGEST = 1e75
"""Fourth powers of numbers up to this are numbers."""


def read_attributes(
    sensitive: Any,
    *,
    kinds: Mapping[Any, str] | None = None,
    intersectional: bool = False,
    missing: str = "error",
    advise: bool = True,
) -> tuple[Attribute, ...]:
    """Read one or several columns with one entry per row into attributes.

    `kinds` overrides what the types of columns suggest, `intersectional` merges the categorical
    ones into joint groups, `missing` is "error", "ignore" or "group". Who reads batches of a table
    does not `advise` on integers that look like a quantity.
    """
    found = attribute_columns(sensitive)
    if not found:
        raise MissingGroupError(
            "sensitive_features has no columns, and without attributes this would be plain PCA. "
            "Pass at least one column."
        )
    columns = {str(name): column for name, column in found.items()}
    if len(columns) < len(found):
        raise UsageError(
            f"The sensitive columns {list(found)} have names that read the same. Rename them."
        )
    kinds = _check_kinds(kinds, columns)
    attributes: list[Attribute] = []
    for name, column in columns.items():
        attribute = _by_type(name, column, kinds.get(name))
        if isinstance(attribute, Levels):
            if len(attribute.labels) > MOST_LEVELS:
                raise UsageError(
                    f"The sensitive attribute {name!r} has {len(attribute.labels)} levels, more "
                    f"than the {MOST_LEVELS} that make sense as groups: it looks like an "
                    f"identifier. Leave it out, merge levels, or declare it 'numeric' in "
                    f"sensitive_kinds."
                )
            if advise and name not in kinds:
                ask_about_integers(name, attribute.labels)
        attributes.extend(_treat_missing(attribute, missing, streams=not intersectional))
    return intersect(attributes) if intersectional else tuple(attributes)


def attribute_columns(sensitive: Any) -> dict[Any, Any]:
    """Return columns by name; narwhals Series where the input knows types, arrays elsewhere."""
    if isinstance(sensitive, Mapping):
        return {name: _one_column(column) for name, column in sensitive.items()}
    native = nw.from_native(sensitive, eager_only=True, allow_series=True, pass_through=True)
    if isinstance(native, nw.DataFrame):
        return {name: native[name] for name in native.columns}
    if isinstance(native, nw.Series):
        return {"sensitive" if native.name in (None, "") else native.name: native}
    array = _as_array(sensitive)
    if array.ndim == 1:
        return {"sensitive": array}
    if array.ndim != 2:
        raise UsageError(
            f"sensitive_features has {array.ndim} dimensions: it needs one entry, or one row of "
            f"entries, per row of X. Pass an array of shape (n,) or (n, number of attributes)."
        )
    return {j: array[:, j] for j in range(array.shape[1])}


def _one_column(column: Any) -> Any:
    native = nw.from_native(column, eager_only=True, series_only=True, pass_through=True)
    if isinstance(native, nw.Series):
        return native
    array = _as_array(column)
    if array.ndim > 1 and isinstance(column, list):  # of tuples, each of which is a label
        array = np.empty(len(column), dtype=object)
        array[:] = [tuple(entry) if isinstance(entry, list) else entry for entry in column]
    return array


def _as_array(values: Any) -> np.ndarray:
    """Like numpy.asarray, but ["f", None] and [1, "m"] keep their entries as they are."""
    if is_foreign(values):
        return to_numpy(values)  # tensors, on whatever device
    if hasattr(values, "__array__"):
        return np.asarray(values)
    plain = np.asarray(values, dtype=object)
    if plain.ndim != 1:
        return plain
    try:
        typed = np.asarray(values)
    except ValueError:  # tuples among other entries
        return plain
    return typed if typed.dtype.kind in "biuf" else plain


def _check_kinds(kinds: Mapping[Any, str] | None, columns: Mapping[Any, Any]) -> Mapping[Any, str]:
    if kinds is not None and not isinstance(kinds, Mapping):
        raise UsageError(
            f"sensitive_kinds={kinds!r} does not say which column is meant. Pass a dict such as "
            f"{{{next(iter(columns))!r}: 'numeric'}}."
        )
    kinds = {str(name): kind for name, kind in (kinds or {}).items()}
    for name, kind in kinds.items():
        if name not in columns:
            raise UsageError(
                f"sensitive_kinds names the column {name!r}, but the sensitive features are "
                f"{list(columns)}. Use one of these names."
            )
        if kind not in KINDS:
            raise UsageError(
                f"sensitive_kinds[{name!r}] is {kind!r}: a column is either 'categorical' "
                f"(levels) or 'numeric'. Use one of the two."
            )
    return kinds


def _treat_missing(attribute: Attribute, missing: str, *, streams: bool) -> list[Attribute]:
    absent = attribute.missing
    if missing == "error" and absent.any():
        raise MissingGroupError(
            f"The sensitive attribute {attribute.name!r} is missing in {int(absent.sum())} of "
            f"{len(absent)} rows, so these rows belong to no group. Set missing_sensitive='ignore' "
            f"(they count for the variance, not for the constraint), 'group' (missing is a level), "
            f"or fill in the values."
        )
    if missing != "group":
        return [attribute]
    if isinstance(attribute, Numeric) or (attribute.integral_floats and streams):
        # Always said, so that batches with and without missing values fit together.
        is_missing = absent.astype(np.intp)
        name = name_of_missing(attribute.name)
        return [attribute, Levels(name, (False, True), is_missing, optional=True)]
    if not absent.any():
        return [attribute]
    labels = tuple(dict.fromkeys((*attribute.labels, MISSING_LABEL)))
    codes = np.where(absent, labels.index(MISSING_LABEL), attribute.codes)
    return [replace(attribute, labels=labels, codes=codes, integral_floats=False)]


def name_of_missing(name: str) -> str:
    """Return what the attribute is called that tells where another one is missing."""
    return f"{name} is missing"


def _by_type(name: str, column: Any, kind: str | None) -> Attribute:
    if isinstance(column, nw.Series):
        # Floats are levels or numbers, by their values; all else are levels, even if missing.
        if kind is None and not column.dtype.is_float():
            kind = None if column.dtype in (nw.Object, nw.Unknown) else "categorical"
        coded = None if kind == "numeric" else _coded_by_arrow(name, column)
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
    labels = _sorted_if_possible(known)
    position = {None: -1, **{label: i for i, label in enumerate(labels)}}
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


def _coded_by_arrow(name: str, series: nw.Series[Any]) -> Attribute | None:
    """Return a column of texts or categories as levels; None where that is not what it is.

    Most libraries keep texts the way Arrow does, so nothing is copied to hand them over. Millions
    of texts are coded ten times faster than by a loop.
    """
    texts = series.dtype == nw.String
    if not texts and series.dtype not in (nw.Categorical, nw.Enum):
        return None
    try:
        column = series.to_arrow()
    except (ImportError, ValueError, TypeError):  # no Arrow, or nothing that it can hold
        return None
    if hasattr(column, "combine_chunks"):
        column = column.combine_chunks()
    if not hasattr(column, "dictionary"):
        column = column.dictionary_encode()
    if hasattr(column, "chunks"):  # combining an empty column leaves it in no chunks
        return None
    values = column.dictionary.to_pylist()
    if not all(type(value) in (str, int, bool) for value in values):
        return None  # dates and the like: as Python has them
    if len(set(values)) < len(values):
        return None
    codes = column.indices.cast("int64").fill_null(-1).to_numpy(zero_copy_only=False)
    labels = _sorted_if_possible(values)
    place = {label: i for i, label in enumerate(labels)}
    order = np.array([*(place[value] for value in values), -1], dtype=np.intp)
    return drop_unused_labels(Levels(name, labels, order[codes]))


def _sorted_if_possible(labels: Iterable[Any]) -> tuple[Any, ...]:
    """Return labels in their own order; those of several types by type and text."""
    try:
        return tuple(sorted(labels))
    except TypeError:  # mixed types have no order of their own
        return tuple(sorted(labels, key=lambda v: (type(v).__name__, str(v))))
