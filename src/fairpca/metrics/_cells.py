"""A representation cut into a few cells, so that something can be proved about it."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.cluster import KMeans
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.validation import check_is_fitted, validate_data

from ..errors import MissingTargetError, UsageError
from ._fair_tree import fair_tree
from ._inputs import integer_levels, present_values
from ._probes import few_threads

SMALLEST_SHARE = 0.1
"""A cell of a tree has at least this part of the rows that cells of equal size would have."""

PRICE = 0.3
"""Of telling the groups apart, if nothing else is said; on Adult it costs one point of accuracy."""


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

    def __init__(self, n_cells: int = 8, *, price: float = PRICE, random_state: int = 0) -> None:
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
        T = validate_data(self, T, dtype=np.float64)
        if y is None or self.n_cells == 1:
            distinct = len(np.unique(T, axis=0)) if self.n_cells > 1 else 1
            model = KMeans(min(self.n_cells, distinct), n_init=3, random_state=self.random_state)
            with few_threads(len(T)):
                self._apply = model.fit(T).predict
            self._leaves = np.arange(model.n_clusters)
            self.n_cells_ = len(self._leaves)
            return self
        smallest = max(1, round(SMALLEST_SHARE * len(T) / self.n_cells))
        if sensitive is None:
            tree = DecisionTreeClassifier(
                max_leaf_nodes=self.n_cells,
                min_samples_leaf=smallest,
                random_state=self.random_state,
            )
            self._apply = tree.fit(T, y).apply
        else:
            classes = np.unique(present_values(y, len(T), "y"), return_inverse=True)[1]
            values = present_values(sensitive, len(T), "sensitive")
            self._apply = fair_tree(
                T,
                classes,
                integer_levels(values, "sensitive")[1],
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
        T = validate_data(self, T, dtype=np.float64, reset=False)
        return np.asarray(np.searchsorted(self._leaves, self._apply(T)))
