"""Rows of Dask arrays and DataFrames, on the current client or scheduler."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial, reduce
from typing import Any
from uuid import uuid4

import dask
import numpy as np
from dask.array import Array
from dask.base import is_dask_collection
from dask.core import flatten, get_dependencies
from dask.delayed import Delayed, delayed
from dask.highlevelgraph import HighLevelGraph

from .._numerics import is_sparse, limited_threads
from ..errors import UsageError
from .dask_pairing import (
    Constant,
    Graph,
    InMemory,
    OrderedByLabels,
    Partitions,
    check_paired,
    count_rows,
    is_single,
    paired,
    shuffles_behind,
)
from .elsewhere import Batch, Collect, RowsElsewhere, plus

FAN_IN = 4
"""So many results are added at once: few tasks, and few d x d matrices in one memory."""

NONE: frozenset[Hashable] = frozenset()


class DaskRows(RowsElsewhere):
    """Rows of a Dask array or DataFrame, and what belongs to them, in Dask or in memory."""

    # Where others are not divided as X is, and the lengths of partitions are unknown, the rows are
    # read once more, to be counted. Rows that were shuffled, as in a merge, must come from the same
    # shuffle, or have labels that increase.

    def __init__(
        self, X: Any, y: Any = None, sensitive_features: Any = None, sample_weight: Any = None
    ) -> None:
        self._X = _whole_rows("X", X)
        others = {"y": y, "sensitive_features": sensitive_features, "sample_weight": sample_weight}
        self._values = {p: _whole_rows(p.label, value) for p, value in _places_of(others)}

    @property
    def head(self) -> Batch:
        """A batch without rows."""
        X = self._X._meta
        if not _is_frame(self._X):
            make = type(X) if is_sparse(X) else np.empty
            X = make((0, *self._X.shape[1:]), dtype=self._X.dtype)
        given = {place.argument for place in self._values}
        return Batch(
            X,
            y=np.empty(0) if "y" in given else None,
            sensitive_features={} if "sensitive_features" in given else None,
        )

    def fold(self, collect: Collect) -> Any:
        """Return the sum of what `collect` returns for the partitions; only that comes here."""
        rows, given, partitions = self._partitions
        tasks, name = dict(given), f"fairpca-{uuid4().hex}"
        tasks[name, "collect"] = (Constant(collect),)  # a key of its own: each worker gets it once
        work = _CollectPartition(tuple(self._values), len(partitions))
        nodes: list[Hashable] = []
        for i, keys in enumerate(partitions):
            tasks[name, i] = (work, (name, "collect"), i, *keys)
            nodes.append((name, i))

        def joined(few: list[Hashable]) -> Hashable:
            if len(few) == 1:
                return few[0]
            key = (f"{name}-sum", len(tasks))
            tasks[key] = (_total, few)
            return key

        while len(nodes) > 1:  # neighbours first, whichever is ready first: always the same sum
            nodes = [joined(nodes[i : i + FAN_IN]) for i in range(0, len(nodes), FAN_IN)]
        return _computed(rows, tasks, nodes[0])

    def mapped(
        self, transform: Callable[[Any], np.ndarray], names: Sequence[str], dtype: np.dtype
    ) -> Any:
        """Return a lazy array, or a lazy DataFrame with the same index and divisions."""
        X, k = self._X, len(names)
        once = delayed(Constant(transform))()  # a key of its own: each worker gets it once
        if _is_frame(X):
            meta = type(X._meta)(np.empty((0, k), dtype), index=X._meta.index, columns=names)
            return X.map_partitions(_mapped_frame, once, dtype, names, meta=meta)
        kind = {"chunks": (X.chunks[0], (k,)), "meta": np.empty((0, k), dtype)}
        return X.map_blocks(_mapped_array, transform=once, out=dtype, dtype=dtype, **kind)

    @cached_property
    def _partitions(self) -> tuple[list[Any], Graph, list[list[Hashable]]]:
        """Collections, more tasks, and for each partition keys of X and of what belongs to it."""
        ready, by_labels = self._in_one_order()
        tasks: Graph = {}

        def partitions(label: str, value: Any) -> Any:
            if id(value) not in ready:
                return InMemory(value)
            found = _partitions_of(ready[id(value)])
            if label in by_labels:
                name = f"fairpca-ordered-{uuid4().hex}"
                check = OrderedByLabels(label, by_labels[label])
                tasks.update({(name, i): (check, key) for i, key in enumerate(found.keys)})
                found.keys = [(name, i) for i in range(len(found.keys))]
            return found

        X = partitions("X", self._X)
        others = {p.label: partitions(p.label, value) for p, value in self._values.items()}
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
        by_labels: dict[str, str] = {}
        for label, value in others.items():
            shuffles = found.get(id(value), NONE)
            if shuffles == found[X]:
                continue
            if found[X]:
                by_labels["X"] = label
            if shuffles:
                by_labels[label] = "X"
        for label, other in by_labels.items():
            value = self._X if label == "X" else others[label]
            if not (_is_frame(value) and value.known_divisions):
                raise OrderedByLabels(label, other).refusal()
        return ready, by_labels


def _is_frame(value: Any) -> bool:
    return is_dask_collection(value) and hasattr(value, "divisions")


def _whole_rows(label: str, value: Any) -> Any:
    """Return a collection whose blocks hold whole rows; something in memory as it is."""
    if is_dask_collection(value) and hasattr(value, "chunks"):
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
    """Return the steps of shuffles that each collection comes from."""
    graph: Graph = {}
    for value in collections.values():
        graph.update(value.__dask_graph__())
    keys = {i: flatten(value.__dask_keys__()) for i, value in collections.items()}
    return shuffles_behind(keys, graph, partial(get_dependencies, graph))


def _partitions_of(value: Any) -> Partitions:
    keys = list(flatten(value.__dask_keys__()))
    if not _is_frame(value):
        lengths = [None if np.isnan(n) else int(n) for n in value.chunks[0]]
        return Partitions(keys, lengths, np.concatenate)
    from dask.dataframe.dispatch import concat

    divisions = tuple(value.divisions) if value.known_divisions else None
    return Partitions(keys, [None] * len(keys), concat, divisions)


def _counted(rows: Sequence[Any], given: Graph, keys: Sequence[Hashable]) -> list[int]:
    """Return how many rows partitions have; their rows are read for it."""
    name = f"fairpca-count-{uuid4().hex}"
    counts: Graph = {(name, i): (count_rows, key) for i, key in enumerate(keys)}
    return _computed(rows, {**given, **counts, name: (list, list(counts))}, name)


@dataclass(frozen=True)
class _Place:
    """Where a value belongs: an argument of `fit`, or a column of it."""

    argument: str
    column: Any = None
    of_several: bool = False

    @property
    def label(self) -> str:
        return f"{self.argument}[{self.column!r}]" if self.of_several else self.argument


def _places_of(arguments: Mapping[str, Any]) -> Iterator[tuple[_Place, Any]]:
    """Yield what was given, column by column where columns came in a dict."""
    for argument, value in arguments.items():
        if isinstance(value, Mapping):
            yield from ((_Place(argument, c, True), column) for c, column in value.items())
        elif value is not None:
            yield _Place(argument), value


@dataclass(frozen=True)
class _CollectPartition:
    """Check that the rows of a partition belong together, and collect them."""

    places: tuple[_Place, ...]
    n_partitions: int

    def __call__(self, collect: Collect, number: int, X: Any, *values: Any) -> Any:
        try:
            return collect(self._batch(number, X, values))
        except Exception as reason:
            reason.add_note(
                f"This was in partition {number} of {self.n_partitions}, counted from 0."
            )
            raise

    def _batch(self, number: int, X: Any, values: Sequence[Any]) -> Batch:
        arguments: dict[str, Any] = {}
        for place, value in zip(self.places, values, strict=True):
            if not is_single(value):
                check_paired(X, place.label, value)
            if place.of_several:
                arguments.setdefault(place.argument, {})[place.column] = value
            else:
                arguments[place.argument] = value
        return Batch(_aligned(X), number=number, **arguments)


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


def _computed(rows: Sequence[Any], tasks: Graph, key: Hashable) -> Any:
    """Return one value, computed by the current client or scheduler."""
    graph = HighLevelGraph.from_collections(str(key), tasks, dependencies=rows)
    if not any(map(_is_frame, rows)):  # steps of arrays are fused; those of frames have been
        graph = Array.__dask_optimize__(graph, [key])
    # Tasks run side by side, in threads of this process or in workers, which Dask starts with one
    # BLAS thread each. The limit is set here because only one thread may set it.
    with limited_threads(1):
        return Delayed(key, graph, layer=str(key)).compute(optimize_graph=False)
