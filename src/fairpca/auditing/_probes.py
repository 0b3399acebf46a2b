"""What tries to recognise the groups of held-out rows."""

from __future__ import annotations

from typing import Any

from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import RidgeClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from ..metrics import LandmarkFeatures

PROBES = ("linear", "boosting", "kernel")
"""Their names."""

MANY_GROUPS = 4
"""Boosting grows a tree per group and round: for more groups, 25 rounds are enough."""

STEPS = 5.0
"""Learning rate times rounds: fewer rounds take larger steps."""


def probe_for(name: str, n_groups: int, boosting_rounds: int = 50) -> Any:
    """Return an unfitted probe for so many groups, as `fairpca.metrics.leakage` takes them.

    They are quicker forms of the probes of `fairpca.metrics`: an audit fits hundreds of them.
    """
    if name == "boosting":
        rounds = min(25, boosting_rounds) if n_groups > MANY_GROUPS else boosting_rounds
        return HistGradientBoostingClassifier(
            max_iter=rounds,
            learning_rate=STEPS / rounds,
            max_leaf_nodes=8,
            max_bins=32,  # instead of 255: a quarter of the time
            early_stopping=False,
            random_state=0,
        )
    if name == "kernel":
        # Ridge instead of logistic regression: as good at ranking, solved at once for all groups.
        return make_pipeline(StandardScaler(), LandmarkFeatures(300), RidgeClassifier(alpha=1.0))
    return "linear"
