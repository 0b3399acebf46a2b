"""What a sensitive attribute is to the rest of the package: coded levels, or numbers.

Rows that do not count for an attribute (its value is missing, or the row lies outside the stratum
of y that the attribute is tied to) carry the code -1 or the value NaN. Every later stage knows
this one convention, so missing values and criteria need no code of their own.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from itertools import compress
from typing import Any

import numpy as np

from ..errors import UsageError

MOST_LEVELS = 10_000


@dataclass(frozen=True)
class Levels:
    """A categorical attribute of the rows: `codes` (n,) are positions in `labels`, or -1.

    Levels that are `integral_floats` are numbers such as 0.0 and 1.0. Should more rows show
    fractions, the attribute turns out to be numeric; its moments can follow without loss. An
    `optional` attribute may turn out to have one level only, and then asks for nothing. A
    `stratum` is the value of y that the attribute is tied to, None for all rows.
    """

    name: str
    labels: tuple[Hashable, ...]
    codes: np.ndarray
    integral_floats: bool = False
    optional: bool = False
    stratum: Any = None

    def take(self, rows: np.ndarray) -> Levels:
        """Return the attribute of some of the rows; the labels stay."""
        return replace(self, codes=self.codes[rows])

    def within(self, stratum: Any, rows: np.ndarray) -> Levels:
        """Return the attribute tied to a stratum: the other rows do not count."""
        return replace(self, codes=np.where(rows, self.codes, -1), stratum=stratum)

    def spread_over(self, rows: np.ndarray) -> Levels:
        """Return the attribute of more rows, of which the mask has its own; the others lack it."""
        codes = np.full(len(rows), -1)
        codes[rows] = self.codes
        return replace(self, codes=codes)

    @property
    def missing(self) -> np.ndarray:
        """Mask of the rows that do not count."""
        return self.codes < 0


@dataclass(frozen=True)
class Numeric:
    """A numeric attribute of the rows: `values` of shape (n,), NaN where a row does not count."""

    name: str
    values: np.ndarray
    stratum: Any = None

    def take(self, rows: np.ndarray) -> Numeric:
        """Return the attribute of some of the rows."""
        return replace(self, values=self.values[rows])

    def within(self, stratum: Any, rows: np.ndarray) -> Numeric:
        """Return the attribute tied to a stratum: the other rows do not count."""
        return replace(self, values=np.where(rows, self.values, np.nan), stratum=stratum)

    def spread_over(self, rows: np.ndarray) -> Numeric:
        """Return the attribute of more rows, of which the mask has its own; the others lack it."""
        values = np.full(len(rows), np.nan)
        values[rows] = self.values
        return replace(self, values=values)

    @property
    def missing(self) -> np.ndarray:
        """Mask of the rows that do not count."""
        return np.isnan(self.values)


Attribute = Levels | Numeric


def drop_unused_labels(attribute: Attribute) -> Attribute:
    """Forget labels that no row carries."""
    if isinstance(attribute, Numeric):
        return attribute
    used = np.bincount(attribute.codes + 1, minlength=len(attribute.labels) + 1)[1:] > 0
    if used.all():
        return attribute
    new_code = np.append(np.cumsum(used) - 1, -1)  # code -1 picks the last entry: stays -1
    labels = tuple(compress(attribute.labels, used))
    return replace(attribute, labels=labels, codes=new_code[attribute.codes])


def intersect(attributes: Sequence[Attribute]) -> tuple[Attribute, ...]:
    """Merge all categorical attributes into one whose levels are their joint groups.

    A row with a missing part has no joint group. Numeric attributes stay as they are.
    """
    parts = [a for a in attributes if isinstance(a, Levels)]
    if len(parts) < 2:
        return tuple(attributes)
    name = " x ".join(a.name for a in parts)
    numeric = [a for a in attributes if isinstance(a, Numeric)]
    known = ~np.any([a.missing for a in parts], axis=0)
    codes = np.zeros(np.count_nonzero(known), dtype=np.intp)
    labels: list[tuple[Any, ...]] = [()]
    for a in parts:
        # Only cells that rows are in go on to the next attribute, so that their number is bounded.
        cells, codes = np.unique(codes * len(a.labels) + a.codes[known], return_inverse=True)
        places = (divmod(int(cell), len(a.labels)) for cell in cells)
        labels = [(*labels[i], a.labels[j]) for i, j in places]
    joint_codes = np.full(known.shape, -1)
    joint_codes[known] = codes
    refuse_identifiers(name, len(labels))
    return (Levels(name, tuple(labels), joint_codes), *numeric)


def refuse_identifiers(name: str, n_levels: int, most: int = MOST_LEVELS) -> None:
    """Raise if an attribute has more levels than make sense."""
    if n_levels > most:
        raise UsageError(
            f"The sensitive attribute {name!r} has {n_levels} levels, more than the {most} that "
            f"make sense as groups: it looks like an identifier. Leave it out, or merge levels; if "
            f"it is a quantity, say {how_to_say(name, 'numeric')}."
        )


def how_to_say(name: str, kind: str) -> str:
    """Return how users say what a column is, in Python and on the command line."""
    return f"sensitive_kinds={{{name!r}: {kind!r}}} (command line: --{kind} {name})"
