"""How different the covariances of groups are in a representation."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from ..errors import UsageError
from ._inputs import finite_rows, integer_levels, present_values


def covariance_gap(T: ArrayLike, groups: ArrayLike) -> float:
    """Return the largest difference between a group's covariance and the average, relative to it.

    A ratio of Frobenius norms, the same that `fairpca.FairPCA` reports of its training rows as
    ``covariance_gap_``. On new rows it is larger, by sampling error: compare it with that of
    shuffled groups. Equal covariances do not hide every difference that a non-linear model can
    see; `leakage` with ``probe="boosting"`` asks one.

    Parameters
    ----------
    T : array-like of shape (n, k)
        Representation.
    groups : array-like of shape (n,)
        Group of each row.

    Returns
    -------
    float

    See Also
    --------
    mean_gap : The same of the means.

    Examples
    --------
    >>> import numpy as np
    >>> from fairpca.metrics import covariance_gap
    >>> T = np.array([[1.0], [-1.0], [2.0], [-2.0]])
    >>> covariance_gap(T, ["a", "a", "b", "b"])
    1.2
    """
    T = finite_rows(T, min_rows=2)
    levels, codes = integer_levels(present_values(groups, len(T), "groups"), "groups")
    counts = np.bincount(codes, minlength=len(levels))
    if counts.min() < 2:
        few = [level for level, count in zip(levels, counts, strict=True) if count < 2]
        raise UsageError(
            f"The group(s) {few} have one row, which has no covariance. Merge them with others, or "
            f"leave them out."
        )
    covariances = [np.atleast_2d(np.cov(T[codes == g].T)) for g in range(len(levels))]
    average = sum(c / len(T) * S for c, S in zip(counts, covariances, strict=True))
    size = float(np.linalg.norm(np.cov(T.T, ddof=0)))
    gaps = [float(np.linalg.norm(S - average)) for S in covariances]
    return max(gaps) / size if size > 0 else 0.0
