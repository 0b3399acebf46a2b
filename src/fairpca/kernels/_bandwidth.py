"""The kernel's gamma from the data, and a point near which the data lie."""

from __future__ import annotations

import numpy as np

from .._numerics import is_sparse, quiet_overflow
from .._rows import Rows, block_rows, row_blocks

PILOT_ROWS = 256


def scale_gamma(rows: Rows) -> float:
    """Return ``1 / (d Var)`` with the variance over all entries of the rows, 1 if they are equal.

    The paper's choice, and scikit-learn's default for kernel SVMs. Weights count as repetitions.

    Parameters
    ----------
    rows : Rows
        Features, and perhaps weights.

    Returns
    -------
    float
        The kernel's gamma.

    Examples
    --------
    >>> import numpy as np
    >>> from fairpca._rows import Rows
    >>> from fairpca.kernels import scale_gamma
    >>> scale_gamma(Rows(np.array([[0.0, 4.0], [0.0, 4.0]])))
    0.125
    """
    entries = rows.total_weight * rows.X.shape[1]
    mean = _weighted_sum(rows, 0.0, power=1) / entries
    variance = _weighted_sum(rows, mean, power=2) / entries
    return 1.0 if variance <= 0 else 1.0 / (rows.X.shape[1] * variance)  # NaN: overflow


def _weighted_sum(rows: Rows, shift: float, *, power: int) -> float:
    """Return the weighted sum of ``(entry - shift)^power``."""
    total, d = 0.0, rows.X.shape[1]
    for block in row_blocks(rows.n_rows, block_rows(d)):
        B = rows.block(block).astype(float, copy=False)
        n = block.stop - block.start
        weight = np.ones(n) if rows.weight is None else rows.weight[block]
        with quiet_overflow():
            if is_sparse(B):
                stored = B.copy()
                zeros = np.float64(-shift) ** power
                stored.data = (stored.data - shift) ** power - zeros
                sums = np.asarray(stored.sum(axis=1)).ravel() + d * zeros
            else:
                sums = np.sum((B - shift) ** power, axis=1, dtype=float)
            total += float(weight @ sums)
    return total


def pilot_centre(rows: Rows) -> np.ndarray:
    """Return the mean of a few rows spread over the data, zero for sparse rows.

    Parameters
    ----------
    rows : Rows
        n rows in d dimensions.

    Returns
    -------
    array of shape (d,)
        Near enough to the rows to measure them from.

    Examples
    --------
    >>> import numpy as np
    >>> from fairpca._rows import Rows
    >>> from fairpca.kernels import pilot_centre
    >>> pilot_centre(Rows(np.array([[1e6, 0.0], [1e6 + 2, 1.0]])))
    array([1.000001e+06, 5.000000e-01])
    """
    if is_sparse(rows.X) or rows.n_rows == 0:
        return np.zeros(rows.X.shape[1])
    few = np.unique(np.linspace(0, rows.n_rows - 1, PILOT_ROWS).astype(int))
    centre: np.ndarray = np.mean(rows.take(few), axis=0, dtype=float)
    return centre
