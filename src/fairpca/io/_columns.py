"""From columns of a file to the arguments of `fit`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from .._attributes import Roles
from .._rows import Batch
from ..errors import TableError
from ..tables import (
    NUMBER,
    TEXT,
    WHOLE,
    TableEncoder,
    TableFile,
    converted,
    distinct,
    family,
    import_arrow,
    import_pandas,
    simple,
)

_PADDING = 1040
"""Numbers between the rows of a block, so that they do not start at the same place of the cache."""


@dataclass(frozen=True)
class FileBatch:
    """Some consecutive rows of a file as they are read, with a number of their own."""

    columns: dict[str, Any]
    n_rows: int
    number: int
    where: str


class Tables:
    """Makes parts of batches whose features are Arrow tables of columns as they are read."""

    def __init__(self, files: Sequence[TableFile], columns: Sequence[str]) -> None:
        self.files, self.columns = files, tuple(columns)
        self.numbers: tuple[str, ...] = ()

    @property
    def head(self) -> Batch:
        """A table without rows; texts as texts."""
        arrow, types = import_arrow(), self.files[0].types
        empty = {name: arrow.array([], types.get(name, arrow.string())) for name in self.columns}
        return Batch(arrow.table(empty))

    def __call__(self, batch: FileBatch) -> Batch:
        """Return a batch as an Arrow table."""
        return Batch(import_arrow().table(dict(batch.columns)), number=batch.number)

    def placed(self, error: ValueError, part: Batch, where: str) -> ValueError:
        """Return an error about some rows with the place of these rows."""
        return TableError(f"In {where}: {error}") if isinstance(error, TableError) else error

    def __repr__(self) -> str:
        return f"{len(self.columns)} columns"


class Numbers:
    """Makes parts of batches whose features are numbers, in a frame with their names.

    Of text files, `kinds` tells what becomes of the texts of columns.
    """

    def __init__(
        self,
        roles: Roles,
        dtype: np.dtype,
        encoder: TableEncoder | None,
        attributes: Callable[[Mapping[str, Any]], Any] | None,
        kinds: Mapping[str, str],
    ) -> None:
        self.roles, self.dtype, self.kinds = roles, dtype, kinds
        self.encoder, self.attributes = encoder, attributes
        names = roles.features if encoder is None else encoder.get_feature_names_out()
        self.names = import_pandas().Index([str(name) for name in names], dtype=object)
        self.columns = tuple(roles.needed)
        parsed = [name for name, kind in self.kinds.items() if kind in (WHOLE, NUMBER)]
        self.numbers = (*parsed, *getattr(encoder, "number_columns", ()))

    @property
    def head(self) -> Batch:
        """A part without rows."""
        X = np.empty((0, len(self.names)), self.dtype)
        nothing = {name: np.empty(0, dtype=object) for name in self.roles.sensitive}
        y = None if self.roles.target is None else np.empty(0)
        weight = None if self.roles.weight is None else np.empty(0)
        return Batch(self._frame(X), y, nothing, weight)

    def __call__(self, batch: FileBatch) -> Batch:
        """Return a batch as the arguments of `fit`."""
        roles, columns = self.roles, batch.columns
        for name, kind in self.kinds.items():
            columns[name] = converted(columns[name], kind, name, batch.where)
        if self.encoder is None:
            X = _feature_block(batch, roles.features, self.dtype).T
        else:
            X = self.encoder.encode({n: simple(columns[n]) for n in self.encoder.needed_columns})
        sensitive = {name: simple(columns[name]) for name in roles.sensitive}
        part = Batch(
            X=self._frame(X.astype(self.dtype, copy=False)),
            y=None if roles.target is None else self._target(columns[roles.target]),
            sensitive_features=(
                {name: _attribute(array) for name, array in sensitive.items()}
                if self.attributes is None
                else self.attributes(sensitive)
            ),
            sample_weight=None if roles.weight is None else _floats(simple(columns[roles.weight])),
            number=batch.number,
        )
        columns.clear()  # before the products: a batch is in memory once
        return part

    def _target(self, column: Any) -> Any:
        labels = _labels(simple(column))
        return import_pandas().Series(labels, name=self.roles.target, dtype=labels.dtype)

    def _frame(self, X: np.ndarray) -> Any:
        """Return features with their names, without a copy."""
        return import_pandas().DataFrame(X, columns=self.names, copy=False)

    def placed(self, error: ValueError, part: Batch, where: str) -> ValueError:
        """Return an error about some rows with the place of these rows."""
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

    def __repr__(self) -> str:
        return f"{len(self.names)} features"


def _feature_block(batch: FileBatch, names: Sequence[str], dtype: np.dtype) -> np.ndarray:
    """Return columns of numbers as rows of a block (d, n), whose transpose BLAS takes as it is."""
    arrow = import_arrow()
    block = np.empty((len(names), batch.n_rows + _PADDING), dtype)[:, : batch.n_rows]
    for row, name in zip(block, names, strict=True):
        column, start = batch.columns[name], 0
        if column.null_count:
            raise TableError(
                f"The feature '{name}' is missing in {column.null_count:,} of {batch.where}, and a "
                f"product with a missing number is missing. Fill the values in, leave the column "
                f"or the rows out, or use `fairpca fit`, which fills in medians."
            )
        for chunk in column.chunks:
            if arrow.types.is_decimal(chunk.type):
                chunk = chunk.cast(arrow.float64())
            with np.errstate(over="ignore"):  # infinite numbers are refused later, by name
                row[start : start + len(chunk)] = chunk.to_numpy(zero_copy_only=False)
            start += len(chunk)
    return block


def _floats(array: Any) -> np.ndarray:
    """Return an Arrow array as float64, NaN where missing."""
    doubles = array.cast(import_arrow().float64(), safe=False)
    return np.asarray(doubles.to_numpy(zero_copy_only=False))


def _labels(array: Any) -> np.ndarray:
    """Return an Arrow array as numbers, or as objects with None where missing."""
    arrow = import_arrow()
    if arrow.types.is_floating(array.type) or arrow.types.is_decimal(array.type):
        return _floats(array)
    if not array.null_count and not _has_levels(array.type):
        return array.to_numpy(zero_copy_only=False)
    codes, values = distinct(array)
    return np.array([*values[:-1], None], dtype=object)[codes]


def _attribute(array: Any) -> Any:
    """Return a sensitive column so that it has the same kind whatever is missing in it."""
    arrow = import_arrow()
    if arrow.types.is_floating(array.type) or arrow.types.is_decimal(array.type):
        return _floats(array)
    if _has_levels(array.type) or array.null_count:
        # Levels even where nothing is known: a part must not look different for that.
        array = array if arrow.types.is_dictionary(array.type) else array.dictionary_encode()
        return array if hasattr(array, "chunks") else arrow.chunked_array([array])
    return _labels(array)


def _has_levels(kind: Any) -> bool:
    return family(kind) == TEXT or import_arrow().types.is_dictionary(kind)
