"""AUCs of probes on rows they were not fitted to: how large, how certain, and what chance gives."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.stats import norm, t
from sklearn.base import clone
from sklearn.model_selection import StratifiedKFold
from sklearn.utils import check_random_state

from ..errors import UsageError
from ._inputs import row_weights, shuffled
from ._probes import Probe, as_classifier, few_threads, fit_probe, level_scores
from ._strata import Strata

_BLOCK_ENTRIES = 2**22
_FOLDS_MEET_TWICE = np.sqrt(2)  # so much more than of independent folds AUCs vary; see `leakage`
_ROUNDING = 1e-12  # by so much equal means may differ
_CLEARLY_ABOVE_CHANCE = 3.0  # so many deviations above 0.5 the probes of the folds begin to agree


@dataclass(frozen=True)
class AucDraws:
    """AUCs of a probe on held-out folds, their standard error, and draws from chance.

    Parameters
    ----------
    fold_aucs : tuple of float
        AUC on each held-out fold.
    standard_error : float
        Of their mean, about the mean AUC that the fitted probes have on new rows.
    chance_draws : array of shape (p,)
        Means over the folds of the AUCs of a probe that knows nothing.
    n_rows : int
        Number of rows scored, each once.
    smallest_level : float
        Number of those of the rarest level. If they have weights, of as many rows of equal weight
        as their mean is as certain: the square of the weights' sum over the sum of their squares.
    """

    fold_aucs: tuple[float, ...]
    standard_error: float
    chance_draws: np.ndarray
    n_rows: int
    smallest_level: float

    @property
    def auc(self) -> float:
        """Mean over the folds."""
        return float(np.mean(self.fold_aucs))

    def interval(self, confidence: float = 0.95) -> tuple[float, float]:
        """Return where the AUC on new rows lies, with this confidence; within [0, 1].

        Wilson's interval of a share seen in as many tosses as have this standard error, and in no
        more than there are rows, with Student's quantile, since the error is known as well as the
        rows of the rarest level tell. An AUC of exactly 1 (or 0) has no spread to estimate an error
        from; it counts as seen in `smallest_level` tosses, since no distribution of scores makes
        an AUC more variable than that.

        Parameters
        ----------
        confidence : float in (0, 1), default=0.95
            How often such an interval holds the AUC.

        Returns
        -------
        low, high : float
            The ends of the interval.
        """
        auc, se = self.auc, self.standard_error
        spread = auc * (1.0 - auc)
        quantile = 0.5 + confidence / 2
        z = float(t.ppf(quantile, max(1, self.smallest_level - 1)))
        if spread <= 0:
            tosses, z = float(self.smallest_level), float(norm.ppf(quantile))
        elif se <= 0:
            return auc, auc  # the probe says the same of all rows
        else:
            tosses = min(spread / se**2, float(self.n_rows))
        shrunk = 1.0 + z**2 / tosses
        centre = (auc + z**2 / (2 * tosses)) / shrunk
        half = z / shrunk * float(np.sqrt(spread / tosses + z**2 / (4 * tosses**2)))
        return max(0.0, centre - half), min(1.0, centre + half)

    @property
    def chance_interval(self) -> tuple[float, float]:
        """Central 90 % of the draws from chance: above it, the p-value is below 5 %."""
        reach = [chance_limit(side * (self.chance_draws - 0.5), 0.05) for side in (-1.0, 1.0)]
        return max(0.0, 0.5 - reach[0]), min(1.0, 0.5 + reach[1])

    @property
    def p_value(self) -> float:
        """How often chance does as well or better; at least 1 over the number of draws plus 1."""
        return chance_p_value(self.chance_draws, self.auc)


def chance_p_value(draws: np.ndarray, value: float) -> float:
    """Return how often draws from chance are as large as a value, which counts as one of them."""
    as_large = np.count_nonzero(draws >= value - _ROUNDING)
    return float((1 + as_large) / (1 + len(draws)))


def chance_limit(draws: np.ndarray, level: float) -> float:
    """Return what a value must exceed to have a p-value below `level`; infinite of few draws."""
    allowed = int(np.ceil(level * (1 + len(draws)))) - 2  # so many draws may be as large
    return float(np.sort(draws)[::-1][allowed]) if allowed >= 0 else float("inf")


def cross_fitted_aucs(
    T: np.ndarray,
    codes: np.ndarray,
    probe: Probe,
    cv: int,
    n_permutations: int,
    rng: int | np.random.RandomState | np.random.Generator | None = None,
    *,
    sample_weight: ArrayLike | None = None,
) -> AucDraws:
    """Fit a probe to all folds but one and score that one, for each fold.

    `leakage` without the checks of its arguments, for callers that have coded the rows already:
    `codes` are levels 0, 1, ..., each with at least `cv` rows (of positive weight). The notes of
    `leakage` say how errors are computed. The same `rng` gives the same folds for every
    representation and probe.
    """
    if isinstance(rng, np.random.Generator):
        rng = np.random.RandomState(rng.integers(2**31 - 1))
    weight = row_weights(sample_weight, len(T))
    weight = np.ones(len(T)) if weight is None else weight
    if not weight.all():
        rows = weight > 0
        return cross_fitted_aucs(
            T[rows], codes[rows], probe, cv, n_permutations, rng, sample_weight=weight[rows]
        )
    random = check_random_state(rng)
    classifier = as_classifier(probe, int(codes.max()) + 1)[1]
    folds = list(StratifiedKFold(cv, shuffle=True, random_state=random).split(T, codes))
    permuting = np.random.default_rng(random.randint(2**31 - 1))
    scored, by_level, chance = [], [], np.zeros(n_permutations)
    with few_threads(len(T)):
        for train, test in folds:
            model = fit_probe(clone(classifier), T[train], codes[train], weight[train])
            scores, labels, w = level_scores(model, T[test]), codes[test], weight[test]
            placed, inside = placements(scores, labels, w), _sides(scores, labels) * w[:, None]
            scored.append((placed, labels, w))
            by_level.append((placed * inside).sum(axis=0) / inside.sum(axis=0))
            chance += _permuted_macro_auc(scores, labels, n_permutations, permuting, w) / cv

    level_aucs = np.array(by_level)
    sampling, sizes = _variance(scored, level_aucs.mean(axis=0))
    auc, rarest = float(level_aucs.mean()), float(sizes.min())
    unclear = _CLEARLY_ABOVE_CHANCE**2 * sampling / (auc - 0.5) ** 2 if auc != 0.5 else 1.0
    variance = sampling * (1.0 + min(1.0, unclear))
    if variance > 0:
        share = (rarest * auc + 0.5) / (rarest + 1)
        variance = (rarest * variance + share * (1.0 - share) / rarest) / (rarest + 1)
    return AucDraws(
        fold_aucs=tuple(level_aucs.mean(axis=1).tolist()),
        standard_error=float(np.sqrt(variance)),
        chance_draws=0.5 + _FOLDS_MEET_TWICE * (chance - 0.5),
        n_rows=len(T),
        smallest_level=rarest,
    )


def aucs_within_strata(
    T: np.ndarray,
    codes: np.ndarray,
    strata: Strata,
    probe: Probe,
    cv: int,
    n_permutations: int,
    rng: int | np.random.RandomState | None = None,
    *,
    sample_weight: np.ndarray | None = None,
) -> tuple[AucDraws, int]:
    """Fit and score a probe among the rows of each stratum: the mean AUC, and of how many strata.

    Columns are what a regression on numeric factors leaves of them there, so that nobody reads on
    where in a band a row is. Levels of fewer than `cv` rows in a stratum are left out there. A
    stratum counts by what its AUC is known from: one over the sum of 1 / n1 + 1 / n2 of its levels
    and their rests.
    """
    weight = np.ones(len(T)) if sample_weight is None else sample_weight
    random, m = check_random_state(rng), int(codes.max()) + 1
    cells = strata.codes[weight > 0] * m + codes[weight > 0]
    enough = np.bincount(cells, minlength=len(strata.level) * m).reshape(-1, m) >= cv
    place = strata.joined(enough.sum(axis=1) >= 2)[strata.codes]
    found, counts = list[AucDraws](), list[float]()
    for stratum in np.unique(place):
        inside = (place == stratum) & (weight > 0)
        kept = np.bincount(codes[inside], minlength=m) >= cv
        rows = np.flatnonzero(inside & kept[codes])
        if kept.sum() < 2:
            continue
        own, w = np.unique(codes[rows], return_inverse=True)[1], weight[rows]
        X = _residuals(T[rows], strata.numbers[rows], w)
        draws = cross_fitted_aucs(X, own, probe, cv, n_permutations, random, sample_weight=w)
        found.append(draws)
        heavy, squares = np.bincount(own, w), np.bincount(own, w**2)
        rough = squares / heavy**2 + (w @ w - squares) / (w.sum() - heavy) ** 2
        counts.append(1.0 / rough.sum())
    if not found:
        raise UsageError(
            f"No stratum of given has {cv} rows of each of two levels, so no probe can be fitted "
            f"and scored among people whose factors are equal. Use fewer or coarser factors, or "
            f"fewer folds than cv={cv}."
        )
    return _mean_of_strata(found, np.array(counts) / np.sum(counts)), len(found)


def _residuals(T: np.ndarray, numbers: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """Return what a regression on the numbers leaves of the columns: the band says the rest."""
    spread = np.ptp(numbers, axis=0)
    F = (numbers - numbers.mean(axis=0))[:, spread > 0] / spread[spread > 0]
    if not F.shape[1]:
        return T
    root = np.sqrt(weight)[:, None]
    F = np.column_stack([np.ones(len(F)), F])
    return np.asarray(T - F @ np.linalg.lstsq(root * F, root * T, rcond=None)[0])


def _mean_of_strata(found: Sequence[AucDraws], share: np.ndarray) -> AucDraws:
    """Return the weighted mean of AUCs of different rows; errors by Welch and Satterthwaite."""
    variances = (share * [one.standard_error for one in found]) ** 2
    sizes = np.array([one.smallest_level for one in found])
    roughness = np.sum(variances**2 / np.maximum(sizes - 1, 1.0))
    known = sizes.sum() if roughness == 0 else 1.0 + variances.sum() ** 2 / roughness
    return AucDraws(
        fold_aucs=tuple((share @ [one.fold_aucs for one in found]).tolist()),
        standard_error=float(np.sqrt(variances.sum())),
        chance_draws=share @ [one.chance_draws for one in found],
        n_rows=sum(one.n_rows for one in found),
        smallest_level=float(min(known, sizes.sum())),
    )


def _variance(
    scored: list[tuple[np.ndarray, np.ndarray, np.ndarray]], centre: np.ndarray
) -> tuple[float, np.ndarray]:
    """Sum of squared influences, each level's own spread corrected for its estimated mean.

    And the number of rows of each level, or of as many of equal weight as they are worth.
    """
    parts = []
    for placed, labels, weight in scored:
        inside = _sides(placed, labels)
        size = np.where(inside, weight @ inside, weight @ ~inside)
        parts.append(((placed - centre) / size).mean(axis=1) / len(scored))
    influence = np.concatenate(parts)  # of a row of weight 1
    labels, weight = (np.concatenate([fold[i] for fold in scored]) for i in (1, 2))
    total, squares = (np.bincount(labels, weights=weight**power) for power in (1, 2))
    means = np.bincount(labels, weights=weight * influence) / total
    within = np.bincount(labels, weights=(weight * (influence - means[labels])) ** 2)
    sizes = total**2 / squares
    corrected = sizes / np.maximum(sizes - 1, 1.0) * within
    return float(np.sum(corrected + squares * means**2)), sizes


def macro_auc(
    scores: np.ndarray, codes: np.ndarray, sample_weight: np.ndarray | None = None
) -> np.ndarray:
    """One-vs-rest AUC, averaged over the levels, of each labelling of the same rows, shape (p,).

    Column l of `scores`, of shape (n, s), scores membership in level l; a single column is the
    score of level 1 of two. Labellings are the rows of `codes`, of shape (p, n). Mann-Whitney:
    pairs of rows weigh the product of their weights and are right, or half right if tied; those
    within a level of weight W1 add up to W1^2 / 2.
    """
    weight = np.ones(len(scores)) if sample_weight is None else sample_weight
    auc = np.zeros(len(codes))
    for column, level in zip(scores.T, _scored_levels(scores), strict=True):
        both = np.stack([weight, weight * weight_below(column, weight)], axis=1)
        inside, right = ((codes == level) @ both).T
        auc += (right - inside**2 / 2) / (inside * (weight.sum() - inside))
    return auc / scores.shape[1]


def placements(
    scores: np.ndarray, codes: np.ndarray, sample_weight: np.ndarray | None = None
) -> np.ndarray:
    """Share of the rows on the other side that each row is ordered rightly with, level by level.

    Of the shape of `scores`; ties count one half, others by their weight, and the weighted mean
    over either side is the AUC of the level. These are the placement values of DeLong, DeLong and
    Clarke-Pearson (1988), whose variances on either side make up that of the AUC. The weight below
    among all rows less that on one's own side is on the other side, so all of them cost one sort.
    """
    weight = np.ones(len(scores)) if sample_weight is None else sample_weight
    placed = np.empty(scores.shape)
    for column, level in enumerate(_scored_levels(scores)):
        inside = codes == level
        below = weight_below(scores[:, column], weight)
        for side in (inside, ~inside):
            lower = below[side] - weight_below(scores[side, column], weight[side])
            placed[side, column] = lower / weight[~side].sum()
        placed[~inside, column] = 1.0 - placed[~inside, column]
    return placed


def mean_auc(scores: np.ndarray, codes: np.ndarray, weight: np.ndarray) -> tuple[float, np.ndarray]:
    """Return the AUC, averaged over the levels, and the influence of each row on it (DeLong)."""
    placed, inside = placements(scores, codes, weight), _sides(scores, codes)
    sums = np.where(inside, (weight @ inside)[None], (weight @ ~inside)[None])
    aucs = (weight[:, None] * placed * inside).sum(axis=0) / (weight @ inside)
    influence = weight[:, None] * (placed - aucs) / sums
    return float(aucs.mean()), influence.mean(axis=1)


def weight_below(values: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """Weight of the rows below each row, and half of those level with it; NaN of NaN."""
    _, place = np.unique(values, return_inverse=True)
    tied = np.bincount(place, weights=weight)
    return np.where(np.isnan(values), np.nan, (tied.cumsum() - tied / 2)[place])


def _permuted_macro_auc(
    scores: np.ndarray,
    codes: np.ndarray,
    n_permutations: int,
    rng: np.random.Generator,
    weight: np.ndarray | None = None,
) -> np.ndarray:
    """AUC of fixed scores under random permutations of the labels, shape (n_permutations,)."""
    blocks = shuffled(codes, n_permutations, rng, block_size=_BLOCK_ENTRIES // len(codes))
    return np.concatenate([macro_auc(scores, block, weight) for block in blocks])


def _scored_levels(scores: np.ndarray) -> np.ndarray:
    """Return the level that each column scores: of two levels the second."""
    return np.array([1]) if scores.shape[1] == 1 else np.arange(scores.shape[1])


def _sides(scores: np.ndarray, codes: np.ndarray) -> np.ndarray:
    return np.asarray(codes[:, None] == _scored_levels(scores))
