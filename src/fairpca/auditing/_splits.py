"""Rows to fit on and rows to measure on: halves, both ways, several times, and samples of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..metrics import FEWEST, stratified_rows
from ._representations import TrainingRows

_LEAST_SHARE = 0.25  # of a group in each half: a fold of fewer rows may miss the group
_MOST_DRAWS = 50  # of halves, for that; groups of one row can never be in both


@dataclass(frozen=True)
class Effort:
    """How much work goes into a measurement: rows, rounds of halves, folds, permutations, cells."""

    max_rows: int = 100_000
    joint: bool = True
    n_rounds: int = 2
    probe_rows: int = 8_000
    mmd_rows: int = 1_500
    train_rows: int = 20_000  # of downstream models
    curve_rows: int = 10_000  # of the kernel model of the curve
    judged_rows: int = 25_000  # held-out rows that decisions are made about
    folds: int = 3
    permutations: int = 500
    mmd_permutations: int = 200
    cells: int = 8
    picture_rows: int = 1_200


FULL = Effort()
QUICK = Effort(
    max_rows=20_000,
    joint=False,
    n_rounds=1,
    probe_rows=1_500,
    mmd_rows=700,
    train_rows=4_000,
    curve_rows=2_500,
    judged_rows=6_000,
    folds=2,
    permutations=300,
)


@dataclass(frozen=True, eq=False)
class Split:
    """One way to divide the rows; two splits that follow each other swap their halves."""

    index: int
    train: np.ndarray
    test: np.ndarray


@dataclass(frozen=True, eq=False)
class HeldOut:
    """The two halves of a split as numbers: `rows` to fit, and `X` of shape (n, d) to measure on.

    Codes are -1 where the group is unknown; `sizes` are the attributes' numbers of groups.
    """

    index: int
    rows: TrainingRows
    X: np.ndarray
    codes_train: list[np.ndarray]
    codes: list[np.ndarray]
    sizes: list[int]
    y_train: np.ndarray | None
    y: np.ndarray | None

    def picture_rows(self, effort: Effort) -> np.ndarray:
        """Return the rows that are drawn, the same for every representation."""
        return evenly_sampled(
            self.codes, effort.picture_rows, np.random.default_rng(self.rows.seed)
        )

    def judged_rows(self, effort: Effort) -> np.ndarray:
        """Return the held-out rows that decisions are judged on, the same for every model."""
        rng = np.random.default_rng([self.rows.seed, self.index])
        return evenly_sampled(self.codes, effort.judged_rows, rng)


def halves(strata: Sequence[np.ndarray], n_rounds: int, rng: np.random.Generator) -> list[Split]:
    """Divide rows into halves in which every combination of the strata is equally frequent.

    Each round gives two splits, so that every row is held out once.
    """
    splits = []
    for turn in range(n_rounds):
        for _ in range(_MOST_DRAWS):
            order = np.lexsort((rng.random(len(strata[0])), *strata))
            first, second = np.sort(order[0::2]), np.sort(order[1::2])
            if all(_in_both(codes, first, second) for codes in strata):
                break
        splits += [Split(2 * turn, first, second), Split(2 * turn + 1, second, first)]
    return splits


def _in_both(codes: np.ndarray, first: np.ndarray, second: np.ndarray) -> bool:
    """Whether either half has its share of a group, which may consist of many rare combinations."""
    m = int(codes.max()) + 1
    counts = [np.bincount(codes[half][codes[half] >= 0], minlength=m) for half in (first, second)]
    return bool(np.all(np.minimum(*counts) >= _LEAST_SHARE * np.add(*counts)))


def evenly_sampled(
    strata: Sequence[np.ndarray], n_rows: int, rng: np.random.Generator
) -> np.ndarray:
    """Return positions of at most `n_rows` rows, strata in proportion, ascending."""
    n = len(strata[0])
    if n <= n_rows:
        return np.arange(n)
    order = np.lexsort((rng.random(n), *strata))
    start = rng.random()
    return np.sort(order[np.floor((start + np.arange(n_rows)) * n / n_rows).astype(int) % n])


def sampled_with_rare_groups(
    codes: np.ndarray, n_rows: int, rng: np.random.Generator
) -> np.ndarray:
    """Return positions of at most `n_rows` rows whose group is known; rare ones keep up to 50."""
    known = np.flatnonzero(codes >= 0)
    random = np.random.RandomState(rng.integers(2**31 - 1))
    return known[stratified_rows(len(known), n_rows, codes[known], random)]


def represents(rows: np.ndarray, codes: np.ndarray) -> bool:
    """Whether a sample has known groups only, and of each at least 50 rows, or all there are."""
    if codes[rows].min() < 0:
        return False
    drawn, counts = (
        np.bincount(c, minlength=codes.max() + 1) for c in (codes[rows], codes[codes >= 0])
    )
    return bool(np.all(drawn >= np.minimum(counts, FEWEST)))
