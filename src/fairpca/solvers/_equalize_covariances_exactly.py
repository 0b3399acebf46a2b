"""Fair PCA with equal means and equal covariances: from moments to the best such subspace."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from .._moments import GroupMoments
from .._numerics import like, minimize_on_stiefel, to_numpy
from ..errors import InfeasibleError
from ._equalize_covariances import (
    absolute_difference,
    covariance_differences,
    flat_directions,
    independent_differences,
)
from ._isotropic_bases import (
    TOL,
    IsotropicBases,
    Lagrangian,
    State,
    approach,
    follow,
    isotropic_start,
    largest_isotropic_dimension,
    spectral_norm,
)
from ._subspace import Subspace

SMALLEST, SMALL_GRADIENT = 1e-12, 1e-4
"""Gaps below the first are rounding; a gradient below the second is that of an optimum."""

TOLERANCE = 1e-8
"""Relative gap at which covariances count as equal."""

BUDGET = 1e-4
"""A larger tolerance is a budget, which the search may use to keep more variance."""

NEAR = (1e-2, 1e-4, 1e-6)
"""Relative gaps from which the manifold is tried to be reached, one after the other."""

EXTRA_STARTS = 4
"""Random starts, fixed by their seeds, where the others have led nowhere."""

GRADIENT = 1e-6
"""Norm of the gradient, relative to the largest variance, at which the search ends."""


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

    See Also
    --------
    equalize_covariances_exactly : What makes it.

    Examples
    --------
    >>> import numpy as np
    >>> from fairpca.moments import collect_moments
    >>> from fairpca.solvers import equalize_covariances_exactly
    >>> groups = np.arange(400) % 2
    >>> X = np.random.default_rng(0).normal(size=(400, 6))
    >>> X[groups == 1] *= [3.0, 0.4, 1.0, 1.0, 1.0, 1.0]
    >>> moments = collect_moments(X, groups, with_scatters=True)
    >>> match = equalize_covariances_exactly(moments, 2, directions=1.0)[1]
    >>> match.converged, match.gap < 1e-8, match.variance.shape
    (True, True, (2,))
    """

    L: np.ndarray
    variance: np.ndarray
    gap: float
    gradient_norm: float
    evaluations: int
    converged: bool


def equalize_covariances_exactly(
    moments: GroupMoments,
    k: int | float | None,
    *,
    directions: int | float,
    penalty: float = 0.0,
    tol: float = 1e-6,
    progress: Callable[[str], None] | None = None,
) -> tuple[Subspace, CovarianceMatch]:
    r"""Solve fair PCA with equal means and equal covariances of all groups.

    Among the k-dimensional subspaces, within the l fair directions in which covariances differ
    least, in which all groups have the same mean and the same covariance, return the one that
    keeps the most variance.

    Parameters
    ----------
    moments : GroupMoments
        Moments of rows in d dimensions, with a scatter per group.
    k : int, float or None
        Dimension; or the share of the total variance to reach; or, for two groups, the largest
        dimension that has a solution.
    directions : int or float
        The number l, or that number as a fraction of the fair directions in which rows vary; 1.0
        for all.
    penalty : float
        How much of a direction's difference between the groups counts against its variance: the
        objective is C - penalty D, as in `equalize_covariances_spectral`.
    tol : float
        Largest relative gap to accept. Up to 1e-4 covariances are made equal (to 1e-8); more is a
        budget that lets the search keep more variance. A larger gap raises an error.
    progress : callable, optional
        Is told, in words, how far the work is.

    Returns
    -------
    Subspace, CovarianceMatch

    Raises
    ------
    InfeasibleError
        If no such subspace exists.

    See Also
    --------
    equalize_covariances_spectral : The paper's way, closer and not equal.

    Notes
    -----
    The problem of Section 3.6 of the paper, which solves it by a spectral heuristic. For two groups
    a solution exists if and only if k is at most min(n+, n-) + n0, the inertia of the difference
    of the covariances inside the directions.

    Examples
    --------
    >>> import numpy as np
    >>> from fairpca.moments import collect_moments
    >>> from fairpca.solvers import covariance_gap, equalize_covariances_exactly
    >>> groups = np.arange(400) % 2
    >>> X = np.random.default_rng(0).normal(size=(400, 6))
    >>> X[groups == 1] *= [3.0, 0.4, 1.0, 1.0, 1.0, 1.0]
    >>> moments = collect_moments(X, groups, with_scatters=True)
    >>> fair, match = equalize_covariances_exactly(moments, 2, directions=1.0)
    >>> fair.basis.shape, covariance_gap(moments, fair.basis) < 1e-8, match.converged
    ((6, 2), True, True)
    """
    flat = flat_directions(moments, k, directions, only_varying=True)
    inside = flat.moments
    C = to_numpy(inside.objective.dense().matrix) / moments.weight
    objective = C
    if penalty > 0:
        objective = C - penalty * to_numpy(absolute_difference(inside))
    differences = [to_numpy(T) for T in independent_differences(inside)]
    every = [to_numpy(T) for _, T in covariance_differences(inside)]
    problem = _Problem(C, differences, every, objective, max(tol, SMALLEST), progress)
    if isinstance(k, float):
        match = problem.reach(k, float(moments.objective.diagonal.sum()) / moments.weight)
    else:
        match = problem.solve(problem.largest() if k is None else k)
    scatter = like(match.variance * moments.weight, flat.directions)
    return flat.subspace(like(match.L, flat.directions), scatter), match


@dataclass
class _Problem:
    """Covariance and differences inside the directions, and what can be done with them."""

    C: np.ndarray
    differences: list[np.ndarray]
    every: list[np.ndarray]
    objective: np.ndarray
    tol: float
    progress: Callable[[str], None] | None

    @cached_property
    def bound(self) -> int | None:
        """The largest dimension with a solution, where theory knows it: for two groups."""
        if len(self.differences) > 1:
            return None
        return largest_isotropic_dimension(self.differences[0], spectral_norm(self.C))

    def largest(self) -> int:
        """Return the largest dimension with a solution, if theory knows it."""
        if self.bound is None:
            raise InfeasibleError(
                "n_components=None asks for as many directions as can have equal covariances, "
                "which is known for two groups only. Pass a number, or a share of the variance."
            )
        if self.bound == 0:
            raise self._infeasible(1, None)
        return self.bound

    def solve(self, k: int) -> CovarianceMatch:
        """Return the best subspace of dimension k, or raise with the least gap."""
        exact = self.tol <= BUDGET
        if exact and self.bound is not None and k > self.bound:
            raise self._infeasible(k, None)
        match = _match_covariances(
            self.C,
            self.differences,
            k,
            starts=[self._start(k, len(self.C)), self._start(k, len(self.C) // 2)],
            objective=self.objective,
            implied=self.every,
            tol=min(TOLERANCE, self.tol) if exact else self.tol,
            progress=self.progress,
        )
        if match.gap > self.tol:
            raise self._infeasible(k, match.gap)
        converged = match.converged or match.gradient_norm <= SMALL_GRADIENT
        return replace(match, converged=converged)

    @cached_property
    def flattest_first(self) -> np.ndarray:
        """All directions, those first in which covariances differ least."""
        return np.linalg.eigh(sum(T @ T for T in self.differences))[1]

    def _start(self, k: int, directions: int) -> np.ndarray:
        """Return the leading eigenvectors of the objective within the flattest directions."""
        flattest = self.flattest_first[:, : max(k, directions)]
        V = np.linalg.eigh(flattest.T @ self.objective @ flattest)[1]
        return flattest @ V[:, ::-1][:, :k]

    def reach(self, share: float, total: float) -> CovarianceMatch:
        """Return the fewest components that keep a share of the variance, by bisection."""
        low, high = 1, len(self.C)
        if self.tol <= BUDGET and self.bound is not None:
            high = self.bound
        best: CovarianceMatch | None = None
        most = 0.0
        while low <= high:
            k = (low + high) // 2
            try:
                match = self.solve(k)
            except InfeasibleError:
                high = k - 1
                continue
            kept = float(match.variance.sum()) / total
            most = max(most, kept)
            if kept >= share * (1 - 1e-12):
                best, high = match, k - 1
            else:
                low = k + 1
        if best is None:
            raise InfeasibleError(
                f"n_components={share} asks for {share:.2%} of the variance, but directions with "
                f"equal means and covariances hold at most {most:.2%}. Ask for less, or set "
                f"covariance_tol to a gap you accept."
            )
        return best

    def _infeasible(self, k: int, gap: float | None) -> InfeasibleError:
        known = found = ""
        if self.bound is not None:
            known = f" ({len(self.C)} directions allow {self.bound}, by the signs of the "
            known += "eigenvalues of the difference)"
        advice = ["use fewer components"] if k > 1 and self.bound != 0 else []
        if gap is not None:
            found = f"; the smallest gap found is {gap:.3g}"
            advice.append(f"set covariance_tol to a gap you accept, at least {1.1 * gap:.2g}")
        else:
            advice.append("set covariance_tol to a gap you accept, such as 0.1")
        advice.append("use covariance_method='spectral', which only brings covariances close")
        proven = self.bound is not None and k > self.bound
        return InfeasibleError(
            f"n_components={k} direction(s) with equal group covariances "
            f"{'do not exist' if proven else 'were not found'}{known}{found}. You can "
            f"{'; or '.join(advice)}."
        )


def _match_covariances(
    C: np.ndarray,
    differences: list[np.ndarray],
    k: int,
    *,
    starts: list[np.ndarray],
    objective: np.ndarray | None = None,
    implied: Sequence[np.ndarray] = (),
    tol: float = 1e-8,
    max_steps: int = 2000,
    progress: Callable[[str], None] | None = None,
) -> CovarianceMatch:
    """Maximise tr(L^T C L), or that of `objective`, subject to L^T T_g L = 0 for all `differences`.

    From each start an augmented Lagrangian leads to nearly equal covariances; there the basis is
    moved to the manifold of `IsotropicBases`, and along it to the most variance: limited-memory
    BFGS with no penalty left to make it badly scaled. The best end is kept. All is deterministic,
    and no row of data is looked at. Differences that are `implied` by the others count for the gap.
    """
    target = C if objective is None else objective
    size = spectral_norm(C)
    differences = [T for T in differences if spectral_norm(T) > TOL.zero_of_covariance * size]
    if not differences:  # equal in every direction
        V = np.linalg.eigh(target)[1][:, ::-1][:, :k]
        return _match(C, State.at(V, gap=0.0, gradient_norm=0.0), tol)
    problem = Lagrangian(C, differences, target, list(implied), progress)
    if tol > BUDGET:
        ends = [approach(problem, start, tol) for start in starts]
    else:
        ends = [_end(problem, start, tol, max_steps) for start in starts]
    if min(e.gap for e in ends) > tol and len(differences) == 1:
        paired = isotropic_start(C, differences[0], k)
        ends += [_end(problem, start, tol, max_steps) for start in paired]
    if min(e.gap for e in ends) > tol:
        nothing = Lagrangian(C, differences, np.zeros_like(C), list(implied), progress)
        for seed in range(EXTRA_STARTS):
            start = np.linalg.qr(np.random.default_rng(seed).normal(size=(len(C), k)))[0]
            near = approach(nothing, start, NEAR[-1])
            ends.append(_end(problem, near.L, tol, max_steps))
    best = _best(problem, ends, tol)
    evaluations = sum(e.evaluations for e in ends)
    return _match(C, replace(best, evaluations=evaluations), tol)


def _end(problem: Lagrangian, start: np.ndarray, tol: float, max_steps: int) -> State:
    """Go from a start to equal covariances, and from there to the most variance."""
    manifold = IsotropicBases(problem.stack.reshape(-1, problem.s, problem.s)[1:])
    M = problem.stack[: problem.s]

    def kept(L: np.ndarray) -> tuple[float, np.ndarray]:
        ML = M @ L
        return -float(np.vdot(L, ML)), -2.0 * ML

    state = problem.begin(start)
    # Where the first problem is solved as it begins, rounds move nothing and only harden penalties.
    for near in (np.inf, *NEAR) if state.gradient_norm <= TOL.first_gradient else NEAR:
        if state.gap > near:
            state = follow(problem, state, near)
        if state.gap > near:
            return state  # no solution, or none within reach: the smallest gap
        L = manifold.retract(state.L)
        if L is not None:
            found = minimize_on_stiefel(
                kept,
                L,
                tol=GRADIENT,
                max_steps=max_steps,
                manifold=manifold,
                scaled=True,
            )
            evaluations = state.evaluations + found.evaluations
            gap, norm = problem.gap(found.L), found.gradient_norm
            end = replace(state, L=found.L, gap=gap, gradient_norm=norm, evaluations=evaluations)
            problem.tell(end)
            return end
    return follow(problem, state, tol)


def _best(problem: Lagrangian, ends: list[State], tol: float) -> State:
    """Return the end that keeps the most, of those whose gap will do; else the smallest gap."""
    good = [end for end in ends if end.gap <= tol]
    if good:
        return max(good, key=lambda end: problem.kept(end.L))
    return min(ends, key=lambda end: end.gap)


def _match(C: np.ndarray, state: State, tol: float) -> CovarianceMatch:
    values, V = np.linalg.eigh(state.L.T @ C @ state.L)
    return CovarianceMatch(
        L=state.L @ V[:, ::-1],
        variance=values[::-1],
        gap=state.gap,
        gradient_norm=state.gradient_norm,
        evaluations=state.evaluations,
        converged=bool(state.gap <= tol and state.gradient_norm <= max(np.sqrt(tol), 1e-4)),
    )
