"""Add up what the parts gave, a few at a time, so that no machine ever holds all of it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import reduce
from typing import Any, TypeVar

from ..elsewhere import plus

Node = TypeVar("Node")

FAN_IN = 4
"""So many results are added at once: few tasks, and few d x d matrices in one memory."""


def total(results: Iterable[Any]) -> Any:
    """Return the sum of the results that are there; None if there are none.

    Examples
    --------
    >>> total([None, 1, 2]), total([None])
    (3, None)
    """
    return reduce(plus, results, None)


def reduced(
    leaves: Sequence[Node], join: Callable[[Sequence[Node]], Node], fan_in: int = FAN_IN
) -> Node:
    """Return the root of a tree over at least one leaf, made by `join` from the bottom up.

    Neighbours are joined first, whichever is ready first, so the result is always the same.

    Examples
    --------
    >>> reduced("abcdefghi", lambda few: f"({''.join(few)})")
    '((abcd)(efgh)i)'
    """
    nodes = list(leaves)
    while len(nodes) > 1:
        few = [nodes[i : i + fan_in] for i in range(0, len(nodes), fan_in)]
        nodes = [join(n) if len(n) > 1 else n[0] for n in few]
    return nodes[0]
