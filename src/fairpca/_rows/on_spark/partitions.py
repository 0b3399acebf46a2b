"""What the Python workers of Spark do with record batches: one answer per partition."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from pyspark import TaskContext

from ..._numerics import limited_threads
from ...errors import UsageError
from ..elsewhere import Collect, Part
from .answers import Answer, attempted, sent

ROWS_AT_ONCE, BYTES_AT_ONCE = 2**17, 2**25
"""Record batches are put together up to this size: moments of few rows cost d x d each."""

BATCHES_PER_PARTITION = 2**32
"""Numbers of parts: the partition's number times this, plus the number within the partition."""


@dataclass(frozen=True)
class Layout:
    """What the columns of a record batch are, in their order.

    Parameters
    ----------
    features, sensitive : tuple of str
        Names of the first columns, and of those that follow.
    has_target, has_weight : bool
        Whether labels, and then weights, come last.
    width : int, optional
        The number of features where the first column holds all of them, as arrays.
    """

    features: tuple[str, ...]
    sensitive: tuple[str, ...] = ()
    has_target: bool = False
    has_weight: bool = False
    width: int | None = None

    def part(self, table: pa.Table, number: int) -> Part:
        """Return the rows of a table as the arguments of `fit`."""
        d, end = len(self.features), len(self.features) + len(self.sensitive)
        X = _frame(table, 0, self.features) if self.width is None else self._stacked(table)
        sensitive = _frame(table, d, self.sensitive) if self.sensitive else None
        y = _values(table, end) if self.has_target else None
        weight = _values(table, end + self.has_target) if self.has_weight else None
        return Part(X, y, sensitive, weight, number)

    def _stacked(self, table: pa.Table) -> np.ndarray:
        """Return arrays of equal length as the rows of one array."""
        rows, name = table.column(0).combine_chunks(), self.features[0]
        lengths = rows.value_lengths()
        if rows.null_count or lengths.unique().to_pylist() not in ([self.width], []):
            raise UsageError(
                f"The arrays in the column {name!r} have {rows.null_count} nulls and the lengths "
                f"{sorted(lengths.drop_null().unique().to_pylist())[:5]}, but the first one has "
                f"{self.width}. Pass arrays of one length."
            )
        values = rows.flatten().to_numpy(zero_copy_only=False)
        stacked: np.ndarray = values.reshape(len(rows), self.width)
        return stacked


def _frame(table: pa.Table, start: int, names: tuple[str, ...]) -> Any:
    chosen = table.select(list(range(start, start + len(names)))).rename_columns(list(names))
    # Integers with nulls stay integers: as floats, levels would be others than in the next part.
    return chosen.to_pandas(integer_object_nulls=True)


def _values(table: pa.Table, position: int) -> np.ndarray:
    values: np.ndarray = _frame(table, position, ("values",))["values"].to_numpy()
    return values


def answer_of_partition(
    batches: Iterable[pa.RecordBatch], collect: Collect, layout: Layout
) -> Iterator[pa.RecordBatch]:
    """Collect the rows of a partition, a bounded number at once; nothing if it has none."""
    context = TaskContext.get()
    partition = 0 if context is None else context.partitionId()
    answer, told = Answer(), f"Raised in partition {partition} of the Spark DataFrame."
    for i, table in enumerate(_tables(batches)):
        number = partition * BATCHES_PER_PARTITION + i
        answer += attempted(lambda: collect(layout.part(table, number)), number, told)  # noqa: B023
        if answer.failure is not None:
            break
    if answer.total is not None or answer.failure is not None:
        yield sent(answer)


def representation_of_partition(
    batches: Iterable[pa.RecordBatch],
    transform: Callable[[Any], np.ndarray],
    layout: Layout,
    names: list[str],
) -> Iterator[pa.RecordBatch]:
    """Put the representation in the place of the features; what came after them stays."""
    for batch in batches:
        with limited_threads(1):
            T = transform(layout.part(pa.Table.from_batches([batch]), 0).X)
        kept = batch.columns[len(layout.features) :]
        made = [pa.array(np.ascontiguousarray(T[:, j])) for j in range(T.shape[1])]
        yield pa.RecordBatch.from_arrays([*kept, *made], names=names)


def _tables(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.Table]:
    """Put record batches together until they are worth a product of matrices."""
    waiting: list[pa.RecordBatch] = []
    rows = size = 0
    for batch in batches:
        waiting.append(batch)
        rows, size = rows + batch.num_rows, size + batch.nbytes
        if rows >= ROWS_AT_ONCE or size >= BYTES_AT_ONCE:
            yield pa.Table.from_batches(waiting)
            waiting, rows, size = [], 0, 0
    if rows:
        yield pa.Table.from_batches(waiting)
