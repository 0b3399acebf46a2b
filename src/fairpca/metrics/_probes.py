"""The classifiers that try to read an attribute from a representation."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from typing import Any, Literal

import numpy as np
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from .._numerics import one_thread
from ..errors import UsageError
from ._kernel_probe import LandmarkFeatures

SMALL = 20_000
"""Up to this many rows a probe is fitted faster by one thread than by several that wait."""

Probe = Literal["linear", "boosting", "kernel"] | Any

PROBES = ("linear", "boosting", "kernel")
"""The probes that have a name."""

KERNEL_C = 10.0
"""Inverse penalty of the kernel probe: its features are small, their squares add up to one."""


def as_classifier(probe: Probe) -> tuple[str, Any]:
    """Name of a probe, and an unfitted classifier for it."""
    if isinstance(probe, str):
        if probe == "linear":
            return probe, make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000))
        if probe == "boosting":
            return probe, HistGradientBoostingClassifier(
                max_iter=50, max_leaf_nodes=8, early_stopping=False, random_state=0
            )
        if probe == "kernel":
            logistic = LogisticRegression(C=KERNEL_C, max_iter=1000)
            return probe, make_pipeline(StandardScaler(), LandmarkFeatures(), logistic)
    scores = hasattr(probe, "predict_proba") or hasattr(probe, "decision_function")
    if isinstance(probe, type) or not (hasattr(probe, "fit") and scores):
        raise UsageError(
            f"probe={probe!r} cannot be fitted and scored: it is none of the 3 known names, nor "
            f"an instance with fit and predict_proba or decision_function. Pass 'linear', "
            f"'boosting', 'kernel', or a scikit-learn classifier."
        )
    return type(probe).__name__, probe


def few_threads(n: int) -> AbstractContextManager[Any]:
    """Keep small fits to one thread: on busy cores threads wait for each other, up to minutes."""
    return one_thread() if n < SMALL else nullcontext()


def level_scores(classifier: Any, T: np.ndarray) -> np.ndarray:
    """Scores of shape (n, m), or (n, 1) for two levels."""
    if hasattr(classifier, "predict_proba"):
        probabilities: np.ndarray = classifier.predict_proba(T)
        return probabilities[:, 1:] if probabilities.shape[1] == 2 else probabilities
    decisions: np.ndarray = classifier.decision_function(T)
    return decisions[:, None] if decisions.ndim == 1 else decisions
