"""Categories: one indicator per level."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from ._arrow_columns import distinct
from ._frozen_column import Arrays, Learned, Plain, moments
from ._text_values import cleaned, distinct_texts, number

MOST_LEVELS = 40
"""Texts with more levels than this are encoded by their letters, see `TextColumn`."""


@dataclass(frozen=True)
class LevelColumn:
    """One indicator per level; of two levels, one.

    Parameters
    ----------
    name : str
        The column.
    levels : tuple of str
        The levels, sorted.
    missing : bool
        Whether "missing" was a level of its own.
    share : float
        Share of the rows at the second of two levels.

    Notes
    -----
    A level that was not there when the encoder was fitted has none of the indicators. Where two
    levels share one indicator, that would be the first of them, so it is put at their average.
    """

    name: str
    levels: tuple[str, ...]
    missing: bool = False
    share: float = 0.5

    @property
    def outputs(self) -> list[str]:
        """Names of the outputs."""
        names = [f"{self.name}_{level}" for level in self.levels]
        names += [f"{self.name}_missing"] * self.missing
        return names[1:] if len(names) == 2 else names

    @cached_property
    def table(self) -> np.ndarray:
        """The numbers of each level, of the missing, and of the unseen; shape (L + 2, w)."""
        n = len(self.levels)
        seen = n + self.missing
        indicators = np.zeros((n + 2, seen))
        indicators[:seen] = np.eye(seen)
        if seen != 2:
            return indicators
        indicators[seen:, 1] = self.share  # unseen, and missing where it is no level
        return indicators[:, 1:]

    @cached_property
    def place(self) -> dict[str, int]:
        """The row of `table` for each level."""
        return {level: i for i, level in enumerate(self.levels)}

    @cached_property
    def are_numbers(self) -> bool:
        """Whether the levels are integers, which may come back as floats."""
        return all(number(level) is not None for level in self.levels)

    def codes(self, array: Any) -> np.ndarray:
        """Return the row of `table` that each row of an Arrow array has."""
        codes, values = distinct(array)
        rows: np.ndarray = np.array([self._code(value) for value in values], dtype=np.intp)[codes]
        return rows

    def _code(self, value: Any) -> int:
        text, n = cleaned(value), len(self.levels)
        if text is None:
            return n
        code = self.place.get(text)
        if code is None and self.are_numbers and (meant := number(text)) is not None:
            code = self.place.get(cleaned(meant) or "")
        return n + 1 if code is None else code

    def rows(self, array: Any) -> tuple[np.ndarray, np.ndarray]:
        """Return the code of each row, and the numbers for each code."""
        return self.codes(array), self.table

    def to_plain(self) -> tuple[Plain, Arrays]:
        """Return the learned data."""
        return {
            "kind": "category",
            "name": self.name,
            "levels": list(self.levels),
            "missing": self.missing,
            "share": self.share,
        }, {}

    @classmethod
    def from_plain(cls, plain: Plain, arrays: Arrays) -> LevelColumn:
        """Return what `to_plain` was called on."""
        levels = tuple(plain["levels"])
        return cls(plain["name"], levels, plain["missing"], float(plain["share"]))


def fit_levels(name: str, array: Any, note: str = "") -> Learned:
    """Learn the levels of a column."""
    codes, texts = distinct_texts(array)
    counts = np.bincount(codes, minlength=len(texts))
    known = {text: int(c) for text, c in zip(texts, counts, strict=True) if text and c}
    n_missing = int(counts[-1])
    levels = tuple(sorted(known))
    by_level = np.array([*(known[level] for level in levels), n_missing, 0])
    share = float(by_level[1] / max(1, len(codes)))
    column = LevelColumn(name, levels, missing=n_missing > 0, share=share)
    mean, scale = moments(column.table, by_level)
    return Learned(column, "category", n_missing, len(levels), mean, scale, note)
