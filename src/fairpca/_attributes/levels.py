"""What a sensitive attribute is to the rest of the package: coded levels, or numbers.

Rows that do not count for an attribute (its value is missing, or the row lies outside the stratum
of y that the attribute is tied to) carry the code -1 or the value NaN. Every later stage knows
this one convention, so missing values and criteria need no code of their own.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import compress
from typing import Any
from unicodedata import normalize

import numpy as np

from ..errors import ManyLevelsWarning, UsageError, warn_user
from .advising import how_to_say

MOST_LEVELS = 10_000

SHOWN = 3
"""Most levels that a message about spellings names, and most spellings of each."""


@dataclass(frozen=True)
class Numbers:
    """Numbers of the rows that an attribute is regressed on: `values` (n, q), by their `names`."""

    names: tuple[str, ...]
    values: np.ndarray

    def take(self, rows: np.ndarray) -> Numbers:
        """Return the numbers of some of the rows."""
        return replace(self, values=self.values[rows])

    def spread_over(self, rows: np.ndarray) -> Numbers:
        """Return the numbers of more rows, of which the mask has its own; others do not count."""
        values = np.zeros((len(rows), self.values.shape[1]))
        values[rows] = self.values
        return replace(self, values=values)


@dataclass(frozen=True)
class Levels:
    """A categorical attribute of the rows: `codes` (n,) are positions in `labels`, or -1.

    Levels that are `integral_floats` are numbers such as 0.0 and 1.0. Should more rows show
    fractions, the attribute turns out to be numeric; its moments can follow without loss. An
    `optional` attribute may turn out to have one level only, and then asks for nothing. A
    `stratum` is the value of y that the attribute is tied to, None for all rows; or the level of
    each legitimate factor, by name. Then there may be `numbers` that it is regressed on.
    """

    name: str
    labels: tuple[Hashable, ...]
    codes: np.ndarray
    integral_floats: bool = False
    optional: bool = False
    stratum: Any = None
    numbers: Numbers | None = None

    def take(self, rows: np.ndarray) -> Levels:
        """Return the attribute of some of the rows; the labels stay."""
        return replace(
            self, codes=self.codes[rows], numbers=self.numbers and self.numbers.take(rows)
        )

    def within(self, stratum: Any, rows: np.ndarray) -> Levels:
        """Return the attribute tied to a stratum: the other rows do not count."""
        # There may be many strata, each with a code for every row.
        small = np.min_scalar_type(-1 - len(self.labels))
        codes = np.where(rows, self.codes.astype(small, copy=False), small.type(-1))
        return replace(self, codes=codes, stratum=stratum)

    def spread_over(self, rows: np.ndarray) -> Levels:
        """Return the attribute of more rows, of which the mask has its own; the others lack it."""
        codes = np.full(len(rows), -1)
        codes[rows] = self.codes
        return replace(self, codes=codes, numbers=self.numbers and self.numbers.spread_over(rows))

    @property
    def n_rows(self) -> int:
        """How many rows there are, those that do not count included."""
        return len(self.codes)

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
    numbers: Numbers | None = None

    def take(self, rows: np.ndarray) -> Numeric:
        """Return the attribute of some of the rows."""
        numbers = self.numbers and self.numbers.take(rows)
        return replace(self, values=self.values[rows], numbers=numbers)

    def within(self, stratum: Any, rows: np.ndarray) -> Numeric:
        """Return the attribute tied to a stratum: the other rows do not count."""
        return replace(self, values=np.where(rows, self.values, np.nan), stratum=stratum)

    def spread_over(self, rows: np.ndarray) -> Numeric:
        """Return the attribute of more rows, of which the mask has its own; the others lack it."""
        values = np.full(len(rows), np.nan)
        values[rows] = self.values
        return replace(self, values=values, numbers=self.numbers and self.numbers.spread_over(rows))

    @property
    def n_rows(self) -> int:
        """How many rows there are, those that do not count included."""
        return len(self.values)

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
            f"it is a quantity, pass {how_to_say(name, 'numeric')}."
        )


def folded(level: Any) -> Any:
    """Return what all spellings of a level share: case, blanks around it, final dots do not count.

    >>> folded(" >50K.") == folded(">50k"), folded("Male") == folded("M")
    (True, False)
    """
    if isinstance(level, tuple):  # a joint group
        return tuple(map(folded, level))
    if not isinstance(level, str):
        return level
    text = normalize("NFC", level).casefold().strip()
    return text.rstrip(".").rstrip() or text


def one_spelling(n_rows: Mapping[str, int]) -> dict[str, str]:
    """Return the level that each text is a spelling of, called as most of its rows spell it.

    >>> one_spelling({"yes": 2, "Yes": 5, "no": 4})
    {'yes': 'Yes', 'Yes': 'Yes', 'no': 'no'}
    """
    names: dict[str, str] = {}
    for text in sorted(n_rows, key=lambda text: (-n_rows[text], text)):
        names.setdefault(folded(text), text)
    return {text: names[folded(text)] for text in n_rows}


def about_spellings(name: str, n_rows: Mapping[str, int]) -> str:
    """Return what to tell of texts that are taken as spellings of one level; nothing if none is."""
    levels: dict[str, list[str]] = {}
    for text, level in one_spelling(n_rows).items():
        levels.setdefault(level, []).append(text)
    told = []
    for level, texts in levels.items():
        others = sorted((t for t in texts if t != level), key=lambda t: (-n_rows[t], t))
        more = f" and {len(others) - SHOWN} more" if len(others) > SHOWN else ""
        listed = ", ".join(f"{_quoted(t)} ({n_rows[t]:,})" for t in others[:SHOWN]) + more
        if others:
            told.append(f"{_quoted(level)} ({n_rows[level]:,} rows) with {listed}")
    if not told:
        return ""
    more = f"; and {len(told) - SHOWN} more" if len(told) > SHOWN else ""
    return (
        f"{name} has several spellings of a level, which are taken as one: "
        f"{'; '.join(told[:SHOWN])}{more}. If they are different, give them names that differ in "
        f"more than case, blanks or a final dot."
    )


def about_initials(name: str, levels: Iterable[str]) -> str:
    """Return a question where a level is the first letter of just one other: may it be the same."""
    by_folded = {folded(level): level for level in levels}
    pairs = []
    for short, level in by_folded.items():
        words = [t for t in by_folded if len(short) == 1 < len(t) and t.startswith(short)]
        if short.isalpha() and len(words) == 1:
            pairs.append(f"{_quoted(level)} and {_quoted(by_folded[words[0]])}")
    if not pairs:
        return ""
    return (
        f"{name} has the levels {', '.join(pairs[:SHOWN])}, which are kept apart. Do they mean the "
        f"same? Then write them alike."
    )


def warn_of_spellings(name: str, labels: Iterable[Any]) -> None:
    """Warn of levels that read the same and are kept apart: arrays are taken as they are."""
    alike: dict[Any, list[Any]] = {}
    for label in labels:
        alike.setdefault(folded(label), []).append(label)
    told = [" and ".join(map(repr, found[:SHOWN])) for found in alike.values() if len(found) > 1]
    if told:
        more = f", and {len(told) - SHOWN} more" if len(told) > SHOWN else ""
        warn_user(
            f"{name} has levels that differ in case, blanks or a final dot only, and are kept "
            f"apart: {'; '.join(told[:SHOWN])}{more}. If they are the same, write them alike "
            f"first, as in [v.strip().rstrip('.').casefold() for v in values]; fit_table and audit "
            f"do that for tables.",
            ManyLevelsWarning,
        )


def _quoted(text: str) -> str:
    return f"'{text if len(text) <= 40 else text[:37] + '...'}'"
