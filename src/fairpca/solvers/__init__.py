"""Moments in, subspace out; one file per problem."""

from .equalize_covariances import covariance_gap, equalize_covariances_spectral
from .equalize_means import equalize_means, mean_gap
from .maximize_variance import SOLVERS, maximize_variance
from .subspace import Subspace

__all__ = [
    "SOLVERS",
    "Subspace",
    "covariance_gap",
    "equalize_covariances_spectral",
    "equalize_means",
    "maximize_variance",
    "mean_gap",
]
