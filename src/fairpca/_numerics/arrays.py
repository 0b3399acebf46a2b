"""Which array library is this? The only place that asks.

The core is written against the array API standard, so NumPy, CuPy, torch and array-api-strict
arrays run through the same lines. What the standard cannot say (sparse matrices, writing a
product into an existing buffer, LAPACK's subset eigensolver) is wrapped here once.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, TypeAlias, TypeGuard

import array_api_compat
import numpy as np
import scipy.sparse

Array: TypeAlias = Any
"""An array of any library that follows the array API standard."""

array_namespace = array_api_compat.array_namespace
device = array_api_compat.device


def is_sparse(X: Any) -> bool:
    """Tell whether `X` is a SciPy sparse matrix or array."""
    return bool(scipy.sparse.issparse(X))


def is_numpy(X: Any) -> TypeGuard[np.ndarray]:
    """Tell whether `X` is a NumPy array (memory maps included)."""
    return isinstance(X, np.ndarray)


def is_foreign(X: Any) -> bool:
    """Tell whether `X` is an array of torch, CuPy, ...; Dask's are recipes for arrays, and not."""
    if is_numpy(X) or is_sparse(X) or isinstance(X, np.generic):
        return False
    lazy = array_api_compat.is_dask_array(X) or array_api_compat.is_pydata_sparse_array(X)
    return bool(array_api_compat.is_array_api_obj(X)) and not lazy


def in_host_memory(X: Any) -> bool:
    """Tell whether the numbers of an array lie where NumPy can read them."""
    if is_numpy(X) or is_sparse(X):
        return True
    if array_api_compat.is_torch_array(X):
        return bool(X.device.type == "cpu")
    return "cpu" in str(device(X)).lower()


def like(values: Any, X: Array, dtype: Any = None) -> Array:
    """Return `values` as an array of the library, device and (by default) dtype of `X`.

    Between libraries they pass through the host, so this is for small arrays, not for rows.
    """
    dtype = X.dtype if dtype is None else dtype
    if is_numpy(X):
        return np.asarray(to_numpy(values) if is_foreign(values) else values, dtype=dtype)
    xp = array_namespace(X)
    if is_foreign(values):
        if array_namespace(values) is xp:
            if device(values) != device(X):
                values = array_api_compat.to_device(values, device(X))
            return xp.astype(values, dtype, copy=False)
        values = to_numpy(values)
    if is_numpy(values) and not (values.flags.writeable and min(values.strides, default=0) >= 0):
        values = values.copy()  # torch takes neither read-only memory nor negative strides
    return xp.asarray(values, dtype=dtype, device=device(X))


def placed(A: Array, example: Array) -> Array:
    """Return an array, its type kept, in the library and on the device of `example`."""
    if array_namespace(A) is array_namespace(example) and device(A) == device(example):
        return A
    name = str(A.dtype).rpartition(".")[2]
    return like(A, example, dtype=getattr(array_namespace(example), name))


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
    """Return a small array on the host as NumPy; a view where that is possible."""
    if is_numpy(A):
        return A
    if array_api_compat.is_torch_array(A):
        A = A.detach().cpu()
        if A.dtype.is_floating_point and A.dtype.itemsize < 4:
            A = A.float()  # NumPy has no bfloat16
    elif array_api_compat.is_cupy_array(A):
        A = A.get()
    elif not in_host_memory(A):
        A = A.to_device(array_namespace(A).__array_namespace_info__().default_device())
    return np.asarray(A)


def on_the_host(values: Any) -> Any:
    """Return arrays of other libraries (labels, weights) as NumPy; everything else as it is."""
    return to_numpy(values) if is_foreign(values) else unmasked(values)


def narrowed(values: Any) -> Any:
    """Return integers of a device as int8 where they fit: an eighth of the bytes to send."""
    if not is_foreign(values) or in_host_memory(values):
        return values
    xp = array_namespace(values)
    if not xp.isdtype(values.dtype, "integral") or 0 in values.shape:
        return values
    fits = int(xp.min(values)) >= -128 and int(xp.max(values)) <= 127
    return xp.astype(values, xp.int8) if fits else values


def unmasked(values: Any) -> Any:
    """Return a masked array with NaN or None where it is masked; everything else as it is."""
    if not isinstance(values, np.ma.MaskedArray) or not np.ma.is_masked(values):
        return values
    floats = values.dtype.kind == "f"
    plain = np.array(values, dtype=values.dtype if floats else object)
    plain[np.ma.getmaskarray(values)] = np.nan if floats else None
    return plain


def has_history(X: Any) -> bool:
    """Tell whether X is a tensor that torch differentiates through, here and now."""
    if not array_api_compat.is_torch_array(X) or not X.requires_grad:
        return False
    return bool(sys.modules["torch"].is_grad_enabled())


def without_history(X: Array) -> Array:
    """Return an array that torch does not differentiate through: fits keep no graphs."""
    return X.detach() if array_api_compat.is_torch_array(X) and X.requires_grad else X


def for_graphs(A: Array) -> Array:
    """Return an array that torch can keep for a gradient: none made in inference mode."""
    return A.clone() if array_api_compat.is_torch_array(A) and A.is_inference() else A


@contextmanager
def full_precision(X: Any) -> Iterator[None]:
    """Keep torch from rounding float32 factors to the three digits of TF32: moments need seven."""
    if not array_api_compat.is_torch_array(X) or in_host_memory(X):
        yield
        return
    products = sys.modules["torch"].backends.cuda.matmul
    new = hasattr(products, "fp32_precision")  # since torch 2.9
    name, exact = ("fp32_precision", "ieee") if new else ("allow_tf32", False)
    before = getattr(products, name)
    if before == exact:
        yield
        return
    setattr(products, name, exact)
    try:
        yield
    finally:
        setattr(products, name, before)


def less_product(X: Array, A: Array, B: Array) -> Array:
    """Return ``X - A @ B``; torch makes it without another array of this size."""
    if not array_api_compat.is_torch_array(X):
        return X - A @ B
    if A.shape[1] == 1:  # one pass, where other products begin with a copy
        return X.addr(A[:, 0], B[0, :], alpha=-1)
    return X.addmm(A, B, alpha=-1)


def less_shift(X: Array, A: Array, shift: Array) -> Array:
    """Return ``X @ A - shift``; torch makes it in one pass."""
    if array_api_compat.is_torch_array(X):
        return shift.addmm(X, A, beta=-1)
    return X @ A - shift


def take_rows(X: Any, positions: Array) -> Any:
    """Return some rows of an array or sparse matrix, as a copy."""
    if is_sparse(X) or is_numpy(X):
        return X[positions, :]
    xp = array_namespace(X)
    if is_numpy(positions):
        positions = xp.asarray(positions, device=device(X))
    return xp.take(X, positions, axis=0)


def quiet_overflow() -> np.errstate:
    """Silence floating-point warnings of data that a finiteness check will reject anyway."""
    return np.errstate(over="ignore", invalid="ignore")
