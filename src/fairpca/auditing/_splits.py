"""Rows to fit on and rows to measure on: halves, both ways, several times, and samples of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..metrics import FEWEST, stratified_rows
from ._representations import TrainingRows

LEAST_SHARE = 0.25
"""Of a group that each half should have: a fold of fewer rows may miss the group."""

MOST_DRAWS = 50
"""How often halves are drawn again for that; groups of one row can never be in both."""


@dataclass(frozen=True)
class Effort:
    """How much work goes into a measurement: rows, rounds of halves, folds, permutations, cells.

    Downstream models are fitted to at most `train_rows`, the kernel model of the curve to
    `curve_rows`, and their decisions are judged on at most `judged_rows` held-out rows.
    """

    max_rows: int = 100_000
    joint: bool = True
    n_rounds: int = 2
    probe_rows: int = 8_000
    mmd_rows: int = 1_500
    train_rows: int = 20_000
    curve_rows: int = 10_000
    judged_rows: int = 25_000
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

    Codes are one array per attribute, -1 where the group is unknown; `sizes` are the attributes'
    numbers of groups, and `y` is the target, if there is one.
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

    Examples
    --------
    >>> sex = np.array([0, 0, 0, 0, 1, 1])
    >>> first, second = halves([sex], 1, np.random.default_rng(0))
    >>> np.bincount(sex[first.test]).tolist(), np.array_equal(first.test, second.train)
    ([2, 1], True)
    """
    splits = []
    for turn in range(n_rounds):
        for _ in range(MOST_DRAWS):
            order = np.lexsort((rng.random(len(strata[0])), *strata))
            first, second = np.sort(order[0::2]), np.sort(order[1::2])
            if all(_in_both(codes, first, second) for codes in strata):
                break
        splits += [Split(2 * turn, first, second), Split(2 * turn + 1, second, first)]
    return splits


def _in_both(codes: np.ndarray, first: np.ndarray, second: np.ndarray) -> bool:
    """Whether either half has its share of every group.

    Combinations are halved to within one row; a group that is made up of many combinations of few
    rows may still be divided badly.
    """
    m = int(codes.max()) + 1
    counts = [np.bincount(codes[half][codes[half] >= 0], minlength=m) for half in (first, second)]
    return bool(np.all(np.minimum(*counts) >= LEAST_SHARE * np.add(*counts)))


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
    """Return positions of at most `n_rows` rows whose group is known, ascending.

    Groups in proportion, but the rare ones keep up to 50 rows: a sample of a large table would
    have too few of them to be divided into folds.
    """
    known = np.flatnonzero(codes >= 0)
    random = np.random.RandomState(rng.integers(2**31 - 1))
    sampled: np.ndarray = known[stratified_rows(len(known), n_rows, codes[known], random)]
    return sampled


def represents(rows: np.ndarray, codes: np.ndarray) -> bool:
    """Whether a sample has known groups only, and of each at least 50 rows, or all there are."""
    if codes[rows].min() < 0:
        return False
    drawn, counts = (
        np.bincount(c, minlength=codes.max() + 1) for c in (codes[rows], codes[codes >= 0])
    )
    return bool(np.all(drawn >= np.minimum(counts, FEWEST)))
