"""How far the means of groups are from each other in a representation."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from ._inputs import finite_rows, integer_levels, present_values


def mean_gap(T: ArrayLike, groups: ArrayLike) -> float:
    r"""Return the largest distance of a group's mean from the mean of all rows, over columns.

    In standard deviations of the column, as the ``mean_gap_`` of `fairpca.FairPCA` is of its
    training rows. So 0.2 says: there is a column in which the average member of some group stands
    0.2 standard deviations above or below the average row. With two groups of equal size they are
    then 0.4 apart, and a normally distributed column alone tells them apart with an AUC of 0.61; 1
    means groups that do not overlap, 0 that a linear model fitted to these rows is a constant.

    On new rows it is never 0: a group of n rows is off by about :math:`1/\sqrt n` by chance alone,
    and the largest of many groups and columns by more. Compare it with that of shuffled groups.

    Parameters
    ----------
    T : array-like of shape (n, k)
        Representation.
    groups : array-like of shape (n,)
        Group of each row.

    Returns
    -------
    float
        0 where no column varies.

    See Also
    --------
    covariance_gap : The same of the covariances.
    leakage : What a model can tell.

    Notes
    -----
    :math:`\max_{g,j} |\bar t_{gj} - \bar t_j| / s_j`, with the standard deviation of all rows.
    Columns that vary by no more than rounding do not count. It is taken over columns, not over
    all directions: over all directions, k columns of pure noise give about :math:`\sqrt{k/n}` in
    every representation, and a fair one of 100 columns would look worse than an unfair one of 5.

    Examples
    --------
    >>> from fairpca.metrics import mean_gap
    >>> T = [[0.0, 5.0], [2.0, 5.0], [4.0, 5.0], [6.0, 5.0]]
    >>> round(mean_gap(T, ["a", "a", "b", "b"]), 3)
    0.894
    >>> mean_gap(T, ["a", "b", "b", "a"])
    0.0
    """
    rows = finite_rows(T, min_rows=2).astype(np.float64)
    levels, codes = integer_levels(present_values(groups, len(rows), "groups"), "groups")
    centred = rows - rows.mean(axis=0)
    deviation = np.sqrt(np.mean(centred**2, axis=0))
    counts = deviation > 100 * np.finfo(float).eps * np.abs(rows).max(axis=0)
    if not counts.any():
        return 0.0
    of_group = np.zeros((len(levels), len(rows)))
    of_group[codes, np.arange(len(rows))] = 1.0
    means = of_group @ centred[:, counts] / of_group.sum(axis=1, keepdims=True)
    return float(np.max(np.abs(means) / deviation[counts]))
