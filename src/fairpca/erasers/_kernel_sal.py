"""SAL in the feature space of a kernel."""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from .._kernels import (
    PRECOMPUTED,
    KernelColumns,
    KernelOptions,
    KernelScatter,
    warn_of_negative_directions,
)
from .._maps import FeatureMap, LinearMap
from .._moments import DenseScatter, GroupMoments, attributes_over_rows
from .._numerics import Array
from .._rows import LazyRows, Rows
from ..errors import UsageError
from ..estimators import (
    Representation,
    check_finite,
    check_kernel_parameters,
    check_n_components,
    compared,
    dual_of,
    kernel_scatter,
    learned_of_kernel,
)
from ..solvers import (
    DualSubspace,
    Subspace,
    check_dimension,
    equalize_kernel_means,
    maximize_variance,
    mean_constraint,
)
from ._sal import checked_directions, covarying_directions, first_directions


def _kernel_pca(columns: KernelColumns, scatter: KernelScatter) -> DualSubspace:
    """Return all directions of the feature space in which the rows vary, most variance first."""
    subspace = equalize_kernel_means(scatter, (), None, definite=columns.kernel.is_positive)
    if subspace.smallest is not None:
        warn_of_negative_directions(subspace.smallest, float(subspace.values[0]))
    return subspace


def _moments_of_components(
    rows: Rows, scatter: KernelScatter, subspace: DualSubspace
) -> GroupMoments:
    """Return the moments of the rows' coordinates along the components of kernel PCA."""
    T = subspace.representation
    return GroupMoments(
        n_rows=rows.n_rows,
        weight=scatter.total_weight,
        mean=np.zeros(T.shape[1]),
        scatter=DenseScatter(np.diag(subspace.values)),
        attributes=tuple(a.compressed(T) for a in attributes_over_rows(rows)),
        precision=scatter.precision,
    )


def _kernel_sal(
    moments: GroupMoments, n_directions: int | None, k: int | float | None
) -> tuple[Subspace, Array]:
    """Return what is left of the rows' coordinates in feature space, and all singular values."""
    # Removing all directions leaves the kernel K - K Z (Z^T K Z)^+ Z^T K, that of `FairKernelPCA`
    # with all its components.
    U, values = covarying_directions(moments)
    r = U.shape[1]
    U = first_directions(U, r if n_directions is None else n_directions, moments)
    check_dimension(moments, U.shape[1], k)
    kept = maximize_variance(moments, k, avoid=U, random_state=0)
    if U.shape[1] == r:
        basis = mean_constraint(moments).polished(kept.basis)
        return Subspace(basis, kept.scatter, r), values
    return kept, values


class KernelSAL(Representation):
    """Remove the non-linear features that covary most with the attributes.

    Spectral attribute removal in the feature space of a kernel (kSAL). The representation has the
    coordinates of what is left, most variance first: its inner products are the kernel from which
    the directions were removed. With all directions removed (the default), groups have equal
    means in it, and it is `fairpca.FairKernelPCA` with the same number of components. **With
    fewer there is no such guarantee.** On held-out data the guarantee holds up to sampling error,
    which grows with the number of components.

    Parameters
    ----------
    n_directions : int or None, default=None
        Number of directions to remove, those of largest covariance first; None removes all.
    n_components : int, float or None, default=None
        Number of coordinates to keep. A float in (0, 1) selects the fewest that keep this share of
        the variance. None keeps all that rounding leaves reliable, as published.
    kernel : str or callable, default="rbf"
        Similarity of two rows: "rbf", "laplacian", "poly", "sigmoid", "cosine", "linear", or a
        function that takes two rows and returns a number.
    gamma : float, "scale" or "auto", default="scale"
        Coefficient of the rbf, laplacian, poly and sigmoid kernels. "scale" is
        1 / (n_features Var(X)), "auto" is 1 / n_features.
    degree : float, default=3
        Degree of the poly kernel.
    coef0 : float, default=1.0
        Independent term of the poly and sigmoid kernels.
    center : bool, default=True
        Whether to subtract the mean in feature space first, as scikit-learn's KernelPCA does.

    Attributes
    ----------
    n_directions_ : int
        How many directions were removed.
    singular_values_ : ndarray of shape (n_covarying,)
        Singular values of the covariance of features and attributes, removed or not, descending.
    eigenvalues_ : ndarray of shape (n_components,)
        Sum of squares of the training data along each coordinate, descending.
    explained_variance_ : ndarray of shape (n_components,)
        Variance of each coordinate.
    explained_variance_ratio_ : ndarray of shape (n_components,)
        Variance of each coordinate over the total variance in feature space.
    dual_components_ : ndarray of shape (n_samples, n_components)
        Each coordinate as a combination of kernel values with the training rows.
    groups_ : dict
        The levels of each attribute, or "numeric".
    gamma_ : float or None
        The kernel's gamma in use; None for kernels that have none.
    n_components_ : int
        The number of coordinates.
    n_features_in_ : int
        Number of columns of X.
    feature_names_in_ : ndarray of shape (n_features,)
        Their names; only where all of them are strings.
    n_samples_seen_ : int
        Number of rows with positive weight.

    See Also
    --------
    SAL : Removes directions of the features themselves.

    References
    ----------
    .. [1] Shao, Ziser, Cohen. "Gold doesn't always glitter: spectral removal of linear and
       nonlinear guarded attribute information". EACL 2023.

    Examples
    --------
    >>> import numpy as np
    >>> from fairpca.erasers import KernelSAL
    >>> rng = np.random.default_rng(0)
    >>> sex = rng.choice(["f", "m"], size=100)
    >>> X = rng.normal(size=(100, 3)) * np.where(sex == "m", 2, 1)[:, None]
    >>> eraser = KernelSAL(n_components=5).fit(X, sensitive_features=sex)
    >>> T = eraser.transform(X)
    >>> bool(np.allclose(T[sex == "f"].mean(axis=0), T[sex == "m"].mean(axis=0)))
    True
    """

    solver: str = "auto"
    tol: float = 0.0
    tradeoff: float = 0.0
    kernel_params: None = None
    approximation: None = None
    n_landmarks: int = 1

    def __init__(
        self,
        n_directions: int | None = None,
        *,
        n_components: int | float | None = None,
        kernel: Any = "rbf",
        gamma: float | str = "scale",
        degree: float = 3,
        coef0: float = 1.0,
        center: bool = True,
    ) -> None:
        self.n_directions = n_directions
        self.n_components = n_components
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.center = center

    def fit(
        self,
        X: Any,
        y: Any = None,
        *,
        sensitive_features: Any = None,
        given: Any = None,
        sample_weight: Any = None,
    ) -> Self:
        """Learn the representation of the rows of `X`.

        Parameters
        ----------
        X : array-like, frame or sparse matrix of shape (n_samples, n_features)
            Features.
        y : array-like of shape (n_samples,), default=None
            Ignored; there for the interface of scikit-learn.
        sensitive_features : array-like, Series, frame or dict of columns, default=None
            Sensitive attributes of the n_samples rows, paired with the rows by position; row labels
            must agree. Required.
        given : array-like, Series, frame or dict of columns, default=None
            Legitimate factors: people whose factors are equal are compared with each other
            (conditional demographic parity). Categories, and numbers of at most ten values, are
            strata, in each of which groups are compared; missing values are a stratum, too. Other
            numbers are regressed out of features and attributes, in each stratum by itself.
            :doc:`/howto/legitimate_factors`
        sample_weight : array-like of shape (n_samples,), default=None
            Weights >= 0.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        with self._changing():
            self._begin()
            reader = self._reader()
            came = (X, y, sensitive_features, sample_weight, self._validated)
            rows = reader.rows(*came, given=given)
            if isinstance(rows, LazyRows):
                raise UsageError(
                    f"KernelSAL compares every row with every other, so it needs them in one "
                    f"place, but X is a {type(X).__name__}. Pass rows in memory."
                )
            check_finite(rows)
            self._reader().warn_of_far_values(rows)
            self.__dict__.update(self._learned_from(rows.materialized()))
        return self

    def _check_parameters(self) -> None:
        check_kernel_parameters(self)
        checked_directions(self.n_directions)
        if self.kernel == PRECOMPUTED:
            raise UsageError(
                "kernel='precomputed' is not offered here. Pass the rows, and a kernel or a "
                "function of two rows, or use fairpca.FairKernelPCA."
            )

    def _learned_from(self, rows: Rows) -> dict[str, Any]:
        options = KernelOptions(self.kernel, self.gamma, self.degree, self.coef0)
        columns, scatter = kernel_scatter(rows, options, centred=bool(self.center))
        assert columns is not None, "precomputed kernels raise an error before"
        components = _kernel_pca(columns, scatter)
        moments = _moments_of_components(rows, scatter, components)
        k = check_n_components(self.n_components)
        kept, values = _kernel_sal(moments, checked_directions(self.n_directions), k)
        dual = dual_of(scatter, components.coefficients @ kept.basis)
        return {
            **learned_of_kernel(kept.scatter, dual, scatter, scatter.trace),
            "_map": FeatureMap(columns, LinearMap(dual, scatter.mean)),
            "gamma_": columns.kernel.gamma_in_use,
            "n_directions_": kept.constraint_rank,
            "singular_values_": values,
            **compared(moments.attributes),
        }
