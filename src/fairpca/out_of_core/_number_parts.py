"""From columns of a file to the arguments of `fit`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

import numpy as np

from .._attributes import Roles
from .._numerics import fingerprint_of, own_fingerprint
from .._rows import Part
from ..errors import CheckpointError, TableError
from ..tables import distinct, import_arrow, import_pandas, simple
from ._pieces import Piece

PADDING = 1040
"""Numbers between the rows of a block, so that they do not start at the same place of the cache."""


class Encoder(Protocol):
    """What makes numbers of messy columns, such as a fitted `fairpca.tables.TableEncoder`."""

    @property
    def needed_columns(self) -> Sequence[str]:
        """The columns it reads."""
        ...

    def encode(self, arrays: Mapping[str, Any]) -> np.ndarray:
        """Return Arrow arrays of length n as a matrix of shape (n, D)."""
        ...

    def get_feature_names_out(self) -> Sequence[str]:
        """Return the D names."""
        ...


class Parts:
    """Makes parts of pieces.

    Parameters
    ----------
    roles : Roles
        Which column is what.
    dtype : dtype
        Of the features.
    encoder : Encoder, optional
        By default the features are numbers already.
    attributes : callable, optional
        From Arrow arrays by name to what estimators take for sensitive features.
    """

    def __init__(
        self,
        roles: Roles,
        dtype: np.dtype,
        encoder: Encoder | None = None,
        attributes: Callable[[Mapping[str, Any]], Any] | None = None,
    ) -> None:
        self.roles, self.dtype = roles, dtype
        self.encoder, self.attributes = encoder, attributes
        names = roles.features if encoder is None else encoder.get_feature_names_out()
        self.names = import_pandas().Index([str(name) for name in names], dtype=object)

    @property
    def head(self) -> Part:
        """A part without rows."""
        X = np.empty((0, len(self.names)), self.dtype)
        nothing = {name: np.empty(0, dtype=object) for name in self.roles.sensitive}
        y = None if self.roles.target is None else np.empty(0)
        weight = None if self.roles.weight is None else np.empty(0)
        return Part(self._frame(X), y, nothing, weight)

    def check_known(self) -> None:
        """Refuse what cannot be told from another of its kind by the next run."""
        plain = hasattr(self.encoder, "to_plain")
        for name, value in {"encoder": self.encoder, "attributes": self.attributes}.items():
            if value is None or own_fingerprint(value) is not None or (plain and name == "encoder"):
                continue
            raise CheckpointError(
                f"{name}={value!r} cannot be told from another, so a checkpoint could be continued "
                f"with other numbers. Give it an attribute `fingerprint`, a text that changes "
                f"whenever its results do, or work without a checkpoint."
            )

    @property
    def fingerprint(self) -> str:
        """Tells whether the encoder and the attributes are those of an earlier run."""
        encoder = self.encoder
        if encoder is not None and hasattr(encoder, "to_plain"):
            known = (type(encoder).__name__, encoder.to_plain())
            return fingerprint_of((known, self.attributes))
        return fingerprint_of((encoder, self.attributes))

    def __call__(self, piece: Piece) -> Part:
        """Return a piece as the arguments of `fit`."""
        roles, columns = self.roles, piece.columns
        if self.encoder is None:
            X = feature_block(piece, roles.features, self.dtype).T
        else:
            X = self.encoder.encode({n: simple(columns[n]) for n in self.encoder.needed_columns})
        sensitive = {name: simple(columns[name]) for name in roles.sensitive}
        return Part(
            X=self._frame(X.astype(self.dtype, copy=False)),
            y=None if roles.target is None else labels(simple(columns[roles.target])),
            sensitive_features=(
                {name: attribute(array) for name, array in sensitive.items()}
                if self.attributes is None
                else self.attributes(sensitive)
            ),
            sample_weight=None if roles.weight is None else numbers(simple(columns[roles.weight])),
            number=piece.number,
        )

    def _frame(self, X: np.ndarray) -> Any:
        """Return features with their names, without a copy."""
        return import_pandas().DataFrame(X, columns=self.names, copy=False)


def feature_block(piece: Piece, names: Sequence[str], dtype: np.dtype) -> np.ndarray:
    """Return columns of numbers as the rows of a block, shape (d, n).

    BLAS takes the transpose of such a block as it is, and each column is copied in one go.
    """
    arrow = import_arrow()
    block = np.empty((len(names), piece.n_rows + PADDING), dtype)[:, : piece.n_rows]
    for row, name in zip(block, names, strict=True):
        column, start = piece.columns[name], 0
        if column.null_count:
            raise TableError(
                f"The feature '{name}' is missing in {column.null_count:,} of {piece.where}, and a "
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


def numbers(array: Any) -> np.ndarray:
    """Return an Arrow array as float64, NaN where missing."""
    doubles = array.cast(import_arrow().float64(), safe=False)
    values: np.ndarray = doubles.to_numpy(zero_copy_only=False)
    return values


def labels(array: Any) -> np.ndarray:
    """Return an Arrow array as numbers, or as objects with None where missing."""
    arrow = import_arrow()
    if arrow.types.is_floating(array.type):
        return numbers(array)
    if not array.null_count and not _has_levels(array.type):
        plain: np.ndarray = array.to_numpy(zero_copy_only=False)
        return plain
    codes, values = distinct(array)
    told: np.ndarray = np.array([*values[:-1], None], dtype=object)[codes]
    return told


def attribute(array: Any) -> Any:
    """Return a sensitive column so that it has the same kind whatever is missing in it."""
    arrow = import_arrow()
    if arrow.types.is_floating(array.type):
        return numbers(array)
    if _has_levels(array.type) or array.null_count:
        # Levels even where nothing is known: a part must not look different for that.
        array = array if arrow.types.is_dictionary(array.type) else array.dictionary_encode()
        return array if hasattr(array, "chunks") else arrow.chunked_array([array])
    return labels(array)


def _has_levels(kind: Any) -> bool:
    types = import_arrow().types
    return any(
        is_kind(kind) for is_kind in (types.is_dictionary, types.is_string, types.is_large_string)
    )
