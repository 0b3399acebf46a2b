"""Which rows belong together, where features and attributes come in parts of their own."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise
from typing import Any

import numpy as np

from ...errors import UnpairedRowsError


def is_single(value: Any) -> bool:
    """Tell whether this is one value for all rows, such as a weight."""
    return bool(np.isscalar(value)) or getattr(value, "ndim", 1) == 0


def count_rows(value: Any) -> int:
    """Return how many rows an array, a sparse matrix, a frame, a column or a list has."""
    return int(value.shape[0]) if hasattr(value, "shape") else len(value)


def rows_between(value: Any, start: int, stop: int) -> Any:
    """Return some of the rows, by position."""
    return value.iloc[start:stop] if hasattr(value, "iloc") else value[start:stop]


def check_as_many(n: int, name: str, m: int) -> None:
    """Raise unless there are as many rows as X has."""
    if n != m:
        raise UnpairedRowsError(
            f"X has {n} rows, but {name} has {m}, so rows and groups cannot be paired. Pass one "
            f"entry per row of X."
        )


def check_paired(X: Any, name: str, value: Any) -> None:
    """Raise unless the rows of a partition of X are those of a partition of something else.

    Pandas indexes must be the same. In memory, other labels are no worry as long as they are not
    the labels of X in another order; but a partition does not know the labels of the others.
    """
    n, m = count_rows(X), count_rows(value)
    if n != m:
        raise UnpairedRowsError(
            f"A partition of X has {n} rows, but that of {name} has {m}, so rows and groups cannot "
            f"be paired. Pass columns of the same collection as X, or divide {name} into "
            f"partitions as long as those of X."
        )
    rows: Any = getattr(X, "index", None)
    people: Any = getattr(value, "index", None)
    if hasattr(rows, "equals") and hasattr(people, "equals") and not rows.equals(people):
        raise UnpairedRowsError(
            f"A partition of X has the index labels {_shown(rows)}, but that of {name} has "
            f"{_shown(people)}, so people might get the groups of others. Pass columns of the same "
            f"frame as X, in the same order, or keep the attributes as columns of X and name them "
            f"in sensitive_columns."
        )


def _shown(index: Any) -> str:
    return ", ".join(map(repr, index[:3].tolist())) + (", ..." if len(index) > 3 else "")


def pieces(wanted: Sequence[int], there: Sequence[int]) -> Iterator[list[tuple[int, int, int]]]:
    """Yield, for every part that is wanted, where its rows are: part, first row, end.

    Examples
    --------
    >>> list(pieces([2, 3], there=[4, 1]))
    [[(0, 0, 2)], [(0, 2, 4), (1, 0, 1)]]

    A part without rows takes none of some part, so that the types of the columns are known.

    >>> list(pieces([0, 5], there=[4, 0, 1]))
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
class Recut:
    """Take some rows of some parts and put them together.

    Parameters
    ----------
    bounds : sequence of (int, int)
        First row and end, for each part.
    concatenate : callable
        Takes a list of parts.
    """

    bounds: Sequence[tuple[int, int]]
    concatenate: Callable[[list[Any]], Any]

    def __call__(self, parts: Sequence[Any]) -> Any:
        """Return the rows as one part."""
        cut = [rows_between(p, a, b) for p, (a, b) in zip(parts, self.bounds, strict=True)]
        return cut[0] if len(cut) == 1 else self.concatenate(cut)
