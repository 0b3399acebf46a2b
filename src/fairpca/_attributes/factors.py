"""Legitimate factors of the rows: people whose factors are equal are compared with each other.

Levels of categories, crossed, are strata. Numbers are what attributes and features are regressed
on, in each stratum by itself.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import narwhals as nw
import numpy as np

from ..errors import UsageError
from .levels import Attribute, Levels, Numbers, refuse_identifiers
from .reading import (
    KINDS,
    MISSING_LABEL,
    are_categories,
    are_missing,
    as_array,
    attribute_columns,
    in_words_of_factors,
    read_column,
)

FEW_VALUES = 10
"""Numbers of so few values are categories: people of one value are alike."""

GIVEN = "given"
"""What a factor without a name is called, and the argument of `fit`."""

Stratum = tuple[tuple[str, Any], ...]
"""The level of each categorical factor, by its name."""


@dataclass(frozen=True)
class Factors:
    """The stratum of each row, as its position in `strata`, and numbers, if there are any."""

    strata: tuple[Stratum, ...]
    codes: np.ndarray
    numbers: Numbers | None = None

    def take(self, rows: np.ndarray) -> Factors:
        """Return the factors of some of the rows."""
        numbers = None if self.numbers is None else self.numbers.take(rows)
        return replace(self, codes=self.codes[rows], numbers=numbers)

    def crossed(self, name: str, labels: Sequence[Any], codes: np.ndarray) -> Factors:
        """Return the factors with one more, which comes first."""
        cells, found = np.unique(codes * len(self.strata) + self.codes, return_inverse=True)
        places = (divmod(int(cell), len(self.strata)) for cell in cells)
        strata = tuple(((name, labels[i]), *self.strata[s]) for i, s in places)
        return replace(self, strata=strata, codes=found.ravel())

    def applied(self, attributes: Sequence[Attribute]) -> tuple[Attribute, ...]:
        """Return each attribute once per stratum, counting only its rows."""
        self._check_known()
        used = np.bincount(self.codes, minlength=len(self.strata)) > 0
        return tuple(
            replace(a, numbers=self.numbers).within(stratum or None, self.codes == s)
            for a in attributes
            for s, stratum in enumerate(self.strata)
            if used[s]
        )

    def _check_known(self) -> None:
        if self.numbers is None:
            return
        for name, column in zip(self.numbers.names, self.numbers.values.T, strict=True):
            unknown = int((~np.isfinite(column)).sum())
            if unknown:
                raise UsageError(
                    f"The factor '{name}' is a number, and missing or infinite in {unknown} of "
                    f"{len(column)} rows, so nobody knows whom to compare these with. Fill it in, "
                    f"leave these rows out, or cut it into bands, where missing is one more."
                )


def read_factors(given: Any, n_rows: int, kinds: Mapping[Any, str] | None = None) -> Factors:
    """Return columns as strata and numbers; `kinds` says which, for some of them, by name.

    Numbers of more than ten values, and dates, are numbers; everything else is categories, of which
    missing values are one more.
    """
    columns = {str(name): column for name, column in factor_columns(given).items()}
    levels, values = list[Levels](), dict[str, np.ndarray]()
    for name, column in columns.items():
        _check_length(name, column, n_rows)
        with in_words_of_factors():
            found = read_column(name, column, (kinds or {}).get(name) or kind_of_factor(column))
        if isinstance(found, Levels):
            levels.append(_with_missing(found))
        else:
            values[name] = found.values
    numbers = Numbers(tuple(values), np.column_stack(list(values.values()))) if values else None
    factors = Factors(((),), np.zeros(n_rows, dtype=np.intp), numbers)
    for level in reversed(levels):
        factors = factors.crossed(level.name, level.labels, level.codes)
        refuse_identifiers(f"{GIVEN}: {', '.join(a.name for a in levels)}", len(factors.strata))
    return factors


def factor_columns(given: Any) -> dict[Any, Any]:
    """Return the columns of factors, by name."""
    if isinstance(given, str):
        raise UsageError(
            f"{GIVEN}={given!r} is a name, not one entry per row. Pass the column itself."
        )
    with in_words_of_factors():
        columns = attribute_columns(given, unnamed=GIVEN)
    if not columns:
        raise UsageError(f"{GIVEN} has no columns. Pass a factor, or leave it out.")
    if len({str(name) for name in columns}) < len(columns):
        raise UsageError(f"The factors {list(columns)} have names that read the same. Rename them.")
    return columns


def kinds_of_factors(
    kinds: Mapping[Any, str] | None, names: Sequence[Any]
) -> tuple[dict[str, str], Mapping[Any, str] | None]:
    """Split what is declared of columns: what is said of factors, and what of all others."""
    named = {str(name) for name in names}
    if not isinstance(kinds, Mapping) or not named.intersection(map(str, kinds)):
        return {}, kinds
    own = {str(name): kind for name, kind in kinds.items() if str(name) in named}
    for name, kind in own.items():
        if kind not in KINDS:
            raise UsageError(
                f"sensitive_kinds[{name!r}] is {kind!r}: a factor is either 'categorical' (people "
                f"of one level are alike) or 'numeric'. Use one of the two."
            )
    return own, {name: kind for name, kind in kinds.items() if str(name) not in named} or None


def _check_length(name: str, column: Any, n_rows: int) -> None:
    shape = tuple(column.shape)
    if shape != (n_rows,):
        raise UsageError(
            f"X has {n_rows} rows, but the factor '{name}' has the shape {shape}. Pass one value "
            f"per row of X, in the same order."
        )


def kind_of_factor(column: Any) -> str:
    """Return what a factor is by its values: numbers of few values are categories."""
    if are_categories(column):
        return "categorical"
    series = nw.from_native(column, series_only=True, pass_through=True)
    if isinstance(series, nw.Series):
        if series.dtype.is_temporal():
            return "numeric"
        if not (series.dtype.is_numeric() or series.dtype in (nw.Object, nw.Unknown)):
            return "categorical"
    values = as_array(column)
    if values.dtype.kind in "mM":
        return "numeric"
    if values.dtype.kind not in "iufO":
        return "categorical"
    known = values[~are_missing(values)]
    if values.dtype == object:
        if not all(_is_number(value) for value in known.tolist()):
            return "categorical"
        known = known.astype(float)
    return "numeric" if len(np.unique(known)) > FEW_VALUES else "categorical"


def _is_number(value: Any) -> bool:
    return not isinstance(value, bool | np.bool_ | str | bytes) and hasattr(value, "__float__")


def _with_missing(levels: Levels) -> Levels:
    """Return levels of which missing values are one."""
    absent = levels.missing
    if not absent.any():
        return levels
    labels = tuple(dict.fromkeys((*levels.labels, MISSING_LABEL)))
    codes = np.where(absent, labels.index(MISSING_LABEL), levels.codes)
    return replace(levels, labels=labels, codes=codes)
