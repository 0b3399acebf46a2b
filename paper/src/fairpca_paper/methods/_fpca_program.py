"""The fantope, the semidefinite program of FPCA over it, its certificates, and two solvers.

Operator splitting takes seconds where interior points take an hour. A general conic solver gets the
program as published: slow, and independent of ours.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from fairpca.errors import ResidualWarning, UsageError

from ._base import warn

NO_DIFFERENCE = np.empty(0)

CHECK_EVERY = 25
ADAPT_UNTIL = 1000
"""Steps are rescaled up to here: convergence is proved for steps that stay."""

RELAXATION = 1.6
STEP, BALANCE = 0.25, 0.3
"""Step in units of the largest variance, and that of the penalties relative to it; by trial."""

SOLVERS = ("splitting", "cvxpy")

SCS_ACCURACY, ACCURACY_OF_CONIC_SOLVERS = 1e-6, 1e-5

THREADS_FROM = 256
"""Features from which a decomposition keeps several BLAS threads busy."""

INTERIOR_POINT_UP_TO = 20
"""Features up to which interior points take seconds; their memory grows with the fourth power."""


@dataclass(frozen=True)
class FairSDP:
    r"""Maximise ``<C, P> - price (t_1 + t_2)`` over the fantope, the convex hull of projections.

    C is the covariance (d, d), divisor n, and k the trace of P. :math:`t_i = |S_i P|_2^2` is the
    largest eigenvalue of :math:`P A_i P`, where
    :math:`A_i = S_i^\top S_i = \phi_i I \pm (\Sigma_1 - \Sigma_0)`; the squares of the `roots`
    :math:`S_i` add up to the multiple `shift` :math:`= \phi_1 + \phi_2` of the identity.
    :math:`f^\top P f \le \delta^2` bounds the difference f of the group means, which is empty
    where there is no constraint.
    """

    C: np.ndarray
    roots: tuple[np.ndarray, np.ndarray]
    shift: float
    f: np.ndarray
    k: int
    delta: float
    price: float

    def value(self, P: np.ndarray) -> float:
        """Return the objective at P."""
        norms = [np.linalg.norm(S @ P, 2) for S in self.roots]
        return float(np.vdot(self.C, P) - self.price * np.sum(np.square(norms)))

    def mean_gap(self, P: np.ndarray) -> float:
        r"""Return :math:`\sqrt{f^\top P f}`: for a projection, the distance of the group means."""
        return float(np.sqrt(max(self.f @ P @ self.f, 0.0))) if len(self.f) else 0.0

    def bound(self, U: tuple[np.ndarray, np.ndarray], multiplier: float = 0.0) -> float:
        """Return a number that the objective exceeds nowhere on the feasible set."""
        # Any U and any price >= 0 of the difference of means give one, tight at the subgradients of
        # the penalties: price |Y|_2^2 >= <U, Y> - |U|_*^2 / (4 price) makes the objective linear,
        # and its largest value over the fantope is a sum of k eigenvalues.
        linear, constant = self.C.copy(), 0.0
        if self.price > 0:
            for S, part in zip(self.roots, U, strict=True):
                product = S.T @ part
                linear -= 0.5 * (product + product.T)
                constant += float(np.linalg.norm(part, "nuc")) ** 2 / (4.0 * self.price)
        if len(self.f):
            linear -= multiplier * np.outer(self.f, self.f)
            constant += multiplier * self.delta**2
        return float(np.linalg.eigvalsh(linear)[-self.k :].sum()) + constant

    def feasible(self, P: np.ndarray) -> np.ndarray:
        """Return a matrix of the fantope near P, itself in the fantope, with small enough gap."""
        gap = self.mean_gap(P)
        if gap <= self.delta:
            return P
        share = (self.delta / gap) ** 2
        # Mix with the even spread over all directions without a difference.
        e = self.f / np.linalg.norm(self.f)
        even = (np.eye(len(e)) - np.outer(e, e)) * (self.k / (len(e) - 1))
        return share * P + (1.0 - share) * even

    def without_mean_direction(self) -> tuple[np.ndarray, FairSDP]:
        """Return a basis R of directions without difference, and the problem for ``R^T P R``."""
        # For ``delta = 0``, where P f = 0, it is the same problem with one dimension less.
        R = np.linalg.svd(self.f[None, :])[2][1:].T
        first, second = (np.linalg.qr(S @ R)[1] for S in self.roots)
        smaller = replace(self, C=R.T @ self.C @ R, roots=(first, second), f=NO_DIFFERENCE)
        return R, smaller


@dataclass(frozen=True)
class _Relaxation:
    """A feasible matrix, its value, a number that the value exceeds nowhere, and the steps made."""

    P: np.ndarray
    value: float
    bound: float
    steps: int

    @property
    def gap(self) -> float:
        """Relative duality gap."""
        size = max(abs(self.value), abs(self.bound))
        return max(0.0, self.bound - self.value) / size if size > 0 else 0.0


def relaxed(problem: FairSDP, solver: str, *, tol: float, max_steps: int) -> _Relaxation:
    """Return the solution of one of the `SOLVERS`; warn if its duality gap is above `tol`."""
    few, R = len(problem.C) < THREADS_FROM and solver == "splitting", None
    with threadpool_limits(1 if few else None, user_api="blas"):
        if len(problem.f) and problem.delta == 0:  # the bound would leave no interior
            R, problem = problem.without_mean_direction()
        if solver == "cvxpy":
            found, tol = _solve_by_cvxpy(problem), max(tol, ACCURACY_OF_CONIC_SOLVERS)
        else:
            found = _Splitting(problem).run(tol, max_steps)
    if found.gap > tol:
        warn(
            f"After {found.steps} steps the relative duality gap is {found.gap:.1e}, above "
            f"{tol:.1e}. With the default solver, allow more steps with max_iter, or a larger "
            f"tol. The gap is in duality_gap_.",
            ResidualWarning,
        )
    return found if R is None else replace(found, P=R @ found.P @ R.T)


def nearest_with_sum(values: np.ndarray, total: float) -> np.ndarray:
    """Return the numbers in [0, 1] with the sum `total` that are nearest to the given ones."""
    # They are min(1, max(0, v - theta)). The sum falls with theta and is linear between the
    # breakpoints v - 1 and v: one sort finds the piece that holds the answer, and a division the
    # answer itself.
    d = len(values)
    if not 0 <= total <= d:
        raise UsageError(
            f"{total} cannot be the sum of {d} numbers between 0 and 1. Use a number from 0 to {d}."
        )
    breakpoints = np.concatenate([values - 1.0, values])
    order = np.argsort(breakpoints, kind="stable")
    breakpoints = breakpoints[order]
    falling = np.cumsum(np.where(order < d, 1, -1))  # how many numbers fall after a breakpoint
    drops = falling[:-1] * np.diff(breakpoints)
    sums = d - np.concatenate([[0.0], np.cumsum(drops)])  # at the breakpoints, descending
    piece = min(int(np.searchsorted(-sums, -total, side="right")) - 1, 2 * d - 2)
    too_much = sums[piece] - total
    theta = breakpoints[piece] + (too_much / falling[piece] if falling[piece] else 0.0)
    return np.clip(values - theta, 0.0, 1.0)


def _project_onto_fantope(A: np.ndarray, rank: float) -> np.ndarray:
    r"""Return the nearest matrix P to `A` with :math:`0 \preceq P \preceq I`, trace `rank`."""
    # Vu, Cho, Lei, Rohe. "Fantope projection and selection". NeurIPS 2013.
    values, V = np.linalg.eigh(A)
    return (V * nearest_with_sum(values, rank)) @ V.T


def _project_below_a_cap(
    A: np.ndarray,
    rank: float,
    direction: np.ndarray,
    cap: float,
    *,
    start: float = 0.0,
    rtol: float = 1e-10,
) -> tuple[np.ndarray, float]:
    r"""Return the nearest P in the fantope with :math:`e^\top P e \le` cap, and the cap's price."""
    # It is the projection of A - price e e^T, with price 0 where the cap is not attained; `start`
    # is an estimate of it, e a unit vector, and the rank at most d - 1 + cap.
    ee = np.outer(direction, direction)

    def at(multiplier: float) -> tuple[np.ndarray, float]:
        P = _project_onto_fantope(A - multiplier * ee, rank)
        return P, float(direction @ P @ direction) - cap

    P, excess = at(start)
    low, high = (start, excess), (start, excess)
    if excess < 0.0 and start > 0.0:
        P, excess = at(0.0)
        low = (0.0, excess)
    if low[1] <= rtol * cap:
        return P, low[0]
    width = max(start, low[1])
    while high[1] > 0.0:  # a price that is high enough
        low = high
        P, excess = at(low[0] + width)
        high, width = (low[0] + width, excess), 2.0 * width
    while abs(excess) > rtol * cap and high[0] - low[0] > 1e-15 * high[0]:
        # The Illinois rule: the secant's root, and half the value of an end that stays twice.
        multiplier = low[0] + (high[0] - low[0]) * low[1] / (low[1] - high[1])
        P, excess = at(multiplier)
        if excess > 0.0:
            low, high = (multiplier, excess), (high[0], 0.5 * high[1])
        else:
            low, high = (low[0], 0.5 * low[1]), (multiplier, excess)
    return P, low[0] if excess > 0.0 else high[0]


class _Splitting:
    """The state: P, its copies, and the scaled multipliers that pull them together."""

    # The alternating direction method of multipliers (Boyd et al. 2011) for copies F = P in the
    # fantope and Y_i = S_i P under the penalty. As S_1^T S_1 + S_2^T S_2 is a multiple of the
    # identity, the step in P is an average; the others are three eigendecompositions of order d.

    def __init__(self, problem: FairSDP) -> None:
        self.problem = problem
        d = len(problem.C)
        self.P = np.eye(d) * (problem.k / d)
        self.F, self.u = self.P, np.zeros((d, d))
        self.Y = [S @ self.P for S in problem.roots]
        self.w = [np.zeros_like(Y) for Y in self.Y]
        self.step = STEP * (float(np.linalg.eigvalsh(problem.C)[-1]) or 1.0)
        self.step_y = self.step / (BALANCE * problem.shift) if problem.shift > 0 else self.step
        self.mean_multiplier = 0.0

    def run(self, tol: float, max_steps: int) -> _Relaxation:
        """Return a matrix whose relative duality gap is at most `tol`, if `max_steps` suffice."""
        best = _Relaxation(self.P, -np.inf, np.inf, 0)
        for steps in range(1, max_steps + 1):
            check = steps % CHECK_EVERY == 0 or steps == max_steps
            residuals = self._advance(careful=check)
            if not check:
                continue
            P = self.problem.feasible(self.F)
            value, bound = self.problem.value(P), min(best.bound, self._bound())
            P, value = (P, value) if value > best.value else (best.P, best.value)
            best = _Relaxation(P, value, bound, steps)
            if best.gap <= tol:
                break
            if steps <= ADAPT_UNTIL:
                self._rescale(*residuals)
        return best

    def _advance(self, *, careful: bool) -> tuple[float, float]:
        """Make one step; return how far the copies are apart, and how far they moved."""
        roots, step, step_y = self.problem.roots, self.step, self.step_y
        pull = step * (self.F - self.u)
        for S, Y, w in zip(roots, self.Y, self.w, strict=True):
            pull = pull + step_y * (S.T @ (Y - w))
        self.P = (pull + pull.T) / (2.0 * (step + step_y * self.problem.shift))

        apart = moved = 0.0
        ahead = RELAXATION * self.P + (1.0 - RELAXATION) * self.F + self.u
        before, self.F = self.F, self._project(ahead + self.problem.C / step, careful)
        self.u = ahead - self.F
        apart += step * _square(self.P - self.F)
        moved += step * _square(self.F - before)
        for i, S in enumerate(roots):
            product = S @ self.P
            ahead = RELAXATION * product + (1.0 - RELAXATION) * self.Y[i] + self.w[i]
            self.w[i] = _excess_of_spectral_norm(ahead, self.problem.price / step_y)
            before, self.Y[i] = self.Y[i], ahead - self.w[i]
            apart += step_y * _square(product - self.Y[i])
            moved += step_y * _square(self.Y[i] - before)
        return apart, moved

    def _project(self, M: np.ndarray, careful: bool) -> np.ndarray:
        f, k = self.problem.f, self.problem.k
        if not len(f):
            return _project_onto_fantope(M, k)
        length = float(np.linalg.norm(f))
        P, self.mean_multiplier = _project_below_a_cap(
            M,
            k,
            f / length,
            (self.problem.delta / length) ** 2,
            start=self.mean_multiplier,
            rtol=1e-10 if careful else 1e-3,
        )
        return P

    def _bound(self) -> float:
        squared_length = float(self.problem.f @ self.problem.f) if len(self.problem.f) else 1.0
        first, second = (self.step_y * w for w in self.w)
        return self.problem.bound(
            (first, second), self.step * self.mean_multiplier / squared_length
        )

    def _rescale(self, apart: float, moved: float) -> None:
        """Lengthen steps if the copies are far apart, shorten them if they still move much."""
        factor = float(np.clip((apart / moved) ** 0.25, 0.5, 2.0)) if apart * moved > 0 else 1.0
        if 1 / 1.3 < factor < 1.3:
            return
        self.step, self.step_y = factor * self.step, factor * self.step_y
        self.u, self.w = self.u / factor, [w / factor for w in self.w]
        self.mean_multiplier /= factor


def _excess_of_spectral_norm(M: np.ndarray, weight: float) -> np.ndarray:
    r"""Return ``M - Y`` where Y minimises :math:`w |Y|_2^2 + \frac12 |Y - M|_F^2`."""
    # Y has the singular vectors of M, and its singular values cut off at one level.
    squares, V = np.linalg.eigh(M.T @ M)
    values, V = np.sqrt(np.clip(squares[::-1], 0.0, None)), V[:, ::-1]
    # Cutting the r largest values off at a level is best if 2 w level = sum of what is cut off.
    levels = np.cumsum(values) / (2.0 * weight + np.arange(1, len(values) + 1))
    r = int(np.argmax(np.append(values[1:], 0.0) <= levels)) + 1
    if levels[r - 1] >= values[0]:
        return np.zeros_like(M)
    share = 1.0 - levels[r - 1] / values[:r]
    return (M @ (V[:, :r] * share)) @ V[:, :r].T


def _square(A: np.ndarray) -> float:
    return float(np.vdot(A, A))


def _solve_by_cvxpy(problem: FairSDP) -> _Relaxation:
    """Return the solution of Clarabel (few features) or SCS; its multipliers give the bound."""
    import cvxpy  # takes a second to import

    cp: Any = cvxpy
    d, k = len(problem.C), problem.k
    P, t = cp.Variable((d, d), symmetric=True), cp.Variable(2)
    Y = [cp.Variable((d, d)) for _ in problem.roots]
    fantope = [P >> 0, P << np.eye(d), cp.trace(P) == k]
    links = [Y[i] == S @ P for i, S in enumerate(problem.roots)]
    norms = [cp.bmat([[t[i] * np.eye(d), Y[i].T], [Y[i], np.eye(d)]]) >> 0 for i in range(2)]
    means = [problem.f @ P @ problem.f <= problem.delta**2] if len(problem.f) else []
    goal = cp.Maximize(cp.trace(problem.C @ P) - problem.price * cp.sum(t))
    program = cp.Problem(goal, [*fantope, *links, *norms, *means])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of inaccuracy we warn ourselves, with the gap
        if d <= INTERIOR_POINT_UP_TO:
            program.solve(solver=cp.CLARABEL)
        else:
            program.solve(solver=cp.SCS, eps_abs=SCS_ACCURACY, eps_rel=SCS_ACCURACY)
    if program.status not in (cp.OPTIMAL, cp.OPTIMAL_INACCURATE):
        raise RuntimeError(
            f"The conic solver ended with the status {program.status!r}. Use the default solver, "
            f"which reports its duality gap instead."
        )
    first, second = (np.asarray(link.dual_value, dtype=float) for link in links)
    multiplier = max(0.0, float(means[0].dual_value)) if means else 0.0
    # Both signs: libraries differ in the convention, and any matrix gives a valid bound.
    bounds = [problem.bound((sign * first, sign * second), multiplier) for sign in (1.0, -1.0)]
    solution = problem.feasible(_project_onto_fantope(np.asarray(P.value, dtype=float), k))
    steps = int(program.solver_stats.num_iters or 0)
    return _Relaxation(solution, problem.value(solution), min(bounds), steps)
