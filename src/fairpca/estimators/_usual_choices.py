"""What is fitted to the encoded columns of a table where nobody says."""

from __future__ import annotations

USUAL_COMPONENTS = 15

EXACT_KERNEL_ROWS = 2_000
"""Up to this many rows the kernel matrix is used; more are seen through landmarks."""

COVARIANCE_TOLERANCE = 0.05
"""Covariances of many groups are seldom equal in many dimensions, but nearly."""


def usual_components(d: int) -> int:
    """Return how many components are fitted to `d` numbers per row."""
    return max(1, min(USUAL_COMPONENTS, d // 2))


def fewer_and_fewer(k: int) -> tuple[int, ...]:
    """Return the numbers of components to try in turn where equal covariances may not exist."""
    return k, max(1, k // 2), max(1, k // 4)


def approximation_for(n_rows: int) -> str | None:
    """Return how a kernel is seen: by its matrix for few rows, through landmarks for many."""
    return "nystroem" if n_rows > EXACT_KERNEL_ROWS else None
