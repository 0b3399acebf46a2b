"""Kernels as a product of rows followed by a function of its entries.

Rows are prepared once, so that a block of kernel values costs one matrix product and one or two
passes over numbers that are still in the cache.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import scipy.sparse

from .._files import is_array, is_number, record
from .._numerics import each_item, is_sparse, limited_threads, quiet_overflow
from .._rows import row_blocks
from ..errors import IndefiniteKernelWarning, warn_user

KERNELS = ("rbf", "laplacian", "poly", "sigmoid", "cosine", "linear")

PRECOMPUTED = "precomputed"

NEGATIVE = 1e-5
"""Negative eigenvalues up to this share of the largest are rounding, as in scikit-learn."""

TILE = 256
"""Tiles of this order stay in the cache while the kernel's function runs over them."""

PART = 2**22
"""A thread should have so many kernel values: fewer take less time than waking it may."""


@record()
@dataclass(frozen=True)
class Kernel:
    """A similarity of rows: one of `KERNELS`, as in scikit-learn, or a function of two rows.

    The rbf kernel measures rows from its `centre`. Values do not depend on it, but digits do: with
    rows near 1e6, squared distances from products about zero are noise. `parameters` are keyword
    arguments of a function, `n_jobs` the processes or threads that evaluate it.
    """

    name: str | Callable[..., float]
    gamma: float = 1.0
    degree: float = 3
    coef0: float = 1.0
    centre: np.ndarray | None = None
    parameters: Mapping[str, Any] = field(default_factory=dict)
    n_jobs: int | None = None

    def _fits_together(self) -> bool:
        numbers = all(map(is_number, (self.gamma, self.degree, self.coef0))) and self.gamma > 0
        centred = self.centre is None or is_array(self.centre, None)
        jobs = self.n_jobs is None or (type(self.n_jobs) is int and self.n_jobs != 0)
        return self.name in KERNELS and numbers and centred and self.parameters == {} and jobs

    def __call__(self, X: Any, Y: Any) -> np.ndarray:
        """Return the kernel of each row of X with each row of Y."""
        return self.combine(self.prepared(X, first=True), self.prepared(Y, first=False))

    def prepared(self, X: Any, *, first: bool) -> Any:
        """Prepare rows for the first or the second place of `combine`."""
        if self.name == "rbf":
            # 2 gamma xy - gamma xx - gamma yy as one product of longer rows
            X = self._measured(X)
            squares, ones = -self.gamma * _squared_lengths(X), np.ones(X.shape[0], X.dtype)
            return _with_columns(
                X * X.dtype.type(np.sqrt(2.0 * self.gamma)),
                *((squares, ones) if first else (ones, squares)),
            )
        if self.name in ("poly", "sigmoid"):
            constant = np.full(X.shape[0], self.coef0 if first else 1.0, X.dtype)
            return _with_columns(X * X.dtype.type(self.gamma) if first else X, constant)
        if self.name == "cosine":
            length = np.sqrt(_squared_lengths(X))
            unit = np.where(length > 0, length, 1.0).astype(X.dtype)
            return X.multiply(1.0 / unit[:, None]).tocsr() if is_sparse(X) else X / unit[:, None]
        if self.name == "laplacian" and is_sparse(X):
            return _with_short_indices(X)
        return X

    def _measured(self, X: Any) -> Any:
        """Return rows measured from the centre; sparse ones stay sparse where that is zero.

        It is for kernels that were made for sparse rows. Others measure sparse rows, too, from
        where all others are measured from.
        """
        if self.centre is None or (is_sparse(X) and not self.centre.any()):
            return X
        return (X.toarray() if is_sparse(X) else X) - self.centre.astype(X.dtype)

    def combine(self, left: Any, right: Any) -> np.ndarray:
        """Return the kernel of rows that were prepared."""
        if callable(self.name):
            return _by_function(self, left, right)
        if self.name == "laplacian":
            from sklearn.metrics.pairwise import manhattan_distances  # loads all metrics

            distances: np.ndarray = manhattan_distances(left, right)
            distances *= -self.gamma
            np.exp(distances, out=distances)
            return distances.astype(left.dtype, copy=False)
        product = left @ right.T
        G: np.ndarray = product.toarray() if is_sparse(product) else product
        if self.name == "rbf":
            np.exp(np.minimum(G, 0.0, out=G), out=G)
        elif self.name == "sigmoid":
            np.tanh(G, out=G)
        elif self.name == "poly":
            return _power(G, self.degree)
        return G

    def digits_lost(self, X: Any) -> float:
        """Return by how much rounding of squared distances is larger than that of the values."""
        if self.name != "rbf" or X.shape[0] == 0:
            return 1.0
        return 1.0 + self.gamma * float(_squared_lengths(self._measured(X)).max())

    @property
    def gamma_in_use(self) -> float | None:
        """The kernel's gamma, None where it has none."""
        return self.gamma if self.name in ("rbf", "laplacian", "poly", "sigmoid") else None

    @property
    def is_positive(self) -> bool:
        """Whether the kernel is positive semi-definite by its nature."""
        if self.name == "poly":
            return float(self.degree).is_integer() and self.coef0 >= 0
        return self.name in KERNELS and self.name != "sigmoid"


def _power(G: np.ndarray, degree: float) -> np.ndarray:
    """Return powers in place; whole ones by repeated squaring, many times faster than pow."""
    if not float(degree).is_integer() or not 1 <= degree <= 64:
        np.power(G, degree, out=G)
        return G
    result, square, left = None, G, int(degree)
    while True:
        if left % 2:
            result = square.copy() if result is None else np.multiply(result, square, out=result)
        left //= 2
        if not left:
            assert result is not None
            return result
        square = np.multiply(square, square, out=square)


def _with_short_indices(X: Any) -> Any:
    """Return sparse rows in the only form that scikit-learn's sparse distances take."""
    indices, indptr = X.indices.astype(np.int32), X.indptr.astype(np.int32)
    return scipy.sparse.csr_matrix((X.data, indices, indptr), shape=X.shape)


def _squared_lengths(X: Any) -> np.ndarray:
    if is_sparse(X):
        return np.asarray(X.multiply(X).sum(axis=1)).ravel()
    return np.einsum("ij,ij->i", X, X)


def _with_columns(X: Any, *columns: np.ndarray) -> Any:
    if is_sparse(X):
        extra = [scipy.sparse.csr_array(c[:, None]) for c in columns]
        return scipy.sparse.hstack([X, *extra], format="csr", dtype=X.dtype)
    return np.column_stack([X, *columns])


def _by_function(kernel: Kernel, *rows: Any) -> Any:
    from sklearn.metrics.pairwise import pairwise_kernels  # loads all metrics, which few fits need

    return pairwise_kernels(*rows, metric=kernel.name, n_jobs=kernel.n_jobs, **kernel.parameters)


def kernel_matrix(kernel: Kernel, X: Any) -> np.ndarray:
    """Return the symmetric matrix of kernel values between the rows of X."""
    if callable(kernel.name):
        return np.asarray(_by_function(kernel, X), dtype=float)
    n = X.shape[0]
    with quiet_overflow():
        left, right = kernel.prepared(X, first=True), kernel.prepared(X, first=False)
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

    with limited_threads(1 if K.size < 2 * PART else None):
        each_item(fill, range(len(blocks)))
    return K


def warn_of_negative_directions(smallest: float, largest: float) -> None:
    """Warn with the size of a kernel's negative part: an eigenvalue below zero, and the largest."""
    warn_user(
        f"The kernel is not positive semi-definite: it has an eigenvalue of {smallest:.3g}, "
        f"{-smallest / largest:.2g} times the largest in size. Such directions have no variance "
        f"and were left out, as in scikit-learn's KernelPCA; the groups have the same mean in the "
        f"others.",
        IndefiniteKernelWarning,
    )
