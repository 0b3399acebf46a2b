"""Moments in, subspace out; one file per problem."""

from ._equalize_covariances import covariance_gap, equalize_covariances_spectral
from ._equalize_covariances_exactly import equalize_covariances_exactly
from ._equalize_distributions import Separability, equalize_distributions
from ._equalize_kernel_means import equalize_kernel_means
from ._equalize_means import (
    check_dimension,
    equalize_means,
    largest_gap,
    mean_constraint,
    mean_gap,
    names_of,
    quantity_hint,
    warn_of_incomplete_strata,
)
from ._maximize_variance import SOLVERS, maximize_variance
from ._predict_targets import predict_targets, target_covariances
from ._subspace import DualSubspace, Subspace

__all__: list[str] = []
