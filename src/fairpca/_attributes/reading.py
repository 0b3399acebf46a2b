"""From whatever users hold (lists, arrays, Series, frames) to attributes: levels, or numbers.

Which of the two is decided by the values of a column alone, unless the user declares it:
arrays, frames, tables, files and clusters all ask `read_column`. Whole numbers are levels, of
whatever type and however many, since codes look like counts. Other floats are a quantity.
Dates raise an error until they are declared to be one of the two.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from typing import Any, NoReturn

import narwhals as nw
import numpy as np

from .._numerics import narrowed, on_the_host
from ..errors import ManyLevelsWarning, MissingGroupError, UsageError, warn_user
from .advising import can_advise, how_to_say
from .levels import (
    Attribute,
    Levels,
    Numeric,
    drop_unused_labels,
    intersect,
    refuse_identifiers,
    warn_of_spellings,
)

MISSING_LABEL = "(missing)"

KINDS = ("categorical", "numeric")

FEW_WHOLE_NUMBERS = 10
"""Where there are more, users are told that each is a group."""

INEXACT = 2.0**53
"""From here on, floats are whole, and different whole numbers are the same float."""

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)

LARGEST = 1e75
"""Fourth powers of numbers up to this are numbers."""

FEW_TEXTS, GLANCE = 8, 1_000
"""So few texts, among so many rows, are distinguished by comparing, which beats hashing."""


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
    does not `advise` on integers that look like a quantity, nor on levels that read the same.
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
    kinds = {} if kinds is None else checked_kinds(kinds, columns)
    attributes: list[Attribute] = []
    for name, column in columns.items():
        attribute = read_column(name, column, kinds.get(name))
        codes = name in kinds or are_categories(column)
        if advise and isinstance(attribute, Levels) and not codes:
            warn_of_whole_numbers(name, attribute.labels)
        if advise and isinstance(attribute, Levels):
            warn_of_spellings(name, attribute.labels)
        attributes.extend(_treat_missing(attribute, missing, streams=not intersectional))
    return intersect(attributes) if intersectional else tuple(attributes)


def attribute_columns(sensitive: Any, unnamed: str = "sensitive") -> dict[Any, Any]:
    """Return columns by name; narwhals Series where the input knows types, arrays elsewhere."""
    if isinstance(sensitive, Mapping):
        return {name: _one_column(column) for name, column in sensitive.items()}
    native = sensitive
    if type(sensitive) is not np.ndarray:  # of which narwhals takes long to say it knows nothing
        native = nw.from_native(sensitive, eager_only=True, allow_series=True, pass_through=True)
    if isinstance(native, nw.DataFrame):
        return dict(zip(native.columns, native.iter_columns(), strict=True))  # names may be numbers
    if isinstance(native, nw.Series):
        return {unnamed if native.name in (None, "") else native.name: native}
    array = sensitive if type(sensitive) is np.ndarray else as_array(sensitive)
    if array.ndim == 1:
        return {unnamed: array}
    if array.ndim != 2:
        raise UsageError(
            f"sensitive_features has {array.ndim} dimensions: it needs one entry, or one row of "
            f"entries, per row of X. Pass an array of shape (n,) or (n, number of attributes)."
        )
    return {j: array[:, j] for j in range(array.shape[1])}


def are_categories(column: Any) -> bool:
    """Tell whether a Series says that its values are categories, even if they are numbers."""
    series = nw.from_native(column, series_only=True, pass_through=True)
    return isinstance(series, nw.Series) and series.dtype in (nw.Categorical, nw.Enum)


def _one_column(column: Any) -> Any:
    native = nw.from_native(column, eager_only=True, series_only=True, pass_through=True)
    if isinstance(native, nw.Series):
        return native
    array = as_array(column)
    if array.ndim > 1 and isinstance(column, list):  # of tuples, each of which is a label
        array = np.empty(len(column), dtype=object)
        array[:] = [tuple(entry) if isinstance(entry, list) else entry for entry in column]
    return array


def as_array(values: Any) -> np.ndarray:
    """Like numpy.asarray, but ["f", None] and [1, "m"] keep their entries as they are."""
    values = on_the_host(narrowed(values))
    if hasattr(values, "__array__"):
        return np.asarray(values)
    plain = np.asarray(values, dtype=object)
    if plain.ndim != 1 or (len(plain) and isinstance(plain[0], str)):  # which is no number
        return plain
    try:
        typed = np.asarray(values)
    except ValueError:  # tuples among other entries
        return plain
    integers = typed.dtype.kind == "f" and not any(isinstance(v, float) for v in values)
    return typed if typed.dtype.kind in "biuf" and not integers else plain


def check_weights(sample_weight: Any, n: int, *, some: bool = True) -> np.ndarray | None:
    """Return weights as an array, None for unit weights; `some` must be positive if asked."""
    if sample_weight is None:
        return None
    weight = np.asarray(on_the_host(sample_weight), dtype=float)
    if weight.ndim == 0:
        weight = np.full(n, float(weight))
    if weight.shape != (n,):
        raise UsageError(
            f"sample_weight has shape {weight.shape}, but there are {n} rows. Pass one for each."
        )
    if not np.isfinite(weight).all():
        raise UsageError("sample_weight contains NaN or infinity. Pass finite weights.")
    if (weight < 0).any():
        raise UsageError(
            f"sample_weight has {int((weight < 0).sum())} negative entries (the smallest is "
            f"{weight.min():g}), and a row cannot count less than nothing. Pass weights >= 0."
        )
    if some and not weight.any():
        raise UsageError(
            f"All {n} entries of sample_weight are zero, so no row counts. Give some rows a "
            f"positive weight."
        )
    return None if (weight == 1).all() else weight


def checked_kinds(kinds: Mapping[Any, str] | None, columns: Iterable[Any]) -> dict[str, str]:
    """Return what users say that columns are, by name; raise if it cannot be."""
    columns = list(columns)
    if kinds is not None and not isinstance(kinds, Mapping):
        raise UsageError(
            f"sensitive_kinds={kinds!r} does not say which column is meant. Pass a dict such as "
            f"{{{next(iter(columns), 'age')!r}: 'numeric'}}."
        )
    kinds = {str(name): kind for name, kind in (kinds or {}).items()}
    for name, kind in kinds.items():
        if name not in columns:
            raise UsageError(
                f"sensitive_kinds names the column {name!r}, but the sensitive features are "
                f"{columns}. Use one of these names."
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
        remedy = "Leave these rows out"
        if can_advise("missing_sensitive"):
            remedy = (
                "Set missing_sensitive='ignore' (they count for the variance, not for the "
                "constraint), 'group' (missing is a level)"
            )
        raise MissingGroupError(
            f"The sensitive attribute {attribute.name!r} is missing in {int(absent.sum())} of "
            f"{len(absent)} rows, so these rows belong to no group. {remedy}, or fill in the "
            f"values."
        )
    if missing != "group":
        return [attribute]
    if isinstance(attribute, Numeric) or (attribute.integral_floats and streams):
        # Always said, so that batches with and without missing values fit together.
        told = Levels(name_of_missing(attribute.name), (False, True), absent.astype(np.intp))
        return [attribute, drop_unused_labels(replace(told, optional=True))]
    if not absent.any():
        return [attribute]
    labels = tuple(dict.fromkeys((*attribute.labels, MISSING_LABEL)))
    codes = np.where(absent, labels.index(MISSING_LABEL), attribute.codes)
    return [replace(attribute, labels=labels, codes=codes, integral_floats=False)]


def name_of_missing(name: str) -> str:
    """Return what the attribute is called that tells where another one is missing."""
    return f"{name} is missing"


def read_column(name: str, column: Any, kind: str | None = None) -> Attribute:
    """Return a column as levels or as numbers: as which `kind` says, else its values."""
    if type(column) is not np.ndarray:
        column = nw.from_native(column, series_only=True, pass_through=True)
    found: Attribute | None = None
    if isinstance(column, nw.Series):
        dtype = column.dtype
        if kind is None and dtype.is_temporal():
            _refuse_dates(name)
        # Numbers are of either kind, by their values; all else are levels, even if all is missing.
        if kind is None and not (dtype.is_float() or dtype in (nw.Decimal, nw.Object, nw.Unknown)):
            kind = "categorical"
        found = None if kind == "numeric" else _coded_by_arrow(name, column)
        column = _plain_values(column) if found is None else column
    elif column.ndim != 1:
        raise UsageError(
            f"The sensitive attribute {name!r} has shape {column.shape}, but one entry per row is "
            f"needed. Pass one column at a time."
        )
    if kind == "numeric":
        found = _numeric(name, _as_float(name, column))
    elif found is None and column.dtype.kind == "f":
        found = _read_floats(name, column, kind)
    elif found is None and column.dtype.kind in "biu":
        distinct, codes = _coded(column)
        label = bool if column.dtype.kind == "b" else int
        found = Levels(name, tuple(map(label, distinct)), codes)
    elif found is None:
        found = _read_objects(name, column, kind)
    refuse_identifiers(name, 0 if isinstance(found, Numeric) else len(found.labels))
    return found


@contextmanager
def in_words_of_targets(kinds_in: str = "target_kinds") -> Iterator[None]:
    """Let errors about columns of y, the same as about sensitive columns, speak of a target."""
    with _in_words("target", {"sensitive_features": "y", "sensitive_kinds": kinds_in}):
        yield


@contextmanager
def in_words_of_factors() -> Iterator[None]:
    """Let errors about legitimate factors, the same as about sensitive columns, speak of these."""
    with _in_words("factor", {"sensitive_features": "given", "sensitive_kinds": "sensitive_kinds"}):
        yield


@contextmanager
def _in_words(of: str, words: dict[str, str]) -> Iterator[None]:
    try:
        yield
    except UsageError as error:
        words = words | dict.fromkeys(["sensitive attribute", "sensitive", "attribute"], of)
        message = re.sub("|".join(words), lambda found: words[found[0]], str(error))
        raise UsageError(message) from error


def _refuse_dates(name: str) -> NoReturn:
    """Say what to do with a date: hardly any two people share one."""
    raise UsageError(
        f"The sensitive column {name!r} is a date or a duration, and almost every day would be a "
        f"group of its own. Make years or bands of it first; or pass {how_to_say(name, 'numeric')} "
        f"to count the days, {how_to_say(name, 'categorical')} if its values are few."
    )


def about_whole_numbers(name: str, labels: Sequence[Any], remedy: str | None = None) -> str:
    """Return what to tell of levels that are so many whole numbers that they may be a quantity."""
    m = sum(type(label) in (int, float) and label == label // 1 for label in labels)
    if m <= FEW_WHOLE_NUMBERS or m < len(labels) - 1:  # one may stand for missing values
        return ""
    remedy = f"pass {how_to_say(name, 'numeric')}" if remedy is None else remedy
    return (
        f"{name} has {m} whole-number values, which are taken as groups; if it is a quantity, "
        f"{remedy}."
    )


def about_a_number(name: str, *, declared: bool) -> str:
    """Return what to tell of a column that is taken as a number."""
    why = "" if declared else ", since it has fractions"
    other = "" if declared else f" If its values are codes, pass {how_to_say(name, 'categorical')}."
    return (
        f"{name} is taken as a number{why}. Its linear relation with the features is removed; "
        f"ranges of it, such as low, middle and high, may still differ in their means.{other}"
    )


def warn_of_whole_numbers(name: str, labels: Sequence[Any]) -> None:
    """Warn of levels that are so many whole numbers that they may be a quantity."""
    told = about_whole_numbers(name, labels)
    if told:
        silence = f"If they are codes, pass {how_to_say(name, 'categorical')} to silence this."
        warn_user(f"{told} {silence}", ManyLevelsWarning)


def _plain_values(series: nw.Series[Any]) -> np.ndarray:
    """Return numbers as numbers and everything else as objects, None where missing."""
    null = series.is_null()
    dtype = series.dtype
    if dtype.is_float() or dtype.is_integer() or dtype == nw.Boolean:
        if not null.any():
            return series.to_numpy()
        if dtype.is_float():
            return series.cast(nw.Float64).fill_null(float("nan")).to_numpy()
    values = np.asarray(series.to_list(), dtype=object)
    values[null.to_numpy()] = None
    return values


def _read_floats(name: str, values: np.ndarray, kind: str | None) -> Attribute:
    known = ~np.isnan(values)
    present = values if known.all() else values[known]
    if kind is None and not np.all(np.isfinite(present) & (present == np.rint(present))):
        return _numeric(name, values)
    if kind is None and np.any(np.abs(present) >= INEXACT):
        raise UsageError(
            f"The sensitive attribute {name!r} holds floats of 2^53 and more, where different "
            f"codes have become the same number. Pass codes as integers or as texts, with None "
            f"where they are missing; if it is a quantity, divide it, or pass "
            f"{how_to_say(name, 'numeric')}."
        )
    distinct, found = _coded(present, whole=kind is None)
    codes = np.full(len(values), -1)
    codes[known] = found
    return Levels(name, tuple(map(float, distinct)), codes, integral_floats=kind is None)


def _numeric(name: str, values: np.ndarray) -> Numeric:
    if np.isinf(values).any():
        raise UsageError(
            f"The numeric sensitive attribute {name!r} holds {int(np.isinf(values).sum())} "
            f"infinite values, so its covariance with the features is undefined. Replace them (NaN "
            f"counts as missing), or pass {how_to_say(name, 'categorical')}."
        )
    largest = float(np.nanmax(np.abs(values), initial=0.0))
    if largest > LARGEST:
        raise UsageError(
            f"The numeric sensitive attribute {name!r} holds values of the size {largest:.0e}, "
            f"whose squares overflow. Divide it by a constant first: correlations do not change."
        )
    return Numeric(name, values.astype(float))


def _coded(values: np.ndarray, *, whole: bool = True) -> tuple[list[Any], np.ndarray]:
    """Return the distinct numbers, ascending, and the place of each entry among them."""
    if whole and len(values):
        # The only pass over memory that may be another's column; bytes are little of it.
        codes = values if values.dtype.itemsize == 1 else values.astype(np.intp)
        low, high = int(codes.min()), int(codes.max())
        if high - low < 1 << 16 and (low >= 0 or values.dtype.kind != "u"):  # counting, not sorting
            codes = codes.astype(np.intp, copy=False)
            if low:
                codes -= low
            used = np.bincount(codes) > 0 if high - low > 1 else np.ones(high - low + 1, bool)
            codes = codes if used.all() else (np.cumsum(used) - 1)[codes]
            return (np.flatnonzero(used) + low).tolist(), codes
    distinct, codes = np.unique(values, return_inverse=True)
    return distinct.tolist(), codes


def _read_objects(name: str, values: np.ndarray, kind: str | None) -> Attribute:
    try:
        distinct, places = _told_apart(values)
    except TypeError:
        of = type(_plain(values.tolist()[0])).__name__
        raise UsageError(
            f"The sensitive attribute {name!r} holds entries of type {of}, which cannot be levels. "
            f"Pass strings, numbers or bools, one per row."
        ) from None
    entries = [_plain(v) for v in distinct]
    known = dict.fromkeys(v for v in entries if v is not None)
    if not known:
        return Levels(name, (), np.full(len(values), -1), integral_floats=kind is None)
    if kind is None and any(isinstance(v, date | time | timedelta) for v in known):
        _refuse_dates(name)
    if kind is None and {float} <= set(map(type, known)) <= {int, float}:
        floats = np.array([np.nan if v is None else v for v in entries], dtype=float)
        return _read_floats(name, floats[places], kind)
    labels = sorted_labels(known)
    position = {None: -1, **{label: i for i, label in enumerate(labels)}}
    codes = np.array([position[v] for v in entries], dtype=np.intp)
    types = set() if all(isinstance(v, str) for v in distinct) else set(map(type, values.tolist()))
    undecided = kind is None and any(issubclass(t, Decimal) for t in types)
    return Levels(name, labels, codes[places], integral_floats=undecided)


def _told_apart(values: np.ndarray) -> tuple[list[Any], np.ndarray]:
    """Return distinct entries as Python has them, and the place of each entry among them."""
    if values.dtype.kind in "US" and len(set(values[:GLANCE].tolist())) <= FEW_TEXTS:
        codes, texts = np.full(len(values), -1), list[Any]()
        while (codes < 0).any() and len(texts) < FEW_TEXTS:
            texts.append(values[np.argmin(codes)].item())
            codes[values == texts[-1]] = len(texts) - 1
        if not (codes < 0).any():
            return texts, codes
    entries = _listed(values)
    try:
        distinct = list(dict.fromkeys(entries))
    except TypeError:  # what is masked, say, has no hash
        entries = [_plain(v) for v in entries]
        distinct = list(dict.fromkeys(entries))
    places = {v: i for i, v in enumerate(distinct)}
    return distinct, np.fromiter(map(places.__getitem__, entries), np.intp, count=len(entries))


def are_missing(values: np.ndarray) -> np.ndarray:
    """Return which entries of a vector are no values: None, NaN, NaT, NA or masked."""
    if values.dtype != object:
        return np.asarray(values != values)  # NaN and NaT differ from themselves
    return np.fromiter(map(_is_missing, values), dtype=bool, count=len(values))


def _is_missing(value: Any) -> bool:
    try:
        return value is None or value is np.ma.masked or bool(value != value)
    except (TypeError, ArithmeticError):  # NA is neither true nor false; some NaN do not compare
        return True
    except ValueError:  # an array, say
        return False


def _listed(values: np.ndarray) -> list[Any]:
    if values.dtype.kind in "mM":
        values = values.astype(f"{values.dtype.kind}8[us]")  # of nanoseconds, Python makes integers
    return list(values.tolist())


def _plain(value: Any) -> Any:
    """Return a value as Python has it, None where missing; decimals as integers or floats."""
    if _is_missing(value):
        return None
    if isinstance(value, Decimal):
        whole = value.is_finite() and value == value.to_integral_value()
        return int(value) if whole else float(value)
    if isinstance(value, np.datetime64 | np.timedelta64):
        value = value.astype(f"{value.dtype.kind}8[us]")
    return value.item() if isinstance(value, np.generic) else value


def _as_float(name: str, values: np.ndarray) -> np.ndarray:
    if values.dtype.kind in "biuf":
        return values.astype(float)
    try:
        numbers = [np.nan if v is None else _in_days(v) for v in map(_plain, _listed(values))]
        return np.array(numbers, dtype=float)
    except (TypeError, ValueError) as error:
        raise UsageError(
            f"The sensitive attribute {name!r} was declared 'numeric', but it holds entries that "
            f"are not numbers ({error}). Declare it 'categorical', or convert it first."
        ) from None


def _in_days(value: Any) -> Any:
    """Return a date as days since 1970, a duration in days, and everything else as it is."""
    if isinstance(value, date) and not isinstance(value, datetime):
        value = datetime(value.year, value.month, value.day)
    if isinstance(value, datetime):
        value = value.replace(tzinfo=value.tzinfo or UTC) - EPOCH
    return value / timedelta(days=1) if isinstance(value, timedelta) else value


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
    labels = sorted_labels(values)
    place = {label: i for i, label in enumerate(labels)}
    order = np.array([*(place[value] for value in values), -1], dtype=np.intp)
    return drop_unused_labels(Levels(name, labels, order[codes]))


def sorted_labels(labels: Iterable[Any]) -> tuple[Any, ...]:
    """Return labels in their own order; those of several types by type and text."""
    try:
        return tuple(sorted(labels))
    except TypeError:  # mixed types have no order of their own
        return tuple(sorted(labels, key=lambda v: (type(v).__name__, str(v))))
