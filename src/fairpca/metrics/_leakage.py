"""How well a classifier predicts a sensitive attribute from a representation."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from .._attributes import Levels
from ..errors import FittedRowsWarning, UsageError, warn_user
from ._attackers import Panel
from ._auc import AucDraws, aucs_within_strata, cross_fitted_aucs
from ._inputs import finite_rows, median_threshold, read_groups, row_weights
from ._probes import Probe, as_classifier
from ._strata import strata_of

_SURELY = 0.998  # below chance with this confidence, rows are training data but for 1 in 1000

COARSER = 2.0
"""Bands of numbers than gaps have: the columns are regressed on them within a band."""


@dataclass(frozen=True)
class Leakage:
    """Result of `leakage`: how well a probe predicts an attribute, and what chance alone gives.

    Attributes
    ----------
    probe : str
        "linear", "boosting", "kernel", "mlp", "strong", or the class name of the classifier that
        was passed.
    auc : float
        Mean of `fold_aucs`: 0.5 is chance, 1 is certainty.
    fold_aucs : tuple of float
        AUC on each held-out fold.
    chance_mean : float
        Mean AUC of a probe that knows nothing.
    chance_interval : tuple of (float, float)
        Central 90 % of the AUCs of a probe that knows nothing. An AUC above it is significant at
        5 % (`above_chance`).
    p_value : float
        Share of probes that know nothing and do as well or better.
    n_rows : int
        Number of rows scored, each of them once.
    interval : tuple of (float, float)
        95 % confidence interval of the AUC on new data. It may include 0.5 where the p-value is
        small, and the reverse: the interval measures how large a leak is, `above_chance` tests
        whether there is one.
    attackers : tuple of (str, float), default=()
        Each attacker of the strong probe with its AUC, the best first: the mean over inner folds of
        the training data, by which the attacker of each fold is chosen. They are for comparison;
        the best of many is too optimistic. Empty for other probes.
    skipped : tuple of str, default=()
        The attackers for which `effort` left no time.
    n_strata : int, default=0
        Given factors, the strata over which the AUC is a mean; `n_rows` are in these. Else 0.

    See Also
    --------
    leakage : Returns it.

    Examples
    --------
    >>> import numpy as np
    >>> from fairpca.metrics import leakage
    >>> rng = np.random.default_rng(0)
    >>> sex = rng.integers(2, size=500)
    >>> found = leakage(rng.normal(size=(500, 2)) + sex[:, None], sex, random_state=0)
    >>> print(found)
    linear probe: AUC 0.865 [0.829, 0.893] on 500 rows (chance 0.439 to 0.562, p = 0.000999)
    >>> found.above_chance
    True
    """

    probe: str
    auc: float
    fold_aucs: tuple[float, ...]
    chance_mean: float
    chance_interval: tuple[float, float]
    p_value: float
    n_rows: int
    interval: tuple[float, float]
    attackers: tuple[tuple[str, float], ...] = ()
    skipped: tuple[str, ...] = ()
    n_strata: int = 0

    @property
    def above_chance(self) -> bool:
        """Whether chance alone would do as well in fewer than 5 % of cases."""
        return self.p_value < 0.05

    def __str__(self) -> str:
        low, high = self.chance_interval
        least, most = self.interval
        below = "; below chance: are these the projection's training data?"
        within = f" in {self.n_strata} strata" if self.n_strata else ""
        return (
            f"{self.probe} probe: AUC {self.auc:.3f} [{least:.3f}, {most:.3f}] "
            f"on {self.n_rows} rows{within} (chance {low:.3f} to {high:.3f}, p = {self.p_value:.3g}"
            f"{self._said_of_attackers()}){below if self.auc < low else ''}"
        )

    def _said_of_attackers(self) -> str:
        if not self.attackers:
            return ""
        left_out = f"; no time for {', '.join(self.skipped)}" if self.skipped else ""
        n = len(self.attackers)
        best = "the only attacker" if n == 1 else f"best of {n} attackers"
        return f"; {best}: {self.attackers[0][0]}{left_out}"


def leakage(
    X: ArrayLike,
    sensitive_features: ArrayLike,
    *,
    given: Any = None,
    probe: Probe = "linear",
    cv: int = 5,
    n_permutations: int = 1000,
    effort: float | None = None,
    random_state: int | np.random.RandomState | None = None,
    sample_weight: ArrayLike | None = None,
) -> Leakage:
    r"""Measure how well a probe predicts a sensitive attribute from a representation.

    Use held-out data: rows that were **not** used to fit the projection. In its training data the
    group means are equal, so a gap in four folds is the opposite gap in the fifth, and a
    cross-validated linear probe falls *below* 0.5. That number does not apply to new data.

    A linear probe at chance does not cover other models. Before you call an attribute hidden,
    measure with ``probe="strong"``, the best of some twenty attackers. It does not cover a linear
    model's score for something else either, which may rank the groups where columns are skewed:
    pass that score as a representation of one column, ``score.reshape(-1, 1)``.

    The linear probe standardises its columns, so it also uses a small ``tradeoff`` that a
    regularised model would hardly use. For such a model, pass ``probe=LogisticRegression()``.

    Duplicate rows, or repeated measures of one person, look like leakage: the probe meets in one
    fold what it memorised in another. Keep one of each.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        Representation of held-out data.
    sensitive_features : array-like of shape (n_samples,)
        Level of each row. With more than two levels, the AUCs of each level against the rest
        are averaged. Floats with fractions are cut at their median (above or not); cut integer
        values that are a quantity yourself: ``age > np.median(age)``.
    given : array-like of shape (n_samples,) or (n_samples, n_factors), frame or dict, default=None
        Legitimate factors: how well the attribute is predicted among people who agree in them. Each
        stratum has probes of its own, and the AUC is the mean over strata (see Notes). As in
        `explained_difference`, texts are levels, and numbers of more than 10 values are cut into
        bands; missing values are a stratum.
    probe : "linear", "boosting", "kernel", "mlp", "strong" or classifier, default="linear"
        "linear": logistic regression on standardised columns. "boosting": gradient-boosted trees,
        50 rounds of them, or 25 for more than 4 levels. "kernel": ridge regression on
        Gaussian-kernel features of standardised columns, with 200 landmarks. "mlp": a network of
        one layer of 64 units on standardised columns, which stops early. "strong": the best
        attacker of a panel (see Notes). Or any scikit-learn classifier with ``predict_proba`` or
        ``decision_function``, of which clones are fitted. `fairpca.audit` uses the first three.
    cv : int, default=5
        Number of stratified, shuffled folds.
    n_permutations : int, default=1000
        Number of draws from chance.
    effort : float or None, default=None
        Seconds that the strong probe may take, or None for no limit: it takes some 5 for 500 rows
        of 10 columns, 15 for 6000 rows and ``cv=3``. Attackers run from cheap to expensive. Those
        that would start too late are left out of all folds and named in the result, which then
        depends on the machine. The first one always runs, and other probes ignore `effort`.
    random_state : int, RandomState or None, default=None
        Seed of the folds and the permutations. Attackers have seeds of their own.
    sample_weight : array-like of shape (n_samples,), default=None
        How much each row counts, in fitting the probe and in the AUC, such as how many people it
        stands for; only ratios matter, and rows of weight 0 are left out. The interval widens,
        since rows of unequal weight hold less information. Custom probes must accept
        `sample_weight` in ``fit``. Attackers that do not (nearest neighbours, and networks before
        scikit-learn 1.7) are fitted to rows drawn by weight.

    Returns
    -------
    found : Leakage
        The AUC with its confidence interval, and the AUC of chance with a p-value.

    Raises
    ------
    MissingGroupError, SingleGroupError, ValueError
        If attribute values are missing, all equal, of another number than the rows, if a
        level has fewer rows (of positive weight) than there are folds, or if weights are negative,
        missing, all zero or of another number than the rows.

    Warns
    -----
    FittedRowsWarning
        If the AUC is below 0.5 and chance explains it in fewer than 1 of 1000 cases: these rows
        are the projection's training data. With ``probe="strong"`` a linear probe is used for
        this, too, since the best attacker is rarely below chance.

    See Also
    --------
    Leakage : The result.
    fairpca.audit : Measures several probes, before and after.

    Notes
    -----
    User guide: :doc:`/explanation/measuring`.

    Chance is measured by permuting the labels of the rows of each fold against the fixed scores;
    nothing is refitted. For a single fold this test is exact. The mean over K folds varies more
    than K independent folds would, because every pair of folds meets twice, each once as
    training and once as test rows. If g_f is the group contrast of fold f, a linear probe has
    :math:`\sum_f \langle \sum_{h \ne f} g_h, g_f \rangle = 2 \sum_{f < h} \langle g_f, g_h
    \rangle`, whose variance is twice that of K independent folds, for any K. The deviations of
    the permuted means from 0.5 are therefore stretched by :math:`\sqrt 2`. In simulations on
    pure noise, a test at 5 % without it raised a false alarm in 8 to 15 % of cases; with it, in
    2 to 5 %. It is derived for linear probes and was checked by simulation for boosted trees.

    For the confidence interval, the influence of a row on the AUC of a level is its placement less
    the AUC, over the number of rows on its side; that on the macro-average is the mean over
    levels, and the variance of the estimate is the sum of its squares. For two levels and one fold
    this is the estimate of DeLong et al. Placements are centred at the AUC of all folds, so
    that a fold may have a single row of a level.

    While the probe finds little, its directions are noise, and the folds vary together (see
    above): the variance is twice that sum. With a clear signal the probes of all folds agree,
    and the sum alone is right. So the sum is multiplied by :math:`1 + \min(1, (3/s)^2)`, where s is
    the distance of the AUC from 0.5 in roots of that sum.

    A few rows of a level may lie together by chance, and then show next to no variance. So to the
    squares of n rows of the rarest level one is added: the variance of a share in n tosses, which
    no AUC exceeds. In
    simulations with 5 to 50 rows of the rarer of two levels, AUCs from 0.5 to 0.99 and one to
    twenty dimensions, 95 % intervals covered in 93 to 100 % of cases; without these corrections,
    in 75 % at worst.

    With weights, rows count by them in the fit, the AUC (pairs by the product of theirs) and the
    influences; where n rows of a level are counted, n is the number of rows of equal weight whose
    mean is as certain. Permutations move labels, while weights stay with the rows.

    Given factors, each stratum is measured by itself, as above, with probes that are fitted to its
    rows: whoever knows the factors can do so. A number has half as many bands as in
    `explained_difference`, and in each band columns are first regressed on it, so that a probe does
    not read where in its band a row is. The
    mean over strata weighs each by what its AUC is known from, :math:`1 / \sum (1 / n_l + 1 / (n -
    n_l))` over the levels with :math:`n_l` of its n rows (van Elteren 1960), permutations stay
    within strata, and so do the variances, which add. Levels with fewer rows in a stratum than
    there are folds are left out there; bands join the next one. A probe learns little from few
    rows: with many small strata the AUC is that of a reader who has no more, so merge rare levels.
    In simulations where a factor explained all, with 300 to 8,000 rows, levels, numbers and curves
    of them, a test at 5 % raised a false alarm in 0 to 5 % of cases; 95 % intervals of the mean
    over four strata held the truth in 98 %.

    The attackers of the strong probe are logistic regression, nearest neighbours, kernel machines
    of three widths, boosted trees and two networks. They get standardised columns, whitened
    columns, and the 5 whitened directions in which the means and covariances of the groups differ
    most; none runs twice on the same input. An invertible linear map of `X` changes nothing for
    attackers of whitened columns, up to rounding. Nearest neighbours learn from
    5,000 rows at most, kernel machines and networks from 10,000, the others from 100,000.

    For each fold all attackers compete on three inner folds of the training rows; the one
    with the highest AUC is fitted to all of them and scores the fold. So no row has a part in the
    choice of the attacker that scores it, the AUC is not the largest of many, and chance is
    that of a single probe, with no correction for having tried many. (AUCs on the other folds
    would not do for the choice: the attackers of those folds were fitted to the rows of this one.)
    In simulations on pure noise, with 300 and 1000 rows, two and three levels, the mean AUC was
    0.49 to 0.51, where the best attacker on the scored rows had 0.54, and a test at 5 % raised a
    false alarm in 0 to 3 % of cases.

    An attacker below 0.5 is not inverted. That would pay in training data, where nearest
    neighbours tend to be of the opposite group [1]_, and not in new data.

    References
    ----------
    .. [1] Johansson. "What happens to a dataset transformed by a projection-based concept removal
       method?" LREC-COLING 2024, arXiv:2403.16142.

    Examples
    --------
    >>> import numpy as np
    >>> from fairpca.metrics import leakage
    >>> rng = np.random.default_rng(0)
    >>> z = rng.integers(2, size=500)
    >>> noise = rng.normal(size=(500, 2))
    >>> leakage(noise, z, random_state=0).above_chance
    False
    >>> leakage(noise + z[:, None], z, random_state=0).above_chance
    True
    >>> wider = noise * (1 + z)[:, None]  # equal means, another variance
    >>> leakage(wider, z, random_state=0).above_chance
    False
    >>> rank = rng.integers(3, size=500)  # a factor that both depend on
    >>> sex = rng.random(500) < 0.2 + 0.3 * rank
    >>> pay = rng.normal(size=(500, 2)) + rank[:, None]
    >>> leakage(pay, sex, random_state=0).above_chance
    True
    >>> leakage(pay, sex, given=rank, random_state=0).above_chance
    False
    >>> found = leakage(wider, z, probe="strong", cv=2, random_state=0)
    >>> found.above_chance
    True
    >>> len(found.attackers)
    15
    """
    beside = {"sample_weight": sample_weight, "given": given}
    X = finite_rows(X, sensitive_features=sensitive_features, **beside)
    _, levels, codes = _coded(sensitive_features, len(X), "sensitive_features")
    weight = row_weights(sample_weight, len(X))
    if effort is not None and not effort > 0:
        raise UsageError(
            f"effort={effort!r} was given, but attackers need time: a number of seconds above 0. "
            f"Pass one, such as effort=60, or None to run all of them."
        )
    if cv < 2 or n_permutations < 1:
        raise UsageError(
            f"cv={cv} and n_permutations={n_permutations} were given, but at least 2 folds and 1 "
            f"permutation are needed to hold rows out and to know chance. The defaults are 5 and "
            f"1000."
        )
    counts = np.bincount(codes if weight is None else codes[weight > 0], minlength=len(levels))
    if counts.min() < cv:
        raise UsageError(
            f"sensitive_features has level {levels[int(counts.argmin())]!r} in only {counts.min()} "
            f"of {counts.sum()} rows{'' if weight is None else ' of positive weight'}, but cv={cv} "
            f"folds need at least {cv} rows of each of the {len(levels)} levels. Merge rare "
            f"levels, use fewer folds, or cut a quantity in two: sensitive_features > "
            f"numpy.median(sensitive_features)."
        )
    strata = None if given is None else strata_of(given, len(X), coarser=COARSER)
    fits = cv * (1 if strata is None else len(strata.level))
    panel = Panel(None if effort is None else effort / fits)
    strong = isinstance(probe, str) and probe == "strong"

    def read_by(reader: Any, *chance: Any) -> tuple[AucDraws, int]:
        if strata is None:
            return cross_fitted_aucs(X, codes, reader, cv, *chance, sample_weight=weight), 0
        return aucs_within_strata(X, codes, strata, reader, cv, *chance, sample_weight=weight)

    draws, n_strata = read_by(panel if strong else probe, n_permutations, random_state)
    asked = {"strong" if strong else as_classifier(probe)[0]: draws}
    if strong:
        asked["linear"] = read_by("linear", 1, 0)[0]
    _warn_of_fitted_rows(asked)
    aucs = {name: float(np.mean(of_folds)) for name, of_folds in panel.aucs.items()}
    return Leakage(
        probe=next(iter(asked)),
        auc=draws.auc,
        fold_aucs=draws.fold_aucs,
        chance_mean=float(draws.chance_draws.mean()),
        chance_interval=draws.chance_interval,
        p_value=draws.p_value,
        n_rows=draws.n_rows,
        interval=draws.interval(),
        attackers=tuple(sorted(aucs.items(), key=lambda named: -named[1])),
        skipped=panel.skipped,
        n_strata=n_strata,
    )


def _warn_of_fitted_rows(asked: dict[str, AucDraws]) -> None:
    """Warn where a probe is surely wrong more often than right."""
    for name, draws in asked.items():
        if draws.interval(_SURELY)[1] < 0.5:
            warn_user(
                f"The {name} probe has an AUC of {draws.auc:.3f} on {draws.n_rows} rows, "
                f"significantly below chance, as in the training data of a projection: group means "
                f"are equal there, so what a probe learns from some rows is wrong for the others, "
                f"and nothing follows for new data. Measure held-out data: rows that the "
                f"projection was not fitted to.",
                FittedRowsWarning,
            )
            return


def _coded(attribute: ArrayLike, n: int, name: str) -> tuple[float | None, list[Any], np.ndarray]:
    """Where a number is cut in two, if it is; the levels, and the level of each row."""
    found = read_groups(attribute, n, name)
    if isinstance(found, Levels):
        return None, list(found.labels), found.codes
    threshold = median_threshold(found.values)
    return threshold, [False, True], (found.values > threshold).astype(int)
