"""Rows in arrays of other libraries, checked where they are as scikit-learn checks NumPy's."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .._numerics import (
    Array,
    array_namespace,
    device,
    in_host_memory,
    is_foreign,
    quiet_overflow,
    to_numpy,
    without_history,
)
from .._rows import row_blocks, rows_per_block
from ..errors import DeviceError, UsageError


def checked_rows(
    X: Array,
    *,
    ensure_all_finite: bool = True,
    ensure_min_samples: int = 1,
    input_name: str = "X",
    **_of_numpy: Any,
) -> Array:
    """Return rows as a matrix of float32 or float64, where they are.

    Parameters
    ----------
    X : array of shape (n, d)
        Integers become float64, shorter floats float32; float32 and float64 are not copied.
    ensure_all_finite, ensure_min_samples, input_name
        As in scikit-learn's `check_array`.
    """
    xp = array_namespace(X)
    _check_layout(X, input_name)
    if X.ndim != 2:
        raise UsageError(
            f"Expected 2D array, got {X.ndim}D array instead: {input_name} has shape "
            f"{tuple(X.shape)}. Reshape your data: one row per sample, one column per feature."
        )
    if xp.isdtype(X.dtype, "complex floating"):
        raise UsageError(f"Complex data not supported: {input_name} has the type {X.dtype}.")
    X = without_history(X)
    if not xp.isdtype(X.dtype, "real floating"):
        X = xp.astype(X, xp.float64)
    elif X.dtype not in (xp.float32, xp.float64):
        X = xp.astype(X, xp.float32)
    for length, least, what in [(0, ensure_min_samples, "sample"), (1, 1, "feature")]:
        if X.shape[length] < least:
            raise UsageError(
                f"Found array with {X.shape[length]} {what}(s) (shape={tuple(X.shape)}) while a "
                f"minimum of {least} is required."
            )
    if ensure_all_finite:
        check_all_finite(X, input_name)
    return X


def _check_layout(X: Array, name: str) -> None:
    layout = str(getattr(X, "layout", "torch.strided"))
    if layout != "torch.strided":
        raise DeviceError(
            f"{name} is a sparse torch tensor ({layout}), which has no products with itself here. "
            f"Pass a SciPy sparse matrix, or {name}.to_dense()."
        )
    if str(device(X)).startswith("mps"):
        raise DeviceError(
            f"{name} is on {device(X)}, which has no float64, and moments are summed in float64. "
            f"Pass {name}.cpu()."
        )


def check_all_finite(X: Array, name: str = "X") -> None:
    """Raise if a number is NaN or infinite; one number crosses to the host."""
    xp = array_namespace(X)
    blocks = [X[rows, :] for rows in row_blocks(X.shape[0], rows_per_block(X))]
    with quiet_overflow():
        # A sum is finite only if all its terms are; so one read of the rows is enough for most.
        if not blocks or bool(xp.isfinite(sum(xp.sum(B) for B in blocks))):
            return
    if any(bool(xp.any(xp.isnan(B))) for B in blocks):
        raise UsageError(
            f"Input {name} contains NaN. Fill in or leave out missing values: fairpca, as most of "
            f"scikit-learn, does not accept them."
        )
    if any(bool(xp.any(xp.isinf(B))) for B in blocks):
        raise UsageError(f"Input {name} contains infinity or a value too large for {X.dtype}.")


def in_numpy(X: Any, name: str) -> Any:
    """Return host arrays of other libraries as NumPy; refuse to fetch rows from a device."""
    if not is_foreign(X):
        return X
    if in_host_memory(X):
        return to_numpy(X)
    raise DeviceError(
        f"X is on the device {device(X)}, but {name} computes with NumPy in host memory, and rows "
        f"are not copied unasked. Pass a NumPy array, such as X.cpu().numpy(); FairPCA takes "
        f"arrays on devices as they are."
    )


def split_positions(X: Array, columns: Sequence[Any]) -> tuple[Array, dict[int, Any]]:
    """Split an array into the features, and the sensitive columns on the host."""
    xp, d = array_namespace(X), X.shape[1]
    unknown = [c for c in columns if not isinstance(c, int) or not -d <= c < d]
    if unknown:
        raise UsageError(
            f"sensitive_columns names {unknown}, but X is an array without names of {d} columns. "
            f"Use positions."
        )
    positions = [int(c) % d for c in columns]
    rest = [j for j in range(d) if j not in set(positions)]
    features = xp.take(X, xp.asarray(rest, device=device(X)), axis=1)
    return features, {j: to_numpy(X[:, j]) for j in positions}
