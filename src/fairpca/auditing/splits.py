"""Rows to fit on and rows to measure on: halves, both ways, several times."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np


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
    n = len(strata[0])
    for turn in range(n_rounds):
        order = np.lexsort((rng.random(n), *strata))
        first, second = np.sort(order[0::2]), np.sort(order[1::2])
        yield Split(2 * turn, first, second)
        yield Split(2 * turn + 1, second, first)


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
