"""The capped simplex: numbers between 0 and 1 with a given sum, and the nearest of them."""

from __future__ import annotations

import numpy as np

from ..errors import UsageError


def nearest_with_sum(values: np.ndarray, total: float) -> np.ndarray:
    r"""Return numbers between 0 and 1 that add up to `total`, nearest to the given ones.

    Parameters
    ----------
    values : array of shape (d,)
        Numbers in any order.
    total : float
        Their new sum, between 0 and d.

    Returns
    -------
    clipped : array of shape (d,)
        :math:`\min(1, \max(0, \lambda_i - \theta))` with the :math:`\theta` that makes the sum
        right.

    Notes
    -----
    As :math:`\theta` grows, the sum falls from d to 0 and is linear between the breakpoints
    :math:`\lambda_i - 1`, where a number starts to fall, and :math:`\lambda_i`, where it has
    arrived. So one sort finds the piece that holds the answer, and a division the answer itself.

    Examples
    --------
    >>> import numpy as np
    >>> nearest_with_sum(np.array([0.875, 0.625, 0.0]), total=1)
    array([0.625, 0.375, 0.   ])
    """
    d = len(values)
    if not 0 <= total <= d:
        raise UsageError(
            f"{total} cannot be the sum of {d} numbers between 0 and 1. Use a number from 0 to {d}."
        )
    breakpoints = np.concatenate([values - 1.0, values])
    order = np.argsort(breakpoints, kind="stable")
    breakpoints = breakpoints[order]
    falling = np.cumsum(np.where(order < d, 1, -1))  # how many numbers fall after a breakpoint
    drops = falling[:-1] * np.diff(breakpoints)
    sums = d - np.concatenate([[0.0], np.cumsum(drops)])  # at the breakpoints, descending
    piece = min(int(np.searchsorted(-sums, -total, side="right")) - 1, 2 * d - 2)
    too_much = sums[piece] - total
    theta = breakpoints[piece] + (too_much / falling[piece] if falling[piece] else 0.0)
    nearest: np.ndarray = np.clip(values - theta, 0.0, 1.0)
    return nearest
