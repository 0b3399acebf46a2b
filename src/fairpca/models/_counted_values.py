"""Values of a column counted over all rows, part by part, in bounded memory."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..errors import AuditError, TargetError
from ..table_fits import RawColumn
from ..tables import (
    AttributePlan,
    QuantityPlan,
    as_text,
    binary_target,
    cut_in_two,
    import_arrow,
    is_known,
    is_quantity,
    plan_levels,
    refuse_dates,
)

MOST_VALUES = 100_000
"""Of more distinct values than this, numbers are no longer counted, and texts are refused."""


def is_value(value: Any) -> bool:
    """Whether a value is one, before it is known what the others are."""
    return value is not None and value != "?"


@dataclass(frozen=True)
class CountedValues:
    """How many rows have each value; adds.

    Parameters
    ----------
    column : RawColumn
        What was counted.
    counts : dict or None
        Rows of each value, None standing for the missing; None if the values are numbers, and
        too many to be counted.
    """

    column: RawColumn
    counts: Mapping[Any, int] | None

    @classmethod
    def of(cls, column: RawColumn, array: Any) -> CountedValues:
        """Count the values of an Arrow array."""
        codes, values = column.values(array)
        counts: Counter[Any] = Counter()
        for value, n in zip(values, np.bincount(codes, minlength=len(values)), strict=True):
            if n:
                counts[value] += int(n)
        return cls(column, counts)._bounded()

    def __add__(self, other: CountedValues) -> CountedValues:
        if self.counts is None or other.counts is None:
            for counts in (self.counts, other.counts):
                self._check_numbers(counts)
            return CountedValues(self.column, None)
        return CountedValues(self.column, Counter(self.counts) + Counter(other.counts))._bounded()

    def _bounded(self) -> CountedValues:
        if self.counts is None or len(self.counts) <= MOST_VALUES:
            return self
        self._check_numbers(self.counts)
        return CountedValues(self.column, None)

    def _check_numbers(self, counts: Mapping[Any, int] | None) -> None:
        if counts is not None and not self.column.are_numbers(list(counts)):
            known = [value for value in counts if value is not None]
            shown = next((v for v in known if not self.column.are_numbers([v])), known[0])
            raise AuditError(
                f"The column '{self.column.name}' has more than {MOST_VALUES:,} different values, "
                f"and not all are numbers (such as '{shown}'), so they cannot be counted in "
                f"bounded memory. Name another column, or one with fewer values."
            )

    def planned(self) -> tuple[AttributePlan, dict[Any, int]]:
        """Return the groups, and the group of each value, -1 where it has none."""
        name = self.column.name
        types = import_arrow().types
        if self.column.type is not None and types.is_temporal(self.column.type):
            refuse_dates(name)
        if self.counts is None:
            return QuantityPlan(name), {}
        values, rows = list(self.counts), np.array(list(self.counts.values()), dtype=int)
        series = self.column.series(values)
        if is_quantity(series):
            numbers = series.to_numpy(dtype=float, na_value=np.nan)
            finite = np.isfinite(numbers)
            found, place = np.unique(numbers[finite], return_inverse=True)
            cut_in_two(name, found, np.bincount(place, rows[finite]).astype(int))
            return QuantityPlan(name), {}
        known = is_known(series)
        texts = series.astype(object).where(known).map(as_text, na_action="ignore").tolist()
        counts: Counter[str] = Counter()
        for text, n, there in zip(texts, rows, known, strict=True):
            if there:
                counts[text] += int(n)
        plan = plan_levels(name, counts, int(rows[~known].sum()))
        codes = [plan.position.get(t, -1) if k else -1 for t, k in zip(texts, known, strict=True)]
        return plan, dict(zip(values, codes, strict=True))

    def outcomes(self, positive: Any) -> dict[Any, int]:
        """Return 1 for values of a target that count as positive, 0 for others, -1 for unknown."""
        if self.counts is None:
            raise TargetError(
                f"The target '{self.column.name}' has more than {MOST_VALUES:,} different values, "
                f"but it must be a yes or no. Make a column of two values of it."
            )
        values = list(self.counts)
        is_positive, known, _ = binary_target(self.column.series(values), positive)
        outcome = np.where(known, is_positive.astype(int), -1)
        odd = [v for v, there in zip(values, known, strict=True) if not there and is_value(v)]
        if odd:  # a word for "missing" among numbers; its rows were counted as if it were none
            raise TargetError(
                f"The target '{self.column.name}' has numbers, and '{odd[0]}'. Leave it empty "
                f"where it is missing."
            )
        return dict(zip(values, outcome.tolist(), strict=True))
