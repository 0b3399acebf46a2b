"""Rows of Dask arrays and DataFrames, on the current client or scheduler.

Most tasks keep the order of rows: what they return depends on what they are given. A shuffle, as in
a merge, does not: rows arrive in any order, another one each time. So rows of two collections
belong together if all shuffles that they come from are the same tasks, carried out once for both.
Otherwise only labels can tell: if they increase, they say where each row is.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial, reduce
from itertools import accumulate, pairwise
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
from ..errors import UnpairedRowsError, UsageError
from .elsewhere import Batch, Collect, RowsElsewhere, plus

Graph = dict[Any, Any]
"""From keys to tasks: tuples of a callable and its arguments, which may be keys."""

SHUFFLES = {
    "dask.bag.core": ("partition", "collect"),
    "dask.dataframe.dask_expr._merge": ("transfer",),
    "dask.dataframe.dask_expr._shuffle": ("shuffle",),
    "dask.dataframe.shuffle": ("shuffle", "collect", "barrier"),
    "distributed.shuffle._merge": ("transfer", "unpack"),
    "distributed.shuffle._shuffle": ("shuffle",),
}
"""Functions that send rows elsewhere or gather them: modules, and parts of names."""


def _shuffles(collections: Mapping[int, Any]) -> dict[int, frozenset[Hashable]]:
    """Return the steps of shuffles that each collection comes from."""
    graph: Graph = {}
    for value in collections.values():
        graph.update(value.__dask_graph__())
    moving = (key for key, task in graph.items() if any(map(_moves_rows, _functions(task))))
    shuffles = frozenset(moving)

    def behind(value: Any) -> frozenset[Hashable]:
        seen = set(flatten(value.__dask_keys__())) if shuffles else set()
        ahead = list(seen)
        while ahead:
            new = set(get_dependencies(graph, ahead.pop())) - seen
            seen |= new
            ahead.extend(new)
        return shuffles & seen

    return {i: behind(value) for i, value in collections.items()}


def _functions(task: Any) -> Iterator[Any]:
    if hasattr(task, "func") and hasattr(task, "args"):  # a task of Dask, or a partial function
        yield from _functions(task.func)
        yield from _functions(task.args)
        yield from _functions(getattr(task, "kwargs", getattr(task, "keywords", None)))
    elif isinstance(task, Mapping):
        yield from _functions(list(task.values()))
    elif isinstance(task, list | tuple):
        for inner in task:
            yield from _functions(inner)
    elif callable(task):
        yield task


def _moves_rows(function: Any) -> bool:
    names = SHUFFLES.get(getattr(function, "__module__", None) or "", ())
    called = getattr(function, "__qualname__", type(function).__qualname__)
    return any(name in called for name in names)


@dataclass(frozen=True)
class _OrderedByLabels:
    """Return the rows of a partition if labels tell their order, so that it is always the same."""

    name: str
    other: str

    def __call__(self, rows: Any) -> Any:
        if not (rows.index.is_unique and rows.index.is_monotonic_increasing):
            raise self.refusal()
        return rows

    def refusal(self) -> UnpairedRowsError:
        """Return the error of two collections that are not in one order."""
        return UnpairedRowsError(
            f"{self.name} comes from a shuffle (as in merge, shuffle, set_index or groupby) that "
            f"is not carried out once for it and {self.other}, and a shuffle leaves rows in any "
            f"order, so people might get the groups of others. persist() the collection that both "
            f"are columns of before you take them from it, keep attributes as columns of X and "
            f"name them in sensitive_columns, or set_index both to labels that are different for "
            f"every row."
        )


@dataclass(frozen=True, eq=False)
class _Constant:
    """A value that the engine does not look into: what a call returns."""

    value: Any

    def __call__(self) -> Any:
        return self.value


@dataclass
class _Partitions:
    """The keys of a collection's partitions, lengths (None: unknown), and first index labels."""

    keys: list[Hashable]
    lengths: list[Any]
    concatenate: Callable[[list[Any]], Any]
    divisions: tuple[Any, ...] | None = None

    def lie_beside(self, X: _Partitions) -> bool:
        """Tell whether partitions may be paired as they are; their rows are checked later."""
        if len(self.keys) != len(X.keys):
            return False
        if None not in (self.divisions, X.divisions) and self.divisions != X.divisions:
            return False
        pairs = zip(self.lengths, X.lengths, strict=True)
        return all(None in pair or pair[0] == pair[1] for pair in pairs)

    def keys_beside(self, X: _Partitions, tasks: Graph) -> list[Hashable]:
        """Return keys of partitions as long as those of X, new ones if need be."""
        if self.lie_beside(X):
            return self.keys
        name = f"fairpca-cut-{uuid4().hex}"
        for i, found in enumerate(_cuts(X.lengths, self.lengths)):
            recut = _Recut([(a, b) for _, a, b in found], self.concatenate)
            tasks[name, i] = (recut, [self.keys[j] for j, _, _ in found])
        return [(name, i) for i in range(len(X.keys))]


@dataclass
class _InMemory:
    """Something small that this process holds, for each row or one for all of them."""

    value: Any

    @property
    def lengths(self) -> list[int]:
        """Number of rows, as of a single partition."""
        return [_count_rows(self.value)]

    def lie_beside(self, X: _Partitions) -> bool:
        """Tell whether the lengths of partitions of X do not matter."""
        return _is_single(self.value)

    def keys_beside(self, X: _Partitions, tasks: Graph) -> list[Hashable]:
        """Return keys of values as long as the partitions of X."""
        name = f"fairpca-given-{uuid4().hex}"
        if self.lie_beside(X):
            tasks[name] = (_Constant(self.value),)
            return [name] * len(X.keys)
        for i, [(_, a, b)] in enumerate(_cuts(X.lengths, self.lengths)):
            tasks[name, i] = (_Constant(_rows_between(self.value, a, b)),)
        return [(name, i) for i in range(len(X.keys))]


def _paired(
    tasks: Graph,
    X: _Partitions,
    others: Mapping[str, _Partitions | _InMemory],
    count: Callable[[Sequence[Hashable]], list[int]],
) -> list[list[Hashable]]:
    """Return, for each partition of X, its key and the keys of what belongs to its rows."""
    # New tasks are added; lengths of partitions are counted only where they are needed.
    apart = {name: other for name, other in others.items() if not other.lie_beside(X)}
    if apart:
        lazy = [X, *(b for b in apart.values() if isinstance(b, _Partitions))]
        unknown = [(b, i) for b in lazy for i, n in enumerate(b.lengths) if n is None]
        lengths = count([b.keys[i] for b, i in unknown]) if unknown else []
        for (partitions, i), n in zip(unknown, lengths, strict=True):
            partitions.lengths[i] = n
        for name, other in apart.items():
            n, m = sum(X.lengths), sum(other.lengths)
            if n != m:
                raise UnpairedRowsError(
                    f"X has {n} rows, but {name} has {m}, so rows and groups cannot be paired. "
                    f"Pass one entry per row of X."
                )
    columns = [X.keys, *(other.keys_beside(X, tasks) for other in others.values())]
    return [list(keys) for keys in zip(*columns, strict=True)]


def _is_single(value: Any) -> bool:
    """Tell whether this is one value for all rows, such as a weight."""
    return bool(np.isscalar(value)) or getattr(value, "ndim", 1) == 0


def _count_rows(value: Any) -> int:
    """Return how many rows an array, a sparse matrix, a frame, a column or a list has."""
    return int(value.shape[0]) if hasattr(value, "shape") else len(value)


def _cuts(wanted: Sequence[int], there: Sequence[int]) -> Iterator[list[tuple[int, int, int]]]:
    """Yield, for every partition that is wanted, where its rows are: partition, first row, end.

    Examples
    --------
    >>> list(_cuts([2, 3], there=[4, 1]))
    [[(0, 0, 2)], [(0, 2, 4), (1, 0, 1)]]

    One without rows takes none of some other, so that the types of the columns are known.

    >>> list(_cuts([0, 5], there=[4, 0, 1]))
    [[(0, 0, 0)], [(0, 0, 4), (2, 0, 1)]]
    """
    starts = list(accumulate(there, initial=0))
    for a, b in pairwise(accumulate(wanted, initial=0)):
        if a == b:
            yield [(0, 0, 0)]
            continue
        yield [
            (j, max(a - starts[j], 0), min(b, starts[j + 1]) - starts[j])
            for j in range(bisect_right(starts, a) - 1, bisect_left(starts, b))
            if there[j] > 0
        ]


@dataclass(frozen=True, eq=False)
class _Recut:
    """Take some rows of some partitions, from the first to the end, and put them together."""

    bounds: Sequence[tuple[int, int]]
    concatenate: Callable[[list[Any]], Any]

    def __call__(self, values: Sequence[Any]) -> Any:
        cut = [_rows_between(v, a, b) for v, (a, b) in zip(values, self.bounds, strict=True)]
        return cut[0] if len(cut) == 1 else self.concatenate(cut)


def _rows_between(value: Any, start: int, stop: int) -> Any:
    return value.iloc[start:stop] if hasattr(value, "iloc") else value[start:stop]


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
        tasks[name, "collect"] = (_Constant(collect),)  # a key of its own: each worker gets it once
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
        once = delayed(_Constant(transform))()  # a key of its own: each worker gets it once
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
                return _InMemory(value)
            found = _partitions_of(ready[id(value)])
            if label in by_labels:
                name = f"fairpca-ordered-{uuid4().hex}"
                check = _OrderedByLabels(label, by_labels[label])
                tasks.update({(name, i): (check, key) for i, key in enumerate(found.keys)})
                found.keys = [(name, i) for i in range(len(found.keys))]
            return found

        X = partitions("X", self._X)
        others = {p.label: partitions(p.label, value) for p, value in self._values.items()}
        rows = list(ready.values())
        return rows, tasks, _paired(tasks, X, others, partial(_counted, rows, tasks))

    def _in_one_order(self) -> tuple[dict[int, Any], dict[str, str]]:
        """Return collections by id, and those whose labels must tell their order."""
        given = {place.label: value for place, value in self._values.items()}
        others = {k: v for k, v in given.items() if is_dask_collection(v) or not _is_single(v)}
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
                raise _OrderedByLabels(label, other).refusal()
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


def _partitions_of(value: Any) -> _Partitions:
    keys = list(flatten(value.__dask_keys__()))
    if not _is_frame(value):
        lengths = [None if np.isnan(n) else int(n) for n in value.chunks[0]]
        return _Partitions(keys, lengths, np.concatenate)
    from dask.dataframe.dispatch import concat

    divisions = tuple(value.divisions) if value.known_divisions else None
    return _Partitions(keys, [None] * len(keys), concat, divisions)


def _counted(rows: Sequence[Any], given: Graph, keys: Sequence[Hashable]) -> list[int]:
    """Return how many rows partitions have; their rows are read for it."""
    name = f"fairpca-count-{uuid4().hex}"
    counts: Graph = {(name, i): (_count_rows, key) for i, key in enumerate(keys)}
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
            name, n = place.label, _count_rows(X)
            if not _is_single(value) and (m := _count_rows(value)) != n:  # labels come later
                raise UnpairedRowsError(
                    f"A partition of X has {n} rows, but that of {name} has {m}, so rows and "
                    f"groups cannot be paired. Pass columns of the same collection as X, or divide "
                    f"{name} into partitions as long as those of X."
                )
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
