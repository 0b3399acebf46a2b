"""SAL: remove the directions, linear or of a kernel, that covary most with the attributes."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import OneToOneFeatureMixin

from .._kernels import KernelColumns
from .._moments import (
    AttributeMoments,
    DenseScatter,
    GroupMoments,
    NumericMoments,
    attributes_over_rows,
)
from .._numerics import Array, array_namespace, like
from .._rows import Rows
from ..errors import InfeasibleError
from ..estimators import FairTransformer, check_count, check_n_components, groups_of
from ..solvers import (
    DualSubspace,
    KernelScatter,
    Subspace,
    check_dimension,
    maximize_variance,
    mean_constraint,
    names_of,
)
from ._baselines import KernelPeer
from ._erasers import ERASED, identity, learned_by_an_eraser, mean_projection


def _covarying_directions(moments: GroupMoments) -> tuple[Array, Array]:
    """Return singular vectors (d, r) and values of the covariance with the attributes."""
    # These are indicators of all levels, and numbers in units of their standard deviation.
    Q = mean_constraint(moments).Q
    xp = array_namespace(Q)
    cross = xp.concat([_cross_moments(a) for a in moments.attributes], axis=0)
    _, values, right = xp.linalg.svd((cross @ Q) / moments.weight, full_matrices=False)
    return Q @ right.T, values


def _cross_moments(attribute: AttributeMoments) -> Array:
    rows, sizes = attribute.contrasts()
    if isinstance(attribute, NumericMoments):
        return rows * like(np.sqrt(attribute.weight) / sizes, rows)[:, None]
    return rows


def _first_directions(U: Array, n_directions: int, moments: GroupMoments) -> Array:
    """Return the first of the directions; raise if there are not as many, or nothing is left."""
    r = U.shape[1]
    if n_directions > r:
        raise InfeasibleError(
            f"n_directions={n_directions} is too large: the rows covary with the attributes "
            f"({names_of(moments.attributes)}) in {r} direction(s) only, and removing others would "
            f"remove what has nothing to do with them. Use n_directions <= {r}, or None for all."
        )
    check_dimension(moments, n_directions, None)
    return U[:, :n_directions]


def _checked_directions(n_directions: Any) -> int | None:
    return check_count(
        "n_directions",
        n_directions,
        "a number of directions to remove",
        none_for="all in which the rows covary with the attributes",
    )


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
    U, values = _covarying_directions(moments)
    r = U.shape[1]
    U = _first_directions(U, r if n_directions is None else n_directions, moments)
    check_dimension(moments, U.shape[1], k)
    kept = maximize_variance(moments, k, avoid=U, random_state=0)
    if U.shape[1] == r:
        basis = mean_constraint(moments).polished(kept.basis)
        return Subspace(basis, kept.scatter, r), values
    return kept, values


class SAL(OneToOneFeatureMixin, FairTransformer):
    """Remove the directions in which the features covary most with the attributes.

    Spectral attribute removal. With all directions (the default) it is `MeanProjection`, and its
    rows span the same subspace as ``FairPCA(n_components=d - r)``: no linear model can tell the
    groups apart on these rows. **With fewer directions there is no such guarantee**; the smaller
    singular values, in `singular_values_`, tell how much covariance stays. The result has the
    columns of the input.

    Parameters
    ----------
    n_directions : int or None, default=None
        Number of directions to remove, those of largest covariance first; None removes all that
        are not rounding.

    Attributes
    ----------
    n_directions_ : int
        How many directions were removed.
    singular_values_ : array of shape (r,)
        Singular values of the covariance of features and attributes, removed or not, descending.
        Levels count as indicators, numeric attributes in units of their standard deviation.
    components_, mean_, groups_, moments_, n_features_in_, feature_names_in_, n_samples_seen_
        As in `MeanProjection`.

    See Also
    --------
    KernelSAL : The same in the feature space of a kernel.

    References
    ----------
    .. [1] Shao, Ziser, Cohen. "Gold doesn't always glitter: spectral removal of linear and
       nonlinear guarded attribute information". EACL 2023.

    Examples
    --------
    >>> import numpy as np
    >>> from fairpca.peers import SAL
    >>> rng = np.random.default_rng(0)
    >>> origin = rng.choice(["north", "south", "east"], size=300)
    >>> X = rng.normal(size=(300, 4))
    >>> X[:, 0] += 3.0 * (origin == "south")
    >>> eraser = SAL().fit(X, sensitive_features=origin)
    >>> eraser.n_directions_, eraser.transform(X).shape
    (2, (300, 4))
    """

    _learned = ERASED | {"singular_values_"}

    def __init__(self, n_directions: int | None = None) -> None:
        self.n_directions = n_directions

    def _check_parameters(self) -> None:
        _checked_directions(self.n_directions)

    def _solve(self, moments: GroupMoments) -> dict[str, Any]:
        # With the covariance U S V^T, what stays is U_{r+1:} U_{r+1:}^T x; all directions together
        # span what the group means span.
        n_directions = _checked_directions(self.n_directions)
        U, values = _covarying_directions(moments)
        if n_directions is None or n_directions == U.shape[1]:
            projection = mean_projection(moments)
        else:
            U = _first_directions(U, n_directions, moments)
            projection = identity(U) - U @ U.T
        return learned_by_an_eraser(projection, moments) | {"singular_values_": values}


class KernelSAL(KernelPeer):
    """Remove the non-linear features that covary most with the attributes.

    Spectral attribute removal in the feature space of a kernel (kSAL). The representation has the
    coordinates of what is left, most variance first: its inner products are the kernel from which
    the directions were removed. With all directions removed (the default), groups have equal
    means in it, and it is `fairpca.FairKernelPCA` with the same number of components. **With
    fewer there is no such guarantee.** On new rows the guarantee holds up to sampling error, and
    the more components are kept, the larger that is.

    Parameters
    ----------
    n_directions : int or None, default=None
        Number of directions to remove, those of largest covariance first; None removes all.
    n_components : int, float or None, default=None
        Number of coordinates to keep; or the share of the variance to reach; or all that rounding
        leaves reliable, as published.
    kernel, gamma, degree, coef0, center
        As in `fairpca.FairKernelPCA`.

    Attributes
    ----------
    n_directions_ : int
        How many directions were removed.
    singular_values_ : array of shape (r,)
        Singular values of the covariance of features and attributes, removed or not, descending.
    eigenvalues_, explained_variance_, explained_variance_ratio_, dual_components_
        As in `KernelPCA`.
    groups_, gamma_, n_components_, n_features_in_, feature_names_in_, n_samples_seen_
        As in `fairpca.FairKernelPCA`.

    See Also
    --------
    SAL : The same on the features themselves.

    References
    ----------
    .. [1] Shao, Ziser, Cohen. "Gold doesn't always glitter: spectral removal of linear and
       nonlinear guarded attribute information". EACL 2023.

    Examples
    --------
    >>> import numpy as np
    >>> from fairpca.peers import KernelSAL
    >>> rng = np.random.default_rng(0)
    >>> sex = rng.choice(["f", "m"], size=100)
    >>> X = rng.normal(size=(100, 3)) * np.where(sex == "m", 2, 1)[:, None]
    >>> eraser = KernelSAL(n_components=5).fit(X, sensitive_features=sex)
    >>> T = eraser.transform(X)
    >>> bool(np.allclose(T[sex == "f"].mean(axis=0), T[sex == "m"].mean(axis=0)))
    True
    """

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
        super().__init__(
            n_components, kernel=kernel, gamma=gamma, degree=degree, coef0=coef0, center=center
        )
        self.n_directions = n_directions

    def _check_parameters(self) -> None:
        super()._check_parameters()
        _checked_directions(self.n_directions)

    def _learn(self, rows: Rows, columns: KernelColumns, scatter: KernelScatter) -> dict[str, Any]:
        components = self._components(columns, scatter, None)
        moments = _moments_of_components(rows, scatter, components)
        k = check_n_components(self.n_components)
        kept, values = _kernel_sal(moments, _checked_directions(self.n_directions), k)
        coefficients = components.coefficients @ kept.basis
        return {
            **self._in_words(columns, scatter, kept.scatter, coefficients),
            "n_directions_": kept.constraint_rank,
            "singular_values_": values,
            "groups_": groups_of(moments.attributes),
        }
