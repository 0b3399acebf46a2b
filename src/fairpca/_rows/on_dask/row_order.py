"""Whether collections have their rows in the same order, as far as their tasks tell.

Most tasks keep the order of rows: what they return depends on what they are given. A shuffle, as in
a merge, does not: rows arrive in any order, another one each time. So rows of two collections
belong together if all shuffles that they come from are the same tasks, carried out once for both.
Otherwise only labels can tell: if they increase, they say where each row is.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from ...errors import UnpairedRowsError

SHUFFLES = {
    "dask.bag.core": ("partition", "collect"),
    "dask.dataframe.dask_expr._merge": ("transfer",),
    "dask.dataframe.dask_expr._shuffle": ("shuffle",),
    "dask.dataframe.shuffle": ("shuffle", "collect", "barrier"),
    "distributed.shuffle._merge": ("transfer", "unpack"),
    "distributed.shuffle._shuffle": ("shuffle",),
}
"""Functions that send rows elsewhere or gather them: modules, and parts of names."""


def is_shuffle(task: Any) -> bool:
    """Tell whether a task, or one within it, is a step of a shuffle.

    Examples
    --------
    >>> is_shuffle((len, [1, 2]))
    False
    """
    return any(map(_moves_rows, _functions(task)))


def _functions(task: Any) -> Iterator[Any]:
    """Yield functions in a task, and in those fused with it."""
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


@dataclass
class RowOrders:
    """Shuffles that collections come from.

    Parameters
    ----------
    graph : mapping
        Tasks of all collections.
    dependencies : callable
        From a key to the keys that its task needs.
    """

    graph: Mapping[Any, Any]
    dependencies: Callable[[Any], Iterable[Hashable]]

    def __post_init__(self) -> None:
        self._shuffles = {key for key, task in self.graph.items() if is_shuffle(task)}

    def shuffles_above(self, keys: Iterable[Hashable]) -> frozenset[Hashable]:
        """Return the steps of shuffles that partitions come from."""
        if not self._shuffles:
            return frozenset()
        seen, ahead = set(keys), list(keys)
        while ahead:
            new = set(self.dependencies(ahead.pop())) - seen
            seen |= new
            ahead.extend(new)
        return frozenset(seen & self._shuffles)


@dataclass(frozen=True)
class Settled:
    """Return the rows of a partition if labels tell their order, so that it is always the same.

    Parameters
    ----------
    name : str
        What the collection is called.
    other : str
        What it is to be paired with.
    """

    name: str
    other: str

    def __call__(self, rows: Any) -> Any:
        """Return the rows as they are."""
        index = rows.index
        if not (index.is_unique and index.is_monotonic_increasing):
            raise UnpairedRowsError(unknown_order(self.name, self.other))
        return rows


def unknown_order(name: str, other: str) -> str:
    """Return what to say of two collections that are not in one order."""
    return (
        f"{name} comes from a shuffle (as in merge, shuffle, set_index or groupby) that is not "
        f"carried out once for it and {other}, and a shuffle leaves rows in any order, so people "
        f"might get the groups of others. persist() the collection that both are columns of "
        f"before you take them from it, keep attributes as columns of X and name them in "
        f"sensitive_columns, or set_index both to labels that are different for every row."
    )
