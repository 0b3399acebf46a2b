"""The program of FPCA as published, for a general conic solver: slow, and independent of ours."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from ..errors import MissingExtraError
from ._fantope import project_onto_fantope
from ._fpca_problem import FairSDP
from ._fpca_splitting import Relaxation

SCS_ACCURACY = 1e-6

INTERIOR_POINT_UP_TO = 20
"""Features up to which interior points take seconds; their memory grows with the fourth power."""


def solve_by_cvxpy(problem: FairSDP) -> Relaxation:
    """Return the solution of Clarabel (few features) or SCS; the bound comes from its multipliers.

    Raises
    ------
    MissingExtraError
        Without cvxpy.
    """
    cp = _import_cvxpy()
    R = np.eye(len(problem.C))
    if len(problem.f) and problem.delta == 0:  # the bound would leave no interior
        R, problem = problem.without_mean_direction()
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
    solution = problem.feasible(project_onto_fantope(np.asarray(P.value, dtype=float), k))
    steps = int(program.solver_stats.num_iters or 0)
    return Relaxation(R @ solution @ R.T, problem.value(solution), min(bounds), steps)


def _import_cvxpy() -> Any:
    try:
        import cvxpy
    except ImportError as missing:
        raise MissingExtraError("cvxpy", "sdp", "FPCA with solver='cvxpy'") from missing
    return cvxpy
