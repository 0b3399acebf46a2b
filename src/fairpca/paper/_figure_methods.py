"""The methods in the figures: those of the paper, and our exact matching of covariances."""

from __future__ import annotations

from typing import Any

from ..estimators import FairPCA
from ._methods import METHODS, make_method

EXACT = "Fair PCA (exact)"
"""Equal covariances, where the paper's Fair PCA-S leaves a gap; not in the paper."""

SHOWN = (*METHODS, EXACT)


def make_shown(name: str, d: int, k: int) -> Any:
    """Return an unfitted estimator with `fit(X, sensitive_features=z)` and `transform(X)`.

    Examples
    --------
    >>> make_shown(EXACT, d=20, k=5).match
    'covariances'
    """
    return FairPCA(k, match="covariances") if name == EXACT else make_method(name, d, k)
