"""The fantope: all averages of projections of one rank, and the projection onto this set."""

from __future__ import annotations

import numpy as np

from ._capped_simplex import nearest_with_sum


def project_onto_fantope(A: np.ndarray, rank: float) -> np.ndarray:
    r"""Return the matrix of the fantope that is nearest to `A`.

    Parameters
    ----------
    A : array of shape (d, d)
        Symmetric matrix.
    rank : float
        The trace r of the result, between 0 and d.

    Returns
    -------
    P : array of shape (d, d)
        Minimiser of :math:`|P - A|_F` over symmetric P with :math:`0 \preceq P \preceq I` and
        :math:`\mathrm{tr} P = r`, the convex hull of the projections of rank r.

    Notes
    -----
    P has the eigenvectors of A, and the eigenvalues that `nearest_with_sum` makes of its own [1]_.

    References
    ----------
    .. [1] Vu, Cho, Lei, Rohe. "Fantope projection and selection: a near-optimal convex relaxation
       of sparse PCA". NeurIPS 2013.

    Examples
    --------
    >>> import numpy as np
    >>> project_onto_fantope(np.diag([0.875, 0.625, 0.0]), rank=1).diagonal()
    array([0.625, 0.375, 0.   ])
    """
    values, V = np.linalg.eigh(A)
    projected: np.ndarray = (V * nearest_with_sum(values, rank)) @ V.T
    return projected


def project_below_a_cap(
    A: np.ndarray,
    rank: float,
    direction: np.ndarray,
    cap: float,
    *,
    start: float = 0.0,
    rtol: float = 1e-10,
) -> tuple[np.ndarray, float]:
    r"""Return the nearest matrix of the fantope that keeps little of one direction.

    Parameters
    ----------
    A : array of shape (d, d)
        Symmetric matrix.
    rank : float
        The trace r of the result, at most d - 1 + cap.
    direction : array of shape (d,)
        Unit vector e.
    cap : float
        Upper bound, above 0, for :math:`e^\top P e`.
    start : float
        A guess of the multiplier.
    rtol : float
        Accuracy, relative to the cap, where the bound is attained.

    Returns
    -------
    P : array of shape (d, d)
        The projection of :math:`A - \nu ee^\top` onto the fantope.
    multiplier : float
        The price :math:`\nu \ge 0` of the bound, 0 where it is not attained.

    Examples
    --------
    >>> import numpy as np
    >>> e = np.array([1.0, 0.0])
    >>> P, multiplier = project_below_a_cap(np.diag([1.0, 0.0]), 1, e, cap=0.25)
    >>> P.diagonal().round(9), round(multiplier, 9)
    (array([0.25, 0.75]), 1.5)
    """
    ee = np.outer(direction, direction)

    def at(multiplier: float) -> tuple[np.ndarray, float]:
        P = project_onto_fantope(A - multiplier * ee, rank)
        return P, float(direction @ P @ direction) - cap

    P, excess = at(start)
    low, high = (start, excess), (start, excess)
    if excess < 0.0 and start > 0.0:
        P, excess = at(0.0)
        low = (0.0, excess)
    if low[1] <= rtol * cap:
        return P, low[0]
    width = max(start, low[1])
    while high[1] > 0.0:  # a price that is high enough
        low = high
        P, excess = at(low[0] + width)
        high, width = (low[0] + width, excess), 2.0 * width
    while abs(excess) > rtol * cap and high[0] - low[0] > 1e-15 * high[0]:
        # The Illinois rule: the secant's root, and half the value of an end that stays twice.
        multiplier = low[0] + (high[0] - low[0]) * low[1] / (low[1] - high[1])
        P, excess = at(multiplier)
        if excess > 0.0:
            low, high = (multiplier, excess), (high[0], 0.5 * high[1])
        else:
            low, high = (low[0], 0.5 * low[1]), (multiplier, excess)
    return P, low[0] if excess > 0.0 else high[0]
