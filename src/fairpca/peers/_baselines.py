"""The yardsticks: PCA and kernel PCA, which do not look at the sensitive features."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import Any

import numpy as np

from .._attributes import Attribute
from .._kernels import PRECOMPUTED, KernelColumns, KernelScatter, warn_of_negative_directions
from .._maps import FeatureMap, LinearMap
from .._moments import GroupMoments
from .._rows import Rows
from ..errors import UsageError
from ..estimators import (
    FairTransformer,
    Reader,
    check_finite,
    check_kernel_parameters,
    check_n_components,
    dual_of,
    kernel_scatter,
    learned_from,
    learned_of_kernel,
)
from ..solvers import DualSubspace, equalize_kernel_means, maximize_variance
from ._shared import FitsRows


@dataclass(frozen=True)
class _ReaderWithoutAttributes(Reader):
    """Reads rows, and leaves their attributes aside."""

    def attributes_of(self, given: Any, columns: Any) -> tuple[Attribute, ...]:
        """Return none."""
        return ()


class _IgnoresSensitiveFeatures:
    """Mixin: sensitive features are accepted, so that methods can be swapped, and ignored."""

    def _reader(self) -> Reader:
        return _ReaderWithoutAttributes.of(self)


class PCA(_IgnoresSensitiveFeatures, FairTransformer):
    """Project rows onto the directions of most variance: the yardstick for all other methods.

    `sensitive_features` are accepted and **ignored**: nothing here is fair. What a fair method
    costs, in variance or accuracy, is the difference to this. The same as scikit-learn's PCA, with
    weights, batches and the signature of the package.

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

    See Also
    --------
    fairpca.FairPCA : The same, among the directions that show no group difference.

    Examples
    --------
    >>> import numpy as np
    >>> from fairpca.peers import PCA
    >>> X = np.array([[0.0, 0.0], [3.0, 4.0], [6.0, 8.0]])
    >>> PCA(n_components=1).fit_transform(X, sensitive_features=["f", "m", "m"])
    array([[-5.],
           [ 0.],
           [ 5.]])
    """

    _learned = FairTransformer._learned | {"explained_variance_", "explained_variance_ratio_"}
    _map: LinearMap

    def __init__(self, n_components: int | float | None = None) -> None:
        self.n_components = n_components

    def inverse_transform(self, X: Any) -> np.ndarray:
        """Return the rows of the original space that a representation stands for.

        Parameters
        ----------
        X : array-like of shape (n, k)
            Representation.

        Returns
        -------
        rows : array of shape (n, d)
        """
        T = self._checked_representation(X)
        return self._map.inverse(T)

    def _check_parameters(self) -> None:
        check_n_components(self.n_components)

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


class KernelPeer(FitsRows):
    """Base of the kernel methods: all rows at once, compared with each other by a kernel."""

    solver: str = "auto"
    tol: float = 0.0
    tradeoff: float = 0.0
    kernel_params: None = None
    approximation: None = None
    n_landmarks: int = 1

    def __init__(
        self,
        n_components: int | float | None = None,
        *,
        kernel: Any = "rbf",
        gamma: float | str = "scale",
        degree: float = 3,
        coef0: float = 1.0,
        center: bool = True,
    ) -> None:
        self.n_components = n_components
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.center = center

    @abstractmethod
    def _learn(self, rows: Rows, columns: KernelColumns, scatter: KernelScatter) -> dict[str, Any]:
        """Return what was learned; `columns` compares rows with the training rows."""

    def _learned_from(self, rows: Rows) -> dict[str, Any]:
        check_finite(rows)
        columns, scatter = kernel_scatter(self, rows)
        assert columns is not None, "precomputed kernels are refused"
        return self._learn(rows, columns, scatter) | {"gamma_": columns.kernel.gamma_in_use}

    def _components(
        self, columns: KernelColumns, scatter: KernelScatter, k: int | float | None
    ) -> DualSubspace:
        """Return the k directions of the feature space that keep the most variance of the rows."""
        subspace = equalize_kernel_means(scatter, (), k, definite=columns.kernel.is_positive)
        if subspace.smallest is not None:
            warn_of_negative_directions(subspace.smallest, float(subspace.values[0]))
        return subspace

    def _in_words(
        self,
        columns: KernelColumns,
        scatter: KernelScatter,
        values: np.ndarray,
        coefficients: np.ndarray,
    ) -> dict[str, Any]:
        """Return what was learned, from coefficients (n, k) of the weighted, centred rows."""
        dual = dual_of(scatter, coefficients)
        seen = {"_map": FeatureMap(columns, LinearMap(dual, scatter.mean))}
        return learned_of_kernel(values, dual, scatter, scatter.trace) | seen

    def _check_parameters(self) -> None:
        check_kernel_parameters(self)
        if self.kernel == PRECOMPUTED:
            raise UsageError(
                "kernel='precomputed' is not offered here. Pass the rows, and a kernel or a "
                "function of two rows, or use fairpca.FairKernelPCA."
            )


class KernelPCA(_IgnoresSensitiveFeatures, KernelPeer):
    """Represent rows by the directions of most variance in a kernel's feature space.

    The yardstick for the kernel methods: `sensitive_features` are accepted and **ignored**. The
    same as scikit-learn's KernelPCA up to signs, with weights, and with the kernels and the
    ``gamma="scale"`` of `fairpca.FairKernelPCA`.

    Parameters
    ----------
    n_components : int, float or None, default=None
        Number of components k; or the share of the variance to reach; or all that rounding leaves
        reliable.
    kernel, gamma, degree, coef0, center
        As in `fairpca.FairKernelPCA`.

    Attributes
    ----------
    eigenvalues_ : array of shape (k,)
        Sum of squares of the training rows along each component, descending.
    explained_variance_, explained_variance_ratio_ : array of shape (k,)
        Variance of each component, absolute and relative to the total in feature space.
    dual_components_ : array of shape (n, k)
        Each component as a combination of kernel values with the training rows.
    gamma_, n_components_, n_features_in_, feature_names_in_, n_samples_seen_
        As in `fairpca.FairKernelPCA`.

    See Also
    --------
    fairpca.FairKernelPCA : The same with equal group means.

    Examples
    --------
    >>> import numpy as np
    >>> from fairpca.peers import KernelPCA
    >>> X = np.random.default_rng(0).normal(size=(50, 3))
    >>> KernelPCA(n_components=2).fit(X).transform(X).shape
    (50, 2)
    """

    def _learn(self, rows: Rows, columns: KernelColumns, scatter: KernelScatter) -> dict[str, Any]:
        subspace = self._components(columns, scatter, check_n_components(self.n_components))
        return self._in_words(columns, scatter, subspace.values, subspace.coefficients)
