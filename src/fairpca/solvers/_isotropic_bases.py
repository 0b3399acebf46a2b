"""Orthonormal bases in which given symmetric matrices vanish: whether there are any, and two ways.

By penalties (an augmented Lagrangian), from anywhere to near such a basis; and from there on the
manifold of these bases.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from .._numerics import Objective, Stiefel, minimize_on_stiefel


@dataclass(frozen=True)
class Tolerances:
    """How exactly, and for how long, bases are searched for."""

    zero_of_difference: float = 1e-10
    """Eigenvalues of a difference up to this share of its largest are zero,"""
    zero_of_covariance: float = 1e-9
    """and so are those up to this share of the largest of the covariance."""
    vanished: float = 1e-13
    """Violations up to this are rounding, in units of the largest matrix."""
    restorations: int = 12
    """Most corrections after a step; each squares the violation."""
    conjugate_steps: int = 60
    """Most steps of the linear solver for several matrices; one matrix takes one."""
    first_penalty: float = 10.0
    """The penalty of the augmented Lagrangian,"""
    harder: float = 4.0
    """its growth where a violation"""
    progress: float = 0.25
    """falls by less than this per round,"""
    hardest: float = 1e6
    """and its limit."""
    first_gradient: float = 1e-2
    """How exactly the first problem is solved."""
    softest: float = 0.05
    """Where a gap may stay: the first penalty,"""
    budget_gradient: float = 1e-3
    """and how exactly each problem is solved."""
    hopeless: float = 1e4
    """At so hard a penalty,"""
    stalled: int = 4
    """after so many rounds that do not halve the gap, there is none to close."""
    rounds: int = 60
    """Most updates of the multipliers,"""
    steps_per_round: int = 150
    """and most steps between two of them."""


TOL = Tolerances()


def largest_isotropic_dimension(T: np.ndarray, size: float = 0.0) -> int:
    r"""Return the largest k for which some orthonormal L has :math:`L^\top T L = 0`.

    min(n+, n-) + n0 from the inertia of T (Sylvester): the most dimensions in which two groups can
    have the same covariance. `size` is the largest variance: differences far below it are zero.
    """
    values = np.linalg.eigvalsh(T)
    zero = _zero(values, size)
    positive, negative = int((values > zero).sum()), int((values < -zero).sum())
    return min(positive, negative) + len(values) - positive - negative


def spectral_norm(A: np.ndarray) -> float:
    """Return the largest magnitude of an eigenvalue of a symmetric matrix."""
    return float(np.abs(np.linalg.eigvalsh(A)).max())


def _zero(values: np.ndarray, size: float) -> float:
    """Return up to which magnitude eigenvalues of a difference count as zero."""
    largest = float(np.abs(values).max(initial=0.0))
    return max(TOL.zero_of_difference * largest, TOL.zero_of_covariance * size)


def isotropic_start(C: np.ndarray, T: np.ndarray, k: int) -> list[np.ndarray]:
    """Return a basis with L^T T L = 0, if there is one of k columns: pairs of opposite sign."""
    values, V = np.linalg.eigh(T)
    zero = _zero(values, spectral_norm(C))
    variance = np.einsum("ij,ij->j", V, C @ V)
    by_variance = np.argsort(variance)[::-1]
    plus, minus, flat = (
        [j for j in by_variance if chosen[j]]
        for chosen in (values > zero, values < -zero, np.abs(values) <= zero)
    )
    columns = [V[:, j] for j in flat]
    for i, j in zip(plus, minus, strict=False):
        a, b = values[i], -values[j]
        columns.append((np.sqrt(b) * V[:, i] + np.sqrt(a) * V[:, j]) / np.sqrt(a + b))
    if len(columns) < k:
        return []
    columns.sort(key=lambda column: -float(column @ C @ column))
    return [np.column_stack(columns[:k])]


@dataclass(frozen=True)
class State:
    """Where the search is: a basis, multipliers, and how good they are."""

    L: np.ndarray
    multipliers: np.ndarray
    penalty: float
    gap: float
    gradient_norm: float
    evaluations: int

    @classmethod
    def at(cls, L: np.ndarray, *, gap: float, gradient_norm: float) -> State:
        """Return a state that needs no multipliers."""
        return cls(L, np.zeros((0, 0, 0)), 0.0, gap, gradient_norm, 0)


class Lagrangian:
    """-tr(L^T M L) + <multipliers, E> + penalty/2 |E|^2 with E_g = L^T T_g L, in units of one.

    M is the objective: the covariance, or the covariance less a penalty. Differences that vanish
    with the others are `implied`: they count for the gap only.
    """

    def __init__(
        self,
        C: np.ndarray,
        differences: list[np.ndarray],
        objective: np.ndarray,
        implied: list[np.ndarray],
        progress: Callable[[str], None] | None = None,
    ) -> None:
        self.s, self.C, self.implied, self.progress = len(C), C, implied, progress
        self.unit = spectral_norm(objective) or 1.0
        self.size = max(spectral_norm(T) for T in differences) or 1.0
        matrices = [objective / self.unit, *(T / self.size for T in differences)]
        self.stack = np.concatenate(matrices)

    def products(self, L: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return the objective times L, all T_g L, and all L^T T_g L."""
        P = (self.stack @ L).reshape(-1, self.s, L.shape[1])
        return P[0], P[1:], L.T @ P[1:]

    def kept(self, L: np.ndarray) -> float:
        """Return the objective that L keeps."""
        return float(np.vdot(L, self.products(L)[0]))

    def gap(self, L: np.ndarray) -> float:
        """Return the largest difference inside L, relative to the covariance there."""
        _, _, E = self.products(L)
        differences = self.size * np.linalg.norm(E, axis=(1, 2)).max()
        for T in self.implied:
            differences = max(differences, np.linalg.norm(L.T @ (T @ L)))
        covariance = float(np.linalg.norm(L.T @ (self.C @ L)))
        return float(differences / covariance) if covariance > 0 else 0.0

    def begin(self, L: np.ndarray) -> State:
        """Return the state before the first round."""
        k, count = L.shape[1], len(self.stack) // self.s - 1
        state = State(L, np.zeros((count, k, k)), TOL.first_penalty, self.gap(L), np.inf, 1)
        gradient = Stiefel().tangent(L, self._objective(state)(L)[1])
        return replace(state, gradient_norm=float(np.linalg.norm(gradient)))

    def _objective(self, state: State) -> Objective:
        penalty, multipliers = state.penalty, state.multipliers

        def objective(L: np.ndarray) -> tuple[float, np.ndarray]:
            CL, TL, E = self.products(L)
            M = multipliers + penalty * E
            value = -np.vdot(L, CL) + 0.5 * np.vdot(multipliers + M, E)
            return float(value), 2.0 * ((TL @ M).sum(axis=0) - CL)

        return objective

    def round(self, state: State, tol: float, *, update: bool = True) -> State:
        """Minimise for fixed multipliers, then update them unless told not to."""
        penalty, objective = state.penalty, self._objective(state)
        found = minimize_on_stiefel(objective, state.L, tol=tol, max_steps=TOL.steps_per_round)
        gap = self.gap(found.L)
        harder = TOL.harder if gap > TOL.progress * state.gap else 1.0
        after = State(
            L=found.L,
            multipliers=state.multipliers + update * penalty * self.products(found.L)[2],
            penalty=min(TOL.hardest, penalty * harder),
            gap=gap,
            gradient_norm=found.gradient_norm,
            evaluations=state.evaluations + found.evaluations,
        )
        self.tell(after)
        return after

    def tell(self, state: State) -> None:
        """Say how far the work is, if anybody listens."""
        if self.progress is not None:
            self.progress(
                f"covariance gap {state.gap:.1e}, gradient {state.gradient_norm:.1e}, "
                f"{state.evaluations} evaluations"
            )


def follow(problem: Lagrangian, state: State, tol: float) -> State:
    """Update multipliers until gap and gradient are small, or nothing moves any more."""
    gradient_tol = min(TOL.first_gradient, state.gradient_norm)
    stalled = 0
    for _ in range(TOL.rounds):
        before, state = state.gap, problem.round(state, gradient_tol)
        if state.gap <= tol and state.gradient_norm <= np.sqrt(tol):
            break
        stalled = stalled + 1 if state.penalty >= TOL.hopeless and state.gap > 0.5 * before else 0
        if stalled == TOL.stalled:
            break
        gradient_tol = max(0.3 * gradient_tol, 0.1 * np.sqrt(tol))
    return state


def approach(problem: Lagrangian, start: np.ndarray, tol: float) -> State:
    """Double the penalty until the gap is within the budget: no more variance is given up."""
    state = replace(problem.begin(start), penalty=TOL.softest)
    while True:
        penalty = 2.0 * state.penalty
        state = problem.round(state, TOL.budget_gradient, update=False)
        if state.gap <= tol or penalty > TOL.hardest:
            return state
        state = replace(state, penalty=penalty)


class IsotropicBases(Stiefel):
    """Bases with L^T L = I and L^T T_g L = 0 for symmetric `matrices` T_g of norm 1 or less.

    The normal space at L is spanned by L S and W_g N_g, W_g = T_g L, with symmetric S and N. Both
    a projection and a correction need N from sum_h sym(W_g^T W_h N_h) = R_g: for one matrix a
    Lyapunov equation, solved through the eigenvectors of W^T W; for several, conjugate gradients
    with the single ones as preconditioner. No penalty is involved, so nothing is badly scaled.
    """

    def __init__(self, matrices: np.ndarray) -> None:
        self.matrices = matrices
        self._latest: tuple[np.ndarray, np.ndarray, _Normal] | None = None

    def _at(self, L: np.ndarray) -> tuple[np.ndarray, _Normal]:
        """Return all T_g L and their normal map, which a step needs three times at one L."""
        if self._latest is None or self._latest[0] is not L:
            W = self.matrices @ L
            self._latest = L, W, _Normal(W)
        return self._latest[1:]

    def tangent(self, L: np.ndarray, G: np.ndarray) -> np.ndarray:
        """Project onto the tangent space at L."""
        V = super().tangent(L, G)
        W, normal = self._at(L)
        N = normal.solve(_sym(np.swapaxes(W, 1, 2) @ V))
        return V - (W @ N).sum(axis=0)

    def retract(self, W: np.ndarray) -> np.ndarray | None:
        """Return a point near W, or None if the corrections do not converge."""
        L = super().retract(W)
        before = np.inf
        for _ in range(TOL.restorations):
            assert L is not None
            TL, normal = self._at(L)
            E = _sym(L.T @ TL)
            violation = float(np.abs(E).max())
            if violation <= TOL.vanished:
                return L
            if violation > 0.5 * before:
                # Rounding, if it is small; else the step was too long.
                return L if violation <= 1e3 * TOL.vanished else None
            before = violation
            N = normal.solve(0.5 * E)
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
        return V @ inner @ np.swapaxes(V, 1, 2)

    def solve(self, R: np.ndarray) -> np.ndarray:
        N = self._each(R)
        if len(R) == 1:
            return N
        residual = R - self.apply(N)
        z = self._each(residual)
        p, rz = z, float(np.vdot(residual, z))
        size = float(np.linalg.norm(R))
        for _ in range(TOL.conjugate_steps):
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
    return 0.5 * (A + np.swapaxes(A, -1, -2))
