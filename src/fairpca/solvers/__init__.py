"""Moments in, subspace out; one file per problem."""

from .covariance_differences import covariance_gap
from .equalize_covariances import equalize_covariances_spectral
from .equalize_covariances_exactly import equalize_covariances_exactly
from .equalize_kernel_means import equalize_kernel_means
from .equalize_means import equalize_means, largest_gap, mean_constraint, mean_gap
from .kernel_scatter import KernelScatter
from .match_covariances import CovarianceMatch
from .maximize_variance import SOLVERS, maximize_variance
from .subspace import DualSubspace, Subspace

__all__ = [
    "SOLVERS",
    "CovarianceMatch",
    "DualSubspace",
    "KernelScatter",
    "Subspace",
    "covariance_gap",
    "equalize_covariances_exactly",
    "equalize_covariances_spectral",
    "equalize_kernel_means",
    "equalize_means",
    "largest_gap",
    "maximize_variance",
    "mean_constraint",
    "mean_gap",
]
