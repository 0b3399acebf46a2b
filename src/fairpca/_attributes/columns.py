"""Which column is what: features, sensitive attributes, target, weight and others."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, fields
from datetime import date, timedelta
from difflib import get_close_matches
from functools import cached_property
from typing import Any
from unicodedata import normalize

import narwhals as nw
import numpy as np

from .._numerics import array_namespace, device, is_foreign, is_sparse, to_numpy
from ..errors import (
    MissingGroupError,
    TableError,
    UsageError,
)
from .levels import folded, warn_of_spellings

Columns = dict[Any, Any]
"""Sensitive columns of X by their name or position."""

SHOWN = 8
"""Most columns that a message lists."""


@dataclass(frozen=True)
class Roles:
    """The columns of a table by what they are for, in the order in which estimators see them."""

    features: tuple[str, ...]
    sensitive: tuple[str, ...]
    target: str | None = None
    weight: str | None = None
    ignored: tuple[str, ...] = ()
    person: str | None = None
    score: tuple[str, ...] = ()
    decision: tuple[str, ...] = ()
    probability: tuple[str, ...] = ()

    @property
    def needed(self) -> list[str]:
        """The columns that are read, each once."""
        return [*self.features, *(n for n, role in self._others.items() if role != "ignored")]

    def of(self, column: str) -> str:
        """Return 'feature', or the role by which a column is named here."""
        return self._others.get(column, "feature")

    @cached_property
    def _others(self) -> dict[str, str]:
        return {
            name: role
            for role in (f.name for f in fields(self) if f.name != "features")
            for name in as_columns(getattr(self, role))
        }


def assign_roles(
    names: Sequence[str],
    *,
    sensitive: str | Iterable[str],
    target: str | None = None,
    weight: str | None = None,
    person: str | None = None,
    score: Iterable[str] = (),
    decision: Iterable[str] = (),
    probability: Iterable[str] = (),
    features: Iterable[str] | None = None,
    ignore: str | Iterable[str] = (),
    file: str | None = None,
    renamed: Iterable[tuple[str, str]] = (),
) -> Roles:
    """Check names against the columns of a table; what has no other role is a feature.

    Where the table is a `file`, messages name it. There need not be any where a score or decision
    is audited. A column that was `renamed`, from and to, because
    of another of its name is no feature unasked.
    """
    where = "" if file is None else f" in {file}"
    roles = {"sensitive": sensitive, "target": target, "weight": weight, "person": person}
    roles |= {"score": score, "decision": decision, "probability": probability}
    roles |= {"ignored": ignore, "features": features}
    there, taken = set(names), dict[str, str]()
    for role, given in roles.items():
        for name in dict.fromkeys(as_columns(given)):
            if name not in there:
                hint = did_you_mean(name, names) or f" There are: {listed(names)}."
                raise TableError(f"There is no column '{name}'{where}.{hint}")
            if name in taken:
                raise TableError(
                    f"The column '{name}' is named twice, as {taken[name]} and as {role}. Leave it "
                    f"out of one of the two."
                )
            taken[name] = role
    of = {role: tuple(n for n, other in taken.items() if other == role) for role in taken.values()}
    if not {"sensitive", "probability"} & {*of}:
        raise MissingGroupError(
            f"No sensitive column was named{where}, so there is nothing to compare. Name at least "
            f"one of the columns: {listed(names)}."
        )
    chosen = of.get("features", ())
    if features is None:
        chosen = tuple(name for name in names if name not in taken)
    if not chosen and not {"score", "decision"} & {*of}:
        raise TableError(
            f"No feature is left{where}: {len(taken)} of {len(names)} columns are named."
        )
    for name, copy in renamed if features is None else ():
        if name.strip() in taken and copy in chosen:
            raise TableError(
                f"Two columns are called '{name.strip()}'. One of them was named; the other, now "
                f"called '{copy}', would be a feature. Rename it, or name it too: as sensitive, or "
                f"to be ignored."
            )
    kept = ("sensitive", "ignored", "score", "decision", "probability")
    attributes, ignored, *own = (of.get(role, ()) for role in kept)
    return Roles(chosen, attributes, target, weight, ignored, person, *own)


def factors_among(
    names: Sequence[str], roles: Roles, given: str | Iterable[str], file: str | None = None
) -> tuple[str, ...]:
    """Return the columns that are legitimate factors; a feature or an ignored column may be one."""
    where = "" if file is None else f" in {file}"
    factors = tuple(dict.fromkeys(as_columns(given)))
    for name in factors:
        if name not in names:
            hint = did_you_mean(name, names) or f" There are: {listed(names)}."
            raise TableError(f"There is no column '{name}'{where}, which was given.{hint}")
        role = roles.of(name)
        if role == "target":
            raise TableError(
                f"given names the target '{name}'. To compare people of one outcome, use "
                f"criterion='equalized_odds' in fits; audits tell these gaps without it."
            )
        if role not in ("feature", "ignored"):
            raise TableError(
                f"given names '{name}', which has the role {role!r} already. A legitimate factor "
                f"is a column of its own: leave it out of one of the two."
            )
    return factors


def close_names(name: Any, names: Iterable[Any], n: int = 3, cutoff: float = 0.6) -> list[str]:
    """Return the names that may have been meant, in whatever case, the closest first."""
    by_folded = {str(other).casefold(): str(other) for other in reversed(list(names))}
    close = get_close_matches(str(name).casefold(), by_folded, n=n, cutoff=cutoff)
    return [by_folded[match] for match in close]


def did_you_mean(name: Any, names: Iterable[Any]) -> str:
    """Return a sentence that suggests a name, after a blank, or nothing."""
    close = close_names(name, names, n=1)
    return f" Did you mean '{close[0]}'?" if close else ""


def listed(names: Sequence[Any], most: int = SHOWN) -> str:
    """Return names in quotes, the first few of them."""
    shown = ", ".join(f"'{name}'" for name in names[:most])
    return shown if len(names) <= most else f"{shown} and {len(names) - most} more"


def as_columns(columns: Any) -> list[Any]:
    """Return columns as a list; a single name or position may stand alone, None is none."""
    if isinstance(columns, str | int | np.integer):
        return [columns]
    return [] if columns is None else list(columns)


def indexable(X: Any) -> Any:
    """Return X in a form whose columns can be taken: frames and arrays as they are."""
    if is_sparse(X):
        return X.tocsr()
    return X if hasattr(X, "shape") else np.asarray(X)


def split_columns(X: Any, columns: Sequence[Any]) -> tuple[Any, Columns]:
    """Split a frame or an array into the features and the named sensitive columns, on the host."""
    frame = nw.from_native(X, eager_only=True, pass_through=True)
    if isinstance(frame, nw.DataFrame):
        _check_known(columns, columns, frame.columns)
        return frame.drop(*columns).to_native(), {c: frame.get_column(c) for c in columns}
    if X.ndim != 2:
        raise UsageError(
            f"X has {X.ndim} dimension(s), so it has no columns to take as attributes. Pass one "
            f"row per person and one column per feature. Reshape your data."
        )
    d = X.shape[1]
    places = [int(j) % d if _is_position(j) and -d <= j < d else j for j in columns]
    _check_known(columns, places, range(d))
    rest = [j for j in range(d) if j not in places]
    if is_foreign(X):
        xp = array_namespace(X)
        features, chosen = (
            xp.take(X, xp.asarray(of, device=device(X)), axis=1) for of in (rest, places)
        )
    else:
        features, chosen = X[:, rest], X[:, places]
    chosen = chosen.toarray() if is_sparse(chosen) else to_numpy(chosen)
    return features, {j: chosen[:, i] for i, j in enumerate(places)}


def _is_position(column: Any) -> bool:
    return isinstance(column, int | np.integer) and not isinstance(column, bool)


def _check_known(columns: Sequence[Any], places: Sequence[Any], there: Sequence[Any]) -> None:
    """Raise for columns that are nowhere, or at the same place as another."""
    unknown = [
        c
        for c, place in zip(columns, places, strict=True)
        if place not in there or (isinstance(there, range) and not _is_position(place))
    ]
    if unknown:
        near = [close for c in unknown for close in close_names(c, there)]
        hint = f" Did you mean {near}?" if near else ""
        raise UsageError(
            f"sensitive_columns names {unknown}, but X has the columns {list(there[:20])}"
            f"{' ...' if len(there) > 20 else ''}.{hint} Use names of columns of X, or positions "
            f"if X has no names (an earlier pipeline step may have dropped them: put this step "
            f"first, or use set_output(transform='pandas'))."
        )
    if len(set(places)) < len(places):
        raise UsageError(
            f"sensitive_columns={list(columns)} names a column twice: of the columns of X they "
            f"are {list(places)}. Name each once."
        )


def is_named(value: Any, name: Any) -> bool:
    """Tell whether a value of a column is the one that somebody named, as a text or as it is.

    Blanks around texts and the way accents are stored do not count, numbers are compared by value,
    truth values by their name.
    """
    texts = [normalize("NFC", v).strip() for v in (value, name) if isinstance(v, str)]
    if len(texts) != 1:
        return texts[0] == texts[1] if texts else bool(value == name)
    (text,), other = texts, name if isinstance(value, str) else value
    if isinstance(other, bool | np.bool_):
        return text.casefold() == str(other).casefold()
    try:
        return bool(float(text) == other)
    except ValueError:
        return text == str(other).strip()


def rows_named(values: np.ndarray, name: Any) -> np.ndarray:
    """Return the mask of the rows whose value was named."""
    if values.dtype.kind not in "OUST" and not isinstance(name, str):
        return np.asarray(values == name)
    entries = values.tolist()
    named = {value: is_named(value, name) for value in dict.fromkeys(entries)}
    if isinstance(name, str) and any(named.values()):
        alike = [v for v, is_it in named.items() if not is_it and folded(v) == folded(name)]
        warn_of_spellings("y", [name, *alike])
    return np.fromiter(map(named.__getitem__, entries), dtype=bool, count=len(entries))


def check_frames(**given: Any) -> None:
    """Raise unless columns have different names, and rows the same labels in one order.

    Rows are paired by position. Only things as of pandas have labels; lists and arrays agree.
    """
    for name, values in given.items():
        columns: Any = getattr(values, "columns", None)
        if not getattr(columns, "is_unique", True):
            raise UsageError(
                f"Two columns of {name} are called {columns[columns.duplicated()][0]!r}, so their "
                f"name does not tell which is meant. Rename one of them, or leave it out."
            )
    labelled = [found for name, values in given.items() for found in _row_labels(name, values)]
    for name, labels in labelled[1:]:
        first, rows = labelled[0]
        n = len(rows)
        if labels is rows or len(labels) != n or rows.equals(labels):
            continue
        a, b = rows.astype(object), labels.astype(object)  # 1 is 1, of whatever type
        at = bisect_left(range(n), True, key=lambda i: not a[: i + 1].equals(b[: i + 1]))
        if at < n:
            reorder = f"Use one order, as in {name}.loc[{first}.index]"
            way = reorder if set(a) == set(b) else "Take the same rows of both (reindex one)"
            raise UsageError(
                f"The row labels of {first} and {name} differ: at position {at} they are {a[at]!r} "
                f"and {b[at]!r}. Rows are paired by position, so people would get what belongs to "
                f"others. {way}, or pass .to_numpy() to pair them by position."
            )


@contextmanager
def numbers_asked(X: Any) -> Iterator[None]:
    """Say which columns of a frame are no numbers where NumPy could not make numbers of them."""
    try:
        yield
    except (TypeError, ValueError) as error:
        frame = nw.from_native(X, eager_only=True, pass_through=True)
        columns = list(frame.iter_columns()) if isinstance(frame, nw.DataFrame) else []
        dates = [c.name for c in columns if _are_dates(c)]
        texts = [c.name for c in columns if _are_texts(c)]
        if texts and "convert string" in str(error):
            raise UsageError(
                f"X has texts in {listed(texts)}, which are not numbers. Encode them, such as with "
                f"scikit-learn's OneHotEncoder; leave them out; or use fairpca.fit_table(table, "
                f"...), which accepts columns of any kind."
            ) from error
        if not dates or not isinstance(error, TypeError):
            raise
        name = dates[0]
        raise UsageError(
            f"X has dates or durations in {listed(dates)}, which are not numbers. Convert them, "
            f"such as to days: (X[{name!r}] - X[{name!r}].min()).dt.days; leave them out; or use "
            f"FairTableTransformer, which accepts columns of any kind."
        ) from error


def _are_dates(column: nw.Series[Any]) -> bool:
    if column.dtype == nw.Object:
        return any(isinstance(value, date | timedelta) for value in column.head(100).to_list())
    return column.dtype.is_temporal()


def _are_texts(column: nw.Series[Any]) -> bool:
    if column.dtype == nw.Object:
        return any(isinstance(value, str) for value in column.head(100).to_list())
    return column.dtype in (nw.String, nw.Categorical, nw.Enum)


def _row_labels(name: str, values: Any) -> Iterator[tuple[str, Any]]:
    """Yield pandas' index of values, of a dict that of each of its columns; lists have none."""
    if isinstance(values, Mapping):
        for column, inner in values.items():
            yield from _row_labels(f"{name}[{column!r}]", inner)
        return
    labels = getattr(nw.to_native(values, pass_through=True), "index", None)
    if hasattr(labels, "equals"):
        yield name, labels
