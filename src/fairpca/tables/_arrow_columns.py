"""Columns of any table library as Arrow arrays, the one form in which columns are encoded."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import narwhals.stable.v1 as nw
import numpy as np

from ..errors import TableError
from ._adapters import import_arrow, import_pandas

CANNOT_BE_ARROW = (ValueError, TypeError, OverflowError, NotImplementedError)
"""What Arrow raises on a column of several types, on huge integers, on unknown objects."""


def arrow_columns(frame: Any, names: Iterable[str] | None = None) -> dict[str, Any]:
    """Return columns of a table as Arrow arrays.

    Parameters
    ----------
    frame : DataFrame of pandas, polars or another library known to narwhals, or Arrow table
        The table.
    names : iterable of str, optional
        Which columns, as texts; those that are not there are left out. By default all.

    Returns
    -------
    dict of str to pyarrow.Array
        In the order of the table. Columns of several types are texts.

    Raises
    ------
    TableError
        If two columns have the same name.
    TypeError
        If `frame` is no table in memory.

    Examples
    --------
    >>> import pandas as pd
    >>> arrow_columns(pd.DataFrame({"a": [1, "two"]}))["a"].to_pylist()
    ['1', 'two']
    """
    wanted = None if names is None else set(names)
    found: dict[str, Any] = {}
    for name, get in _columns(frame):
        if name in found:
            raise TableError(
                f"Two columns are called '{name}'. Rename one of them, or give the table to "
                f"fairpca.tables.Table.from_frame, which does."
            )
        if wanted is None or name in wanted:
            found[name] = get()
    return found


def _columns(frame: Any) -> Iterable[tuple[str, Callable[[], Any]]]:
    """Yield the names of the columns, and how to get their values."""
    arrow = import_arrow()
    if isinstance(frame, (arrow.Table, arrow.RecordBatch)):
        for i, name in enumerate(frame.schema.names):
            yield name, lambda i=i: simple(frame.column(i))  # type: ignore[misc]
        return
    if isinstance(frame, import_pandas().DataFrame):
        for i, name in enumerate(frame.columns):
            yield str(name), lambda i=i: simple(_from_pandas(frame.iloc[:, i]))  # type: ignore[misc]
        return
    try:
        eager = nw.from_native(frame, eager_only=True)
    except TypeError as error:
        raise TypeError(
            f"A table is needed, such as a DataFrame of pandas or polars, but a "
            f"{type(frame).__name__} was given. Make one of it first; of a lazy one, collect it."
        ) from error
    table = eager.to_arrow()
    for i, name in enumerate(table.schema.names):
        yield name, lambda i=i: simple(table.column(i))  # type: ignore[misc]


def _from_pandas(series: Any) -> Any:
    arrow, pandas = import_arrow(), import_pandas()
    if isinstance(series.dtype, pandas.SparseDtype):
        series = series.sparse.to_dense()
    try:
        array = arrow.array(series, from_pandas=True)
    except CANNOT_BE_ARROW:
        return _as_texts(series.tolist())
    written = isinstance(array.type, arrow.BaseExtensionType)  # periods, intervals
    return _as_texts(series.tolist()) if written else array


def simple(array: Any) -> Any:
    """Return an array in one piece, of a type that the encoders know."""
    arrow = import_arrow()
    if isinstance(array, arrow.ChunkedArray):
        # One dictionary for all pieces, or they could not be put together.
        array = array.unify_dictionaries().combine_chunks()
        if isinstance(array, arrow.ChunkedArray):  # of no pieces, or too long for 32-bit offsets
            array = arrow.concat_arrays(array.chunks) if array.num_chunks else _empty(array.type)
    types = arrow.types
    kind = array.type
    if types.is_dictionary(kind):
        known = types.is_string(kind.value_type) or types.is_large_string(kind.value_type)
        return array if known else array.cast(arrow.dictionary(kind.index_type, _plain(kind)))
    if types.is_decimal(kind) or types.is_floating(kind) or types.is_integer(kind):
        return array
    known = (types.is_string, types.is_large_string, types.is_boolean, types.is_null)
    timed = (types.is_timestamp, types.is_date, types.is_duration)
    if any(is_kind(kind) for is_kind in known + timed):
        return array
    if str(kind) == "string_view":
        return array.cast(arrow.large_string())
    return _as_texts(array.to_pylist())


def _plain(kind: Any) -> Any:
    """Return what the values of a dictionary are kept as."""
    arrow = import_arrow()
    return arrow.large_string() if str(kind.value_type) == "string_view" else kind.value_type


def _empty(kind: Any) -> Any:
    return import_arrow().array([], type=kind)


def _as_texts(values: list[Any]) -> Any:
    """Return objects of any types as an Arrow array of texts; None and NaN are missing."""
    missing = import_pandas().isna
    texts = [None if np.isscalar(missing(v)) and missing(v) else text_of(v) for v in values]
    return import_arrow().array(texts, type=import_arrow().large_string())


def text_of(value: Any) -> str:
    """Return how a value is written; numbers without a fraction like integers.

    Examples
    --------
    >>> text_of(2.0), text_of("2.0"), text_of(True)
    ('2', '2.0', 'True')
    """
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return str(value).encode("utf-8", "replace").decode("utf-8")


def distinct(array: Any) -> tuple[np.ndarray, list[Any]]:
    """Return which values occur, and which of them each row has.

    Parameters
    ----------
    array : pyarrow.Array of length n
        One column.

    Returns
    -------
    codes : array of shape (n,)
        Index into `values`.
    values : list
        The different values, then None, which is what missing rows have. Some may occur in no
        row.
    """
    arrow = import_arrow()
    if not arrow.types.is_dictionary(array.type):
        array = array.dictionary_encode()
    try:
        values = array.dictionary.to_pylist()
    except (OverflowError, ValueError):  # dates that Python does not have
        width = array.dictionary.type.bit_width
        values = array.dictionary.view(arrow.int32() if width == 32 else arrow.int64()).to_pylist()
    codes = array.indices
    if codes.null_count:
        codes = codes.cast(arrow.int64(), safe=False).fill_null(len(values))
    return codes.to_numpy(zero_copy_only=False), [*values, None]
