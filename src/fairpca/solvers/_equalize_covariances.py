"""Fair PCA-S: equal means, and the directions in which group covariances differ least."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from .._numerics import Array, array_namespace, top_eigenpairs
from ..errors import InfeasibleError
from ..moments import GroupMoments
from ._covariance_differences import absolute_difference
from ._flat_directions import flat_directions
from ._maximize_variance import maximize_variance
from ._subspace import Subspace


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
        leading eigenvectors are those of C - penalty D. C is the covariance; D, for two groups,
        the matrix absolute value of the difference of theirs, for more an average of such.
    solver, random_state
        See `maximize_variance`.

    Returns
    -------
    Subspace

    See Also
    --------
    equalize_covariances_exactly : Covariances that are equal, where that is possible.

    Notes
    -----
    Section 3.6 of the paper, for any number of groups and attributes. With :math:`T_g` the
    difference between the covariance of group g and the average covariance, inside the fair
    subspace, the l eigenvectors of :math:`\sum_g p_g T_g^2` of smallest eigenvalue are kept; for
    two groups they are the eigenvectors of :math:`\Sigma_0 - \Sigma_1` of smallest magnitude.

    Examples
    --------
    >>> import numpy as np
    >>> from fairpca import collect_moments
    >>> from fairpca.solvers import covariance_gap, equalize_covariances_spectral, equalize_means
    >>> groups = np.arange(400) % 2
    >>> X = np.random.default_rng(0).normal(size=(400, 6))
    >>> X[groups == 1] *= [3.0, 0.4, 1.0, 1.0, 1.0, 1.0]
    >>> moments = collect_moments(X, groups, with_scatters=True)
    >>> closer = equalize_covariances_spectral(moments, 2, directions=3)
    >>> fair = equalize_means(moments, 2)
    >>> covariance_gap(moments, closer.basis) < covariance_gap(moments, fair.basis)
    True
    """
    flat = flat_directions(moments, k, directions)
    inside = flat.moments
    L = None if penalty == 0 else _least_penalised(inside, k, penalty)
    found = maximize_variance(
        replace(inside, attributes=()) if L is None else inside.compressed(L),
        k,
        total=float(array_namespace(moments.mean).sum(moments.scatter.diagonal)),
        solver=solver,
        random_state=random_state,
    )
    return flat.subspace(found.basis if L is None else L @ found.basis, found.scatter)


def _least_penalised(inside: GroupMoments, k: int | float | None, penalty: float) -> Array:
    """Return the k directions with the most variance after the penalty."""
    if not isinstance(k, int):
        raise InfeasibleError(
            f"covariance_penalty={penalty} chooses a number of components by more than their "
            f"variance, but n_components={k} does not say how many. Pass an integer."
        )
    C = inside.scatter.dense().matrix / inside.weight
    return top_eigenpairs(C - penalty * absolute_difference(inside), k)[1]
