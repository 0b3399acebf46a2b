"""What equal means take out of a kernel: a correction of low rank, applied and never formed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from .._numerics import row_space
from ..moments import AttributeMoments
from ._checks import check_attributes
from ._kernel_scatter import KernelScatter

DEPENDENT = 1e-12
"""Contrasts of unit length that differ by less from a combination of others add nothing."""


@dataclass(frozen=True)
class Deflation:
    """K Z (Z^T K Z)^+ Z^T K = A diag(1/m) A^T, with orthonormal Z that diagonalises Z^T K Z."""

    Z: np.ndarray
    A: np.ndarray
    m: np.ndarray

    @property
    def rank(self) -> int:
        """How many directions are taken out."""
        return len(self.m)

    def apply(self, rows: np.ndarray) -> np.ndarray:
        """Return the correction times each row of `rows`."""
        corrected: np.ndarray = ((rows @ self.A) / self.m) @ self.A.T
        return corrected


def deflation_of(scatter: KernelScatter, attributes: Sequence[AttributeMoments]) -> Deflation:
    """Return what equal group means take out of the kernel; raise if there are no groups."""
    check_attributes(attributes)
    Z = np.zeros((scatter.n_rows, 0))
    if attributes:
        pairs = [a.independent_contrasts() for a in attributes]
        sizes = np.concatenate([size for _, size in pairs])
        contrasts = np.vstack([rows for rows, _ in pairs])
        contrasts /= np.where(sizes > 0, sizes, 1.0)[:, None]
        Z = row_space(contrasts, tol=DEPENDENT)[1]
    KZ = scatter.apply(Z.T).T
    M = Z.T @ KZ
    m, E = np.linalg.eigh(0.5 * (M + M.T))
    seen = np.abs(m) > scatter.noise  # the others: contrasts that the kernel does not see
    return Deflation(Z @ E[:, seen], KZ @ E[:, seen], m[seen])
