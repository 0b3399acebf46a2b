"""Which rows of several Dask collections belong together: their order, and their partitions.

Most tasks keep the order of rows: what they return depends on what they are given. A shuffle, as in
a merge, does not: rows arrive in any order, another one each time. So rows of two collections
belong together if all shuffles that they come from are the same tasks, carried out once for both.
Otherwise only labels can tell: if they increase, they say where each row is.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise
from typing import Any
from uuid import uuid4

import numpy as np

from ..errors import UnpairedRowsError

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


def shuffles_behind(
    collections: Mapping[int, Iterable[Hashable]],
    tasks: Graph,
    dependencies: Callable[[Any], Iterable[Hashable]],
) -> dict[int, frozenset[Hashable]]:
    """Return the steps of shuffles that the keys of each collection come from."""
    moving = (key for key, task in tasks.items() if any(map(_moves_rows, _functions(task))))
    shuffles = frozenset(moving)

    def behind(keys: Iterable[Hashable]) -> frozenset[Hashable]:
        seen = set(keys) if shuffles else set()
        ahead = list(seen)
        while ahead:
            new = set(dependencies(ahead.pop())) - seen
            seen |= new
            ahead.extend(new)
        return shuffles & seen

    return {i: behind(keys) for i, keys in collections.items()}


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
class OrderedByLabels:
    """Return the rows of a partition if labels tell their order, so that it is always the same."""

    name: str
    other: str

    def __call__(self, rows: Any) -> Any:
        """Return the rows as they are."""
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
class Constant:
    """A value that the engine does not look into: what a call returns."""

    value: Any

    def __call__(self) -> Any:
        """Return the value."""
        return self.value


@dataclass
class Partitions:
    """The keys of a collection's partitions, lengths (None: unknown), and first index labels."""

    keys: list[Hashable]
    lengths: list[Any]
    concatenate: Callable[[list[Any]], Any]
    divisions: tuple[Any, ...] | None = None

    def lie_beside(self, X: Partitions) -> bool:
        """Tell whether partitions may be paired as they are; their rows are checked later."""
        if len(self.keys) != len(X.keys):
            return False
        if None not in (self.divisions, X.divisions) and self.divisions != X.divisions:
            return False
        pairs = zip(self.lengths, X.lengths, strict=True)
        return all(None in pair or pair[0] == pair[1] for pair in pairs)

    def keys_beside(self, X: Partitions, tasks: Graph) -> list[Hashable]:
        """Return keys of partitions as long as those of X, new ones if need be."""
        if self.lie_beside(X):
            return self.keys
        name = f"fairpca-cut-{uuid4().hex}"
        for i, found in enumerate(_cuts(X.lengths, self.lengths)):
            recut = _Recut([(a, b) for _, a, b in found], self.concatenate)
            tasks[name, i] = (recut, [self.keys[j] for j, _, _ in found])
        return [(name, i) for i in range(len(X.keys))]


@dataclass
class InMemory:
    """Something small that this process holds, for each row or one for all of them."""

    value: Any

    @property
    def lengths(self) -> list[int]:
        """Number of rows, as of a single partition."""
        return [count_rows(self.value)]

    def lie_beside(self, X: Partitions) -> bool:
        """Tell whether the lengths of partitions of X do not matter."""
        return is_single(self.value)

    def keys_beside(self, X: Partitions, tasks: Graph) -> list[Hashable]:
        """Return keys of values as long as the partitions of X."""
        name = f"fairpca-given-{uuid4().hex}"
        if self.lie_beside(X):
            tasks[name] = (Constant(self.value),)
            return [name] * len(X.keys)
        for i, [(_, a, b)] in enumerate(_cuts(X.lengths, self.lengths)):
            tasks[name, i] = (Constant(_rows_between(self.value, a, b)),)
        return [(name, i) for i in range(len(X.keys))]


def paired(
    tasks: Graph,
    X: Partitions,
    others: Mapping[str, Partitions | InMemory],
    count: Callable[[Sequence[Hashable]], list[int]],
) -> list[list[Hashable]]:
    """Return, for each partition of X, its key and the keys of what belongs to its rows."""
    # New tasks are added; lengths of partitions are counted only where they are needed.
    apart = {name: other for name, other in others.items() if not other.lie_beside(X)}
    if apart:
        _learn_lengths([X, *(b for b in apart.values() if isinstance(b, Partitions))], count)
        for name, other in apart.items():
            n, m = sum(X.lengths), sum(other.lengths)
            if n != m:
                raise UnpairedRowsError(
                    f"X has {n} rows, but {name} has {m}, so rows and groups cannot be paired. "
                    f"Pass one entry per row of X."
                )
    columns = [X.keys, *(other.keys_beside(X, tasks) for other in others.values())]
    return [list(keys) for keys in zip(*columns, strict=True)]


def _learn_lengths(
    collections: Sequence[Partitions], count: Callable[[Sequence[Hashable]], list[int]]
) -> None:
    unknown = [(b, i) for b in collections for i, n in enumerate(b.lengths) if n is None]
    if unknown:
        lengths = count([b.keys[i] for b, i in unknown])
        for (partitions, i), n in zip(unknown, lengths, strict=True):
            partitions.lengths[i] = n


def is_single(value: Any) -> bool:
    """Tell whether this is one value for all rows, such as a weight."""
    return bool(np.isscalar(value)) or getattr(value, "ndim", 1) == 0


def count_rows(value: Any) -> int:
    """Return how many rows an array, a sparse matrix, a frame, a column or a list has."""
    return int(value.shape[0]) if hasattr(value, "shape") else len(value)


def check_paired(X: Any, name: str, value: Any) -> None:
    """Raise unless a partition of something has as many rows as that of X; labels come later."""
    n, m = count_rows(X), count_rows(value)
    if n != m:
        raise UnpairedRowsError(
            f"A partition of X has {n} rows, but that of {name} has {m}, so rows and groups cannot "
            f"be paired. Pass columns of the same collection as X, or divide {name} into "
            f"partitions as long as those of X."
        )


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
