"""A table in memory, of any library: with where it came from, or as columns of Arrow."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import narwhals.stable.v1 as nw
import numpy as np

from ..errors import TableError
from ._adapters import import_arrow, import_pandas
from ._files import different_names
from ._streams import in_memory

_CANNOT_BE_ARROW = (ValueError, TypeError, OverflowError, NotImplementedError)
"""What Arrow raises on a column of several types, on huge integers, on unknown objects."""


@dataclass(frozen=True, eq=False)
class Table:
    """Rows and columns, and where they came from.

    Parameters
    ----------
    frame : pandas.DataFrame of shape (n, d)
        Its columns are called by different texts.
    name : str
        Of the file without its ending, or of the data set.
    source : str
        What was read.
    fingerprint : str
        "sha256:..." of the file, or of the values where there is none.
    renamed : tuple of (str, str)
        Names in the source that had to be changed, and what they are now.
    sensitive : tuple of str
        The attributes of a built-in data set, else empty.
    target : str or None
        The target of a built-in data set.
    reading : dict
        What `read_table` had to be told to read a text file: columns, header, skip_lines, encoding.
    title : str
        What the rows are, where and when they were collected; empty if that is not known.
    labels : dict of str to str
        What columns mean, for people.

    Examples
    --------
    >>> import pandas as pd
    >>> from fairpca.tables import Table
    >>> Table.from_frame(pd.DataFrame({"age": [30, 40]}), name="people")
    <Table people: 2 rows, 1 columns>
    """

    frame: Any
    name: str
    source: str
    fingerprint: str
    renamed: tuple[tuple[str, str], ...] = ()
    sensitive: tuple[str, ...] = field(default=())
    target: str | None = None
    reading: dict[str, Any] = field(default_factory=dict)
    title: str = ""
    labels: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def from_frame(cls, frame: Any, name: str = "table") -> Table:
        """Take a table of pandas, polars, Arrow or another library, or the result of a query.

        Parameters
        ----------
        frame : DataFrame of pandas, polars, ..., or Arrow table of shape (n, d)
            Rows and columns. Also what arrives in batches, which is collected: a relation of
            DuckDB, a reader or data set of Arrow, a lazy frame of polars, and all else with
            Arrow's protocol for streams.
        name : str, default="table"
            What messages call it.

        Returns
        -------
        Table
            With a fingerprint of its values.

        Raises
        ------
        TableError
            If it has no rows or no columns.
        TypeError
            If it is no table.
        """
        is_pandas = isinstance(frame, import_pandas().DataFrame)
        made = frame.reset_index(drop=True) if is_pandas else arrow_to_pandas(_arrow_table(frame))
        names, renamed = different_names([str(name) for name in made.columns])
        made.columns = names
        check_size(made, f"The table '{name}'", at_least=1)
        fingerprint = fingerprint_of_values(made)
        return cls(made, name, name, fingerprint, renamed)

    def __repr__(self) -> str:
        n, d = self.frame.shape
        return f"<Table {self.name}: {n} rows, {d} columns>"


def _arrow_table(frame: Any) -> Any:
    arrow, frame = import_arrow(), in_memory(frame)
    if isinstance(frame, (arrow.Table, arrow.RecordBatch)):
        return frame
    try:
        known = nw.from_native(frame, eager_only=True)
    except TypeError as error:
        raise TypeError(
            f"A table is needed, such as a DataFrame of pandas (pandas.read_sql makes one) or "
            f"polars, or the result of a query (DuckDB's con.sql(...), an Arrow reader), but a "
            f"{type(frame).__name__} was given. Make one of it first."
        ) from error
    try:
        return known.to_arrow()
    except _CANNOT_BE_ARROW as error:
        raise TableError(f"{_CANNOT_BE_USED} ({_first_line(error)}). {_OTHER_TYPE}") from error


def arrow_to_pandas(table: Any) -> Any:
    """Return an Arrow table as a DataFrame; what was an index is a column."""
    names = table.schema.names
    table = table.rename_columns(different_names(names)[0])
    table = table.replace_schema_metadata(None)  # pandas would read what is in it
    for i, one in enumerate(table.schema):
        if _only_in_databases(one.type):
            table = table.set_column(i, one.name, simple(table.column(i)))
    try:
        made = table.to_pandas(ignore_metadata=True, date_as_object=False)
    except _CANNOT_BE_ARROW as error:
        raise TableError(f"{_CANNOT_BE_USED} ({_first_line(error)}). {_OTHER_TYPE}") from error
    made.columns = names
    return made


_CANNOT_BE_USED = "The table has a column of a type that cannot be used"
_OTHER_TYPE = "Leave it out, or save it as numbers, texts or dates."


def _first_line(error: Exception) -> str:
    return str(error).splitlines()[0].rstrip(".") if str(error) else type(error).__name__


def check_size(frame: Any, what: str, *, at_least: int = 2) -> None:
    """Raise for a DataFrame without rows or columns."""
    n, d = frame.shape
    if n == 0:
        raise TableError(f"{what} has names of columns but no rows.")
    if d < at_least:
        raise TableError(f"{what} has {d} columns; at least {at_least} are needed.")


def fingerprint_of_values(frame: Any) -> str:
    """Return the sha256 of names, types and values of a table."""
    digest = hashlib.sha256()
    hashed = import_pandas().util.hash_pandas_object
    for name, column in frame.items():
        digest.update(f"{name}\0{column.dtype}\0".encode())
        values = bytes_of_vectors(column)
        values = _written(values) if values is column and column.dtype == object else values
        try:
            hashes = hashed(values, index=False)
        except TypeError:
            hashes = hashed(_written(column), index=False)
        digest.update(hashes.to_numpy().tobytes())
    return f"sha256:{digest.hexdigest()}"


def _written(column: Any) -> Any:
    try:
        return column.astype(str)
    except UnicodeDecodeError:  # bytes that are no text
        return column.map(repr)


def arrow_columns(frame: Any, names: Iterable[str] | None = None) -> dict[str, Any]:
    """Return columns of a table of any library as Arrow arrays, by name; by default all.

    Columns of several types are texts, names that are not there are left out.
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
    if isinstance(frame, import_pandas().DataFrame):
        for i, name in enumerate(frame.columns):
            yield str(name), lambda i=i: simple(_from_pandas(frame.iloc[:, i]))  # type: ignore[misc]
        return
    table = _arrow_table(frame)
    for i, name in enumerate(table.schema.names):
        yield name, lambda i=i: simple(table.column(i))  # type: ignore[misc]


def _from_pandas(series: Any) -> Any:
    arrow, pandas = import_arrow(), import_pandas()
    if isinstance(series.dtype, pandas.SparseDtype):
        series = series.sparse.to_dense()
    try:
        array = arrow.array(series, from_pandas=True)
    except _CANNOT_BE_ARROW:
        return _as_texts(series.tolist())
    written = isinstance(array.type, arrow.BaseExtensionType)  # periods, intervals
    return _as_texts(series.tolist()) if written else array


def _only_in_databases(kind: Any) -> bool:
    """Whether pandas has no such values: intervals of months, days and seconds, and unions."""
    types = import_arrow().types
    return bool(types.is_interval(kind) or types.is_union(kind))


def _as_durations(intervals: Any) -> Any:
    """Return intervals as durations: a month is a twelfth of a year of 365.25 days."""
    arrow, months = import_arrow(), 2_629_800_000_000  # microseconds
    parts = (None if v is None else tuple(v) for v in intervals.to_pylist())
    whole = [v and v[0] * months + v[1] * 86_400_000_000 + v[2] // 1000 for v in parts]
    return arrow.array(whole, arrow.duration("us"))


def simple(array: Any) -> Any:
    """Return an array in one piece, of a type that the encoders know."""
    arrow = import_arrow()
    if arrow.types.is_interval(array.type):
        return _as_durations(array)
    if arrow.types.is_union(array.type):
        return _as_texts(array.to_pylist())
    if isinstance(array, arrow.ChunkedArray):
        # One dictionary for all pieces, or they could not be put together.
        array = array.unify_dictionaries().combine_chunks()
        if isinstance(array, arrow.ChunkedArray):  # of no pieces, or too long for 32-bit offsets
            empty = arrow.array([], type=array.type)
            array = arrow.concat_arrays(array.chunks) if array.num_chunks else empty
    types, kind = arrow.types, array.type
    if types.is_dictionary(kind):
        is_view = str(kind.value_type) == "string_view"
        plain = arrow.large_string() if is_view else kind.value_type
        return (
            array
            if is_text(kind.value_type)
            else array.cast(arrow.dictionary(kind.index_type, plain))
        )
    if str(kind) == "string_view":
        return array.cast(arrow.large_string())
    plain = ("number", "text", "time", "time in a zone", "nothing", "bool", "vector")
    usual = family(kind) in plain
    known = usual or types.is_date(kind) or types.is_duration(kind)
    return array if known else _as_texts(array.to_pylist())


def _as_texts(values: list[Any]) -> Any:
    """Return objects of any types as an Arrow array of texts; None and NaN are missing."""
    missing = import_pandas().isna
    texts = [None if np.isscalar(missing(v)) and missing(v) else text_of(v) for v in values]
    return import_arrow().array(texts, type=import_arrow().large_string())


def text_of(value: Any) -> str:
    """Return how a value is written; numbers without a fraction like integers."""
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return str(value).encode("utf-8", "replace").decode("utf-8")


def family(kind: Any) -> str:
    """Return what the values of an Arrow type are: numbers, texts, times, or as it is called."""
    types = import_arrow().types
    if types.is_null(kind):
        return "nothing"
    if types.is_dictionary(kind):
        return family(kind.value_type)
    if types.is_integer(kind) or types.is_floating(kind) or types.is_decimal(kind):
        return "number"
    if is_text(kind) or str(kind) == "string_view":
        return "text"
    if types.is_timestamp(kind):
        return "time" if kind.tz is None else "time in a zone"
    return "vector" if is_vector(kind) else str(kind)


def is_text(kind: Any) -> bool:
    """Tell whether an Arrow type is one of texts."""
    types = import_arrow().types
    return bool(types.is_string(kind) or types.is_large_string(kind))


def is_vector(kind: Any) -> bool:
    """Tell whether an Arrow type is one of lists of floats, such as embeddings."""
    types = import_arrow().types
    listed = types.is_list(kind) or types.is_large_list(kind) or types.is_fixed_size_list(kind)
    return bool(listed and types.is_floating(kind.value_type))


def bytes_of_vectors(column: Any) -> Any:
    """Return a column of a DataFrame with arrays or lists as their bytes; others as they are."""
    first = column.first_valid_index()
    if first is None or not isinstance(column.loc[first], np.ndarray | list):
        return column
    return column.map(_bytes_of, na_action="ignore")


def _bytes_of(vector: Any) -> bytes:
    try:
        array = np.asarray(vector)
    except ValueError:  # lists of different lengths
        return repr(vector).encode()
    return repr(array.tolist()).encode() if array.dtype.hasobject else array.tobytes()


def distinct(array: Any) -> tuple[np.ndarray, list[Any]]:
    """Return the code of each row of an Arrow array, and what codes stand for; the last is None."""
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


def decoded(array: Any) -> Any:
    """Return an Arrow column as plain values: levels may differ between batches."""
    return array.dictionary_decode() if hasattr(array, "dictionary_decode") else array
