"""Rows of Dask arrays and DataFrames, on the current client or scheduler."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from functools import cached_property, partial
from typing import Any
from uuid import uuid4

import dask
import numpy as np
from dask.base import is_dask_collection
from dask.core import flatten, get_dependencies
from dask.delayed import delayed

from ..._numerics import is_sparse
from ...errors import UnpairedRowsError, UsageError
from ..elsewhere import Collect, Part, RowsElsewhere
from .blocks import Blocks, Graph, InMemory, paired
from .partition_work import CollectPart, Held, mapped_array, mapped_frame, places_of
from .row_order import RowOrders, Settled, unknown_order
from .row_pairing import count_rows, is_single
from .single_value import computed
from .tree import reduced, total

NONE: frozenset[Hashable] = frozenset()


class DaskRows(RowsElsewhere):
    """Rows of a Dask array or DataFrame, and what belongs to them.

    Parameters
    ----------
    X : dask array or DataFrame of shape (n, d)
        Features. Their partitions are read where they are; n may be unknown.
    y, sensitive_features, sample_weight : optional
        Dask arrays, Series, DataFrames or dicts of such columns, or the same in memory. Where
        they are not divided as X is, and the lengths of partitions are unknown, the rows are read
        once more, to be counted. Rows that were shuffled, as in a merge, must come from the same
        shuffle, or have labels that increase.

    Examples
    --------
    >>> import dask.array as da
    >>> import numpy as np
    >>> from fairpca import FairPCA
    >>> X = da.random.default_rng(0).normal(size=(1000, 4), chunks=(300, 4))
    >>> fair = FairPCA(2).fit(X, sensitive_features=np.arange(1000) % 2)
    >>> fair.transform(X)
    dask.array<mapped_array, shape=(1000, 2), dtype=float64, chunksize=(300, 2), \
chunktype=numpy.ndarray>
    """

    def __init__(
        self, X: Any, y: Any = None, sensitive_features: Any = None, sample_weight: Any = None
    ) -> None:
        self._X = _whole_rows("X", X)
        others = {"y": y, "sensitive_features": sensitive_features, "sample_weight": sample_weight}
        self._values = {p: _whole_rows(p.label, value) for p, value in places_of(others)}

    @property
    def head(self) -> Part:
        """A part without rows."""
        X = self._X._meta
        if not _is_frame(self._X):
            make = type(X) if is_sparse(X) else np.empty
            X = make((0, *self._X.shape[1:]), dtype=self._X.dtype)
        given = {place.argument for place in self._values}
        return Part(
            X,
            y=np.empty(0) if "y" in given else None,
            sensitive_features={} if "sensitive_features" in given else None,
        )

    def fold(self, collect: Collect) -> Any:
        """Return the sum of what `collect` returns for the partitions; only that comes here."""
        rows, given, parts = self._parts
        tasks, name = dict(given), f"fairpca-{uuid4().hex}"
        tasks[name, "collect"] = (Held(collect),)  # a key of its own: each worker gets it once
        work = CollectPart(tuple(self._values), len(parts))
        leaves: list[Hashable] = []
        for i, keys in enumerate(parts):
            tasks[name, i] = (work, (name, "collect"), i, *keys)
            leaves.append((name, i))

        def join(few: Sequence[Hashable]) -> Hashable:
            key = (f"{name}-sum", len(tasks))
            tasks[key] = (total, list(few))
            return key

        return computed(rows, tasks, reduced(leaves, join))

    def mapped(
        self, transform: Callable[[Any], np.ndarray], names: Sequence[str], dtype: np.dtype
    ) -> Any:
        """Return a lazy array, or a lazy DataFrame with the same index and divisions."""
        X, k = self._X, len(names)
        once = delayed(Held(transform))()  # a key of its own: each worker gets it once
        if _is_frame(X):
            meta = type(X._meta)(np.empty((0, k), dtype), index=X._meta.index, columns=names)
            return X.map_partitions(mapped_frame, once, dtype, names, meta=meta)
        kind = {"chunks": (X.chunks[0], (k,)), "meta": np.empty((0, k), dtype)}
        return X.map_blocks(mapped_array, transform=once, out=dtype, dtype=dtype, **kind)

    @cached_property
    def _parts(self) -> tuple[list[Any], Graph, list[list[Hashable]]]:
        """Collections, more tasks, and for each partition keys of X and of what belongs to it."""
        ready, to_settle = self._in_one_order()
        tasks: Graph = {}

        def blocks(label: str, value: Any) -> Any:
            if id(value) not in ready:
                return InMemory(value)
            found = _blocks(ready[id(value)])
            if label in to_settle:
                name, check = f"fairpca-settled-{uuid4().hex}", Settled(label, to_settle[label])
                tasks.update({(name, i): (check, key) for i, key in enumerate(found.keys)})
                found.keys = [(name, i) for i in range(len(found.keys))]
            return found

        X = blocks("X", self._X)
        others = {place.label: blocks(place.label, value) for place, value in self._values.items()}
        rows = list(ready.values())
        return rows, tasks, paired(tasks, X, others, partial(_counted, rows, tasks))

    def _in_one_order(self) -> tuple[dict[int, Any], dict[str, str]]:
        """Return collections by id, and those whose labels must tell their order."""
        given = {place.label: value for place, value in self._values.items()}
        others = {k: v for k, v in given.items() if is_dask_collection(v) or not is_single(v)}
        lazy = [self._X, *(v for v in others.values() if is_dask_collection(v))]
        ready = {id(value): _optimized(value, alone=len(lazy) == 1) for value in lazy}
        X, found = id(self._X), _shuffles(ready)
        if any(found.get(id(v), NONE) != found[X] for v in others.values()):
            # Optimized alone, each collection shuffles only the columns that it needs. As they are,
            # they share the shuffles of what they are columns of.
            ready = {id(value): value for value in lazy}
            found = _shuffles(ready)
        to_settle: dict[str, str] = {}
        for label, value in others.items():
            shuffles = found.get(id(value), NONE)
            if shuffles == found[X]:
                continue
            if found[X]:
                to_settle["X"] = label
            if shuffles:
                to_settle[label] = "X"
        for label, other in to_settle.items():
            value = self._X if label == "X" else others[label]
            if not (_is_frame(value) and value.known_divisions):
                raise UnpairedRowsError(unknown_order(label, other))
        return ready, to_settle


def _is_frame(value: Any) -> bool:
    return is_dask_collection(value) and hasattr(value, "divisions")


def _is_array(value: Any) -> bool:
    return is_dask_collection(value) and hasattr(value, "chunks")


def _whole_rows(label: str, value: Any) -> Any:
    """Return a collection whose blocks hold whole rows; something in memory as it is."""
    if _is_array(value):
        if value.ndim > 1 and np.isnan(value.shape[1]):
            raise UsageError(
                f"{label} has an unknown number of columns. Call its compute_chunk_sizes() first."
            )
        divided = value.ndim > 1 and len(value.chunks[1]) > 1
        return value.rechunk({1: -1}) if divided else value
    if is_dask_collection(value) and not _is_frame(value):
        raise TypeError(
            f"{label} is a Dask {type(value).__name__}, which has no rows and columns. Make it a "
            f"Dask array or DataFrame first, with from_delayed or to_dataframe."
        )
    if isinstance(value, list | tuple) and any(map(is_dask_collection, value)):
        raise TypeError(
            f"{label} is a {type(value).__name__} of Dask collections, which does not say what "
            f"they are called. Pass a dict of columns, or one DataFrame."
        )
    return value


def _optimized(value: Any, *, alone: bool) -> Any:
    """Return a collection whose partitions are final."""
    if not _is_frame(value):
        return value
    # Tuned, columns of one table would be read in partitions of different sizes; fused, their
    # common ancestors would no longer be seen to be the same, and be computed for each.
    with dask.config.set({"optimization.tune.active": False}):
        return value.optimize(fuse=alone)


def _shuffles(collections: Mapping[int, Any]) -> dict[int, frozenset[Hashable]]:
    """Return the shuffles that each collection comes from."""
    graph: Graph = {}
    for value in collections.values():
        graph.update(value.__dask_graph__())
    orders = RowOrders(graph, partial(get_dependencies, graph))
    return {
        i: orders.shuffles_above(list(flatten(value.__dask_keys__())))
        for i, value in collections.items()
    }


def _blocks(value: Any) -> Blocks:
    keys = list(flatten(value.__dask_keys__()))
    if not _is_frame(value):
        lengths = [None if np.isnan(n) else int(n) for n in value.chunks[0]]
        return Blocks(keys, lengths, np.concatenate)
    from dask.dataframe.dispatch import concat

    divisions = tuple(value.divisions) if value.known_divisions else None
    return Blocks(keys, [None] * len(keys), concat, divisions)


def _counted(rows: Sequence[Any], given: Graph, keys: Sequence[Hashable]) -> list[int]:
    """Return how many rows partitions have; their rows are read for it."""
    name = f"fairpca-count-{uuid4().hex}"
    counts: Graph = {(name, i): (count_rows, key) for i, key in enumerate(keys)}
    lengths: list[int] = computed(rows, {**given, **counts, name: (list, list(counts))}, name)
    return lengths
