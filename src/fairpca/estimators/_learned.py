"""What fits learn, in scikit-learn's words, and how exactly the constraint holds."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

from .._maps import AffineMap, LinearMap
from .._moments import AttributeMoments, GroupMoments, LevelMoments
from .._numerics import is_single
from ..errors import ResidualWarning, warn_user
from ..solvers import Separability

RESIDUAL_LIMIT, RESIDUAL_LIMIT_SINGLE = 1e-7, 1e-3
"""Gaps above this are reported, in double and single precision."""

DISTRIBUTION_PENALTY = 6.0
"""Chosen on held-out data of six data sets: see docs/research/distributions.md."""

MOST_LEFT = 0.5
"""Where readers still see so much of what they see after fair PCA, it is reported."""

TOO_MANY_MAGNITUDES = "the data, or the weights, span too many orders of magnitude. Try scale=True"


def say(line: str) -> None:
    """Report on standard error how far a search is."""
    print(line, file=sys.stderr)  # noqa: T201  (asked for with verbose=True)


def learned_from(fitted: AffineMap, moments: GroupMoments) -> dict[str, Any]:
    """Return an affine map in scikit-learn's words."""
    matrix = {"components_": fitted.matrix.T} if isinstance(fitted, LinearMap) else {}
    return {
        "_map": fitted,
        **matrix,
        "mean_": fitted.mean,
        "n_components_": fitted.n_outputs,
        "n_samples_seen_": moments.n_rows,
        **compared(moments.attributes),
    }


def compared(attributes: Sequence[AttributeMoments]) -> dict[str, Any]:
    """Return the groups that are compared, and the kinds of the factors given which they are."""
    factors: dict[str, str] = {}
    for a in attributes:
        strata = a.stratum if isinstance(a.stratum, tuple) else ()
        factors |= dict.fromkeys((name for name, _ in strata), "categorical")
        factors |= dict.fromkeys(() if a.given is None else a.given.names, "numeric")
    return {"groups_": groups_of(attributes), **({"_factors": factors} if factors else {})}


def groups_of(attributes: Sequence[AttributeMoments]) -> dict[str, Any]:
    """Return the levels of each attribute, or "numeric"."""
    return {
        a.name: list(a.labels) if isinstance(a, LevelMoments) else "numeric" for a in attributes
    }


def warn_of_a_residual(gap: float, precision: float, reason: str) -> None:
    """Warn with the number if the constraint holds less exactly than rounding explains."""
    single = is_single(precision)
    if gap > (RESIDUAL_LIMIT_SINGLE if single else RESIDUAL_LIMIT):
        remedy = " or float64" if single else ""
        warn_user(
            f"A group mean still differs by {gap:.1e} standard deviations of a component (or a "
            f"numeric attribute correlates by that much), more than rounding explains: "
            f"{reason}{remedy}. The number is in mean_gap_.",
            ResidualWarning,
        )


def warn_of_readers(seen: Separability, n_rows: int, k: int, before: str = "fair PCA") -> None:
    """Warn with the numbers if most of what readers see of the groups is still there."""
    began, left = seen.start - seen.null, seen.value - seen.null
    if left > MOST_LEFT * began and left > seen.null:
        warn_user(
            f"With {k} components, readers of {n_rows:,} rows explain {seen.value:.2f} of the "
            f"groups, hardly less than with {before} ({seen.start:.2f}); of shuffled groups they "
            f"explain {seen.null:.2f}. Few directions are left to choose from: use fewer "
            f"components, or a larger distribution_penalty. The number is in separability_.",
            ResidualWarning,
        )
