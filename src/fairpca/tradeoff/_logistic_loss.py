"""The logistic loss of a linear model over rows: its value, slope and curvature, in blocks."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from .._numerics import share_blocks
from .._rows import row_blocks

IN_CACHE = 2**17
"""How many numbers a block of rows holds: 1 MB, read twice or thrice while it is in the cache."""


@dataclass(frozen=True)
class LogisticLoss:
    """Sum over rows of ``log(1 + exp(f)) - y f`` with ``f = rows @ w[:-1] + w[-1]``.

    Parameters
    ----------
    rows : array of shape (n, p)
        Features, in double precision.
    y : array of shape (n,)
        Labels, 0.0 or 1.0.

    Examples
    --------
    >>> loss = LogisticLoss(np.array([[1.0], [-1.0]]), np.array([1.0, 0.0]))
    >>> value, slope = loss.value_and_slope(np.zeros(2))
    >>> slope
    array([-1.,  0.])
    """

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

        hessian: np.ndarray = np.sum(self._over_shares(over), axis=0)
        return hessian

    def _over_shares(self, over: Callable[[Sequence[slice]], Any]) -> list[Any]:
        return share_blocks(over, self.blocks, d=self.rows.shape[1])
