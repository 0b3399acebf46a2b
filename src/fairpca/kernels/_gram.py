"""The kernel matrix of rows with themselves: half of it computed, in tiles, by all threads."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.metrics.pairwise import pairwise_kernels

from .._numerics import each_item, quiet_overflow
from .._rows import row_blocks
from ._kernel import Kernel

TILE = 512
"""Tiles of this order stay in the cache while the kernel's function runs over them."""


def kernel_matrix(kernel: Kernel, X: Any) -> np.ndarray:
    """Return the symmetric matrix of kernel values between the rows of X.

    Parameters
    ----------
    kernel : Kernel
        The similarity.
    X : array or sparse matrix of shape (n, d)
        Rows.

    Returns
    -------
    K : array of shape (n, n)

    Examples
    --------
    >>> import numpy as np
    >>> from fairpca.kernels import Kernel, kernel_matrix
    >>> kernel_matrix(Kernel("linear"), np.array([[1.0], [2.0]]))
    array([[1., 2.],
           [2., 4.]])
    """
    if callable(kernel.name):
        K = pairwise_kernels(X, metric=kernel.name, n_jobs=kernel.n_jobs, **kernel.parameters)
        return np.asarray(K, dtype=float)
    n = X.shape[0]
    with quiet_overflow():
        left, right = kernel.left(X), kernel.right(X)
    K = np.empty((n, n), dtype=X.dtype)
    blocks = list(row_blocks(n, TILE))

    def fill(i: int) -> None:
        """Fill a row of tiles from the diagonal on, and their mirror images."""
        rows = blocks[i]
        with quiet_overflow():
            for columns in blocks[i:]:
                tile = kernel.combine(left[rows], right[columns])
                if columns == rows:
                    tile = 0.5 * (tile + tile.T)
                else:
                    K[columns, rows] = tile.T
                K[rows, columns] = tile

    each_item(fill, range(len(blocks)))
    return K
