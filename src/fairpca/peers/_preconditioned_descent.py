"""Limited-memory BFGS on the Stiefel manifold, from a metric that knows the steep directions."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from .._numerics import SHORTEST, SUFFICIENT, Objective, Stiefel

MEMORY = 12
REFRESH = 20
"""Steps after which the metric is computed anew."""

LONGEST = 1.0
"""Longest step; an angle of one radian is as far as a local model may be asked to look."""

Metric = Callable[[np.ndarray], Callable[[np.ndarray], np.ndarray]]
"""Takes a basis, returns a function that multiplies by an approximate inverse Hessian there."""

Pairs = list[tuple[np.ndarray, np.ndarray]]


@dataclass(frozen=True)
class Descent:
    """Where a minimisation ended.

    Parameters
    ----------
    V : array of shape (d, k)
        Orthonormal columns.
    decrement : float
        Decrease of the objective that the local model still promises.
    evaluations : int
        How often the objective was computed.
    """

    V: np.ndarray
    decrement: float
    evaluations: int


def minimize_with_metric(
    objective: Objective, V: np.ndarray, metric: Metric, *, tol: float, max_steps: int
) -> Descent:
    """Return a local minimum of a function of orthonormal bases.

    As `minimize_on_stiefel`, for objectives so badly scaled that twelve past steps
    do not tell enough: the first guess of the inverse Hessian is a matrix.

    Parameters
    ----------
    objective : callable
        Value and gradient; the value is infinite where the objective is undefined.
    V : array of shape (d, k)
        Orthonormal start.
    metric : callable
        See `Metric`.
    tol : float
        Promised decrease at which to stop.
    max_steps : int
        Most steps.
    """
    flat = Stiefel()
    value, G = objective(V)
    gradient = flat.tangent(V, G)
    pairs: Pairs = []
    evaluations, decrement = 1, np.inf
    for steps in range(max_steps):
        if steps % REFRESH == 0:
            inverse = metric(V)
        direction = flat.tangent(V, -_apply_inverse(pairs, gradient, inverse))
        slope = float(np.vdot(gradient, direction))
        if slope >= 0:  # the past misleads
            pairs = []
            direction = flat.tangent(V, -inverse(gradient))
            slope = float(np.vdot(gradient, direction))
        decrement = max(0.0, -0.5 * slope)
        if decrement <= tol:
            break
        step = min(1.0, LONGEST / float(np.linalg.norm(direction)))
        while True:
            moved = flat.retract(V + step * direction)
            assert moved is not None  # the whole manifold can be reached
            new_value, G = objective(moved)
            evaluations += 1
            if new_value <= value + SUFFICIENT * step * slope:
                break
            step *= 0.5
            if step < SHORTEST:  # rounding: nothing better can be told apart
                return Descent(V, decrement, evaluations)
        new_gradient = flat.tangent(moved, G)
        pairs = [(flat.tangent(moved, s), flat.tangent(moved, y)) for s, y in pairs]
        s, y = flat.tangent(moved, step * direction), new_gradient - flat.tangent(moved, gradient)
        if np.vdot(s, y) > 1e-10 * np.linalg.norm(s) * np.linalg.norm(y):
            pairs = [*pairs[-MEMORY + 1 :], (s, y)]
        V, value, gradient = moved, new_value, new_gradient
    return Descent(V, decrement, evaluations)


def _apply_inverse(
    pairs: Pairs, gradient: np.ndarray, inverse: Callable[[np.ndarray], np.ndarray]
) -> np.ndarray:
    """Return the inverse Hessian times a vector (Nocedal & Wright 2006, Algorithm 7.4)."""
    q = gradient.copy()
    useful = [(s, y, float(np.vdot(s, y))) for s, y in pairs if np.vdot(s, y) > 0]
    weights = []
    for s, y, sy in reversed(useful):
        weights.append(float(np.vdot(s, q)) / sy)
        q -= weights[-1] * y
    q = inverse(q)
    if useful:
        _, y, sy = useful[-1]
        q *= np.clip(sy / float(np.vdot(y, inverse(y))), 0.1, 10.0)
    for (s, y, sy), weight in zip(useful, reversed(weights), strict=True):
        q += (weight - float(np.vdot(y, q)) / sy) * s
    return q
