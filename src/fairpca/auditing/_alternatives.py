"""Plain alternatives to a fair representation: what others try first, measured as ours are.

They are for comparison, and never recommended: see `ALTERNATIVES`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.stats import norm
from sklearn.tree import DecisionTreeClassifier

from ..errors import MissingExtraError
from ..metrics import PROBES, cross_fitted_aucs, make_probe
from ..models import FEWEST_ROWS
from ._evidence import comparison, largest, widest_gap
from ._fairlearn import fit_correlation_remover, fit_exponentiated_gradient
from ._findings import Findings
from ._measures import (
    Measures,
    fitted_model,
    measure_columns,
    sampled_with_rare_groups,
    weighed_back,
)
from ._results import Alternative, ModelNumbers, Parity, Setting, Settings, Target
from ._splits import Effort, HeldOut, bands, evenly_sampled

_FOLDS = 5  # of the training half, for scores of rows that their model has not seen
_PERMUTATIONS = 100  # for the spread of the AUC of a column that says nothing


@dataclass(frozen=True)
class _Plain:
    """A method beside ours: what it does and needs, and how it is measured on one split.

    One that is `for_decisions` is about a binary target. `randomised` decisions may be others about
    the same person next time.
    """

    name: str
    how: str
    measure: Callable[[HeldOut, Setting, Effort, float], Measures]
    needs_attribute: bool
    for_decisions: bool = False
    randomised: bool = False


def settings_of(target: Target | None) -> list[Setting]:
    """Return the alternatives that there are for a target, or without one."""
    binary = target is not None and target.kind == "binary"
    return [Setting(key) for key, one in ALTERNATIVES.items() if binary or not one.for_decisions]


def measure_alternative(
    held_out: HeldOut, setting: Setting, effort: Effort, confidence: float
) -> Measures:
    """Measure one alternative on one split; without its library, say what installs it."""
    plain = ALTERNATIVES[setting.method]
    if plain.needs_attribute and "probabilities" in held_out.kinds:
        failure = "It needs the group of each person, and probabilities are all that is known."
        return Measures(setting, held_out.index, failure=failure)
    try:
        return plain.measure(held_out, setting, effort, confidence)
    except MissingExtraError as error:
        return Measures(setting, held_out.index, failure=str(error))


def told_alternatives(
    findings: Findings, settings: Settings, singles: Sequence[str]
) -> list[Alternative]:
    """Return what the splits showed of each alternative, by the numbers that options have."""
    return [_told(findings, settings, singles, setting) for setting in findings.all]


def _told(
    findings: Findings, settings: Settings, singles: Sequence[str], setting: Setting
) -> Alternative:
    plain, found = ALTERNATIVES[setting.method], findings.all[setting]
    failure = next((m.failure for m in found if m.failure is not None), None)
    models = [model for model in PROBES if (setting, model) in findings.judged]
    asked = [model for model in models if settings.model in ("any", model)] or models
    numbers: list[ModelNumbers] = []
    compared: dict[str, Parity] = {}
    for model in models:
        known = [
            parity
            for parity in findings.parities[setting, model]
            if parity.attribute in singles and parity.gap is not None
        ]
        worst = max(known, key=_gap_of, default=None)
        name, gap = worst.attribute if worst else singles[0], widest_gap([p.gap for p in known])
        numbers.append(ModelNumbers(model, findings.utilities[setting, model], gap, name))
        if worst is not None and model in asked:
            compared[model] = worst
    gap_model = max(compared, key=lambda model: _gap_of(compared[model]), default=None)
    widest = None if gap_model is None else compared[gap_model]
    useful = [n for n in numbers if n.model in asked and n.utility is not None]
    best = max(useful, key=lambda n: n.utility.value, default=None)  # type: ignore[union-attr]
    leaks = [
        leak
        for leak in findings.leaks
        if leak.representation == str(setting) and leak.attribute in singles
    ]
    leak = largest(leaks) if leaks else None
    kept = findings.variance_kept(setting) if findings.target is None else None
    made = [m.n_columns for m in found if m.n_columns]
    decided = [of.mean() for m in found for of in m.decided.values()]
    return Alternative(
        key=setting.method,
        name=plain.name,
        how=plain.how,
        needs_attribute=plain.needs_attribute,
        randomised=plain.randomised,
        n_columns=round(np.median(made)) if made and failure is None else None,
        left_out=[] if failure else _mostly_left_out(found),
        gap=widest_gap([n.gap for n in numbers if n.model in asked]),
        gap_attribute=widest.attribute if widest else None,
        gap_model=gap_model,
        gap_groups=comparison(widest) if widest else None,
        ratio=widest.ratio if widest else None,
        utility=best.utility if best else kept,
        utility_model=best.model if best else None,
        leak=leak.auc if leak else None,
        leak_attribute=leak.attribute if leak else None,
        leak_probe=leak.probe if leak else None,
        leak_above_chance=leak.above_chance if leak else None,
        selected=float(np.mean(decided)) if decided and failure is None else None,
        models=numbers,
        failure=failure,
    )


def _gap_of(parity: Parity) -> float:
    return 0.0 if parity.gap is None else parity.gap.value


def _mostly_left_out(found: Sequence[Measures]) -> list[str]:
    """Return the columns that most splits leave out, those of all splits first."""
    counts = Counter(name for m in found for name in m.left_out)
    return [name for name, n in counts.most_common() if 2 * n > len(found)]


# Without the proxies


def _without_proxies(
    held_out: HeldOut, setting: Setting, effort: Effort, confidence: float
) -> Measures:
    """Leave out every column that alone predicts an attribute, and use the others as they are."""
    assert held_out.encoder is not None
    proxies = _proxies(held_out, effort, confidence)
    places = held_out.encoder.outputs_by_column
    kept = [where for column, where in places.items() if column not in proxies]
    if not sum(map(len, kept)):
        failure = f"All {len(places)} columns predict an attribute: nothing would be left."
        return Measures(setting, held_out.index, failure=failure)
    columns = np.sort(np.concatenate(kept))
    T_train, T = held_out.rows.X[:, columns], held_out.X[:, columns]
    found = measure_columns(held_out, setting, T_train, T, effort)
    return replace(found, left_out=tuple(proxies))


def _proxies(held_out: HeldOut, effort: Effort, confidence: float) -> list[str]:
    """Return the columns that alone predict an attribute better than chance, strongest first.

    A small tree reads one column in the training half, cross-fitted there. Its AUC is compared with
    those of shuffled groups, at the level of the audit, corrected for all columns and attributes
    (Bonferroni).
    """
    assert held_out.encoder is not None
    rows, places = held_out.rows, held_out.encoder.outputs_by_column
    rng = np.random.default_rng([rows.seed, held_out.index])
    beyond = dict.fromkeys(places, 0.0)  # chance, in standard deviations
    for codes in held_out.codes_train[: held_out.n_single]:
        chosen = sampled_with_rare_groups(codes, effort.probe_rows, rng)
        weights = weighed_back(rows.weights, codes, chosen)
        seed = int(rng.integers(2**31 - 1))
        for column, where in places.items():
            tree = DecisionTreeClassifier(max_leaf_nodes=8, min_samples_leaf=20, random_state=0)
            draws = cross_fitted_aucs(
                rows.X[np.ix_(chosen, where)],
                codes[chosen],
                tree,
                effort.folds,
                _PERMUTATIONS,
                seed,
                sample_weight=weights,
            )
            spread = float(np.sqrt(np.mean((draws.chance_draws - 0.5) ** 2)))
            if spread > 0:
                beyond[column] = max(beyond[column], (draws.auc - 0.5) / spread)
    limit = norm.isf((1 - confidence) / (len(places) * held_out.n_single))
    return sorted((c for c in places if beyond[c] > limit), key=lambda c: -beyond[c])


# With the groups


def _group_thresholds(
    held_out: HeldOut, setting: Setting, effort: Effort, confidence: float
) -> Measures:
    """Rank people within their group, by the scores of models of the raw features."""
    judged = held_out.judged_rows(effort)
    cells_train, cells = _joint_groups(held_out)
    w = held_out.rows.weights
    w = np.ones(len(cells_train)) if w is None else w
    scores = {}
    for model in PROBES:
        seen = _scores_of_unseen(model, held_out, effort)
        score = fitted_model(model, held_out, held_out.rows.X, effort)(held_out.X[judged])[:, 0]
        ranks = _share_below(score, seen, w)
        for cell in range(cells_train.max() + 1):
            own, rows = cells[judged] == cell, cells_train == cell
            ranks[own] = _share_below(score[own], seen[rows], w[rows])
        scores[model] = ranks[:, None]
    return Measures(setting, held_out.index, scores=scores)


def _joint_groups(held_out: HeldOut) -> tuple[np.ndarray, np.ndarray]:
    """Return the joint group of each row that is fitted to, and of each that is held out.

    It is -1 where an attribute is unknown, and in joint groups with too few rows to fit to.
    """
    n = held_out.n_single
    train, held = (np.stack(c[:n], axis=1) for c in (held_out.codes_train, held_out.codes))
    known = train[(train >= 0).all(axis=1)]
    distinct, counts = np.unique(known, axis=0, return_counts=True)
    cells_train, cells = np.full(len(train), -1), np.full(len(held), -1)
    for cell, levels in enumerate(distinct[counts >= FEWEST_ROWS]):
        cells_train[(train == levels).all(axis=1)] = cell
        cells[(held == levels).all(axis=1)] = cell
    return cells_train, cells


def _scores_of_unseen(model: str, held_out: HeldOut, effort: Effort) -> np.ndarray:
    """Return scores of the training half, each by a model that has not seen the person.

    Models, above all trees, are surer of the rows that they have learned than of others.
    """
    rows, people = held_out.rows, held_out.people_train
    assert rows.y is not None
    rng = np.random.default_rng([rows.seed, held_out.index])
    _, once, person = np.unique(people, return_index=True, return_inverse=True)
    order = np.lexsort((rng.random(len(once)), bands(rows.y)[once]))
    fold = np.empty(len(once), dtype=int)
    fold[order] = np.arange(len(once)) % _FOLDS
    found = np.empty(len(people))
    for i in range(_FOLDS):
        left_out = fold[person] == i
        kept = replace(
            rows,
            X=rows.X[~left_out],
            y=rows.y[~left_out],
            weights=None if rows.weights is None else rows.weights[~left_out],
        )
        fitted = fitted_model(model, replace(held_out, rows=kept), kept.X, effort)
        found[left_out] = fitted(rows.X[left_out])[:, 0]
    return found


def _share_below(values: np.ndarray, among: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Return the share of the weight below each value, with half of that at the value."""
    order = np.argsort(among)
    below = np.append(0.0, np.cumsum(weights[order])) / weights.sum()
    ends = (np.searchsorted(among[order], values, side) for side in ("left", "right"))
    return np.asarray(sum(below[end] for end in ends) / 2)


# fairlearn's


def _correlation_remover(
    held_out: HeldOut, setting: Setting, effort: Effort, confidence: float
) -> Measures:
    """Subtract from every column what the groups explain of it, in new rows by their groups."""
    n, rows = held_out.n_single, held_out.rows
    drawn = _drawn_by_weight(held_out)
    of_train, of_held = [], []
    for train, held in zip(held_out.codes_train[:n], held_out.codes[:n], strict=True):
        known = train[drawn][train[drawn] >= 0]
        levels = np.eye(int(train.max()) + 1)
        of_level = np.vstack([levels, levels[known].mean(axis=0)])[:, 1:]  # the last: unknown
        of_train.append(of_level[train])
        of_held.append(of_level[held])
    S_train, S = np.hstack(of_train), np.hstack(of_held)
    remove = fit_correlation_remover(rows.X[drawn], S_train[drawn])
    T_train, T = remove(rows.X, S_train), remove(held_out.X, S)
    return measure_columns(held_out, setting, T_train, T, effort)


def _exponentiated_gradient(
    held_out: HeldOut, setting: Setting, effort: Effort, confidence: float
) -> Measures:
    """Fit linear models to changed weights of rows until a lottery among them is even."""
    rows = held_out.rows
    assert rows.y is not None
    rng = np.random.default_rng([rows.seed, held_out.index])
    drawn = _drawn_by_weight(held_out)
    drawn = drawn[evenly_sampled([bands(rows.y[drawn])], effort.train_rows, rng)]
    groups = _joint_groups(held_out)[0]
    linear = make_probe("linear", as_is=True)
    chances = fit_exponentiated_gradient(linear, rows.X[drawn], rows.y[drawn], groups[drawn])
    found = chances(held_out.X[held_out.judged_rows(effort)])[:, None]
    decided = rng.random(found.shape) < found
    return Measures(setting, held_out.index, scores={"linear": found}, decided={"linear": decided})


def _drawn_by_weight(held_out: HeldOut) -> np.ndarray:
    """Return the rows to fit to; where rows have weights, as many drawn by them.

    For methods that take no weights.
    """
    rows, n = held_out.rows, len(held_out.rows.X)
    if rows.weights is None:
        return np.arange(n)
    rng = np.random.default_rng([rows.seed, held_out.index])
    return np.sort(rng.choice(n, size=n, p=rows.weights / rows.weights.sum()))


ALTERNATIVES = {
    "without_proxies": _Plain(
        "Without the proxies",
        "Leaves out every column that alone predicts an attribute better than chance on the "
        "training data, and keeps the others as they are. Together these may still predict it.",
        _without_proxies,
        needs_attribute=False,
    ),
    "group_thresholds": _Plain(
        "Thresholds per group",
        "Models of the raw features, and for each joint group the threshold at which it has the "
        "same selection rate on the training data. Groups of fewer than "
        f"{FEWEST_ROWS} training rows have the threshold of all.",
        _group_thresholds,
        needs_attribute=True,
        for_decisions=True,
    ),
    "correlation_remover": _Plain(
        "CorrelationRemover",
        "From fairlearn: subtracts from every column what the person's groups explain of it in a "
        "linear model.",
        _correlation_remover,
        needs_attribute=True,
    ),
    "exponentiated_gradient": _Plain(
        "ExponentiatedGradient",
        "From fairlearn: a lottery among linear models that has nearly equal selection rates in "
        "all joint groups of the training data. It sets by itself how many people it selects.",
        _exponentiated_gradient,
        needs_attribute=False,
        for_decisions=True,
        randomised=True,
    ),
}
"""What is measured, by its key: with plain scikit-learn, then with fairlearn (extra `parity`)."""
