"""What a solver returns."""

from __future__ import annotations

from dataclasses import dataclass, replace

from ..arrays import Array


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
