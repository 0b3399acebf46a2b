"""Linear support vector machines without an intercept, by Newton's method on the primal."""

from __future__ import annotations

import numpy as np
import scipy.linalg

MOST_STEPS = 200
"""More steps than any data needed: the objective is quadratic between changes of the active set."""

CANCELLED = 1e-8
"""Largest rounding error of the curvature, whose smallest eigenvalue is 1, that is left alone."""


def svm_coefficients(
    Z: np.ndarray, y: np.ndarray, cost: np.ndarray, scatter: np.ndarray
) -> np.ndarray:
    r"""Return the coefficients of the linear SVM with squared hinge loss.

    Parameters
    ----------
    Z : array of shape (n, p)
        Rows.
    y : array of shape (n,)
        Classes, -1 or 1.
    cost : array of shape (n,)
        Price of each row's loss: scikit-learn's `C`, times the weight of the row.
    scatter : array of shape (p, p)
        ``(Z * cost).T @ Z``, which a caller who solves many such problems has already.

    Returns
    -------
    w : array of shape (p,)
        Minimiser of :math:`|w|^2/2 + \sum_i c_i \max(0, 1 - y_i z_i^\top w)^2`.

    Notes
    -----
    The rows with positive loss are the active ones. With A these rows, the Newton step solves
    :math:`(I + 2 A^\top C A) s = -g`, and where a full step leaves the active set as it is, the
    minimum is reached exactly (Keerthi & DeCoste 2005). At w = 0 all rows are active and the matrix
    is known; from then on only rows that enter or leave the active set change it. Subtracting rows
    leaves the rounding of what was there: for rows so large that this would be felt beside the
    identity, the matrix is computed anew.
    """
    w, scores = np.zeros(Z.shape[1]), np.zeros(len(Z))
    active = np.ones(len(Z), dtype=bool)
    H = 2.0 * scatter
    H[np.diag_indices_from(H)] += 1.0
    exact = float(np.trace(H)) * np.finfo(float).eps > CANCELLED
    for _ in range(MOST_STEPS):
        loss = np.where(active, 1.0 - y * scores, 0.0)
        gradient = w - 2.0 * ((cost * y * loss) @ Z)
        few = exact and np.count_nonzero(active) < 2 * Z.shape[1]
        step = -(_solved_by_rows(Z, cost * active, gradient) if few else _solved(H, gradient))
        change = Z @ step
        length = _length(w, step, scores, change, y, cost, slope=float(gradient @ step))
        w, scores = w + length * step, scores + length * change
        before, active = active, y * scores < 1.0
        changed = np.flatnonzero(active != before)
        if not len(changed) and length in (0.0, 1.0):
            break
        if exact:
            H = _curvature(Z[active], cost[active])
        else:
            entering = np.where(active[changed], 2.0, -2.0) * cost[changed]
            H += (Z[changed] * entering[:, None]).T @ Z[changed]
    return w


def _curvature(A: np.ndarray, cost: np.ndarray) -> np.ndarray:
    H: np.ndarray = (A * (2.0 * cost)[:, None]).T @ A
    H[np.diag_indices_from(H)] += 1.0
    return H


def _solved_by_rows(Z: np.ndarray, cost: np.ndarray, g: np.ndarray) -> np.ndarray:
    """Return the solution of ``(I + 2 Z^T C Z) s = g`` for few priced rows.

    Where hardly a row reaches, s = g nearly; in the sum the identity would drown in rounding.
    """
    rows = cost > 0
    A = Z[rows] * np.sqrt(2.0 * cost[rows])[:, None]
    values, V = np.linalg.svd(A, full_matrices=False)[1:]
    step: np.ndarray = g + ((1.0 / (1.0 + values**2) - 1.0) * (V @ g)) @ V
    return step


def _solved(H: np.ndarray, g: np.ndarray) -> np.ndarray:
    """Return the solution of ``H s = g``; rounding may hide that no eigenvalue is below 1."""
    try:
        factor = scipy.linalg.cho_factor(H, check_finite=False)
    except np.linalg.LinAlgError:
        values, V = np.linalg.eigh(H)
        floored: np.ndarray = V @ ((V.T @ g) / np.maximum(values, 1.0))
        return floored
    step: np.ndarray = scipy.linalg.cho_solve(factor, g, check_finite=False)
    return step


def _length(
    w: np.ndarray,
    step: np.ndarray,
    scores: np.ndarray,
    change: np.ndarray,
    y: np.ndarray,
    cost: np.ndarray,
    *,
    slope: float,
) -> float:
    """Return a length of the step that lowers the objective enough, 0 if rounding prevents it."""

    def objective(t: float) -> float:
        loss = np.maximum(0.0, 1.0 - y * (scores + t * change))
        return 0.5 * float(np.sum((w + t * step) ** 2)) + float(cost @ loss**2)

    start, t = objective(0.0), 1.0
    while t > 1e-12:
        # Close to the minimum the objective differs by rounding only, but the step is still right.
        if objective(t) <= start * (1.0 + 1e-14) + 1e-4 * t * slope:
            return t
        t *= 0.5
    return 0.0
