"""What a classifier can still read from a representation about a sensitive attribute."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from .._attributes import Levels
from ..errors import UsageError
from ._auc import cross_fitted_aucs
from ._inputs import finite_rows, median_threshold, read_groups, row_weights
from ._probes import Probe, as_classifier


@dataclass(frozen=True)
class Leakage:
    """How well a probe predicts an attribute, next to what chance alone would give.

    Parameters
    ----------
    probe : str
        "linear", "boosting", "kernel", or the class name of the classifier that was passed.
    auc : float
        Mean of `fold_aucs`: 0.5 is guessing, 1 is certainty.
    fold_aucs : tuple of float
        AUC on each held-out fold.
    chance_mean, chance_interval : float, (float, float)
        Mean and central 90 % of the AUCs of a probe that knows nothing: above that interval is
        what `above_chance` says, at 5 %.
    p_value : float
        How often such a probe does as well or better.
    n_rows : int
        Number of rows scored, each of them once.
    interval : (float, float)
        Where the AUC on new rows lies, with 95 % confidence. It may include 0.5 where the
        p-value is small, and the other way round: it says how large a leak is, and
        `above_chance` whether there is one.

    See Also
    --------
    leakage : What makes it.

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

    @property
    def above_chance(self) -> bool:
        """Whether chance alone would do as well in fewer than 5 % of cases."""
        return self.p_value < 0.05

    def __str__(self) -> str:
        low, high = self.chance_interval
        least, most = self.interval
        below = "; below chance: are these the rows the projection was fitted to?"
        return (
            f"{self.probe} probe: AUC {self.auc:.3f} [{least:.3f}, {most:.3f}] "
            f"on {self.n_rows} rows (chance {low:.3f} to {high:.3f}, p = {self.p_value:.3g})"
            f"{below if self.auc < low else ''}"
        )


def leakage(
    X: ArrayLike,
    sensitive_features: ArrayLike,
    *,
    probe: Probe = "linear",
    cv: int = 5,
    n_permutations: int = 1000,
    random_state: int | np.random.RandomState | None = None,
    sample_weight: ArrayLike | None = None,
) -> Leakage:
    r"""Measure how well a probe predicts a sensitive attribute from a representation.

    Use held-out rows: rows that were **not** used to fit the projection. On its training rows fair
    PCA has made the group means equal. So a gap in four folds is the opposite gap in the fifth, and
    a cross-validated linear probe falls *below* 0.5. That number says nothing about new rows.

    The linear probe standardises its columns, so it also sees a small ``tradeoff`` that a
    regularised model would hardly use. For such a model, pass ``probe=LogisticRegression()``.

    Copies of rows, or several rows of one person, look like leakage: the probe meets in one fold
    what it learned by heart in another. Keep one of each.

    Equal means do not hide what a non-linear probe can see. A linear probe at chance is no
    promise about another model: measure with ``probe="boosting"`` and ``probe="kernel"`` too. Nor
    is it one about a linear model's score for something else, which may rank groups apart where
    columns are skewed: pass that score as a representation of one column, ``score.reshape(-1, 1)``.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        Representation of held-out rows.
    sensitive_features : array-like of shape (n_samples,)
        Level of each row. With more than two levels, the AUCs of each level against the rest
        are averaged. A number, that is one with fractions, is cut at its median (above or not);
        so cut whole numbers that are a quantity: ``age > np.median(age)``.
    probe : "linear", "boosting", "kernel" or classifier, default="linear"
        Logistic regression on standardised columns; gradient-boosted trees, 50 rounds of them, or
        25 for more than 4 levels; ridge regression on Gaussian-kernel features of standardised
        columns, with 200 landmarks; or any scikit-learn classifier with ``predict_proba`` or
        ``decision_function``, of which clones are fitted. Those that have a name are
        those of `fairpca.audit`.
    cv : int, default=5
        Number of stratified, shuffled folds.
    n_permutations : int, default=1000
        Number of draws from chance.
    random_state : int, RandomState or None, default=None
        Seeds the folds and the permutations.
    sample_weight : array-like of shape (n_samples,), default=None
        How much each row counts, in fitting the probe and in the AUC, such as how many people it
        stands for; only ratios matter, and rows of weight 0 are left out. The interval widens,
        since rows of unequal weight tell less. Of a `probe` of your own, ``fit`` has to take it.

    Returns
    -------
    found : Leakage
        AUC with its interval, and what chance gives.

    Raises
    ------
    MissingGroupError, SingleGroupError, ValueError
        If attribute values are missing, all equal, of another number than the rows, if a
        level has fewer rows (of positive weight) than there are folds, or if weights are negative,
        missing, all zero or of another number than the rows.

    See Also
    --------
    Leakage : What it returns.
    fairpca.audit : Asks several probes, before and after.

    Notes
    -----
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

    A few rows of a level may lie together by chance, and then show next to no spread. So to the
    squares of n rows of the rarest level one is added: the variance of a share in n tosses, which
    no AUC exceeds. In
    simulations with 5 to 50 rows of the rarer of two levels, AUCs from 0.5 to 0.99 and one to
    twenty dimensions, 95 % intervals covered in 93 to 100 % of cases; without these corrections,
    in 75 % at worst.

    With weights, rows count by them in the fit, the AUC (pairs by the product of theirs) and the
    influences; where n rows of a level are counted, n is the number of rows of equal weight whose
    mean is as certain. Permutations move labels, while weights stay with the rows.

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
    """
    X = finite_rows(X, sensitive_features=sensitive_features, sample_weight=sample_weight)
    _, levels, codes = _coded(sensitive_features, len(X), "sensitive_features")
    weight = row_weights(sample_weight, len(X))
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
    draws = cross_fitted_aucs(
        X, codes, probe, cv, n_permutations, random_state, sample_weight=weight
    )
    return Leakage(
        probe=as_classifier(probe)[0],
        auc=draws.auc,
        fold_aucs=draws.fold_aucs,
        chance_mean=float(draws.chance_draws.mean()),
        chance_interval=draws.chance_interval,
        p_value=draws.p_value,
        n_rows=draws.n_rows,
        interval=draws.interval(),
    )


def _coded(attribute: ArrayLike, n: int, name: str) -> tuple[float | None, list[Any], np.ndarray]:
    """Where a number is cut in two, if it is; the levels, and the level of each row."""
    found = read_groups(attribute, n, name)
    if isinstance(found, Levels):
        return None, list(found.labels), found.codes
    threshold = median_threshold(found.values)
    return threshold, [False, True], (found.values > threshold).astype(int)
