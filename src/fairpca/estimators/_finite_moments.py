"""Moments of rows whose numbers, and their squares, are finite; errors say what to do."""

from __future__ import annotations

import numpy as np
from sklearn.utils import check_array

from .._moments import GroupMoments, accumulate
from .._numerics import (
    array_namespace,
    is_foreign,
    is_single,
    is_sparse,
    quiet_overflow,
    to_numpy,
)
from .._rows import MappedRows, Rows, check_all_finite
from ..errors import UsageError

UNDERFLOW = 1e-280
"""Sums of squares below this have lost digits to underflow."""

LARGEST, SMALLEST, SMALLEST_SINGLE = 1e75, 1e-75, 1e-18
"""Sizes of features between which their fourth powers (single precision: squares) are numbers."""

LARGEST_WEIGHT, SMALLEST_WEIGHT = 1e100, 1e-100
"""Sums of weights between which products with squares of features are numbers."""


def finite_moments(rows: Rows, *, with_scatters: bool, provisional: bool = False) -> GroupMoments:
    """Return the moments of the rows; raise if the rows, or their squares, are not finite.

    Squares that single precision has no number for are taken in double.
    """
    moments = accumulate(rows, with_scatters=with_scatters, provisional=provisional)
    diagonal, size = _squares_and_sizes(moments)
    if rows.single and is_single(moments.precision):
        known = np.isfinite(diagonal).all() and np.isfinite(size).all()
        if not known or ((size > 0) & (size < SMALLEST_SINGLE)).any():
            moments = accumulate(rows.in_double(), with_scatters=with_scatters)
            diagonal, size = _squares_and_sizes(moments)
    if rows.chosen is not None:  # rows that do not count must be finite too, as in `transform`
        check_finite(rows)
    if moments.weight > LARGEST_WEIGHT:
        raise UsageError(_of_weights(moments.weight, "overflow"))
    if not (np.isfinite(diagonal).all() and size.max() <= LARGEST):
        if isinstance(rows, MappedRows):  # of which X was checked before
            raise UsageError(
                "X is finite, but kernel values of its rows, or their squares times the weights, "
                "overflow or are NaN. Divide X or the weights by a constant first, use a smaller "
                "gamma or degree (a whole one), or check the kernel function."
            )
        check_finite(rows)
        largest = _largest(rows)
        raise UsageError(
            f"X is finite, but its squares, times the weights, overflow, or powers of them would: "
            f"feature {int(largest.argmax())} has the size {largest.max():.0e}. Divide X or the "
            f"weights by a constant first."
        )
    unmapped = not isinstance(rows, MappedRows)
    if rows.n_rows > 1 and diagonal.max() < UNDERFLOW and unmapped and _varies(rows):
        raise UsageError(
            f"The squares of X, times the weights, underflow: the largest sum of squares of a "
            f"feature is {diagonal.max():.0e}. Multiply X or the weights by a constant first."
        )
    return moments


def check_sizes(moments: GroupMoments) -> None:
    """Raise if features, or weights, are so small that their products have lost digits."""
    # Batches are not asked one by one: a row may hold any small number.
    if 0 < moments.weight < SMALLEST_WEIGHT:
        raise UsageError(_of_weights(moments.weight, "underflow"))
    size = _sizes(moments)
    smallest = SMALLEST_SINGLE if is_single(moments.precision) else SMALLEST
    if ((size > 0) & (size < smallest)).any():
        moments.need_all_digits()
    lost = np.flatnonzero((size > 0) & (size < smallest))
    if len(lost):
        raise UsageError(
            f"Squares of X underflow: feature {lost[0]} has the size {size[lost[0]]:.0e}, and "
            f"group differences in it would not be seen. Multiply it by a constant first."
        )


def _squares_and_sizes(moments: GroupMoments) -> tuple[np.ndarray, np.ndarray]:
    with quiet_overflow():
        diagonal, size = to_numpy(moments.scatter.diagonal), _sizes(moments)
        if moments.everyone is not None:
            far = [to_numpy(a) for a in (moments.everyone.mean, moments.everyone.spread)]
            size = np.maximum(size, np.abs(far).max(axis=0))
    return diagonal, size


def _largest(rows: Rows) -> np.ndarray:
    """Return the largest magnitude of each feature."""
    X = rows.materialized().X
    if is_sparse(X):
        return np.asarray(abs(X).max(axis=0).todense()).ravel()
    return to_numpy(array_namespace(X).max(array_namespace(X).abs(X), axis=0))


def _sizes(moments: GroupMoments) -> np.ndarray:
    """Return the larger of the mean's magnitude and the standard deviation of each feature."""
    mean, squares = np.abs(to_numpy(moments.mean)), to_numpy(moments.scatter.diagonal)
    weight = moments.weight if moments.weight > 0 else 1.0
    return np.maximum(mean, np.sqrt(np.maximum(squares, 0.0)) / np.sqrt(weight))


def _of_weights(total: float, what: str) -> str:
    return (
        f"The weights add up to {total:.0e}, and products of such numbers {what}. Only their "
        f"ratios matter: {'divide' if what == 'overflow' else 'multiply'} sample_weight by a "
        f"constant first."
    )


def check_finite(rows: Rows) -> None:
    """Raise if a feature of a row, counted or not, is NaN or infinite."""
    if is_foreign(rows.X):
        check_all_finite(rows.X)
        return
    with quiet_overflow():  # scikit-learn adds up infinities of both signs to find them
        check_array(rows.X, accept_sparse=True, input_name="X")


def _varies(rows: Rows) -> bool:
    X = rows.materialized().X  # rows that do not count may vary as they like
    if is_sparse(X):
        return bool(X.nnz)
    return bool(array_namespace(X).any(X[:1, :] != X))
