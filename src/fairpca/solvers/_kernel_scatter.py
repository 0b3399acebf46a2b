"""The scatter of rows in a kernel's feature space, seen from the side of the rows."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from .._numerics import quiet_overflow
from .._rows import block_rows, row_blocks


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
    >>> from fairpca.solvers import KernelScatter
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

    def apply(self, vectors: np.ndarray) -> np.ndarray:
        """Return the scatter times each vector; vectors are the rows of a (b, n) array.

        Parameters
        ----------
        vectors : array of shape (b, n)
            Vectors as rows.

        Returns
        -------
        array of shape (b, n)
            The products, as rows.
        """
        # Rows times K is a third faster than K times columns.
        if self.weight is None:
            return self.centre(self.centre(vectors) @ self.K)
        return self.centre(((self.centre(vectors) * self.root_weight) @ self.K) * self.root_weight)

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
        return (weight / self.total_weight) @ self.K

    @cached_property
    def trace(self) -> float:
        """Sum of squares of all rows."""
        squares = float(self.root_weight**2 @ np.diagonal(self.K))
        return squares - float(self.mean @ self.root_weight**2)

    @cached_property
    def norm(self) -> float:
        """Frobenius norm of the weighted products about the origin: the scale of rounding."""
        with quiet_overflow():
            plain = float(np.linalg.norm(self.K))
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
