"""Models that predict the target, and what their decisions do to groups."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.exceptions import ConvergenceWarning
from sklearn.kernel_approximation import Nystroem
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

from ..metrics import group_shares, placements
from ._estimates import largest_difference, mean_and_error, pooled, share_error
from ._results import Estimate, GroupRates, Parity

MODELS = ("linear", "boosting", "kernel")
LANDMARKS = 200


def downstream_model(name: str, T: np.ndarray, seed: int) -> Any:
    """Return an unfitted classifier for rows like `T`."""
    if name == "linear":
        return LogisticRegression(max_iter=1000)
    if name == "boosting":
        return HistGradientBoostingClassifier(
            max_iter=100, max_leaf_nodes=15, max_bins=64, early_stopping=False, random_state=seed
        )
    spread = float(T.var(axis=0).sum())
    landmarks = Nystroem(
        gamma=1.0 / spread if spread > 0 else 1.0,
        n_components=min(LANDMARKS, len(T)),
        random_state=seed,
    )
    return make_pipeline(landmarks, LogisticRegression(C=10.0, max_iter=1000))


@dataclass(frozen=True, eq=False)
class Judged:
    """What a set of decisions on the held-out rows of one split comes to.

    Parameters
    ----------
    accuracy, auc : (float, float)
        Each with its standard error.
    groups : list of arrays of shape (m, 7)
        For each attribute and group: rows, selection rate, true positive rate (NaN without
        positive rows), accuracy; and the standard errors of the last three.
    """

    accuracy: tuple[float, float]
    auc: tuple[float, float]
    groups: list[np.ndarray]


def fit_and_judge(
    name: str,
    train: np.ndarray,
    y_train: np.ndarray,
    test: np.ndarray,
    y_test: np.ndarray,
    codes: Sequence[np.ndarray],
    sizes: Sequence[int],
    seed: int,
) -> Judged:
    """Fit a downstream model to the training rows and judge it on the held-out ones."""
    model = downstream_model(name, train, seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # a rough fit is a model, too
        model.fit(train, y_train)
    return judge(_scores(model, test), float(y_train.mean()), y_test, codes, sizes)


def judge(
    scores: np.ndarray,
    rate: float,
    y: np.ndarray,
    codes: Sequence[np.ndarray],
    sizes: Sequence[int],
) -> Judged:
    """Turn scores into decisions and count.

    Parameters
    ----------
    scores : array of shape (n,)
        Of the held-out rows.
    rate : float
        Share of them to be selected: that of the positive rows among the training rows.
    y : array of bool of shape (n,)
        Whether held-out rows are positive.
    codes, sizes : for each attribute
        Group of each held-out row, -1 where unknown; and the number of groups.

    Notes
    -----
    The model selects those with the highest scores, as many as are positive in its training rows:
    at a threshold of one half, a model of a rare outcome selects nobody, and no gap can be seen.
    The threshold is a quantile of the held-out scores, without their outcomes. One of the training
    scores would not do: trees are surer of the rows they have learned than of others, and would
    select a third of the share, with gaps as small. Rows with equal scores are decided alike,
    whichever brings the share nearer: a model that says the same of all rows selects nobody if
    most rows are negative, else all.
    """
    threshold = np.quantile(scores, 1.0 - rate, method="higher")
    with_ties, without = np.mean(scores >= threshold), np.mean(scores > threshold)
    ties_are_in = abs(with_ties - rate) <= abs(without - rate)
    decisions = scores >= threshold if ties_are_in else scores > threshold
    right = decisions == y
    accuracy = float(right.mean())
    return Judged(
        accuracy=(accuracy, float(share_error(accuracy, len(y)))),
        auc=auc_and_error(scores, y),
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


def auc_and_error(scores: np.ndarray, y: np.ndarray) -> tuple[float, float]:
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
    """Return the gaps and the groups' rates over all splits.

    Parameters
    ----------
    counted : sequence of arrays of shape (m, 7)
        From `rates`, one per split.

    Notes
    -----
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


def _scores(model: Any, T: np.ndarray) -> np.ndarray:
    if hasattr(model, "decision_function"):
        return np.asarray(model.decision_function(T))
    return np.asarray(model.predict_proba(T)[:, 1])
