"""Values so far from all others that they decide means and variances."""

from __future__ import annotations

import numpy as np

from .arrays import Array, array_namespace, is_numpy, like

FEWEST_ROWS_TO_BE_FAR = 100
"""Of fewer rows, quartiles tell nothing about what is far."""

FAR, MOST_OF_IT = 30.0, 0.9
"""Values so many quartile ranges from the median that hold this share of the scatter about it.

How often that happens by chance is in tests/estimators/test_far_values.py.
"""

FEW = 0.1
"""More rows than this share are not far from the others: they are others."""


def far_from_the_others(
    column: Array, weight: np.ndarray | None = None
) -> tuple[int, int, float, float] | None:
    """Return what is far in a column, if it holds nearly all of the scatter about the median.

    The row of the furthest value, how many are far, their share of the scatter, and how many
    quartile ranges the furthest is from the median. Only single numbers leave a device.
    """
    xp = array_namespace(column)
    column = 0.5 * column / (float(xp.max(xp.abs(column))) or 1.0)  # no difference overflows
    low, median, high = _quantiles(column, 0.25, 0.5, 0.75)
    distance = xp.abs(column - median)
    furthest = float(xp.max(distance))
    if furthest == 0.0:
        return None
    # Of indicators and counts the quartiles may be the same, or nearly so.
    unit = max(high - low, *_quantiles(distance[distance > 0], 0.75))
    far = distance > FAR * unit
    n_far = int(xp.sum(xp.astype(far, xp.int64)))
    if not 0 < n_far <= FEW * int(column.shape[0]):
        return None
    squares = (distance / furthest) ** 2
    squares = squares if weight is None else squares * like(weight, squares)
    share = float(xp.sum(squares[far]) / xp.sum(squares))
    row = int(xp.argmax(distance))
    return (row, n_far, share, furthest / unit) if share >= MOST_OF_IT else None


def _quantiles(values: Array, *shares: float) -> list[float]:
    """Return quantiles, between two values as far as they are from either, as in NumPy."""
    if is_numpy(values):
        return [float(q) for q in np.quantile(values, shares)]
    ordered, last = array_namespace(values).sort(values), int(values.shape[0]) - 1
    found = []
    for place in (share * last for share in shares):
        below, above = (float(ordered[i]) for i in (int(place), min(int(place) + 1, last)))
        found.append(below + (place - int(place)) * (above - below))
    return found
