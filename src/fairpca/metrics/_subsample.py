"""A sample of rows in which every group is as frequent as in all rows, and none is lost."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from ..errors import UsageError
from ._inputs import integer_levels, present_values

FEWEST = 50
"""Rows that a group keeps, if it has them, however rare it is."""


def stratified_rows(
    n_rows: int, max_rows: int, strata: ArrayLike | None, random: np.random.RandomState
) -> np.ndarray:
    """Return positions of at most `max_rows` rows, ascending; all rows if there are no more.

    Parameters
    ----------
    n_rows, max_rows : int
        How many rows there are, and how many may be drawn: at least two of each stratum's share.
    strata : array-like of shape (n_rows,), optional
        Strata are drawn in proportion, but keep up to 50 rows each, fewer where that would take
        more than half of `max_rows`.
    random : RandomState

    Returns
    -------
    rows : array of int

    Examples
    --------
    >>> group = np.repeat(["often", "rare"], [990, 10])
    >>> drawn = stratified_rows(1000, 100, group, np.random.RandomState(0))
    >>> len(drawn), int(np.sum(group[drawn] == "rare"))
    (100, 10)
    """
    if max_rows < 2:
        raise UsageError(
            f"max_rows={max_rows} was given, but at least two rows are needed to compare groups. "
            f"The default is 2000."
        )
    if n_rows <= max_rows:
        return np.arange(n_rows)
    if strata is None:
        return np.sort(random.choice(n_rows, size=max_rows, replace=False))
    codes = integer_levels(present_values(strata, n_rows, "groups"), "groups")[1]
    counts = np.bincount(codes)
    if len(counts) > max_rows // 2:
        raise UsageError(
            f"groups has {len(counts)} levels, but at most max_rows={max_rows} rows are drawn, "
            f"which leaves fewer than two of each. Merge levels, or raise max_rows."
        )
    sizes = _sizes(counts, max_rows)
    drawn = [
        random.choice(np.flatnonzero(codes == level), size=size, replace=False)
        for level, size in enumerate(sizes)
    ]
    return np.sort(np.concatenate(drawn))


def _sizes(counts: np.ndarray, max_rows: int) -> np.ndarray:
    kept = np.minimum(counts, min(FEWEST, max_rows // (2 * len(counts))))
    rest = max_rows - kept.sum()
    # What is left of the sample goes where rows are left, in proportion; no stratum overflows,
    # since there are more rows than the sample takes.
    left = counts - kept
    return np.asarray(kept + (left * (rest / left.sum())).astype(int))
