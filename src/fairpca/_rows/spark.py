"""Rows of a Spark DataFrame: partitions become moments in Python workers, moments are added there.

Needs Spark 4. Only data frame operations are used, no RDDs, and no rows come to the driver. Spark
rows have no order, so nothing can be paired with them by position: attributes, labels and weights
are columns of the same DataFrame as the features.
"""

from __future__ import annotations

import pickle
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from copy import copy
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from .._attributes import close_names
from .._numerics import limited_threads
from ..errors import MissingExtraError, UsageError, warn_user
from .lazy_rows import Batch, Collect, LazyRows

try:
    import pandas  # noqa: F401  (what pyarrow makes frames with)
    import pyarrow as pa
except ImportError as error:
    raise MissingExtraError(str(error.name), "spark", "A Spark DataFrame") from error
from pyspark import TaskContext
from pyspark.errors import AnalysisException
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql.types import (
    ArrayType,
    BooleanType,
    DataType,
    DecimalType,
    DoubleType,
    FloatType,
    NumericType,
    StructField,
    StructType,
)

SHOWN = 10
"""How many columns a message lists."""

ARROW_TYPES = {
    "boolean": pa.bool_(),
    "byte": pa.int8(),
    "short": pa.int16(),
    "integer": pa.int32(),
    "long": pa.int64(),
    "float": pa.float32(),
    "double": pa.float64(),
}
"""What numbers of Spark are in record batches; everything else is shown as text."""


@dataclass(frozen=True)
class _Roles:
    """The columns of one DataFrame by what they are for; target and weight hold one or none."""

    features: tuple[str, ...]
    sensitive: dict[str, Column]
    target: dict[str, Column]
    weight: dict[str, Column]
    given: dict[str, Column]


def _read_roles(
    X: DataFrame, y: Any, sensitive_features: Any, sample_weight: Any, given: Any
) -> _Roles:
    """Return what the arguments of `fit` name; every other column of `X` is a feature."""
    if not isinstance(X, DataFrame):
        raise TypeError(
            f"X is a {type(X).__module__}.{type(X).__name__}, not a Spark DataFrame. Pass a "
            f"pyspark.sql.DataFrame (of pandas on Spark: X.to_spark())."
        )
    _refuse_repeated(X.columns)
    target = _columns("y", y, X)
    weight = _columns("sample_weight", sample_weight, X)
    sensitive = _columns("sensitive_features", sensitive_features, X)
    factors = _columns("given", given, X)
    for name, columns in (("y", target), ("sample_weight", weight)):
        if len(columns) > 1:
            raise UsageError(f"{name} names {len(columns)} columns. Pass one.")
    # To Spark, F.col("SEX") is the column "sex".
    named = {*target, *weight, *sensitive, *factors}
    folded = {name.casefold() for name in named - set(X.columns)}
    features = tuple(c for c in X.columns if c not in named and c.casefold() not in folded)
    return _Roles(features, sensitive, target, weight, factors)


def _column(name: str) -> Column:
    """Return the column of this name, in which dots and spaces are parts of it."""
    return F.col("`" + name.replace("`", "``") + "`")


def _columns(argument: str, given: Any, X: DataFrame) -> dict[str, Column]:
    """Return the columns that an argument of `fit` stands for, by name."""
    if given is None:
        return {}
    if isinstance(given, DataFrame):
        raise UsageError(
            f"{argument} is a DataFrame of its own, but Spark rows have no order in which they "
            f"could be paired with those of X. Join them by a key, and pass the names of the "
            f"columns: {argument}={given.columns[:3]!r}."
        )
    listed = list(given) if isinstance(given, list | tuple) else [given]
    strange = next((v for v in listed if not isinstance(v, str | Column)), None)
    if strange is not None or not listed:
        held = "" if strange is None else f" with a {type(strange).__name__}"
        raise UsageError(
            f"{argument} is a {type(given).__name__}{held}, but X is a Spark DataFrame, "
            f"whose rows have no order in which others could be paired with them. Pass the name "
            f"of a column of X, an expression of its columns, or a list of these."
        )
    unknown = [v for v in listed if isinstance(v, str) and v not in X.columns]
    if unknown:
        near = [m for u in unknown[:SHOWN] for m in close_names(u, X.columns)]
        raise UsageError(
            f"{argument} names {unknown[:SHOWN]}, but X has the columns {X.columns[:SHOWN]}"
            f"{' ...' if len(X.columns) > SHOWN else ''}."
            f"{f' Did you mean {near}?' if near else ''} Use names of columns of X."
        )
    columns = [_column(v) if isinstance(v, str) else v for v in listed]
    try:
        fields = X.select(*columns).schema
    except AnalysisException as error:
        reason = str(error).strip().splitlines()[0]
        raise UsageError(
            f"{argument} cannot be computed from the columns of X, and the rows of another "
            f"DataFrame cannot be paired with these ({reason}). Join them by a key first."
        ) from None
    _refuse_repeated(fields.names)
    return {
        field.name: _as_numbers(c, field.dataType, widened=False)
        for field, c in zip(fields, columns, strict=True)
    }


def _refuse_words(X: DataFrame, features: Sequence[str]) -> None:
    """Raise unless the features are columns of numbers, or one column of arrays."""
    kinds = {name: X.schema[name].dataType for name in features}
    if len(kinds) == 1 and all(map(_is_vector, kinds.values())):
        return
    numbers = NumericType | BooleanType
    other = {name: kind for name, kind in kinds.items() if not isinstance(kind, numbers)}
    if other:
        told = ", ".join(f"{n!r} ({k.simpleString()})" for n, k in list(other.items())[:SHOWN])
        raise UsageError(
            f"{len(other)} of the {len(kinds)} columns that are left as features are not numbers: "
            f"{told}. Every column that is not named as an attribute, y or sample_weight is a "
            f"feature. Drop these, make numbers of them (a vector of pyspark.ml through "
            f"vector_to_array, as the only feature), or name what they are."
        )
    if not kinds:
        raise UsageError(
            "No column is left as a feature: all have been named as something else. Pass a "
            "DataFrame that has the features too."
        )


def _refuse_repeated(names: Sequence[str]) -> None:
    repeated = [n for n in dict.fromkeys(names) if names.count(n) > 1]
    if repeated:
        raise UsageError(
            f"X has several columns named {repeated[:SHOWN]} (a join leaves both sides'), so "
            f"it is unclear which is meant. Drop or rename them."
        )


def _is_vector(kind: Any) -> bool:
    """Tell whether a Spark type can be all features in one column."""
    return isinstance(kind, ArrayType) and isinstance(kind.elementType, NumericType)


def _as_numbers(column: Column, kind: DataType, *, widened: bool) -> Column:
    """Return decimals as doubles and others as they are; with `widened`, floats as doubles too."""
    number = kind.elementType if isinstance(kind, ArrayType) else kind
    if isinstance(number, DecimalType) or (widened and isinstance(number, FloatType)):
        double = DoubleType()
        return column.cast(ArrayType(double) if isinstance(kind, ArrayType) else double)
    return column


def _empty_table(schema: StructType) -> pa.Table:
    """Return a table without rows, its numbers typed as they will come."""
    return pa.schema([(f.name, _arrow_type(f.dataType)) for f in schema]).empty_table()


def _arrow_type(kind: DataType) -> pa.DataType:
    if isinstance(kind, ArrayType):
        return pa.list_(_arrow_type(kind.elementType))
    return ARROW_TYPES.get(kind.typeName(), pa.string())


ROWS_AT_ONCE, BYTES_AT_ONCE = 2**17, 2**25
"""Record batches are put together up to this size: moments of few rows cost d x d each."""

BATCHES_PER_PARTITION = 2**32
"""Numbers of batches: the partition's number times this, plus the number within the partition."""

FAN_IN = 8
"""How many answers are added up in one place, on the way to a single one."""

SCHEMA = "answer binary"
"""Answers in a DataFrame: one column of pickles, which nobody but these workers writes."""

MOST_BYTES = 2**31 - 2**12
"""What Spark carries in one row."""


class SparkRows(LazyRows):
    """Rows of a Spark DataFrame, with everything that is known of them in its columns.

    Features are columns of numbers, or a single column of arrays of one length; all others are
    named, or are expressions of its columns. The computation is divided as X is: an answer of d x d
    numbers for each partition, added up in a tree where the workers are, which have fairpca
    installed; the driver receives one.
    """

    def __init__(
        self,
        X: Any,
        y: Any = None,
        sensitive_features: Any = None,
        sample_weight: Any = None,
        given: Any = None,
    ) -> None:
        self.frame: DataFrame = X
        self.roles = _read_roles(X, y, sensitive_features, sample_weight, given)
        self.features = self.roles.features
        self._widened = True
        if sensitive_features is not None:
            _refuse_words(X, self.features)

    def for_estimator(
        self, sensitive: Sequence[Any], fitted_to: Sequence[str] | None = None
    ) -> SparkRows:
        """Return the rows with the features that an estimator asks for; see `LazyRows`."""
        seen = copy(self)
        seen.__dict__.pop("_width", None)
        if fitted_to is None:
            columns = self.frame.columns
            seen.features = tuple(c for c in columns if c in self.features or c in sensitive)
            if set(sensitive) <= set(columns):  # else the estimator tells what is unknown
                features = [c for c in seen.features if c not in sensitive]
                _refuse_words(self.frame, features)
                if sensitive and _is_vector(self._type(features[0])):
                    raise UsageError(
                        f"The features are arrays in the column {features[0]!r}, so X as the "
                        f"estimator sees it has no columns named {list(sensitive)}. Leave "
                        f"sensitive_columns out, and pass "
                        f"fit(X, sensitive_features={list(sensitive)})."
                    )
            return seen
        seen._widened = False
        if len(fitted_to):
            seen.features = tuple(c for c in fitted_to if c not in sensitive)
            missing = [c for c in seen.features if c not in self.frame.columns]
            if missing:
                raise UsageError(
                    f"X lacks {len(missing)} of the {len(seen.features)} features that this was "
                    f"fitted to: {missing[:SHOWN]}. Pass a DataFrame that has them."
                )
            _refuse_words(self.frame, seen.features)
        else:  # fitted to rows without names
            arrays = tuple(c for c in self.frame.columns if _is_vector(self._type(c)))
            seen.features = arrays if len(arrays) == 1 else self.features
        return seen

    @property
    def head(self) -> Batch:
        """A batch without rows: it tells the names and types of the columns."""
        return self._layout.batch(_empty_table(self._selected.schema), 0)

    def fold(self, collect: Collect) -> Any:
        """Return the sum of what `collect` returns; a worker's exception is raised as itself."""
        layout = self._layout

        def of_partition(batches: Iterable[Any]) -> Iterator[Any]:
            return _answer_of_partition(batches, collect, layout)

        answers = _map_in_arrow(self._selected, of_partition, SCHEMA).persist()
        try:
            total = _added_up(answers)
        finally:
            answers.unpersist()
        for category, message in total.warned.items():
            warn_user(message, category)
        if total.failure is not None:
            raise total.failure
        return total.total

    def mapped(
        self, transform: Callable[[Any], np.ndarray], names: Sequence[str], dtype: np.dtype
    ) -> DataFrame:
        """Return a lazy DataFrame with the representation in the place of the features."""
        # All other columns stay: rows have no order, so an identifier must remain with its row.
        kept = [c for c in self.frame.columns if c not in self.features]
        made = {name.casefold() for name in names}  # case means nothing to Spark
        taken = [c for c in kept if c.casefold() in made]
        if taken:
            raise UsageError(
                f"X has columns named {taken[:SHOWN]}, as the representation does. Rename or "
                f"drop them first."
            )
        layout = _Layout(self.features, width=self._width)
        columns = [*kept, *names]
        kind = FloatType() if np.dtype(dtype) == np.float32 else DoubleType()
        schema = StructType(
            [*(self.frame.schema[c] for c in kept), *(StructField(n, kind) for n in names)]
        )

        def of_partition(batches: Iterable[Any]) -> Iterator[Any]:
            return _representation_of_partition(batches, transform, layout, columns)

        return _map_in_arrow(self._numbered(map(_column, kept)), of_partition, schema)

    @property
    def _selected(self) -> DataFrame:
        roles = self.roles
        of = (roles.sensitive, roles.target, roles.weight, roles.given)
        others = [column for columns in of for column in columns.values()]
        return self._numbered(others)

    def _numbered(self, others: Iterable[Column]) -> DataFrame:
        """Return columns under new names; their own may repeat, and have dots."""
        columns = [*map(self._feature, self.features), *others]
        return self.frame.select(*(c.alias(f"column{i}") for i, c in enumerate(columns)))

    @property
    def _layout(self) -> _Layout:
        roles = self.roles
        return _Layout(
            self.features,
            tuple(roles.sensitive),
            tuple(roles.target),
            has_weight=bool(roles.weight),
            given=tuple(roles.given),
            width=self._width,
        )

    @cached_property
    def _width(self) -> int | None:
        """Length of the first array, where the features are arrays."""
        if len(self.features) != 1 or not _is_vector(self._type(self.features[0])):
            return None
        arrays = _column(self.features[0])
        first = self.frame.where(arrays.isNotNull()).select(F.size(arrays)).first()
        if first is None:
            raise UsageError(
                f"No row has an array in the column {self.features[0]!r}, so the number of "
                f"features is unknown. Pass rows."
            )
        return int(first[0])

    def _feature(self, name: str) -> Column:
        """Return a column as numbers; for moments they are doubles, exact in any partition."""
        return _as_numbers(_column(name), self._type(name), widened=self._widened)

    def _type(self, name: str) -> DataType:
        return self.frame.schema[name].dataType


@dataclass(frozen=True)
class _Layout:
    """What columns of a record batch are; `width` is that of arrays which hold all features."""

    features: tuple[str, ...]
    sensitive: tuple[str, ...] = ()
    target: tuple[str, ...] = ()
    has_weight: bool = False
    given: tuple[str, ...] = ()
    width: int | None = None

    def batch(self, table: pa.Table, number: int) -> Batch:
        """Return the rows of a table as the arguments of `fit`."""
        d, end = len(self.features), len(self.features) + len(self.sensitive)
        X = _frame(table, 0, self.features) if self.width is None else self._stacked(table)
        sensitive = _frame(table, d, self.sensitive) if self.sensitive else None
        y = _frame(table, end, self.target)[self.target[0]] if self.target else None
        weight = _values(table, end + len(self.target)) if self.has_weight else None
        first = end + len(self.target) + self.has_weight
        given = _frame(table, first, self.given) if self.given else None
        return Batch(X, y, sensitive, weight, number, given)

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
        return values.reshape(len(rows), self.width)


def _frame(table: pa.Table, start: int, names: tuple[str, ...]) -> Any:
    chosen = table.select(list(range(start, start + len(names)))).rename_columns(list(names))
    # Integers with nulls stay integers: as floats, levels would be others than in the next batch.
    return chosen.to_pandas(integer_object_nulls=True)


def _values(table: pa.Table, position: int) -> np.ndarray:
    return _frame(table, position, ("values",))["values"].to_numpy()


def _answer_of_partition(
    batches: Iterable[pa.RecordBatch], collect: Collect, layout: _Layout
) -> Iterator[pa.RecordBatch]:
    """Collect the rows of a partition, a bounded number at once; nothing if it has none."""
    context = TaskContext.get()
    partition = 0 if context is None else context.partitionId()
    answer, told = _Answer(), f"Raised in partition {partition} of the Spark DataFrame."
    for i, table in enumerate(_tables(batches)):
        number = partition * BATCHES_PER_PARTITION + i
        answer += _attempted(lambda: collect(layout.batch(table, number)), number, told)  # noqa: B023
        if answer.failure is not None:
            break
    if answer.total is not None or answer.failure is not None:
        yield _sent(answer)


def _representation_of_partition(
    batches: Iterable[pa.RecordBatch],
    transform: Callable[[Any], np.ndarray],
    layout: _Layout,
    names: list[str],
) -> Iterator[pa.RecordBatch]:
    """Put the representation in the place of the features; what came after them stays."""
    for batch in batches:
        with limited_threads(1):
            T = transform(layout.batch(pa.Table.from_batches([batch]), 0).X)
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


@dataclass(frozen=True)
class _Answer:
    """What partitions have to say; answers add up, and of several failures the first is told."""

    # Exceptions are data here: one that Python workers let out would be tried again, and end as a
    # page of the Java virtual machine.

    total: Any = None
    failure: Exception | None = None
    where: int = 0
    warned: dict[type[Warning], str] = field(default_factory=dict)

    def __add__(self, other: _Answer) -> _Answer:
        warned = other.warned | self.warned
        failed = sorted([a for a in (self, other) if a.failure], key=lambda a: a.where)
        if failed:
            return _Answer(None, failed[0].failure, failed[0].where, warned)
        if self.total is None or other.total is None:
            return _Answer(other.total if self.total is None else self.total, warned=warned)
        summed = _attempted(lambda: self.total + other.total)
        return _Answer(summed.total, summed.failure, self.where, warned | summed.warned)


def _attempted(work: Callable[[], Any], number: int = 0, told: str | None = None) -> _Answer:
    """Return what work returns, or the exception that it raises, as an answer."""
    with limited_threads(1), warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            total, failure = work(), None
        except Exception as error:
            total, failure = None, _that_travels(error)
            if told is not None:
                failure.add_note(told)
    return _Answer(total, failure, number, {w.category: str(w.message) for w in caught})


def _that_travels(error: Exception) -> Exception:
    try:
        return pickle.loads(pickle.dumps(error))
    except Exception:  # its class cannot be made again from its message
        return RuntimeError(f"{type(error).__name__}: {error}")


def _sum_of_answers(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Add up the answers that came to one place, one at a time."""
    answer = None
    for batch in batches:
        for value in batch.column(0):
            other: _Answer = pickle.loads(value.as_buffer())
            answer = other if answer is None else answer + other
    if answer is not None:
        yield _sent(answer)


def _added_up(answers: DataFrame) -> _Answer:
    """Return the sum of a DataFrame of answers, formed where they are, in a tree."""
    n = answers.count()
    while n > 1:
        n = -(-n // FAN_IN)
        answers = _map_in_arrow(answers.repartition(n), _sum_of_answers, SCHEMA)
    rows = answers.collect()
    return pickle.loads(rows[0].answer) if rows else _Answer()


def _map_in_arrow(frame: DataFrame, function: Any, schema: Any) -> DataFrame:
    """Return a lazy DataFrame of what a function makes of the record batches of a partition."""
    with warnings.catch_warnings():
        # Spark warns of versions of pandas, which it does not use for record batches.
        warnings.filterwarnings("ignore", "PySpark does not yet fully support", FutureWarning)
        return frame.mapInArrow(function, schema)


def _sent(answer: _Answer) -> pa.RecordBatch:
    """Return an answer as a record batch of one row."""
    data = pickle.dumps(answer, protocol=5)
    if len(data) > MOST_BYTES:
        too_large = ValueError(
            f"The moments of a partition take {len(data):,} bytes, but Spark carries at most "
            f"{MOST_BYTES:,} in one row. Use fewer features; matched covariances keep a matrix "
            f"for each group, match='means' keeps one in all."
        )
        data = pickle.dumps(_Answer(failure=too_large, where=answer.where), protocol=5)
    return pa.RecordBatch.from_pydict({"answer": [data]})
