"""Some of the rows in one place, wherever all of them are."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from .._attributes import Attribute, Levels, Numeric, sorted_labels
from .._rows import Batch, LazyRows, Rows, Sample
from ..errors import UsageError
from ._finite_moments import check_finite
from ._reader import NO_ROWS, ColumnsOfX, Reader, columns_of

SAMPLE_ROWS, SAMPLE_NUMBERS = 50_000, 2**25
"""A sample that comes to one place has at most so many rows, and numbers."""


def draw_rows(
    reader: Reader, rows: Rows | LazyRows, seed: int, *, fewest: int = 1, most: int | None = None
) -> Rows:
    """Return rows drawn at random, in their order; all of them where these are few.

    They have their weights and attributes, which stand for those of all rows: each row is as likely
    as any other. At least `fewest` are drawn, however long rows are.
    """
    most = SAMPLE_ROWS if most is None else most
    columns = columns_of(rows.head.X if isinstance(rows, LazyRows) else rows.X)
    n = max(fewest, min(most, SAMPLE_NUMBERS // max(1, columns.n)))
    if isinstance(rows, LazyRows):
        drawn: Sample | None = rows.fold(_DrawRows(reader, columns, n, seed))
        if drawn is None:
            raise UsageError(NO_ROWS.format(type(rows).__name__))
        X, weight, told = drawn.rows
        return Rows(X, None if (weight == 1).all() else weight, _attributes(told))
    if rows.n_rows <= n:
        return replace(rows.materialized(), everyone=None)
    chosen = np.sort(np.random.default_rng(seed).permutation(rows.n_rows)[:n])
    weight = None if rows.weight is None else rows.weight[chosen]
    return Rows(rows.take(chosen), weight, tuple(a.take(chosen) for a in rows.attributes))


def joint_groups(rows: Rows) -> np.ndarray:
    """Return a word for the joint group of each row."""
    groups = np.full(rows.n_rows, "", dtype=np.str_)
    for a in rows.attributes:
        if isinstance(a, Levels):  # a row is in one of the strata of an attribute
            words = np.array([*(f"{a.name}={label!r}|" for label in a.labels), ""])
            groups = np.char.add(groups, words[a.codes])
    return groups


@dataclass(frozen=True)
class _DrawRows:
    """Give every row a random key and keep the rows with the smallest: a sample that adds up."""

    reader: Reader
    columns: ColumnsOfX
    n: int
    seed: int

    def __call__(self, batch: Batch) -> Sample | None:
        if batch.n_rows == 0:
            return None
        rows = self.reader.of_batch(batch, self.columns)
        check_finite(rows)  # here it is known where the rows are
        keys = np.random.default_rng([self.seed, batch.number]).random(rows.n_rows)
        weight = rows.weights

        def at(i: np.ndarray) -> tuple[Any, np.ndarray, np.ndarray]:
            return rows.take(i), weight[i], _told(a.take(i) for a in rows.attributes)

        return Sample.of(self.n, keys, batch.number, at)


def _told(attributes: Iterable[Attribute]) -> np.ndarray:
    """Return what is known of each row, (n,) tuples of (name, stratum, whether levels, value).

    Batches need not have the same levels or strata, nor agree on what is a number.
    """
    columns = []
    for a in attributes:
        levels = isinstance(a, Levels)
        if isinstance(a, Levels):
            labels = (*a.labels, None)  # a batch may have none
            values = [labels[c] for c in a.codes]
        else:
            values = a.values.tolist()
        columns.append(
            [
                () if missing else ((a.name, a.stratum, levels, value),)
                for missing, value in zip(a.missing.tolist(), values, strict=True)
            ]
        )
    told = [sum(row, ()) for row in zip(*columns, strict=True)]
    found = np.empty(len(told), dtype=object)
    found[:] = told
    return found


def _attributes(told: np.ndarray) -> tuple[Attribute, ...]:
    """Return the attributes of rows of which this was told."""
    kinds: dict[tuple[str, Any], bool] = {}
    rows_of: dict[tuple[str, Any], dict[int, Any]] = {}
    for i, row in enumerate(told):
        for name, stratum, levels, value in row:
            kinds[name, stratum] = levels and kinds.get((name, stratum), True)
            rows_of.setdefault((name, stratum), {})[i] = value
    found: list[Attribute] = []
    for (name, stratum), levels in kinds.items():
        known = rows_of[name, stratum]
        if not levels:
            values = np.full(len(told), np.nan)
            values[list(known)] = [float(value) for value in known.values()]
            found.append(Numeric(name, values, stratum))
            continue
        labels = sorted_labels(set(known.values()))
        codes, place = np.full(len(told), -1), {label: i for i, label in enumerate(labels)}
        codes[list(known)] = [place[value] for value in known.values()]
        found.append(Levels(name, labels, codes, stratum=stratum))
    return tuple(found)
