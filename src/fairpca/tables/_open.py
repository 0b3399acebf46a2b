"""The one door for tables on disk: what is in a file decides how it is read."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from .._attributes import did_you_mean
from .._numerics import on_the_host
from ..datasets import load_loanapp
from ..errors import TableError
from ._adapters import import_arrow, import_pandas
from ._binary import FeatherTable, ParquetTable
from ._files import (
    BUILT_IN,
    SAVED_ARRAY,
    Paths,
    TableFile,
    different_names,
    existing_file,
    find_files,
    fingerprint_of_files,
    is_built_in,
    kind_of_file,
    opened,
)
from ._frozen_columns import days, floats
from ._table import (
    Table,
    arrow_to_pandas,
    check_size,
    distinct,
    family,
    fingerprint_of_values,
    simple,
)
from ._text import TextTable
from ._text_values import MISSING, cleaned, typed, with_points

if TYPE_CHECKING:
    from pandas import Series

LARGE_ROWS, LARGE_BYTES = 1_000_000, 500_000_000
"""A file of more rows, or more bytes of text, is read in batches: frames take several times it."""


def read_table(
    source: str | os.PathLike[str],
    *,
    columns: Sequence[str] | None = None,
    header: bool | None = None,
    skip_lines: int = 0,
    encoding: str | None = None,
    vectors: Any = None,
) -> Table:
    r"""Read a table from a CSV, Parquet or Feather file, or the built-in data set.

    Parameters
    ----------
    source : str or path
        A file; what is in it decides how it is read, not its name. Or "loanapp", where no file is
        called so: the loan applications of `fairpca.datasets.load_loanapp`.
    columns : sequence of str, default=None
        For text files without names: what the columns are called.
    header : bool, default=None
        For text files: whether the first line has the names. By default it must look like names,
        and a first line that may be data raises an error.
    skip_lines : int, default=0
        For text files: lines to skip at the beginning.
    encoding : str, default=None
        For text files: the encoding, such as "cp1252" of Windows or "latin-1". By default UTF-8, or
        UTF-16 where the file begins with its mark; a line that is not text raises an error.
    vectors : path or array-like of shape (n_samples, n_dimensions), default=None
        A vector for each row, such as the embedding of a text: a file that `numpy.save` wrote, or
        an array of NumPy, torch or another library. It becomes a column of the table, called as
        the file is, or "vectors".

    Returns
    -------
    table : Table
        Its `frame` has the columns of the file as they are: numbers where all values are, else
        texts. It also has a `name`, its `source`, a `fingerprint` of the bytes, names that were
        `renamed`, and of built-in data sets the `sensitive` columns and the `target`.

    Raises
    ------
    TableError
        If this is no table, or not all of it can be read. The message is one line.

    See Also
    --------
    Table : The result.

    Notes
    -----
    Text files may use any of comma, semicolon, tab, bar and one blank; be gzipped; have decimal
    commas where commas do not divide. Blanks around values are removed. Empty fields, "NA", "NaN",
    "null", "None" and the like are missing, as in pandas. "?" is missing in a column of numbers and
    a value of its own in one of texts.

    Examples
    --------
    >>> import tempfile
    >>> from fairpca.tables import read_table
    >>> from pathlib import Path
    >>> file = Path(tempfile.mkdtemp()) / "people.csv"
    >>> _ = file.write_text("age;sex\n30;f\n40;m\n")
    >>> table = read_table(file)
    >>> table
    <Table people: 2 rows, 2 columns>
    >>> table.frame["age"].tolist()
    [30, 40]
    """
    if is_built_in(source):
        return with_vectors(_built_in(), vectors)
    told = _told(columns=columns, header=header, skip_lines=skip_lines, encoding=encoding)
    file = open_table(source, **told)
    try:
        frame = arrow_to_pandas(file.read())
    except MemoryError as error:  # Arrow's are such
        raise TableError(
            f"'{file.path}' does not fit into the memory as a whole. Draw some of its rows, or use "
            f"`fairpca fit` and `fairpca transform`, which read files in batches."
        ) from error
    check_size(frame, f"'{file.path}'", at_least=2 if vectors is None else 1)
    table = Table(
        frame=frame,
        name=Path(file.path.name.removesuffix(".gz")).stem,
        source=str(source),
        fingerprint=fingerprint_of_files([file.path], whole=True),
        renamed=file.renamed,
        reading=told,
    )
    return with_vectors(table, vectors)


def with_vectors(table: Table, vectors: Any) -> Table:
    """Return a table with a vector for each row as one more column, as `read_table` explains."""
    if vectors is None:
        return table
    given = GivenVectors.of(vectors)
    given.check_rows(len(table.frame))
    values = given.block(0, len(given.values))
    name = "vectors" if given.path is None else Path(given.path).stem
    name = different_names([*table.frame.columns, name])[0][-1]
    digest = hashlib.sha256(table.fingerprint.encode() + values.tobytes()).hexdigest()
    return replace(
        table,
        frame=table.frame.assign(**{name: list(values)}),
        fingerprint=f"sha256:{digest}",
        reading={**table.reading, "vectors": str(given.path or "")},
    )


@dataclass(frozen=True)
class GivenVectors:
    """A vector for each row of a table, beside it: in memory, or in a file that stays there."""

    values: np.ndarray
    path: str | os.PathLike[str] | None

    @classmethod
    def of(cls, vectors: Any) -> GivenVectors:
        """Return an array, or that of a file; raise where its rows are no vectors of floats."""
        path = vectors if isinstance(vectors, str | os.PathLike) else None
        values = on_the_host(vectors) if path is None else _saved_array(Path(path).expanduser())
        given = cls(np.asarray(values), path)
        if given.values.ndim != 2 or not given.values.size:
            raise TableError(
                f"{given.what} has the shape {given.values.shape}, but must have a row for each "
                f"row of the table and a column for each dimension. Pass an array of 2 dimensions."
            )
        if given.values.dtype.kind != "f":
            raise TableError(
                f"{given.what} holds {given.values.dtype} numbers, but vectors are of float16, "
                f"float32 or float64. Convert them, as with astype('float32')."
            )
        return given

    @property
    def what(self) -> str:
        """What messages call it."""
        return "vectors" if self.path is None else f"'{self.path}'"

    def check_rows(self, n: int) -> None:
        """Raise unless there are as many vectors as the table has rows."""
        if len(self.values) != n:
            raise TableError(
                f"{self.what} has {len(self.values):,} rows, but the table has {n:,}: row i of one "
                f"belongs to row i of the other. Pass one vector for each row, in the order of the "
                f"table."
            )

    def block(self, start: int, stop: int) -> np.ndarray:
        """Return some of the rows, in memory; raise where one is not finite."""
        values: np.ndarray = np.array(self.values[start:stop])
        odd = np.flatnonzero(~np.isfinite(values).all(axis=1))
        if len(odd):
            raise TableError(
                f"{self.what} has missing or infinite numbers in {len(odd):,} of the rows "
                f"{start + 1:,} to {start + len(values):,}, first in row {start + odd[0] + 1:,}. "
                f"Leave these rows out of both, or make their vectors again."
            )
        return values


def is_saved_array(source: str | os.PathLike[str]) -> bool:
    """Tell whether a file begins as `numpy.save` begins it."""
    path = Path(source).expanduser()
    if not path.is_file():
        return False
    with path.open("rb") as stream:
        return stream.read(len(SAVED_ARRAY)) == SAVED_ARRAY


def _saved_array(path: Path) -> Any:
    """Return the array of a file that `numpy.save` wrote; its numbers are read when needed."""
    path = existing_file(path)
    try:
        values = np.load(path, mmap_mode="r", allow_pickle=False)
    except (ValueError, EOFError) as error:
        raise TableError(f"'{path}' {_NO_ARRAY}") from error
    if not isinstance(values, np.ndarray):
        values.close()
        raise TableError(f"'{path}' {_NO_ARRAY}")
    return values


_NO_ARRAY = (
    "is no file of one array of numbers, as numpy.save writes it. Write the vectors with "
    "numpy.save, or as a column of a Parquet file."
)


def _built_in() -> Table:
    loans = load_loanapp()
    frame = import_pandas().concat([loans.features, loans.sensitive, loans.target], axis=1)
    return Table(
        frame=frame,
        name=loans.name,
        source=loans.name,
        fingerprint=fingerprint_of_values(frame),
        sensitive=tuple(loans.sensitive.columns),
        target="approve",
        title=loans.title,
        labels=loans.labels,
    )


def _told(**how: Any) -> dict[str, Any]:
    """Return what was said about a text file: all that is not as usual."""
    return {k: v for k, v in how.items() if v is not None and (k != "skip_lines" or v)}


def open_table(
    source: str | os.PathLike[str], *, as_written: bool = False, **how: Any
) -> TableFile:
    """Open a file, to be read whole or in batches; names are made different, or `as_written`.

    `how` a text file is read is told as in `read_table`.
    """
    path = existing_file(Path(source).expanduser(), also=(BUILT_IN,))
    kind = kind_of_file(path)
    if kind not in ("parquet", "arrow"):
        return TextTable.open(path, **how)
    if _told(**how):
        raise TableError(
            f"'{path}' is a {kind} file, which describes itself: columns, header, skip_lines "
            f"and encoding are for text files. Leave them out."
        )
    opened = ParquetTable if kind == "parquet" else FeatherTable
    return opened.open(path, as_written=as_written)


def open_tables(paths: Paths, **how: Any) -> list[TableFile]:
    """Find the files that are one table, and look into each: they must be alike."""
    files: list[TableFile] = []
    for path in find_files(paths):
        file = open_table(path, as_written=True, **how)
        if files and file.kind != files[0].kind:
            raise TableError(
                f"'{files[0].path}' is a {files[0].kind} file, but '{path}' is a {file.kind} file, "
                f"and they cannot be one table. Name files of one kind."
            )
        files.append(file)
        _check_plain_names(file)
        check_same_columns([files[0], file])
        for name, kind in file.types.items():
            usual = files[0].types[name]
            if len({family(usual), family(kind)} - {"nothing"}) > 1:
                raise TableError(
                    f"The column '{name}' is of the type {kind} in '{path}', but of the type "
                    f"{usual} in '{files[0].path}'. Write both alike."
                )
    return files


def is_large(table: Any) -> bool:
    """Whether one file is so large that it should be read in batches."""
    if not isinstance(table, str | os.PathLike) or is_built_in(table):
        return False
    path = Path(table).expanduser()
    if not path.is_file() or not path.stat().st_size:
        return False
    kind, size = kind_of_file(path), path.stat().st_size
    if kind == "parquet":
        return (ParquetTable.open(path).n_rows or 0) > LARGE_ROWS
    if kind == "arrow" or size > LARGE_BYTES:
        return size > LARGE_BYTES
    size = rows = 0
    with opened(path) as stream:  # a few bytes may unpack to more than the memory holds
        while piece := stream.read(2**20):
            size, rows = size + len(piece), rows + max(piece.count(b"\n"), piece.count(b"\r"))
            if size > LARGE_BYTES or rows > LARGE_ROWS:
                return True
    return False


def check_same_columns(
    files: Sequence[TableFile], needed: Sequence[str] | None = None, *, every: bool = True
) -> None:
    """Raise unless all files have the needed columns of the first; if it needs `every`, no more."""
    first, whole = files[0], "All files of a table must have the same columns."
    usual = set(first.names)
    for file in files:
        there = set(file.names)
        lacking = [name for name in needed or first.names if name not in there]
        if lacking:
            remedy = "Leave that file out, or add the column." if needed else whole
            raise TableError(
                f"'{file.path}' lacks the column '{lacking[0]}', which '{first.path}' has."
                f"{did_you_mean(lacking[0], file.names)} {remedy}"
            )
        more = [name for name in file.names if name not in usual]
        if every and more:
            remedy = "Name the features, or write all files with the same columns."
            raise TableError(
                f"'{file.path}' has the column '{more[0]}', which '{first.path}' has not. "
                f"{remedy if needed else whole}"
            )


def _check_plain_names(file: TableFile) -> None:
    """Raise where names are changed if a table is read as a whole."""
    if file.kind == "text":
        return
    file.check_once(sorted(file.places))
    better = zip(file.names, different_names(file.names)[0], strict=True)
    odd = [name for name, changed in better if name != changed]
    if odd:
        raise TableError(
            f"'{file.path}' has a column called '{odd[0]}': nothing, or a name with blanks around "
            f"it. Rename it."
        )


@dataclass(frozen=True)
class RawColumn:
    """How the values of a column come from the files: of an Arrow type, or texts (None)."""

    name: str
    type: Any = None
    decimal: str = "."

    @classmethod
    def of(cls, files: Sequence[TableFile]) -> tuple[RawColumn, ...]:
        """Return how the columns come from the files."""
        first = files[0]
        if first.kind != "text":
            arrow = import_arrow()
            common = {
                name: common_type([file.types[name] for file in files]) for name in first.names
            }
            # What is neither a number nor a date nor a text is read as one.
            return tuple(
                cls(name, simple(arrow.array([], kind)).type) for name, kind in common.items()
            )
        texts = [file for file in files if isinstance(file, TextTable)]
        commas = {name for file in texts for name, sign in file.decimals.items() if sign == ","}
        return tuple(cls(name, None, "," if name in commas else ".") for name in first.names)

    def values(self, array: Any) -> tuple[np.ndarray, list[Any]]:
        """Return which values a part has, and which of them each row has; None is missing."""
        codes, values = distinct(array)
        if self.type is None:
            values = [cleaned(value, MISSING) for value in values]
        return codes, [None if value != value else value for value in values]

    def are_numbers(self, values: Series) -> bool:
        """Whether values, as in memory, are numbers, or dates that count in days."""
        decimals = self.type is not None and import_arrow().types.is_decimal(self.type)
        return bool(decimals or values.dtype.kind in "iufM")

    def numbers(self, array: Any) -> np.ndarray:
        """Return the rows as floats, dates as days; NaN where there is no finite number."""
        arrow = import_arrow()
        if self.type is None and not arrow.types.is_dictionary(array.type):
            array = with_points(array, self.decimal)
        numbers = days(array) if arrow.types.is_temporal(array.type) else floats(array, self.name)
        return np.where(np.isfinite(numbers), numbers, np.nan)

    def series(self, values: list[Any]) -> Series:
        """Return distinct values with the type that the column would have in memory."""
        arrow = import_arrow()
        if self.type is None:
            array = typed(arrow.chunked_array([arrow.array(values, arrow.string())]), self.decimal)
        else:
            array = arrow.array(values, getattr(self.type, "value_type", self.type))
        series = arrow_to_pandas(arrow.table({self.name: array}))[self.name]
        return series.astype("category") if hasattr(self.type, "value_type") else series


def common_type(kinds: Sequence[Any]) -> Any:
    """Return the Arrow type of a column whose files have it in these: of numbers the widest."""
    arrow = import_arrow()
    if len(set(kinds)) == 1:
        return kinds[0]
    plain = (k.value_type if arrow.types.is_dictionary(k) else k for k in dict.fromkeys(kinds))
    schemas = [arrow.schema([("a", kind)]) for kind in plain]
    return arrow.unify_schemas(schemas, promote_options="permissive").field(0).type
