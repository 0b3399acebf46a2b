"""From whatever users hold (lists, arrays, Series, frames) to attributes.

Strings, bools, categoricals and integers are levels. Floats are numeric, unless they are few
integral values such as 0.0 and 1.0, which are levels that passed through a float column.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

import narwhals as nw
import numpy as np

from ..errors import ManyLevelsWarning, MissingGroupError
from .attributes import Attribute, Levels, Numeric, drop_unused_labels, intersect

FEW_INTEGRAL_VALUES = 10
MANY_INTEGER_LEVELS = 20
MOST_LEVELS = 10_000
MISSING_LABEL = "(missing)"
KINDS = ("categorical", "numeric")


def read_attributes(
    sensitive: Any,
    *,
    kinds: Mapping[Any, str] | None = None,
    intersectional: bool = False,
    missing: str = "error",
) -> tuple[Attribute, ...]:
    """Read sensitive features into attributes.

    Parameters
    ----------
    sensitive : array-like, Series, frame or mapping of columns
        One or several columns with one entry per row.
    kinds : mapping of column to {"categorical", "numeric"}, optional
        Overrides what the types of the columns suggest.
    intersectional : bool
        Whether to merge the categorical columns into one attribute of joint groups.
    missing : {"error", "ignore", "group"}
        What to do with missing entries.

    Returns
    -------
    tuple of Levels or Numeric

    Examples
    --------
    >>> sex, age = read_attributes({"sex": ["f", "m", "f"], "age": [31.5, 44.0, 27.2]})
    >>> sex.labels, sex.codes.tolist()
    (('f', 'm'), [0, 1, 0])
    >>> age.values.tolist()
    [31.5, 44.0, 27.2]
    """
    columns = _named(_columns(sensitive))
    kinds = _check_kinds(kinds, columns)
    attributes: list[Attribute] = []
    for name, column in columns.items():
        attribute = _read_column(name, column, kinds.get(name))
        _refuse_identifiers(attribute)
        attributes.extend(_treat_missing(attribute, missing, streams=not intersectional))
    return intersect(attributes) if intersectional else tuple(attributes)


def _columns(sensitive: Any) -> dict[Any, Any]:
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
        raise ValueError(
            f"sensitive_features has {array.ndim} dimensions: it needs one entry, or one row of "
            f"entries, per row of X. Pass an array of shape (n,) or (n, number of attributes)."
        )
    return {j: array[:, j] for j in range(array.shape[1])}


def _named(columns: dict[Any, Any]) -> dict[str, Any]:
    """Return columns by their names as strings, refusing none at all and names that collide."""
    if not columns:
        raise MissingGroupError(
            "sensitive_features has no columns, and without attributes this would be plain PCA. "
            "Pass at least one column."
        )
    named = {str(name): column for name, column in columns.items()}
    if len(named) < len(columns):
        raise ValueError(
            f"The sensitive columns {list(columns)} have names that read the same. Rename them."
        )
    return named


def _one_column(column: Any) -> Any:
    native = nw.from_native(column, eager_only=True, series_only=True, pass_through=True)
    return native if isinstance(native, nw.Series) else _as_array(column)


def _as_array(values: Any) -> np.ndarray:
    """Like numpy.asarray, but ["f", None] and [1, "m"] keep their entries as they are."""
    if hasattr(values, "__array__"):
        return np.asarray(values)
    plain = np.asarray(values, dtype=object)
    typed = np.asarray(values) if plain.ndim == 1 else plain
    return typed if typed.dtype.kind in "biuf" else plain


def _check_kinds(kinds: Mapping[Any, str] | None, columns: Mapping[Any, Any]) -> Mapping[Any, str]:
    if kinds is not None and not isinstance(kinds, Mapping):
        raise ValueError(
            f"sensitive_kinds={kinds!r} does not say which column is meant. Pass a dict such as "
            f"{{{next(iter(columns))!r}: 'numeric'}}."
        )
    kinds = {str(name): kind for name, kind in (kinds or {}).items()}
    for name, kind in kinds.items():
        if name not in columns:
            raise ValueError(
                f"sensitive_kinds names the column {name!r}, but the sensitive features are "
                f"{list(columns)}. Use one of these names."
            )
        if kind not in KINDS:
            raise ValueError(
                f"sensitive_kinds[{name!r}] is {kind!r}: a column is either 'categorical' "
                f"(levels) or 'numeric'. Use one of the two."
            )
    return kinds


def _read_column(name: str, column: Any, kind: str | None) -> Attribute:
    if isinstance(column, nw.Series):
        if kind is None and column.dtype in (nw.Categorical, nw.Enum):
            kind = "categorical"
        column = _plain_values(column)
    if kind == "numeric":
        return _numeric(name, _as_float(name, column))
    if column.dtype.kind == "f":
        return _read_floats(name, column, kind)
    if column.dtype.kind in "biu":
        return _read_integers(name, column, kind)
    return _read_objects(name, column, kind)


def _plain_values(series: nw.Series) -> np.ndarray:
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
        raise ValueError(
            f"The numeric sensitive attribute {name!r} holds {int(np.isinf(values).sum())} "
            f"infinite values, so its covariance with the features is undefined. Replace them (NaN "
            f"counts as missing), or declare the attribute 'categorical' in sensitive_kinds."
        )
    return Numeric(name, values.astype(float))


def _read_integers(name: str, values: np.ndarray, kind: str | None) -> Attribute:
    if values.dtype.kind == "b":
        return drop_unused_labels(Levels(name, (False, True), values.astype(np.intp)))
    low, high = (int(values.min()), int(values.max())) if len(values) else (0, -1)
    if high - low < 1 << 16 and high < 1 << 62:  # counting beats sorting
        values = values.astype(np.int64)
        labels, codes = tuple(range(low, high + 1)), (values - low).astype(np.intp)
        return _with_a_warning(drop_unused_labels(Levels(name, labels, codes)), kind)
    distinct, codes = np.unique(values, return_inverse=True)
    return _with_a_warning(Levels(name, tuple(distinct.tolist()), codes), kind)


def _refuse_identifiers(attribute: Attribute) -> Attribute:
    if isinstance(attribute, Levels) and len(attribute.labels) > MOST_LEVELS:
        raise ValueError(
            f"The sensitive attribute {attribute.name!r} has {len(attribute.labels)} levels, more "
            f"than the {MOST_LEVELS} that make sense as groups: it looks like an identifier. Leave "
            f"it out, merge levels, or declare it 'numeric' in sensitive_kinds."
        )
    return attribute


def _with_a_warning(attribute: Attribute, kind: str | None) -> Attribute:
    """Ask about integers that look like a quantity, unless their kind was declared."""
    if isinstance(attribute, Levels) and kind is None:
        m = len(attribute.labels)
        if m > MANY_INTEGER_LEVELS:
            warnings.warn(
                f"The integer attribute {attribute.name!r} has {m} distinct values; each became a "
                f"group whose mean is matched, which takes up to {m - 1} directions. If it is a "
                f"quantity such as an age, pass it as floats or set sensitive_kinds="
                f"{{{attribute.name!r}: 'numeric'}}; if it is a code, declare it 'categorical' to "
                f"silence this.",
                ManyLevelsWarning,
                stacklevel=2,
            )
    return attribute


def _read_objects(name: str, values: np.ndarray, kind: str | None) -> Attribute:
    entries = [None if _is_missing(v) else v for v in values.tolist()]
    try:
        known = dict.fromkeys(v for v in entries if v is not None)
    except TypeError:
        raise ValueError(
            f"The sensitive attribute {name!r} holds entries of type {type(entries[0]).__name__}, "
            f"which cannot be levels. Pass strings, numbers or bools, one per row."
        ) from None
    if known and kind is None and all(isinstance(v, float) for v in known):
        return _read_floats(name, np.array(entries, dtype=float), kind)
    if not known:
        return Levels(name, (), np.full(len(entries), -1), integral_floats=kind is None)
    labels = tuple(_sorted_if_possible(known))
    position: dict[Any, int] = {label: i for i, label in enumerate(labels)}
    position[None] = -1
    levels = Levels(name, labels, np.array([position[v] for v in entries], dtype=np.intp))
    if all(isinstance(v, int) for v in labels):
        return _with_a_warning(levels, kind)
    return levels


def _is_missing(value: Any) -> bool:
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return True
    return isinstance(value, float | np.floating) and bool(np.isnan(value))


def _sorted_if_possible(labels: Iterable[Any]) -> list[Any]:
    try:
        return sorted(labels)
    except TypeError:  # mixed types have no order of their own
        return sorted(labels, key=lambda v: (type(v).__name__, str(v)))


def _as_float(name: str, values: np.ndarray) -> np.ndarray:
    try:
        return np.array([np.nan if _is_missing(v) else v for v in values.tolist()], dtype=float)
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"The sensitive attribute {name!r} was declared 'numeric', but it holds entries that "
            f"are not numbers ({error}). Declare it 'categorical', or convert it first."
        ) from None


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
        name = f"{attribute.name} is missing"
        return [attribute, Levels(name, (False, True), is_missing, optional=True)]
    if not absent.any():
        return [attribute]
    labels = tuple(dict.fromkeys((*attribute.labels, MISSING_LABEL)))
    codes = np.where(absent, labels.index(MISSING_LABEL), attribute.codes)
    return [replace(attribute, labels=labels, codes=codes, integral_floats=False)]
