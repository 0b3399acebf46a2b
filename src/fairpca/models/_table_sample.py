"""The first pass over a table on disk: a random sample of its rows, and its values counted."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from .._rows import Part
from ..table_fits import Drawn, LargestKey, RawColumn, taken
from ..tables import LevelColumn, TableEncoder, distinct, import_arrow, simple
from ._counted_values import CountedValues, is_value

SAMPLE_ROWS = 200_000
"""What the columns of a table are is learned from this many rows: few enough for any memory, and
the probability to miss a level of one row in ten thousand is e**-20."""

MOST_LEVELS_COUNTED = 5_000
"""Texts with more different values are encoded by their letters, so none of them is unknown."""

LOOK_AT = 8_192
"""Rows of a part that show whether a column has many values."""


@dataclass(frozen=True)
class LookAtRows:
    """From a part of a table to what must be known before its rows can be encoded.

    Parameters
    ----------
    columns : tuple of RawColumn
        All columns that are read, in their order.
    sensitive : tuple of str
        Those whose values are counted exactly.
    target : str or None
        The column without which a row does not count; its values are counted, too.
    n : int
        Rows in the sample, at most.
    largest_key : LargestKey
        Rows with a larger random key are not in the sample.
    seed : int
    """

    columns: tuple[RawColumn, ...]
    sensitive: tuple[str, ...]
    target: str | None
    n: int
    largest_key: LargestKey
    seed: int

    def __call__(self, part: Part) -> RowsSeen | None:
        """Look at a part, whose features are an Arrow table of all columns as they are read."""
        arrays = {c.name: simple(part.X.column(c.name)) for c in self.columns}
        n_read = part.n_rows
        outcomes = None
        keys = np.random.default_rng([self.seed, part.number]).random(n_read)
        if self.target is not None:
            column = next(c for c in self.columns if c.name == self.target)
            outcomes = CountedValues.of(column, arrays[self.target])
            known = known_rows(column, arrays[self.target])
            if not known.all():
                kept = np.flatnonzero(known)
                arrays = {name: taken(array, kept) for name, array in arrays.items()}
                keys = keys[kept]
        counts = {
            c.name: CountedValues.of(c, arrays[c.name])
            for c in self.columns
            if c.name in self.sensitive
        }
        levels = {
            c.name: _levels(arrays[c.name])
            for c in self.columns
            if c.name not in counts and c.name != self.target
        }
        chosen = np.flatnonzero(keys <= self.largest_key.value)
        if len(chosen) > self.n:
            chosen = np.sort(chosen[np.argsort(keys[chosen], kind="stable")[: self.n]])
        drawn = {name: _plain(taken(array, chosen)) for name, array in arrays.items()}
        table = import_arrow().table(drawn)
        places = np.stack([np.full(len(chosen), part.number), chosen])
        sample = Drawn(self.n, self.largest_key, ((keys[chosen], places, table),))
        return RowsSeen(n_read, len(keys), sample, counts, levels, outcomes)


def known_rows(column: RawColumn, array: Any) -> np.ndarray:
    """Return which rows of a target have a value."""
    codes, values = column.values(array)
    known: np.ndarray = np.array([is_value(value) for value in values])[codes]
    return known


@dataclass(frozen=True)
class RowsSeen:
    """What is known of the parts seen so far; adds.

    Parameters
    ----------
    n_read, n_rows : int
        Rows in the files, and rows that count: those with a known target, where one is needed.
    sample : Drawn
        Some of the rows that count.
    counts : dict of CountedValues
        Of the sensitive columns.
    levels : dict of dict or None
        Rows of each text of the other columns; None where they are many, or no texts.
    outcomes : CountedValues or None
        Of the target.
    """

    n_read: int
    n_rows: int
    sample: Drawn
    counts: dict[str, CountedValues]
    levels: dict[str, dict[str, int] | None]
    outcomes: CountedValues | None

    def __add__(self, other: RowsSeen) -> RowsSeen:
        outcomes = self.outcomes
        if outcomes is not None and other.outcomes is not None:
            outcomes = outcomes + other.outcomes
        return RowsSeen(
            self.n_read + other.n_read,
            self.n_rows + other.n_rows,
            self.sample + other.sample,
            {name: counts + other.counts[name] for name, counts in self.counts.items()},
            {name: _both(counts, other.levels[name]) for name, counts in self.levels.items()},
            outcomes,
        )


def unknown_levels(seen: RowsSeen, encoder: TableEncoder) -> dict[str, int]:
    """Return how many rows have a level that was not in the sample, by column."""
    found = {}
    for column in encoder.encoders_:
        levels = seen.levels.get(column.name)
        if levels and isinstance(column, LevelColumn):
            texts = import_arrow().array(list(levels), import_arrow().string())
            unseen = column.codes(texts) > len(column.levels)
            found[column.name] = sum(
                n for n, new in zip(levels.values(), unseen, strict=True) if new
            )
    for about in encoder.columns_:
        if about.n_outputs == 0:  # one level in the sample, or none
            others = sorted((seen.levels.get(about.name) or {}).values())[:-1]
            found[about.name] = sum(others)
    return {name: rows for name, rows in found.items() if rows}


def _levels(array: Any) -> dict[str, int] | None:
    """Return the texts of a part and their rows, unless they are many or the column has none."""
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


def _plain(array: Any) -> Any:
    return array.dictionary_decode() if hasattr(array, "dictionary_decode") else array
