"""A small tree whose leaves keep the target and give little away about the groups."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import NamedTuple

import numpy as np

BINS = 32
"""Splits are tried at this many quantiles of each column."""


class Step(NamedTuple):
    """One answer on the way to a leaf: whether the column is at most the threshold."""

    column: int
    threshold: float
    at_most: bool


@dataclass(frozen=True)
class FairTree:
    """The leaves of a tree, each as the answers that lead to it.

    Parameters
    ----------
    leaves : tuple of tuple of Step
        Every row fits exactly one of them.
    """

    leaves: tuple[tuple[Step, ...], ...]

    def apply(self, T: np.ndarray) -> np.ndarray:
        """Return the number of the leaf of each row, shape (n,)."""
        leaf = np.zeros(len(T), dtype=int)
        for number, steps in enumerate(self.leaves):
            inside = np.ones(len(T), dtype=bool)
            for column, threshold, at_most in steps:
                inside &= (T[:, column] <= threshold) == at_most
            leaf[inside] = number
        return leaf


class Split(NamedTuple):
    """The best way to cut a leaf: what it gains, and where."""

    gain: float
    column: int
    edge: int


def fair_tree(
    T: np.ndarray,
    y: np.ndarray,
    groups: np.ndarray,
    *,
    max_leaves: int,
    min_rows: int,
    price: float,
) -> FairTree:
    r"""Grow a tree, best split first, that pays for what it tells about the groups.

    Parameters
    ----------
    T : array of shape (n, k)
        Rows.
    y, groups : arrays of int of shape (n,)
        Classes and groups, coded from 0.
    max_leaves, min_rows : int
        How many leaves at most, and how many rows each of them has at least.
    price : float
        What one unit of distance between the groups costs, in units of the target's impurity.

    Returns
    -------
    FairTree

    Notes
    -----
    A split gains the decrease of the Gini impurity of `y`, less `price` times the increase of the
    total variation distance between the groups' distributions over the leaves, averaged over
    pairs of groups. That distance is what `certified_gap` bounds; it never falls by a split, and
    does not rise by one whose two sides are both more frequent in the same group. The idea of
    trading the impurity of the target against that of the groups is that of FARE (Jovanović et
    al., ICML 2023), who use the Gini impurity for both.
    """
    grower = _Grower(T, y, groups, min_rows, price)
    rows = [np.arange(len(T))]
    leaves: list[tuple[Step, ...]] = [()]
    splits = [grower.best(rows[0])]
    while len(rows) < max_leaves:
        k = max(range(len(rows)), key=lambda leaf: splits[leaf].gain)
        if splits[k].gain <= 0:
            break
        _, column, edge = splits[k]
        below = grower.bins[rows[k], column] <= edge
        threshold = float(grower.edges[column][edge])
        rows += [rows[k][~below]]
        leaves += [(*leaves[k], Step(column, threshold, False))]
        rows[k], leaves[k] = rows[k][below], (*leaves[k], Step(column, threshold, True))
        splits[k] = grower.best(rows[k])
        splits += [grower.best(rows[-1])]
    return FairTree(tuple(leaves))


class _Grower:
    """Rows as bins and counts, and the best split of any set of them."""

    def __init__(
        self, T: np.ndarray, y: np.ndarray, groups: np.ndarray, min_rows: int, price: float
    ) -> None:
        shares = np.linspace(0, 1, BINS + 1)[1:-1]
        self.edges = [np.unique(np.quantile(column, shares)) for column in T.T]
        # A row is in bin <= i if and only if it is at most edge i.
        self.bins = np.column_stack(
            [np.searchsorted(edges, column) for edges, column in zip(self.edges, T.T, strict=True)]
        )
        self.shape = (int(y.max()) + 1, int(groups.max()) + 1)
        self.kinds = y * self.shape[1] + groups
        self.sizes = np.bincount(groups)
        self.min_rows, self.price = min_rows, price

    def best(self, rows: np.ndarray) -> Split:
        kinds, n_kinds = self.kinds[rows], int(np.prod(self.shape))
        whole = np.bincount(kinds, minlength=n_kinds).reshape(self.shape)
        best = Split(0.0, -1, -1)
        for column, edges in enumerate(self.edges):
            places = self.bins[rows, column] * n_kinds + kinds
            counts = np.bincount(places, minlength=(len(edges) + 1) * n_kinds)
            below = counts.reshape(-1, *self.shape).cumsum(axis=0)[:-1]
            gains = self._cost(whole) - self._cost(below) - self._cost(whole - below)
            n_below = below.sum(axis=(1, 2))
            too_small = np.minimum(n_below, len(rows) - n_below) < self.min_rows
            gains = np.where(too_small, -np.inf, gains)
            edge = int(np.argmax(gains))
            if gains[edge] > best.gain:
                best = Split(float(gains[edge]), column, edge)
        return best

    def _cost(self, counts: np.ndarray) -> np.ndarray:
        """Impurity plus the price of the distance, of leaves with these counts (..., y, group)."""
        of_class = counts.sum(axis=-1)
        total = of_class.sum(axis=-1)
        impurity = total - (of_class**2).sum(axis=-1) / np.maximum(total, 1)
        shares = counts.sum(axis=-2) / self.sizes
        pairs = list(combinations(range(len(self.sizes)), 2))
        distance = sum(np.abs(shares[..., g] - shares[..., h]) for g, h in pairs)
        return np.asarray(impurity / len(self.kinds) + self.price * distance / (2 * len(pairs)))
