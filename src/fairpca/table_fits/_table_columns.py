"""The columns that all files of a table have, and how their values come from the files."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from .._attributes import closest
from ..errors import TableError
from ..tables import (
    MISSING,
    arrow_to_pandas,
    distinct,
    floats,
    import_arrow,
    simple,
    typed,
    with_points,
)

if TYPE_CHECKING:
    from pandas import Series

    from ._table_files import TableFile


NULLS = frozenset(MISSING)


@dataclass(frozen=True)
class RawColumn:
    """How the values of a column come from the files.

    Parameters
    ----------
    name : str
        The column.
    type : pyarrow.DataType or None
        Of a binary file; None for texts whose type is found out when all are known.
    decimal : str
        The decimal sign of texts.
    """

    name: str
    type: Any = None
    decimal: str = "."

    def values(self, array: Any) -> tuple[np.ndarray, list[Any]]:
        """Return which values a part has, and which of them each row has; None is missing."""
        codes, values = distinct(array)
        if self.type is None:
            values = [_text(value) for value in values]
        return codes, [None if value != value else value for value in values]

    def are_numbers(self, values: list[Any]) -> bool:
        """Whether the values are numbers, as the table in memory would have them."""
        return bool(self.series(values).dtype.kind in "iuf")

    def numbers(self, array: Any) -> np.ndarray:
        """Return the rows as floats, NaN where there is no finite number."""
        if self.type is None and not import_arrow().types.is_dictionary(array.type):
            array = with_points(array, self.decimal)
        numbers = floats(array, self.name)
        return np.where(np.isfinite(numbers), numbers, np.nan)

    def series(self, values: list[Any]) -> Series:
        """Return distinct values with the type that the column would have in memory."""
        arrow = import_arrow()
        if self.type is None:
            array = typed(arrow.chunked_array([arrow.array(values, arrow.string())]), self.decimal)
        else:
            category = arrow.types.is_dictionary(self.type)
            array = arrow.array(values, self.type.value_type if category else self.type)
            if category:  # never a quantity
                return arrow_to_pandas(arrow.table({self.name: array}))[self.name].astype(object)
        return arrow_to_pandas(arrow.table({self.name: array}))[self.name]


def _text(value: str | None) -> str | None:
    text = None if value is None else value.strip()
    return None if text in NULLS else text


def check_same_columns(first: TableFile, other: TableFile) -> None:
    """Raise unless another file has the columns of the first, of types that go together."""
    lacking = [name for name in first.names if name not in other.names]
    extra = [name for name in other.names if name not in first.names]
    if lacking:
        near = closest(lacking[0], other.names)
        meant = f" (it has '{near}')" if near and near in extra else ""
        raise TableError(
            f"'{other.path}' lacks the column '{lacking[0]}'{meant}, which '{first.path}' has. "
            f"All files of a table must have the same columns."
        )
    if extra:
        raise TableError(
            f"'{other.path}' has a column '{extra[0]}', which '{first.path}' does not have. All "
            f"files of a table must have the same columns."
        )
    for name, kind in other.types.items():
        families = {_family(first.types[name]), _family(kind)} - {"nothing"}
        if len(families) > 1:
            raise TableError(
                f"The column '{name}' is of the type {kind} in '{other.path}', but of the type "
                f"{first.types[name]} in '{first.path}'. Write both alike."
            )


def _family(kind: Any) -> str:
    types = import_arrow().types
    if types.is_null(kind):
        return "nothing"
    if types.is_dictionary(kind):
        return _family(kind.value_type)
    if types.is_integer(kind) or types.is_floating(kind) or types.is_decimal(kind):
        return "number"
    if types.is_string(kind) or types.is_large_string(kind) or str(kind) == "string_view":
        return "text"
    if types.is_timestamp(kind):
        return "time" if kind.tz is None else "time in a zone"
    return str(kind)


def raw_columns(files: Sequence[TableFile]) -> tuple[RawColumn, ...]:
    """Return how the columns come from the files."""
    first = files[0]
    if first.kind != "text":
        arrow = import_arrow()
        common = {name: _common([file.types[name] for file in files]) for name in first.names}
        # What is neither a number nor a date nor a text is read as one.
        return tuple(
            RawColumn(name, simple(arrow.array([], kind)).type) for name, kind in common.items()
        )
    commas = {
        name
        for file in files
        if file.dialect is not None
        for name, decimal in zip(file.names, file.dialect.decimals, strict=True)
        if decimal == ","
    }
    return tuple(RawColumn(name, None, "," if name in commas else ".") for name in first.names)


def _common(kinds: Sequence[Any]) -> Any:
    arrow = import_arrow()
    schemas = [arrow.schema([("a", kind)]) for kind in dict.fromkeys(kinds)]
    if len(schemas) == 1:
        return kinds[0]
    plain = [arrow.schema([("a", _decoded(s.field(0).type))]) for s in schemas]
    return arrow.unify_schemas(plain, promote_options="permissive").field(0).type


def _decoded(kind: Any) -> Any:
    return kind.value_type if import_arrow().types.is_dictionary(kind) else kind
