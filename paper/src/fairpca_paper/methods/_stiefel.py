"""Minimisation over orthonormal bases in a given metric: limited-memory BFGS on the manifold."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

MEMORY = 12
"""How many past steps shape the next one."""

REFRESH = 20
"""Steps after which the metric is computed anew."""

LONGEST = 1.0
"""Longest step: a radian is as far as a local model may be asked to look."""

SUFFICIENT = 1e-4
"""Share of the decrease that the slope predicts which a step must reach (Armijo)."""

NEARLY_ORTHONORMAL = 0.5
"""Distance of the Gram matrix from one up to which it loses no digits."""

SHORTEST = 1e-14
"""Steps below this make no progress in double precision."""

Objective = Callable[[np.ndarray], tuple[float, np.ndarray]]
"""Takes a basis, returns a value and its gradient with respect to all entries."""

Inverse = Callable[[np.ndarray], np.ndarray]
Metric = Callable[[np.ndarray], Inverse]
"""Takes a basis, returns a function that multiplies by an approximate inverse Hessian there."""


@dataclass(frozen=True)
class Minimum:
    """Where a minimisation ended: a basis, and the decrease that the last step still promised."""

    V: np.ndarray
    evaluations: int
    decrement: float = np.inf


def minimize_on_stiefel(
    objective: Objective, V: np.ndarray, *, metric: Metric, tol: float, max_steps: int
) -> Minimum:
    """Return a local minimum of a function of orthonormal bases, from the start V.

    It stops where the promised decrease is `tol`; the objective may be infinite where it is
    undefined. Steps are taken in the tangent space and pulled back by a QR decomposition; past
    steps are carried along by projection (Absil, Mahony & Sepulchre 2008, Chapter 8).
    """
    value, G = objective(V)
    gradient = tangent(V, G)
    history, inverse = _History(), metric(V)
    evaluations, decrement = 1, np.inf
    for steps in range(max_steps):
        if steps and steps % REFRESH == 0:
            inverse = metric(V)
        direction = tangent(V, -history.apply(gradient, inverse))
        slope = float(np.vdot(gradient, direction))
        if slope >= 0:  # the past misleads
            history = _History()
            direction = tangent(V, -inverse(gradient))
            slope = float(np.vdot(gradient, direction))
        decrement = max(0.0, -0.5 * slope)
        if decrement <= tol:
            break
        step = min(1.0, LONGEST / float(np.linalg.norm(direction)))
        while True:
            moved = _retracted(V + step * direction)
            new_value, G = objective(moved)
            evaluations += 1
            if new_value <= value + SUFFICIENT * step * slope:
                break
            step *= 0.5
            if step < SHORTEST:  # rounding: no improvement is visible
                return Minimum(V, evaluations, decrement)
        new_gradient = tangent(moved, G)
        history.carry_to(moved)
        history.add(tangent(moved, step * direction), new_gradient - tangent(moved, gradient))
        V, value, gradient = moved, new_value, new_gradient
    return Minimum(V, evaluations, decrement)


def tangent(V: np.ndarray, G: np.ndarray) -> np.ndarray:
    """Project onto the tangent space at V; `G` may be a stack of matrices."""
    inner = V.T @ G
    return G - V @ (0.5 * (inner + np.swapaxes(inner, -1, -2)))


def _retracted(W: np.ndarray) -> np.ndarray:
    """Return an orthonormal basis near W, the same one if W is one."""
    gram = W.T @ W
    if np.linalg.norm(gram - np.eye(len(gram))) < NEARLY_ORTHONORMAL:
        # The same Q as below to rounding, at a tenth of the cost (Cholesky QR).
        return W @ np.linalg.inv(np.linalg.cholesky(gram)).T
    Q, triangle = np.linalg.qr(W)
    signs = np.sign(np.diag(triangle))
    return Q * np.where(signs == 0, 1.0, signs)


class _History:
    """Past steps and changes of the gradient, and the inverse Hessian that they suggest."""

    def __init__(self) -> None:
        self.steps: list[np.ndarray] = []
        self.changes: list[np.ndarray] = []

    def add(self, step: np.ndarray, change: np.ndarray) -> None:
        size = float(np.linalg.norm(step) * np.linalg.norm(change))
        if np.vdot(step, change) <= 1e-10 * size:
            return  # no curvature to learn from
        self.steps = [*self.steps[-MEMORY + 1 :], step]
        self.changes = [*self.changes[-MEMORY + 1 :], change]

    def carry_to(self, V: np.ndarray) -> None:
        """Project all of it onto the tangent space at V, in one product."""
        if self.steps:
            carried = list(tangent(V, np.stack(self.steps + self.changes)))
            half = len(self.steps)
            self.steps, self.changes = carried[:half], carried[half:]

    def apply(self, gradient: np.ndarray, inverse: Inverse) -> np.ndarray:
        """Return the inverse Hessian times a vector (Nocedal & Wright 2006, Algorithm 7.4)."""
        q = gradient.copy()
        pairs = [
            (s, y, float(np.vdot(s, y)))
            for s, y in zip(self.steps, self.changes, strict=True)
            if np.vdot(s, y) > 0
        ]
        weights = []
        for s, y, sy in reversed(pairs):
            weights.append(float(np.vdot(s, q)) / sy)
            q -= weights[-1] * y
        q = inverse(q)
        if pairs:
            _, y, sy = pairs[-1]
            q *= np.clip(sy / float(np.vdot(y, inverse(y))), 0.1, 10.0)
        for (s, y, sy), weight in zip(pairs, reversed(weights), strict=True):
            q += (weight - float(np.vdot(y, q)) / sy) * s
        return q
