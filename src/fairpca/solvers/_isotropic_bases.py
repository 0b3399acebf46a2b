"""Orthonormal bases in which given symmetric matrices vanish, as a manifold to move on."""

from __future__ import annotations

import numpy as np

from .._numerics import Stiefel

RESTORATIONS = 12
"""Most corrections after a step; each squares the violation."""

VANISHED = 1e-13
"""Violations up to this are rounding, in units of the largest matrix."""

CONJUGATE_STEPS = 60
"""Most steps of the linear solver for several matrices; one matrix takes one."""


class IsotropicBases(Stiefel):
    r"""Matrices with :math:`L^\top L = I` and :math:`L^\top T_g L = 0` for all g.

    The normal space at L is spanned by :math:`L S` and :math:`W_g N_g`, :math:`W_g = T_g L`, with
    symmetric S and N. Both a projection and a correction need N from
    :math:`\sum_h \mathrm{sym}(W_g^\top W_h N_h) = R_g`: for one matrix a Lyapunov equation,
    solved through the eigenvectors of :math:`W^\top W`; for several, conjugate gradients with the
    single ones as preconditioner. No penalty is involved, so nothing is badly scaled.

    Parameters
    ----------
    matrices : array of shape (g, s, s)
        Symmetric matrices of norm 1 or less.
    """

    def __init__(self, matrices: np.ndarray) -> None:
        self.matrices = matrices

    def tangent(self, L: np.ndarray, G: np.ndarray) -> np.ndarray:
        """Project onto the tangent space at L."""
        V = super().tangent(L, G)
        W = self.matrices @ L
        N = _Normal(W).solve(_sym(np.swapaxes(W, 1, 2) @ V))
        along: np.ndarray = V - (W @ N).sum(axis=0)
        return along

    def retract(self, W: np.ndarray) -> np.ndarray | None:
        """Return a point near W, or None if the corrections do not converge."""
        L = super().retract(W)
        before = np.inf
        for _ in range(RESTORATIONS):
            assert L is not None
            TL = self.matrices @ L
            E = _sym(L.T @ TL)
            violation = float(np.abs(E).max())
            if violation <= VANISHED:
                return L
            if violation > 0.5 * before:
                # Rounding, if it is small; else the step was too long.
                return L if violation <= 1e3 * VANISHED else None
            before = violation
            N = _Normal(TL).solve(0.5 * E)
            L = super().retract(L - (TL @ N).sum(axis=0))
        return None


class _Normal:
    """The linear map N_h -> sum_h sym(W_g^T W_h N_h) and its inverse."""

    def __init__(self, W: np.ndarray) -> None:
        self.products = np.einsum("gsk,hsl->ghkl", W, W, optimize=True)
        diagonal = np.einsum("ggkl->gkl", self.products)
        self.values, self.vectors = np.linalg.eigh(diagonal)

    def apply(self, N: np.ndarray) -> np.ndarray:
        return _sym(np.einsum("ghkl,hlm->gkm", self.products, N, optimize=True))

    def _each(self, R: np.ndarray) -> np.ndarray:
        """Solve sym(K_g N_g) = R_g for each g by itself; what nothing determines stays zero."""
        V, v = self.vectors, np.clip(self.values, 0.0, None)
        sums = 0.5 * (v[:, :, None] + v[:, None, :])
        floor = 1e-14 * max(float(v.max()), 1e-300)
        inner = np.swapaxes(V, 1, 2) @ R @ V
        inner = np.where(sums > floor, inner / np.where(sums > floor, sums, 1.0), 0.0)
        N: np.ndarray = V @ inner @ np.swapaxes(V, 1, 2)
        return N

    def solve(self, R: np.ndarray) -> np.ndarray:
        N = self._each(R)
        if len(R) == 1:
            return N
        residual = R - self.apply(N)
        z = self._each(residual)
        p, rz = z, float(np.vdot(residual, z))
        size = float(np.linalg.norm(R))
        for _ in range(CONJUGATE_STEPS):
            if np.linalg.norm(residual) <= 1e-13 * size or rz <= 0:
                break
            Ap = self.apply(p)
            curvature = float(np.vdot(p, Ap))
            if curvature <= 0:
                break
            N = N + (rz / curvature) * p
            residual = residual - (rz / curvature) * Ap
            z = self._each(residual)
            rz, previous = float(np.vdot(residual, z)), rz
            p = z + (rz / previous) * p
        return N


def _sym(A: np.ndarray) -> np.ndarray:
    symmetric: np.ndarray = 0.5 * (A + np.swapaxes(A, -1, -2))
    return symmetric
