"""Leading eigenvectors of large symmetric operators by block Krylov iterations.

A kernel matrix does not fit into the cache, so a product with sixteen vectors costs little more
than with one. A Krylov space that grows by a block per product therefore beats the single-vector
iterations of ARPACK, and it cannot overlook copies of a multiple eigenvalue as long as there are
fewer than the block is wide.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

EXTRA = 6
"""How many vectors a block has beyond the ones asked for."""

BLOCKS = 12
"""How many blocks the Krylov space holds before it is compressed to the best vectors found."""

PRECISION = 1e-13
"""Residuals below this share of the largest eigenvalue count as rounding."""

EXHAUSTED = 1e-6
"""A new direction this much smaller than another has lost its orthogonality to the others."""


@dataclass(frozen=True)
class Eigenpairs:
    """What an iteration found.

    Parameters
    ----------
    values : array of shape (k,)
        Largest eigenvalues, descending.
    vectors : array of shape (n, k)
        Orthonormal eigenvectors.
    smallest : float
        The smallest value seen: an upper bound of the smallest eigenvalue.
    residual : float
        Largest norm of ``A v - value v``, relative to the largest eigenvalue in size.
    converged : bool
        Whether the residual reached the tolerance.
    """

    values: np.ndarray
    vectors: np.ndarray
    smallest: float
    residual: float
    converged: bool


def leading_eigenpairs(
    apply: Callable[[np.ndarray], np.ndarray],
    n: int,
    k: int,
    *,
    tol: float = 0.0,
    products: int | None = None,
    seed: int = 0,
) -> Eigenpairs:
    """Return the eigenpairs of a symmetric operator with the largest eigenvalues.

    Parameters
    ----------
    apply : callable
        Takes an array of shape (b, n), vectors as rows, and returns the operator times each.
    n, k : int
        Order of the operator, and number of pairs.
    tol : float
        Relative size of the residuals to reach; 0 asks for rounding.
    products : int, optional
        Most calls of `apply`; by default about what a direct solver would cost.
    seed : int
        Of the random start.

    Returns
    -------
    Eigenpairs

    Examples
    --------
    >>> import numpy as np
    >>> A = np.diag(np.arange(100.0))
    >>> found = leading_eigenpairs(lambda rows: rows @ A, 100, 2)
    >>> found.converged, found.values.round(9).tolist()
    (True, [99.0, 98.0])
    """
    width = k + EXTRA
    if 2 * BLOCKS * width > n:
        return _directly(apply(np.eye(n)), k)
    products = max(30, n // (2 * width)) if products is None else products
    space = _KrylovSpace(n, capacity=BLOCKS * width)
    smallest = np.inf
    block = _orthonormal_rows(np.random.default_rng(seed).standard_normal((width, n)))
    for product in range(1, products + 1):
        following, coupling = space.extend(block, apply(block))
        values, Y = space.ritz()
        smallest = min(smallest, float(values[-1]))
        size = max(abs(values[0]), abs(smallest))
        residual = float(np.linalg.norm(coupling.T @ Y[-len(block) :, :k], axis=0).max())
        residual = residual / size if size > 0 else 0.0
        done = residual <= max(tol, PRECISION)
        if done or product == products:
            break
        block = following
        if space.used + width > space.capacity:
            space.compress(values, Y, keep=k + width)
    vectors = (Y[:, :k].T @ space.basis[: space.used]).T
    return Eigenpairs(values[:k], vectors, smallest, residual, bool(done))


class _KrylovSpace:
    """An orthonormal basis, as rows, and the operator inside its span."""

    def __init__(self, n: int, capacity: int) -> None:
        self.capacity = capacity
        self.basis = np.empty((capacity, n))
        self.inside = np.zeros((capacity, capacity))
        self.used = 0

    def extend(self, block: np.ndarray, image: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Add a block; return the next one and its coupling: image's part outside the span."""
        new = slice(self.used, self.used + len(block))
        self.used += len(block)
        self.basis[new] = block
        basis = self.basis[: self.used]
        along = np.zeros((len(block), self.used))
        for _ in range(2):  # "twice is enough" (Parlett, The Symmetric Eigenvalue Problem)
            step = image @ basis.T
            image = image - step @ basis
            along += step
        self.inside[new, : self.used] = along
        self.inside[: self.used, new] = along.T
        Q, triangle = np.linalg.qr(image.T)
        sizes = np.abs(np.diag(triangle))
        if sizes.min() <= EXHAUSTED * sizes.max():
            # Nothing new in some direction: QR made one up, which must leave the span too.
            for _ in range(2):
                Q, _triangle = np.linalg.qr(Q - basis.T @ (basis @ Q))
        return np.ascontiguousarray(Q.T), triangle.T

    def ritz(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the eigenpairs of the operator inside the span, largest first."""
        A = self.inside[: self.used, : self.used]
        values, Y = np.linalg.eigh(0.5 * (A + A.T))
        return values[::-1], Y[:, ::-1]

    def compress(self, values: np.ndarray, Y: np.ndarray, *, keep: int) -> None:
        """Keep the best directions found (a thick restart)."""
        self.basis[:keep] = Y[:, :keep].T @ self.basis[: self.used]
        self.inside[:] = 0.0
        np.fill_diagonal(self.inside[:keep, :keep], values[:keep])
        self.used = keep


def _directly(A: np.ndarray, k: int) -> Eigenpairs:
    values, V = np.linalg.eigh(0.5 * (A + A.T))
    smallest = float(values[0])
    return Eigenpairs(values[::-1][:k], V[:, ::-1][:, :k], smallest, 0.0, converged=True)


def _orthonormal_rows(A: np.ndarray) -> np.ndarray:
    return np.ascontiguousarray(np.linalg.qr(A.T)[0].T)
