"""A random sample of the rows of a table, drawn part by part."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..estimators import smallest_keys
from ..tables import import_arrow


@dataclass
class LargestKey:
    """The largest random key that a row of the sample can have, as far as is known.

    Threads share it, and it only gets smaller: what is drawn in the end does not depend on which
    of them was first, only how much is drawn in vain.
    """

    value: float = 1.0


@dataclass(frozen=True)
class Drawn:
    """Rows that may be in a sample of `n`: pieces of (keys, places, table)."""

    n: int
    largest_key: LargestKey
    pieces: tuple[tuple[np.ndarray, np.ndarray, Any], ...]

    def __add__(self, other: Drawn) -> Drawn:
        both = Drawn(self.n, self.largest_key, self.pieces + other.pieces)
        held = sum(len(keys) for keys, _, _ in both.pieces)
        return both.merged() if held > 1.5 * self.n else both

    def merged(self) -> Drawn:
        """Return the sample in one piece, its rows in their order."""
        keys = np.concatenate([keys for keys, _, _ in self.pieces])
        places = np.concatenate([places for _, places, _ in self.pieces], axis=1)
        kept = smallest_keys(keys, places, self.n)
        arrow = import_arrow()
        tables = [table for _, _, table in self.pieces]
        table = taken(arrow.concat_tables(tables, promote_options="permissive"), kept)
        if len(kept) == self.n:
            self.largest_key.value = float(keys[kept].max())
        return Drawn(self.n, self.largest_key, ((keys[kept], places[:, kept], table),))

    @property
    def table(self) -> Any:
        """The rows, an Arrow table."""
        ((_, _, table),) = self.merged().pieces
        return table


def taken(rows: Any, indices: np.ndarray) -> Any:
    """Return some rows of an Arrow array or table."""
    return rows.take(import_arrow().array(np.asarray(indices, dtype=np.int64)))
