"""Kernel SAL: spectral attribute removal in the feature space of a kernel."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._numerics import Array
from .._rows import Rows
from ..estimators import check_n_components, groups_of
from ..kernels import KernelColumns
from ..moments import DenseScatter, GroupMoments, attributes_over_rows
from ..solvers import (
    DualSubspace,
    KernelScatter,
    Subspace,
    check_dimension,
    maximize_variance,
    mean_constraint,
)
from ._baselines import KernelPeer, kernel_components, learned_by_a_kernel_peer
from ._sal import check_n_directions, covarying_directions, first_directions


def moments_of_components(
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


def kernel_sal(
    moments: GroupMoments, n_directions: int | None, k: int | float | None
) -> tuple[Subspace, Array]:
    r"""Remove the leading singular vectors of the covariance of features and attributes.

    Parameters
    ----------
    moments : GroupMoments
        Moments of the rows' coordinates in feature space.
    n_directions : int or None
        How many singular vectors to remove; None for all.
    k : int, float or None
        How many directions to keep, those of most variance; all by default.

    Returns
    -------
    subspace : Subspace
        What is kept, in these coordinates.
    values : array of shape (r,)
        Singular values of the covariance, descending.

    Notes
    -----
    The singular vectors are :math:`\Phi^\top Z E` with E the eigenvectors of :math:`Z^\top K Z`.
    Removing all of them leaves the kernel :math:`K - K Z (Z^\top K Z)^+ Z^\top K`, that of
    `fairpca.FairKernelPCA` with all its components.
    """
    U, values = covarying_directions(moments)
    r = U.shape[1]
    U = first_directions(U, r if n_directions is None else n_directions, moments)
    check_dimension(moments, U.shape[1], k)
    kept = maximize_variance(moments, k, avoid=U, random_state=0)
    if U.shape[1] == r:
        basis = mean_constraint(moments).polished(kept.basis)
        return Subspace(basis, kept.scatter, r), values
    return kept, values


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
        check_n_directions(self.n_directions)

    def _learn(self, rows: Rows, columns: KernelColumns) -> dict[str, Any]:
        scatter, components = kernel_components(
            columns, rows.weight, None, centred=bool(self.center)
        )
        moments = moments_of_components(rows, scatter, components)
        k = check_n_components(self.n_components)
        kept, values = kernel_sal(moments, check_n_directions(self.n_directions), k)
        coefficients = components.coefficients @ kept.basis
        return {
            **learned_by_a_kernel_peer(columns, scatter, kept.scatter, coefficients),
            "n_directions_": kept.constraint_rank,
            "singular_values_": values,
            "groups_": groups_of(moments.attributes),
        }
