"""A bound on the unfairness of all classifiers of a row's cell, or of all thresholds on a score."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.stats import beta

from .._attributes import check_frames
from ..errors import UsageError
from ._inputs import coded_levels, present_values, score_places

_METHODS = {"cells": ("best", "deviation", "cells", "fare"), "scores": ("best", "deviation", "dkw")}

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
        With probability `confidence`, no classifier that sees only the cells, or no threshold on
        the scores, has a larger demographic-parity gap, between any two groups, on new rows. 1
        certifies nothing.
    observed : float
        The gap of the least fair classifier, or threshold, on these rows.
    n_cells, n_rows : int
        Cells that exist (or were seen, if their number was not given; a threshold on scores makes
        two), and rows.
    confidence : float
        Probability that the bounds hold, over the draw of the rows.
    method : str
        Where they come from: "best", "deviation", "cells", "fare" or "dkw".
    pair : (object, object)
        The groups that `bound` is about; often those with the fewest rows.
    pairs : tuple of PairGap
        All pairs. The confidence is that of all their bounds together.
    of : {"cells", "scores"}
        What decisions are made from.

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
    of: str = "cells"

    def __str__(self) -> str:
        first, second = self.pair
        cells = f"classifier of these {self.n_cells} cells"
        decider = cells if self.of == "cells" else "threshold on this score"
        return (
            f"With {self.confidence:.0%} confidence, no {decider} decides positively for {first} "
            f"and {second}, nor for any other two groups, at rates that differ by more than "
            f"{self.bound:.3f} ({self.observed:.3f} on {self.n_rows} rows at hand)"
        )


def certified_gap(
    cells: ArrayLike,
    groups: ArrayLike,
    *,
    of: str = "cells",
    confidence: float = 0.95,
    method: str = "best",
    n_cells: int | None = None,
) -> Certificate:
    r"""Bound the demographic-parity gap of all classifiers of a cell, or all thresholds on a score.

    The bound is for finite samples: no approximation, and no assumption on how rows are
    distributed. It holds for randomised classifiers, for those trained by an adversary who knows
    the groups, and for those trained on these very rows. It holds only if

    * the rows are independent draws from the distribution that decisions will be made on;
    * **the cells, or the score, were chosen without these rows** (fit `Cells`, or the model, on
      others);
    * the classifier sees nothing but the cell: not the representation, nor any other column. Of
      scores, it accepts all rows above (or below) one threshold, the same in all groups.

    Parameters
    ----------
    cells : array-like of shape (n,)
        Cell of each row; with ``of="scores"`` its score, such as a model's or a single component.
    groups : array-like of shape (n,)
        Group of each row.
    of : {"cells", "scores"}, default="cells"
        What decisions are made from. "scores" have an order, may be infinite or tied, and are
        bounded for all thresholds together, however many values there are.
    confidence : float in (0, 1), default=0.95
        Probability that the bound holds, over the draw of the rows.
    method : {"best", "deviation", "cells", "fare", "dkw"}, default="best"
        Where the bound comes from; see Notes. "cells" and "fare" are for cells, "dkw" for scores.
    n_cells : int, optional
        How many cells exist, seen or not; they are then numbered from 0. Needed for all methods
        of cells but "deviation", which "best" falls back to.

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

    Of scores, A is a half-line, and TV is the Kolmogorov distance of the groups: the largest gap
    of a threshold. The worst threshold does not depend on the rows either, so the same margin
    holds. "dkw", the inequality of Dvoretzky, Kiefer and Wolfowitz with Massart's constant [2]_
    for each of m groups, adds :math:`\sqrt{\tfrac12 \log(2m/\delta)} \, (1/\sqrt{n_g} +
    1/\sqrt{n_h})`. That is more for up to five groups; in return, the gap at *every* threshold is
    as close as that to the one on the rows. Decisions that rise and fall with the score are not
    covered: of an interval the gap may be twice the bound, of J intervals 2J times.

    References
    ----------
    .. [1] Jovanović, Balunović, Dimitrov, Vechev. "FARE: provably fair representation learning
       with practical certificates". ICML 2023.
    .. [2] Massart. "The tight constant in the Dvoretzky-Kiefer-Wolfowitz inequality". Annals of
       Probability 18, 1990.

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

    A score, for every threshold:

    >>> print(certified_gap(rng.normal(size=8000), sex, of="scores"))
    With 95% confidence, no threshold on this score decides positively for f and m, nor for any
    other two groups, at rates that differ by more than 0.042 (0.014 on 8000 rows at hand)
    """
    if not 0.0 < confidence < 1.0:
        raise UsageError(
            f"confidence={confidence!r} is not a probability strictly between 0 and 1; certainty "
            f"needs infinitely many rows. The default is 0.95."
        )
    if of not in _METHODS:
        raise UsageError(
            f"of={of!r} is not what decisions are made from. Use 'cells' (each has a decision of "
            f"its own) or 'scores' (a threshold decides)."
        )
    if method not in _METHODS[of]:
        raise UsageError(
            f"method={method!r} is not a way to bound the gap of {of}. Use one of "
            f"{', '.join(_METHODS[of])}."
        )
    if method in ("cells", "fare") and n_cells is None:
        raise UsageError(
            f"method={method!r} bounds each cell by itself, also those that no row fell into, so "
            f"it has to know how many there are. Pass n_cells, or use method='deviation'."
        )
    if n_cells is not None and of == "scores":
        raise UsageError(
            f"n_cells={n_cells} was given for scores, but every threshold on them makes two cells. "
            f"Leave out n_cells, or pass of='cells'."
        )
    if n_cells is not None and n_cells < 1:
        raise UsageError(f"n_cells={n_cells} is not a number of cells. Use an integer >= 1.")
    check_frames(**{of: cells, "groups": groups})
    n, *_ = np.shape(cells) or (0,)
    if not n:
        raise UsageError(f"{of} has no rows, and of none nothing is known. Pass one value per row.")
    if of == "scores":
        names_of_cells = ", or of='cells' if these are names of cells"
        values, positions = score_places(cells, "scores", names_of_cells)
        n_known = len(values)
    else:
        positions, n_known = _numbered(present_values(cells, n, "cells"), n_cells)
    levels, codes = coded_levels(groups, n, "groups")
    counts = np.zeros((len(levels), n_known), dtype=int)
    np.add.at(counts, (codes, positions), 1)

    known_method = "deviation" if method == "best" and n_cells is None else method
    observed, bound = _bound_gaps(known_method, of, counts, codes, positions, 1.0 - confidence)
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
        n_cells=2 if of == "scores" else n_known,
        n_rows=n,
        confidence=confidence,
        method=known_method,
        pair=worst.pair,
        pairs=pairs,
        of=of,
    )


def _numbered(cells: np.ndarray, n_cells: int | None) -> tuple[np.ndarray, int]:
    """Return each row's position among the cells, and how many there are."""
    fractions = cells.dtype.kind == "f" and bool(np.any(cells != np.trunc(cells)))
    if n_cells is None:
        numbers = {cell: i for i, cell in enumerate(dict.fromkeys(cells.tolist()))}
        if fractions and 2 * len(numbers) > len(cells):
            raise UsageError(
                f"cells has {len(numbers)} different numbers in {len(cells)} rows, such as "
                f"{cells[0]}: where nearly every row is a cell of its own, a cell tells the "
                f"group, and no bound is of use. Pass of='scores' to bound the gap of all "
                f"thresholds on them, or few cells, such as those of Cells."
            )
        return np.array([numbers[cell] for cell in cells.tolist()]), len(numbers)
    if cells.dtype.kind not in "iuf" or fractions or cells.min() < 0 or cells.max() >= n_cells:
        raise UsageError(
            f"cells has values that are not whole numbers from 0 to {n_cells - 1}, such as "
            f"{cells[0]!r}, although n_cells={n_cells} was given. Number the cells, or leave out "
            f"n_cells."
        )
    return cells.astype(int), n_cells


def _bound_gaps(
    method: str, of: str, counts: np.ndarray, codes: np.ndarray, cells: np.ndarray, failure: float
) -> tuple[np.ndarray, np.ndarray]:
    """Return observed distances of all pairs of groups and bounds, both of shape (m, m)."""
    observed = _distances(counts, of)
    if method == "deviation":
        bound = observed + _margins(counts, failure)
    elif method == "dkw":
        errors = np.sqrt(0.5 * np.log(2 * len(counts) / failure) / counts.sum(axis=1))
        bound = observed + errors[:, None] + errors
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


def _distances(counts: np.ndarray, of: str) -> np.ndarray:
    """Largest gaps of all pairs: total variation of cells, Kolmogorov distance of scores."""
    n, ordered = counts.sum(axis=1, keepdims=True), of == "scores"
    shares = (counts.cumsum(axis=1) if ordered else counts) / n
    gaps = (np.abs(shares - one) for one in shares)
    return np.array([gap.max(axis=1) if ordered else 0.5 * gap.sum(axis=1) for gap in gaps])


def _margins(counts: np.ndarray, failure: float) -> np.ndarray:
    """How much a gap on a fixed set may exceed that on the rows, for all pairs."""
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
