"""Plain PCA on moments: what the fair methods are compared with."""

from __future__ import annotations

from typing import Any, Self

from .._maps import LinearMap
from .._moments import GroupMoments
from ..solvers import maximize_variance
from ._checks import check_n_components
from ._contract import FairTransformer
from ._learned import learned_from
from ._reader import Reader


class PlainPCA(FairTransformer):
    """Project rows onto the directions of most variance; the attributes are not looked at.

    The same as scikit-learn's PCA, but from moments, so that the audit, tables in files and the
    trade-off take it from the pass that they make anyway.

    Parameters
    ----------
    n_components : int, float or None, default=None
        Number of components k; or the share of the variance to reach; or all.

    Attributes
    ----------
    components_ : array of shape (k, d)
        Orthonormal rows, most variance first, signs deterministic.
    explained_variance_, explained_variance_ratio_ : array of shape (k,)
        Variance of each component, absolute and relative to the total.
    mean_, n_components_, moments_, n_features_in_, feature_names_in_, n_samples_seen_
        As in `fairpca.FairPCA`.
    """

    _learned = FairTransformer._learned | {"explained_variance_", "explained_variance_ratio_"}
    _map: LinearMap

    def __init__(self, n_components: int | float | None = None) -> None:
        self.n_components = n_components

    def fit(
        self, X: Any, y: Any = None, *, sensitive_features: Any = None, sample_weight: Any = None
    ) -> Self:
        """Learn the directions of most variance of the rows of `X`; as in `FairPCA.fit`."""
        with self._changing():
            self._begin()
            reader = self._reader()
            rows = reader.rows(X, y, sensitive_features, sample_weight, self._validated)
            self._learn_from_rows(reader, rows)
        return self

    def _check_parameters(self) -> None:
        check_n_components(self.n_components)

    def _reader(self) -> Reader:
        return Reader.of(self, with_attributes=False)

    def _solve(self, moments: GroupMoments) -> dict[str, Any]:
        k = check_n_components(self.n_components)
        U = maximize_variance(moments, k, random_state=0).basis
        squares = moments.scatter.compressed(U).diagonal
        total = float(moments.scatter.diagonal.sum())
        return {
            **learned_from(LinearMap(U, moments.mean), moments),
            "explained_variance_": squares / moments.degrees_of_freedom,
            "explained_variance_ratio_": squares / (total if total > 0 else 1.0),
        }
