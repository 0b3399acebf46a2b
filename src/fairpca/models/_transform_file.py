"""Transform a file of any size in bounded memory."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import partial
from itertools import chain
from pathlib import Path
from typing import IO, Any

import numpy as np

from .._attributes import as_columns, did_you_mean
from .._files import whole_file
from .._maps import LinearMap
from .._numerics import prefetch
from ..errors import TableError
from ..io import rows_per_batch
from ..tables import (
    GivenVectors,
    LevelColumn,
    NumberColumn,
    TableEncoder,
    VectorColumn,
    arrow_columns,
    decoded,
    floats,
    import_arrow,
    is_built_in,
    is_saved_array,
    open_table,
    read_table,
    require_columns,
    simple,
)

BATCH_ROWS = 2**17

ROWS_AT_A_TIME = 8192
"""So that the sums of a block stay in the cache while the tables are added."""

LARGEST_TABLE = 4096
"""Categories are looked up together while their combinations are no more than this."""

FORMATS = {
    ".parquet": "parquet",
    ".pq": "parquet",
    ".feather": "arrow",
    ".arrow": "arrow",
    ".ipc": "arrow",
    ".csv": "csv",
    ".csv.gz": "csv",
    ".npy": "npy",
}


def transform_file(
    model: Any,
    source: str | os.PathLike[str],
    out: str | os.PathLike[str],
    *,
    keep: Sequence[str] = (),
    dtype: str = "float32",
    batch_rows: int = BATCH_ROWS,
    progress: Callable[[int, int | None], None] | None = None,
    columns: Sequence[str] | None = None,
    header: bool | None = None,
    skip_lines: int = 0,
    encoding: str | None = None,
    vectors: Any = None,
) -> int:
    """Transform a table on disk, batch by batch, into another one.

    Reading, computing and writing overlap, and the memory does not depend on the number of rows.

    Parameters
    ----------
    model : FairTableTransformer
        Fitted to a table, or made from an estimator that was fitted to columns with names.
    source : str or path
        CSV, Parquet or Feather, or "loanapp". Of a model of vectors alone also an array that
        `numpy.save` wrote.
    out : path
        .parquet, .feather, .arrow, .csv, .csv.gz, or .npy for an array. It appears when it is
        whole.
    keep : sequence of str, default=()
        Columns of the source to copy, such as an id; from text files they are copied as texts.
        An array has none.
    dtype : {"float32", "float64"}, default="float32"
        Type of the representation in the file. It is computed in double precision.
    batch_rows : int, default=131072
        Rows at a time.
    progress : callable, default=None
        Called with the number of rows written, and with that of all rows or None.
    columns : sequence of str, default=None
        For text files without names: what the columns are called.
    header : bool, default=None
        For text files: whether the first line has the names; by default it must look like names.
    skip_lines : int, default=0
        For text files: lines to skip at the beginning.
    encoding : str, default=None
        For text files: the encoding, such as "cp1252"; by default UTF-8, or UTF-16 with its mark.
    vectors : path or array-like of shape (n_samples, n_dimensions), default=None
        A vector for each row, beside the source, as in `fairpca.fit_table`: whatever it is called,
        it is the one column of vectors that the source lacks.

    Returns
    -------
    n_rows : int
        The number of rows written.

    Raises
    ------
    TableError
        If the source cannot be read or lacks columns, if a value does not fit its column, or if
        `out` cannot be written. There is no partial file.

    See Also
    --------
    fairpca.fit_table : Fits models to tables.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import mkdtemp
    >>> import numpy as np
    >>> import pandas as pd
    >>> from fairpca import fit_table
    >>> from fairpca.models import transform_file
    >>> folder, rng = Path(mkdtemp()), np.random.default_rng(0)
    >>> people = pd.DataFrame({"id": range(100), "sex": ["f", "m"] * 50})
    >>> people["age"] = rng.integers(18, 80, size=100)
    >>> people["job"] = rng.choice(["nurse", "cook", "clerk"], size=100)
    >>> model = fit_table(people, "sex", n_components=2, ignore="id")
    >>> people.drop(columns="sex").to_csv(folder / "people.csv", index=False)
    >>> transform_file(model, folder / "people.csv", folder / "fair.csv", keep=["id"])
    100
    >>> pd.read_csv(folder / "fair.csv").columns.tolist()
    ['id', 'fairpca0', 'fairpca1']
    """
    arrow, target = import_arrow(), Path(out).expanduser()
    _format_of(target)
    given = [Path(f).expanduser() for f in (source, vectors) if isinstance(f, str | os.PathLike)]
    if target.exists() and any(file.exists() and target.samefile(file) for file in given):
        raise TableError(f"'{out}' is the source itself. Write to another file.")
    if np.dtype(dtype) not in (np.dtype("float32"), np.dtype("float64")):
        raise TableError(f"dtype='{dtype}' is neither float32 nor float64.")
    if is_saved_array(source):
        if vectors is not None:
            raise TableError(
                f"'{source}' is an array of vectors itself, so vectors=... would be a second one. "
                f"Pass one of them, or a table and its vectors."
            )
        whole, vectors = None, source
        there, n_rows = [], None
    elif is_built_in(source):
        whole = arrow.table(arrow_columns(read_table(source).frame))
        there, n_rows = whole.column_names, whole.num_rows
    else:
        how: dict[str, Any] = {"columns": columns, "header": header, "skip_lines": skip_lines}
        whole, file = None, open_table(source, **how, encoding=encoding)
        there, n_rows = list(file.names), file.n_rows
    encoder, names = _encoder_of(model), list(model.get_feature_names_out())
    beside = None if vectors is None else _Beside.of(encoder, there, vectors)
    if beside is not None and beside.alone:
        n_rows = len(beside.given.values)
    elif beside is not None and n_rows is not None:
        beside.given.check_rows(n_rows)
    needed = [name for name in encoder.needed_columns if beside is None or name != beside.name]
    require_columns(needed, there)
    keep = list(dict.fromkeys(keep))
    _check_kept(keep, there, names, target)
    wanted = list(dict.fromkeys([*needed, *keep]))
    numbers = [name for name in encoder.number_columns if name not in keep]
    tables = isinstance(model._map, LinearMap) and isinstance(encoder, TableEncoder)
    fused = _FusedMap(encoder, model._map) if tables else None
    read = wanted or there[:1]  # of vectors alone, for the number of rows
    if beside is not None:
        batch_rows = min(batch_rows, rows_per_batch(beside.given.values.shape[1], itemsize=8))
    if whole is not None:
        batches = iter(whole.select(read).to_batches(batch_rows))
    elif there:
        batches = file.batches(read, batch_rows, numbers=numbers)
    else:
        batches = iter(())

    def blocks() -> Iterator[dict[str, Any]]:
        for batch in prefetch(batches):
            yield {name: simple(batch.column(i)) for i, name in enumerate(read)}

    def results() -> Iterator[Any]:
        for arrays in blocks() if beside is None else beside.added_to(blocks(), batch_rows):
            T = np.asarray(model._map(encoder.encode(arrays)) if fused is None else fused(arrays))
            if T.shape[1] != len(names):
                raise TableError(
                    f"The map of the model has {T.shape[1]} outputs, but {len(names)} names."
                )
            kept = [decoded(arrays[name]) for name in keep]
            block = np.ascontiguousarray(T.T, dtype=dtype)
            yield arrow.RecordBatch.from_arrays(
                [*kept, *(arrow.array(row) for row in block)], names=[*keep, *names]
            )

    done = 0
    stream = prefetch(results())
    try:
        first = next(stream, None)
        if first is None:
            raise TableError(f"'{source}' has names of columns but no rows.")
        with _written(target, first.schema, names) as write:
            for batch in chain([first], stream):
                write(batch)
                done += batch.num_rows
                if progress is not None:
                    progress(done, n_rows)
    finally:
        stream.close()
    return done


def _encoder_of(model: Any) -> Any:
    """Return the encoder; for a model of plain numbers, one that takes its columns by name."""
    if model.encoder_ is not None:
        return model.encoder_
    estimator = model.estimator_
    names = getattr(estimator, "feature_names_in_", None)
    if names is None:
        raise TableError(
            "This model was fitted to numbers without names, so it is not known which column of "
            "the table is which. Fit it to a frame or to files, or transform arrays in Python."
        )
    left_out = set(as_columns(getattr(estimator, "sensitive_columns", None)))
    return _PlainColumns([str(name) for name in names if name not in left_out])


@dataclass(frozen=True)
class _Beside:
    """Vectors beside a table, and the column that they were when the model was fitted."""

    name: str
    given: GivenVectors
    alone: bool

    @classmethod
    def of(cls, encoder: Any, there: Sequence[str], vectors: Any) -> _Beside:
        columns = [e.name for e in getattr(encoder, "encoders_", ()) if isinstance(e, VectorColumn)]
        lacking = [name for name in columns if name not in there]
        if len(lacking) != 1:
            listed = ", ".join(map(repr, columns)) or "none"
            raise TableError(
                f"Vectors were passed, and the table lacks {len(lacking)} of the columns of "
                f"vectors that the model was fitted to ({listed}), not one. Pass vectors for a "
                f"column that is not in the table."
            )
        return cls(lacking[0], GivenVectors.of(vectors), alone=not there)

    def added_to(
        self, blocks: Iterator[dict[str, Any]], batch_rows: int
    ) -> Iterator[dict[str, Any]]:
        """Yield the columns of each batch with its vectors; raise where rows have none."""
        n = len(self.given.values)
        if self.alone:
            for start in range(0, n, batch_rows):
                yield {self.name: self._column(start, start + batch_rows)}
            return
        done = 0
        for block in blocks:
            start, done = done, done + len(next(iter(block.values())))
            if done <= n:
                yield {**block, self.name: self._column(start, done)}
        self.given.check_rows(done)

    def _column(self, start: int, stop: int) -> Any:
        arrow, values = import_arrow(), self.given.block(start, stop).astype(float)
        return arrow.FixedSizeListArray.from_arrays(arrow.array(values.ravel()), values.shape[1])


def _check_kept(keep: Sequence[str], there: list[str], names: list[str], out: Path) -> None:
    if keep and _format_of(out) == "npy":
        raise TableError(
            f"'{out}' is to be an array, which has no place for the column '{keep[0]}'. Write to "
            f"a .parquet file, or keep no columns."
        )
    for name in keep:
        if name not in there:
            raise TableError(
                f"keep names '{name}', which is not a column of the table."
                f"{did_you_mean(name, there)}"
            )
        if name in names:
            raise TableError(
                f"keep names '{name}', which is also an output of the model. Rename the column."
            )


class _PlainColumns:
    """Stands for an encoder where a model was fitted to numbers, so that nothing is to encode."""

    def __init__(self, names: Sequence[str]) -> None:
        self.needed_columns = self.number_columns = list(names)

    def encode(self, arrays: Mapping[str, Any]) -> np.ndarray:
        """Return the columns as an array of shape (n, d); raise where one is not finite."""
        n = len(arrays[self.needed_columns[0]])
        X = np.empty((n, len(self.needed_columns)))
        for j, name in enumerate(self.needed_columns):
            X[:, j] = floats(arrays[name], name)
            if not np.isfinite(X[:, j]).all():
                raise TableError(
                    f"Column '{name}' has missing or infinite values, and this model was fitted to "
                    f"plain numbers. Fill them in first, or fit with `fairpca fit`, which does."
                )
        return X


def _format_of(path: Path) -> str:
    """Return the format that the ending of a name stands for."""
    for ending, kind in FORMATS.items():
        if path.name.lower().endswith(ending):
            return kind
    raise TableError(
        f"'{path}' does not say in which format to write. Use one of these endings: "
        f"{', '.join(FORMATS)}."
    )


@contextmanager
def _written(path: Path, schema: Any, plain: list[str]) -> Iterator[Callable[[Any], None]]:
    """Give a function that adds batches to a file, which appears when all of them are written.

    Values of the `plain` columns hardly ever repeat, so that a dictionary of them is of no use.
    """
    arrow, kind = import_arrow(), _format_of(path)
    try:
        with whole_file(path) as draft, ExitStack() as stack:
            if kind == "parquet":
                repeating = [name for name in schema.names if name not in set(plain)]
                writer = arrow.parquet.ParquetWriter(
                    draft, schema, use_dictionary=repeating or False, write_statistics=repeating
                )
            elif kind == "npy":
                writer = _ArrayWriter(stack.enter_context(draft.open("wb")), schema)
            else:
                packing = "gzip" if path.name.lower().endswith(".gz") else None
                stream = stack.enter_context(arrow.output_stream(str(draft), compression=packing))
                lz4 = arrow.ipc.IpcWriteOptions(compression="lz4")
                as_arrow = partial(arrow.ipc.new_file, options=lz4)
                writer = (arrow.csv.CSVWriter if kind == "csv" else as_arrow)(stream, schema)
            stack.callback(writer.close)
            yield writer.write_batch
            stack.close()  # before the draft takes its place
    except arrow.ArrowException as error:
        why = str(error).splitlines()[0].rstrip(".") if str(error) else type(error).__name__
        raise TableError(f"'{path}' cannot be written: {why}. Do not keep that column.") from error
    except OSError as error:
        if error.errno is None:
            raise
        raise TableError(f"'{path}' cannot be written: {error.strerror or error}.") from error


class _ArrayWriter:
    """Writes batches of numbers as `numpy.save` does, however many there will be.

    The header has room for a larger number of rows, which is written over it at the end.
    """

    def __init__(self, stream: IO[bytes], schema: Any) -> None:
        self.stream, self.n = stream, 0
        self.dtype, self.k = np.dtype(schema.types[0].to_pandas_dtype()), len(schema.names)
        self._write_header()

    def _write_header(self) -> None:
        about = {"fortran_order": False, "shape": (self.n, self.k)}
        descr = np.lib.format.dtype_to_descr(self.dtype)
        np.lib.format.write_array_header_1_0(self.stream, {"descr": descr, **about})

    def write_batch(self, batch: Any) -> None:
        """Append the rows of a record batch."""
        columns = [column.to_numpy() for column in batch.columns]
        self.stream.write(np.stack(columns, axis=1).astype(self.dtype).tobytes())
        self.n += batch.num_rows

    def close(self) -> None:
        """Write how many rows there are."""
        self.stream.seek(0)
        self._write_header()


class _FusedMap:
    """The sum of a constant, of numbers times a matrix, and of rows of tables.

    Each level has its row of k numbers, made once; small categories are looked up together.
    """

    def __init__(self, encoder: TableEncoder, map: LinearMap) -> None:
        matrix = np.asarray(map.scaled_matrix, dtype=float)
        offset = 0.0 if map.offset is None else np.asarray(map.offset, dtype=float)
        self.encoder = encoder
        self.constant = offset - np.asarray(map.mean, dtype=float) @ matrix
        self.numbers, self.others, levels = [], [], []
        number_rows: list[np.ndarray] = []
        for column, span, kept in encoder.spans():
            if isinstance(column, LevelColumn):
                table = encoder.standardized(column.table[:, kept], span) @ matrix[span]
                levels.append(([column], table))
            elif isinstance(column, NumberColumn):
                self.numbers.append((column, span, kept))
                number_rows.append(matrix[span])
            else:
                self.others.append((column, span, kept, matrix[span]))
        self.number_matrix = np.concatenate([np.empty((0, matrix.shape[1])), *number_rows])
        self.tables = _combined(levels)

    def __call__(self, arrays: Mapping[str, Any]) -> np.ndarray:
        """Return the representation of n rows, shape (n, k), float64."""
        n, k = len(arrays[self.encoder.encoders_[0].name]), len(self.constant)
        numbers = self._numbers(arrays, n)
        lookups = [(self._codes(columns, arrays), table) for columns, table in self.tables]
        for column, span, kept, matrix in self.others:
            codes, values = column.rows(arrays[column.name])
            table = self.encoder.standardized(values[:, kept], span) @ matrix
            lookups.append((np.arange(n) if codes is None else codes, table))
        T = np.empty((n, k))
        added = np.empty((min(n, ROWS_AT_A_TIME), k))
        for start in range(0, n, ROWS_AT_A_TIME):
            rows = slice(start, min(n, start + ROWS_AT_A_TIME))
            sums = T[rows]
            np.matmul(numbers[:, rows].T, self.number_matrix, out=sums)
            sums += self.constant
            for codes, table in lookups:
                found = added[: len(sums)]
                # All codes are in the table; "clip" only spares numpy a copy.
                np.take(table, codes[rows], axis=0, out=found, mode="clip")
                sums += found
        return T

    def _numbers(self, arrays: Mapping[str, Any], n: int) -> np.ndarray:
        """Return the standardised numbers, one row per output."""
        numbers = np.empty((len(self.number_matrix), n))
        start = 0
        for column, span, kept in self.numbers:
            _, values = column.rows(arrays[column.name])
            numbers[start : start + len(kept)] = self.encoder.standardized(values[:, kept], span).T
            start += len(kept)
        return numbers

    def _codes(self, columns: list[LevelColumn], arrays: Mapping[str, Any]) -> np.ndarray:
        """Return which row of a table of combinations each row has."""
        first, *others = columns
        codes = first.codes(arrays[first.name])
        for column in others:
            codes = codes * len(column.table) + column.codes(arrays[column.name])
        return codes


def _combined(
    levels: list[tuple[list[LevelColumn], np.ndarray]],
) -> list[tuple[list[LevelColumn], np.ndarray]]:
    """Return tables of combinations of levels: fewer sums per row, as long as they are small."""
    tables: list[tuple[list[LevelColumn], np.ndarray]] = []
    for columns, table in sorted(levels, key=lambda pair: len(pair[1])):
        if tables and len(tables[-1][1]) * len(table) <= LARGEST_TABLE:
            before, other = tables[-1]
            both = (other[:, None, :] + table[None, :, :]).reshape(-1, table.shape[1])
            tables[-1] = ([*before, *columns], both)
        else:
            tables.append((columns, table))
    return tables
