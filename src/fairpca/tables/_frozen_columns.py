"""What was learned about one column, as plain data, and how its rows become numbers.

Numbers, vectors and levels are here, dates and texts in `_dates_and_texts`; `_column_kinds` tells
which of them a column is. Each has `learned`, which makes it from a column, the names of its w
`outputs`, and `rows`, which returns finite numbers of shape (u, w) and which of them each row has:
codes of shape (n,), or None where row i has the numbers i.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from .._attributes import about_spellings, folded, one_spelling
from .._files import is_array, is_count, is_number, record
from ..errors import TableError
from ._adapters import import_arrow
from ._table import distinct, is_text, is_vector
from ._text_values import Numbers, are_truths, cleaned, number, numbers_of_texts

MISSING_SHARE = 0.02
"""From this share of missing values on, that a value is missing is an output of its own."""

NOT_A_TIME = np.iinfo(np.int64).min  # as numpy has it
_MICROSECONDS = {"D": 86_400_000_000, "s": 1_000_000, "ms": 1_000, "us": 1}

MOST_LEVELS = 40
"""Texts with more levels than this are encoded by their letters, see `TextColumn`."""


@record()
@dataclass(frozen=True)
class Column:
    """What became of a column: numeric, category, text, date, vector; constant ones are left out.

    `n_missing` rows have no value, the others `n_distinct` ones, which became `n_outputs` columns.
    """

    name: str
    kind: str
    n_missing: int
    n_distinct: int
    n_outputs: int
    note: str = ""

    def _fits_together(self) -> bool:
        texts = all(isinstance(text, str) for text in (self.name, self.kind, self.note))
        return texts and all(map(is_count, (self.n_missing, self.n_distinct, self.n_outputs)))


@dataclass(frozen=True)
class ColumnWeight:
    """What a linear score gives to a column of a table, or to a level of it, in its own units.

    Parameters
    ----------
    column : str
        Name of the column.
    kind : {"number", "level", "missing", "part"}
        "part" is one of a date, per unit, or a combination of letters of a text.
    what : str
        "one more" of a number, "first to last" of a rank, "true" of a truth; else the level,
        "missing", or the part.
    weight : float
        What this adds to the score: one unit of a number; a level, against the average row of the
        fit; that a number, a date or a text is missing, against what is put in its place.
    effect : float
        What one standard deviation of it adds: columns are ranked by its size.

    See Also
    --------
    TableEncoder.column_weights : What makes them.

    Examples
    --------
    >>> import pandas as pd
    >>> from fairpca.tables import TableEncoder
    >>> encoder = TableEncoder().fit(pd.DataFrame({"income": [1000.0, 2000.0, 3000.0, 2000.0]}))
    >>> (row,) = encoder.column_weights([0.7])
    >>> row.column, row.kind, row.what, round(row.weight, 6), row.effect
    ('income', 'number', 'one more', 0.00099, 0.7)
    """

    column: str
    kind: str
    what: str
    weight: float
    effect: float


@dataclass(frozen=True, eq=False)
class Learned:
    """An encoder fresh from its column, with the means and deviations of its outputs."""

    encoder: Any
    kind: str
    n_missing: int
    n_distinct: int
    mean: np.ndarray
    scale: np.ndarray
    note: str = ""


MOST_RANKS = 256
"""Ranks of more different values are interpolated between as many quantiles."""


@record(later=["decimal", "odd_is_missing", "missing", "ranks"])
@dataclass(frozen=True)
class NumberColumn:
    """A number per row, `fill` where it is missing or infinite; that it was may be an output.

    Texts of them are plain numbers, or as people write them, with a `decimal` sign; others
    raise an error, or `odd_is_missing`.
    Numbers that stand for `missing` values count as such. `ranks` (2, m) are values and the share
    of rows below each, half of those at it, which take the place of the numbers.
    """

    name: str
    fill: float
    boolean: bool = False
    indicator: bool = False
    decimal: str = ""
    odd_is_missing: bool = False
    missing: tuple[float, ...] = ()
    ranks: np.ndarray | None = field(default=None, compare=False)

    def _fits_together(self) -> bool:
        flags = (self.boolean, self.indicator, self.odd_is_missing)
        known = all(isinstance(flag, bool) for flag in flags) and self.decimal in ("", ".", ",")
        named = isinstance(self.missing, tuple) and all(map(is_number, self.missing))
        ranked = self.ranks is None or (
            is_array(self.ranks, 2, None)
            and self.ranks.shape[1] > 0
            and bool((np.diff(self.ranks, axis=1) > 0).all())
        )
        return isinstance(self.name, str) and is_number(self.fill) and known and named and ranked

    @property
    def outputs(self) -> list[str]:
        """Names of the outputs."""
        return [self.name, f"{self.name}_missing"][: 1 + self.indicator]

    def rows(self, array: Any) -> tuple[None, np.ndarray]:
        """Return the numbers, of shape (n, 1) or (n, 2)."""
        values = self._floats(array)
        known = are_known(values, self.missing)
        if not known.all():
            values = np.where(known, values, self.fill)
        if self.ranks is not None:
            values = np.interp(values, *self.ranks)
        if not self.indicator:
            return None, values[:, None]
        return None, np.column_stack([values, ~known])

    def _floats(self, array: Any) -> np.ndarray:
        return floats(
            array,
            self.name,
            boolean=self.boolean,
            decimal=self.decimal,
            odd_is_missing=self.odd_is_missing,
        )

    @staticmethod
    def learned(
        name: str,
        array: Any,
        how: Numbers | None = None,
        note: str = "",
        *,
        ranked: bool = False,
        missing: tuple[float, ...] = (),
    ) -> Learned:
        """Learn how a column of numbers is encoded; of texts, how they are numbers is known."""
        arrow = import_arrow()
        boolean = arrow.types.is_boolean(array.type)
        if is_text(array.type):
            texts = map(cleaned, array.unique().to_pylist())
            boolean = are_truths([text for text in texts if text is not None])
        decimal, lenient = ("", False) if how is None else (how.decimal, how.has_words)
        missing = () if boolean else missing
        column = NumberColumn(name, 0.0, boolean, False, decimal, lenient, missing)
        values = column._floats(array)
        known = are_known(values, missing)
        n_missing = int(np.sum(~known))
        n_infinite = int(np.isinf(values).sum())
        fill = 2 * float(np.median(0.5 * values[known])) if known.any() else 0.0  # no overflow
        if boolean:
            fill = float(round(fill))
        ranks = _ranks(values[known]) if ranked and known.any() and not boolean else None
        indicator = n_missing > MISSING_SHARE * len(values)
        column = replace(column, fill=fill, indicator=indicator, ranks=ranks)
        mean, scale = means_and_deviations(column.rows(array)[1])
        n_distinct = len(arrow.array(values[known] + 0.0).unique())  # -0.0 is 0.0
        if n_infinite:
            note = "; ".join(filter(None, [note, f"{n_infinite} infinite values count as missing"]))
        return Learned(column, "numeric", n_missing, n_distinct, mean, scale, note)


@record(later=["fill", "indicator"])
@dataclass(frozen=True)
class VectorColumn:
    """A vector of `width` numbers per row, such as an embedding of a text or an image.

    Its numbers stay one block: each less its mean, all in units of one deviation, the root of their
    mean variance. So lengths and angles about the mean stay as they are. Rows without a vector have
    `fill`, the mean, and that they have none may be an output; without `fill` they raise an error.
    """

    name: str
    width: int
    fill: np.ndarray | None = field(default=None, compare=False)
    indicator: bool = False

    def _fits_together(self) -> bool:
        named = isinstance(self.name, str) and is_count(self.width) and self.width > 0
        filled = self.fill is None or is_array(self.fill, self.width)
        return named and filled and isinstance(self.indicator, bool)

    @property
    def outputs(self) -> list[str]:
        """Names of the outputs."""
        names = [f"{self.name}_{i}" for i in range(self.width)]
        return [*names, f"{self.name}_missing"] if self.indicator else names

    def rows(self, array: Any) -> tuple[None, np.ndarray]:
        """Return the vectors, of shape (n, width) or (n, width + 1)."""
        found, known = vectors(array, self.name, all_known=self.fill is None)
        if len(found) and found.shape[1] != self.width:
            raise TableError(
                f"Column '{self.name}' has vectors of {found.shape[1]} numbers here, but of "
                f"{self.width} when the encoder was fitted. Take those of the same model."
            )
        values = found.reshape(len(found), self.width)
        if not known.all():
            values = np.tile(np.asarray(self.fill, dtype=float), (len(known), 1))
            values[known] = found
        return None, np.column_stack([values, ~known]) if self.indicator else values

    @staticmethod
    def learned(name: str, array: Any) -> Learned:
        """Learn the mean, and the deviation that all dimensions share."""
        found, known = vectors(array, name)
        fill, _ = means_and_deviations(found)
        n_missing = int(np.sum(~known))
        indicator = n_missing > MISSING_SHARE * len(known)
        column = VectorColumn(name, found.shape[1], fill, indicator)
        mean, scale = means_and_deviations(column.rows(array)[1])
        of_vectors = scale[: column.width]
        if (varies := of_vectors > 0).any():
            of_vectors[varies] = np.sqrt(np.mean(of_vectors[varies] ** 2))
        n_distinct = len(np.unique(found, axis=0))
        note = "one block: the dimensions share one unit"
        return Learned(column, "vector", n_missing, n_distinct, mean, scale, note)


def vectors(array: Any, name: str, *, all_known: bool = False) -> tuple[np.ndarray, np.ndarray]:
    """Return an Arrow array of lists of numbers as floats of shape (m, d), and which rows have one.

    All numbers must be finite.
    """
    arrow = import_arrow()
    if not is_vector(array.type):
        raise TableError(
            f"Column '{name}' held vectors when the encoder was fitted, but is of the type "
            f"{array.type} here. Give it lists of numbers, or fit again."
        )
    known = array.is_valid().to_numpy(zero_copy_only=False)
    places = np.flatnonzero(known)
    if all_known and not known.all():
        raise TableError(
            f"Column '{name}' has no vector in row {int(np.argmin(known)) + 1}, and none was "
            f"missing when the encoder was fitted. Leave out such rows, or fit again."
        )
    if not known.all():
        array = array.drop_null()
    lengths = arrow.compute.list_value_length(array).to_numpy(zero_copy_only=False)
    usual = int(lengths[:1].sum())
    odd = np.flatnonzero(lengths != usual) if usual else np.arange(len(array))
    if len(odd):
        n, row = int(lengths[odd[0]]), int(places[odd[0]])
        raise TableError(
            f"Column '{name}' has a vector of {n} numbers in row {row + 1}, but all vectors must "
            f"be of one length, at least 1. Leave out such rows, or ignore the column."
        )
    numbers = array.flatten().cast(arrow.float64()).to_numpy(zero_copy_only=False)
    values: np.ndarray = numbers.reshape(len(array), max(usual, 1))
    if not np.isfinite(values).all():
        row = int(places[~np.isfinite(values).all(axis=1)][0])
        raise TableError(
            f"Column '{name}' has a vector with a missing or infinite number in row {row + 1}. "
            f"Leave out such rows, or ignore the column."
        )
    return values, known


def are_known(values: np.ndarray, missing: tuple[float, ...]) -> np.ndarray:
    """Tell which numbers are finite, and none of those that stand for missing values."""
    known = np.isfinite(values)
    return known & ~np.isin(values, missing) if missing else known


def _ranks(values: np.ndarray) -> np.ndarray:
    """Return different values and the share of rows below each, half of those at it."""
    at, counts = np.unique(values, return_counts=True)
    shares = (np.cumsum(counts) - 0.5 * counts) / len(values)
    if len(at) > MOST_RANKS:
        levels = np.linspace(shares[0], shares[-1], MOST_RANKS)
        some = np.unique(np.searchsorted(shares, levels).clip(max=len(at) - 1))
        at, shares = at[some], shares[some]
    return np.stack([at, shares])


@record()
@dataclass(frozen=True)
class LevelColumn:
    """One indicator per level, "missing" perhaps being one; of two levels, one indicator.

    A level that was never seen has none of them. Where two levels share one indicator, that would
    be the first of them, so it is put at their average: the `share` of rows at the second. Another
    spelling of a level, see `folded`, is that level.
    """

    name: str
    levels: tuple[str, ...]
    missing: bool = False
    share: float = 0.5

    def _fits_together(self) -> bool:
        named = isinstance(self.name, str) and are_different_texts(self.levels)
        return named and isinstance(self.missing, bool) and is_number(self.share)

    @property
    def outputs(self) -> list[str]:
        """Names of the outputs."""
        names = [f"{self.name}_{level}" for level in self.levels]
        names += [f"{self.name}_missing"] * self.missing
        return names[1:] if len(names) == 2 else names

    @cached_property
    def table(self) -> np.ndarray:
        """The numbers of each level, of the missing, and of the unseen; shape (L + 2, w)."""
        n = len(self.levels)
        seen = n + self.missing
        indicators = np.zeros((n + 2, seen))
        indicators[:seen] = np.eye(seen)
        if seen != 2:
            return indicators
        indicators[seen:, 1] = self.share  # unseen, and missing where it is no level
        return indicators[:, 1:]

    @cached_property
    def place(self) -> dict[str, int]:
        """The row of `table` for each level, and for what its spellings share."""
        exact = {level: i for i, level in enumerate(self.levels)}
        return {folded(level): i for level, i in reversed(exact.items())} | exact

    @cached_property
    def _are_numbers(self) -> bool:
        """Whether the levels are integers, which may come back as floats."""
        return all(number(level) is not None for level in self.levels)

    def codes(self, array: Any) -> np.ndarray:
        """Return the row of `table` that each row of an Arrow array has."""
        codes, values = distinct(array)
        return np.array([self._code(value) for value in values], dtype=np.intp)[codes]

    def _code(self, value: Any) -> int:
        text, n = cleaned(value), len(self.levels)
        if text is None:
            return n
        code = self.place.get(text, self.place.get(folded(text)))
        if code is None and self._are_numbers and (meant := number(text)) is not None:
            code = self.place.get(cleaned(meant) or "")
        return n + 1 if code is None else code

    def rows(self, array: Any) -> tuple[np.ndarray, np.ndarray]:
        """Return the code of each row, and the numbers for each code."""
        return self.codes(array), self.table

    def weights(self, scores: np.ndarray, mean: np.ndarray) -> list[ColumnWeight]:
        """Return what each level adds, of the scores for each code and the means of the outputs."""
        told = [("level", level) for level in self.levels]
        told += [("missing", "missing")] * self.missing
        shares = np.array([1.0 - mean[0], mean[0]]) if len(told) == 2 else mean
        odds = shares / (1.0 - shares)
        return [
            ColumnWeight(self.name, kind, what, float(score), float(score * unit))
            for (kind, what), score, unit in zip(told, scores, np.sqrt(odds), strict=False)
        ]

    @staticmethod
    def learned(name: str, rows_of: Mapping[str, int], n_missing: int) -> Learned:
        """Learn the levels of a column, of which `rows_of` has the rows of each spelling."""
        level_of = one_spelling(rows_of)
        levels = tuple(sorted(set(level_of.values())))
        merged = dict.fromkeys(levels, 0)
        for text, n in rows_of.items():
            merged[level_of[text]] += n
        by_level = np.array([*merged.values(), n_missing, 0])
        share = float(by_level[1] / by_level.sum())
        column = LevelColumn(name, levels, missing=n_missing > 0, share=share)
        mean, scale = means_and_deviations(column.table, by_level)
        note = about_spellings(name, rows_of)
        return Learned(column, "category", n_missing, len(levels), mean, scale, note)


def floats(
    array: Any,
    name: str,
    *,
    boolean: bool = False,
    decimal: str = "",
    odd_is_missing: bool = False,
) -> np.ndarray:
    """Return an Arrow array as floats, NaN where missing, or say which value is no number."""
    arrow = import_arrow()
    types, kind = arrow.types, array.type
    if types.is_dictionary(kind) and not is_text(kind.value_type):
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
    elif types.is_dictionary(kind) or is_text(kind):
        numbers, odd = numbers_of_texts(array, truths=boolean, decimal=decimal)
        if odd is not None and not odd_is_missing:
            raise TableError(
                f"Column '{name}' held numbers when the encoder was fitted, but has '{odd}' "
                f"here. Correct the value, or leave it empty."
            )
        return numbers
    return array.cast(arrow.float64(), safe=False).to_numpy(zero_copy_only=False)


def days(array: Any) -> np.ndarray:
    """Return dates, or times in between, as days since 1970; NaN where missing."""
    if import_arrow().types.is_duration(array.type):
        return floats(array, "") / 86_400
    microseconds = microseconds_of(array)
    found: np.ndarray = np.where(microseconds == NOT_A_TIME, np.nan, microseconds / 1e6 / 86_400)
    return found


def microseconds_of(array: Any) -> np.ndarray:
    """Return dates or times as microseconds since 1970; `NOT_A_TIME` where missing or infinite.

    Databases have "infinity", for what has no end: their last instant. So are dates that
    microseconds do not reach.
    """
    arrow, kind = import_arrow(), array.type
    is_day = arrow.types.is_date32(kind)
    unit = "D" if is_day else getattr(kind, "unit", "ms")  # no unit: a date in milliseconds
    ticks = array.cast(arrow.int32() if is_day else arrow.int64()).cast(arrow.int64())
    found: np.ndarray = ticks.fill_null(NOT_A_TIME).to_numpy(zero_copy_only=False)
    largest = np.iinfo(np.int64).max // _MICROSECONDS.get(unit, 1)
    missing = (found >= largest) | (found <= -largest)
    found = found // 1000 if unit == "ns" else np.where(missing, 0, found) * _MICROSECONDS[unit]
    return np.where(missing, NOT_A_TIME, found)


def are_different_texts(texts: Any) -> bool:
    """Tell whether this is a tuple of texts, each once."""
    known = isinstance(texts, tuple) and all(isinstance(text, str) for text in texts)
    return known and len(set(texts)) == len(texts)


def means_and_deviations(
    values: np.ndarray, counts: np.ndarray | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """Return means and standard deviations of columns (u, w); 0 where only rounding varies.

    `counts` tells how many rows have each of the values; by default one each.
    """
    # About the first row, halved and in units of the spread: digits of values far from zero are
    # kept, and huge ones do not overflow.
    start = values[0]
    steps = 0.5 * values - 0.5 * start
    spread = np.max(np.abs(steps), axis=0)
    rounding = 4 * np.finfo(float).eps * np.max(np.abs(values), axis=0)
    steps /= np.where(spread > 0, spread, 1.0)
    if counts is None:
        mean, deviation = steps.mean(axis=0), steps.std(axis=0)
    else:
        weights = counts / counts.sum()
        mean = weights @ steps
        deviation = np.sqrt(weights @ (steps - mean) ** 2)
    deviation[(spread <= rounding) | (deviation < 1e-15)] = 0.0
    return 2 * (0.5 * start + mean * spread), 2 * (deviation * spread)
