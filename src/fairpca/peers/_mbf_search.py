"""Most variance at a bounded MMD: a path of penalties, and a barrier where that path ends."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

import numpy as np

from ._mbf_problem import Found, VarianceAtDiscrepancy

LARGEST_PENALTY, LAST_RESORT = 1e10, 1e6
"""Where the path of penalties ends, and the penalty under which nothing but the MMD counts.

Both in units of one over the squared MMD of PCA.
"""

ON_THE_WAY = 60
"""Most steps for a penalty that is not the last one."""

STALLED = 0.2
"""A doubled penalty that lowers the discrepancy by less than this share leads nowhere soon."""

BARRIERS = (1.0, 1e-1, 1e-2, 1e-3, 1.6e-4)
"""Weights of the barrier, relative to the variance that is there to be kept."""

PRECISION = 1e-9
"""Descent ends where less than this share of the variance is in sight."""


@dataclass(frozen=True)
class Search:
    """How to look for the most variance.

    Parameters
    ----------
    problem : VarianceAtDiscrepancy
        What to maximise.
    bound : float
        Largest squared MMD.
    unit : float
        One over the squared MMD of PCA, the first penalty.
    quiet : array of shape (d, k)
        The directions of least variance.
    max_steps : int
        Most steps for one penalty or barrier.
    """

    problem: VarianceAtDiscrepancy
    bound: float
    unit: float
    quiet: np.ndarray
    max_steps: int

    def follow_penalties(self, V: np.ndarray) -> Found:
        """Double the penalty until the discrepancy is within the bound, or hardly falls any more.

        The published method, REPMS; only the descent for one penalty is another one.
        """
        evaluations, discrepancies, rho = 0, [], self.unit
        while True:
            steps = min(ON_THE_WAY, self.max_steps)
            found = self.problem.penalized(V, rho, tol=1e3 * PRECISION, max_steps=steps)
            evaluations += found.evaluations
            if found.discrepancy <= self.bound:
                found = self.problem.penalized(
                    found.V, rho, tol=PRECISION, max_steps=self.max_steps
                )
                evaluations += found.evaluations
                if found.discrepancy <= self.bound:
                    break
            discrepancies.append(found.discrepancy)
            if self._stalled(discrepancies) or rho > LARGEST_PENALTY * self.unit:
                break
            V, rho = found.V, 2.0 * rho
        return replace(found, evaluations=evaluations)

    def _stalled(self, discrepancies: list[float]) -> bool:
        """Tell whether two doublings hardly lowered a discrepancy that is far from the bound."""
        if len(discrepancies) < 3 or discrepancies[-1] <= 1.5 * self.bound:
            return False
        return discrepancies[-1] > (1.0 - STALLED) ** 2 * discrepancies[-3]

    def climb_inside(self, start: Found, weights: Iterable[float]) -> Found:
        """Follow the barrier from a basis inside the bound to one that uses all of it."""
        found, evaluations = start, start.evaluations
        for weight in weights:
            found = self.problem.inside(found.V, self.bound, weight, max_steps=self.max_steps)
            evaluations += found.evaluations
        return replace(found, evaluations=evaluations)

    def tightened(self, found: Found) -> Found:
        """Return a basis near a solution that uses what is left of the bound."""
        weight = found.penalty * (self.bound - found.discrepancy)
        return self.climb_inside(found, [weight * b for b in BARRIERS])

    def from_within(self, starts: Iterable[np.ndarray]) -> list[Found]:
        """Shrink each start until it is inside the bound, and climb from there."""
        quiet = self.problem.judged(self.quiet)
        if quiet.discrepancy >= 0.5 * self.bound:
            quiet = self.least_discrepancy(self.quiet)
        if quiet.discrepancy >= 0.5 * self.bound:
            return []
        found = []
        for F in starts:
            most = float(np.vdot(F, self.problem.C @ F))
            found.append(self.climb_inside(self._shrunken(F, quiet), [most * b for b in BARRIERS]))
        return found

    def _shrunken(self, F: np.ndarray, quiet: Found) -> Found:
        """Turn the columns of F towards quiet directions until they are inside the bound.

        All rows then lie so close that the kernel sees all of them. Where the rows are far apart,
        those that stand alone feel no slope, and the path of penalties stalls.
        """
        best, low, high = quiet, 0.0, 0.5 * np.pi
        for _ in range(20):
            angle = 0.5 * (low + high)
            V = np.linalg.qr(np.cos(angle) * quiet.V + np.sin(angle) * F)[0]
            tried = self.problem.judged(V)
            if tried.discrepancy < 0.5 * self.bound:
                low, best = angle, tried
            else:
                high = angle
        return replace(best, evaluations=quiet.evaluations + 20)

    def least_discrepancy(self, V: np.ndarray) -> Found:
        """Return a basis of small discrepancy near V, whatever variance it keeps."""
        rho = LAST_RESORT * self.unit
        return self.problem.penalized(V, rho, tol=PRECISION, max_steps=self.max_steps)


def most_variance(
    search: Search,
    start: np.ndarray,
    others: Callable[[], Iterable[np.ndarray]],
    *,
    tighten: bool,
) -> Found:
    """Return the best basis found within the bound; where there is none, the nearest to it.

    Parameters
    ----------
    search : Search
        How.
    start : array of shape (d, k)
        Where the path of penalties begins.
    others : callable
        Returns the starts that are tried if that path leads nowhere.
    tighten : bool
        Whether to use all of the bound.
    """
    path = search.follow_penalties(start)
    if path.discrepancy <= search.bound and path.is_finished:
        return search.tightened(path) if tighten else path
    candidates = search.from_within(others())
    if path.discrepancy <= search.bound:
        candidates.append(search.tightened(path))
    if candidates:
        best = max(candidates, key=lambda found: found.share)
    else:
        nearest = [search.least_discrepancy(V) for V in (path.V, search.quiet)]
        best = min(nearest, key=lambda found: found.discrepancy)
    total = path.evaluations + sum(found.evaluations for found in candidates)
    return replace(best, evaluations=total)
