"""Rows of Dask arrays and DataFrames, on the current client or scheduler.

Nothing tells which row of one collection belongs to which row of another: a shuffle, as in a merge,
leaves rows in any order, another one each time. So attributes, labels and weights are columns of X.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Any
from uuid import uuid4

import numpy as np
from dask.base import is_dask_collection
from dask.delayed import delayed

from .._attributes import close_names, split_columns
from .._numerics import is_sparse, limited_threads
from ..errors import UsageError
from .lazy_rows import Batch, Collect, LazyRows, plus

FAN_IN = 4
"""So many results are added at once: few tasks, and few d x d matrices in one memory."""

SHOWN = 10
"""How many columns a message lists."""


class DaskRows(LazyRows):
    """Rows of a Dask array or DataFrame; y, attributes and weights are named columns of it.

    The columns of an array have no names but their positions.
    """

    def __init__(
        self,
        X: Any,
        y: Any = None,
        sensitive_features: Any = None,
        sample_weight: Any = None,
        given: Any = None,
    ) -> None:
        self._X = _whole_rows(X)
        columns = list(X.columns) if _is_frame(X) else list(range(X.shape[1] if X.ndim > 1 else 0))
        self._roles = _Roles(
            sensitive=_named("sensitive_features", sensitive_features, columns),
            target=_named("y", y, columns),
            weight=_named("sample_weight", sample_weight, columns),
            given=_named("given", given, columns),
        )
        self._roles.check()

    def for_estimator(
        self, sensitive: Sequence[Any], fitted_to: Sequence[str] | None = None
    ) -> DaskRows:
        """Return the rows with the features that an estimator was fitted to, if they are there."""
        wanted = [c for c in fitted_to or () if c not in sensitive]
        if not wanted or not _is_frame(self._X) or not set(wanted) <= set(self._X.columns):
            return self
        return DaskRows(self._X[wanted])

    @property
    def head(self) -> Batch:
        """A batch without rows."""
        X = self._X._meta
        if not _is_frame(self._X):
            make = type(X) if is_sparse(X) else np.empty
            X = make((0, *self._X.shape[1:]), dtype=self._X.dtype)
        return self._roles.batch(X, 0)

    def fold(self, collect: Collect) -> Any:
        """Return the sum of what `collect` returns for the partitions; only that comes here."""
        partitions = np.ravel(self._X.to_delayed()).tolist()
        add, name = delayed(_total), f"fairpca-{uuid4().hex}"
        # A key of its own: each worker gets it once.
        once = delayed(_Constant(collect))(dask_key_name=f"{name}-collect")
        work = delayed(_CollectPartition(self._roles, len(partitions)))
        results = [
            work(once, i, rows, dask_key_name=(name, i)) for i, rows in enumerate(partitions)
        ]
        while len(results) > 1:  # neighbours first, whichever is ready first: always the same sum
            results = [add(results[i : i + FAN_IN]) for i in range(0, len(results), FAN_IN)]
        # Tasks run side by side, in threads of this process or in workers, which Dask starts with
        # one BLAS thread each. The limit is set here because only one thread may set it.
        with limited_threads(1):
            return results[0].compute()

    def mapped(
        self, transform: Callable[[Any], np.ndarray], names: Sequence[str], dtype: np.dtype
    ) -> Any:
        """Return a lazy array, or a lazy DataFrame with the same index and divisions."""
        X, k = self._X, len(names)
        once = delayed(_Constant(transform))(dask_key_name=f"fairpca-{uuid4().hex}")
        if _is_frame(X):
            meta = type(X._meta)(np.empty((0, k), dtype), index=X._meta.index, columns=names)
            return X.map_partitions(_mapped_frame, once, dtype, names, meta=meta)
        kind = {"chunks": (X.chunks[0], (k,)), "meta": np.empty((0, k), dtype)}
        return X.map_blocks(_mapped_array, transform=once, out=dtype, dtype=dtype, **kind)


def _is_frame(value: Any) -> bool:
    return is_dask_collection(value) and hasattr(value, "divisions")


def _whole_rows(X: Any) -> Any:
    """Return a collection whose blocks hold whole rows."""
    if _is_frame(X):
        return X
    if not hasattr(X, "chunks"):
        raise TypeError(
            f"X is a Dask {type(X).__name__}, which has no rows and columns. Make it a Dask array "
            f"or DataFrame first, with from_delayed or to_dataframe."
        )
    if X.ndim > 1 and np.isnan(X.shape[1]):
        raise UsageError("X has an unknown number of columns. Call compute_chunk_sizes() first.")
    return X.rechunk({1: -1}) if X.ndim > 1 and len(X.chunks[1]) > 1 else X


def _named(argument: str, given: Any, columns: Sequence[Any]) -> tuple[Any, ...]:
    """Return the columns of X that an argument of `fit` names."""
    listed = given if isinstance(given, list | tuple) else [] if given is None else [given]
    if not all(isinstance(c, str | int | np.integer) for c in listed):
        raise UsageError(
            f"{argument} is of type {type(given).__name__}, but X is a Dask collection, so nothing "
            f"tells which rows of the two belong together. Make it a column of one Dask DataFrame "
            f"with the features (by a merge, or where they are read), and pass its name, such as "
            f"{argument}='group'."
        )
    unknown = [c for c in listed if c not in columns]
    if unknown:
        near = [close for c in unknown[:SHOWN] for close in close_names(c, columns)]
        raise UsageError(
            f"{argument} names {unknown[:SHOWN]}, but X has the columns {list(columns[:SHOWN])}"
            f"{' ...' if len(columns) > SHOWN else ''}.{f' Did you mean {near}?' if near else ''} "
            f"Use names of columns of a Dask DataFrame, or positions of those of an array."
        )
    return tuple(listed)


@dataclass(frozen=True)
class _Roles:
    """The columns that are no features."""

    sensitive: tuple[Any, ...]
    target: tuple[Any, ...]
    weight: tuple[Any, ...]
    given: tuple[Any, ...] = ()

    def check(self) -> None:
        """Raise for names of too many columns, or one for two things."""
        for name, columns in (("y", self.target), ("sample_weight", self.weight)):
            if len(columns) > 1:
                raise UsageError(f"{name} names {len(columns)} columns of X. Pass one.")
        named = [*self.sensitive, *self.target, *self.weight, *self.given]
        twice = [c for c in dict.fromkeys(named) if named.count(c) > 1]
        if twice:
            raise UsageError(f"The columns {twice} of X are named twice. Name each once.")

    def batch(self, rows: Any, number: int) -> Batch:
        """Return the rows of a partition as the arguments of `fit`."""
        named = [*self.sensitive, *self.target, *self.weight, *self.given]
        X = _aligned(rows)
        if not named:
            return Batch(X, number=number)
        X, columns = split_columns(X, named)
        return Batch(
            X,
            y=_native(columns[self.target[0]]) if self.target else None,
            sensitive_features={c: columns[c] for c in self.sensitive} or None,
            sample_weight=_native(columns[self.weight[0]]) if self.weight else None,
            number=number,
            given={c: columns[c] for c in self.given} or None,
        )


def _native(column: Any) -> Any:
    """Return a column as its own library has it, with its name."""
    return column.to_native() if hasattr(column, "to_native") else column


@dataclass(frozen=True, eq=False)
class _Constant:
    """A value that the engine does not look into: what a call returns."""

    value: Any

    def __call__(self) -> Any:
        return self.value


@dataclass(frozen=True)
class _CollectPartition:
    """Collect the rows of a partition, and say of which one an error is."""

    roles: _Roles
    n_partitions: int

    def __call__(self, collect: Collect, number: int, rows: Any) -> Any:
        try:
            return collect(self.roles.batch(rows, number))
        except Exception as reason:
            reason.add_note(
                f"This was in partition {number} of {self.n_partitions}, counted from 0."
            )
            raise


def _aligned(X: Any) -> Any:
    """Return an array at an address that BLAS likes: others, as often by network, are slow."""
    return X.copy() if isinstance(X, np.ndarray) and not X.flags.aligned else X


def _mapped_array(rows: Any, transform: Callable[[Any], np.ndarray], out: Any) -> np.ndarray:
    """Return the representation of the rows of a partition, of the type `out`."""
    return transform(_aligned(rows)).astype(out, copy=False)


def _mapped_frame(
    frame: Any, transform: Callable[[Any], np.ndarray], out: Any, names: Sequence[str]
) -> Any:
    """Return the representation as a frame of the same library, with the same index."""
    values = _mapped_array(frame, transform, out)
    return type(frame)(values, index=frame.index, columns=names)


def _total(results: Sequence[Any]) -> Any:
    return reduce(plus, results, None)
