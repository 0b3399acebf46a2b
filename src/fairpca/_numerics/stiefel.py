"""Minimisation over orthonormal bases: limited-memory BFGS on the Stiefel manifold."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

MEMORY = 12
"""How many past steps shape the next one."""

LONGEST = 1.0
"""Longest step while little is known; a radian is as far as a local model may be asked to look."""

SUFFICIENT = 1e-4
"""Share of the decrease that the slope predicts which a step must reach (Armijo)."""

NEARLY_ORTHONORMAL = 0.5
"""Distance of the Gram matrix from one up to which it loses no digits."""

FLATTEST = 1e-3
"""Least curvature along a column, relative to the largest, by which gradients are divided."""

SHORTEST = 1e-14
"""Steps below this make no progress in double precision."""

Objective = Callable[[np.ndarray], tuple[float, np.ndarray]]
"""Takes a basis, returns a value and its gradient with respect to all entries."""

Inverse = Callable[[np.ndarray], np.ndarray]
"""Multiplies by an approximate inverse Hessian."""


@dataclass(frozen=True)
class _Minimum:
    """Where a minimisation ended: orthonormal columns, and the gradient along the manifold."""

    L: np.ndarray
    value: float
    gradient_norm: float
    evaluations: int


class Stiefel:
    """All matrices with orthonormal columns: how to stay among them."""

    def tangent(self, L: np.ndarray, G: np.ndarray) -> np.ndarray:
        """Project onto the tangent space at L; `G` may be a stack of matrices."""
        inner = L.T @ G
        return G - L @ (0.5 * (inner + np.swapaxes(inner, -1, -2)))

    def retract(self, W: np.ndarray) -> np.ndarray | None:
        """Return a point near W, the same one if W is on the manifold; None if W is too far."""
        gram = W.T @ W
        if np.linalg.norm(gram - np.eye(len(gram))) < NEARLY_ORTHONORMAL:
            # The same Q as below to rounding, at a tenth of the cost (Cholesky QR).
            return W @ np.linalg.inv(np.linalg.cholesky(gram)).T
        Q, triangle = np.linalg.qr(W)
        signs = np.sign(np.diag(triangle))
        return Q * np.where(signs == 0, 1.0, signs)


def minimize_on_stiefel(
    objective: Objective,
    L: np.ndarray,
    *,
    tol: float,
    max_steps: int = 500,
    manifold: Stiefel | None = None,
    scaled: bool = False,
) -> _Minimum:
    """Return a local minimum of a function of orthonormal bases, from the start L.

    It stops where the norm of the gradient along the manifold is `tol`. Steps are taken in the
    tangent space of `manifold` and pulled back by a QR decomposition; past steps are carried along
    by projection (Absil, Mahony & Sepulchre 2008, Chapter 8). Where `scaled`, columns are divided
    by the curvature that orthonormality gives them, and past steps stay as they are: for traces of
    a decaying spectrum that takes a tenth of the steps, each at a third of the cost.
    """
    manifold = Stiefel() if manifold is None else manifold
    value, G = objective(L)
    gradient = manifold.tangent(L, G)
    history, inverse = _History(), None
    evaluations = 1
    for _ in range(max_steps):
        if np.linalg.norm(gradient) <= tol:
            break
        if scaled:
            inverse = _column_scaling(L, G)
        direction = manifold.tangent(L, -history.apply(gradient, inverse))
        slope = float(np.vdot(gradient, direction))
        if slope >= 0:  # the past misleads
            history = _History()
            direction = -gradient if inverse is None else manifold.tangent(L, -inverse(gradient))
            slope = float(np.vdot(gradient, direction))
        step = 1.0
        if not history.steps:
            longest = gradient if inverse is None else direction
            step = min(1.0, LONGEST / float(np.linalg.norm(longest)))
        while True:
            moved = manifold.retract(L + step * direction)
            if moved is not None:
                new_value, G = objective(moved)
                evaluations += 1
                if new_value <= value + SUFFICIENT * step * slope:
                    break
            step *= 0.5
            if step < SHORTEST:  # rounding: nothing better can be measured
                norm = float(np.linalg.norm(gradient))
                return _Minimum(L, value, norm, evaluations)
        new_gradient = manifold.tangent(moved, G)
        if not scaled:
            history.carry_to(moved)
        flat = Stiefel().tangent
        history.add(flat(moved, step * direction), new_gradient - flat(moved, gradient))
        L, value, gradient = moved, new_value, new_gradient
    return _Minimum(L, value, float(np.linalg.norm(gradient)), evaluations)


def _column_scaling(L: np.ndarray, G: np.ndarray) -> Inverse | None:
    """Return the inverse of V -> -V L^T G, the part of the Hessian due to L^T L = I alone."""
    inner = L.T @ G
    values, V = np.linalg.eigh(-0.5 * (inner + inner.T))
    if values[-1] <= 0:
        return None
    scale = (V / np.maximum(values, FLATTEST * values[-1])) @ V.T
    return lambda gradient: gradient @ scale


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

    def carry_to(self, L: np.ndarray) -> None:
        """Project all of it onto the tangent space at L, in one product."""
        if self.steps:
            carried = list(Stiefel().tangent(L, np.stack(self.steps + self.changes)))
            half = len(self.steps)
            self.steps, self.changes = carried[:half], carried[half:]

    def apply(self, gradient: np.ndarray, inverse: Inverse | None = None) -> np.ndarray:
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
        q = q if inverse is None else inverse(q)
        if pairs:
            _, y, sy = pairs[-1]
            if inverse is None:
                q *= sy / float(np.vdot(y, y))
            else:
                q *= np.clip(sy / float(np.vdot(y, inverse(y))), 0.1, 10.0)
        for (s, y, sy), weight in zip(pairs, reversed(weights), strict=True):
            q += (weight - float(np.vdot(y, q)) / sy) * s
        return q
