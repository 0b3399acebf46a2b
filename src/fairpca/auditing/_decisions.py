"""Models that predict the target, what their decisions do to groups, and at which lambda."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from ..estimators import FairPCA
from ..metrics import group_shares, level_scores, placements, reading_model
from ..tradeoff import PAPERS_TRADEOFFS, TradeoffParts, predictions_along
from ._estimates import largest_difference, mean_and_error, pooled, share_error
from ._results import Estimate, GroupRates, Parity
from ._splits import Effort, HeldOut, evenly_sampled

CURVE_MODELS = ("linear", "kernel")
"""Trees are left out: they do not notice how a column is scaled, hence not lambda."""

LAMBDAS = PAPERS_TRADEOFFS


@dataclass(frozen=True, eq=False)
class Judged:
    """What decisions on the held-out rows of one split come to: accuracy and AUC with their errors.

    `groups` has an array of shape (m, 7) per attribute, as `rates` returns it.
    """

    accuracy: tuple[float, float]
    auc: tuple[float, float]
    groups: list[np.ndarray]


@dataclass(frozen=True, eq=False)
class SplitCurve:
    """The curve of one downstream model on one split; its points are in the order of `LAMBDAS`."""

    model: str
    index: int
    points: list[Judged]


def measure_curve(held_out: HeldOut, model: str, effort: Effort) -> SplitCurve:
    """Judge a downstream model at every lambda; fair PCA is solved once, from one pass."""
    assert held_out.y is not None
    assert held_out.y_train is not None
    rows, chosen = held_out.rows, np.arange(len(held_out.y_train))
    if model != "linear":  # which is solved for all lambdas together
        rng = np.random.default_rng(rows.seed)
        chosen = evenly_sampled([held_out.y_train], effort.curve_rows, rng)
    both = FairPCA(rows.k, tradeoff=1.0, random_state=rows.seed).fit_moments(rows.moments())
    judged, y_train = held_out.judged_rows(effort), held_out.y_train[chosen]
    y, codes = held_out.y[judged], [c[judged] for c in held_out.codes]
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
    points = [judge(np.asarray(s), float(y_train.mean()), y, codes, held_out.sizes) for s in scores]
    return SplitCurve(model, held_out.index, points)


def fit_and_judge(
    name: str,
    train: np.ndarray,
    y_train: np.ndarray,
    test: np.ndarray,
    y_test: np.ndarray,
    codes: Sequence[np.ndarray],
    sizes: Sequence[int],
) -> Judged:
    """Fit a downstream model to the training rows and judge it on the held-out ones."""
    model = reading_model(name, as_is=True)  # as on the curve, where lambda is the columns' scale
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model.fit(train, y_train)
    return judge(level_scores(model, test)[:, 0], float(y_train.mean()), y_test, codes, sizes)


def judge(
    scores: np.ndarray,
    rate: float,
    y: np.ndarray,
    codes: Sequence[np.ndarray],
    sizes: Sequence[int],
) -> Judged:
    """Select a share `rate` of held-out rows, those with the highest scores, and count.

    The share is that of the positive rows among the training rows: at a threshold of one half, a
    model of a rare outcome selects nobody, and no gap can be seen. The threshold is a quantile of
    the held-out scores, without their outcomes. One of the training scores would not do: trees are
    surer of the rows they have learned than of others, and would select a third of the share, with
    gaps as small. Rows with equal scores are decided alike, whichever brings the share nearer: a
    model that says the same of all rows selects nobody if most rows are negative, else all.
    """
    threshold = np.quantile(scores, 1.0 - rate, method="higher")
    with_ties, without = np.mean(scores >= threshold), np.mean(scores > threshold)
    ties_are_in = abs(with_ties - rate) <= abs(without - rate)
    decisions = scores >= threshold if ties_are_in else scores > threshold
    right = decisions == y
    accuracy = float(right.mean())
    return Judged(
        accuracy=(accuracy, float(share_error(accuracy, len(y)))),
        auc=_auc_and_error(scores, y),
        groups=[rates(decisions, y, c, m) for c, m in zip(codes, sizes, strict=True)],
    )


def rates(decisions: np.ndarray, y: np.ndarray, codes: np.ndarray, m: int) -> np.ndarray:
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
    """Return the area under the ROC curve and its standard error (DeLong).

    A perfect order has no spread to estimate an error from; it counts as a share of the rarer kind.
    """
    n1, n0 = int(y.sum()), int((~y).sum())
    if not n1 or not n0:
        return float("nan"), float("nan")
    placed = placements(scores[:, None], y.astype(int))[:, 0]
    above, below = placed[y], placed[~y]
    auc = float(above.mean())
    if auc in (0.0, 1.0):
        return auc, float(share_error(auc, min(n0, n1)))
    variance = float(above.var()) / max(n1 - 1, 1) + float(below.var()) / max(n0 - 1, 1)
    return auc, float(np.sqrt(variance))


def parity(
    attribute: str, labels: Sequence[str], counted: Sequence[np.ndarray], confidence: float
) -> Parity:
    """Return the gaps and the groups' rates over all splits, each `counted` by `rates`.

    Groups without positive rows have no true positive rate; the others are compared.
    """
    tables = np.stack(counted)  # (splits, m, 7)

    def over_splits(column: int, group: int) -> Estimate:
        return pooled(tables[:, group, column], tables[:, group, column + 3], confidence)

    def gap(column: int) -> Estimate:
        # The rates are averaged over the splits first: the mean of each split's own largest
        # difference would be larger by the noise of small groups.
        each = [mean_and_error(t[:, column], t[:, column + 3]) for t in tables.swapaxes(0, 1)]
        return largest_difference([e[0] for e in each], [e[1] for e in each], confidence)

    selected, found, right = (
        [over_splits(column, g) for g in range(len(labels))] for column in (1, 2, 3)
    )
    groups = [
        GroupRates(
            label=label,
            n_rows=round(tables[:, g, 0].mean() * min(2, len(tables))),
            selection_rate=selected[g],
            true_positive_rate=_if_known(found[g]),
            accuracy=right[g],
        )
        for g, label in enumerate(labels)
    ]
    return Parity(attribute, gap(1), _if_known(gap(2)), groups)


def _if_known(estimate: Estimate) -> Estimate | None:
    return None if np.isnan(estimate.value) else estimate
