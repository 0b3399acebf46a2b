"""The first pass over a table on disk: values are counted, and rows are drawn to learn from."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from .._attributes import about_a_number, folded, refuse_identifiers
from .._rows import Batch, LargestKey, Sample, rows_at
from ..errors import TableError
from ..io import TableRows
from ..tables import (
    LevelColumn,
    Notice,
    RawColumn,
    TableEncoder,
    arrow_to_pandas,
    check_spellings,
    cleaned,
    decoded,
    distinct,
    import_arrow,
    simple,
    typed,
)
from ._plans import AttributePlan, plan_column, plan_target

SAMPLE_ROWS = 200_000
"""What the columns of a table are is learned from this many rows: few enough for any memory, and
the probability to miss a level of one row in ten thousand is e**-20."""

MOST_LEVELS_COUNTED = 5_000
"""Texts with more different values are encoded by their letters, so none of them is unknown."""

MOST_VALUES = 100_000
"""Of more distinct values, numbers are no longer counted, and others raise an error."""

LOOK_AT = 8_192
"""Rows of a batch that show whether a column has many values."""


def look_at_rows(
    source: TableRows,
    columns: Sequence[RawColumn],
    sensitive: Sequence[str],
    outcome: RawColumn | None,
    seed: int,
) -> RowsSeen:
    """Count the groups over all rows, and draw those from which the columns are learned."""
    n, largest_key = SAMPLE_ROWS, LargestKey()
    if source.n_rows is not None and outcome is None:
        # A few more than needed, so that there are enough: the largest keys are dropped later.
        largest_key.value = min(1.0, (n + 8 * n**0.5) / max(1, source.n_rows))
    target = None if outcome is None else outcome.name
    look = _LookAtRows(tuple(columns), tuple(sensitive), target, n, largest_key, seed)
    seen: RowsSeen | None = source.fold(look)
    if seen is None or seen.n_read == 0:
        raise TableError(f"'{source.files[0].path}' has names of columns but no rows.")
    if seen.n_rows == 0:
        raise TableError(f"No row has a value of the target '{target}'. Name another target.")
    return seen


@dataclass(frozen=True)
class _LookAtRows:
    """From a batch of a table to what must be known before its rows can be encoded.

    Values of the `sensitive` columns are counted exactly, and those of the `target`, without which
    a row does not count. Rows with a random key beyond the largest are not among the `n` drawn.
    """

    columns: tuple[RawColumn, ...]
    sensitive: tuple[str, ...]
    target: str | None
    n: int
    largest_key: LargestKey
    seed: int

    def __call__(self, batch: Batch) -> RowsSeen | None:
        """Look at a batch, whose features are an Arrow table of all columns as they are read."""
        arrays = {c.name: simple(batch.X.column(c.name)) for c in self.columns}
        n_read = batch.n_rows
        counts = {}
        keys = np.random.default_rng([self.seed, batch.number]).random(n_read)
        if self.target is not None:
            column = next(c for c in self.columns if c.name == self.target)
            counts[self.target] = _CountedValues.of(column, arrays[self.target])
            codes, values = column.values(arrays[self.target])
            known = np.array([_is_value(value) for value in values])[codes]
            if not known.all():
                kept = np.flatnonzero(known)
                arrays = {name: rows_at(array, kept) for name, array in arrays.items()}
                keys = keys[kept]
        for c in self.columns:
            if c.name in self.sensitive:
                counts[c.name] = _CountedValues.of(c, arrays[c.name])
        levels = {c.name: _levels(arrays[c.name]) for c in self.columns if c.name not in counts}

        def drawn(chosen: np.ndarray) -> tuple[Any, ...]:
            taken = {name: decoded(rows_at(array, chosen)) for name, array in arrays.items()}
            return (import_arrow().table(taken),)

        sample = Sample.of(self.n, keys, batch.number, drawn, self.largest_key, _stacked)
        return RowsSeen(n_read, len(keys), sample, counts, levels)


def _stacked(tables: Sequence[Any]) -> Any:
    return import_arrow().concat_tables(tables, promote_options="permissive")


@dataclass(frozen=True)
class RowsSeen:
    """What is known of the batches seen so far; adds.

    `n_read` rows are in the files; `n_rows` count: those with a known target, where one is needed.
    `levels` has the rows of each text of other columns; None where they are many, or no texts.
    """

    n_read: int
    n_rows: int
    sample: Sample
    counts: dict[str, _CountedValues]
    levels: dict[str, dict[str, int] | None]

    def __add__(self, other: RowsSeen) -> RowsSeen:
        return RowsSeen(
            self.n_read + other.n_read,
            self.n_rows + other.n_rows,
            self.sample + other.sample,
            {name: counts + other.counts[name] for name, counts in self.counts.items()},
            {name: _both(counts, other.levels[name]) for name, counts in self.levels.items()},
        )

    @property
    def drawn(self) -> Any:
        """The rows of the sample, as an Arrow table."""
        return self.sample.rows[0]

    def sample_frame(self, raw: Mapping[str, RawColumn]) -> Any:
        """Return the sample with the types that the whole table would have in memory."""
        arrow = import_arrow()
        columns = {}
        for name in self.drawn.schema.names:
            column, kind = self.drawn.column(name), raw[name].type
            if kind is None:
                column = typed(column, raw[name].decimal)
            elif arrow.types.is_dictionary(kind):
                column = column.dictionary_encode()  # a declared category stays one
            columns[name] = column
        return arrow_to_pandas(arrow.table(columns))

    def spellings(self) -> list[Notice]:
        """Return which levels have several spellings, over all rows."""
        found: list[Notice] = []
        for name, levels in self.levels.items():
            rows_of = Counter[str]()
            for text, n in (levels or {}).items():
                rows_of[cleaned(text) or ""] += n
            del rows_of[""]
            found += check_spellings(name, rows_of, is_feature=True)
        for name, counted in self.counts.items():
            texts = {v: n for v, n in (counted.counts or {}).items() if isinstance(v, str)}
            found += check_spellings(name, texts, is_feature=False)
        return found

    def unknown_levels(self, encoder: TableEncoder) -> dict[str, int]:
        """Return how many rows have a level that was not in the sample, by column."""
        found = {}
        for column in encoder.encoders_:
            levels = self.levels.get(column.name)
            if levels and isinstance(column, LevelColumn):
                texts = import_arrow().array(list(levels), import_arrow().string())
                unseen = column.codes(texts) > len(column.levels)
                found[column.name] = sum(
                    n for n, new in zip(levels.values(), unseen, strict=True) if new
                )
        for about in encoder.columns_:
            if about.n_outputs == 0:  # one level in the sample, or none
                rows_of = Counter[str]()
                for text, n in (self.levels.get(about.name) or {}).items():
                    rows_of[folded(text)] += n
                found[about.name] = sum(sorted(rows_of.values())[:-1])
        return {name: rows for name, rows in found.items() if rows}


@dataclass(frozen=True)
class _CountedValues:
    """How many rows have each value, None standing for the missing; adds.

    Of more than `MOST_VALUES` the `counts` are None; it is still known how many are missing,
    whether all are numbers, and whether some have a fraction.
    """

    column: RawColumn
    counts: Mapping[Any, int] | None
    n_missing: int = 0
    numbers: bool = False
    fractions: bool = False

    @classmethod
    def of(cls, column: RawColumn, array: Any) -> _CountedValues:
        """Count the values of an Arrow array."""
        codes, values = column.values(array)
        counts: Counter[Any] = Counter()
        for value, n in zip(values, np.bincount(codes, minlength=len(values)), strict=True):
            if n:
                counts[value] += int(n)
        return cls(column, counts)._bounded()

    def __add__(self, other: _CountedValues) -> _CountedValues:
        if self.counts is not None and other.counts is not None:
            both = _CountedValues(self.column, Counter(self.counts) + Counter(other.counts))
            return both._bounded()
        mine, theirs = self._uncounted(), other._uncounted()
        return replace(
            mine,
            n_missing=mine.n_missing + theirs.n_missing,
            numbers=mine.numbers and theirs.numbers,
            fractions=mine.fractions or theirs.fractions,
        )

    def _bounded(self) -> _CountedValues:
        few = self.counts is None or len(self.counts) <= MOST_VALUES
        return self if few else self._uncounted()

    def _uncounted(self) -> _CountedValues:
        if self.counts is None:
            return self
        values = self.column.series(list(self.counts))
        numbers = self.column.are_numbers(values)
        fractions = numbers and any(v % 1 for v in values.dropna() if not hasattr(v, "year"))
        return _CountedValues(self.column, None, self.counts[None], numbers, fractions)

    def planned(self, kind: str | None) -> tuple[AttributePlan, dict[Any, int]]:
        """Return the groups, and the group of each value, -1 where it has none."""
        name = self.column.name
        if self.counts is None:
            if not self.numbers or (kind or ("numeric" if self.fractions else "")) != "numeric":
                refuse_identifiers(name, MOST_VALUES + 1, MOST_VALUES)
            told = about_a_number(name, declared=kind is not None)
            return AttributePlan(name, "numeric", told, self.n_missing), {}
        values, n_rows = list(self.counts), np.array(list(self.counts.values()), np.int64)
        plan, codes = plan_column(self.column.series(values), kind, n_rows)
        groups = plan.kind == "categorical"
        return plan, dict(zip(values, codes.tolist(), strict=True)) if groups else {}

    def planned_target(
        self, kind: str | None, pos_label: Any, *, binary: bool
    ) -> tuple[AttributePlan, dict[Any, int]]:
        """Return what a target is, and the class of each value, -1 where it is unknown."""
        name = self.column.name
        if self.counts is None:
            number = self.numbers and (kind == "numeric" or (kind is None and self.fractions))
            if number and not binary and pos_label is None:
                return AttributePlan(name, "numeric", ""), {}
            raise TableError(
                f"The target '{name}' has more than {MOST_VALUES:,} different values, but it must "
                f"be binary, or classes. Make a column of few values of it; if it is a quantity, "
                f"fair PLS accepts it with target_kinds={{{name!r}: 'numeric'}} (command line: "
                f"--numeric {name})."
            )
        values, n_rows = list(self.counts), np.array(list(self.counts.values()), np.int64)
        plan, codes = plan_target(
            self.column.series(values), kind, pos_label, binary=binary, n_rows=n_rows
        )
        known = plan.known(codes)
        odd = [v for v, there in zip(values, known, strict=True) if not there and _is_value(v)]
        if odd:  # a word for "missing" among numbers; its rows were counted as if it were none
            raise TableError(
                f"The target '{name}' has numbers, and '{odd[0]}'. Leave it empty "
                f"where it is missing."
            )
        groups = plan.kind != "numeric"
        return plan, dict(zip(values, codes.tolist(), strict=True)) if groups else {}


def _levels(array: Any) -> dict[str, int] | None:
    """Return the texts of a batch and their rows, unless they are many or the column has none."""
    types, kind = import_arrow().types, array.type
    coded = types.is_dictionary(kind)
    if not (coded or types.is_string(kind) or types.is_large_string(kind)):
        return None
    start = array.slice(0, LOOK_AT)
    if len(array.dictionary if coded else start.unique()) > MOST_LEVELS_COUNTED:
        return None
    codes, values = distinct(array)
    rows = np.bincount(codes, minlength=len(values)).tolist()
    return {str(v): n for v, n in zip(values, rows, strict=True) if n and v is not None}


def _both(one: dict[str, int] | None, other: dict[str, int] | None) -> dict[str, int] | None:
    if one is None or other is None:
        return None
    total = {key: one.get(key, 0) + other.get(key, 0) for key in {**one, **other}}
    return total if len(total) <= MOST_LEVELS_COUNTED else None


def _is_value(value: Any) -> bool:
    """Whether a value is one, before it is known what the others are."""
    return value is not None and not (isinstance(value, str) and value.strip() == "?")
