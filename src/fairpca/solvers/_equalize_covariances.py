"""Fair PCA-S: equal means, and the directions in which group covariances differ least."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace

import numpy as np

from .._moments import GroupMoments, LevelMoments, RowScatter
from .._numerics import Array, array_namespace, deterministic_signs, orthonormalize, top_eigenpairs
from ..errors import InfeasibleError, SingleGroupError, UsageError
from ._equalize_means import (
    FEW_STRATA,
    MeanConstraint,
    check_dimension,
    mean_constraint,
    quantity_hint,
)
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
    >>> from fairpca.moments import collect_moments
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
        total=float(array_namespace(moments.mean).sum(moments.objective.diagonal)),
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
    C = inside.objective.dense().matrix / inside.weight
    return top_eigenpairs(C - penalty * absolute_difference(inside), k)[1]


@dataclass(frozen=True)
class _FlatDirections:
    """Directions (d, l) to search in, the moments of the rows there, and what they respect."""

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
) -> _FlatDirections:
    """Return the fair directions, a number or a fraction of d, in which covariances differ least.

    Directions in which no row varies have equal covariances, trivially. The paper's method counts
    them among the flattest, not so where only those that vary are to be counted; in neither case
    are they returned.
    """
    constraint = mean_constraint(moments)
    check_dimension(moments, constraint.rank, k)
    B = maximize_variance(moments, None, avoid=constraint.Q).basis
    n_fair = d = B.shape[1]
    idle = 0
    if not isinstance(moments.scatter, RowScatter) and not only_varying:
        d = moments.n_features
        idle = d - constraint.rank - n_fair
    inner = moments.compressed(B)
    flattest = _flattest_directions(inner, _how_many_directions(directions, k, d, n_fair, idle))
    return _FlatDirections(B @ flattest, inner.compressed(flattest), constraint)


def _how_many_directions(
    directions: int | float, k: int | float | None, d: int, n_fair: int, idle: int
) -> int:
    """Return the number of directions to search in, without the idle; raise if it is below k."""
    least = k if isinstance(k, int) else 1
    if isinstance(directions, float):
        wanted = int(np.floor(directions * d + 1e-9))
    else:
        wanted = directions
        if wanted < least:
            raise InfeasibleError(
                f"covariance_directions={wanted} is smaller than n_components={k}: the components "
                f"are chosen among these directions. Use covariance_directions >= {k}."
            )
    if least > n_fair:
        raise InfeasibleError(
            f"n_components={k} is too large: the rows vary in only {n_fair} fair directions, and "
            f"covariances cannot be compared in others. Use n_components <= {n_fair}.",
            available=n_fair,
        )
    return min(max(least, wanted - idle), n_fair)


def _flattest_directions(moments: GroupMoments, l: int) -> Array:  # noqa: E741
    """Return the `l` directions in which group covariances differ least."""
    xp = array_namespace(moments.mean)
    differences = covariance_differences(moments)
    if len(differences) == 2:
        # Two groups differ by multiples of one matrix. Squaring it would drown small eigenvalues.
        spectrum = differences[0][1]
    else:
        spectrum = sum(share * (T @ T) for share, T in differences)
    values, V = xp.linalg.eigh(spectrum)
    order = xp.argsort(xp.abs(values), stable=True)
    return xp.take(V, order[:l], axis=1)


def covariance_differences(moments: GroupMoments) -> list[tuple[float, Array]]:
    """Return, for each group, its share of the weight and its covariance minus the average."""
    return [pair for of_attribute in _by_attribute(moments) for pair in of_attribute]


def with_groups(moments: GroupMoments) -> list[LevelMoments]:
    """Return the attributes that have groups to compare; an optional one may have a single one.

    So may one of many strata.
    """
    levels = [a for a in moments.attributes if isinstance(a, LevelMoments)]
    strata = Counter(a.name for a in levels)
    return [
        a
        for a in levels
        if not (a.optional or strata[a.name] > FEW_STRATA)
        or np.count_nonzero(a.weight) == len(a.weight) > 1
    ]


def _by_attribute(moments: GroupMoments) -> list[list[tuple[float, Array]]]:
    differences = []
    for a in with_groups(moments):
        covariances = _covariances(a)
        shares = (a.weight / a.weight.sum()).tolist()
        average = sum(p * C for p, C in zip(shares, covariances, strict=True))
        differences.append([(p, C - average) for p, C in zip(shares, covariances, strict=True)])
    if not differences:
        raise InfeasibleError(
            "match='covariances' needs a categorical attribute, but all attributes are numeric, "
            "and a numeric attribute has no groups with covariances. Use match='means', or cut "
            "the attribute into bands."
        )
    return differences


def absolute_difference(moments: GroupMoments, *, summed: bool = False) -> Array:
    r"""Return how much group covariances differ, as a matrix in units of variance.

    For two groups the matrix absolute value :math:`|\Sigma_0 - \Sigma_1|`: along a direction that
    both covariances share, the difference of the groups' variances without its sign. For more
    groups :math:`\sum_g p_g |T_g| / \sum_g p_g (1 - p_g)`, which is the same for two; the mean over
    attributes, or their sum.
    """
    xp = array_namespace(moments.mean)
    attributes = _by_attribute(moments)
    total = xp.zeros_like(attributes[0][0][1])
    for of_attribute in attributes:
        spread = sum(p * (1.0 - p) for p, _ in of_attribute)
        if len(of_attribute) == 2:  # p T of one is -p T of the other
            spread, of_attribute = 0.5 * spread, of_attribute[:1]
        for p, T in of_attribute:
            values, V = xp.linalg.eigh(T)
            total = total + (p / spread) * ((V * xp.abs(values)) @ V.T)
    return total if summed else total / len(attributes)


def independent_differences(moments: GroupMoments) -> list[Array]:
    """Return the differences that must vanish, without those that the others imply.

    The differences of an attribute's groups, weighted by their shares, add up to zero, so that of
    its largest group is left out; so are multiples of others (an attribute given twice).
    """
    kept: list[Array] = []
    for of_attribute in _by_attribute(moments):
        largest = int(np.argmax([p for p, _ in of_attribute]))
        for g, (_, T) in enumerate(of_attribute):
            if g != largest and not any(_proportional(T, other) for other in kept):
                kept.append(T)
    return kept


def _proportional(A: Array, B: Array) -> bool:
    xp = array_namespace(A)
    inner, a, b = (float(xp.sum(x * y)) for x, y in ((A, B), (A, A), (B, B)))
    return inner**2 >= (1.0 - 1e-12) * a * b


def _covariances(a: LevelMoments) -> list[Array]:
    if a.scatters is None:
        raise UsageError(
            f"The moments of {a.name!r} hold no scatter per group, which match='covariances' "
            f"needs. Collect them with with_scatters=True."
        )
    covariances = []
    for label, count, weight, scatter in zip(a.labels, a.count, a.weight, a.scatters, strict=True):
        if count < 2 or scatter is None:
            raise SingleGroupError(
                f"The group {label!r} of the sensitive attribute {a.name!r} has {count} row(s), "
                f"so it has no covariance to match. Merge it with another group, or use "
                f"match='means'.{quantity_hint([a])}"
            )
        # ddof = 1, as in the paper's experiments
        covariances.append(scatter.dense().matrix / float(weight * (1.0 - 1.0 / count)))
    return covariances


def covariance_gap(moments: GroupMoments, U: Array) -> float:
    """Return the largest difference between a group's covariance and the average, relative to it.

    Measured in the subspace spanned by `U`, as a ratio of Frobenius norms.

    Parameters
    ----------
    moments : GroupMoments
        Moments of rows in d dimensions, with a scatter per group.
    U : array of shape (d, k)
        Orthonormal columns.

    Returns
    -------
    float
        0 for equal covariances.

    Examples
    --------
    >>> import numpy as np
    >>> from fairpca.moments import collect_moments
    >>> from fairpca.solvers import covariance_gap
    >>> groups = np.arange(200) % 2
    >>> X = np.random.default_rng(0).normal(size=(200, 3))
    >>> X[groups == 1, 0] *= 5
    >>> moments = collect_moments(X, groups, with_scatters=True)
    >>> covariance_gap(moments, np.eye(3)[:, 1:]) < 0.3 < covariance_gap(moments, np.eye(3))
    True
    """
    xp = array_namespace(U)
    inner = moments.compressed(U)
    size = float(xp.linalg.matrix_norm(inner.objective.dense().matrix)) / moments.weight
    gaps = [float(xp.linalg.matrix_norm(T)) for _, T in covariance_differences(inner)]
    return max(gaps) / size if size > 0 else 0.0
