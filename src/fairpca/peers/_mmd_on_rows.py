"""The squared MMD between two groups of projected rows, as a function of the projection."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .._attributes import Levels
from .._numerics import each_item
from .._rows import Rows, row_blocks

TILE = 256
"""Rows per tile of the kernel matrix: tiles stay in the cache, and no n x n matrix is needed."""


@dataclass(frozen=True)
class GroupDiscrepancy:
    r"""Squared MMD of the rows of ``X V`` with the Gaussian kernel, and its derivatives in V.

    Parameters
    ----------
    X : array of shape (n, d)
        Rows, centred (distances near zero keep their digits).
    signs : array of shape (n,)
        Share of each row in the mean of its group, negative for the second group.
    sigma : float
        Width of the kernel :math:`\exp(-|a - b|^2 / 2\sigma^2)`.

    Notes
    -----
    With :math:`K` the kernel matrix of the projected rows T, the value is :math:`a^\top K a`, and
    with :math:`B = a a^\top \circ K` the gradient is
    :math:`-\frac{2}{\sigma^2} X^\top (\mathrm{diag}(B 1) - B) T`, in O(n^2 k + n d k). Half of the
    kernel matrix is computed, tile by tile.

    Examples
    --------
    >>> X = np.array([[0.0], [1.0], [0.0], [1.0]])
    >>> discrepancy = GroupDiscrepancy(X, np.array([0.5, -0.5, 0.5, -0.5]), sigma=1.0)
    >>> value, gradient = discrepancy(np.eye(1))
    >>> round(value, 3), gradient.shape
    (0.787, (1, 1))
    """

    X: np.ndarray
    signs: np.ndarray
    sigma: float

    def __call__(self, V: np.ndarray) -> tuple[float, np.ndarray]:
        """Return the squared MMD under V of shape (d, k), and its gradient of the same shape."""
        T = (self.X @ V) / self.sigma
        n, k = T.shape
        half_squares = -0.5 * np.einsum("ij,ij->i", T, T)[:, None]
        # Exponents -|t - t'|^2 / 2 in one product: (t, -|t|^2/2, 1) . (t', 1, -|t'|^2/2).
        left = np.hstack([T, half_squares, np.ones((n, 1))])
        right = np.hstack([T, np.ones((n, 1)), half_squares])
        weighted = self.signs[:, None] * np.hstack([T, np.ones((n, 1))])

        def products_with_later_rows(block: slice) -> np.ndarray:
            total = np.zeros((n, k + 1))
            for later in row_blocks(n - block.start, TILE):
                other = slice(block.start + later.start, block.start + later.stop)
                K = left[block] @ right[other].T
                np.exp(K, out=K)
                total[block] += K @ weighted[other]
                if other.start > block.start:
                    total[other] += K.T @ weighted[block]
            return total

        products = np.zeros((n, k + 1))
        for part in each_item(products_with_later_rows, row_blocks(n, TILE)):
            products += part
        value = float(self.signs @ products[:, k])
        pulls = self.signs[:, None] * (products[:, k:] * T - products[:, :k])
        return value, (-2.0 / self.sigma) * (self.X.T @ pulls)

    def curvature(self, V: np.ndarray, rng: np.random.Generator, features: int) -> np.ndarray:
        r"""Return J such that :math:`2 J J^\top` estimates the Gauss-Newton Hessian at V.

        Its shape is (d k, features).
        The kernel is an average of products of random Fourier features [1]_, so the discrepancy is
        an average of squares, and J holds the gradients of what is squared. With somewhat more
        features than unknowns the estimate is right up to a factor in every direction, flat ones
        included.

        References
        ----------
        .. [1] Rahimi, Recht. "Random features for large-scale kernel machines". NeurIPS 2007.
        """
        d, k = V.shape
        frequencies = rng.normal(size=(k, features)) / self.sigma
        phases = rng.uniform(0.0, 2.0 * np.pi, features)
        slopes = np.sin((self.X @ V) @ frequencies + phases)
        slopes *= self.signs[:, None]
        along = self.X.T @ slopes
        J: np.ndarray = along[:, None, :] * (frequencies * np.sqrt(2.0 / features))
        return J.reshape(d * k, features)


def signs_of_groups(rows: Rows, weight: np.ndarray) -> np.ndarray:
    """Return the share of each row in the mean of its group, negative for the second group."""
    (attribute,) = rows.attributes
    assert isinstance(attribute, Levels)
    totals = np.bincount(attribute.codes, weights=weight)
    signs: np.ndarray = np.where(attribute.codes == 0, 1.0, -1.0) * weight / totals[attribute.codes]
    return signs
