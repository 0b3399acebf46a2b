"""Equal means and equal covariances, exactly: variance maximised over isotropic subspaces."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from .._numerics import minimize_on_stiefel
from ._augmented_lagrangian import Lagrangian, State, approach, follow, tell
from ._isotropic_bases import IsotropicBases

ZERO, ZERO_OF_COVARIANCE = 1e-10, 1e-9
"""Eigenvalues of a difference up to these shares of its largest, or of that of the covariance,
are zero."""

BUDGET = 1e-4
"""A larger tolerance is a budget, which the search may use to keep more variance."""

NEAR = (1e-2, 1e-4, 1e-6)
"""Relative gaps from which the manifold is tried to be reached, one after the other."""

ROUNDS, STEPS_PER_ROUND = 60, 150
"""Most updates of the multipliers, and most steps between two of them."""

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
    >>> from fairpca import collect_moments
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


def match_covariances(
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
    implied : sequence of arrays of shape (s, s)
        Differences that vanish with the others; they count for the gap.
    tol : float
        Relative gap to reach. Up to 1e-4 covariances are made equal; more is a budget, of which
        the search makes use to keep more variance.
    max_steps : int
        Most steps along the manifold, from each start.
    progress : callable, optional
        Is told, in words, how far the work is.

    Returns
    -------
    CovarianceMatch

    Notes
    -----
    From each start an augmented Lagrangian leads to nearly equal covariances; there the basis is
    moved to the manifold of `IsotropicBases`, and along it to the most variance: limited-memory
    BFGS with no penalty left to make it badly scaled. The best end is kept. All is deterministic,
    and no row of data is looked at.
    """
    target = C if objective is None else objective
    size = float(np.linalg.norm(C, 2))
    differences = [T for T in differences if np.linalg.norm(T, 2) > ZERO_OF_COVARIANCE * size]
    if not differences:  # equal in every direction
        V = np.linalg.eigh(target)[1][:, ::-1][:, :k]
        return _match(C, State.at(V, gap=0.0, gradient_norm=0.0), tol)
    problem = Lagrangian(C, differences, target, list(implied))

    def end(start: np.ndarray) -> State:
        return _end(problem, start, tol, max_steps, progress)

    if tol > BUDGET:
        ends = [approach(problem, start, tol, STEPS_PER_ROUND, progress) for start in starts]
    else:
        ends = [end(start) for start in starts]
    if min(e.gap for e in ends) > tol and len(differences) == 1:
        ends += [end(start) for start in _isotropic_start(C, differences[0], k)]
    if min(e.gap for e in ends) > tol:
        nothing = Lagrangian(C, differences, np.zeros_like(C), list(implied))
        for seed in range(EXTRA_STARTS):
            start = np.linalg.qr(np.random.default_rng(seed).normal(size=(len(C), k)))[0]
            near = approach(nothing, start, NEAR[-1], STEPS_PER_ROUND, progress)
            ends.append(end(near.L))
    best = _best(problem, ends, tol)
    evaluations = sum(e.evaluations for e in ends)
    return _match(C, replace(best, evaluations=evaluations), tol)


def _end(
    problem: Lagrangian,
    start: np.ndarray,
    tol: float,
    max_steps: int,
    progress: Callable[[str], None] | None,
) -> State:
    """Go from a start to equal covariances, and from there to the most variance."""
    manifold = IsotropicBases(problem.stack.reshape(-1, problem.s, problem.s)[1:])
    M = problem.stack[: problem.s]
    state = problem.begin(start)
    for near in NEAR:
        if state.gap > near:
            state = follow(problem, state, near, ROUNDS, STEPS_PER_ROUND, progress)
        if state.gap > near:
            return state  # no solution, or none within reach: the smallest gap
        L = manifold.retract(state.L)
        if L is not None:
            found = minimize_on_stiefel(
                lambda L: (-float(np.vdot(L, M @ L)), -2.0 * (M @ L)),
                L,
                tol=GRADIENT,
                max_steps=max_steps,
                manifold=manifold,
            )
            evaluations = state.evaluations + found.evaluations
            gap, norm = problem.gap(found.L), found.gradient_norm
            end = replace(state, L=found.L, gap=gap, gradient_norm=norm, evaluations=evaluations)
            tell(progress, end)
            return end
    return follow(problem, state, tol, ROUNDS, STEPS_PER_ROUND, progress)


def _isotropic_start(C: np.ndarray, T: np.ndarray, k: int) -> list[np.ndarray]:
    """Return a basis with L^T T L = 0, if there is one of k columns: pairs of opposite sign."""
    values, V = np.linalg.eigh(T)
    zero = _zero(values, float(np.linalg.norm(C, 2)))
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


def largest_isotropic_dimension(T: np.ndarray, size: float = 0.0) -> int:
    r"""Return the largest k for which some orthonormal L has :math:`L^\top T L = 0`.

    min(n+, n-) + n0 from the inertia of T (Sylvester): the most dimensions in which two groups can
    have the same covariance. `size` is the largest variance: differences far below it are zero.

    Examples
    --------
    >>> import numpy as np
    >>> largest_isotropic_dimension(np.diag([2.0, 1.0, -3.0, 0.0]))
    2
    """
    values = np.linalg.eigvalsh(T)
    zero = _zero(values, size)
    positive, negative = int((values > zero).sum()), int((values < -zero).sum())
    return min(positive, negative) + len(values) - positive - negative


def _zero(values: np.ndarray, size: float) -> float:
    """Return up to which magnitude eigenvalues of a difference count as zero."""
    return max(ZERO * float(np.abs(values).max(initial=0.0)), ZERO_OF_COVARIANCE * size)
