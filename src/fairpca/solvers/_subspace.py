"""What a solver returns."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from .._numerics import Array, to_numpy
from ..errors import InfeasibleError


@dataclass(frozen=True)
class Subspace:
    """A subspace with an orthonormal basis, most variance first.

    Parameters
    ----------
    basis : array of shape (d, k)
        Orthonormal columns.
    scatter : array of shape (k,)
        Sum of squares of the centred rows along each column.
    constraint_rank : int
        How many directions the constraints took.

    Examples
    --------
    >>> import numpy as np
    >>> from fairpca.solvers import Subspace
    >>> axes = Subspace(np.eye(3), scatter=np.array([5.0, 2.0, 1.0]))
    >>> axes.first(2).basis.shape, axes.first(2).scatter
    ((3, 2), array([5., 2.]))
    """

    basis: Array
    scatter: Array
    constraint_rank: int = 0

    def first(self, k: int | None) -> Subspace:
        """Return the span of the first `k` columns.

        Parameters
        ----------
        k : int or None
            How many columns to keep; None for all.

        Returns
        -------
        Subspace
            Those with the most variance.
        """
        return replace(self, basis=self.basis[:, :k], scatter=self.scatter[:k])


@dataclass(frozen=True)
class DualSubspace:
    r"""A subspace of a feature space, spanned by combinations of the rows.

    Parameters
    ----------
    values : array of shape (k,)
        Sum of squares along each direction, descending.
    coefficients : array of shape (n, k)
        The directions as combinations of the weighted, centred rows.
    representation : array of shape (n, k)
        Coordinates of the weighted, centred rows: scatter times coefficients.
    constraint_rank : int
        How many directions the constraints took.
    smallest : float or None
        The smallest eigenvalue of the kernel, if it is negative by more than rounding.
    residual : float
        Relative residual of the eigenvectors, 0 for a direct solver.
    total : float
        Sum of squares of the rows in all directions that count.

    Examples
    --------
    >>> import numpy as np
    >>> from fairpca.solvers import equalize_kernel_means
    >>> from fairpca._kernels import KernelScatter
    >>> X = np.random.default_rng(0).normal(size=(20, 3))
    >>> plain = equalize_kernel_means(KernelScatter(X @ X.T), attributes=(), k=3)
    >>> plain.representation.shape, plain.first(2).values.shape
    ((20, 3), (2,))
    """

    values: np.ndarray
    coefficients: np.ndarray
    representation: np.ndarray
    constraint_rank: int
    smallest: float | None
    residual: float
    total: float

    def first(self, k: int) -> DualSubspace:
        """Return the span of the first `k` directions.

        Parameters
        ----------
        k : int
            How many directions to keep.

        Returns
        -------
        DualSubspace
            Those with the most variance.
        """
        return replace(
            self,
            values=self.values[:k],
            coefficients=self.coefficients[:, :k],
            representation=self.representation[:, :k],
        )


def components_to_reach(values: Array, share: float, total: float) -> int:
    """Return the fewest components whose sums of squares reach a share of the total."""
    kept = np.cumsum(to_numpy(values)) / total if total > 0 else np.zeros(1)
    # A share that is reached up to rounding is reached.
    enough = np.flatnonzero(kept >= share * (1 - 1e-12))
    if not len(enough):
        raise InfeasibleError(
            f"n_components={share} asks for {share:.2%} of the variance, but all "
            f"{len(kept)} directions that satisfy the constraint together hold {kept[-1]:.2%}. "
            f"Ask for less, or pass n_components=None for all of them."
        )
    return int(enough[0]) + 1
