"""How good a representation of a test split is: the paper's way, and an honest one.

The paper's (that of Lee et al. 2022) trains the downstream models on the projected *test* split and
scores them on the same rows, which is how an accuracy of 99.93 % comes about. It is reproduced here
and recommended nowhere; ``held-out`` trains on the training split.
"""

from __future__ import annotations

import warnings
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import clone
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from ..metrics import selection_rate_gap

PAPER, HELD_OUT = "paper", "held-out"
PROTOCOLS = (PAPER, HELD_OUT)

DOWNSTREAM = {
    "kernel_svm": SVC(C=1.0, gamma=1.0),
    "linear_svm": SVC(C=1.0, kernel="linear"),
    "mlp": MLPClassifier((10, 5), max_iter=10_000, random_state=999),
}
PROBES = {
    "linear": make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000)),
    "boosting": HistGradientBoostingClassifier(max_iter=50, random_state=0),
}


class Projected(NamedTuple):
    """Rows of a representation with their labels and groups.

    Parameters
    ----------
    T : array of shape (n, k)
        Representation.
    y, z : array of shape (n,)
        Labels and groups, 0 or 1.
    """

    T: np.ndarray
    y: np.ndarray
    z: np.ndarray


def downstream(train: Projected, test: Projected) -> dict[str, float]:
    """Return accuracy in percent and parity gap of the paper's three downstream models."""
    values = {}
    for name, model in DOWNSTREAM.items():
        predicted = _fitted(model, train).predict(test.T)
        values[f"{name}_acc_pct"] = 100 * float(np.mean(predicted == test.y))
        values[f"{name}_dp"] = selection_rate_gap(predicted, test.z)
    return values


def _fitted(model: Any, train: Projected) -> Any:
    """Fit a clone; scikit-learn's MLP takes Ctrl-C for the end of training, we do not."""
    with warnings.catch_warnings():
        warnings.filterwarnings("error", message="Training interrupted by user")
        try:
            return clone(model).fit(train.T, train.y)
        except UserWarning as interrupted:
            raise KeyboardInterrupt from interrupted


def attribute_auc(train: Projected, test: Projected) -> dict[str, float]:
    """Return the AUC with which a linear and a boosting probe read the group on test rows."""
    return {
        f"{name}_probe_auc": float(roc_auc_score(test.z, _scores(probe, train, test)))
        for name, probe in PROBES.items()
    }


def _scores(probe: Any, train: Projected, test: Projected) -> np.ndarray:
    scores: np.ndarray = clone(probe).fit(train.T, train.z).predict_proba(test.T)[:, 1]
    return scores
