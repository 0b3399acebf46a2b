"""What a solver returns."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ..arrays import Array
from ..errors import InfeasibleError


@dataclass(frozen=True)
class Subspace:
    """A subspace with an orthonormal basis, most variance first.

    Parameters
    ----------
    basis : array of shape (d, k)
        Orthonormal columns.
    scatter : array of shape (k,)
        Sum of squares of the centred rows along each column.
    constraint_rank : int
        How many directions the constraints took.
    """

    basis: Array
    scatter: Array
    constraint_rank: int = 0

    def first(self, k: int) -> Subspace:
        """Return the span of the first `k` columns."""
        return replace(self, basis=self.basis[:, :k], scatter=self.scatter[:k])


def components_to_reach(values: Array, share: float, total: float) -> int:
    """Return the fewest components whose sums of squares reach a share of the total.

    Raises
    ------
    InfeasibleError
        If all of them together hold less.
    """
    kept = np.cumsum([float(v) for v in values]) / total if total > 0 else np.zeros(1)
    # A share that is reached up to rounding is reached.
    enough = np.flatnonzero(kept >= share * (1 - 1e-12))
    if not len(enough):
        raise InfeasibleError(
            f"n_components={share} asks for {share:.2%} of the variance, but all "
            f"{len(kept)} directions that satisfy the constraint together hold {kept[-1]:.2%}. "
            f"Ask for less, or pass n_components=None for all of them."
        )
    return int(enough[0]) + 1
