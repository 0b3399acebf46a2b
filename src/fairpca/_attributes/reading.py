"""From whatever users hold (lists, arrays, Series, frames) to attributes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import narwhals as nw
import numpy as np

from .._numerics import is_foreign, to_numpy
from ..errors import MissingGroupError, UsageError
from .kinds import ask_about_integers, read_column
from .levels import Attribute, Levels, Numeric, intersect

MISSING_LABEL = "(missing)"
KINDS = ("categorical", "numeric")


def read_attributes(
    sensitive: Any,
    *,
    kinds: Mapping[Any, str] | None = None,
    intersectional: bool = False,
    missing: str = "error",
    advise: bool = True,
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
    advise : bool
        Whether to warn of integers that look like a quantity; parts of a table do not.

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
        attribute = read_column(name, column, kinds.get(name))
        if advise and name not in kinds and isinstance(attribute, Levels):
            ask_about_integers(name, attribute.labels)
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
        raise UsageError(
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
        raise UsageError(
            f"The sensitive columns {list(columns)} have names that read the same. Rename them."
        )
    return named


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


def name_of_missing(name: str) -> str:
    """Return what the attribute is called that tells where another one is missing."""
    return f"{name} is missing"


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
