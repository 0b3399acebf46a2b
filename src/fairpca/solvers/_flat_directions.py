"""Fair directions in which the covariances of groups differ least: where the search goes on."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .._numerics import Array, array_namespace, deflate, deterministic_signs, like, orthonormalize
from ..errors import InfeasibleError
from ..moments import GroupMoments, RowScatter
from ._checks import check_dimension
from ._covariance_differences import covariance_differences
from ._equalize_means import MeanConstraint, mean_constraint
from ._maximize_variance import maximize_variance
from ._subspace import Subspace


@dataclass(frozen=True)
class FlatDirections:
    """A subspace to search in.

    Parameters
    ----------
    directions : array of shape (d, l)
        Orthonormal columns.
    moments : GroupMoments
        The moments of the rows in these coordinates.
    constraint : MeanConstraint
        What the directions are orthogonal to.
    """

    directions: Array
    moments: GroupMoments
    constraint: MeanConstraint

    def subspace(self, L: Array, scatter: Array) -> Subspace:
        """Return the span of the columns of L, in the coordinates of the rows."""
        basis = orthonormalize(self.directions @ L)
        basis = deterministic_signs(self.constraint.polished(basis))
        return Subspace(basis, scatter, self.constraint.rank)


def flat_directions(
    moments: GroupMoments,
    k: int | float | None,
    directions: int | float,
    *,
    only_varying: bool = False,
) -> FlatDirections:
    """Return the fair directions, a number or a fraction of d, in which covariances differ least.

    Directions in which no row varies have equal covariances, trivially. The paper's method counts
    them among the flattest; they are left out where `only_varying` ones are wanted.

    Raises
    ------
    InfeasibleError
        If these are fewer than `k`.
    """
    constraint = mean_constraint(moments)
    check_dimension(moments, constraint.rank, k)
    span, inner, Q = _working_space(moments, constraint, only_varying)
    n_fair = inner.n_features - Q.shape[1]
    l = _how_many_directions(directions, k, inner.n_features, n_fair)  # noqa: E741
    flattest = flattest_directions(inner, Q, l)
    B = flattest if span is None else span @ flattest
    return FlatDirections(B, inner.compressed(flattest), constraint)


def _working_space(
    moments: GroupMoments, constraint: MeanConstraint, only_varying: bool
) -> tuple[Array | None, GroupMoments, Array]:
    """Return a basis to work in (None: all of it), the moments there, and what to avoid there."""
    if not isinstance(moments.scatter, RowScatter) and not only_varying:
        return None, moments, constraint.Q
    span = maximize_variance(moments, None, avoid=constraint.Q)
    noise = moments.precision * moments.n_features * float(span.scatter[0])
    xp = array_namespace(span.scatter)
    rank = int(xp.sum(xp.astype(span.scatter > noise, xp.int64)))
    B = span.basis[:, : max(1, rank)]
    return B, moments.compressed(B), like(np.zeros((B.shape[1], 0)), B)


def _how_many_directions(
    directions: int | float, k: int | float | None, d: int, n_fair: int
) -> int:
    """Return the number of directions to search in, at most `n_fair`; raise if it is below k."""
    if isinstance(directions, float):
        least = k if isinstance(k, int) else 1
        wanted = max(least, int(np.floor(directions * d + 1e-9)))
    else:
        wanted = directions
        if isinstance(k, int) and wanted < k:
            raise InfeasibleError(
                f"covariance_directions={wanted} is smaller than n_components={k}: the components "
                f"are chosen among these directions. Use covariance_directions >= {k}."
            )
    if isinstance(k, int) and k > n_fair:
        raise InfeasibleError(
            f"n_components={k} is too large: the rows vary in only {n_fair} fair directions, and "
            f"covariances cannot be compared in others. Use n_components <= {n_fair}."
        )
    return min(wanted, n_fair)


def flattest_directions(moments: GroupMoments, Q: Array, l: int) -> Array:  # noqa: E741
    """Return the `l` directions orthogonal to `Q` in which group covariances differ least."""
    xp = array_namespace(moments.mean)
    differences = covariance_differences(moments)
    if len(differences) == 2:
        # Two groups differ by multiples of one matrix. Squaring it would drown small eigenvalues.
        spectrum = differences[0][1]
    else:
        spectrum = differences[0][1] * 0.0
        for share, T in differences:
            PTP = deflate(T, Q, tau=0.0)
            spectrum = spectrum + share * (PTP @ PTP)
    # Q gets the eigenvalue of largest magnitude and so comes last.
    size = float(xp.linalg.matrix_norm(spectrum))
    values, V = xp.linalg.eigh(deflate(spectrum, Q, tau=2.0 * size if size > 0 else 1.0))
    order = xp.argsort(xp.abs(values), stable=True)
    return xp.take(V, order[:l], axis=1)
