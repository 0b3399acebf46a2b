"""A kernel as users describe it, and as what rows make of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from .._rows import Rows
from ..errors import UsageError
from .feature_maps import pilot_centre, scale_gamma
from .kernel import Kernel

FEW = 16
"""So many rows are compared with each other to check a function."""

ASYMMETRIC = 1e-7
"""Largest difference between K and its transpose, relative to its entries, that is rounding."""

SMALLEST = 1e-140
"""Squares of smaller numbers lose digits to underflow."""


@dataclass(frozen=True)
class KernelOptions:
    """The parameters of an estimator that describe its kernel; `gamma` may be a word."""

    kernel: str | Callable[..., float] = "rbf"
    gamma: float | str = "scale"
    degree: float = 3
    coef0: float = 1.0
    kernel_params: Mapping[str, Any] | None = None
    n_jobs: int | None = None

    def for_rows(self, rows: Rows) -> Kernel:
        """Return the kernel with a gamma and a centre that fit the rows."""
        if rows.n_rows == 0:
            raise UsageError(
                "The first batch has no row that counts, so there is nothing to choose the "
                "kernel's features from. Start with a batch that has some."
            )
        largest = float(abs(rows.X).max())
        if 0 < largest < SMALLEST:
            raise UsageError(
                f"Squares of X underflow: its largest entry is {largest:.0e}, so all rows look "
                f"alike to a kernel. Multiply X by a constant first."
            )
        return Kernel(
            self.kernel,
            gamma=self._gamma_for(rows),
            degree=self.degree,
            coef0=float(self.coef0),
            centre=pilot_centre(rows) if self.kernel == "rbf" else None,
            parameters=dict(self.kernel_params or {}),
            n_jobs=self.n_jobs,
        )

    def _gamma_for(self, rows: Rows) -> float:
        if callable(self.kernel):
            return 1.0
        if self.gamma == "scale":
            gamma = scale_gamma(rows)
        else:
            gamma = 1.0 / rows.X.shape[1] if self.gamma == "auto" else float(self.gamma)
        if not 0 < gamma < np.inf:
            raise UsageError(
                f"gamma='scale' is 1 / (d Var(X)) = {gamma:g}: squares of X overflow, or "
                f"underflow. Standardise the features first, or pass a number."
            )
        return gamma


def check_function(kernel: Kernel, X: Any) -> None:
    """Raise unless a user's function gives a number, and the same one for (a, b) and (b, a)."""
    some = X[np.unique(np.linspace(0, X.shape[0] - 1, FEW).astype(int))]
    try:
        K = np.asarray(kernel(some, some.copy()), dtype=float)  # a copy: all pairs, not half
    except (TypeError, ValueError) as reason:
        raise UsageError(
            f"The kernel function failed on a pair of rows: {reason}. It takes two rows, and "
            f"kernel_params as keywords, and returns one number; a function of whole matrices "
            f"can be used with kernel='precomputed'."
        ) from reason
    gap, largest = float(np.abs(K - K.T).max()), float(np.abs(K).max())
    if gap > ASYMMETRIC * largest:
        raise UsageError(
            f"The kernel function is not symmetric: k(a, b) and k(b, a) differ by up to {gap:.1e}, "
            f"where the largest value is {largest:.1e}, so it is no similarity and has no feature "
            f"space. Use (k(a, b) + k(b, a)) / 2 if that is meant."
        )
