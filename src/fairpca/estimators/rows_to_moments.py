"""Rows become moments, or a refusal that names what is wrong with the numbers."""

from __future__ import annotations

import numpy as np
from sklearn.utils import check_array

from ..arrays import array_namespace, is_foreign, is_single, is_sparse, machine_epsilon, to_numpy
from ..batches import MappedRows, Rows
from ..moments import GroupMoments, accumulate
from .device_arrays import check_all_finite

UNDERFLOW, UNDERFLOW_SINGLE = 1e-280, 1e-30
"""Sums of squares below this have lost digits to underflow, in double and single precision."""


def finite_moments(rows: Rows, *, with_scatters: bool) -> GroupMoments:
    """Return the moments of the rows; raise if the rows, or their squares, are not finite."""
    moments = accumulate(rows, with_scatters=with_scatters)
    diagonal = to_numpy(moments.scatter.diagonal)
    if rows.chosen is not None:  # rows that do not count must be finite too, as in `transform`
        check_finite(rows)
    if not np.isfinite(diagonal).all() or not np.isfinite(to_numpy(moments.mean)).all():
        check_finite(rows)
        if isinstance(rows, MappedRows):
            raise ValueError(
                "X is finite, but kernel values of its rows, or their squares times the weights, "
                "overflow or are NaN. Divide X or the weights by a constant first, use a smaller "
                "gamma or degree (a whole one), or check the kernel function."
            )
        raise ValueError(
            "X is finite, but its squares, times the weights, overflow. Divide X or the weights "
            "by a constant first."
        )
    smallest = UNDERFLOW_SINGLE if is_single(machine_epsilon(rows.empty)) else UNDERFLOW
    seen_as_they_are = not isinstance(rows, MappedRows)
    if rows.n_rows > 1 and diagonal.max() < smallest and seen_as_they_are and _varies(rows):
        raise ValueError(
            f"The squares of X, times the weights, underflow: the largest sum of squares of a "
            f"feature is {diagonal.max():.0e}. Multiply X or the weights by a constant first."
        )
    return moments


def check_finite(rows: Rows) -> None:
    """Raise if a feature of a row, counted or not, is NaN or infinite."""
    if is_foreign(rows.X):
        check_all_finite(rows.X)
    else:
        check_array(rows.X, accept_sparse=True, input_name="X")


def _varies(rows: Rows) -> bool:
    X = rows.X
    if is_sparse(X):
        return bool(X.nnz)
    return bool(array_namespace(X).any(X[:1, :] != X))
