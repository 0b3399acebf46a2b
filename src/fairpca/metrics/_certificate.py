"""A bound on the demographic-parity gap of all thresholds on a score, from a sample of rows."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from .._attributes import check_frames
from ..errors import UsageError
from ._inputs import coded_levels, score_places


@dataclass(frozen=True)
class PairGap:
    """The bound for one pair of groups.

    Attributes
    ----------
    pair : tuple of (object, object)
        The two groups.
    bound : float
        Upper bound on the largest gap in the population.
    observed : float
        The largest gap in these rows.
    n_rows : tuple of (int, int)
        Number of rows of each of the two groups.
    """

    pair: tuple[Any, Any]
    bound: float
    observed: float
    n_rows: tuple[int, int]


@dataclass(frozen=True)
class Certificate:
    """Result of `certified_gap`: how far apart selection rates can be in the population.

    Attributes
    ----------
    bound : float
        With probability `confidence`, no threshold on the score has a larger demographic-parity
        gap in the population, between any two groups. 1 certifies nothing.
    observed : float
        The gap of the least fair threshold in these rows.
    n_rows : int
        Number of rows.
    confidence : float
        Probability that all bounds hold together, over the draw of the rows.
    method : {"deviation", "dkw"}
        The inequality that the bounds come from.
    pair : tuple of (object, object)
        The two groups with the largest bound; often those with the fewest rows.
    pairs : tuple of PairGap
        All pairs, each with its `pair`, `bound`, `observed` and the `n_rows` of both groups.

    See Also
    --------
    certified_gap : Returns it.

    Examples
    --------
    >>> import numpy as np
    >>> from fairpca.metrics import certified_gap
    >>> groups = np.repeat(["a", "b", "c"], [500, 500, 50])
    >>> certificate = certified_gap(np.arange(1050) % 10, groups)
    >>> [one.pair for one in certificate.pairs]
    [('a', 'b'), ('a', 'c'), ('b', 'c')]
    >>> certificate.pairs[0].n_rows, certificate.pairs[0].bound < certificate.pairs[1].bound
    ((500, 500), True)
    """

    bound: float
    observed: float
    n_rows: int
    confidence: float
    method: str
    pair: tuple[Any, Any]
    pairs: tuple[PairGap, ...]

    def __str__(self) -> str:
        first, second = self.pair
        return (
            f"With {self.confidence:.0%} confidence, no threshold on this score decides positively "
            f"for {first} and {second}, nor for any other two groups, at rates that differ by more "
            f"than {self.bound:.3f} ({self.observed:.3f} on {self.n_rows} rows at hand)"
        )


def certified_gap(
    scores: ArrayLike,
    sensitive_features: ArrayLike,
    *,
    confidence: float = 0.95,
    method: str = "deviation",
) -> Certificate:
    r"""Bound the demographic-parity gap of all thresholds on a score in the population.

    The bound is for finite samples: no approximation, and no assumption on how rows are
    distributed. It also holds for a threshold chosen on these rows with knowledge of the groups. It
    holds only if

    * the rows are independent draws from the distribution that decisions will be made on;
    * **the score was chosen without these rows** (fit the model on others);
    * decisions accept all rows above (or below) one threshold, the same in all groups, and use
      nothing but the score.

    Parameters
    ----------
    scores : array-like of shape (n_samples,)
        Score of each row, such as a model's or a single component. Scores may be infinite or tied.
    sensitive_features : array-like of shape (n_samples,)
        Group of each row; a float attribute is cut at its median.
    confidence : float in (0, 1), default=0.95
        Probability that the bound holds, over the draw of the rows.
    method : {"deviation", "dkw"}, default="deviation"
        The inequality that the bound comes from; both are in the Notes.

    Returns
    -------
    certificate : Certificate
        The bound, and the largest gap in these rows.

    See Also
    --------
    Certificate : The result.
    distribution_gap : The largest gap in these rows alone.

    Notes
    -----
    User guide: :doc:`/research/certificate`.

    The largest gap between groups g and h is the Kolmogorov distance of their distributions of
    scores, :math:`D = \max_t |F_g(t) - F_h(t)|`. `observed` is the same of the rows.

    "deviation": the worst threshold does not depend on the rows, and on the rows its gap is at most
    the observed distance. So the distance exceeds the observed one by no more than a difference
    of two averages over a fixed set errs, and Hoeffding's inequality with
    :math:`\delta = 1 - \text{confidence}` gives

    .. math:: D \le \widehat{D} + \sqrt{\tfrac12 \log(1/\delta) \, (1/n_g + 1/n_h)}.

    With more than two groups :math:`\delta` is divided over the pairs, so all pairs hold together.

    "dkw": the inequality of Dvoretzky, Kiefer and Wolfowitz with Massart's constant [1]_ for each
    of m groups adds :math:`\sqrt{\tfrac12 \log(2m/\delta)} \, (1/\sqrt{n_g} + 1/\sqrt{n_h})`.
    That is more for up to five groups; in return, the gap at *every* threshold is as close as that
    to the one on the rows. Decisions that rise and fall with the score are not covered: of an
    interval the gap may be twice the bound, of J intervals 2J times.

    References
    ----------
    .. [1] Massart. "The tight constant in the Dvoretzky-Kiefer-Wolfowitz inequality". Annals of
       Probability 18, 1990.

    Examples
    --------
    >>> import numpy as np
    >>> from fairpca.metrics import certified_gap
    >>> rng = np.random.default_rng(0)
    >>> sex = rng.choice(["f", "m"], size=8000)
    >>> score = rng.normal(size=8000)  # has nothing to do with sex
    >>> print(certified_gap(score, sex))
    With 95% confidence, no threshold on this score decides positively for f and m, nor for any
    other two groups, at rates that differ by more than 0.044 (0.017 on 8000 rows at hand)
    """
    if not 0.0 < confidence < 1.0:
        raise UsageError(
            f"confidence={confidence!r} is not a probability strictly between 0 and 1; certainty "
            f"needs infinitely many rows. The default is 0.95."
        )
    if method not in _MARGINS:
        raise UsageError(
            f"method={method!r} is not a way to bound the gap. Use one of {', '.join(_MARGINS)}."
        )
    check_frames(scores=scores, sensitive_features=sensitive_features)
    values, places = score_places(scores, "scores")
    levels, codes = coded_levels(sensitive_features, len(places), "sensitive_features")
    counts = np.zeros((len(levels), len(values)), dtype=int)
    np.add.at(counts, (codes, places), 1)
    sizes = counts.sum(axis=1)
    below = counts.cumsum(axis=1) / sizes[:, None]
    observed = np.array([np.abs(below - one).max(axis=1) for one in below])
    margins = _MARGINS[method](sizes, 1.0 - confidence)
    pairs = tuple(
        PairGap(
            pair=(levels[g], levels[h]),
            bound=float(min(observed[g, h] + margins[g, h], 1.0)),
            observed=float(observed[g, h]),
            n_rows=(int(sizes[g]), int(sizes[h])),
        )
        for g, h in combinations(range(len(levels)), 2)
    )
    worst = max(pairs, key=lambda pair: pair.bound)
    return Certificate(
        bound=worst.bound,
        observed=max(pair.observed for pair in pairs),
        n_rows=len(places),
        confidence=confidence,
        method=method,
        pair=worst.pair,
        pairs=pairs,
    )


def _deviations(sizes: np.ndarray, failure: float) -> np.ndarray:
    """How much a gap at a fixed threshold may exceed that on the rows, for all pairs."""
    n_pairs = len(sizes) * (len(sizes) - 1) / 2
    reciprocal = 1.0 / sizes
    inner = 0.5 * np.log(n_pairs / failure) * (reciprocal[:, None] + reciprocal)
    return np.asarray(np.sqrt(inner))


def _everywhere(sizes: np.ndarray, failure: float) -> np.ndarray:
    """How far gaps at all thresholds may be from those on the rows, for all pairs."""
    errors = np.sqrt(0.5 * np.log(2 * len(sizes) / failure) / sizes)
    return np.asarray(errors[:, None] + errors)


_MARGINS = {"deviation": _deviations, "dkw": _everywhere}
