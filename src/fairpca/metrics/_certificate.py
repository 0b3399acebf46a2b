"""A bound on the unfairness of every classifier that sees nothing but the cell of a row."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.stats import beta

from .._attributes import check_frames
from ..errors import UsageError
from ._inputs import coded_levels, present_values

_METHODS = ("best", "deviation", "cells", "fare")

# Of the probability of failure, in "best": it is the tighter one nearly always, and loses 2 %.
_SHARE_OF_DEVIATION = 0.9


@dataclass(frozen=True)
class PairGap:
    """What is known of one pair of groups.

    Parameters
    ----------
    pair : (object, object)
        The two groups.
    bound, observed : float
        Upper bound on the largest gap, and the largest gap on these very rows.
    n_rows : (int, int)
        Rows of either group.

    See Also
    --------
    certified_gap : What makes it.

    Examples
    --------
    >>> import numpy as np
    >>> from fairpca.metrics import certified_gap
    >>> groups = np.repeat(["a", "b", "c"], [500, 500, 50])
    >>> certificate = certified_gap(np.arange(1050) % 2, groups)
    >>> [one.pair for one in certificate.pairs]
    [('a', 'b'), ('a', 'c'), ('b', 'c')]
    >>> certificate.pairs[0].n_rows, certificate.pairs[0].bound < certificate.pairs[1].bound
    ((500, 500), True)
    """

    pair: tuple[Any, Any]
    bound: float
    observed: float
    n_rows: tuple[int, int]


@dataclass(frozen=True)
class Certificate:
    """How far apart the groups' rates of positive decisions can be, whoever decides.

    Parameters
    ----------
    bound : float
        With probability `confidence`, no classifier that sees only the cells has a larger
        demographic-parity gap, between any two groups, on new rows. 1 certifies nothing.
    observed : float
        The gap of the least fair classifier on these rows.
    n_cells, n_rows : int
        Cells that exist (or were seen, if their number was not given), and rows.
    confidence : float
        Probability that the bounds hold, over the draw of the rows.
    method : str
        Where they come from: "best", "deviation", "cells" or "fare".
    pair : (object, object)
        The groups that `bound` is about; often those with the fewest rows.
    pairs : tuple of PairGap
        All pairs. The confidence is that of all their bounds together.

    See Also
    --------
    certified_gap : What makes it.

    Examples
    --------
    >>> import numpy as np
    >>> from fairpca.metrics import certified_gap
    >>> sex = np.repeat(["f", "m"], 4000)
    >>> print(certified_gap(np.arange(8000) % 4, sex))
    With 95% confidence, no classifier of these 4 cells decides positively for f and m, nor for any
    other two groups, at rates that differ by more than 0.027 (0.000 on 8000 rows at hand)
    """

    bound: float
    observed: float
    n_cells: int
    n_rows: int
    confidence: float
    method: str
    pair: tuple[Any, Any]
    pairs: tuple[PairGap, ...]

    def __str__(self) -> str:
        first, second = self.pair
        return (
            f"With {self.confidence:.0%} confidence, no classifier of these {self.n_cells} cells "
            f"decides positively for {first} and {second}, nor for any other two groups, at rates "
            f"that differ by more than {self.bound:.3f} ({self.observed:.3f} on {self.n_rows} "
            f"rows at hand)"
        )


def certified_gap(
    cells: ArrayLike,
    groups: ArrayLike,
    *,
    confidence: float = 0.95,
    method: str = "best",
    n_cells: int | None = None,
) -> Certificate:
    r"""Bound the demographic-parity gap of all classifiers that see only the cell of a row.

    The bound is for finite samples: no approximation, and no assumption on how rows are
    distributed. It holds for randomised classifiers, for those trained by an adversary who knows
    the groups, and for those trained on these very rows. It holds only if

    * the rows are independent draws from the distribution that decisions will be made on;
    * **the cells were chosen without these rows** (fit `Cells` on others);
    * the classifier sees nothing but the cell: not the representation, nor any other column.

    Parameters
    ----------
    cells : array-like of shape (n,)
        Cell of each row.
    groups : array-like of shape (n,)
        Group of each row.
    confidence : float in (0, 1), default=0.95
        Probability that the bound holds, over the draw of the rows.
    method : {"best", "deviation", "cells", "fare"}, default="best"
        Where the bound comes from; see Notes.
    n_cells : int, optional
        How many cells exist, seen or not; they are then numbered from 0. Needed for all methods
        but "deviation", which "best" falls back to.

    Returns
    -------
    Certificate

    See Also
    --------
    Cells : Chooses the cells.
    Certificate : What it returns.

    Notes
    -----
    The largest gap between groups g and h is the total variation distance of their distributions
    over the cells, :math:`\mathrm{TV} = \max_A P_g(A) - P_h(A)`: a classifier accepts the cells
    in A, and randomising or training cannot do better. `observed` is the same of the rows.

    "deviation": the best set A does not depend on the rows, and on the rows its gap is at most
    the observed distance. So the distance exceeds the observed one by no more than a difference
    of two averages over a fixed set errs, and Hoeffding's inequality with
    :math:`\delta = 1 - \text{confidence}` gives

    .. math:: \mathrm{TV} \le \widehat{\mathrm{TV}} +
       \sqrt{\tfrac12 \log(1/\delta) \, (1/n_g + 1/n_h)},

    whatever the number of cells. "cells": Clopper-Pearson intervals of all cell probabilities in
    all groups, better where one cell holds almost all rows. "fare": the construction of [1]_:
    base rates and cells of one half of the rows by Clopper-Pearson, the sum over the other half by
    Hoeffding. "best": the smaller of "deviation" with 90 % of :math:`\delta` and "cells" with the
    rest. Probabilities of failure are divided over pairs of groups or over intervals, whichever
    the method needs, so all pairs hold together.

    References
    ----------
    .. [1] Jovanović, Balunović, Dimitrov, Vechev. "FARE: provably fair representation learning
       with practical certificates". ICML 2023.

    Examples
    --------
    >>> import numpy as np
    >>> from fairpca.metrics import certified_gap
    >>> rng = np.random.default_rng(0)
    >>> sex = rng.choice(["f", "m"], size=8000)
    >>> cell = rng.integers(0, 4, size=8000)  # the cell has nothing to do with sex
    >>> certificate = certified_gap(cell, sex, n_cells=4)
    >>> certificate.observed < certificate.bound < 0.05
    True
    """
    if not 0.0 < confidence < 1.0:
        raise UsageError(
            f"confidence={confidence!r} is not a probability strictly between 0 and 1; certainty "
            f"needs infinitely many rows. The default is 0.95."
        )
    if method not in _METHODS:
        raise UsageError(
            f"method={method!r} is not a way to bound the gap. Use one of {', '.join(_METHODS)}."
        )
    if method in ("cells", "fare") and n_cells is None:
        raise UsageError(
            f"method={method!r} bounds each cell by itself, also those that no row fell into, so "
            f"it has to know how many there are. Pass n_cells, or use method='deviation'."
        )
    if n_cells is not None and n_cells < 1:
        raise UsageError(f"n_cells={n_cells} is not a number of cells. Use an integer >= 1.")
    check_frames(cells=cells, groups=groups)
    n = np.shape(cells)[0]
    cell_values = present_values(cells, n, "cells")
    levels, codes = coded_levels(groups, n, "groups")
    if n_cells is None:
        numbers = {cell: i for i, cell in enumerate(dict.fromkeys(cell_values.tolist()))}
        positions = np.array([numbers[cell] for cell in cell_values.tolist()])
        n_known = len(numbers)
    else:
        positions, n_known = _numbered(cell_values, n_cells), n_cells
    counts = np.zeros((len(levels), n_known), dtype=int)
    np.add.at(counts, (codes, positions), 1)

    known_method = "deviation" if method == "best" and n_cells is None else method
    observed, bound = _bound_gaps(known_method, counts, codes, positions, 1.0 - confidence)
    pairs = tuple(
        PairGap(
            pair=(levels[g], levels[h]),
            bound=float(max(bound[g, h], observed[g, h])),
            observed=float(observed[g, h]),
            n_rows=(int(counts[g].sum()), int(counts[h].sum())),
        )
        for g, h in combinations(range(len(levels)), 2)
    )
    worst = max(pairs, key=lambda pair: pair.bound)
    return Certificate(
        bound=worst.bound,
        observed=max(pair.observed for pair in pairs),
        n_cells=n_known,
        n_rows=n,
        confidence=confidence,
        method=known_method,
        pair=worst.pair,
        pairs=pairs,
    )


def _numbered(cells: np.ndarray, n_cells: int) -> np.ndarray:
    whole = cells.dtype.kind in "iu" or (cells.dtype.kind == "f" and np.all(cells == cells // 1))
    if not whole or cells.min() < 0 or cells.max() >= n_cells:
        raise UsageError(
            f"cells has values that are not whole numbers from 0 to {n_cells - 1}, such as "
            f"{cells[0]!r}, although n_cells={n_cells} was given. Number the cells, or leave out "
            f"n_cells."
        )
    return cells.astype(int)


def _bound_gaps(
    method: str, counts: np.ndarray, codes: np.ndarray, cells: np.ndarray, failure: float
) -> tuple[np.ndarray, np.ndarray]:
    """Return observed distances of all pairs of groups and bounds, both of shape (m, m)."""
    observed = _observed(counts)
    if method == "deviation":
        bound = observed + _margins(counts, failure)
    elif method == "cells":
        bound = _by_cells(counts, failure)
    elif method == "fare":
        bound = _by_halves(counts.shape, codes, cells, failure)
    else:
        bound = np.minimum(
            observed + _margins(counts, _SHARE_OF_DEVIATION * failure),
            _by_cells(counts, (1 - _SHARE_OF_DEVIATION) * failure),
        )
    return observed, np.minimum(bound, 1.0)


def _observed(counts: np.ndarray) -> np.ndarray:
    shares = counts / counts.sum(axis=1, keepdims=True)
    return np.asarray(0.5 * np.abs(shares[:, None, :] - shares[None, :, :]).sum(axis=2))


def _margins(counts: np.ndarray, failure: float) -> np.ndarray:
    """How much a gap on a fixed set of cells may exceed that on the rows, for all pairs."""
    reciprocal = 1.0 / counts.sum(axis=1)
    n_pairs = len(counts) * (len(counts) - 1) / 2
    inner = 0.5 * np.log(n_pairs / failure) * (reciprocal[:, None] + reciprocal)
    return np.asarray(np.sqrt(inner))


def _clopper_pearson(
    successes: np.ndarray, trials: np.ndarray, failure: float
) -> tuple[np.ndarray, np.ndarray]:
    """Exact lower and upper bounds on probabilities; either one fails with `failure` at most."""
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
    low, high = _clopper_pearson(counts, counts.sum(axis=1, keepdims=True), failure / (2 * m * c))
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
    low, high = _clopper_pearson(of_g, n, failure / 3 / (2 * n_cells))
    rates = _clopper_pearson(of_g.sum(), n.sum(), failure / 3 / 2)
    largest = 0.0
    for rate in rates:  # the maximum is convex in the base rate, so one of its ends is the worst
        if not 0.0 < rate < 1.0 or not len(second):
            return 1.0
        gain = np.maximum(high / (2 * rate), (1 - low) / (2 * (1 - rate)))
        spread = gain.max() - gain.min()
        error = spread * np.sqrt(np.log(2 * 3 / failure) / (2 * len(second)))
        largest = max(largest, float(gain[cell[second]].mean() + error))
    return largest
