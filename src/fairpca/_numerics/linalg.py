"""Orthonormal ranges, leading eigenvectors, deflation: the linear algebra of every solver."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.linalg
from scipy.sparse.linalg import eigsh

from .arrays import Array, array_namespace, device, is_numpy
from .krylov import leading_eigenpairs
from .threads import limited_threads

SUBSET_FROM = 800
"""From this order on, SciPy's subset eigensolver beats NumPy's full one for few eigenvectors.

Below it, waking SciPy's BLAS threads while NumPy's still spin costs more than the solver saves.
"""

FLAT = 0.5
"""Spectra of a larger effective rank, as a share of the order, are for a direct solver."""

NEARLY_ORTHONORMAL = 1e-9
"""One Newton step squares the defect of a basis: 1e-9 becomes rounding."""


def top_eigenpairs(A: Array, k: int, *, single: bool = False) -> tuple[Array, Array]:
    """Return the `k` largest eigenvalues of a symmetric matrix, descending, and eigenvectors.

    A large matrix that is known to `single` precision only may be decomposed in it.
    """
    d = A.shape[0]
    if is_numpy(A) and d >= SUBSET_FROM and k <= d // 4:
        found = _by_products(A, k) if k <= d // 20 else None
        found = _by_inverse_iteration(A, k, single=single) if found is None else found
        if found is not None:
            return found
    xp = array_namespace(A)
    values, vectors = xp.linalg.eigh(A)
    return xp.flip(values)[:k], xp.flip(vectors, axis=1)[:, :k]


def lanczos(A: Any, k: int, start: np.ndarray, **limits: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the `k` leading eigenpairs of a symmetric matrix or operator, the largest last."""
    with limited_threads(1, of_scipy=True):
        values, V = eigsh(A, k, which="LA", v0=start, **limits)
    return values, V


def _by_products(A: np.ndarray, k: int) -> tuple[np.ndarray, np.ndarray] | None:
    """Try a Krylov space; None unless it converged to rounding.

    Spectra of real tables decay, and then this takes less than a third of the time of a direct
    solver. Of flat ones, whose effective rank is known beforehand, or which are flat from some
    eigenvalue on, it would take many products.
    """
    if float(np.trace(A)) ** 2 > FLAT * A.shape[0] * float(np.vdot(A, A)):
        return None
    found = leading_eigenpairs(A.__rmatmul__, A.shape[0], k, products=80, hopeless=150)
    return (found.values, found.vectors) if found.converged else None


def _by_inverse_iteration(
    A: np.ndarray, k: int, *, single: bool = False
) -> tuple[np.ndarray, np.ndarray] | None:
    """LAPACK's subset solver; None where inverse iteration failed on a tight cluster."""
    d = A.shape[0]
    size = float(np.abs(np.diagonal(A)).max()) if single else 0.0
    work = A
    if size > 0:
        work = np.divide(A, size, out=np.empty(A.shape, np.float32), casting="same_kind")
    try:
        values, V = scipy.linalg.eigh(
            work, subset_by_index=[d - k, d - 1], driver="evx", check_finite=False
        )
    except np.linalg.LinAlgError:
        return None
    if work is not A:  # the best of A in their span, orthonormal to all digits
        V = orthonormalize(V.astype(float))
        values, Y = np.linalg.eigh(V.T @ (A @ V))
        V = V @ Y
    return values[::-1], V[:, ::-1]


def orthonormalize(U: Array) -> Array:
    """Return orthonormal columns with the same leading spans, directions kept.

    Column j of the result is column j of `U` with the earlier columns projected out. A basis that
    is orthonormal but for rounding is cleaned up by one Newton step towards its polar factor,
    which moves it least.
    """
    xp = array_namespace(U)
    gram = U.T @ U
    defect = gram - xp.eye(U.shape[1], dtype=U.dtype, device=device(U))
    size = 0.0 if 0 in U.shape else float(xp.max(xp.abs(defect)))
    if size < NEARLY_ORTHONORMAL:
        return U - 0.5 * (U @ defect)
    if size * U.shape[1] < 0.1:  # well conditioned: as a QR decomposition, at a tenth of the cost
        return orthonormalize(U @ xp.linalg.inv(xp.linalg.cholesky(gram)).T)
    Q, triangle = xp.linalg.qr(U, mode="reduced")
    signs = xp.sign(xp.linalg.diagonal(triangle))
    return Q * xp.where(signs == 0, xp.ones_like(signs), signs)


def graded_basis(columns: Array) -> Array:
    """Return an orthonormal basis of the span of independent columns, to all digits of all entries.

    Gram-Schmidt, longest column first, each until nothing more is lost: unlike a QR decomposition
    it keeps the digits of features in units of 1e-6 next to those in units of 1e6.
    """
    xp = array_namespace(columns)
    left, Q = columns, columns[:, :0]
    for _ in range(columns.shape[1]):
        longest = int(xp.argmax(xp.max(xp.abs(left), axis=0)))
        q, kept = left[:, longest : longest + 1], 0.0
        while 0.0 <= kept < 0.5:
            q = q / xp.max(xp.abs(q))
            before = xp.linalg.vector_norm(q)
            q = project_out(q, Q)
            kept = float(xp.linalg.vector_norm(q) / before) or -1.0  # nothing is left of it
        left = xp.concat([left[:, :longest], left[:, longest + 1 :]], axis=1)
        if kept > 0:
            q = q / xp.linalg.vector_norm(q)
            left, Q = project_out(left, q), xp.concat([Q, q], axis=1)
    return Q


def row_space(rows: Array, *, tol: float) -> tuple[Array, Array]:
    """Return combinations (r, q) of `rows` (q, d) that span what all do, and an orthonormal basis.

    Singular values up to `tol` are rounding, in units in which it is of one size in all entries.
    """
    xp = array_namespace(rows)
    if 0 in rows.shape:
        empty = rows[:0, :0]
        return xp.reshape(empty, (0, rows.shape[0])), xp.reshape(empty, (rows.shape[1], 0))
    left, values, right = xp.linalg.svd(rows, full_matrices=False)
    r = int(xp.sum(xp.astype(values > tol, xp.int64)))
    return left.T[:r, :], right.T[:, :r]


def project_out(A: Array, Q: Array) -> Array:
    """Return `A` without its components along the orthonormal columns of `Q`."""
    return A - Q @ (Q.T @ A)


def deflate(S: Array, Q: Array, *, tau: float) -> Array:
    """Return ``P S P - tau Q Q^T`` with ``P = I - Q Q^T``, in O(d^2 r).

    The leading eigenvectors of the result are those of S within the complement of Q. The second
    term sorts Q last even where S is singular.
    """
    if Q.shape[1] == 0:
        return S
    SQ = S @ Q
    # P S P = S - (SQ - Q M/2) Q^T - Q (SQ - Q M/2)^T with M = Q^T S Q; tau joins M.
    half = SQ - Q @ (0.5 * (Q.T @ SQ)) + (0.5 * tau) * Q
    xp = array_namespace(S)
    update = xp.concat([half, Q], axis=1) @ xp.concat([Q, half], axis=1).T
    return np.subtract(S, update, out=update) if is_numpy(S) else S - update


def deterministic_signs(U: Array) -> Array:
    """Flip columns so that the entry of largest magnitude in each is positive."""
    xp = array_namespace(U)
    if U.shape[1] == 0:
        return U
    rows = xp.argmax(xp.abs(U), axis=0)
    picked = xp.reshape(xp.arange(U.shape[0], device=device(U)), (-1, 1)) == rows
    peak = xp.sum(xp.where(picked, U, xp.zeros_like(U)), axis=0)
    return U * xp.where(peak < 0, -xp.ones_like(peak), xp.ones_like(peak))


def inverse_of_scatter(S: Array) -> Array:
    """Return the inverse of a positive definite matrix, as the library at hand raises if it is not.

    torch takes half as long by triangles as by elimination, which waits for every pivot.
    """
    xp = array_namespace(S)
    if hasattr(xp, "cholesky_inverse"):
        return xp.cholesky_inverse(xp.linalg.cholesky(S))
    return xp.linalg.inv(S)
