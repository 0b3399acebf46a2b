"""Which array library is this? The only place that asks.

The core is written against the array API standard, so NumPy, CuPy, torch and array-api-strict
arrays run through the same lines. What the standard cannot say (sparse matrices, writing a
product into an existing buffer, LAPACK's subset eigensolver) is wrapped here once.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import array_api_compat
import numpy as np
import scipy.sparse

Array: TypeAlias = Any
"""An array of any library that follows the array API standard."""

array_namespace = array_api_compat.array_namespace
device = array_api_compat.device


def is_sparse(X: Any) -> bool:
    """Tell whether `X` is a SciPy sparse matrix or array."""
    return scipy.sparse.issparse(X)


def is_numpy(X: Any) -> bool:
    """Tell whether `X` is a NumPy array (memory maps included)."""
    return isinstance(X, np.ndarray)


def like(values: Any, X: Array, dtype: Any = None) -> Array:
    """Return `values` as an array of the library, device and (by default) dtype of `X`."""
    xp = array_namespace(X)
    return xp.asarray(values, dtype=X.dtype if dtype is None else dtype, device=device(X))


def float64(A: Array) -> Array:
    """Return `A` in float64, without a copy where it is that already."""
    return array_namespace(A).astype(A, array_namespace(A).float64, copy=False)


def machine_epsilon(X: Any) -> float:
    """Return the rounding unit of the numbers in `X`."""
    if is_sparse(X):
        return float(np.finfo(X.dtype).eps)
    return float(array_namespace(X).finfo(X.dtype).eps)


def is_single(precision: float) -> bool:
    """Tell whether a rounding unit belongs to single precision (or less)."""
    return precision > 1e-10


def to_numpy(A: Array) -> np.ndarray:
    """Return a small array on the host as NumPy."""
    if array_api_compat.is_torch_array(A) or array_api_compat.is_cupy_array(A):
        A = array_api_compat.to_device(A, "cpu")
    return np.asarray(A)


def take_rows(X: Any, positions: np.ndarray) -> Any:
    """Return some rows of an array or sparse matrix, as a copy."""
    if is_sparse(X) or is_numpy(X):
        return X[positions, :]
    xp = array_namespace(X)
    return xp.take(X, xp.asarray(positions, device=device(X)), axis=0)


class CrossProduct:
    """Sum of ``A.T @ B`` over blocks of rows, in float64, reusing one buffer.

    The products themselves run in the precision of the blocks: short float32 blocks summed in
    float64 are as fast as float32 and nearly as good as float64. For ``A is B`` NumPy calls the
    symmetric rank-k update, half the work of a general product.
    """

    def __init__(self, shape: tuple[int, int], like_block: Array) -> None:
        xp = array_namespace(like_block)
        self.total = xp.zeros(shape, dtype=xp.float64, device=device(like_block))
        self._buffer = np.empty(shape, like_block.dtype) if is_numpy(like_block) else None

    def add(self, A: Array, B: Array) -> None:
        """Add ``A.T @ B`` to the total."""
        if self._buffer is None:
            self.total = self.total + float64(A.T @ B)
        else:
            np.matmul(A.T, B, out=self._buffer)
            self.total += self._buffer

    def merge(self, other: CrossProduct) -> None:
        """Add the total of other blocks."""
        self.total = self.total + other.total


def quiet_overflow() -> np.errstate:
    """Silence floating-point warnings of data that a finiteness check will refuse anyway."""
    return np.errstate(over="ignore", invalid="ignore")
