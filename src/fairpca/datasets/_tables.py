"""Tables with two kinds of columns: floats and categories. The only file that imports pandas."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import MissingExtraError

if TYPE_CHECKING:
    from pandas import DataFrame, Series


def import_pandas() -> Any:
    """Return the module, or say which extra installs it."""
    try:
        import pandas
    except ImportError as error:
        raise MissingExtraError("pandas", "data", "A data set") from error
    return pandas


def read_csv(path: Path, **options: Any) -> DataFrame:
    """Read a file in which nothing but an empty field is missing.

    pandas would take texts such as "N/A" and "None" for missing values, too; here they are levels.
    """
    return import_pandas().read_csv(path, keep_default_na=False, na_values=[""], **options)


def frame(columns: dict[str, Any], index: Any) -> DataFrame:
    """Return a table of the given columns."""
    return import_pandas().DataFrame(columns, index=index)


def frame_of(array: np.ndarray, names: list[str]) -> DataFrame:
    """Return a table that shares the memory of a 2-d array."""
    return import_pandas().DataFrame(array, columns=names, copy=False)


def categories(values: Any, index: Any, levels: list[str] | None = None) -> Series:
    """Return a categorical column; without `levels`, those that occur, sorted."""
    pandas = import_pandas()
    return pandas.Series(pandas.Categorical(values, categories=levels), index=index)


def is_numeric(column: Series) -> bool:
    """Whether a column holds numbers (or booleans), not levels."""
    return bool(import_pandas().api.types.is_numeric_dtype(column.dtype))


def as_floats_and_categories(table: DataFrame) -> DataFrame:
    """Return the table with numbers as float64 and everything else as sorted categories."""
    kinds = {
        name: float if is_numeric(column) else "category"
        for name, column in table.items()
        if column.dtype != "category"
    }
    return table.astype(kinds)


def one_hot(table: DataFrame) -> DataFrame:
    """Return an all-float table; see `fairpca.datasets.Dataset.numeric_features`."""
    if all(dtype.kind == "f" for dtype in table.dtypes):
        return table.copy(deep=False)
    numeric = [name for name in table if is_numeric(table[name])]
    categorical = [name for name in table if name not in set(numeric)]
    for name in categorical:
        if table[name].dtype != "category":
            raise TypeError(
                f"Column '{name}' is neither numeric nor categorical: its type is "
                f"{table[name].dtype}. Convert it first: features['{name}'].astype('category')."
            )
    indicators = {name: table[name].cat.categories[1:] for name in categorical}
    names = [*numeric, *(f"{name}_{level}" for name in categorical for level in indicators[name])]
    values = np.empty((len(table), len(names)))
    values[:, : len(numeric)] = table[numeric].to_numpy(dtype=float)
    start = len(numeric)
    for name in categorical:
        codes = table[name].cat.codes.to_numpy()[:, None]
        stop = start + len(indicators[name])
        block = values[:, start:stop]
        block[:] = codes == np.arange(1, 1 + stop - start)
        block[codes[:, 0] < 0] = np.nan
        start = stop
    return import_pandas().DataFrame(values, columns=names, index=table.index, copy=False)
