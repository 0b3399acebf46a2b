"""Bases that bring covariances together, by penalties: from anywhere to near a solution."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from .._numerics import minimize_on_stiefel

FIRST_PENALTY, HARDER, HARDEST = 10.0, 4.0, 1e6
"""The penalty of the augmented Lagrangian, its growth where that is too slow, and its limit."""

SOFTEST, BUDGET_GRADIENT = 0.05, 1e-3
"""Where a gap may stay: the first penalty, and how exactly each problem is solved."""

HOPELESS, STALLED = 1e4, 4
"""Rounds at so hard a penalty that do not halve the gap, after which there is none to close."""

PROGRESS = 0.25
"""A violation that falls by less per round calls for a harder penalty."""


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
    ) -> None:
        self.s, self.C, self.implied = len(C), C, implied
        self.unit = float(np.linalg.norm(objective, 2)) or 1.0
        self.size = max(float(np.linalg.norm(T, 2)) for T in differences) or 1.0
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
        return State(L, np.zeros((count, k, k)), FIRST_PENALTY, self.gap(L), np.inf, 0)

    def round(self, state: State, tol: float, max_steps: int, *, update: bool = True) -> State:
        """Minimise for fixed multipliers, then update them unless told not to."""
        penalty, multipliers = state.penalty, state.multipliers

        def objective(L: np.ndarray) -> tuple[float, np.ndarray]:
            CL, TL, E = self.products(L)
            M = multipliers + penalty * E
            value = -np.vdot(L, CL) + 0.5 * np.vdot(multipliers + M, E)
            return float(value), 2.0 * ((TL @ M).sum(axis=0) - CL)

        found = minimize_on_stiefel(objective, state.L, tol=tol, max_steps=max_steps)
        gap = self.gap(found.L)
        harder = HARDER if gap > PROGRESS * state.gap else 1.0
        return State(
            L=found.L,
            multipliers=multipliers + update * penalty * self.products(found.L)[2],
            penalty=min(HARDEST, penalty * harder),
            gap=gap,
            gradient_norm=found.gradient_norm,
            evaluations=state.evaluations + found.evaluations,
        )


def follow(
    problem: Lagrangian,
    state: State,
    tol: float,
    max_rounds: int,
    max_steps: int,
    progress: Callable[[str], None] | None,
) -> State:
    """Update multipliers until gap and gradient are small, or nothing moves any more."""
    gradient_tol = min(1e-2, state.gradient_norm)
    stalled = 0
    for _ in range(max_rounds):
        before, state = state.gap, problem.round(state, gradient_tol, max_steps)
        tell(progress, state)
        if state.gap <= tol and state.gradient_norm <= np.sqrt(tol):
            break
        stalled = stalled + 1 if state.penalty >= HOPELESS and state.gap > 0.5 * before else 0
        if stalled == STALLED:
            break
        gradient_tol = max(0.3 * gradient_tol, 0.1 * np.sqrt(tol))
    return state


def approach(
    problem: Lagrangian,
    start: np.ndarray,
    tol: float,
    max_steps: int,
    progress: Callable[[str], None] | None,
) -> State:
    """Double the penalty until the gap is within the budget: no more variance is given up."""
    state = replace(problem.begin(start), penalty=SOFTEST)
    while True:
        penalty = 2.0 * state.penalty
        state = problem.round(state, BUDGET_GRADIENT, max_steps, update=False)
        tell(progress, state)
        if state.gap <= tol or penalty > HARDEST:
            return state
        state = replace(state, penalty=penalty)


def tell(progress: Callable[[str], None] | None, state: State) -> None:
    """Say how far the work is, if anybody listens."""
    if progress is not None:
        progress(
            f"covariance gap {state.gap:.1e}, gradient {state.gradient_norm:.1e}, "
            f"{state.evaluations} evaluations"
        )
