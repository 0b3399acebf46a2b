"""Few rows far from all others, which decide what means are: pointed out, never left out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .._moments import FarValue, GroupMoments
from .._numerics import (
    FEWEST_ROWS_TO_BE_FAR,
    Array,
    array_namespace,
    device,
    far_from_the_others,
    float64,
    in_host_memory,
    is_sparse,
    quiet_overflow,
    take_rows,
    to_numpy,
)
from .._rows import MappedRows, Rows
from ..errors import OutlierWarning, warn_user

PILOT_ROWS, FEWEST_IN_PILOT, PILOT_NUMBERS = 256, 100, 2**20
"""Rows, spread over the data, whose quartiles tell which columns need a look: few of wide ones."""

SUSPECT = 1.5
"""Columns that spread by more quartile ranges than this are looked at; a normal one by 0.74."""

MOST_COLUMNS = 16
"""Of more columns that need it, those that need it most are looked at."""

MOST_SHOWN = 3


def far_values(rows: Rows, moments: GroupMoments | None = None) -> tuple[FarValue, ...]:
    """Return the columns in which few rows hold nearly all of the scatter, the worst first.

    The deviations of all rows are known from `moments`, quartiles from some of the rows; only where
    the one is out of proportion to the other is a column looked at as a whole. Rows stay on their
    device, which only vectors of features leave.
    """
    n = rows.n_rows
    if n < FEWEST_ROWS_TO_BE_FAR or isinstance(rows, MappedRows):
        return ()
    d = rows.X.shape[1]
    size = min(n, PILOT_ROWS, max(FEWEST_IN_PILOT, PILOT_NUMBERS // max(d, 1)))
    if is_sparse(rows.X) and size * d > 4 * PILOT_NUMBERS:
        return ()
    with quiet_overflow():
        pilot = _some(rows, max(1, n // size))
        if moments is None:
            mean, variance = _mean_and_variance(rows)
        else:
            mean = to_numpy(moments.mean)
            variance = to_numpy(moments.scatter.diagonal) / moments.weight
        doubts = _doubts(pilot, mean, variance, n)
        worst = np.argsort(-doubts, kind="stable")[:MOST_COLUMNS]
        found = [_looked_at(rows, int(j)) for j in worst if doubts[j] > 1.0]
    return tuple(each for each in found if each is not None)


def warn_of_far_values(found: Sequence[FarValue], names: Sequence[Any] | None) -> None:
    """Warn of columns whose mean and variance are those of few rows."""
    if not found:
        return
    told = "; ".join(each.told(_name(each.column, names)) for each in found[:MOST_SHOWN])
    more = f"; and {len(found) - MOST_SHOWN} more columns" if len(found) > MOST_SHOWN else ""
    warn_user(
        f"Few values far from all others hold nearly all of the scatter: {told}{more}. Group means "
        f"follow them, so the groups of all other rows may still differ. If they stand for missing "
        f"values or totals, make them missing or leave these rows out; else clip them, or use "
        f"ranks (QuantileTransformer of scikit-learn, fit_table(scale='rank')).",
        OutlierWarning,
    )


def _name(column: int, names: Sequence[Any] | None) -> str:
    return f"column {column}" if names is None else f"'{names[column]}'"


def _some(rows: Rows, step: int) -> Array:
    """Return every so manieth row, one column per row of the result: (d, size)."""
    some = rows.block(slice(0, rows.n_rows, step))
    if not in_host_memory(some):
        return some.T
    some = some.toarray() if is_sparse(some) else to_numpy(some)
    return np.ascontiguousarray(some.T)


def _mean_and_variance(rows: Rows) -> tuple[np.ndarray, np.ndarray]:
    X = rows.X if rows.chosen is None else rows.take(np.arange(rows.n_rows))
    if is_sparse(X):
        mean = np.asarray(X.mean(axis=0)).ravel()
        return mean, np.asarray(X.multiply(X).mean(axis=0)).ravel() - mean**2
    X = to_numpy(X)
    return X.mean(axis=0, dtype=float), X.var(axis=0, dtype=float)


def _doubts(pilot: Array, mean: np.ndarray, variance: np.ndarray, n: int) -> np.ndarray:
    """Return by how much more columns vary than what was seen of them allows: above 1, look."""
    size = int(pilot.shape[1])
    middle, unit, n_others = (to_numpy(each).astype(float) for each in _seen_of(pilot))
    # Of the share that is not at the median, what it may be at most.
    share = n_others / size
    share = np.minimum(1.0, share + 3.0 * np.sqrt(share / size) + 9.0 / size)
    # Where all that were seen are alike: so many others, if these are alike, too.
    gap = mean - middle
    with np.errstate(divide="ignore", invalid="ignore"):
        doubts = variance / (SUSPECT**2 * share * unit**2)
        rows = n * gap**2 / (gap**2 + variance)
        doubts = np.where(n_others > 0, doubts, FEWEST_ROWS_TO_BE_FAR / rows)
    return np.where((variance > 0) & ~np.isnan(doubts), doubts, 0.0)


def _seen_of(pilot: Array) -> tuple[Array, Array, Array]:
    """Return the medians of columns, units to measure distances by, and how many are elsewhere."""
    xp, size = array_namespace(pilot), int(pilot.shape[1])
    pilot = xp.sort(pilot, axis=1)
    low, middle, high = (pilot[:, i] for i in (size // 4, size // 2, (3 * size) // 4))
    distance = xp.sort(xp.abs(pilot - middle[:, None]), axis=1)
    n_others = xp.sum(xp.astype(distance > 0, xp.int64), axis=1)
    # The upper quartile of the n_others, which are sorted to the end.
    there = xp.arange(size, device=device(pilot)) == (size - 1 - n_others // 4)[:, None]
    of_others = xp.max(xp.where(there, distance, xp.zeros_like(distance)), axis=1)
    return middle, xp.maximum(high - low, of_others), n_others


def _looked_at(rows: Rows, j: int) -> FarValue | None:
    """Return what is far in a column, if it holds nearly all of the scatter about the median."""
    X = rows.X
    column = X[:, [j]].toarray() if is_sparse(X) else X[:, j : j + 1]
    column = to_numpy(column) if in_host_memory(column) else column
    column = float64(column if rows.chosen is None else take_rows(column, rows.chosen))[:, 0]
    found = far_from_the_others(column, rows.weight)
    if found is None:
        return None
    row, n_far, share, distance = found
    place = row if rows.chosen is None else int(rows.chosen[row])
    return FarValue(
        column=j,
        row=place,
        value=float(column[row]),
        n_rows=n_far,
        share=share,
        distance=distance,
    )
