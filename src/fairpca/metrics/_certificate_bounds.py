"""Ways to bound the distance of two distributions over cells from rows, for finite samples."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations

import numpy as np
from scipy.stats import beta

METHODS = ("best", "deviation", "cells", "fare")

SHARE_OF_DEVIATION = 0.9
"""Of the probability of failure, in "best": it is the tighter one nearly always, and loses 2 %."""


@dataclass(frozen=True)
class Bounds:
    """Observed distances of pairs of groups and their upper bounds, both of shape (m, m)."""

    observed: np.ndarray
    bound: np.ndarray


def bound_gaps(
    method: str, counts: np.ndarray, codes: np.ndarray, cells: np.ndarray, failure: float
) -> Bounds:
    """Bound the total variation distances between all pairs of groups at once.

    Parameters
    ----------
    method : {"best", "deviation", "cells", "fare"}
    counts : array of int of shape (m, c)
        Rows of each group in each cell; every group has a row.
    codes, cells : arrays of int of shape (n,)
        Group and cell of each row, in their order.
    failure : float
        Probability with which some bound may be wrong.

    Returns
    -------
    Bounds
    """
    observed = _observed(counts)
    if method == "deviation":
        bound = observed + _margins(counts, failure)
    elif method == "cells":
        bound = _by_cells(counts, failure)
    elif method == "fare":
        bound = _by_halves(counts.shape, codes, cells, failure)
    else:
        bound = np.minimum(
            observed + _margins(counts, SHARE_OF_DEVIATION * failure),
            _by_cells(counts, (1 - SHARE_OF_DEVIATION) * failure),
        )
    return Bounds(observed, np.minimum(bound, 1.0))


def _observed(counts: np.ndarray) -> np.ndarray:
    shares = counts / counts.sum(axis=1, keepdims=True)
    return np.asarray(0.5 * np.abs(shares[:, None, :] - shares[None, :, :]).sum(axis=2))


def _margins(counts: np.ndarray, failure: float) -> np.ndarray:
    """How much a gap on a fixed set of cells may exceed that on the rows, for all pairs."""
    reciprocal = 1.0 / counts.sum(axis=1)
    n_pairs = len(counts) * (len(counts) - 1) / 2
    inner = 0.5 * np.log(n_pairs / failure) * (reciprocal[:, None] + reciprocal)
    return np.asarray(np.sqrt(inner))


def clopper_pearson(
    successes: np.ndarray, trials: np.ndarray, failure: float
) -> tuple[np.ndarray, np.ndarray]:
    """Exact lower and upper bounds on probabilities; either one fails with `failure` at most.

    Examples
    --------
    >>> low, high = clopper_pearson(np.array([0, 5]), np.array([10, 10]), 0.025)
    >>> np.round(low, 3), np.round(high, 3)
    (array([0.   , 0.187]), array([0.308, 0.813]))
    """
    k, n = np.broadcast_arrays(np.asarray(successes, float), np.asarray(trials, float))
    with np.errstate(invalid="ignore"):  # no trials, or none that failed or succeeded
        low = np.where(k > 0, beta.ppf(failure, k, n - k + 1), 0.0)
        high = np.where(k < n, beta.ppf(1.0 - failure, k + 1, n - k), 1.0)
    return low, high


def _by_cells(counts: np.ndarray, failure: float) -> np.ndarray:
    """Bound every cell probability of every group, then the distance.

    With cell j left out, the best set A or its complement, on which the gap is the same with the
    other sign, consists of other cells only; so the distance is at most the larger of the sums of
    positive differences over them. Any j is right; the one that holds most rows saves most.
    """
    m, c = counts.shape
    low, high = clopper_pearson(counts, counts.sum(axis=1, keepdims=True), failure / (2 * m * c))
    bound = np.zeros((m, m))
    for g, h in combinations(range(m), 2):
        sums = []
        for a, b in ((g, h), (h, g)):
            excess = np.maximum(high[a] - low[b], 0.0)
            sums.append(excess.sum() - excess)  # without each cell in turn
        bound[g, h] = bound[h, g] = np.maximum(*sums).min()
    return bound


def _by_halves(
    shape: tuple[int, int], codes: np.ndarray, cells: np.ndarray, failure: float
) -> np.ndarray:
    """FARE: twice the balanced accuracy of the best guess of the group from the cell, minus one."""
    m, c = shape
    bound = np.ones((m, m))
    for g, h in combinations(range(m), 2):
        chosen = np.isin(codes, (g, h))
        is_g, cell = codes[chosen] == g, cells[chosen]
        per_pair = failure / (m * (m - 1) / 2)
        value = 2.0 * _balanced_accuracy(is_g, cell, c, per_pair) - 1.0
        bound[g, h] = bound[h, g] = min(value, 1.0)
    return bound


def _balanced_accuracy(is_g: np.ndarray, cell: np.ndarray, n_cells: int, failure: float) -> float:
    """Bound sum_i P(i) max(P(g | i) / 2 P(g), P(h | i) / 2 P(h)), a third of the failure a step."""
    # Halves that do not depend on the rows, nor on a pattern in their order.
    first, second = np.array_split(np.random.default_rng(0).permutation(len(cell)), 2)
    n = np.bincount(cell[first], minlength=n_cells)
    of_g = np.bincount(cell[first], weights=is_g[first], minlength=n_cells)
    low, high = clopper_pearson(of_g, n, failure / 3 / (2 * n_cells))
    rates = clopper_pearson(of_g.sum(), n.sum(), failure / 3 / 2)
    largest = 0.0
    for rate in rates:  # the maximum is convex in the base rate, so one of its ends is the worst
        if not 0.0 < rate < 1.0 or not len(second):
            return 1.0
        gain = np.maximum(high / (2 * rate), (1 - low) / (2 * (1 - rate)))
        spread = gain.max() - gain.min()
        error = spread * np.sqrt(np.log(2 * 3 / failure) / (2 * len(second)))
        largest = max(largest, float(gain[cell[second]].mean() + error))
    return largest
