"""One representation on one split: leakage, predictions and bounds on held-out data."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from ..errors import ManyLevelsWarning, UsageError
from ..estimators import FairPCA, PlainPCA
from ..metrics import (
    PROBES,
    AucDraws,
    Certificate,
    Strata,
    aucs_within_strata,
    certified_gap,
    cross_fitted_aucs,
    fit_probe,
    level_scores,
    make_probe,
    mean_auc,
    neighbours_kept_of_each,
    select_top,
    stratified_rows,
)
from ..models import fit_available_components
from ..tradeoff import TradeoffParts
from ._representations import METHODS, TrainingRows, fit_method
from ._results import LARGEST_NUMBER, Setting, Weight
from ._splits import Effort, ExistingModel, HeldOut, bands, evenly_sampled

CURVE_MODELS = tuple(name for name, probe in PROBES.items() if probe.sees_scale)
"""Trees are left out: they do not notice how a column is scaled, hence not lambda."""

LAMBDAS = (0.1, 0.2, 0.5, 1.0)
"""Beside 0, which is fair PCA."""

UNKNOWN = (float("nan"), float("nan"))

MANY_COLUMNS, TREE_COLUMNS = 128, 100
"""Of vectors of more numbers than the first, boosted trees read so many directions of most
variance: each split of a tree looks through all columns, which takes long and finds no more."""

N_NEIGHBOURS, _NEIGHBOUR_ROWS = 10, 2_000


@dataclass(frozen=True, eq=False)
class Measures:
    """What one representation shows on the held-out rows of one split.

    `seconds`, `failure`, `warned` and `missed` are those of fitting; `variance_kept` has its
    standard error, and so has `neighbours_kept`; leakage is by position of the attribute and probe;
    certificates are one per attribute, of single columns on the first split; `scores` are by model,
    of shape (n, 1) or (n, classes), of the rows that are judged; `decided` who is selected, by
    models that are asked for decisions; `left_out` are columns of the table, the first one first.
    of shape (n, 1) or (n, classes), of the rows that are judged; `rank` counts the directions in
    which raw features vary, on the first split.
    """

    setting: Setting
    index: int
    seconds: float = 0.0
    failure: str | None = None
    warned: tuple[str, ...] = ()
    missed: int | None = None
    n_columns: int = 0
    variance_kept: tuple[float, float] = UNKNOWN
    neighbours_kept: tuple[float, float] = UNKNOWN
    leakage: dict[tuple[int, str], AucDraws] = field(default_factory=dict)
    certificates: list[Certificate | None] = field(default_factory=list)
    scores: dict[str, np.ndarray] = field(default_factory=dict)
    decided: dict[str, np.ndarray] = field(default_factory=dict)
    left_out: tuple[str, ...] = ()
    rank: int = 0


def measure(held_out: HeldOut, setting: Setting, effort: Effort, confidence: float) -> Measures:
    """Fit one representation and measure it; a method that cannot be fitted says why."""
    fitted = fit_method(setting, held_out.rows)
    if fitted.failure is not None:
        return Measures(setting, held_out.index, fitted.seconds, fitted.failure, fitted.warned)
    T_train, T = fitted.represent(held_out.rows.X), fitted.represent(held_out.X)
    for_target = METHODS[setting.method].for_target
    return replace(
        measure_columns(held_out, setting, T_train, T, effort, for_target=for_target),
        seconds=fitted.seconds,
        warned=fitted.warned,
        missed=fitted.missed,
        neighbours_kept=UNKNOWN if for_target else _neighbours_kept(held_out, T),
        certificates=certify(held_out, T, confidence) if for_target else [],
    )


def measure_columns(
    held_out: HeldOut,
    setting: Setting,
    T_train: np.ndarray,
    T: np.ndarray,
    effort: Effort,
    *,
    for_target: bool = False,
) -> Measures:
    """Measure what the columns of a representation reveal, keep and predict, whoever made them."""
    scores = {}
    if held_out.rows.y is not None:
        judged = T[held_out.judged_rows(effort)]
        scores = {m: fitted_model(m, held_out, T_train, effort)(judged) for m in PROBES}
    return Measures(
        setting=setting,
        index=held_out.index,
        n_columns=T.shape[1],
        variance_kept=UNKNOWN if for_target else _variance_kept(held_out, T_train, T),
        leakage=_leakage(held_out, T, effort, T_train),
        scores=scores,
        rank=_rank(T_train) if setting.method == "raw" and held_out.index == 0 else 0,
    )


def _rank(X: np.ndarray) -> int:
    """Return the number of directions in which rows vary, whatever the columns' units are."""
    centred = X - X.mean(axis=0)
    spread = np.linalg.norm(centred, axis=0)
    centred = centred[:, spread > 0] / spread[spread > 0]
    return int(np.linalg.matrix_rank(centred.T @ centred, tol=1e-9, hermitian=True))


def measure_existing(held_out: HeldOut, model: ExistingModel, effort: Effort) -> Measures:
    """Measure the leakage of an existing model; rows it does not know are left out."""
    values = model.values[held_out.places][:, None]
    known = np.isfinite(values[:, 0])
    seen = held_out.at(np.flatnonzero(known))
    seen = replace(seen, codes=[_of_enough(codes, 2 * effort.folds) for codes in seen.codes])
    leakage = _leakage(seen, values[known], effort)
    return Measures(model.setting, held_out.index, n_columns=1, leakage=leakage)


def measure_factors(held_out: HeldOut, factors: np.ndarray, effort: Effort) -> Measures:
    """Measure what legitimate factors alone tell of attributes: they may be proxies."""
    own = factors[held_out.places]
    leakage = _leakage(held_out, own, effort)
    return Measures(Setting("given"), held_out.index, n_columns=own.shape[1], leakage=leakage)


def measure_given(held_out: HeldOut, setting: Setting, strata: Strata, effort: Effort) -> Measures:
    """Measure what a linear probe predicts from one representation within strata of all rows.

    Single attributes are asked for; those of which no stratum has two groups are left out.
    """
    T = fit_method(setting, held_out.rows).represent(held_out.X)
    rng, found = np.random.default_rng([held_out.rows.seed, held_out.index]), {}
    for position, codes in enumerate(held_out.codes[: len(held_out.rows.sensitive)]):
        chosen = sampled_with_rare_groups(codes, effort.probe_rows, rng)
        with suppress(UsageError):
            found[position, "linear"], _ = aucs_within_strata(
                T[chosen],
                codes[chosen],
                strata.at(held_out.places[chosen]),
                "linear",
                effort.folds,
                effort.permutations,
                int(rng.integers(2**31 - 1)),
                sample_weight=weighed_back(held_out.weights, codes, chosen),
            )
    return Measures(setting, held_out.index, n_columns=T.shape[1], leakage=found)


def certify_existing(
    rows: HeldOut, model: ExistingModel, confidence: float
) -> list[Certificate | None]:
    """Bound the gap of all thresholds on a score that exists, from all rows that it knows."""
    values = model.values[rows.places][:, None]
    known = np.flatnonzero(np.isfinite(values[:, 0]))
    return certify(rows.at(known), values[known], confidence)


def _of_enough(codes: np.ndarray, least: int) -> np.ndarray:
    """Return codes without gaps, and without groups of fewer rows than folds can do with."""
    enough = np.bincount(codes[codes >= 0]) >= least
    return np.append(np.where(enough, np.cumsum(enough) - 1, -1), -1)[codes]


def _seen_by(
    model: str, held_out: HeldOut, T_train: np.ndarray
) -> Callable[[np.ndarray], np.ndarray]:
    """Return what a model reads of rows of a representation: of long vectors, trees read less.

    These are the directions of most variance of the rows to fit; attributes are not looked at.
    """
    blocks = [where for where in held_out.vectors if len(where) > MANY_COLUMNS]
    if model != "boosting" or not blocks or T_train.shape[1] != held_out.rows.X.shape[1]:
        return lambda T: T
    others = np.setdiff1d(np.arange(T_train.shape[1]), np.concatenate(blocks))
    directions = [
        fit_available_components(partial(_directions, T_train[:, where]), TREE_COLUMNS)
        for where in blocks
    ]

    def seen(T: np.ndarray) -> np.ndarray:
        found = [pca.transform(T[:, where]) for pca, where in zip(directions, blocks, strict=True)]
        return np.hstack([T[:, others], *found])

    return seen


def _directions(T: np.ndarray, k: int) -> PlainPCA:
    return PlainPCA(k).fit(T)


def _leakage(
    held_out: HeldOut, T: np.ndarray, effort: Effort, T_train: np.ndarray | None = None
) -> dict[tuple[int, str], AucDraws]:
    """Ask every probe for every attribute: the numbers of `fairpca.metrics.leakage`.

    All probes of an attribute have the same folds and permutations, so that it can be told what
    the best of them reaches by chance.
    """
    if held_out.index >= 2 * effort.n_rounds:
        return {}  # further splits are for decisions
    rng = np.random.default_rng([held_out.rows.seed, held_out.index])
    found = {}
    seen = {name: _seen_by(name, held_out, T if T_train is None else T_train)(T) for name in PROBES}
    n_probed = len(held_out.codes) if effort.joint else held_out.n_single  # these come first
    for position, codes in enumerate(held_out.codes[:n_probed]):
        if codes.max() < 1:
            continue  # of what exists, joint groups may be unknown
        chosen = sampled_with_rare_groups(codes, effort.probe_rows, rng)
        seed = int(rng.integers(2**31 - 1))
        weights = weighed_back(held_out.weights, codes, chosen)
        for name in PROBES:
            found[position, name] = cross_fitted_aucs(
                seen[name][chosen],
                codes[chosen],
                name,
                effort.folds,
                effort.permutations,
                seed,
                sample_weight=weights,
            )
    return found


def sampled_with_rare_groups(
    codes: np.ndarray, n_rows: int, rng: np.random.Generator
) -> np.ndarray:
    """Return positions of at most `n_rows` rows whose group is known; rare ones keep up to 50."""
    known = np.flatnonzero(codes >= 0)
    random = np.random.RandomState(rng.integers(2**31 - 1))
    return known[stratified_rows(len(known), n_rows, codes[known], random)]


def weighed_back(
    weights: np.ndarray | None, codes: np.ndarray, chosen: np.ndarray
) -> np.ndarray | None:
    """Return weights of the rows that were drawn, with which groups are as heavy as in all."""
    counts, drawn = (np.bincount(codes[rows][codes[rows] >= 0]) for rows in (slice(None), chosen))
    stands_for = counts / np.maximum(drawn, 1)
    if weights is None and stands_for.max() < 1.1 * stands_for[drawn > 0].min():  # in proportion
        return None
    own = np.ones(len(chosen)) if weights is None else weights[chosen]
    return own * stands_for[codes[chosen]]


def fitted_model(name: str, held_out: HeldOut, T_train: np.ndarray, effort: Effort) -> Any:
    """Return the function from rows of a representation to scores of shape (n, 1 or classes)."""
    rows = held_out.rows
    assert rows.y is not None
    number = rows.target_kind == "number"
    chosen = evenly_sampled([bands(rows.y)], effort.train_rows, np.random.default_rng(rows.seed))
    n_levels = 2 if held_out.n_levels == 1 else held_out.n_levels
    # On the columns' own scale, as on the curve, where lambda is that scale.
    model = make_probe(name, n_levels, as_is=True, number=number)
    centre, unit = (rows.y.mean(), rows.y.std() or 1.0) if number else (0.0, 1.0)
    y = (rows.y[chosen] - centre) / unit if number else rows.y[chosen].astype(int)
    seen = _seen_by(name, held_out, T_train[chosen])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # a rough fit is a model, too
        weights = None if rows.weights is None else rows.weights[chosen]
        fit_probe(model, seen(T_train[chosen]), y, sample_weight=weights)

    def scores(T: np.ndarray) -> np.ndarray:
        T = seen(T)
        found = model.predict(T)[:, None] * unit + centre if number else level_scores(model, T)
        return np.asarray(found, dtype=np.float32)

    scores.model = model  # type: ignore[attr-defined]
    return scores


def certify(held_out: HeldOut, T: np.ndarray, confidence: float) -> list[Certificate | None]:
    """Bound the gap of all thresholds on a single column; of several columns nothing is said.

    A bound is about one fitted representation, so about the first split, and about rows that count
    alike. Of rows with weights, a group's are kept in proportion to these: what is left is a
    sample of the people whom the rows stand for.
    """
    if held_out.index != 0 or T.shape[1] != 1:
        return []
    rng = np.random.default_rng(held_out.rows.seed)
    chances = rng.random(len(T))
    found: list[Certificate | None] = []
    for codes, m in zip(held_out.codes, held_out.sizes, strict=True):
        kept = codes >= 0
        if (w := held_out.weights) is not None:
            heaviest = np.zeros(m)
            np.maximum.at(heaviest, codes[kept], w[kept])
            kept[kept] = chances[kept] * heaviest[codes[kept]] < w[kept]
        found.append(None)
        if len(np.unique(codes[kept])) > 1:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", ManyLevelsWarning)  # codes are meant as groups
                found[-1] = certified_gap(T[kept, 0], codes[kept], confidence=confidence)
    return found


def _variance_kept(held_out: HeldOut, T_train: np.ndarray, T: np.ndarray) -> tuple[float, float]:
    """Return the share of variance that a linear reconstruction recovers, and its error.

    For a projection this is the variance it explains; the error is that of a ratio of two sums.
    """
    X_train, X = held_out.rows.X, held_out.X
    w_train, w = held_out.rows.weights, held_out.weights
    mean, centre = (np.average(of, axis=0, weights=w_train) for of in (X_train, T_train))
    root = 1.0 if w_train is None else np.sqrt(w_train)[:, None]
    back = np.linalg.lstsq(root * (T_train - centre), root * (X_train - mean), rcond=None)[0]
    left = np.sum((X - mean - (T - centre) @ back) ** 2, axis=1)
    whole = np.sum((X - np.average(X, axis=0, weights=w)) ** 2, axis=1)
    if w is not None:
        left, whole = w * left, w * whole
    lost = float(left.sum() / whole.sum())
    return 1.0 - lost, float(np.linalg.norm(left - lost * whole) / whole.sum())


def _neighbours_kept(held_out: HeldOut, T: np.ndarray) -> tuple[float, float]:
    """Return the share of nearest neighbours that a representation keeps, and its error.

    Held-out rows are near by their cosine about the mean; rows without vectors are not compared.
    """
    if not held_out.vectors or held_out.index > 1 or len(T) <= N_NEIGHBOURS:
        return UNKNOWN  # one round is enough
    rng = np.random.default_rng([held_out.rows.seed, held_out.index])
    rows = np.sort(rng.permutation(len(T))[:_NEIGHBOUR_ROWS])
    before, after = (of - of.mean(axis=0) for of in (held_out.X[rows], T[rows]))
    kept = neighbours_kept_of_each(before, after, N_NEIGHBOURS)
    w = np.ones(len(rows)) if held_out.weights is None else held_out.weights[rows]
    mean = float(np.average(kept, weights=w))
    return mean, float(np.linalg.norm(w * (kept - mean)) / w.sum())


def measure_curve(held_out: HeldOut, model: str, effort: Effort) -> list[Measures]:
    """Predict at every lambda; fair PCA is solved once, from one pass."""
    rows = held_out.rows
    parts = TradeoffParts(_blended(rows, 1.0))
    both, judged = parts.both(rows.X), parts.both(held_out.X[held_out.judged_rows(effort)])
    found = []
    for tradeoff in LAMBDAS:
        predict = fitted_model(model, held_out, parts.scaled(both, tradeoff), effort)
        scores = {model: predict(parts.scaled(judged, tradeoff))}
        setting = Setting("fair_pca", tradeoff=tradeoff)
        found.append(Measures(setting, held_out.index, n_columns=len(both[0]), scores=scores))
    return found


def _blended(rows: TrainingRows, tradeoff: float) -> FairPCA:
    moments = rows.moments()
    return fit_available_components(
        lambda k: FairPCA(k, tradeoff=tradeoff, random_state=rows.seed).fit_moments(moments), rows.k
    )


def carried(held_out: HeldOut, position: int, effort: Effort) -> dict[str, tuple[float, float]]:
    """Return, for each column, the AUC that boosted trees lose without it, and its error.

    They are fitted to the training half; in the other half, the column's values are shuffled.
    """
    rng = np.random.default_rng([held_out.rows.seed, held_out.index, position])
    train_codes, codes = held_out.codes_train[position], held_out.codes[position]
    train = sampled_with_rare_groups(train_codes, effort.probe_rows, rng)
    test = sampled_with_rare_groups(codes, effort.probe_rows // 2, rng)
    model = make_probe("boosting", int(train_codes.max()) + 1)
    weights = weighed_back(held_out.rows.weights, train_codes, train)
    seen = _seen_by("boosting", held_out, held_out.rows.X[train])
    fit_probe(model, seen(held_out.rows.X[train]), train_codes[train], sample_weight=weights)
    w = weighed_back(held_out.weights, codes, test)
    w = np.ones(len(test)) if w is None else w
    X = held_out.X[test]
    auc, own = mean_auc(level_scores(model, seen(X)), codes[test], w)
    found = {}
    for column, shuffled in _shuffled(held_out, X, rng):
        without, other = mean_auc(level_scores(model, seen(shuffled)), codes[test], w)
        found[column] = (auc - without, float(np.linalg.norm(own - other)))
    return found


def _shuffled(
    held_out: HeldOut, X: np.ndarray, rng: np.random.Generator
) -> Iterator[tuple[str, np.ndarray]]:
    """Yield each column of the table, and rows in which its values are shuffled."""
    assert held_out.encoder is not None
    for column, where in held_out.encoder.outputs_by_column.items():
        shuffled = X.copy()
        shuffled[:, where] = X[np.ix_(rng.permutation(len(X)), where)]
        yield column, shuffled


def decided_by(
    held_out: HeldOut, setting: Setting, model: str, effort: Effort
) -> tuple[dict[str, tuple[float, float]], dict[str, list[Weight]]]:
    """Return how many decisions change without each column, with errors, and linear weights.

    A column's values are shuffled among the held-out rows. Of a number, it is the mean change of
    the prediction, in deviations of the target.
    """
    rows = held_out.rows
    if setting.tradeoff is None:
        fitted = fit_method(setting, rows)
        represent, estimator = fitted.represent, fitted.estimator
    else:
        estimator = _blended(rows, setting.tradeoff)
        represent = estimator.transform
    scores = fitted_model(model, held_out, represent(rows.X), effort)
    rng = np.random.default_rng([rows.seed, held_out.index])
    judged = evenly_sampled(held_out.codes[:1], effort.picked_rows, rng)
    w = np.ones(len(judged)) if held_out.weights is None else held_out.weights[judged]
    X = held_out.X[judged]

    def decided(found: np.ndarray) -> np.ndarray:
        if rows.target_kind == "number":
            return found[:, 0] / (rows.y.std() or 1.0)  # type: ignore[union-attr]
        if found.shape[1] > 1:
            return found.argmax(axis=1)
        return (found[:, 0] >= threshold).astype(float)

    first = scores(represent(X))
    if rows.target_kind == "binary":
        chosen = select_top(first[:, 0], float(held_out.rate), sample_weight=w)
        threshold = first[chosen, 0].min() if chosen.any() else np.inf
    before, changes = decided(first), {}
    for column, shuffled in _shuffled(held_out, X, rng):
        after = decided(scores(represent(shuffled)))
        change = np.abs(after - before) if rows.target_kind == "number" else after != before
        mean = float(np.average(change, weights=w))
        changes[column] = (mean, float(np.linalg.norm(w * (change - mean)) / w.sum()))
    weights = {}
    if model == "linear" and held_out.n_levels == 1 and setting.tradeoff is None:
        weights = _linear_weights(held_out, estimator, scores.model)
    return changes, weights


def _linear_weights(held_out: HeldOut, estimator: Any, model: Any) -> dict[str, list[Weight]]:
    """Return what each value of a column adds to a linear score; nothing through kernels."""
    coefficients = np.ravel(model.coef_)
    if held_out.rows.y is not None and held_out.rows.target_kind == "number":
        coefficients = coefficients * (held_out.rows.y.std() or 1.0)  # as the target is measured
    if estimator is not None:
        try:
            coefficients, _ = estimator.column_weights(coefficients)
        except UsageError:  # not a linear map
            return {}
    found: dict[str, list[Weight]] = {}
    assert held_out.encoder is not None
    of_vectors = {c.name for c in held_out.encoder.columns_ if c.kind == "vector"}
    for one in held_out.encoder.column_weights(coefficients):
        if one.column in of_vectors:
            continue  # a dimension means nothing by itself
        if max(abs(one.weight), abs(one.effect)) > LARGEST_NUMBER:
            continue  # one more of a column of 1e-300 is no change that could be, and no number
        found.setdefault(one.column, []).append(Weight(one.what, one.weight, one.effect))
    return found
