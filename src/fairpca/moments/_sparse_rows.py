"""Products of centred sparse rows, computed without ever making the rows dense."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import scipy.sparse

from .._numerics import Array
from .._rows import Rows

NEARLY_DENSE = 0.9
"""Columns with this share of nonzero entries are shifted inside the sparse structure.

Only such a column can have a mean that is large against its spread, so only such a column could
lose digits when the mean is subtracted afterwards; and it has hardly a zero to lose.
"""


def mean_and_sums(rows: Rows, H: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return a mean and ``H.T @ (X - mean)``.

    `H` of shape (n, q) carries the roots of the weights; its first column is 1 times these. The
    mean is the true one but for rounding.
    """
    weighted = H * _root_weight(rows)[:, None]
    totals = weighted.sum(axis=0)
    about = (rows.X.T @ weighted[:, 0]).astype(float) / (totals[0] or 1.0)
    X, rest, _ = _shifted(rows, about)
    return about, (X.T @ weighted).T - np.outer(totals, rest)


def times(rows: Rows, mean: np.ndarray, V: np.ndarray) -> np.ndarray:
    """Return the centred, weighted rows times `V`."""
    product: np.ndarray = (rows.X @ V - mean @ V) * _root_weight(rows)[:, None]
    return product


def transposed_times(rows: Rows, mean: np.ndarray, V: np.ndarray) -> np.ndarray:
    """Return the transpose of the centred, weighted rows times `V`."""
    weighted = V * _root_weight(rows)[:, None]
    product: np.ndarray = rows.X.T @ weighted - np.outer(mean, weighted.sum(axis=0))
    return product


def sum_of_squares(rows: Rows, mean: np.ndarray) -> np.ndarray:
    """Return the weighted sum of squares of each column about `mean`."""
    X, rest, weight = _shifted(rows, mean)
    squares: np.ndarray = (
        X.multiply(X).T @ weight - 2 * rest * (X.T @ weight) + weight.sum() * rest**2
    )
    return squares


def scatter(rows: Rows, mean: np.ndarray) -> np.ndarray:
    """Return the d x d weighted scatter of the rows about `mean`."""
    X, rest, weight = _shifted(rows, mean)
    weighted = X if rows.weight is None else X.multiply(weight[:, None]).tocsr()
    product = (weighted.T @ X).toarray()
    along = np.outer(rest, X.T @ weight)
    about: np.ndarray = product - along - along.T + weight.sum() * np.outer(rest, rest)
    return about


def gram(pieces: Sequence[Rows], mean: np.ndarray, scale: Array | None) -> np.ndarray:
    """Return the inner products of all centred, scaled, weighted rows."""
    X = scipy.sparse.vstack([scipy.sparse.csr_array(rows.X) for rows in pieces], format="csr")
    together = Rows(X, np.concatenate([_root_weight(rows) ** 2 for rows in pieces]))
    X, rest, weight = _shifted(together, mean)
    if scale is not None:
        X, rest = X.multiply(1.0 / scale).tocsr(), rest / scale
    inner = (X @ X.T).toarray()
    along = X @ rest
    inner += rest @ rest - along[:, None] - along
    weighted: np.ndarray = inner * np.sqrt(weight)[:, None] * np.sqrt(weight)
    return weighted


def _root_weight(rows: Rows) -> np.ndarray:
    return np.ones(rows.X.shape[0]) if rows.weight is None else np.sqrt(rows.weight)


def _shifted(rows: Rows, mean: np.ndarray) -> tuple[scipy.sparse.csr_array, np.ndarray, np.ndarray]:
    """Shift nearly dense columns by their mean; return the rows and the mean that is left."""
    X = scipy.sparse.csr_array(rows.X).astype(np.float64, copy=False)
    filled = np.bincount(X.indices, minlength=X.shape[1]) >= NEARLY_DENSE * max(X.shape[0], 1)
    shift = np.where(filled, mean, 0.0)
    if shift.any():
        ones = scipy.sparse.csr_array(np.ones((X.shape[0], 1)))
        X = scipy.sparse.csr_array(X - ones @ scipy.sparse.csr_array(shift[None, :]))
    weight = np.ones(X.shape[0]) if rows.weight is None else rows.weight
    return X, mean - shift, weight
