"""Fair PCA: the best k-dimensional subspace in which all group means coincide."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ..arrays import Array, array_namespace, like
from ..errors import InfeasibleError, MissingTargetError, SingleGroupError
from ..linalg import orthonormalize, row_space
from ..moments import AttributeMoments, GroupMoments, LevelMoments, NumericMoments
from .maximize_variance import maximize_variance
from .subspace import Subspace


def equalize_means(
    moments: GroupMoments,
    k: int | float | None,
    *,
    solver: str = "auto",
    random_state: int | np.random.Generator | None = None,
) -> Subspace:
    r"""Solve fair PCA.

    Among the subspaces in which every group of every attribute has the same mean, and every
    numeric attribute is uncorrelated with the data, return the one that keeps the most variance.

    Parameters
    ----------
    moments : GroupMoments
        Moments of rows in d dimensions.
    k : int, float or None
        Dimension; or the share of the total variance to reach; or all feasible directions.
    solver, random_state
        See `maximize_variance`.

    Returns
    -------
    Subspace

    Raises
    ------
    InfeasibleError
        If fewer than `k` directions satisfy the constraint.
    SingleGroupError
        If an attribute takes one value only.

    Notes
    -----
    Algorithms 1 and 2 of [1]_ with the data matrix transposed (our rows are samples). The
    constraint :math:`Z^\top X U = 0` is kept as an orthonormal basis ``Q`` of the row space of
    :math:`Z^\top X`; several attributes are more rows of the same small matrix.

    References
    ----------
    .. [1] Kleindessner, Donini, Russell, Zafar. "Efficient fair PCA for fair representation
       learning". AISTATS 2023.
    """
    constraint = mean_constraint(moments)
    check_dimension(moments, constraint, k)
    subspace = maximize_variance(
        moments, k, avoid=constraint.Q, solver=solver, random_state=random_state
    )
    return replace(subspace, basis=constraint.polished(subspace.basis))


ROUNDING_STEP = 1e-10
"""Refinement that would move a unit vector by more is not refinement."""


@dataclass(frozen=True)
class MeanConstraint:
    """The directions that separate group means.

    Parameters
    ----------
    rows : array of shape (r, d)
        Independent combinations of the constraint rows.
    Q : array of shape (d, r)
        Orthonormal basis of their span.
    """

    rows: Array
    Q: Array

    @property
    def rank(self) -> int:
        """Number of directions."""
        return int(self.Q.shape[1])

    def polished(self, U: Array) -> Array:
        """Satisfy the constraint to rounding in the units of each feature.

        Orthogonality to Q leaves errors of one size in all entries of U. Next to a feature in
        units of 1e6 that is visible in a component that lives on features in units of 1e-6. This
        is one step of iterative refinement: the residual of the constraint rows themselves, and
        the smallest change of U that removes it, which is of the size of rounding.
        """
        if self.rank == 0:
            return U
        xp = array_namespace(U)
        size = xp.linalg.vector_norm(self.rows, axis=1)[:, None]
        rows = self.rows / size
        change = self.Q @ xp.linalg.solve(rows @ self.Q, rows @ U)
        return U - change if float(xp.max(xp.abs(change))) < ROUNDING_STEP else U


def mean_constraint(moments: GroupMoments) -> MeanConstraint:
    """Find the directions that separate the groups' means, and their number.

    The rank is decided on correlations, which have no units: an absolute threshold leaves
    attributes in small units unerased, and one relative to the constraint rows alone counts
    rounding as a direction as soon as the rows lie away from the origin.
    """
    check_attributes(moments)
    rows, sizes = moments.contrasts()
    rows = rows / like(np.where(sizes > 0, sizes, 1.0), rows)[:, None]
    tol = float(moments.rounding * (np.sqrt(rows.shape[0]) + np.sqrt(rows.shape[1])))
    coefficients, basis = row_space(rows / moments.spread, tol=tol)
    rows = coefficients @ rows
    return MeanConstraint(rows, orthonormalize(rows.T) if rows.shape[0] else basis)


def check_dimension(
    moments: GroupMoments, constraint: MeanConstraint, k: int | float | None
) -> None:
    """Raise if fewer than `k` directions satisfy the constraint."""
    d, r = moments.n_features, constraint.rank
    n_fair = d - r
    names = ", ".join(dict.fromkeys(repr(a.name) for a in moments.attributes))
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


def check_attributes(moments: GroupMoments) -> None:
    """Raise if there is nothing to be fair between."""
    for a in moments.attributes:
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


def mean_gap(moments: GroupMoments, subspace: Subspace) -> float:
    """Return the largest difference between a group and the rest that is left in the subspace.

    For a level: the distance of its mean from the overall mean, in standard deviations of the
    component. For a numeric attribute: its correlation with the component. Computed from the
    moments; directions whose variance is rounding do not count.
    """
    xp = array_namespace(moments.mean)
    noise = 100 * moments.precision * float(xp.sum(moments.scatter.diagonal))
    counts = subspace.scatter > noise
    scatter = xp.where(counts, subspace.scatter, xp.ones_like(subspace.scatter))
    largest = 0.0
    for a in moments.attributes:
        rows, sizes = a.contrasts()
        if isinstance(a, LevelMoments):
            sizes = a.weight / np.sqrt(moments.weight)
        units = like(np.where(sizes > 0, sizes, np.inf), rows)[:, None]
        gaps = xp.abs(rows @ subspace.basis) / units / xp.sqrt(scatter)
        largest = max(largest, float(xp.max(xp.where(counts, gaps, xp.zeros_like(gaps)))))
    return largest
