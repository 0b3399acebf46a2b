"""How much of the data a subspace keeps."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import gen_batches

from ..errors import UsageError
from ._inputs import finite_rows

_BLOCK_ENTRIES = 2**22


def explained_variance_ratio(X: ArrayLike, components: ArrayLike) -> float:
    r"""Share of the total variance of the rows that a subspace keeps.

    The rows need not be those the subspace was fitted on; held-out rows give the honest
    number. They are centred at their own mean.

    Parameters
    ----------
    X : array of shape (n, d)
        Rows in the original features, at least two of them different.
    components : array of shape (k, d)
        Orthonormal rows that span the subspace, as in ``components_``.

    Returns
    -------
    ratio : float
        Between 0 (all variance lost) and 1 (all variance kept).

    Raises
    ------
    ValueError
        If the rows of `components` are not orthonormal to 1e-6, if the numbers of features
        differ, or if X does not vary.

    Notes
    -----
    With :math:`A` the covariance of `X` and :math:`U` the matrix `components`, this is
    :math:`\mathrm{tr}(U A U^\top) / \mathrm{tr}(A)`; the divisor of the covariance cancels,
    and the d x d matrix :math:`A` is never formed.

    Examples
    --------
    >>> from fairpca.metrics import explained_variance_ratio
    >>> X = [[0.0, 0.0], [4.0, 0.0], [0.0, 3.0], [4.0, 3.0]]
    >>> explained_variance_ratio(X, components=[[1.0, 0.0]])
    0.64
    """
    X = finite_rows(X)
    U = finite_rows(components).astype(np.float64)
    _check_orthonormal_rows(U, n_features=X.shape[1])

    mean = X.mean(axis=0, dtype=np.float64)
    kept = total = 0.0
    for rows in gen_batches(len(X), max(1, _BLOCK_ENTRIES // X.shape[1])):
        centred = X[rows] - mean
        kept += float(np.square(centred @ U.T).sum())
        total += float(np.square(centred).sum())
    if total == 0:
        raise UsageError(
            f"X has {len(X)} row(s) that are all equal: their total variance is 0, and no "
            f"share of it can be given. Pass at least two different rows."
        )
    return min(1.0, kept / total)


def _check_orthonormal_rows(U: np.ndarray, n_features: int) -> None:
    if U.shape[1] != n_features:
        raise UsageError(
            f"components has shape {U.shape}, but X has {n_features} features, so each row of "
            f"components needs {n_features} entries. Pass one component per row, as in "
            f"scikit-learn's `components_`."
        )
    deviation = np.abs(U @ U.T - np.eye(len(U))).max()
    if deviation > 1e-6:
        raise UsageError(
            f"components has rows that are not orthonormal: components @ components.T differs "
            f"from the identity by {deviation:.2g}, more than 1e-6, and the trace formula holds "
            f"for orthonormal rows only. Orthonormalise them first, for example with "
            f"scipy.linalg.orth(components.T).T."
        )
