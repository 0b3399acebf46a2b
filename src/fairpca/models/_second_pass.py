"""The second pass over a table on disk: its rows as numbers, with groups and outcomes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from .._numerics import fingerprint_of
from .._rows import Collect, Part, RowsElsewhere
from ..errors import TableError
from ..tables import (
    AttributePlan,
    LevelPlan,
    NumberColumn,
    RawColumn,
    TableEncoder,
    simple,
    with_points,
)


@dataclass(frozen=True)
class PlannedColumn:
    """A sensitive column, its groups, and the group of each value, -1 where it has none."""

    column: RawColumn
    plan: AttributePlan
    code_of: Mapping[Any, int]

    def fitted(self, array: Any) -> np.ndarray:
        """Return the groups of rows, None where unknown; or their numbers, NaN where unknown."""
        if isinstance(self.plan, LevelPlan):
            return self.plan.fitted(_looked_up(self.column, self.code_of, array))
        return self.column.numbers(array)


def _looked_up(column: RawColumn, code_of: Mapping[Any, int], array: Any) -> np.ndarray:
    """Return the code of each row, by its value."""
    codes, values = column.values(array)
    used = set(np.unique(codes).tolist())
    unseen = [v for i, v in enumerate(values) if i in used and v is not None and v not in code_of]
    if unseen:
        raise TableError(
            f"The column '{column.name}' has '{unseen[0]}' here, which was not there when the "
            f"values were counted. The files were changed meanwhile: start again."
        )
    of_rows: np.ndarray = np.array([code_of.get(value, -1) for value in values])[codes]
    return of_rows


@dataclass(frozen=True)
class EncodeThen:
    """From a part as it is read to what `collect` makes of it as numbers.

    Of the target, where one is needed, `outcome_of` has 1 for positive values, 0 for others and -1
    for those that are unknown. In columns of `commas`, numbers have a decimal comma.
    """

    encoder: TableEncoder
    attributes: tuple[PlannedColumn, ...]
    target: RawColumn | None
    outcome_of: Mapping[Any, int]
    commas: frozenset[str]
    collect: Collect

    def __call__(self, part: Part) -> Any:
        """Return what `collect` returns; None if no row counts."""
        encoded = self.encoded(part)
        return self.collect(encoded) if encoded.n_rows else None

    def encoded(self, part: Part) -> Part:
        """Return the rows that count as numbers."""
        raw = {name: simple(part.X.column(name)) for name in part.X.schema.names}
        y = None
        if self.target is not None:
            y = _looked_up(self.target, self.outcome_of, raw[self.target.name])
            if (y < 0).any():
                kept = np.flatnonzero(y >= 0)
                raw, y = {name: array.take(kept) for name, array in raw.items()}, y[kept]
        columns = {a.plan.name: a.fitted(raw[a.plan.name]) for a in self.attributes}
        for encoder in self.encoder.encoders_:
            if encoder.name in self.commas and isinstance(encoder, NumberColumn):
                raw[encoder.name] = with_points(raw[encoder.name], ",")
        return Part(self.encoder.encode(raw), y, columns, None, part.number)

    @property
    def fingerprint(self) -> str | None:
        """Tells whether moments collected by another process belong to the same question.

        None if `collect` collects none.
        """
        question = getattr(self.collect, "fingerprint", None)
        if question is None:
            return None
        columns = [(a.plan, a.column.decimal, a.code_of) for a in self.attributes]
        target = None if self.target is None else self.target.name
        return fingerprint_of(
            (self.encoder.to_plain(), columns, target, self.outcome_of, self.commas, question)
        )


@dataclass(frozen=True, eq=False)
class EncodedRows(RowsElsewhere):
    """Rows of files, whose parts are Arrow tables, as numbers: read again when asked for."""

    source: RowsElsewhere
    encoder: TableEncoder
    attributes: tuple[PlannedColumn, ...]
    target: RawColumn | None
    outcome_of: Mapping[Any, int]
    commas: frozenset[str] = frozenset()

    @property
    def head(self) -> Part:
        """Numbers without names, as encoded rows are in memory."""
        nothing = {
            a.plan.name: np.empty(0, dtype=object if isinstance(a.plan, LevelPlan) else float)
            for a in self.attributes
        }
        y = None if self.target is None else np.empty(0, dtype=int)
        return Part(np.empty((0, len(self.encoder.mean_))), y, nothing)

    def fold(self, collect: Collect) -> Any:
        """Return the sum over the encoded parts."""
        return self.source.fold(self.encoding(collect))

    def encoding(self, collect: Collect) -> EncodeThen:
        """Return what is done where each part is read."""
        return EncodeThen(
            self.encoder, self.attributes, self.target, self.outcome_of, self.commas, collect
        )
