"""The scatter of rows in a kernel's feature space, seen from the side of the rows."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from .._numerics import blas_threads, limited_threads, pool_of, quiet_overflow
from .._rows import block_rows, row_blocks
from .kernel import PART

PANEL, SMALL = 24, 10**6
"""Rows of a matrix, and most multiplications, for which BLAS need not copy it before a product."""

Share = Callable[[Callable[[slice], Any]], list[Any]]
"""Calls a function with blocks of rows, a thread each, and returns its results."""


@dataclass(frozen=True)
class KernelScatter:
    r"""Products of weighted rows about their mean, without a copy of the kernel matrix.

    With D the roots of the weights and :math:`P = I - qq^\top`, :math:`q = D1 / |D1|`, this is
    :math:`P D K D P`: subtracting the mean in feature space is a projection on either side.

    Parameters
    ----------
    K : array of shape (n, n)
        Kernel values; symmetric, only read.
    weight : array of shape (n,), optional
        Positive weights of the rows.
    centred : bool
        Whether to subtract the mean. Without, sums of squares are about the origin.
    precision : float
        Relative rounding error of the kernel values.

    Examples
    --------
    >>> import numpy as np
    >>> from fairpca._kernels import KernelScatter
    >>> X = np.array([[0.0], [1.0], [5.0]])
    >>> scatter = KernelScatter(X @ X.T)
    >>> scatter.dense().round(6)  # products of the rows about their mean, 2
    array([[ 4.,  2., -6.],
           [ 2.,  1., -3.],
           [-6., -3.,  9.]])
    >>> round(scatter.trace, 6)
    14.0
    """

    K: np.ndarray
    weight: np.ndarray | None = None
    centred: bool = True
    precision: float = float(np.finfo(float).eps)

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return int(self.K.shape[0])

    @cached_property
    def total_weight(self) -> float:
        """Sum of the weights."""
        return float(self.n_rows if self.weight is None else self.weight.sum())

    @property
    def degrees_of_freedom(self) -> float:
        """Divide the scatter by this to get an unbiased variance; n - 1 for unit weights."""
        return self.total_weight * (1.0 - 1.0 / self.n_rows)

    @cached_property
    def root_weight(self) -> np.ndarray:
        """Roots of the weights."""
        return np.ones(self.n_rows) if self.weight is None else np.sqrt(self.weight)

    def apply(self, vectors: np.ndarray, share: Share | None = None) -> np.ndarray:
        """Return the scatter times each vector; vectors are the rows of a (b, n) array.

        Parameters
        ----------
        vectors : array of shape (b, n)
            Vectors as rows.
        share : function, optional
            From `side_by_side`, where several products are taken in turn.

        Returns
        -------
        array of shape (b, n)
            The products, as rows.
        """
        vectors = self.centre(vectors)
        vectors = vectors if self.weight is None else vectors * self.root_weight
        products = self._products(vectors, share)
        return self.centre(products if self.weight is None else products * self.root_weight)

    def _products(self, vectors: np.ndarray, share: Share | None = None) -> np.ndarray:
        if share is None:
            with self.side_by_side() as share:
                return self._products(vectors, share)
        columns = np.ascontiguousarray(vectors.T)
        parts = share(lambda rows: _in_panels(self.K[rows], columns))
        return np.ascontiguousarray(np.concatenate(parts).T)

    @contextmanager
    def side_by_side(self) -> Iterator[Share]:
        """Yield a way to share products among threads; each has one BLAS thread inside.

        These sleep in between. Threads of BLAS spin, and fight for cores with other libraries'.

        Yields
        ------
        share : callable
            Takes what is to be done with a block of rows; returns the results in their order.
        """
        n = self.n_rows
        threads = max(1, min(blas_threads(), self.K.size // PART))
        first, *others = row_blocks(n, -(-n // threads))
        with limited_threads(1), pool_of(threads) as pool:

            def share(work: Callable[[slice], Any]) -> list[Any]:
                waiting = [pool.submit(work, block) for block in others]
                return [work(first), *(future.result() for future in waiting)]

            yield share

    def centre(self, vectors: np.ndarray) -> np.ndarray:
        """Return P times each row of `vectors`; the same where the scatter is not centred.

        Parameters
        ----------
        vectors : array of shape (b, n)
            Vectors as rows.

        Returns
        -------
        array of shape (b, n)
            Orthogonal to the roots of the weights.
        """
        if not self.centred:
            return vectors
        q = self.root_weight / np.sqrt(self.total_weight)
        return vectors - (vectors @ q)[:, None] * q

    @cached_property
    def mean(self) -> np.ndarray:
        """Mean of the kernel values in each column; zero where the scatter is not centred."""
        if not self.centred:
            return np.zeros(self.n_rows)
        weight = np.ones(self.n_rows) if self.weight is None else self.weight
        return self._products(weight / self.total_weight)

    @cached_property
    def trace(self) -> float:
        """Sum of squares of all rows."""
        squares = float(self.root_weight**2 @ np.diagonal(self.K))
        return squares - float(self.mean @ self.root_weight**2)

    @cached_property
    def norm(self) -> float:
        """Frobenius norm of the weighted products about the origin: the scale of rounding."""
        with quiet_overflow():
            with self.side_by_side() as share:
                plain = float(np.linalg.norm(share(lambda rows: np.linalg.norm(self.K[rows]))))
            if self.weight is None and 1e-140 < plain < 1e140:
                return plain
            # Squares of very large or small numbers leave the range of doubles.
            largest = max(float(self.K.max()), -float(self.K.min())) or 1.0
            heaviest = 1.0 if self.weight is None else float(self.weight.max())
            weight = self.root_weight**2 / heaviest
            squares = 0.0
            for block in row_blocks(self.n_rows, block_rows(self.n_rows)):
                squares += float(weight[block] @ ((self.K[block] / largest) ** 2 @ weight))
            return float(np.sqrt(squares)) * largest * heaviest

    @property
    def noise(self) -> float:
        """Eigenvalues up to this size are rounding."""
        return 8.0 * self.precision * self.norm

    @property
    def resolution(self) -> float:
        """Eigenvalues up to this size may have components with group differences near 1e-7.

        A component is a combination of kernel values, larger the smaller its eigenvalue, and so
        are the rounding errors that come with it.
        """
        return 3e7 * self.precision * self.norm / float(np.sqrt(self.n_rows))

    def dense(self) -> np.ndarray:
        """Return the scatter as a matrix of its own."""
        G: np.ndarray = self.K * self.root_weight
        G *= self.root_weight[:, None]
        if self.centred:
            q = self.root_weight / np.sqrt(self.total_weight)
            Gq = G @ q
            half = Gq - 0.5 * float(q @ Gq) * q
            for block in row_blocks(self.n_rows, block_rows(self.n_rows)):
                G[block] -= half[block, None] * q + q[block, None] * half
        return G


def _in_panels(K: np.ndarray, columns: np.ndarray) -> np.ndarray:
    """Return K times some columns; a few rows of K at a time take half the time of all of them."""
    n = len(columns)
    if not 8 * n <= columns.size <= SMALL // 8:
        return K @ columns
    panel = min(PANEL, SMALL // columns.size)
    whole = len(K) - len(K) % panel
    products = K[:whole].reshape(whole // panel, panel, n) @ columns
    return np.concatenate([*products, K[whole:] @ columns])
