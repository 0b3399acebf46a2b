"""A representation cut into a few cells, so that something can be proved about it."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import Any, NamedTuple, Self

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.cluster import KMeans
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.validation import check_is_fitted, validate_data

from .._attributes import check_frames
from .._numerics import unmasked
from ..errors import MissingTargetError, UsageError
from ._inputs import coded_levels, present_values
from ._probes import few_threads

_SMALLEST_SHARE = 0.1  # of the rows that cells of equal size have: fewer are no cell of a tree
_PRICE = 0.3  # of telling the groups apart; on Adult it costs one point of accuracy
_BINS = 32  # splits are tried at so many quantiles of each column


class Cells(BaseEstimator):
    """Cut a representation into cells: leaves of a small tree, fair or not, or clusters.

    Fit it on training rows. `certified_gap` of the cells of *other* rows then bounds the
    unfairness of every classifier that is given the cell instead of the row.

    Parameters
    ----------
    n_cells : int, default=8
        How many cells at most. More keep more of the target and of the groups.
    price : float, default=0.3
        With groups given to `fit`: what one unit of distance between their distributions over
        the cells costs, in units of the target's Gini impurity. 0 ignores the groups; about 1 and
        more asks for cells that are almost equally frequent in all of them.
    random_state : int, default=0
        Seeds the tree and the clusters.

    Attributes
    ----------
    n_cells_ : int
        How many cells there are; pass it to `certified_gap`.

    See Also
    --------
    certified_gap : What the cells are for.

    Examples
    --------
    >>> import numpy as np
    >>> from fairpca.metrics import Cells
    >>> rng = np.random.default_rng(0)
    >>> T = rng.normal(size=(500, 2))
    >>> y = T[:, 0] > 0.3
    >>> cells = Cells(n_cells=4).fit(T, y)
    >>> cells.predict([[-2.0, 0.0], [-1.0, 0.0], [2.0, 0.0]])  # only the target matters
    array([0, 0, 1])
    """

    def __init__(self, n_cells: int = 8, *, price: float = _PRICE, random_state: int = 0) -> None:
        self.n_cells = n_cells
        self.price = price
        self.random_state = random_state

    def fit(self, T: Any, y: Any = None, *, sensitive: Any = None) -> Self:
        """Choose the cells.

        Parameters
        ----------
        T : array-like of shape (n, k)
            Representation of training rows.
        y : array-like of shape (n,), optional
            Classes that the cells should keep apart. Without them, k-means puts rows that are
            close into one cell, in the scale of the columns as they are.
        sensitive : array-like of shape (n,), optional
            Groups that the cells should not tell apart; needs `y`. The bound of `certified_gap` is
            then much smaller at little cost in accuracy, above all on a fair representation.

        Returns
        -------
        self
        """
        self._check(y, sensitive)
        check_frames(T=T, y=y, sensitive=sensitive)
        T = validate_data(self, unmasked(T), dtype=np.float64)
        if y is None or self.n_cells == 1:
            distinct = len(np.unique(T, axis=0)) if self.n_cells > 1 else 1
            model = KMeans(min(self.n_cells, distinct), n_init=3, random_state=self.random_state)
            with few_threads(len(T)):
                self._apply = model.fit(T).predict
            self._leaves = np.arange(model.n_clusters)
            self.n_cells_ = len(self._leaves)
            return self
        smallest = max(1, round(_SMALLEST_SHARE * len(T) / self.n_cells))
        if sensitive is None:
            tree = DecisionTreeClassifier(
                max_leaf_nodes=self.n_cells,
                min_samples_leaf=smallest,
                random_state=self.random_state,
            )
            self._apply = tree.fit(T, y).apply
        else:
            classes = np.unique(present_values(y, len(T), "y"), return_inverse=True)[1]
            self._apply = _fair_tree(
                T,
                classes,
                coded_levels(sensitive, len(T), "sensitive")[1],
                max_leaves=self.n_cells,
                min_rows=smallest,
                price=self.price,
            ).apply
        self._leaves = np.unique(self._apply(T))
        self.n_cells_ = len(self._leaves)
        return self

    def _check(self, y: Any, sensitive: Any) -> None:
        if self.n_cells < 1:
            raise UsageError(f"n_cells={self.n_cells!r} is not a number of cells. Use >= 1.")
        if not 0 <= self.price < np.inf:
            raise UsageError(f"price={self.price!r} is not a price. Use a finite number >= 0.")
        if y is None and sensitive is not None:
            raise MissingTargetError(
                "sensitive was given without y, but fair cells weigh what they tell about groups "
                "against what they keep of a target. Pass y, or leave out sensitive."
            )

    def predict(self, T: Any) -> np.ndarray:
        """Return the cell of each row.

        Parameters
        ----------
        T : array-like of shape (n, k)
            Representation of rows.

        Returns
        -------
        cells : array of int of shape (n,)
            From 0 to ``n_cells_ - 1``.
        """
        check_is_fitted(self, "n_cells_")
        T = validate_data(self, unmasked(T), dtype=np.float64, reset=False)
        return np.asarray(np.searchsorted(self._leaves, self._apply(T)))


class _Step(NamedTuple):
    """One answer on the way to a leaf: whether the column is at most the threshold."""

    column: int
    threshold: float
    at_most: bool


class _Split(NamedTuple):
    """The best way to cut a leaf: what it gains, and where."""

    gain: float
    column: int
    edge: int


@dataclass(frozen=True)
class _FairTree:
    """The leaves of a tree, each as the answers that lead to it; every row fits one of them."""

    leaves: tuple[tuple[_Step, ...], ...]

    def apply(self, T: np.ndarray) -> np.ndarray:
        leaf = np.zeros(len(T), dtype=int)
        for number, steps in enumerate(self.leaves):
            inside = np.ones(len(T), dtype=bool)
            for column, threshold, at_most in steps:
                inside &= (T[:, column] <= threshold) == at_most
            leaf[inside] = number
        return leaf


def _fair_tree(
    T: np.ndarray,
    y: np.ndarray,
    groups: np.ndarray,
    *,
    max_leaves: int,
    min_rows: int,
    price: float,
) -> _FairTree:
    """Grow a tree, best split first, that pays for what it tells about the groups.

    Classes and groups are coded from 0; every leaf has at least `min_rows` rows. A split gains the
    decrease of the Gini impurity of `y`, less `price` times the increase of the total variation
    distance between the groups' distributions over the leaves, averaged over pairs of groups. That
    distance is what `certified_gap` bounds; it never falls by a split, and does not rise by one
    whose two sides are both more frequent in the same group. The idea of trading the impurity of
    the target against that of the groups is that of FARE (Jovanović et al., ICML 2023), who use
    the Gini impurity for both.
    """
    grower = _Grower(T, y, groups, min_rows, price)
    rows = [np.arange(len(T))]
    leaves: list[tuple[_Step, ...]] = [()]
    splits = [grower.best(rows[0])]
    while len(rows) < max_leaves:
        k = max(range(len(rows)), key=lambda leaf: splits[leaf].gain)
        if splits[k].gain <= 0:
            break
        _, column, edge = splits[k]
        below = grower.bins[rows[k], column] <= edge
        threshold = float(grower.edges[column][edge])
        rows += [rows[k][~below]]
        leaves += [(*leaves[k], _Step(column, threshold, False))]
        rows[k], leaves[k] = rows[k][below], (*leaves[k], _Step(column, threshold, True))
        splits[k] = grower.best(rows[k])
        splits += [grower.best(rows[-1])]
    return _FairTree(tuple(leaves))


class _Grower:
    """Rows as bins and counts, and the best split of any set of them."""

    def __init__(
        self, T: np.ndarray, y: np.ndarray, groups: np.ndarray, min_rows: int, price: float
    ) -> None:
        shares = np.linspace(0, 1, _BINS + 1)[1:-1]
        self.edges = [np.unique(np.quantile(column, shares)) for column in T.T]
        # A row is in bin <= i if and only if it is at most edge i.
        self.bins = np.column_stack(
            [np.searchsorted(edges, column) for edges, column in zip(self.edges, T.T, strict=True)]
        )
        self.shape = (int(y.max()) + 1, int(groups.max()) + 1)
        self.kinds = y * self.shape[1] + groups
        self.sizes = np.bincount(groups)
        self.min_rows, self.price = min_rows, price

    def best(self, rows: np.ndarray) -> _Split:
        kinds, n_kinds = self.kinds[rows], int(np.prod(self.shape))
        whole = np.bincount(kinds, minlength=n_kinds).reshape(self.shape)
        best = _Split(0.0, -1, -1)
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
                best = _Split(float(gains[edge]), column, edge)
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
