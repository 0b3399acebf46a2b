r"""Ridge-penalised logistic regression for a whole family of representations of the same rows.

The rows ``t`` are common; each member of the family sees them as ``t @ B``. Its weights are found
as ``w = B u``, so the data are touched in one set of coordinates only: the loss, its slope and its
curvature at the solution of one member are where the next one starts. The paper's eleven lambdas
take a half to a quarter of the time of scikit-learn's "newton-cholesky" with warm starts, which
stops at a thousand times the gradient.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import scipy.linalg

from .._numerics import limited_threads, share_blocks
from .._rows import row_blocks

IN_CACHE = 2**17  # numbers in a block of rows: 1 MB, read twice or thrice while it is in the cache
TOLERANCE = 1e-7  # largest entry of the gradient per row before the last step; scikit-learn: 1e-4
REFRESH = 0.1  # a step that leaves more than this of the gradient had an outdated curvature
ENOUGH_DECREASE = 1e-4  # share of the decrease promised by the slope that a step must achieve
MOST_STEPS, MOST_HALVINGS = 200, 30
ROUNDING = 1e-13  # relative differences of the loss below this mean nothing
SHARED_BLOCKS = 4  # fewer blocks of rows than this are not worth several threads


@dataclass(frozen=True)
class _LogisticModel:
    """Weights of a linear model on the common rows, and whether its gradient became small."""

    weights: np.ndarray
    intercept: float
    converged: bool


def logistic_path(
    rows: np.ndarray, y: np.ndarray, factors: Iterable[np.ndarray], C: float
) -> list[_LogisticModel]:
    """Fit logistic regression to ``rows @ B`` for every `B` of shape (p, q); labels `y` are 0 or 1.

    ``models[i].weights = factors[i] @ u``, with u the weights that a LogisticRegression(C=C, tol=0)
    finds on ``rows @ factors[i]``. Neighbours among the factors should be similar.
    """
    # Newton's method with a curvature that is computed anew only when a step was poor: a slope
    # costs one reading of the rows, a curvature five. The step is the minimiser of the quadratic
    # model of the loss around the current weights, and the model around the last solution gives
    # the first weights of the next member for free.
    loss = _LogisticLoss(rows, np.asarray(y, dtype=float))
    share = loss.y.mean()
    w = np.zeros(rows.shape[1] + 1)
    w[-1] = np.log(share / (1.0 - share))
    with limited_threads(1 if len(loss.blocks) < SHARED_BLOCKS else None):
        slope, G = loss.value_and_slope(w)[1], loss.curvature(w)
        models = []
        for B in factors:
            member = _Member(loss, scipy.linalg.block_diag(B, np.ones((1, 1))), C)
            found, G, converged = member.minimize(member.solve(G, member.B.T @ (G @ w - slope)), G)
            w, slope = found.w, found.slope
            # The gradient of the last point is known, so one more step costs no reading of rows.
            last = w - member.B @ member.solve(G, found.gradient) if converged else w
            models.append(_LogisticModel(last[:-1], float(last[-1]), converged))
    return models


@dataclass(frozen=True)
class _LogisticLoss:
    """Sum over rows of ``log(1 + exp(f)) - y f`` with ``f = rows @ w[:-1] + w[-1]``."""

    rows: np.ndarray
    y: np.ndarray

    @cached_property
    def blocks(self) -> list[slice]:
        """Blocks of rows that stay in the cache between the products with them."""
        n, p = self.rows.shape
        return list(row_blocks(n, max(64, IN_CACHE // p)))

    def value_and_slope(self, w: np.ndarray) -> tuple[float, np.ndarray]:
        """Return the loss and its gradient of shape (p + 1,); reads the rows once."""

        def over(blocks: Sequence[slice]) -> tuple[float, np.ndarray]:
            value, slope = 0.0, np.zeros(len(w))
            for block in blocks:
                X, y = self.rows[block], self.y[block]
                f = X @ w[:-1] + w[-1]
                small = np.exp(-np.abs(f))  # no overflow for any f
                value += float(np.sum(np.maximum(f, 0.0) + np.log1p(small)) - f @ y)
                error = np.where(f >= 0, 1.0, small) / (1.0 + small) - y
                slope[:-1] += error @ X
                slope[-1] += error.sum()
            return value, slope

        shares = self._over_shares(over)
        return sum(value for value, _ in shares), np.sum([slope for _, slope in shares], axis=0)

    def curvature(self, w: np.ndarray) -> np.ndarray:
        """Return the Hessian of shape (p + 1, p + 1); costs about five slopes."""

        def over(blocks: Sequence[slice]) -> np.ndarray:
            H = np.zeros((len(w), len(w)))
            for block in blocks:
                X = self.rows[block]
                small = np.exp(-np.abs(X @ w[:-1] + w[-1]))
                root = np.sqrt(small) / (1.0 + small)  # of p (1 - p)
                weighted = X * root[:, None]
                H[:-1, :-1] += weighted.T @ weighted
                H[:-1, -1] += root @ weighted
                H[-1, -1] += root @ root
            H[-1, :-1] = H[:-1, -1]
            return H

        return np.sum(self._over_shares(over), axis=0)

    def _over_shares(self, over: Callable[[Sequence[slice]], Any]) -> list[Any]:
        return share_blocks(over, self.blocks, d=self.rows.shape[1])


@dataclass(frozen=True)
class _Point:
    """Where the search is: coefficients ``u``, weights ``w = B u``, and what is known there."""

    u: np.ndarray
    w: np.ndarray
    value: float
    slope: np.ndarray
    gradient: np.ndarray

    @property
    def size(self) -> float:
        return float(np.abs(self.gradient).max())


@dataclass(frozen=True)
class _Member:
    """The problem of one representation; the last column of `B` belongs to the intercept."""

    loss: _LogisticLoss
    B: np.ndarray
    C: float

    @cached_property
    def penalty(self) -> np.ndarray:
        penalty = np.full(self.B.shape[1], 1.0 / self.C)
        penalty[-1] = 0.0
        return penalty

    def at(self, u: np.ndarray) -> _Point:
        w = self.B @ u
        value, slope = self.loss.value_and_slope(w)
        pull = self.penalty * u
        return _Point(u, w, value + 0.5 * float(u @ pull), slope, self.B.T @ slope + pull)

    def solve(self, G: np.ndarray, right: np.ndarray) -> np.ndarray:
        """Return the solution of ``(B^T G B + diag(penalty)) u = right``."""
        H = self.B.T @ G @ self.B
        H[np.diag_indices_from(H)] += self.penalty
        try:
            factor = scipy.linalg.cho_factor(H, check_finite=False)
        except scipy.linalg.LinAlgError:
            # Almost no penalty and dependent columns. Any metric leads to the same solution.
            H[np.diag_indices_from(H)] += 1e-10 * np.trace(H)
            factor = scipy.linalg.cho_factor(H, check_finite=False)
        return scipy.linalg.cho_solve(factor, right, check_finite=False)

    def minimize(self, u: np.ndarray, G: np.ndarray) -> tuple[_Point, np.ndarray, bool]:
        """Return the solution from the start `u`, the last curvature, and whether it converged."""
        point, fresh = self.at(u), False
        enough = TOLERANCE * len(self.loss.y)
        for _ in range(MOST_STEPS):
            if point.size <= enough:
                break
            step = -self.solve(G, point.gradient)
            new = self._along(point, step, halvings=MOST_HALVINGS if fresh else 0)
            if new is None and fresh:
                break  # rounding
            poor = new is None or new.size > max(enough, REFRESH * point.size)
            point = point if new is None else new
            if poor:
                G = self.loss.curvature(point.w)
            fresh = poor
        return point, G, point.size <= enough

    def _along(self, point: _Point, step: np.ndarray, halvings: int) -> _Point | None:
        """Return a point in the direction of the step that is clearly better, if there is one."""
        promised = ENOUGH_DECREASE * float(point.gradient @ step)
        rounding = ROUNDING * abs(point.value)
        for halving in range(halvings + 1):
            length = 0.5**halving
            new = self.at(point.u + length * step)
            if new.value <= point.value + length * promised + rounding:
                return new
        return None
