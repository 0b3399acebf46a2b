"""Files of any size as rows to fit to: read in batches, added in order."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from itertools import chain, count, islice
from pathlib import Path
from typing import Any

import numpy as np

from .._attributes import Roles, as_columns, assign_roles
from .._numerics import allowed_jobs, blas_threads, check_n_jobs
from .._rows import Batch, Collect, LazyRows, ordered_fold
from ..errors import TableError, UsageError
from ..tables import (
    NUMBER,
    TRUTH,
    WHOLE,
    FileState,
    Paths,
    TableEncoder,
    TableFile,
    check_same_columns,
    converted,
    find_files,
    import_arrow,
    import_pandas,
    kind_of_file,
    kinds_of_columns,
    open_table,
    simple,
)
from ._columns import (
    FileBatch,
    attribute,
    check_kinds,
    chosen_dtype,
    feature_block,
    floats,
    labels,
    of_type,
    types_of,
)

Progress = Callable[[int, int | None], None]

BATCH_BYTES = 2**25
"""Features of a batch: less, and the checks of each one would show in the time."""

FEWEST_BATCH_ROWS, MOST_BATCH_ROWS = 2**12, 2**17
"""A batch has a whole multiple of the first, a block, and no more rows than the second."""

_MOST_THREADS = 32  # or one per core: threads wait for disks, but not a thousand of them

READ_ROWS = 2**16
"""Rows that are read at a time. Readers keep the last ones while they read the next."""

TEXT_BYTES = 24
"""A number as a text, about: batches of text files are in memory as texts first."""


def rows_per_batch(n_features: int, itemsize: int) -> int:
    """Return how many rows make a batch: no fewer than features, so that moments are a matrix."""
    fit = BATCH_BYTES // max(1, n_features * itemsize)
    rows = max(fit // FEWEST_BATCH_ROWS, -(-n_features // FEWEST_BATCH_ROWS)) * FEWEST_BATCH_ROWS
    return min(rows, MOST_BATCH_ROWS)


class FileRows(LazyRows):
    """Rows of files that may be larger than the memory, whatever is in the files.

    A subclass names the `columns` to read, those whose texts are `numbers`, and makes a part of
    the columns of a batch; `n_jobs` batches are read and collected side by side, by default as many
    as BLAS may use threads.
    """

    columns: Sequence[str]
    numbers: Sequence[str] = ()

    def __init__(
        self,
        files: Sequence[TableFile],
        batch_rows: int,
        n_jobs: int | None = None,
        progress: Progress | None = None,
    ) -> None:
        check_n_jobs(n_jobs)
        if type(batch_rows) is not int or batch_rows < 1:
            raise UsageError(f"batch_rows={batch_rows!r} is not a number of rows. Use 1 or more.")
        self.files, self.batch_rows = files, batch_rows
        known = [file.n_rows for file in files if file.n_rows is not None]
        self.n_rows = sum(known) if len(known) == len(files) else None
        self.n_jobs, self.progress = n_jobs, progress

    @abstractmethod
    def _part(self, batch: FileBatch) -> Batch:
        """Return what `collect` takes of a batch."""

    @abstractmethod
    def _placed(self, error: ValueError, part: Batch, where: str) -> ValueError:
        """Return an error about some rows with the place of these rows."""

    @abstractmethod
    def _described(self) -> str:
        """Return what the columns are, in a few words."""

    def fold(self, collect: Collect) -> Any:
        """Return the sum of what `collect` returns for the parts; None if all parts are empty."""

        def work(batch: FileBatch) -> Any:
            part = self._part(batch)
            try:
                return collect(part)
            except ValueError as error:
                placed = self._placed(error, part, batch.where)
                if placed is error:
                    raise
                raise placed from error

        n_jobs = allowed_jobs(self.n_jobs, usual=blas_threads(), most=_MOST_THREADS)
        batches = self._batches(use_threads=n_jobs > 1)
        try:
            total = ordered_fold(batches, work, n_jobs=n_jobs, after_each=self._tell_progress)
        except TableError:
            self._check_unchanged()  # or that is what went wrong
            raise
        self._check_unchanged()
        return total

    def _tell_progress(self, n_rows: int) -> None:
        if self.progress is not None:
            self.progress(n_rows, self.n_rows)

    def _batches(self, **how: Any) -> Generator[FileBatch, None, None]:
        """Yield the batches of all files in their order."""
        spans = [(file, span) for file in self.files for span in file.spans(self.batch_rows)]
        for i, (file, span) in enumerate(spans):
            yield from self._batches_of(file, span, i, **how)

    def _batches_of(
        self, file: TableFile, span: range | None, i: int, **how: Any
    ) -> Iterator[FileBatch]:
        where, rows, done = file.where(span), self.batch_rows, 0
        columns, numbers = self.columns, self.numbers

        def made(index: int, table: Any) -> FileBatch:
            nonlocal done
            done = index * rows + table.num_rows
            arrays = {name: table.column(j) for j, name in enumerate(columns)}
            place = f"rows {index * rows:,} to {done - 1:,} of {where}"
            return FileBatch(arrays, table.num_rows, i << 32 | index, place)

        read = file.batches(columns, min(READ_ROWS, rows), span=span, numbers=numbers, **how)
        try:
            # No name is given to a table: it would stay in memory while the next one is read.
            yield from map(made, count(), in_equal_batches(read, rows))
        except TableError as error:
            if file.kind != "text":
                raise
            raise TableError(f"{error} (This is after row {done:,}.)") from error

    def _check_unchanged(self) -> None:
        for state in (file.state for file in self.files):
            if FileState.of(Path(state.path)) != state:
                raise TableError(
                    f"'{state.path}' was changed while it was read, so its rows are some of the "
                    f"old and some of the new ones. Wait until it is written, and start anew."
                )

    def __repr__(self) -> str:
        rows = "" if self.n_rows is None else f"{self.n_rows:,} rows, "
        files = f"{len(self.files)} file{'s' if len(self.files) != 1 else ''}"
        return f"<{type(self).__name__}: {files}, {rows}{self._described()}>"


class TableRows(FileRows):
    """Rows of files whose features are Arrow tables of columns as they are, to be looked at."""

    def __init__(self, files: Sequence[TableFile], columns: Sequence[str], **how: Any) -> None:
        super().__init__(files, **how)
        self.columns = tuple(columns)

    @property
    def head(self) -> Batch:
        """A table without rows; texts as texts."""
        arrow, types = import_arrow(), self.files[0].types
        empty = {name: arrow.array([], types.get(name, arrow.string())) for name in self.columns}
        return Batch(arrow.table(empty))

    def _part(self, batch: FileBatch) -> Batch:
        return Batch(import_arrow().table(dict(batch.columns)), number=batch.number)

    def _placed(self, error: ValueError, part: Batch, where: str) -> ValueError:
        return TableError(f"In {where}: {error}") if isinstance(error, TableError) else error

    def _described(self) -> str:
        return f"{len(self.columns)} columns"


def _opened(paths: Any, endings: Sequence[str], kind: str, **how: Any) -> list[TableFile]:
    """Find and open files of one kind, unless they are open; of another, tell who reads them."""
    if isinstance(paths, list) and paths and all(isinstance(path, TableFile) for path in paths):
        return paths
    found = find_files(paths, endings)
    for path in found:
        there = kind_of_file(path)
        if kind == "parquet" and there != kind:
            open_table(path)  # which says what is wrong with what is no table at all
            raise TableError(
                f"'{path}' is not a Parquet file, but {'a text' if there == 'text' else there} "
                f"one. Text files are read by CSVRows."
            )
        if kind == "text" and there in ("parquet", "arrow"):
            raise TableError(
                f"'{path}' is a {there} file, not a text one. "
                f"Parquet files are read by ParquetRows."
            )
    return [open_table(path, as_written=True, **how) for path in found]


class _NumberRows(FileRows):
    """Rows of files of one kind, found in folders by their endings, whose features are numbers.

    Of text files, `texts` tells what becomes of the texts of columns.
    """

    kind: str
    endings: tuple[str, ...]

    def __init__(
        self,
        paths: Paths | list[TableFile],
        *,
        sensitive: str | Iterable[str],
        features: Iterable[str] | None = None,
        target: str | None = None,
        weight: str | None = None,
        given: str | Iterable[str] = (),
        ignore: str | Iterable[str] = (),
        n_jobs: int | None = None,
        progress: Progress | None = None,
        batch_rows: int | None = None,
        dtype: Any = None,
        encoder: TableEncoder | None = None,
        attributes: Callable[[Mapping[str, Any]], Any] | None = None,
    ) -> None:
        files = _opened(paths, self.endings, self.kind)
        if features is None and encoder is not None:
            features = encoder.needed_columns
        factors = tuple(dict.fromkeys(as_columns(given)))
        features = None if features is None else tuple(as_columns(features))
        aside = [name for name in factors if name not in (features or ())]
        named: dict[str, Any] = {"sensitive": sensitive, "target": target, "weight": weight}
        named |= {"features": features, "ignore": [*as_columns(ignore), *aside]}
        named["renamed"] = files[0].renamed
        roles = assign_roles(files[0].names, file=f"'{files[0].path}'", **named)
        needed = [*roles.needed, *aside]
        check_same_columns(files, needed, every=features is None)
        types, encoded, texts = files[0].types, encoder is not None, dict[str, str]()
        if self.kind == "text":
            plain = () if attributes is not None else (*roles.sensitive, *as_columns(roles.target))
            texts = _kinds_of_texts(files, roles, (*plain, *factors), encoded=encoded)
        else:
            types = types_of(files, needed)
            check_kinds(types, roles, encoded=encoded)
        chosen = chosen_dtype(dtype, types, roles.features if types and not encoded else ())
        names = roles.features if encoder is None else encoder.get_feature_names_out()
        if batch_rows is None:
            size = TEXT_BYTES if self.kind == "text" else chosen.itemsize
            batch_rows = rows_per_batch(len(names), size)
        super().__init__(files, batch_rows, n_jobs, progress)
        self.roles, self.dtype, self.encoder, self.attributes = roles, chosen, encoder, attributes
        self.columns, self.texts, self.types = tuple(needed), texts, types
        self.factors = factors
        parsed = [name for name, kind in texts.items() if kind in (WHOLE, NUMBER)]
        self.numbers = (*parsed, *getattr(encoder, "number_columns", ()))
        self.names = import_pandas().Index([str(name) for name in names], dtype=object)

    @property
    def head(self) -> Batch:
        """A part without rows."""
        X = np.empty((0, len(self.names)), self.dtype)
        nothing = {name: np.empty(0, dtype=object) for name in self.roles.sensitive}
        y = None if self.roles.target is None else np.empty(0)
        weight = None if self.roles.weight is None else np.empty(0)
        given = {name: np.empty(0, dtype=object) for name in self.factors} or None
        return Batch(self._frame(X), y, nothing, weight, given=given)

    def _part(self, batch: FileBatch) -> Batch:
        """Return a batch as the arguments of `fit`."""
        roles, columns = self.roles, batch.columns
        for name in self.types:
            columns[name] = of_type(columns[name], self.types[name])
        for name, kind in self.texts.items():
            columns[name] = converted(columns[name], kind, name, batch.where)
        if self.encoder is None:
            X = feature_block(batch, roles.features, self.dtype).T
        else:
            X = self.encoder.encode({n: simple(columns[n]) for n in self.encoder.needed_columns})
        sensitive = {name: simple(columns[name]) for name in roles.sensitive}
        part = Batch(
            X=self._frame(X.astype(self.dtype, copy=False)),
            y=None if roles.target is None else self._target(columns[roles.target]),
            sensitive_features=(
                {name: attribute(array) for name, array in sensitive.items()}
                if self.attributes is None
                else self.attributes(sensitive)
            ),
            sample_weight=None if roles.weight is None else floats(simple(columns[roles.weight])),
            number=batch.number,
            given={n: attribute(simple(columns[n])) for n in self.factors} or None,
        )
        columns.clear()  # before the products: a batch is in memory once
        return part

    def _target(self, column: Any) -> Any:
        values = labels(simple(column))
        return import_pandas().Series(values, name=self.roles.target, dtype=values.dtype)

    def _frame(self, X: np.ndarray) -> Any:
        """Return features with their names, without a copy."""
        return import_pandas().DataFrame(X, columns=self.names, copy=False)

    def _placed(self, error: ValueError, part: Batch, where: str) -> ValueError:
        X = part.X.to_numpy()
        finite = np.isfinite(X)
        if not finite.all():
            row, column = (int(i) for i in np.argwhere(~finite)[0])
            value = "missing (NaN)" if np.isnan(X[row, column]) else "infinite"
            return TableError(
                f"The feature '{part.X.columns[column]}' is {value} in row {row:,} of {where}. "
                f"Fill it in, or leave the column or the row out."
            )
        if len(error.args) != 1 or not isinstance(error.args[0], str):
            return error
        return type(error)(f"In {where}: {error}")

    def _described(self) -> str:
        return f"{len(self.names)} features"


class ParquetRows(_NumberRows):
    """Rows of Parquet files, to be passed to `fit` in place of arrays.

    Files are read batch by batch: the memory does not depend on their size, only the needed columns
    are read, and the result is that of the same rows in memory.

    Parameters
    ----------
    paths : path, or iterable of paths
        A file, a pattern such as ``"data/*.parquet"``, a folder (all ``*.parquet`` below it and
        below folders that are linked there, but for names that start with a dot or an underscore),
        or a list of these. Folders named ``key=value`` raise an error: that column is in no file.
    sensitive : str or sequence of str
        Columns of sensitive attributes: texts, numbers or truth values.
    features : sequence of str, default=None
        Columns of numbers or truth values; by default all columns without another role.
    target : str, default=None
        Column of labels.
    weight : str, default=None
        Column of weights >= 0.
    given : str or sequence of str, default=()
        Columns of legitimate factors, as in `FairPCA.fit`. They are features only where `features`
        names them, too.
    ignore : str or sequence of str, default=()
        Columns that are not features.
    n_jobs : int, default=None
        Threads that read and compute; by default as many as BLAS may use, -1 for all cores. The
        result is the same to the last bit.
    progress : callable, default=None
        Called with the number of rows done, and of all rows.
    batch_rows : int, default=None
        Rows at a time; by default about 32 MB of them.
    dtype : {"float32", "float64"}, default=None
        Type to compute in. By default single precision if all features are float32, with sums in
        double precision.
    encoder : TableEncoder, default=None
        Fitted `fairpca.tables.TableEncoder`, or an object with its methods, which turns messy
        columns into numbers; `features` are then its columns.
    attributes : callable, default=None
        Function from Arrow arrays of the sensitive columns, by name, to the `sensitive_features` of
        `fit`.

    Raises
    ------
    TableError
        If there is no file, one is damaged, or a later one has other columns or types: the footers
        of all files are read first.

    See Also
    --------
    CSVRows : Rows of text files.
    collect_moments : Takes these rows too, and returns their moments without a fit.

    Examples
    --------
    >>> import tempfile
    >>> import numpy as np, pandas as pd
    >>> from fairpca import FairPCA
    >>> from fairpca.io import ParquetRows
    >>> rng = np.random.default_rng(0)
    >>> people = pd.DataFrame(rng.normal(size=(100, 3)), columns=["a", "b", "c"])
    >>> people["sex"] = rng.choice(["f", "m"], size=100)
    >>> folder = tempfile.mkdtemp()
    >>> people[:60].to_parquet(f"{folder}/1.parquet")
    >>> people[60:].to_parquet(f"{folder}/2.parquet")
    >>> rows = ParquetRows(folder, sensitive="sex")
    >>> rows
    <ParquetRows: 2 files, 100 rows, 3 features>
    >>> FairPCA(1).fit(rows).transform(people[["a", "b", "c"]]).shape
    (100, 1)
    """

    kind, endings = "parquet", (".parquet",)


class CSVRows(_NumberRows):
    r"""Rows of text files, to be passed to `fit` in place of arrays.

    Files are read batch by batch: the memory does not depend on their size, and the result is that
    of the same rows in memory. Parquet files are read many times faster.

    Parameters
    ----------
    paths : path, or iterable of paths
        A file, a pattern such as ``"data/*.csv"``, a folder (all ``*.csv``, ``*.tsv`` and their
        gzipped forms below it), or a list of these.
    columns : sequence of str, default=None
        For files without names: what the columns are called.
    header : bool, default=None
        Whether the first line has the names; by default it must look like names.
    skip_lines : int, default=0
        Lines to skip at the beginning of each file.
    encoding : str, default=None
        The encoding, such as "cp1252"; by default UTF-8, or UTF-16 where a file begins with its
        mark.
    **options
        All parameters of `fairpca.io.ParquetRows`: ``sensitive``, ``features`` and so on. Numbers
        in texts are read in double precision; the number of all rows is unknown, so `progress` gets
        None.

    Raises
    ------
    TableError
        If there is no file, one is no table, or a later one lacks columns.

    See Also
    --------
    ParquetRows : Faster to read, and its columns have types.
    collect_moments : Takes these rows too, and returns their moments without a fit.

    Notes
    -----
    Whether an attribute is numeric depends on all its values, as in memory. So columns of
    attributes and labels are read once before, up to the first text that is not a number.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from fairpca.moments import collect_moments
    >>> from fairpca.io import CSVRows
    >>> file = Path(tempfile.mkdtemp()) / "people.csv"
    >>> _ = file.write_text("age,height,sex\n30,1.7,f\n40,1.8,m\n50,1.6,f\n")
    >>> collect_moments(CSVRows(file, sensitive="sex"), None).mean.round(2)
    array([40. ,  1.7])
    """

    kind, endings = "text", (".csv", ".csv.gz", ".tsv", ".tsv.gz")

    def __init__(
        self,
        paths: Paths,
        *,
        columns: Sequence[str] | None = None,
        header: bool | None = None,
        skip_lines: int = 0,
        encoding: str | None = None,
        **options: Any,
    ) -> None:
        how = {"columns": columns, "header": header, "skip_lines": skip_lines, "encoding": encoding}
        super().__init__(_opened(paths, self.endings, self.kind, **how), **options)


def _kinds_of_texts(
    files: Sequence[TableFile], roles: Roles, plain: Sequence[str], *, encoded: bool
) -> dict[str, str]:
    """Return what becomes of the texts of columns; an encoder takes texts as they are.

    Those of `plain` columns are what all their values are.
    """

    def texts(file: TableFile, names: Sequence[str]) -> Iterator[dict[str, Any]]:
        for batch in file.batches(names, READ_ROWS, numbers=names):
            yield {name: batch.column(j) for j, name in enumerate(names)}

    kinds = {} if roles.weight is None else {roles.weight: NUMBER}
    if not encoded:
        # One batch tells truth values from numbers; anything else in the rest is an error.
        found = kinds_of_columns(islice(texts(files[0], roles.features), 1), roles.features)
        kinds |= {name: TRUTH if kind == TRUTH else NUMBER for name, kind in found.items()}
    if plain:
        kinds |= kinds_of_columns(chain.from_iterable(texts(f, plain) for f in files), plain)
    return kinds


def in_equal_batches(batches: Iterator[Any], rows: int) -> Iterator[Any]:
    """Yield Arrow tables of so many rows, but for the last, however rows come."""
    table_of = import_arrow().Table.from_batches
    source, rest = iter(batches), None
    held: list[Any] = []
    n = 0
    while (batch := next(source, None) if rest is None else rest) is not None:
        held.append(batch.slice(0, rows - n))
        rest = batch.slice(rows - n) if batch.num_rows > rows - n else None
        n += held[-1].num_rows
        del batch  # what a generator has names for stays in memory while it waits
        if n == rows:
            done, held, n = [table_of(held)], [], 0
            yield done.pop()
    if held:
        done, held = [table_of(held)], []
        yield done.pop()
