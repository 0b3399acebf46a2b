"""Methods of fairlearn, fitted as audits need them; the only file here that imports it."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from ..errors import needing


def fit_correlation_remover(
    X: np.ndarray, S: np.ndarray
) -> Callable[[np.ndarray, np.ndarray], np.ndarray]:
    """Return the function from rows and their groups, as numbers, to rows without correlations."""
    with needing("fairlearn", "parity", "A method of fairlearn"):
        from fairlearn.preprocessing import CorrelationRemover
    centre = S.mean(axis=0)  # of each column; older versions take one mean of all
    remover = CorrelationRemover(sensitive_feature_ids=list(range(S.shape[1])))
    remover.fit(np.hstack([S - centre, X]))
    return lambda X, S: np.asarray(remover.transform(np.hstack([S - centre, X])))


def fit_exponentiated_gradient(
    model: Any, X: np.ndarray, y: np.ndarray, groups: np.ndarray
) -> Callable[[np.ndarray], np.ndarray]:
    """Return the function from rows to their chances of being selected."""
    with needing("fairlearn", "parity", "A method of fairlearn"):
        from fairlearn.reductions import DemographicParity, ExponentiatedGradient
    reduction = ExponentiatedGradient(model, DemographicParity())
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of models that a step of the game fits roughly
        reduction.fit(X, y.astype(int), sensitive_features=groups)
    drawn = [(w, reduction.predictors_[i]) for i, w in reduction.weights_.items() if w > 0]
    return lambda rows: sum((w * one.predict(rows) for w, one in drawn), np.zeros(len(rows)))
