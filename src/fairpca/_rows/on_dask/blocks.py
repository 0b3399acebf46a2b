"""Partitions of several collections, put side by side so that their rows belong together."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import uuid4

from .partition_work import Held
from .row_pairing import Recut, check_as_many, count_rows, is_single, pieces, rows_between

Graph = dict[Any, Any]
"""From keys to tasks: tuples of a callable and its arguments, which may be keys."""


@dataclass
class Blocks:
    """The partitions of a collection in a graph.

    Parameters
    ----------
    keys : list
        Keys of the partitions.
    lengths : list of int or None
        Rows of each partition, where that is known.
    concatenate : callable
        Puts rows of several partitions together.
    divisions : tuple or None
        First index labels of the partitions, where they are known.
    """

    keys: list[Hashable]
    lengths: list[Any]
    concatenate: Callable[[list[Any]], Any]
    divisions: tuple[Any, ...] | None = None

    def lie_beside(self, X: Blocks) -> bool:
        """Tell whether partitions may be paired as they are; their rows are checked later."""
        if len(self.keys) != len(X.keys):
            return False
        if None not in (self.divisions, X.divisions) and self.divisions != X.divisions:
            return False
        pairs = zip(self.lengths, X.lengths, strict=True)
        return all(None in pair or pair[0] == pair[1] for pair in pairs)

    def keys_beside(self, X: Blocks, tasks: Graph) -> list[Hashable]:
        """Return keys of partitions as long as those of X, new ones if need be."""
        if self.lie_beside(X):
            return self.keys
        name = f"fairpca-cut-{uuid4().hex}"
        for i, found in enumerate(pieces(X.lengths, self.lengths)):
            cut = Recut([(a, b) for _, a, b in found], self.concatenate)
            tasks[name, i] = (cut, [self.keys[j] for j, _, _ in found])
        return [(name, i) for i in range(len(X.keys))]


@dataclass
class InMemory:
    """Something small that this process holds, for each row or one for all of them."""

    value: Any

    @property
    def lengths(self) -> list[int]:
        """Number of rows, as of a single partition."""
        return [count_rows(self.value)]

    def lie_beside(self, X: Blocks) -> bool:
        """Tell whether the lengths of partitions of X do not matter."""
        return is_single(self.value)

    def keys_beside(self, X: Blocks, tasks: Graph) -> list[Hashable]:
        """Return keys of parts as long as those of X."""
        name = f"fairpca-given-{uuid4().hex}"
        if self.lie_beside(X):
            tasks[name] = (Held(self.value),)
            return [name] * len(X.keys)
        for i, [(_, a, b)] in enumerate(pieces(X.lengths, self.lengths)):
            tasks[name, i] = (Held(rows_between(self.value, a, b)),)
        return [(name, i) for i in range(len(X.keys))]


def paired(
    tasks: Graph,
    X: Blocks,
    others: Mapping[str, Blocks | InMemory],
    count: Callable[[Sequence[Hashable]], list[int]],
) -> list[list[Hashable]]:
    """Return, for each partition of X, its key and the keys of what belongs to its rows.

    Parameters
    ----------
    tasks : dict
        Gets entries where rows must be cut anew.
    X : Blocks
        Features.
    others : mapping of str to Blocks or InMemory
        What belongs to them.
    count : callable
        From keys to the numbers of rows of partitions, at the price of reading them.
    """
    apart = {name: other for name, other in others.items() if not other.lie_beside(X)}
    if apart:
        _learn_lengths([b for b in (X, *apart.values()) if isinstance(b, Blocks)], count)
        for name, other in apart.items():
            check_as_many(sum(X.lengths), name, sum(other.lengths))
    columns = [X.keys, *(other.keys_beside(X, tasks) for other in others.values())]
    return [list(keys) for keys in zip(*columns, strict=True)]


def _learn_lengths(
    collections: Sequence[Blocks],
    count: Callable[[Sequence[Hashable]], list[int]],
) -> None:
    unknown = [(b, i) for b in collections for i, n in enumerate(b.lengths) if n is None]
    if unknown:
        lengths = count([b.keys[i] for b, i in unknown])
        for (blocks, i), n in zip(unknown, lengths, strict=True):
            blocks.lengths[i] = n
