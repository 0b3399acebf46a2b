"""Classifiers on the representations of all lambdas: solved together, or one after the other."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression

from ..errors import warn_user
from ._logistic_path import logistic_path
from ._parts import TradeoffParts


@dataclass(frozen=True)
class Said:
    """What a classifier says of the test rows: labels, and scores of each of its classes."""

    labels: np.ndarray
    classes: np.ndarray
    scores: np.ndarray | None

    def scores_of(self, label: Any) -> np.ndarray | None:
        """Return one score per row, larger for the label; None if there is none."""
        column = np.flatnonzero(self.classes == label)
        if self.scores is None or len(column) != 1:
            return None
        if self.scores.ndim == 1:  # of two classes: the score of the second
            return self.scores if column[0] == 1 else -self.scores
        return np.asarray(self.scores[:, column[0]])


def is_plain_logistic_regression(classifier: Any, y: np.ndarray) -> bool:
    """Tell whether a classifier minimises the loss of `logistic_path` and nothing else."""
    if type(classifier) is not LogisticRegression or len(np.unique(y)) != 2:
        return False
    p = classifier.get_params()
    return (
        p.get("penalty", "l2") in ("l2", "deprecated")
        and p["l1_ratio"] in (None, 0.0)
        and 0 < p["C"] < np.inf
        and p["fit_intercept"]
        and p["class_weight"] is None
        and p["solver"] != "liblinear"  # penalises the intercept
        and p.get("multi_class", "auto") != "multinomial"  # another penalty
    )


def all_together(
    parts: TradeoffParts,
    classifier: LogisticRegression,
    X_train: Any,
    y: np.ndarray,
    X_test: Any,
    lambdas: Sequence[float],
) -> list[Said]:
    """Fit logistic regression for all lambdas at once; `is_plain_logistic_regression` holds."""
    classes, codes = np.unique(y, return_inverse=True)
    ascending = np.argsort(lambdas, kind="stable")  # neighbours start from each other
    factors = (parts.factor(lambdas[i]) for i in ascending)
    found = logistic_path(parts.common_rows(X_train), codes, factors, classifier.C)
    if not all(model.converged for model in found):
        warn_user(
            "Logistic regression did not converge for some lambdas: C is very large, or the "
            "classes can be separated. Use a smaller C, or solver='refit'.",
            ConvergenceWarning,
        )
    models = [found[i] for i in np.argsort(ascending)]
    weights = np.column_stack([model.weights for model in models])
    scores = parts.common_rows(X_test) @ weights + [model.intercept for model in models]
    return [Said(classes[(column > 0).astype(int)], classes, column) for column in scores.T]


def one_by_one(
    parts: TradeoffParts,
    classifier: Any,
    X_train: Any,
    y: np.ndarray,
    X_test: Any,
    lambdas: Sequence[float],
    *,
    compact: bool,
) -> Iterator[Said]:
    """Fit any classifier anew for every lambda."""
    rows_of = parts.common_rows if compact else parts.both
    train, test = rows_of(X_train), rows_of(X_test)
    for tradeoff in lambdas:
        if compact:
            B = parts.factor(tradeoff)
            seen, new = train @ B, test @ B
        else:
            seen, new = parts.scaled(train, tradeoff), parts.scaled(test, tradeoff)
        fitted = clone(classifier).fit(seen, y)
        yield Said(fitted.predict(new), fitted.classes_, _scores(fitted, new))


def _scores(fitted: Any, rows: np.ndarray) -> np.ndarray | None:
    for method in ("decision_function", "predict_proba"):
        if hasattr(fitted, method):
            return np.asarray(getattr(fitted, method)(rows))
    return None
