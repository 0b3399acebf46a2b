"""Features for a probe that sees any smooth difference: closeness to a few of the rows."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from scipy.spatial.distance import pdist
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.utils.validation import check_is_fitted, validate_data


class LandmarkFeatures(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    r"""Nystroem features of a Gaussian kernel whose width is taken from the rows.

    The kernel is :math:`\exp(-\gamma |a - b|^2)` with :math:`\gamma` one over the median squared
    distance of two landmarks, so that rows at a typical distance have a kernel value of 1/e. On
    standardised columns that is close to 1 / (2k).

    Parameters
    ----------
    n_landmarks : int, default=200
        How many rows are drawn as landmarks; all rows where there are fewer.
    random_state : int, default=0
        Seeds the draw.

    Attributes
    ----------
    landmarks_ : array of shape (p, k)
        The rows drawn.
    gamma_ : float
        Of the kernel.
    normalization_ : array of shape (p, r)
        What kernel values with the landmarks are multiplied with.

    Examples
    --------
    >>> T = np.random.default_rng(0).normal(size=(50, 2))
    >>> features = LandmarkFeatures(n_landmarks=5).fit_transform(T)
    >>> features.shape
    (50, 5)
    """

    def __init__(self, n_landmarks: int = 200, random_state: int = 0) -> None:
        self.n_landmarks = n_landmarks
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None) -> Self:
        """Draw landmarks and choose the width of the kernel."""
        X = validate_data(self, X, dtype=np.float64)
        p = min(self.n_landmarks, len(X))
        drawn = np.random.default_rng(self.random_state).choice(len(X), size=p, replace=False)
        self.landmarks_ = X[np.sort(drawn)]
        self.gamma_ = _one_over_typical_square(self.landmarks_)
        values, vectors = np.linalg.eigh(rbf_kernel(self.landmarks_, gamma=self.gamma_))
        # Equal or nearly equal landmarks are one: directions below rounding are not features.
        counts = values > p * np.finfo(float).eps * values[-1]
        self.normalization_ = vectors[:, counts] / np.sqrt(values[counts])
        return self

    def transform(self, X: Any) -> np.ndarray:
        """Return features of shape (n, r), whose products approximate the kernel."""
        check_is_fitted(self)
        X = validate_data(self, X, dtype=np.float64, reset=False)
        return np.asarray(rbf_kernel(X, self.landmarks_, gamma=self.gamma_) @ self.normalization_)

    @property
    def _n_features_out(self) -> int:
        return int(self.normalization_.shape[1])


def _one_over_typical_square(rows: np.ndarray) -> float:
    squares = pdist(rows, "sqeuclidean")
    different = squares[squares > 0]
    if len(different) == 0:
        return 1.0  # all landmarks are equal: any width says so
    # Where most rows are equal the median is 0; the distances that remain have a scale.
    typical = float(np.median(squares)) or float(np.median(different))
    return 1.0 / typical
