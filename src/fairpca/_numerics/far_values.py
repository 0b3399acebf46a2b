"""Values so far from all others that they decide means and variances."""

from __future__ import annotations

import numpy as np

FEWEST_ROWS_TO_BE_FAR = 100
"""Of fewer rows, quartiles tell nothing about what is far."""

FAR, MOST_OF_IT = 30.0, 0.9
"""Values so many quartile ranges from the median that hold this share of the scatter about it.

How often that happens by chance is in tests/estimators/test_far_values.py.
"""

FEW = 0.1
"""More rows than this share are not far from the others: they are others."""


def far_from_the_others(
    column: np.ndarray, weight: np.ndarray | None = None
) -> tuple[int, int, float, float] | None:
    """Return what is far in a column, if it holds nearly all of the scatter about the median.

    The row of the furthest value, how many are far, their share of the scatter, and how many
    quartile ranges the furthest is from the median.
    """
    column = 0.5 * column / (np.abs(column).max() or 1.0)  # no difference overflows
    low, median, high = np.quantile(column, [0.25, 0.5, 0.75])
    distance = np.abs(column - median)
    if not distance.any():
        return None
    # Of indicators and counts the quartiles may be the same, or nearly so.
    unit = max(high - low, np.quantile(distance[distance > 0], 0.75))
    far = distance > FAR * unit
    n_far = int(np.count_nonzero(far))
    if not 0 < n_far <= FEW * len(far):
        return None
    squares = (distance / distance.max()) ** 2
    squares = squares if weight is None else squares * weight
    share = float(squares[far].sum() / squares.sum())
    row = int(np.argmax(distance))
    return (row, n_far, share, float(distance[row] / unit)) if share >= MOST_OF_IT else None
