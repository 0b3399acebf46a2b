"""Which column of a Spark DataFrame is what, and what columns cannot be.

Spark rows have no order, so nothing can be paired with them by position: attributes, labels and
weights are columns of the same DataFrame as the features.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
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
    StructType,
)
from sklearn.utils.validation import check_is_fitted

from .._attributes import as_columns, close_names
from .._numerics import on_the_host
from ..errors import SparkColumnsError
from .maps import LinearMap

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


def read_roles(X: DataFrame, y: Any, sensitive_features: Any, sample_weight: Any) -> _Roles:
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
    for name, given in (("y", target), ("sample_weight", weight)):
        if len(given) > 1:
            raise SparkColumnsError(f"{name} names {len(given)} columns. Pass one.")
    # To Spark, F.col("SEX") is the column "sex".
    named = {*target, *weight, *sensitive}
    folded = {name.casefold() for name in named - set(X.columns)}
    features = tuple(c for c in X.columns if c not in named and c.casefold() not in folded)
    return _Roles(features, sensitive, target, weight)


def column(name: str) -> Column:
    """Return the column of this name, in which dots and spaces are parts of it."""
    return F.col(_quoted(name))


def _quoted(name: str) -> str:
    return "`" + name.replace("`", "``") + "`"


def _columns(argument: str, given: Any, X: DataFrame) -> dict[str, Column]:
    """Return the columns that an argument of `fit` stands for, by name."""
    if given is None:
        return {}
    if isinstance(given, DataFrame):
        raise SparkColumnsError(
            f"{argument} is a DataFrame of its own, but Spark rows have no order in which they "
            f"could be paired with those of X. Join them by a key, and pass the names of the "
            f"columns: {argument}={given.columns[:3]!r}."
        )
    listed = list(given) if isinstance(given, list | tuple) else [given]
    strange = next((v for v in listed if not isinstance(v, str | Column)), None)
    if strange is not None or not listed:
        held = "" if strange is None else f" with a {type(strange).__name__}"
        raise SparkColumnsError(
            f"{argument} is a {type(given).__name__}{held}, but X is a Spark DataFrame, "
            f"whose rows have no order in which others could be paired with them. Pass the name "
            f"of a column of X, an expression of its columns, or a list of these."
        )
    unknown = [v for v in listed if isinstance(v, str) and v not in X.columns]
    if unknown:
        near = [m for u in unknown[:SHOWN] for m in close_names(u, X.columns)]
        raise SparkColumnsError(
            f"{argument} names {unknown[:SHOWN]}, but X has the columns {X.columns[:SHOWN]}"
            f"{' ...' if len(X.columns) > SHOWN else ''}."
            f"{f' Did you mean {near}?' if near else ''} Use names of columns of X."
        )
    columns = [column(v) if isinstance(v, str) else v for v in listed]
    try:
        fields = X.select(*columns).schema
    except AnalysisException as error:
        reason = str(error).strip().splitlines()[0]
        raise SparkColumnsError(
            f"{argument} cannot be computed from the columns of X, and the rows of another "
            f"DataFrame cannot be paired with these ({reason}). Join them by a key first."
        ) from None
    _refuse_repeated(fields.names)
    return {
        field.name: as_numbers(c, field.dataType, widened=False)
        for field, c in zip(fields, columns, strict=True)
    }


def refuse_words(X: DataFrame, features: Sequence[str]) -> None:
    """Raise unless the features are columns of numbers, or one column of arrays."""
    kinds = {name: X.schema[name].dataType for name in features}
    if len(kinds) == 1 and all(map(is_vector, kinds.values())):
        return
    numbers = NumericType | BooleanType
    other = {name: kind for name, kind in kinds.items() if not isinstance(kind, numbers)}
    if other:
        told = ", ".join(f"{n!r} ({k.simpleString()})" for n, k in list(other.items())[:SHOWN])
        raise SparkColumnsError(
            f"{len(other)} of the {len(kinds)} columns that are left as features are not numbers: "
            f"{told}. Every column that is not named as an attribute, y or sample_weight is a "
            f"feature. Drop these, make numbers of them (a vector of pyspark.ml through "
            f"vector_to_array, as the only feature), or name what they are."
        )
    if not kinds:
        raise SparkColumnsError(
            "No column is left as a feature: all have been named as something else. Pass a "
            "DataFrame that has the features too."
        )


def _refuse_repeated(names: Sequence[str]) -> None:
    repeated = [n for n in dict.fromkeys(names) if names.count(n) > 1]
    if repeated:
        raise SparkColumnsError(
            f"X has several columns named {repeated[:SHOWN]} (a join leaves both sides'), so "
            f"it is unclear which is meant. Drop or rename them."
        )


def is_vector(kind: Any) -> bool:
    """Tell whether a Spark type can be all features in one column."""
    return isinstance(kind, ArrayType) and isinstance(kind.elementType, NumericType)


def as_numbers(column: Column, kind: DataType, *, widened: bool) -> Column:
    """Return decimals as doubles and others as they are; with `widened`, floats as doubles too."""
    number = kind.elementType if isinstance(kind, ArrayType) else kind
    if isinstance(number, DecimalType) or (widened and isinstance(number, FloatType)):
        double = DoubleType()
        return column.cast(ArrayType(double) if isinstance(kind, ArrayType) else double)
    return column


def empty_table(schema: StructType) -> pa.Table:
    """Return a table without rows, its numbers typed as they will come."""
    return pa.schema([(f.name, _arrow_type(f.dataType)) for f in schema]).empty_table()


def _arrow_type(kind: DataType) -> pa.DataType:
    if isinstance(kind, ArrayType):
        return pa.list_(_arrow_type(kind.elementType))
    return ARROW_TYPES.get(kind.typeName(), pa.string())


def representation_columns(estimator: Any, columns: Sequence[str] | None = None) -> list[Column]:
    """Return a linear representation as expressions: ``frame.select("id", *...)``, in doubles.

    `columns` hold the features, by default those with the names seen at `fit`. Where a feature is
    null, so is the representation (`transform` refuses such rows).
    """
    check_is_fitted(estimator)
    estimator._ensure_solved()
    fair = estimator._map
    if not isinstance(fair, LinearMap):
        raise SparkColumnsError(
            f"{type(estimator).__name__} is not a linear map, so it cannot be written as sums of "
            f"columns. Use transform, which works in Python workers."
        )
    fair = fair.converted(on_the_host)
    d = int(fair.matrix.shape[0])
    if columns is None:
        named = estimator.sensitive_columns
        sensitive = as_columns(named)
        columns = [c for c in getattr(estimator, "feature_names_in_", ()) if c not in sensitive]
    if len(columns) != d:
        raise SparkColumnsError(
            f"The representation is made of {d} features, but {len(columns)} columns are named. "
            f"Pass columns=[...] with the {d} names, in the order of the features at fit."
        )
    matrix = np.asarray(fair.matrix, float)
    if fair.scale is not None:
        matrix = matrix / np.asarray(fair.scale, float)[:, None]
    mean = np.asarray(fair.mean, float)
    centred = [
        f"(CAST({_quoted(str(name))} AS DOUBLE) - {_number(m)})"
        for name, m in zip(columns, mean, strict=True)
    ]
    offset = np.zeros(matrix.shape[1]) if fair.offset is None else np.asarray(fair.offset, float)
    sums = [
        _sum([_number(b), *(f"{c} * {_number(w)}" for c, w in zip(centred, weights, strict=True))])
        for b, weights in zip(offset, matrix.T, strict=True)
    ]
    made = estimator.get_feature_names_out()
    return [F.expr(s).alias(str(name)) for s, name in zip(sums, made, strict=True)]


def _number(value: float) -> str:
    """Return a double as Spark's SQL reads it, to the last bit."""
    return f"({float(value)!r}D)"


def _sum(terms: list[str]) -> str:
    """Return a sum as a tree: one as deep as it is long would be too deep for Spark's planner."""
    if len(terms) == 1:
        return terms[0]
    half = len(terms) // 2
    return f"({_sum(terms[:half])} + {_sum(terms[half:])})"
