"""Plain PCA: the baseline of the comparisons."""

from __future__ import annotations

import numpy as np

from ._base import GroupedRows, LinearMethod, number_of_components
from ._linalg import principal_axes


class PCA(LinearMethod):
    """Project rows onto the directions of most variance: the baseline of the comparisons.

    `sensitive_features` are accepted, so that methods can be swapped, and **ignored**: nothing here
    is fair. The same as scikit-learn's PCA, with weights; but more components than the rows vary
    along raise an error, where scikit-learn returns directions of rounding.

    Parameters
    ----------
    n_components : int or None, default=None
        Number of components k; None for all along which the rows vary.

    Attributes
    ----------
    components_ : array of shape (k, d)
        Orthonormal rows, most variance first, signs deterministic.
    explained_variance_, explained_variance_ratio_ : array of shape (k,)
        Variance of each component, absolute and relative to the total.
    mean_ : array of shape (d,)
        Mean of the rows.
    n_components_, n_samples_seen_, n_features_in_ : int
        Number of components, rows and features.

    See Also
    --------
    fairpca.FairPCA : The same, among the directions that show no group difference.

    Examples
    --------
    >>> import numpy as np
    >>> from fairpca_paper.methods import PCA
    >>> X = np.array([[0.0, 0.0], [3.0, 4.0], [6.0, 8.0]])
    >>> PCA(n_components=1).fit_transform(X, sensitive_features=["f", "m", "m"])
    array([[-5.],
           [ 0.],
           [ 5.]])
    """

    _reading = "none"

    def __init__(self, n_components: int | None = None) -> None:
        self.n_components = n_components

    def _check_parameters(self) -> None:
        number_of_components(self)

    def _learn(self, rows: GroupedRows) -> np.ndarray:
        k = number_of_components(self)
        U = principal_axes(rows, k)[:, :k]
        squares = np.diag(rows.scatter(U))
        self.explained_variance_ = squares / rows.degrees_of_freedom
        self.explained_variance_ratio_ = squares / float(rows.squares.sum())
        return U
