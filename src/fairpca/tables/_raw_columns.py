"""How the values of columns come from files, before it is known what all of them are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ._adapters import import_arrow
from ._files import TableFile
from ._frozen_columns import floats
from ._table import arrow_to_pandas, distinct, simple
from ._text import TextTable
from ._text_values import MISSING, cleaned, typed, with_points

if TYPE_CHECKING:
    from pandas import Series


@dataclass(frozen=True)
class RawColumn:
    """How the values of a column come from the files: of an Arrow type, or texts (None)."""

    name: str
    type: Any = None
    decimal: str = "."

    def values(self, array: Any) -> tuple[np.ndarray, list[Any]]:
        """Return which values a part has, and which of them each row has; None is missing."""
        codes, values = distinct(array)
        if self.type is None:
            values = [cleaned(value, MISSING) for value in values]
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
    texts = [file for file in files if isinstance(file, TextTable)]
    commas = {name for file in texts for name, sign in file.decimals.items() if sign == ","}
    return tuple(RawColumn(name, None, "," if name in commas else ".") for name in first.names)


def _common(kinds: Sequence[Any]) -> Any:
    arrow = import_arrow()
    if len(set(kinds)) == 1:
        return kinds[0]
    plain = (k.value_type if arrow.types.is_dictionary(k) else k for k in dict.fromkeys(kinds))
    schemas = [arrow.schema([("a", kind)]) for kind in plain]
    return arrow.unify_schemas(schemas, promote_options="permissive").field(0).type
