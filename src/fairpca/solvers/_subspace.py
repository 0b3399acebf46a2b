"""What a solver returns, and what none can do: nothing to equalise, nothing left."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from .._numerics import Array, to_numpy
from ..errors import InfeasibleError, MissingTargetError, SingleGroupError, UsageError
from ..moments import AttributeMoments, GroupMoments, LevelMoments, NumericMoments

SMALLEST_VALUES = 1e-75
"""Squares of numbers below this, times weights, lose digits to underflow."""


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

    def first(self, k: int) -> Subspace:
        """Return the span of the first `k` columns.

        Parameters
        ----------
        k : int
            How many columns to keep.

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
    >>> from fairpca.solvers import KernelScatter, equalize_kernel_means
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


def check_dimension(moments: GroupMoments, constraint_rank: int, k: int | float | None) -> None:
    """Raise if fewer than `k` directions satisfy the constraint."""
    d, r = moments.n_features, constraint_rank
    n_fair = d - r
    names = names_of(moments.attributes)
    if n_fair == 0:
        raise InfeasibleError(
            f"Nothing is left: the attributes ({names}) separate the group means in all {d} "
            f"feature directions (n_features = {d}), so every direction carries them. Remove "
            f"features that are functions of an attribute, merge groups, or add features."
        )
    if isinstance(k, int) and k > n_fair:
        raise InfeasibleError(
            f"n_components={k} is too large: the attributes ({names}) separate the group means in "
            f"{r} of the {d} feature directions, which leaves {n_fair}. Use n_components <= "
            f"{n_fair}, or merge groups."
        )


def names_of(attributes: Sequence[AttributeMoments]) -> str:
    """Return the names of attributes for a message."""
    return ", ".join(dict.fromkeys(repr(a.name) for a in attributes))


def check_attributes(attributes: Sequence[AttributeMoments]) -> None:
    """Raise if there is nothing to be fair between."""
    for a in attributes:
        if isinstance(a, NumericMoments):
            _check_not_tiny(a)
        problem = _single_value(a)
        if problem:
            raise SingleGroupError(
                f"The sensitive attribute {a.name!r}{_where(a)} {problem}, so there is nothing to "
                f"be fair between. Leave the attribute out, or pass rows of every group."
            )
        if isinstance(a, LevelMoments) and not a.optional and np.any(a.weight == 0):
            empty = [label for label, w in zip(a.labels, a.weight, strict=True) if w == 0]
            raise MissingTargetError(
                f"The group(s) {empty} of the sensitive attribute {a.name!r} have no row"
                f"{_where(a)}, so their mean is undefined there. Pass more rows, or merge these "
                f"groups with others."
            )


def _check_not_tiny(a: NumericMoments) -> None:
    weight = a.weight if a.weight > 0 else 1.0
    size = max(abs(a.value_mean), np.sqrt(a.value_scatter / weight))
    if 0 < size < SMALLEST_VALUES:
        raise UsageError(
            f"The numeric sensitive attribute {a.name!r} holds values of the size {size:.0e}, "
            f"whose squares underflow, so nobody can tell whether it varies. Multiply it by a "
            f"constant first: correlations do not change."
        )


def _single_value(a: AttributeMoments) -> str | None:
    if isinstance(a, NumericMoments):
        return f"is {a.value_mean:g} in every row" if a.is_constant else None
    if a.optional:
        return None
    present = [label for label, w in zip(a.labels, a.weight, strict=True) if w > 0]
    if len(a.labels) > 1 and present:
        return None
    return f"has only the level {present[0]!r}" if present else "has no row"


def _where(a: AttributeMoments) -> str:
    return "" if a.stratum is None else f" among the rows with y == {a.stratum!r}"
