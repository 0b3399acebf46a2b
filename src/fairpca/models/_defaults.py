"""What tables are fitted with where nobody says: how many components, how exactly, which kernel."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from ..errors import InfeasibleError

Fitted = TypeVar("Fitted")

USUAL_COMPONENTS = 15

EXACT_KERNEL_ROWS = 2_000
"""Up to this many rows the kernel matrix is used; more are seen through landmarks."""

COVARIANCE_TOLERANCE = 0.05
"""Covariances of many groups are seldom equal in many dimensions, but nearly."""


def usual_components(d: int) -> int:
    """Return how many components are fitted to `d` numbers per row."""
    return max(1, min(USUAL_COMPONENTS, d // 2))


def fit_available_components(fit: Callable[[int], Fitted], k: int) -> Fitted:
    """Fit k components, or fewer where there are not so many: the number was nobody's wish."""
    while True:
        try:
            return fit(k)
        except InfeasibleError as error:
            left = error.available or 0
            if not 0 < left < k:
                raise
            k = left


def component_fallbacks(k: int) -> tuple[int, ...]:
    """Return the numbers of components to try in turn where equal covariances may not exist."""
    return k, max(1, k // 2), max(1, k // 4)


def approximation_for(n_rows: int) -> str | None:
    """Return how a kernel is seen: by its matrix for few rows, through landmarks for many."""
    return "nystroem" if n_rows > EXACT_KERNEL_ROWS else None
