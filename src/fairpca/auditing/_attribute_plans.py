"""From counted values of a sensitive column to its groups, however the rows were counted.

Rows in memory and rows of many files are measured by the same plan: values are counted, the counts
decide which levels are groups, and the plan then tells the group of every row.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..errors import AuditError, SingleGroupError

FEWEST_ROWS = 20
"""Groups of fewer rows are not measured: a half of them, in folds, is no evidence."""

MOST_GROUPS = 12
"""Of more groups, the smaller ones are measured together."""

NUMERIC_FROM = 11
"""Numbers with at least this many distinct values are a quantity, not groups."""


@dataclass(frozen=True)
class LevelPlan:
    """Which levels of a column are groups.

    Parameters
    ----------
    name : str
        The column.
    labels : tuple of m str
        The groups, most rows first; what was merged comes last.
    n_rows : tuple of m int
        Rows of each group.
    position : dict
        The group of each level; levels that are too rare have none.
    n_unknown : int
        Rows without a group: without a value, or with one that is too rare.
    note : str
        What was merged or left out.
    """

    name: str
    labels: tuple[str, ...]
    n_rows: tuple[int, ...]
    position: Mapping[str, int]
    n_unknown: int
    note: str

    @property
    def kind(self) -> str:
        """What estimators are told about the column."""
        return "categorical"

    def fitted(self, codes: np.ndarray) -> np.ndarray:
        """Return what estimators get for rows of these groups; None where the code is -1."""
        labels: np.ndarray = np.array([*self.labels, None], dtype=object)[codes]
        return labels


@dataclass(frozen=True)
class QuantityPlan:
    """A column of numbers, which estimators take as they are."""

    name: str

    @property
    def kind(self) -> str:
        """What estimators are told about the column."""
        return "numeric"


AttributePlan = LevelPlan | QuantityPlan


def refuse_dates(name: str) -> None:
    """Say what to do with a date: hardly any two people share one."""
    raise AuditError(
        f"The sensitive column '{name}' is a date, and almost every day would be a group of its "
        f"own. Make years or bands of it first, and name that column."
    )


def what_was_merged(name: str, note: str, n_unknown: int) -> str:
    """Return what a fit does not make equal, in a sentence or two; nothing if it is all."""
    said = []
    if note:
        said.append(f"{note.rstrip('.')}; differences among them are not removed.")
    if n_unknown:
        said.append(
            f"{n_unknown:,} rows have no group here; they count for the variance, not for the "
            f"comparison."
        )
    return f"{name}: {' '.join(said)}" if said else ""


def plan_levels(name: str, counts: Mapping[str, int], n_missing: int) -> LevelPlan:
    """Decide which levels are groups.

    Levels of fewer than 20 rows, and those beyond the eleven largest, are merged; where even
    together they have fewer than 20 rows, they count as unknown.

    Parameters
    ----------
    name : str
        The column.
    counts : dict
        Rows of each level.
    n_missing : int
        Rows without a value.

    Raises
    ------
    SingleGroupError
        If fewer than two groups are left.

    Examples
    --------
    >>> plan = plan_levels("race", {"a": 50, "b": 70, "c": 15, "d": 10, "e": 2}, n_missing=3)
    >>> plan.labels, plan.n_rows
    (('b', 'a', 'other (c, d, e)'), (70, 50, 27))
    """
    # Levels of as many rows are in the order of their names, whichever was read first.
    counts = dict(sorted(counts.items(), key=lambda item: (-item[1], item[0])))
    largest = list(counts)
    kept = [level for level in largest[: MOST_GROUPS - 1] if counts[level] >= FEWEST_ROWS]
    if len(counts) == MOST_GROUPS and counts[largest[-1]] >= FEWEST_ROWS:
        kept = largest
    rare = largest[len(kept) :]
    n_rare = sum(counts[level] for level in rare)
    labels, n_rows, note = list(kept), [counts[level] for level in kept], ""
    position = {level: code for code, level in enumerate(kept)}
    if rare and n_rare >= FEWEST_ROWS:
        position |= dict.fromkeys(rare, len(kept))
        labels.append(rare[0] if len(rare) == 1 else f"other ({_some(rare)})")
        n_rows.append(n_rare)
        if len(rare) > 1:
            note = f"{len(rare)} levels with few rows are measured together: {_some(rare)}."
    elif rare:
        note = (
            f"{n_rare} row(s) of {_some(rare)} are too few to be measured (at least {FEWEST_ROWS} "
            f"are needed) and count as unknown."
        )
    _check_two_groups(name, labels, counts, n_missing)
    n_unknown = n_missing + sum(counts.values()) - sum(n_rows)
    return LevelPlan(name, tuple(labels), tuple(n_rows), position, n_unknown, note)


def cut_in_two(name: str, distinct: np.ndarray, counts: np.ndarray) -> float:
    """Return where a quantity is cut into two bands: at its median.

    Parameters
    ----------
    name : str
        The column.
    distinct, counts : arrays of shape (u,)
        Its finite values, sorted, and how many rows have them.

    Raises
    ------
    SingleGroupError
        If there are too few rows on one side.
    """
    cut = float(min(_median(distinct, counts), distinct[-2]))
    above = int(counts[distinct > cut].sum())
    fewer = min(above, int(counts.sum()) - above)
    if fewer < FEWEST_ROWS:
        raise SingleGroupError(
            f"The sensitive column '{name}' has {fewer} row(s) on one side of {cut:g}, but "
            f"at least {FEWEST_ROWS} are needed to measure anything. Give more rows."
        )
    return cut


def _median(distinct: np.ndarray, counts: np.ndarray) -> float:
    ends = np.cumsum(counts)
    middle = [(ends[-1] - 1) // 2, ends[-1] // 2]
    return float(np.mean(distinct[np.searchsorted(ends, middle, side="right")]))


def _check_two_groups(name: str, labels: Sequence[str], counts: Any, n_missing: int) -> None:
    if len(labels) >= 2:
        return
    found = ", ".join(f"'{label}' ({count})" for label, count in list(counts.items())[:4])
    missing = f", {n_missing} missing" if n_missing else ""
    raise SingleGroupError(
        f"The sensitive column '{name}' has fewer than two groups of at least {FEWEST_ROWS} rows "
        f"({found or 'no value at all'}{missing}), so there is nothing to compare. Name another "
        f"column, or give more rows."
    )


def _some(labels: Sequence[str]) -> str:
    shown = ", ".join(map(str, labels[:3]))
    return shown if len(labels) <= 3 else f"{shown} and {len(labels) - 3} more"
