"""Feature maps, whose products are, or approximate, a kernel; and what a kernel takes from data.

Features are computed in double precision whatever the rows are in: combinations of kernel values
cancel, and single precision would leave three digits of them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from .._files import is_array, is_number, record
from .._numerics import is_sparse, quiet_overflow
from .._rows import Rows, block_rows, row_blocks
from ..errors import UsageError
from .kernel import NEGATIVE, Kernel, warn_of_negative_directions

PILOT_ROWS = 256


@record()
@dataclass(frozen=True)
class KernelColumns:
    """Kernel values of a row with given rows: all training rows, or a few landmarks."""

    kernel: Kernel
    rows: Any

    def _fits_together(self) -> bool:
        sparse = is_sparse(self.rows) and self.rows.dtype == float
        if not isinstance(self.kernel, Kernel) or not (sparse or is_array(self.rows, None, None)):
            return False
        return self.kernel.centre is None or self.kernel.centre.shape == (self.rows.shape[1],)

    @property
    def n_columns(self) -> int:
        """Number of columns d of a row."""
        return int(self.rows.shape[1])

    @property
    def n_features(self) -> int:
        """Number of features p."""
        return int(self.rows.shape[0])

    def __call__(self, X: Any) -> np.ndarray:
        """Return the features of a block of rows, of shape (n, p)."""
        if X.shape[0] == 0:
            return np.zeros((0, self.n_features))
        return self.kernel(X.astype(float, copy=False), self.rows)


@record()
@dataclass(frozen=True)
class RowsAndKernel:
    """The columns of a row, standardised if asked for, times `unit`; then kernel values with them.

    With a `unit` of 1 / sqrt(d Var) both halves are of the same size.
    """

    columns: KernelColumns
    unit: float
    mean: np.ndarray | None = None
    scale: np.ndarray | None = None

    def _fits_together(self) -> bool:
        if not isinstance(self.columns, KernelColumns) or not is_number(self.unit):
            return False
        if self.mean is None and self.scale is None:
            return True
        d, scale = self.n_columns, self.scale
        return is_array(self.mean, d) and is_array(scale, d) and bool(np.all(scale))

    @property
    def n_columns(self) -> int:
        """Number of columns d of a row."""
        return self.columns.n_columns

    @property
    def n_features(self) -> int:
        """Number of features, d + p."""
        return self.n_columns + self.columns.n_features

    def __call__(self, X: Any) -> np.ndarray:
        """Return the features of a block of rows, of shape (n, d + p)."""
        X = (X.toarray() if is_sparse(X) else X).astype(float, copy=False)
        X = X if self.scale is None else (X - self.mean) / self.scale
        return np.hstack([self.unit * X, self.columns(X)])


@record()
@dataclass(frozen=True)
class RandomFeatures:
    """Random Fourier features (Rahimi & Recht 2007): pairs of a cosine and a sine.

    The kernel is the expectation of cos(w^T (x - y)), so the product of two feature vectors is its
    average over the drawn `frequencies`, of shape (d, p / 2). Rows are measured from `centre`: far
    from the origin they would lose digits in the angles.
    """

    frequencies: np.ndarray
    centre: np.ndarray

    def _fits_together(self) -> bool:
        drawn = is_array(self.frequencies, None, None)
        return drawn and is_array(self.centre, self.frequencies.shape[0])

    @classmethod
    def draw(cls, kernel: Kernel, p: int, centre: np.ndarray, seed: int) -> RandomFeatures:
        """Draw the frequencies of a shift-invariant kernel; an odd `p` is rounded up."""
        rng, shape = np.random.default_rng(seed), (len(centre), (p + 1) // 2)
        if kernel.name == "rbf":
            frequencies = np.sqrt(2.0 * kernel.gamma) * rng.standard_normal(shape)
        elif kernel.name == "laplacian":
            frequencies = kernel.gamma * rng.standard_cauchy(shape)
        else:
            raise UsageError(f"the kernel {kernel.name!r} is not a function of x - y")
        return cls(frequencies, centre)

    @property
    def n_columns(self) -> int:
        """Number of columns d of a row."""
        return int(self.frequencies.shape[0])

    @property
    def n_features(self) -> int:
        """Number of features p."""
        return 2 * int(self.frequencies.shape[1])

    def __call__(self, X: Any) -> np.ndarray:
        """Return the features of a block of rows, of shape (n, p)."""
        half = self.frequencies.shape[1]
        if is_sparse(X):
            angles = np.asarray(X @ self.frequencies) - self.centre @ self.frequencies
        else:
            angles = (X - self.centre) @ self.frequencies
        features = np.empty((X.shape[0], 2 * half))
        np.cos(angles, out=features[:, :half])
        np.sin(angles, out=features[:, half:])
        features *= 1.0 / np.sqrt(half)
        return features


Features = KernelColumns | RandomFeatures | RowsAndKernel


def whitening(columns: KernelColumns, precision: float) -> np.ndarray:
    """Return N such that ``columns(X) @ N`` are Nystroem's features.

    With K = E diag(s) E^T the kernel of the landmarks among themselves, N = E diag(s)^(-1/2).
    Directions with s below the root of `precision` times the largest are left out: scatters of
    kernel values know nothing of them but rounding.
    """
    K = columns(columns.rows)
    s, E = np.linalg.eigh(0.5 * (K + K.T))
    if s[0] < -NEGATIVE * s[-1] and not columns.kernel.is_positive:
        warn_of_negative_directions(float(s[0]), float(s[-1]))
    kept = s > np.sqrt(precision) * s[-1]
    return (E[:, kept] / np.sqrt(s[kept]))[:, ::-1]


def scale_gamma(rows: Rows) -> float:
    """Return ``1 / (d Var)`` with the variance over all entries of the rows, 1 if they are equal.

    The paper's choice, and scikit-learn's default for kernel SVMs. Weights count as repetitions.
    """
    entries = rows.total_weight * rows.X.shape[1]
    mean = _weighted_sum(rows, 0.0, power=1) / entries
    variance = _weighted_sum(rows, mean, power=2) / entries
    return 1.0 if variance <= 0 else 1.0 / (rows.X.shape[1] * variance)  # NaN: overflow


def _weighted_sum(rows: Rows, shift: float, *, power: int) -> float:
    """Return the weighted sum of ``(entry - shift)^power``."""
    total, d = 0.0, rows.X.shape[1]
    for block in row_blocks(rows.n_rows, block_rows(d)):
        B = rows.block(block).astype(float, copy=False)
        n = block.stop - block.start
        weight = np.ones(n) if rows.weight is None else rows.weight[block]
        with quiet_overflow():
            if is_sparse(B):
                stored = B.copy()
                zeros = np.float64(-shift) ** power
                stored.data = (stored.data - shift) ** power - zeros
                sums = np.asarray(stored.sum(axis=1)).ravel() + d * zeros
            else:
                sums = np.sum((B - shift) ** power, axis=1, dtype=float)
            total += float(weight @ sums)
    return total


def pilot_centre(rows: Rows) -> np.ndarray:
    """Return the mean of a few rows spread over the data, zero for sparse rows."""
    if is_sparse(rows.X) or rows.n_rows == 0:
        return np.zeros(rows.X.shape[1])
    few = np.unique(np.linspace(0, rows.n_rows - 1, PILOT_ROWS).astype(int))
    return np.mean(rows.take(few), axis=0, dtype=float)
