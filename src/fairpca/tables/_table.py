"""A table in memory, with where it came from."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import narwhals.stable.v1 as nw

from ..errors import TableError
from ._adapters import import_arrow, import_pandas
from ._files import different_names


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
        What `read_table` had to be told to read a text file: columns, header, skip_lines.

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

    @classmethod
    def from_frame(
        cls,
        frame: Any,
        name: str = "table",
        *,
        sensitive: Sequence[str] = (),
        target: str | None = None,
    ) -> Table:
        """Take a table in memory: of pandas, polars, Arrow or another library.

        Parameters
        ----------
        frame : DataFrame of pandas, polars, ..., or Arrow table of shape (n, d)
            Rows and columns.
        name : str, default="table"
            What messages call it.
        sensitive : sequence of str
            Columns with attributes, where they are known.
        target : str, optional
            Column with the outcome, where it is known.

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
        made, renamed = _as_pandas(frame)
        checked(made, f"The table '{name}'", at_least=1)
        fingerprint = fingerprint_of_values(made)
        return cls(made, name, name, fingerprint, renamed, tuple(sensitive), target)

    def __repr__(self) -> str:
        n, d = self.frame.shape
        return f"<Table {self.name}: {n} rows, {d} columns>"


def _as_pandas(frame: Any) -> tuple[Any, tuple[tuple[str, str], ...]]:
    """Return a table as a DataFrame whose columns have different names, and which changed."""
    pandas, arrow = import_pandas(), import_arrow()
    if isinstance(frame, pandas.DataFrame):
        made = frame.reset_index(drop=True)
    elif isinstance(frame, (arrow.Table, arrow.RecordBatch)):
        made = arrow_to_pandas(frame)
    else:
        try:
            made = arrow_to_pandas(nw.from_native(frame, eager_only=True).to_arrow())
        except TypeError as error:
            raise TypeError(
                f"A table is needed, such as a DataFrame of pandas or polars, but a "
                f"{type(frame).__name__} was given. Make one of it first; of a lazy one, collect "
                f"it."
            ) from error
    names, renamed = different_names([str(name) for name in made.columns])
    made.columns = names
    return made, renamed


def arrow_to_pandas(table: Any) -> Any:
    """Return an Arrow table as a DataFrame; what was an index is a column."""
    try:
        return _to_pandas(table.replace_schema_metadata(None))  # pandas would read what is in it
    except (ValueError, TypeError, OverflowError, NotImplementedError) as error:
        why = str(error).splitlines()[0].rstrip(".") if str(error) else type(error).__name__
        raise TableError(
            f"The table has a column of a type that cannot be used ({why}). Leave it out, or save "
            f"it as numbers, texts or dates."
        ) from error


def _to_pandas(table: Any) -> Any:
    if len(set(table.schema.names)) < table.num_columns:
        names, _ = different_names(table.schema.names)
        back = table.schema.names
        made = table.rename_columns(names).to_pandas(ignore_metadata=True, date_as_object=False)
        made.columns = back
        return made
    return table.to_pandas(ignore_metadata=True, date_as_object=False)


def checked(frame: Any, what: str, *, at_least: int = 2) -> Any:
    """Return a DataFrame that has rows and columns."""
    n, d = frame.shape
    if n == 0:
        raise TableError(f"{what} has names of columns but no rows.")
    if d < at_least:
        raise TableError(f"{what} has {d} columns; at least {at_least} are needed.")
    return frame


def fingerprint_of_values(frame: Any) -> str:
    """Return the sha256 of names, types and values of a table."""
    digest = hashlib.sha256()
    hashed = import_pandas().util.hash_pandas_object
    for name, column in frame.items():
        digest.update(f"{name}\0{column.dtype}\0".encode())
        values = column.astype(str) if column.dtype == object else column
        try:
            hashes = hashed(values, index=False)
        except TypeError:
            hashes = hashed(column.astype(str), index=False)
        digest.update(hashes.to_numpy().tobytes())
    return f"sha256:{digest.hexdigest()}"
