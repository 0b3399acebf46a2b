"""Equal means and equal covariances, exactly: variance maximised over isotropic subspaces."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from ..arrays import to_numpy
from ..stiefel import minimize_on_stiefel

ZERO = 1e-10
"""Eigenvalues of a difference of covariances up to this share of the largest are zero."""

FIRST_PENALTY, HARDER, HARDEST = 10.0, 4.0, 1e6
"""The penalty of the augmented Lagrangian, its growth where that is too slow, and its limit."""

ROUGH = 1e-3
"""Relative gap at which the starts are compared; only the best goes on."""

SOFTEST, BUDGET_GRADIENT = 0.05, 1e-3
"""Where a gap may stay: the first penalty, and how exactly each problem is solved."""

HOPELESS, STALLED = 1e4, 4
"""Rounds at so hard a penalty that do not halve the gap, after which there is none to close."""

PROGRESS = 0.25
"""A violation that falls by less per round calls for a harder penalty."""


@dataclass(frozen=True)
class CovarianceMatch:
    """An orthonormal basis in which group covariances agree, and how well.

    Parameters
    ----------
    L : array of shape (s, k)
        Orthonormal columns, most variance first.
    variance : array of shape (k,)
        Variance along each column.
    gap : float
        Largest Frobenius norm of a group's difference, relative to that of the covariance.
    gradient_norm : float
        Norm of the gradient of the Lagrangian along the manifold, relative to the largest
        variance: first-order optimality.
    evaluations : int
        How often the objective was computed.
    converged : bool
        Whether gap and gradient reached their tolerances.
    """

    L: np.ndarray
    variance: np.ndarray
    gap: float
    gradient_norm: float
    evaluations: int
    converged: bool


def match_covariances(
    C: np.ndarray,
    differences: list[np.ndarray],
    k: int,
    *,
    starts: list[np.ndarray],
    objective: np.ndarray | None = None,
    tol: float = 1e-8,
    max_rounds: int = 60,
    max_steps: int = 400,
    progress: Callable[[str], None] | None = None,
) -> CovarianceMatch:
    r"""Maximise :math:`\mathrm{tr}(L^\top C L)` subject to :math:`L^\top T_g L = 0`.

    Parameters
    ----------
    C : array of shape (s, s)
        Covariance.
    differences : list of arrays of shape (s, s)
        Differences :math:`T_g` of group covariances from their average, without redundant ones.
    k : int
        Number of columns.
    starts : list of arrays of shape (s, k)
        Orthonormal bases to start from.
    objective : array of shape (s, s), optional
        What to maximise in place of C.
    tol : float
        Relative gap to reach. Up to 1e-4 covariances are made equal; more is a budget, of which
        the search makes use to keep more variance.
    max_rounds, max_steps : int
        Most updates of the multipliers, and most steps between two of them.
    progress : callable, optional
        Is told, in words, how far the work is.

    Returns
    -------
    CovarianceMatch

    Notes
    -----
    An augmented Lagrangian with the analytic gradient, minimised by `minimize_on_stiefel`. The
    starts are followed until their gaps are small, then only the one with the most variance. All
    is deterministic, and no row of data is looked at.
    """
    problem = _Lagrangian(C, differences, C if objective is None else objective)

    def follow(state: _State, tol: float) -> _State:
        return _follow(problem, state, tol, max_rounds, max_steps, progress)

    if tol > ROUGH / 10:  # a budget: equal covariances are not asked for
        rough = [_approach(problem, start, tol, max_steps, progress) for start in starts]
        state = best = _best(problem, rough, tol)
    else:
        rough = [follow(problem.begin(start), ROUGH) for start in starts]
        best = _best(problem, rough, ROUGH)
        state = follow(best, tol) if best.gap <= ROUGH else best
    values, V = np.linalg.eigh(state.L.T @ C @ state.L)
    return CovarianceMatch(
        L=state.L @ V[:, ::-1],
        variance=values[::-1],
        gap=state.gap,
        gradient_norm=state.gradient_norm,
        evaluations=sum(r.evaluations for r in rough) + state.evaluations - best.evaluations,
        converged=state.gap <= tol and state.gradient_norm <= max(np.sqrt(tol), 1e-4),
    )


def _best(problem: _Lagrangian, states: list[_State], tol: float) -> _State:
    """Return the state that keeps the most, of those whose gap will do; else the smallest gap."""
    good = [state for state in states if state.gap <= tol]
    if good:
        return max(good, key=lambda state: problem.kept(state.L))
    return min(states, key=lambda state: state.gap)


@dataclass(frozen=True)
class _State:
    L: np.ndarray
    multipliers: np.ndarray
    penalty: float
    gap: float
    gradient_norm: float
    evaluations: int


class _Lagrangian:
    """-tr(L^T M L) + <multipliers, E> + penalty/2 |E|^2 with E_g = L^T T_g L, in units of one.

    M is the objective: the covariance, or the covariance less a penalty.
    """

    def __init__(self, C: np.ndarray, differences: list[np.ndarray], objective: np.ndarray) -> None:
        self.s, self.C = len(C), C
        self.unit = float(np.linalg.norm(objective, 2)) or 1.0
        self.size = max(float(np.linalg.norm(T, 2)) for T in differences) or 1.0
        matrices = [objective / self.unit, *(T / self.size for T in differences)]
        self.stack = np.concatenate(matrices)

    def products(self, L: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return the objective times L, all T_g L, and all L^T T_g L."""
        P = (self.stack @ L).reshape(-1, self.s, L.shape[1])
        return P[0], P[1:], L.T @ P[1:]

    def kept(self, L: np.ndarray) -> float:
        return float(np.vdot(L, self.products(L)[0]))

    def gap(self, L: np.ndarray) -> float:
        _, _, E = self.products(L)
        differences = self.size * np.linalg.norm(E, axis=(1, 2)).max()
        covariance = float(np.linalg.norm(L.T @ (self.C @ L)))
        return float(differences / covariance) if covariance > 0 else 0.0

    def begin(self, L: np.ndarray) -> _State:
        k, count = L.shape[1], len(self.stack) // self.s - 1
        return _State(L, np.zeros((count, k, k)), FIRST_PENALTY, self.gap(L), np.inf, 0)

    def round(self, state: _State, tol: float, max_steps: int, *, update: bool = True) -> _State:
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
        return _State(
            L=found.L,
            multipliers=multipliers + update * penalty * self.products(found.L)[2],
            penalty=min(HARDEST, penalty * harder),
            gap=gap,
            gradient_norm=found.gradient_norm,
            evaluations=state.evaluations + found.evaluations,
        )


def _follow(
    problem: _Lagrangian,
    state: _State,
    tol: float,
    max_rounds: int,
    max_steps: int,
    progress: Callable[[str], None] | None,
) -> _State:
    """Update multipliers until gap and gradient are small, or nothing moves any more."""
    gradient_tol = min(1e-2, state.gradient_norm)
    stalled = 0
    for _ in range(max_rounds):
        before, state = state.gap, problem.round(state, gradient_tol, max_steps)
        _tell(progress, state)
        if state.gap <= tol and state.gradient_norm <= np.sqrt(tol):
            break
        stalled = stalled + 1 if state.penalty >= HOPELESS and state.gap > 0.5 * before else 0
        if stalled == STALLED:
            break
        gradient_tol = max(0.3 * gradient_tol, 0.1 * np.sqrt(tol))
    return state


def _approach(
    problem: _Lagrangian,
    start: np.ndarray,
    tol: float,
    max_steps: int,
    progress: Callable[[str], None] | None,
) -> _State:
    """Double the penalty until the gap is within the budget: no more variance is given up."""
    state = replace(problem.begin(start), penalty=SOFTEST)
    while True:
        penalty = 2.0 * state.penalty
        state = problem.round(state, BUDGET_GRADIENT, max_steps, update=False)
        _tell(progress, state)
        if state.gap <= tol or penalty > HARDEST:
            return state
        state = replace(state, penalty=penalty)


def _tell(progress: Callable[[str], None] | None, state: _State) -> None:
    if progress is not None:
        progress(
            f"covariance gap {state.gap:.1e}, gradient {state.gradient_norm:.1e}, "
            f"{state.evaluations} evaluations"
        )


def largest_isotropic_dimension(T: np.ndarray) -> int:
    r"""Return the largest k for which some orthonormal L has :math:`L^\top T L = 0`.

    min(n+, n-) + n0 from the inertia of T (Sylvester): the most dimensions in which two groups can
    have the same covariance.

    Examples
    --------
    >>> import numpy as np
    >>> largest_isotropic_dimension(np.diag([2.0, 1.0, -3.0, 0.0]))
    2
    """
    values = np.linalg.eigvalsh(to_numpy(T))
    zero = ZERO * np.abs(values).max(initial=0.0)
    positive, negative = int((values > zero).sum()), int((values < -zero).sum())
    return min(positive, negative) + len(values) - positive - negative
