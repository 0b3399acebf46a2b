"""Fair PCA-S: equal means, and the directions in which group covariances differ least."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..arrays import Array, array_namespace, like
from ..errors import InfeasibleError
from ..linalg import deflate, deterministic_signs, orthonormalize, top_eigenpairs
from ..moments import GroupMoments, RowScatter
from .checks import check_dimension
from .covariance_differences import absolute_difference, covariance_differences
from .equalize_means import MeanConstraint, mean_constraint
from .maximize_variance import maximize_variance
from .subspace import Subspace


def equalize_covariances_spectral(
    moments: GroupMoments,
    k: int | float | None,
    *,
    directions: int | float,
    penalty: float = 0.0,
    solver: str = "auto",
    random_state: int | np.random.Generator | None = None,
) -> Subspace:
    r"""Solve fair PCA among the directions in which the groups' covariances differ least.

    Parameters
    ----------
    moments : GroupMoments
        Moments of rows in d dimensions, with a scatter per group.
    k : int, float or None
        Dimension; or the share of the total variance to reach; or all `directions`.
    directions : int or float
        How many directions ``l`` to keep before the variance is maximised, or that number as a
        fraction of d (of the dimension of the span of the rows, for wide data). The fewer, the
        closer the covariances and the less variance. A fraction never goes below `k`.
    penalty : float
        How much of a direction's difference between the groups counts against its variance: the
        leading eigenvectors are those of C - penalty `absolute_difference`, where C is the
        covariance.
    solver, random_state
        See `maximize_variance`.

    Returns
    -------
    Subspace

    Notes
    -----
    Section 3.6 of the paper, for any number of groups and attributes. With :math:`T_g` the
    difference between the covariance of group g and the average covariance, inside the fair
    subspace, the l eigenvectors of :math:`\sum_g p_g T_g^2` of smallest eigenvalue are kept; for
    two groups they are the eigenvectors of :math:`\Sigma_0 - \Sigma_1` of smallest magnitude.
    """
    constraint = mean_constraint(moments)
    check_dimension(moments, constraint.rank, k)
    span, inner, Q = working_space(moments, constraint)
    n_fair = inner.n_features - Q.shape[1]
    l = how_many_directions(directions, k, inner.n_features, n_fair)  # noqa: E741
    flattest = flattest_directions(inner, Q, l)
    if penalty > 0:
        flattest = _least_penalised(inner.compressed(flattest), flattest, k, penalty)
    inside = maximize_variance(
        replace(inner, attributes=()).compressed(flattest),
        k,
        total=float(moments.scatter.diagonal.sum()),
        solver=solver,
        random_state=random_state,
    )
    basis = flattest @ inside.basis
    basis = orthonormalize(basis if span is None else span @ basis)
    basis = deterministic_signs(constraint.polished(basis))
    return Subspace(basis, inside.scatter, constraint.rank)


def _least_penalised(
    inside: GroupMoments, directions: Array, k: int | float | None, penalty: float
) -> Array:
    """Return the k directions with the most variance after the penalty."""
    if not isinstance(k, int):
        raise InfeasibleError(
            f"covariance_penalty={penalty} chooses a number of components by more than their "
            f"variance, but n_components={k} does not say how many. Pass an integer."
        )
    C = inside.scatter.dense().matrix / inside.weight
    _, V = top_eigenpairs(C - penalty * absolute_difference(inside), k)
    return directions @ V


def working_space(
    moments: GroupMoments, constraint: MeanConstraint
) -> tuple[Array | None, GroupMoments, Array]:
    """Return a basis to work in (None: all of it), the moments there, and what to avoid there."""
    if not isinstance(moments.scatter, RowScatter):
        return None, moments, constraint.Q
    span = maximize_variance(moments, None, avoid=constraint.Q)
    noise = moments.precision * moments.n_features * float(span.scatter[0])
    B = span.basis[:, : max(1, int((span.scatter > noise).sum()))]
    return B, moments.compressed(B), like(np.zeros((B.shape[1], 0)), B)


def how_many_directions(directions: int | float, k: int | float | None, d: int, n_fair: int) -> int:
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
