"""Rows to fit on and rows to measure on: halves, both ways, several times."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from ..metrics import FEWEST, stratified_rows

LEAST_SHARE = 0.25
"""Of a group that each half should have: a fold of fewer rows may miss the group."""

MOST_DRAWS = 50
"""How often halves are drawn again for that; groups of one row can never be in both."""


@dataclass(frozen=True, eq=False)
class Split:
    """One way to divide the rows.

    Parameters
    ----------
    index : int
        Its number; two splits that follow each other share their halves, swapped.
    train, test : array of int
        Positions of the rows, ascending.
    """

    index: int
    train: np.ndarray
    test: np.ndarray


def halves(strata: Sequence[np.ndarray], n_rounds: int, rng: np.random.Generator) -> list[Split]:
    """Divide rows into halves in which every combination of the strata is equally frequent.

    Parameters
    ----------
    strata : sequence of int arrays of shape (n,)
        Codes of groups and of the target.
    n_rounds : int
        How often; each round gives two splits, so that every row is held out once.

    Returns
    -------
    list of 2 * n_rounds Split

    Examples
    --------
    >>> sex = np.array([0, 0, 0, 0, 1, 1])
    >>> first, second = halves([sex], 1, np.random.default_rng(0))
    >>> np.bincount(sex[first.test]).tolist(), np.array_equal(first.test, second.train)
    ([2, 1], True)
    """
    return list(_halves(strata, n_rounds, rng))


def _halves(
    strata: Sequence[np.ndarray], n_rounds: int, rng: np.random.Generator
) -> Iterator[Split]:
    for turn in range(n_rounds):
        for _ in range(MOST_DRAWS):
            first, second = _two_halves(strata, rng)
            if all(_in_both(codes, first, second) for codes in strata):
                break
        yield Split(2 * turn, first, second)
        yield Split(2 * turn + 1, second, first)


def _two_halves(
    strata: Sequence[np.ndarray], rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    order = np.lexsort((rng.random(len(strata[0])), *strata))
    return np.sort(order[0::2]), np.sort(order[1::2])


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
