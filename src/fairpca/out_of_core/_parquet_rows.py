"""Parquet files of any size as rows to fit to."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from .._attributes import assign_roles
from ..errors import TableError
from ._column_types import check_alike, check_kinds, common_dtype
from ._file_rows import FileRows, Progress
from ._number_parts import Encoder, Parts
from ._parquet_footers import read_footer
from ._paths import Paths, find_files
from ._pieces import rows_per_piece
from ._row_groups import RowGroups, stretches_of

FLOATS = (np.dtype(np.float32), np.dtype(np.float64))


class ParquetRows(FileRows):
    """Rows of Parquet files, to be passed to `fit` in place of arrays.

    Files are read piece by piece: the memory does not depend on their size, only the needed columns
    are read, and the result is that of the same rows in memory.

    Parameters
    ----------
    paths : path, or iterable of paths
        A file, a pattern such as ``"data/*.parquet"``, a folder (all ``*.parquet`` below it and
        below folders that are linked there, but for names that start with a dot or an underscore),
        or a list of these. Folders named ``key=value`` are refused: that column is in no file.
    sensitive : str or sequence of str
        Columns of sensitive attributes: texts, numbers or truth values.
    features : sequence of str, optional
        Columns of numbers or truth values; by default all that are nothing else.
    target, weight : str, optional
        Columns of labels, and of weights >= 0.
    ignore : str or sequence of str
        Columns that are no features.
    n_jobs : int, optional
        Threads that read and compute; by default as many as BLAS may use, -1 for all cores. The
        result is the same to the last bit.
    checkpoint : path, optional
        A file to keep how far the work is. After a crash the next run with the same files and the
        same question goes on from there, with the same result to the last bit; the file is removed
        when the moments are complete. Rows that were read but not added are read again. Functions
        (`attributes`, the kernel of an estimator) and encoders without ``to_plain()`` then need an
        attribute ``fingerprint``: a text that changes whenever their results do.
    checkpoint_seconds : float
        How often it is saved.
    progress : callable, optional
        Called with the number of rows done, and of all rows.
    batch_rows : int, optional
        Rows at a time; by default about 32 MB of them.
    dtype : {"float32", "float64"}, optional
        What to compute in. By default single precision if all features are float32, with sums in
        double precision.
    encoder : fitted `fairpca.tables.TableEncoder` or the like, optional
        Makes numbers of messy columns; `features` are then its columns.
    attributes : callable, optional
        From Arrow arrays of the sensitive columns, by name, to what `fit` takes for
        sensitive features.

    Raises
    ------
    CheckpointError
        If there is a `checkpoint`, and a function or an encoder without a ``fingerprint``.
    TableError
        If there is no file, one is damaged, or a later one has other columns or types: the footers
        of all files are read first.

    See Also
    --------
    CSVRows : The same for text files.
    moments_from_parquet : The moments alone.

    Examples
    --------
    >>> import tempfile
    >>> import numpy as np, pandas as pd
    >>> from fairpca import FairPCA
    >>> from fairpca import ParquetRows
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

    def __init__(
        self,
        paths: Paths,
        *,
        sensitive: str | Iterable[str],
        features: Iterable[str] | None = None,
        target: str | None = None,
        weight: str | None = None,
        ignore: str | Iterable[str] = (),
        n_jobs: int | None = None,
        checkpoint: str | os.PathLike[str] | None = None,
        checkpoint_seconds: float = 30.0,
        progress: Progress | None = None,
        batch_rows: int | None = None,
        dtype: Any = None,
        encoder: Encoder | None = None,
        attributes: Callable[[Mapping[str, Any]], Any] | None = None,
    ) -> None:
        self.footers = [read_footer(path) for path in find_files(paths, [".parquet"])]
        first = self.footers[0]
        named = encoder.needed_columns if features is None and encoder is not None else features
        roles = assign_roles(
            list(first.types),
            sensitive=sensitive,
            features=named,
            target=target,
            weight=weight,
            ignore=ignore,
            file=f"'{first.path}'",
        )
        check_kinds(first.types, roles, encoded=encoder is not None)
        check_alike(self.footers, roles, every_column=named is None)
        chosen = checked_dtype(dtype)
        if chosen is None:
            double = np.dtype(np.float64)
            chosen = double if encoder is not None else common_dtype(first.types, roles.features)
        parts = Parts(roles, chosen, encoder, attributes)
        super().__init__(
            [footer.state for footer in self.footers],
            parts,
            piece_rows=(
                rows_per_piece(len(parts.names), chosen.itemsize)
                if batch_rows is None
                else batch_rows
            ),
            n_rows=sum(footer.n_rows for footer in self.footers),
            n_jobs=n_jobs,
            checkpoint=checkpoint,
            checkpoint_seconds=checkpoint_seconds,
            progress=progress,
        )

    def _stretches(self, columns: Sequence[str]) -> list[RowGroups]:
        return stretches_of(self.footers, columns, self.piece_rows)


def checked_dtype(dtype: Any) -> np.dtype | None:
    """Return what was asked to compute in, None if nothing was."""
    chosen = None if dtype is None else np.dtype(dtype)
    if chosen is not None and chosen not in FLOATS:
        raise TableError(f"dtype={dtype!r} is neither float32 nor float64.")
    return chosen
