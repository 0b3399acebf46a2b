"""One representation on one split: everything that is measured on the held-out rows."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
from scipy.spatial.distance import pdist
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from ..estimators import FairPCA, as_many_as_there_are
from ..metrics import (
    FEWEST,
    PROBES,
    AucDraws,
    Cells,
    Certificate,
    MMDKernel,
    MMDTest,
    certified_gap,
    covariance_gap,
    cross_fitted_aucs,
    group_shares,
    level_scores,
    mean_gap,
    placements,
    reading_model,
    stratified_rows,
)
from ..tradeoff import PAPERS_TRADEOFFS, TradeoffParts, predictions_along
from ._representations import METHODS, fit_method
from ._splits import Effort, HeldOut, evenly_sampled

CURVE_MODELS = ("linear", "kernel")
"""Trees are left out: they do not notice how a column is scaled, hence not lambda."""

LAMBDAS = PAPERS_TRADEOFFS

UNKNOWN = (float("nan"), float("nan"))


@dataclass(frozen=True, eq=False)
class Judged:
    """What decisions come to: accuracy and AUC with their errors, and `rates` per attribute."""

    accuracy: tuple[float, float]
    auc: tuple[float, float]
    groups: list[np.ndarray]


@dataclass(frozen=True, eq=False)
class SplitCurve:
    """The curve of one downstream model on one split; its points are in the order of `LAMBDAS`."""

    model: str
    index: int
    points: list[Judged]


@dataclass(frozen=True, eq=False)
class Measures:
    """What one representation shows on the held-out rows of one split.

    `seconds`, `failure` and `warned` are those of `Fitted`; `variance_kept` has its standard
    error; leakage is by position of the attribute and probe, gaps, discrepancies and (on the first
    split) certificates are one per attribute, with the accuracy of the best decision that they are
    about, and its error; `ratios` explain the components' variance.
    """

    key: str
    index: int
    seconds: float
    failure: str | None
    warned: tuple[str, ...]
    n_columns: int = 0
    variance_kept: tuple[float, float] = UNKNOWN
    leakage: dict[tuple[int, str], AucDraws] = field(default_factory=dict)
    mean_gaps: list[float] = field(default_factory=list)
    covariance_gaps: list[float] = field(default_factory=list)
    mmd: list[MMDTest] = field(default_factory=list)
    decisions: dict[str, Judged] = field(default_factory=dict)
    certificates: list[tuple[Certificate, tuple[float, float] | None]] = field(default_factory=list)
    ratios: list[float] = field(default_factory=list)
    picture: np.ndarray | None = None


def measure(held_out: HeldOut, key: str, effort: Effort, confidence: float) -> Measures:
    """Fit one representation and measure it; a method that cannot be fitted says why."""
    fitted = fit_method(METHODS[key], held_out.rows)
    if fitted.failure is not None:
        return Measures(key, held_out.index, fitted.seconds, fitted.failure, fitted.warned)
    rng = np.random.default_rng([held_out.rows.seed, held_out.index])
    T_train, T = fitted.represent(held_out.rows.X), fitted.represent(held_out.X)
    return Measures(
        key=key,
        index=held_out.index,
        seconds=fitted.seconds,
        failure=None,
        warned=fitted.warned,
        n_columns=T.shape[1],
        variance_kept=UNKNOWN if METHODS[key].for_target else _variance_kept(held_out, T_train, T),
        leakage=_leakage(held_out, T, effort, rng),
        mean_gaps=[mean_gap(T[c >= 0], c[c >= 0]) for c in held_out.codes],
        covariance_gaps=[covariance_gap(T[c >= 0], c[c >= 0]) for c in held_out.codes],
        mmd=_discrepancies(held_out, T, effort, rng),
        decisions=_decisions(held_out, T_train, T, effort),
        certificates=_certificates(held_out, T_train, T, effort, confidence),
        ratios=[float(r) for r in getattr(fitted.estimator, "explained_variance_ratio_", [])],
        picture=T[held_out.picture_rows(effort), :2] if held_out.index == 0 else None,
    )


def _leakage(
    held_out: HeldOut, T: np.ndarray, effort: Effort, rng: np.random.Generator
) -> dict[tuple[int, str], AucDraws]:
    """Ask every probe for every attribute: the numbers of `fairpca.metrics.leakage`.

    All probes of an attribute have the same folds and permutations, so that it can be told what
    the best of them reaches by chance.
    """
    found = {}
    for position, codes in enumerate(held_out.codes):
        chosen = _sampled_with_rare_groups(codes, effort.probe_rows, rng)
        seed = int(rng.integers(2**31 - 1))
        for name in PROBES:
            found[position, name] = cross_fitted_aucs(
                T[chosen], codes[chosen], name, effort.folds, effort.permutations, seed
            )
    return found


def _discrepancies(
    held_out: HeldOut, T: np.ndarray, effort: Effort, rng: np.random.Generator
) -> list[MMDTest]:
    """Test every attribute; those whose groups a common sample represents share one kernel matrix.

    Others get rows of their own: the common sample may have next to nothing of a rare group.
    """
    common = evenly_sampled(held_out.codes, effort.mmd_rows, rng)
    shared = MMDKernel(T[common], bandwidth=_bandwidth(T[common]))
    tests = []
    for codes in held_out.codes:
        rows, kernel = common, shared
        if not _represents(common, codes):
            rows = _sampled_with_rare_groups(codes, effort.mmd_rows, rng)
            kernel = MMDKernel(T[rows], bandwidth=_bandwidth(T[rows]))
        seed = int(rng.integers(2**31))
        tests.append(
            kernel.test(codes[rows], n_permutations=effort.mmd_permutations, random_state=seed)
        )
    return tests


def _sampled_with_rare_groups(
    codes: np.ndarray, n_rows: int, rng: np.random.Generator
) -> np.ndarray:
    """Return positions of at most `n_rows` rows whose group is known; rare ones keep up to 50."""
    known = np.flatnonzero(codes >= 0)
    random = np.random.RandomState(rng.integers(2**31 - 1))
    return known[stratified_rows(len(known), n_rows, codes[known], random)]


def _represents(rows: np.ndarray, codes: np.ndarray) -> bool:
    """Whether a sample has known groups only, and of each at least 50 rows, or all there are."""
    if codes[rows].min() < 0:
        return False
    drawn, counts = (
        np.bincount(c, minlength=codes.max() + 1) for c in (codes[rows], codes[codes >= 0])
    )
    return bool(np.all(drawn >= np.minimum(counts, FEWEST)))


def _bandwidth(T: np.ndarray) -> float | Literal["median"]:
    """Return the root of the mean squared distance where most rows are alike."""
    sample = T[: min(len(T), 400)]
    if np.median(pdist(sample, "sqeuclidean")) > 0 and len(np.unique(T, axis=0)) > len(T) / 2:
        return "median"
    spread = float(T.var(axis=0).sum())
    return float(np.sqrt(spread)) if spread > 0 else 1.0


def _decisions(
    held_out: HeldOut, T_train: np.ndarray, T: np.ndarray, effort: Effort
) -> dict[str, Judged]:
    if held_out.y is None or held_out.rows.y is None:
        return {}
    rng = np.random.default_rng(held_out.rows.seed)
    chosen = evenly_sampled([held_out.rows.y], effort.train_rows, rng)
    train, y_train = T_train[chosen], held_out.rows.y[chosen]
    judged = held_out.judged_rows(effort)
    return {
        model: _judge(_scores(model, train, y_train, T[judged]), held_out, judged)
        for model in PROBES
    }


def _certificates(
    held_out: HeldOut, T_train: np.ndarray, T: np.ndarray, effort: Effort, confidence: float
) -> list[tuple[Certificate, tuple[float, float] | None]]:
    """Bound the gap of all thresholds on a single column.

    Of several, that of all classifiers on cells that keep the target and hide the groups.
    """
    if held_out.index != 0:
        return []  # the bound is about one fitted representation
    bounds = []
    for codes_train, codes in zip(held_out.codes_train, held_out.codes, strict=True):
        seen, known = codes_train >= 0, codes >= 0
        if T.shape[1] == 1:
            found = certified_gap(T[known, 0], codes[known], of="scores", confidence=confidence)
            bounds.append((found, _best_accuracy(held_out, T_train, T)))
            continue
        cells = Cells(effort.cells, random_state=held_out.rows.seed)
        if held_out.rows.y is None:
            cells.fit(T_train)
        else:
            cells.fit(T_train[seen], held_out.rows.y[seen], sensitive=codes_train[seen])
            if cells.n_cells_ == 1:  # no split was worth its price, and one cell says nothing
                cells.fit(T_train[seen], held_out.rows.y[seen])
        found = certified_gap(
            cells.predict(T[known]), codes[known], confidence=confidence, n_cells=cells.n_cells_
        )
        bounds.append((found, _best_accuracy(held_out, T_train, T, cells)))
    return bounds


def _best_accuracy(
    held_out: HeldOut, T_train: np.ndarray, T: np.ndarray, cells: Cells | None = None
) -> tuple[float, float] | None:
    """Return the accuracy of the majority of each cell, with its standard error.

    Without cells, those on the two sides of the threshold that is best on training rows.
    """
    if held_out.y is None or held_out.rows.y is None:
        return None
    if cells is not None:
        seen, new = cells.predict(T_train), cells.predict(T)
    else:
        values, place = np.unique(T_train[:, 0], return_inverse=True)
        excess = np.bincount(place, np.where(held_out.rows.y, 1, -1)).cumsum()  # up to each value
        best = values[np.argmax(np.abs(excess) + np.abs(excess[-1] - excess))]
        seen, new = (1 * (part[:, 0] > best) for part in (T_train, T))
    counts = np.bincount(seen, minlength=max(seen.max(), new.max()) + 1)
    positive = np.bincount(seen, held_out.rows.y, minlength=len(counts))
    right = float(np.mean((2 * positive > counts)[new] == held_out.y))
    return right, float(share_error(right, len(new)))


def _variance_kept(held_out: HeldOut, T_train: np.ndarray, T: np.ndarray) -> tuple[float, float]:
    """Return the share of variance that a linear reconstruction recovers, and its error.

    For a projection this is the variance it explains; the error is that of a ratio of two sums.
    """
    X_train, X = held_out.rows.X, held_out.X
    mean, centre = X_train.mean(axis=0), T_train.mean(axis=0)
    back = np.linalg.lstsq(T_train - centre, X_train - mean, rcond=None)[0]
    left = np.sum((X - mean - (T - centre) @ back) ** 2, axis=1)
    whole = np.sum((X - X.mean(axis=0)) ** 2, axis=1)
    lost = float(left.sum() / whole.sum())
    return 1.0 - lost, float(np.linalg.norm(left - lost * whole) / whole.sum())


def measure_curve(held_out: HeldOut, model: str, effort: Effort) -> SplitCurve:
    """Judge a downstream model at every lambda; fair PCA is solved once, from one pass."""
    assert held_out.y is not None
    assert held_out.rows.y is not None
    rows, chosen = held_out.rows, np.arange(len(held_out.rows.y))
    if model != "linear":  # which is solved for all lambdas together
        rng = np.random.default_rng(rows.seed)
        chosen = evenly_sampled([held_out.rows.y], effort.curve_rows, rng)
    unfitted, moments = FairPCA(tradeoff=1.0, random_state=rows.seed), rows.moments()
    both = as_many_as_there_are(
        lambda k: clone(unfitted).set_params(n_components=k).fit_moments(moments), rows.k
    )
    judged, y_train = held_out.judged_rows(effort), held_out.rows.y[chosen]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # a rough fit is a model, too
        scores = [
            predicted.scores_of(True)
            for predicted in predictions_along(
                TradeoffParts(both),
                reading_model(model, as_is=True),
                rows.X[chosen],
                y_train,
                held_out.X[judged],
                LAMBDAS,
            )
        ]
    points = [_judge(np.asarray(s), held_out, judged) for s in scores]
    return SplitCurve(model, held_out.index, points)


def _scores(name: str, train: np.ndarray, y_train: np.ndarray, test: np.ndarray) -> np.ndarray:
    """Fit a downstream model to the training rows and return its scores of others."""
    model = reading_model(name, as_is=True)  # as on the curve, where lambda is the columns' scale
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model.fit(train, y_train)
    return level_scores(model, test)[:, 0]


def _judge(scores: np.ndarray, held_out: HeldOut, rows: np.ndarray) -> Judged:
    """Select a share of held-out rows, those with the highest scores, and count.

    The share is that of the positive rows among the training rows: at a threshold of one half, a
    model of a rare outcome selects nobody, and no gap can be seen. The threshold is a quantile of
    the held-out scores, without their outcomes. One of the training scores would not do: trees are
    surer of the rows they have learned than of others, and would select a third of the share, with
    gaps as small. Rows with equal scores are decided alike, whichever brings the share nearer: a
    model that says the same of all rows selects nobody if most rows are negative, else all.
    """
    assert held_out.y is not None
    rate, y = held_out.rate, held_out.y[rows]
    threshold = np.quantile(scores, 1.0 - rate, method="higher")
    with_ties, without = np.mean(scores >= threshold), np.mean(scores > threshold)
    ties_are_in = abs(with_ties - rate) <= abs(without - rate)
    decisions = scores >= threshold if ties_are_in else scores > threshold
    right = decisions == y
    accuracy = float(right.mean())
    return Judged(
        accuracy=(accuracy, float(share_error(accuracy, len(y)))),
        auc=_auc_and_error(scores, y),
        groups=[
            _rates(decisions, y, codes[rows], m)
            for codes, m in zip(held_out.codes, held_out.sizes, strict=True)
        ],
    )


def _rates(decisions: np.ndarray, y: np.ndarray, codes: np.ndarray, m: int) -> np.ndarray:
    """Return rows, selection rate, true positive rate, accuracy, and three standard errors.

    Group by group, of the rows whose group is known: their code is not -1.
    """
    known = codes >= 0
    c, chosen, true = codes[known], decisions[known], y[known]
    n, n_true = np.bincount(c, minlength=m), np.bincount(c, true, minlength=m)
    selected, right = group_shares(chosen, c, m=m), group_shares(chosen == true, c, m=m)
    found = group_shares(chosen, c, among=true, m=m)
    errors = [share_error(selected, n), share_error(found, n_true), share_error(right, n)]
    return np.stack([n, selected, found, right, *errors], axis=1)


def _auc_and_error(scores: np.ndarray, y: np.ndarray) -> tuple[float, float]:
    """Return the area under the ROC curve and its standard error (DeLong)."""
    n1, n0 = int(y.sum()), int((~y).sum())
    if not n1 or not n0:
        return UNKNOWN
    placed = placements(scores[:, None], y.astype(int))[:, 0]
    above, below = placed[y], placed[~y]
    auc = float(above.mean())
    if auc in (0.0, 1.0):  # no spread to estimate an error from: a share of the rarer kind
        return auc, float(share_error(auc, min(n0, n1)))
    variance = float(above.var()) / max(n1 - 1, 1) + float(below.var()) / max(n0 - 1, 1)
    return auc, float(np.sqrt(variance))


def share_error(share: float | np.ndarray, n: float | np.ndarray) -> np.ndarray:
    """Return the standard error of a share of n rows.

    One row is added on either side, so that a share of 0 or 1 in a few rows is not called certain.
    """
    n = np.asarray(n, dtype=float)
    softened = (np.asarray(share) * n + 1.0) / (n + 2.0)
    return np.sqrt(softened * (1.0 - softened) / np.maximum(n, 1.0))
