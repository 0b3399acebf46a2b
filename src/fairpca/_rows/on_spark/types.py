"""Which types of Spark are numbers, and what they are in record batches."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
from pyspark.sql import Column
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


def is_number(kind: Any) -> bool:
    """Tell whether a Spark type can be one feature."""
    return isinstance(kind, NumericType | BooleanType)


def is_vector(kind: Any) -> bool:
    """Tell whether a Spark type can be all features in one column.

    Examples
    --------
    >>> from pyspark.sql.types import ArrayType, DoubleType, StringType
    >>> is_vector(ArrayType(DoubleType())), is_vector(ArrayType(StringType()))
    (True, False)
    """
    return isinstance(kind, ArrayType) and isinstance(kind.elementType, NumericType)


def as_numbers(column: Column, kind: DataType, *, widened: bool) -> Column:
    """Return decimals as doubles and others as they are; with `widened`, floats as doubles too."""
    number = kind.elementType if isinstance(kind, ArrayType) else kind
    if isinstance(number, DecimalType) or (widened and isinstance(number, FloatType)):
        double = DoubleType()
        return column.cast(ArrayType(double) if isinstance(kind, ArrayType) else double)
    return column


def empty_table(schema: StructType) -> pa.Table:
    """Return a table without rows, its numbers typed as they will come.

    Examples
    --------
    >>> from pyspark.sql.types import StructType
    >>> empty_table(StructType().add("age", "float").add("born", "date")).schema.types
    [DataType(float), DataType(string)]
    """
    return pa.schema([(f.name, _arrow_type(f.dataType)) for f in schema]).empty_table()


def _arrow_type(kind: DataType) -> pa.DataType:
    if isinstance(kind, ArrayType):
        return pa.list_(_arrow_type(kind.elementType))
    return ARROW_TYPES.get(kind.typeName(), pa.string())
