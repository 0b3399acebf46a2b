"""What a linear solution is called in scikit-learn's words, and when its numbers are worrying."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .._numerics import array_namespace, is_single
from .._rows import LinearMap
from ..errors import ResidualWarning, warn_user
from ..moments import AttributeMoments, GroupMoments, LevelMoments
from ..solvers import CovarianceMatch, Subspace, mean_gap

RESIDUAL_LIMIT, RESIDUAL_LIMIT_SINGLE = 1e-7, 1e-3
"""Gaps above this are reported, in double and single precision."""


def learned_attributes(
    fair: Subspace, moments: GroupMoments, work: GroupMoments, scale: Any
) -> dict[str, Any]:
    """Return what was learned in scikit-learn's words."""
    total = float(array_namespace(work.mean).sum(work.scatter.diagonal))
    return {
        "components_": fair.basis.T,
        "mean_": moments.mean,
        "scale_": scale,
        "explained_variance_": fair.scatter / work.degrees_of_freedom,
        "explained_variance_ratio_": fair.scatter / (total if total > 0 else 1.0),
        "n_components_": fair.basis.shape[1],
        "constraint_rank_": fair.constraint_rank,
        "n_samples_seen_": moments.n_rows,
        "groups_": groups_of(moments.attributes),
        "mean_gap_": mean_gap(work, fair),
        "_map": LinearMap(fair.basis, moments.mean, scale),
    }


TOO_MANY_MAGNITUDES = "the data, or the weights, span too many orders of magnitude. Try scale=True"
TOO_ALIKE = (
    "the kernel values of different rows agree in too many digits for these components. "
    "Standardise the features, use a larger gamma, or fewer components"
)


def warn_of_a_residual(gap: float, precision: float, reason: str = TOO_MANY_MAGNITUDES) -> None:
    """Warn with the number if the constraint holds less exactly than rounding explains."""
    single = is_single(precision)
    if gap > (RESIDUAL_LIMIT_SINGLE if single else RESIDUAL_LIMIT):
        advice = " or float64" if single else ""
        warn_user(
            f"A group mean still differs by {gap:.1e} standard deviations of a component (or a "
            f"numeric attribute correlates by that much), more than rounding explains: "
            f"{reason}{advice}. The number is in mean_gap_.",
            ResidualWarning,
        )


def warn_of_unequal_covariances(match: CovarianceMatch) -> None:
    """Warn with the numbers if the optimiser stopped before covariances or variance were best."""
    if not match.converged:
        warn_user(
            f"Covariances were matched to a relative gap of {match.gap:.1e}, and the search for "
            f"the most variance stopped at a gradient of {match.gradient_norm:.1e} after "
            f"{match.evaluations} evaluations. The gap is in covariance_gap_; a little more "
            f"variance, or a smaller gap, may be possible with other covariance_directions.",
            ResidualWarning,
        )


def gap_from_rounding(
    size: float, coefficients: np.ndarray, values: np.ndarray, weight: float, precision: float
) -> float:
    """Return the group difference that rounding of kernel values can cause in a component.

    `size` is that of a typical kernel value. Its last digit, times the coefficients of a
    component, over the component's standard deviation: this is what evaluating the kernel once
    more, as `transform` does, may change.
    """
    noise = precision * size * np.linalg.norm(coefficients, axis=0)
    counts = values > 0
    return float(np.max(noise[counts] / np.sqrt(values[counts] / weight), initial=0.0))


def groups_of(attributes: Sequence[AttributeMoments]) -> dict[str, Any]:
    """Return the levels of each attribute, or "numeric"."""
    return {
        a.name: list(a.labels) if isinstance(a, LevelMoments) else "numeric" for a in attributes
    }
