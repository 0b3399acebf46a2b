"""Leading eigenvectors of large symmetric operators by block Krylov iterations.

A kernel matrix does not fit into the cache, so a product with a dozen vectors costs little more
than with one. A Krylov space that grows by a block per product therefore beats the single-vector
iterations of ARPACK. It finds as many copies of a multiple eigenvalue as the block is wide; where
it finds so many, there may be more, and a wider block is used.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

WIDTH = 8
"""How many vectors a block has: wider ones cost more per product than they save."""

BLOCKS = 11
"""How many blocks the Krylov space takes before it is compressed to the best vectors found."""

PRECISION = 1e-13
"""Residuals below this share of the largest eigenvalue count as rounding."""

EQUAL = 1e-8
"""Eigenvalues that differ by less, relative to the largest, may be copies of one."""

LONGEST_LEAP = 7
"""Most products between two looks at the residuals."""

EXHAUSTED = 1e-3
"""A direction this much smaller than what it was left of has lost digits of its orthogonality."""


@dataclass(frozen=True)
class _Eigenpairs:
    """The k largest eigenvalues, descending, with eigenvectors of shape (n, k), and their quality.

    `smallest` is the smallest value seen, an upper bound of the smallest eigenvalue; `residual` the
    largest norm of ``A v - value v``, relative to the largest eigenvalue in size.
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
    hopeless: float = np.inf,
    seed: int = 0,
) -> _Eigenpairs:
    """Return the k leading eigenpairs of a symmetric operator of order n, from a random start.

    `apply` takes and returns rows of length n, at most `products` times, by default about what a
    direct solver would cost. A `tol` of 0 asks for residuals at rounding. Where residuals fall so
    slowly that it would take more than `hopeless` products, nobody waits for them.
    """
    tol = max(tol, PRECISION)
    found = _iterate(apply, n, k, tol=tol, products=products, hopeless=hopeless, seed=seed)
    if found.converged and _full_of_copies(found.values, WIDTH):
        wider = k + WIDTH
        return _iterate(apply, n, k, width=wider, tol=tol, seed=seed)
    return found


def _full_of_copies(values: np.ndarray, width: int) -> bool:
    """Tell whether so many eigenvalues coincide that a block of this width may have missed some."""
    if len(values) < width:
        return False
    spans = values[: len(values) - width + 1] - values[width - 1 :]
    return bool((spans <= EQUAL * np.abs(values).max()).any())


def _iterate(
    apply: Callable[[np.ndarray], np.ndarray],
    n: int,
    k: int,
    *,
    tol: float,
    width: int = WIDTH,
    products: int | None = None,
    hopeless: float = np.inf,
    seed: int = 0,
) -> _Eigenpairs:
    capacity = 4 * k + BLOCKS * width
    if 2 * capacity > n:
        return _directly(apply(np.eye(n)), k)
    products = max(50, n // (2 * width)) if products is None else products
    space = _KrylovSpace(n, capacity)
    block, _ = _orthonormal_rows(np.random.default_rng(seed).standard_normal((width, n)))
    look_at = 1 + -(-k // width)
    smallest, residual, last_look = np.inf, np.inf, 0
    for product in range(1, products + 1):
        block, coupling = space.extend(block, apply(block))
        full = space.used + width > capacity
        if product < min(look_at, products) and not full:
            continue
        values, Y = space.ritz()
        smallest = min(smallest, float(values[-1]))
        size = max(abs(values[0]), abs(smallest))
        norms = np.linalg.norm(coupling.T @ Y[-width:, :k], axis=0)
        before, residual = residual, float(norms.max()) / (size or 1.0)
        left = _products_left(before, residual, tol, product - last_look)
        # Before, residuals hardly fall whatever follows.
        settled = before < np.inf and product * width >= 3 * k
        if residual <= tol or product == products or (settled and product + left > hopeless):
            break
        look_at = product + (int(np.clip(left, 1, LONGEST_LEAP)) if left < np.inf else 2)
        last_look = product
        if full:
            space.compress(values, Y, keep=2 * k + 3 * width)
    vectors = (Y[:, :k].T @ space.basis[: space.used]).T
    return _Eigenpairs(values[:k], vectors, smallest, residual, converged=residual <= tol)


def _products_left(before: float, residual: float, tol: float, steps: int) -> float:
    """Return how many products are left, if residuals go on falling as they did; else infinity."""
    if not residual < before < np.inf:
        return np.inf
    return float(np.log(residual / tol) * steps / np.log(before / residual))


class _KrylovSpace:
    """An orthonormal basis, as rows, and the operator inside its span."""

    def __init__(self, n: int, capacity: int) -> None:
        self.capacity = capacity
        self.basis = np.empty((capacity, n))
        self.inside = np.zeros((capacity, capacity))
        self.used = 0
        self._linked = 0

    def extend(self, block: np.ndarray, image: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Add a block; return the next one and its coupling: image's part outside the span."""
        new = slice(self.used, self.used + len(block))
        self.used += len(block)
        self.basis[new] = block
        basis = self.basis[: self.used]
        along, size = np.zeros((len(block), self.used)), np.linalg.norm(image, axis=1).max()
        # "Twice is enough" (Parlett, The Symmetric Eigenvalue Problem). An image has only rounding
        # along blocks before the last two, for which once is enough.
        for first in (self._linked, 0):
            step = image @ basis[first:].T
            image = image - step @ basis[first:]
            along[:, first:] += step
        self._linked = new.start
        self.inside[new, : self.used] = along
        self.inside[: self.used, new] = along.T
        following, coupling = _orthonormal_rows(image)
        if np.abs(np.diag(coupling)).min() <= EXHAUSTED * size:
            # Little is new in some direction, or one is random: it must leave the span, too.
            for _ in range(2):
                following = _by_reflections(following - (following @ basis.T) @ basis)[0]
        return following, coupling

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
        self.used, self._linked = keep, 0


def _directly(A: np.ndarray, k: int) -> _Eigenpairs:
    values, V = np.linalg.eigh(0.5 * (A + A.T))
    smallest = float(values[0])
    return _Eigenpairs(values[::-1][:k], V[:, ::-1][:, :k], smallest, 0.0, converged=True)


def _orthonormal_rows(A: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return Q with orthonormal rows and L with ``A = L Q``.

    Two Cholesky factorisations of the small product A A^T take a tenth of the time of Householder
    reflections, and are as good unless rows are nearly dependent (Yamamoto et al. 2015).
    """
    try:
        first = np.linalg.cholesky(A @ A.T)
        if np.diag(first).min() > EXHAUSTED * np.diag(first).max():
            Q = np.linalg.inv(first) @ A
            second = np.linalg.cholesky(Q @ Q.T)
            return np.linalg.inv(second) @ Q, first @ second
    except np.linalg.LinAlgError:
        pass
    return _by_reflections(A)


def _by_reflections(A: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    Q, triangle = np.linalg.qr(A.T)
    return np.ascontiguousarray(Q.T), triangle.T
