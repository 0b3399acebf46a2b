"""The directions that linear classifiers of the groups look at, one after the other."""

from __future__ import annotations

import numpy as np

from ..moments import GroupMoments, standard_deviations
from ..solvers import mean_constraint
from ._linear_svm import svm_coefficients

NOTHING_SEEN = 1e-8
"""Coefficients up to this, relative to those of the first classifier, count as zero."""

MEANS_AGREE = 1e-7
"""Differences of means, in standard deviations, that are rounding after many reflections."""


def directions_that_classify(
    X: np.ndarray, codes: np.ndarray, moments: GroupMoments, cost: np.ndarray, *, count: int
) -> tuple[np.ndarray, np.ndarray]:
    """Return up to `count` directions, fewer if classifiers stop seeing a difference; and the rest.

    Parameters
    ----------
    X : array of shape (n, d)
        Rows.
    codes : array of shape (n,)
        Groups, 0 to m - 1.
    moments : GroupMoments
        Moments of the rows.
    cost : array of shape (n,)
        Price of each row's loss.
    count : int
        How many directions to find.

    Returns
    -------
    directions : array of shape (d, r)
        Orthonormal columns, in the order in which they were found.
    left : array of shape (d, p)
        Orthonormal basis of what they leave of the span of the centred rows.
    """
    V, Z = _coordinates(X, moments)
    scatter = (Z * cost[:, None]).T @ Z
    spread = standard_deviations(moments)
    one_against_the_rest = _signs(codes)
    found: list[np.ndarray] = []
    if mean_constraint(moments).rank == 0:
        count = 0  # group means agree but for rounding: there is nothing to see
    largest = 0.0
    while len(found) < count and Z.shape[1]:
        W = np.array([svm_coefficients(Z, y, cost, scatter) for y in one_against_the_rest])
        # The score of a standard deviation: in units of the features nothing would be small.
        size = np.abs(spread[:, None] * (V @ W.T)).max(axis=0)
        largest = max(largest, size.max())
        # An SVM may have found a direction in which rows hardly vary, where its coefficients are
        # huge; beside them those of a difference that all can see look like nothing.
        gaps = [_mean_difference(V, Z, y, cost, spread) for y in one_against_the_rest]
        seen = (size > NOTHING_SEEN * largest) | ((np.array(gaps) > MEANS_AGREE) & (size > 0))
        if not seen.any():
            break
        Q = np.linalg.svd(W[seen], full_matrices=False)[2].T
        for _ in range(min(Q.shape[1], count - len(found))):
            found.append(V @ Q[:, 0])
            u = _reflector(Q[:, 0])
            V, Z = _without_first(V, u), _without_first(Z, u)
            scatter = _without_first(_without_first(scatter, u).T, u)
            Q = _without_first(Q.T, u).T[:, 1:]
    return np.array(found).reshape(len(found), X.shape[1]).T, V


def _mean_difference(
    V: np.ndarray, Z: np.ndarray, y: np.ndarray, cost: np.ndarray, spread: np.ndarray
) -> float:
    """Return the difference of the classes' sums in standard deviations of a feature, per row."""
    contrast = V @ ((cost * y) @ Z) / cost.sum()
    return float(np.abs(contrast / spread).max())


def _signs(codes: np.ndarray) -> list[np.ndarray]:
    """Return classes -1 and 1 for each classifier: one for two groups, else one per group."""
    m = int(codes.max()) + 1
    return [np.where(codes == g, 1.0, -1.0) for g in (range(1, 2) if m == 2 else range(m))]


def _coordinates(X: np.ndarray, moments: GroupMoments) -> tuple[np.ndarray, np.ndarray]:
    """Return an orthonormal basis of what the centred rows span, and their coordinates in it.

    Outside of this span an SVM sees nothing but rounding, and takes it for signal: nothing dampens
    it there. With features that depend on each other, such as dummies of a category, such errors
    grow a thousandfold in each iteration, until a direction is removed in which no row varies.
    """
    # Rounding of a constant feature far from zero is not a difference between groups.
    X = (X - moments.mean) * moments.varies
    values, right = np.linalg.svd(np.linalg.qr(X, mode="r"), full_matrices=False)[1:]
    offset = float(np.abs(moments.mean * moments.varies).max(initial=0.0))
    noise = max(X.shape) * values.max(initial=0.0) + np.sqrt(len(X)) * offset
    V = right[values > 8.0 * moments.precision * noise].T
    return V, X @ V


def _reflector(q: np.ndarray) -> np.ndarray:
    """Return the unit vector u for which I - 2uu^T takes q to a multiple of the first axis."""
    u = q.copy()
    u[0] += 1.0 if q[0] >= 0 else -1.0
    unit: np.ndarray = u / np.linalg.norm(u)
    return unit


def _without_first(A: np.ndarray, u: np.ndarray) -> np.ndarray:
    """Return the columns of A (I - 2uu^T) but the first."""
    rest: np.ndarray = (A - (A @ u)[:, None] * (2.0 * u))[:, 1:]
    return rest
