"""The program of FPCA by operator splitting: seconds where interior points take an hour."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ._fantope import project_below_a_cap, project_onto_fantope
from ._fpca_problem import FairSDP

CHECK_EVERY = 25
ADAPT_UNTIL = 1000
"""Steps are rescaled up to here: convergence is proved for steps that stay."""

RELAXATION = 1.6
STEP, BALANCE = 0.25, 0.3
"""Step in units of the largest variance, and that of the penalties relative to it; by trial."""


@dataclass(frozen=True)
class Relaxation:
    """A feasible matrix, its value, and how far from the best value it can be.

    Parameters
    ----------
    P : array of shape (d, d)
        Eigenvalues in [0, 1] that add up to k.
    value, bound : float
        The objective at P, and a number that it exceeds nowhere.
    steps : int
        How many iterations were made.
    """

    P: np.ndarray
    value: float
    bound: float
    steps: int

    @property
    def gap(self) -> float:
        """Relative duality gap."""
        size = max(abs(self.value), abs(self.bound))
        return max(0.0, self.bound - self.value) / size if size > 0 else 0.0


def solve_by_splitting(problem: FairSDP, *, tol: float, max_steps: int) -> Relaxation:
    r"""Return a matrix whose relative duality gap is at most `tol`, if `max_steps` suffice.

    Notes
    -----
    The alternating direction method of multipliers [1]_ for copies :math:`F = P` in the fantope
    and :math:`Y_i = S_i P` under the penalty. As :math:`S_1^\top S_1 + S_2^\top S_2` is a multiple
    of the identity, the step in P is an average; the others are three eigendecompositions of order
    d. The LMIs of order 2d that define :math:`t_i` for an interior-point solver never appear.

    References
    ----------
    .. [1] Boyd, Parikh, Chu, Peleato, Eckstein. "Distributed optimization and statistical learning
       via the alternating direction method of multipliers". 2011.
    """
    if len(problem.f) and problem.delta == 0:
        R, smaller = problem.without_mean_direction()
        found = _Splitting(smaller).run(tol, max_steps)
        return Relaxation(R @ found.P @ R.T, found.value, found.bound, found.steps)
    return _Splitting(problem).run(tol, max_steps)


class _Splitting:
    """The state: P, its copies, and the scaled multipliers that pull them together."""

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

    def run(self, tol: float, max_steps: int) -> Relaxation:
        best = Relaxation(self.P, -np.inf, np.inf, 0)
        for steps in range(1, max_steps + 1):
            check = steps % CHECK_EVERY == 0 or steps == max_steps
            residuals = self._advance(careful=check)
            if not check:
                continue
            P = self.problem.feasible(self.F)
            value, bound = self.problem.value(P), min(best.bound, self._bound())
            P, value = (P, value) if value > best.value else (best.P, best.value)
            best = Relaxation(P, value, bound, steps)
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
            self.w[i] = excess_of_spectral_norm(ahead, self.problem.price / step_y)
            before, self.Y[i] = self.Y[i], ahead - self.w[i]
            apart += step_y * _square(product - self.Y[i])
            moved += step_y * _square(self.Y[i] - before)
        return apart, moved

    def _project(self, M: np.ndarray, careful: bool) -> np.ndarray:
        f, k = self.problem.f, self.problem.k
        if not len(f):
            return project_onto_fantope(M, k)
        length = float(np.linalg.norm(f))
        P, self.mean_multiplier = project_below_a_cap(
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


def excess_of_spectral_norm(M: np.ndarray, weight: float) -> np.ndarray:
    r"""Return ``M - Y`` where Y minimises :math:`w |Y|_2^2 + \frac12 |Y - M|_F^2`.

    Y has the singular vectors of M, and its singular values cut off at one level.

    Examples
    --------
    >>> excess_of_spectral_norm(np.diag([3.0, 1.0]), weight=0.25)  # Y = diag(2, 1)
    array([[1., 0.],
           [0., 0.]])
    """
    squares, V = np.linalg.eigh(M.T @ M)
    values, V = np.sqrt(np.clip(squares[::-1], 0.0, None)), V[:, ::-1]
    # Cutting the r largest values off at a level is best if 2 w level = sum of what is cut off.
    levels = np.cumsum(values) / (2.0 * weight + np.arange(1, len(values) + 1))
    r = int(np.argmax(np.append(values[1:], 0.0) <= levels)) + 1
    if levels[r - 1] >= values[0]:
        return np.zeros_like(M)
    share = 1.0 - levels[r - 1] / values[:r]
    excess: np.ndarray = (M @ (V[:, :r] * share)) @ V[:, :r].T
    return excess


def _square(A: np.ndarray) -> float:
    return float(np.vdot(A, A))
