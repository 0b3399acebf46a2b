"""Text files of any size as rows to fit to."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import chain, islice
from typing import Any

import numpy as np

from .._attributes import assign_roles
from ..tables import NumberColumn
from ._file_rows import FileRows, Progress
from ._number_parts import Encoder, Parts
from ._parquet_rows import checked_dtype
from ._paths import FileState, Paths, find_files
from ._pieces import rows_per_piece
from ._text_files import TextFile, WholeFile, check_same_columns
from ._text_kinds import NUMBER, TRUTH, WHOLE, kinds_of_columns

ENDINGS = (".csv", ".csv.gz", ".tsv", ".tsv.gz")


class CSVRows(FileRows):
    r"""Rows of text files, to be passed to `fit` in place of arrays.

    Files are read piece by piece: the memory does not depend on their size, and the result is that
    of the same rows in memory. Parquet files are read many times faster.

    Parameters
    ----------
    paths : path, or iterable of paths
        A file, a pattern such as ``"data/*.csv"``, a folder (all ``*.csv``, ``*.tsv`` and their
        gzipped forms below it), or a list of these.
    sensitive, features, target, weight, ignore, n_jobs, checkpoint, checkpoint_seconds, progress
        As for `fairpca.ParquetRows`. The number of all rows is not known, so
        `progress` is told None. Several threads help where there are several files.
    batch_rows, dtype, encoder, attributes
        As there. Numbers in texts are read in double precision.
    columns, header, skip_lines
        How the files are written, see `fairpca.tables.read_table`.

    Raises
    ------
    CheckpointError
        If there is a `checkpoint`, and a function or an encoder without a ``fingerprint``.
    TableError
        If there is no file, one is no table, or a later one lacks columns.

    See Also
    --------
    ParquetRows : Faster to read, and its columns have types.
    moments_from_csv : The moments, without a fit.

    Notes
    -----
    Whether an attribute is a number is decided by all its values, as in memory. So columns of
    attributes and labels are looked through once before, up to the first text that is no number.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from fairpca import collect_moments
    >>> from fairpca import CSVRows
    >>> file = Path(tempfile.mkdtemp()) / "people.csv"
    >>> _ = file.write_text("age,height,sex\n30,1.7,f\n40,1.8,m\n50,1.6,f\n")
    >>> collect_moments(CSVRows(file, sensitive="sex"), None).mean.round(2)
    array([40. ,  1.7])
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
        columns: Sequence[str] | None = None,
        header: bool | None = None,
        skip_lines: int = 0,
    ) -> None:
        found = find_files(paths, ENDINGS)
        states = [FileState.of(path) for path in found]
        how = {"columns": columns, "header": header, "skip_lines": skip_lines}
        self.text_files = [TextFile.open(path, **how) for path in found]
        self.how = how
        first = self.text_files[0]
        named = encoder.needed_columns if features is None and encoder is not None else features
        roles = assign_roles(
            first.names,
            sensitive=sensitive,
            features=named,
            target=target,
            weight=weight,
            ignore=ignore,
            file=f"'{first.path}'",
        )
        check_same_columns(self.text_files, roles, every=named is None)
        parts = Parts(roles, checked_dtype(dtype) or np.dtype(np.float64), encoder, attributes)
        itemsize = parts.dtype.itemsize
        super().__init__(
            states,
            parts,
            piece_rows=(
                rows_per_piece(len(parts.names), itemsize) if batch_rows is None else batch_rows
            ),
            n_rows=None,
            n_jobs=n_jobs,
            checkpoint=checkpoint,
            checkpoint_seconds=checkpoint_seconds,
            progress=progress,
        )
        self._kinds = self._known_kinds()
        self._numbers = self._columns_of_numbers()

    def _known_kinds(self) -> dict[str, str]:
        """Return what becomes of the texts of columns; an encoder takes texts as they are."""
        roles = self.parts.roles
        kinds = {} if roles.weight is None else {roles.weight: NUMBER}
        if self.parts.encoder is None:
            # One block tells truth values from numbers; anything else in the rest is an error.
            blocks = self.text_files[0].texts(roles.features, roles.features)
            found = kinds_of_columns(islice(blocks, 1), roles.features)
            kinds |= {name: TRUTH if kind == TRUTH else NUMBER for name, kind in found.items()}
        if self.parts.attributes is None:
            plain = [*roles.sensitive, *([] if roles.target is None else [roles.target])]
            texts = chain.from_iterable(file.texts(plain, plain) for file in self.text_files)
            kinds |= kinds_of_columns(texts, plain)
        return kinds

    def _columns_of_numbers(self) -> tuple[str, ...]:
        """Return the columns whose decimal comma is made a point."""
        numbers = [name for name, kind in self._kinds.items() if kind in (WHOLE, NUMBER)]
        encoders = getattr(self.parts.encoder, "encoders_", ())
        numeric = (c for c in encoders if isinstance(c, NumberColumn) and not c.boolean)
        return (*numbers, *(column.name for column in numeric))

    def _stretches(self, columns: Sequence[str]) -> list[WholeFile]:
        return [
            WholeFile(
                file=file,
                columns=tuple(columns),
                kinds={name: kind for name, kind in self._kinds.items() if name in columns},
                numbers=tuple(name for name in self._numbers if name in columns),
                piece_rows=self.piece_rows,
                number=i,
            )
            for i, file in enumerate(self.text_files)
        ]

    def _reading(self) -> str:
        return f"CSV {sorted(self.how.items())!r} {sorted(self._kinds.items())!r}"
