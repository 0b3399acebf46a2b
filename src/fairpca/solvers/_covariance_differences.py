"""How the covariances of groups differ, from moments."""

from __future__ import annotations

import numpy as np

from .._numerics import Array, array_namespace
from ..errors import InfeasibleError, SingleGroupError, UsageError
from ..moments import GroupMoments, LevelMoments


def covariance_differences(moments: GroupMoments) -> list[tuple[float, Array]]:
    """Return, for each group, its share of the weight and its covariance minus the average."""
    return [pair for of_attribute in _by_attribute(moments) for pair in of_attribute]


def _by_attribute(moments: GroupMoments) -> list[list[tuple[float, Array]]]:
    differences = []
    for a in _with_covariances(moments):
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


def absolute_difference(moments: GroupMoments) -> Array:
    r"""Return how much group covariances differ, as a matrix in units of variance.

    For two groups the matrix absolute value :math:`|\Sigma_0 - \Sigma_1|`: along a direction that
    both covariances share, the difference of the groups' variances without its sign. For more
    groups :math:`\sum_g p_g |T_g| / \sum_g p_g (1 - p_g)`, which is the same for two; the mean over
    attributes.
    """
    xp = array_namespace(moments.mean)
    attributes = _by_attribute(moments)
    total = xp.zeros_like(attributes[0][0][1])
    for of_attribute in attributes:
        spread = sum(p * (1.0 - p) for p, _ in of_attribute) * len(attributes)
        for p, T in of_attribute:
            values, V = xp.linalg.eigh(T)
            total = total + (p / spread) * ((V * xp.abs(values)) @ V.T)
    return total


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


def _with_covariances(moments: GroupMoments) -> list[LevelMoments]:
    return [
        a
        for a in moments.attributes
        if isinstance(a, LevelMoments) and not (a.optional and np.any(a.weight == 0))
    ]


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
                f"match='means'."
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
    >>> from fairpca import collect_moments
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
    size = float(xp.linalg.matrix_norm(inner.scatter.dense().matrix)) / moments.weight
    gaps = [float(xp.linalg.matrix_norm(T)) for _, T in covariance_differences(inner)]
    return max(gaps) / size if size > 0 else 0.0
