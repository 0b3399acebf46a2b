"""Where a sum stands: what is added, and what was begun.

These values never change, so that work that is interrupted anywhere leaves one that is true.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class OpenSum:
    """The sum of a stretch that is not part of the total yet.

    Parameters
    ----------
    total : any
        Sum of its first pieces; None if there was nothing to add.
    added, rows : int
        How many pieces these are, and how many rows they have.
    ended : bool
        Whether there are no more.
    """

    total: Any = None
    added: int = 0
    rows: int = 0
    ended: bool = False


@dataclass(frozen=True)
class SumSoFar:
    """Where the work stands.

    Parameters
    ----------
    total : any
        Sum of the first stretches; None if there was nothing to add.
    finished, rows : int
        How many stretches these are, and how many rows they have.
    open : dict of int to OpenSum
        Later stretches that were begun.
    """

    total: Any = None
    finished: int = 0
    rows: int = 0
    open: Mapping[int, OpenSum] = field(default_factory=dict)

    @property
    def rows_done(self) -> int:
        """Rows that were added, to whichever sum."""
        return self.rows + sum(stretch.rows for stretch in self.open.values())

    @property
    def is_possible(self) -> bool:
        """Whether all that is counted could have been counted; files may say anything."""
        counts = [self.finished, self.rows, *self.open]
        for stretch in self.open.values():
            counts += [stretch.added, stretch.rows]
        counted = all(type(count) is int and 0 <= count < 2**62 for count in counts)
        ended = all(type(stretch.ended) is bool for stretch in self.open.values())
        return counted and ended and all(number >= self.finished for number in self.open)
