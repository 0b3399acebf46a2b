"""Leading eigenvectors, orthonormal bases and their signs."""

from __future__ import annotations

import numpy as np

from ._base import GroupedRows

TIED = 1e-9
"""Entries of a direction that differ by less, relatively, differ by rounding."""


def top_eigenpairs(A: np.ndarray, k: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the `k` largest eigenvalues of a symmetric matrix, descending, and eigenvectors."""
    values, V = np.linalg.eigh(A)
    return values[::-1][:k], V[:, ::-1][:, :k]


def orthonormalize(U: np.ndarray) -> np.ndarray:
    """Return orthonormal columns with the same leading spans, directions kept."""
    Q, triangle = np.linalg.qr(U)
    return Q * np.where(np.diag(triangle) < 0, -1.0, 1.0)


def deterministic_signs(U: np.ndarray) -> np.ndarray:
    """Flip columns so that the first of the entries of largest magnitude in each is positive."""
    # Two dummies of one category have entries of the same size, and rounding must not choose.
    size = np.abs(U)
    first = (size >= (1.0 - TIED) * size.max(axis=0, initial=0.0)).argmax(axis=0)
    return U * np.where(U[first, np.arange(U.shape[1])] < 0, -1.0, 1.0)


def complete_basis(U: np.ndarray, k: int) -> np.ndarray:
    """Append fixed orthonormal columns, orthogonal to `U`, until there are `k`."""
    d, have = U.shape
    if have >= k:
        return U
    fresh = np.random.default_rng(0).standard_normal((d, k - have))
    for _ in range(2):  # "twice is enough" (Parlett, The Symmetric Eigenvalue Problem)
        fresh = np.linalg.qr(fresh - U @ (U.T @ fresh))[0]
    return np.hstack([U, fresh])


def principal_axes(rows: GroupedRows, k: int | None = None) -> np.ndarray:
    """Return the directions in which rows vary, most variance first; raise if fewer than k."""
    if rows.n_rows < rows.n_features:
        weighted = rows.centred * np.sqrt(rows.weight)[:, None]
        U = np.linalg.svd(weighted, full_matrices=False)[2].T
    else:
        U = top_eigenpairs(rows.scatter(), rows.n_features)[1]
    return rows.varying(deterministic_signs(orthonormalize(U)), k)


def along_principal_axes(U: np.ndarray, rows: GroupedRows, k: int | None = None) -> np.ndarray:
    """Return the axes of the span of U in which rows vary, most variance first, at most k."""
    inner = top_eigenpairs(rows.scatter(U), U.shape[1])[1]
    axes = deterministic_signs(orthonormalize(U @ inner))
    return rows.varying(axes)[:, :k]
