"""What fits learn, in scikit-learn's words, and how exactly the constraint holds."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .._maps import LinearMap
from .._moments import AttributeMoments, GroupMoments, LevelMoments
from .._numerics import is_single
from ..errors import ResidualWarning, warn_user

RESIDUAL_LIMIT, RESIDUAL_LIMIT_SINGLE = 1e-7, 1e-3
"""Gaps above this are reported, in double and single precision."""

TOO_MANY_MAGNITUDES = "the data, or the weights, span too many orders of magnitude. Try scale=True"


def learned_from(linear: LinearMap, moments: GroupMoments) -> dict[str, Any]:
    """Return a linear map in scikit-learn's words."""
    return {
        "_map": linear,
        "components_": linear.matrix.T,
        "mean_": linear.mean,
        "n_components_": int(linear.matrix.shape[1]),
        "n_samples_seen_": moments.n_rows,
        "groups_": groups_of(moments.attributes),
    }


def groups_of(attributes: Sequence[AttributeMoments]) -> dict[str, Any]:
    """Return the levels of each attribute, or "numeric"."""
    return {
        a.name: list(a.labels) if isinstance(a, LevelMoments) else "numeric" for a in attributes
    }


def warn_of_a_residual(gap: float, precision: float, reason: str) -> None:
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
