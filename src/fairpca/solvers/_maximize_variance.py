"""PCA, inside the complement of given directions: the common core of all linear methods."""

from __future__ import annotations

import numpy as np
from scipy.sparse.linalg import LinearOperator

from .._moments import DenseScatter, GroupMoments, RowScatter, Scatter
from .._numerics import (
    Array,
    array_namespace,
    complete_basis,
    deflate,
    deterministic_signs,
    lanczos,
    like,
    orthonormalize,
    project_out,
    to_numpy,
    top_eigenpairs,
)
from ._subspace import Subspace, components_to_reach

SMALL_SIDE = 6000
"""Up to this many rows or features a dense eigensolver is the automatic choice."""

SOLVERS = ("auto", "dense", "iterative")

UNRESOLVED = 1e-10
"""Eigenvalues below this share of the trace have lost digits to the rounding of the largest."""

ALL_ROUNDING = 1e-30
"""Share of the trace that rounding of a basis, which enters by its square, can put anywhere."""


def maximize_variance(
    moments: GroupMoments,
    k: int | float | None,
    *,
    avoid: Array | None = None,
    total: float | None = None,
    solver: str = "auto",
    random_state: int | np.random.Generator | None = None,
) -> Subspace:
    r"""Return the subspace that keeps the most variance, orthogonal to given directions.

    Parameters
    ----------
    moments : GroupMoments
        Moments of rows in d dimensions; only the scatter, about the centre, is used.
    k : int, float or None
        Dimension; or the share of the total variance to reach, in (0, 1); or all there is (for
        wide data: all directions in which the rows vary).
    avoid : array of shape (d, r), optional
        Orthonormal directions ``Q`` to stay orthogonal to. Without them this is plain PCA.
    total : float, optional
        Sum of squares that a share refers to; by default that of these moments.
    solver : {"auto", "dense", "iterative"}
        A LAPACK eigensolver, or Lanczos iterations that need only products with the scatter.
    random_state : int or Generator, optional
        Start vector of the iterative solver.

    Returns
    -------
    Subspace

    Raises
    ------
    InfeasibleError
        If there are fewer than `k` directions, or they hold less than the asked variance.

    Notes
    -----
    No basis of the complement is built. With :math:`P = I - QQ^\top`, the answer is the leading
    eigenvectors of :math:`PSP - \tau QQ^\top`, at the cost of plain PCA plus
    :math:`O(d^2 r)`. For rows kept as rows (:math:`S = F^\top F`) the same eigenvectors come from
    the Gram side, :math:`F P F^\top`.

    Examples
    --------
    >>> import numpy as np
    >>> from fairpca import collect_moments
    >>> from fairpca.solvers import maximize_variance
    >>> X = np.random.default_rng(0).normal(size=(200, 3)) * [1.0, 3.0, 2.0]
    >>> moments = collect_moments(X, np.arange(200) % 2)
    >>> most = maximize_variance(moments, 1)
    >>> rest = maximize_variance(moments, 1, avoid=most.basis)
    >>> [int(abs(one.basis).argmax()) for one in (most, rest)]  # features, by their spread
    [1, 2]
    """
    d = moments.n_features
    Q = like(np.zeros((d, 0)), moments.mean) if avoid is None else avoid
    available = d - Q.shape[1]
    count = _how_many(k, available, moments)
    scatter = moments.objective
    kept_rows = scatter.n_rows if isinstance(scatter, RowScatter) else 0
    large = min(kept_rows, d) > SMALL_SIDE
    if (solver == "iterative" or (solver == "auto" and large)) and count < available:
        U, values = _by_lanczos(scatter, count, Q, random_state)
    elif isinstance(scatter, RowScatter) and kept_rows < d:
        U, values = _by_gram_side(
            scatter, count, Q, precision=moments.precision, complete=isinstance(k, int)
        )
    else:
        U, values = _by_dense_eigenvectors(scatter.dense(), count, Q)
    xp = array_namespace(values)
    values = xp.where(values > 0, values, xp.zeros_like(values))
    subspace = Subspace(deterministic_signs(U), values, constraint_rank=Q.shape[1])
    if isinstance(k, float):
        total = float(xp.sum(scatter.diagonal)) if total is None else total
        return subspace.first(components_to_reach(subspace.scatter, k, total))
    return subspace


def _how_many(k: int | float | None, available: int, moments: GroupMoments) -> int:
    if isinstance(k, int):
        return k
    if isinstance(moments.scatter, RowScatter):  # about their own mean, rows span n - 1 directions
        return max(1, min(available, moments.n_rows - (moments.everyone is None)))
    return available


def _by_dense_eigenvectors(scatter: DenseScatter, k: int, Q: Array) -> tuple[Array, Array]:
    S = scatter.matrix
    trace = float(array_namespace(S).linalg.trace(S))
    deflated = deflate(S, Q, tau=trace if trace > 0 else 1.0)
    values, U = top_eigenpairs(deflated, k)
    if trace > 0 and float(values[-1]) <= UNRESOLVED * trace:
        available = S.shape[0] - Q.shape[1]
        if k < available:
            values, U = top_eigenpairs(deflated, available)
        return _down_to_small_units(S, values, _cleaned(U, Q), k, Q)
    return _cleaned(U, Q), values


def _down_to_small_units(
    S: Array, values: Array, B: Array, k: int, Q: Array
) -> tuple[Array, Array]:
    """Order directions also where their variances differ by more than rounding of the largest.

    Next to a feature in units of 1e8 an eigensolver cannot tell those in units of 1 from each
    other. It does find the subspace in which they lie, and within it they are the largest. So what
    is resolved is kept, the scatter is compressed to the rest, and the rest is solved again.
    """
    xp = array_namespace(S)
    trace = size = float(xp.linalg.trace(S))
    found, kept = Q, values[:0]
    while True:
        resolved = int(xp.sum(xp.astype(values > UNRESOLVED * size, xp.int64)))
        found = xp.concat([found, B[:, :resolved]], axis=1)
        kept = xp.concat([kept, values[:resolved]])
        B, missing = B[:, resolved:], k - kept.shape[0]
        if missing <= 0:
            break
        inner = B.T @ (S @ B)
        size = float(xp.linalg.trace(inner))
        if size <= ALL_ROUNDING * trace:
            break
        values, V = top_eigenpairs(0.5 * (inner + inner.T), inner.shape[0])
        B = _cleaned(B @ V, found)
    if missing > 0:  # all that is left is rounding
        found = xp.concat([found, B[:, :missing]], axis=1)
        kept = xp.concat([kept, like(np.zeros(missing), values)])
    first = Q.shape[1]
    return found[:, first : first + k], kept[:k]


def _by_gram_side(
    scatter: RowScatter, k: int, Q: Array, *, precision: float, complete: bool
) -> tuple[Array, Array]:
    """Wide data: eigenvectors V of F P F^T (n x n) give the directions P F^T V."""
    xp = array_namespace(scatter.mean)
    G = scatter.gram()
    # Before deflation, after which rounding may be all.
    size = float(xp.linalg.vector_norm(G)) + scatter.cancelled
    if Q.shape[1]:
        FQ = scatter.times_rows(Q)
        G = G - FQ @ FQ.T
    values, V = top_eigenpairs(G, min(k, scatter.n_rows))
    noise = size * scatter.n_rows * precision
    rank = int(xp.sum(xp.astype(values > noise, xp.int64)))
    scale = xp.sqrt(xp.where(values > 0, values, xp.ones_like(values)))
    U = project_out(scatter.rows_transposed(V[:, :rank]) / scale[:rank], Q)
    rank = _of_unit_length(U)
    U = _cleaned(U[:, :rank], Q)
    if not complete:
        k = max(1, rank)
    nothing = like(np.zeros(k - rank), values)
    return complete_basis(U, Q, k), xp.concat([values[:rank], nothing])


def _by_lanczos(
    scatter: Scatter, k: int, Q: Array, random_state: int | np.random.Generator | None
) -> tuple[Array, Array]:
    d = Q.shape[0]
    apply = scatter.apply if isinstance(scatter, RowScatter) else scatter.matrix.__matmul__
    tau = float(array_namespace(Q).sum(scatter.diagonal))
    if tau == 0:
        return complete_basis(Q[:, :0], Q, k), like(np.zeros(k), Q)

    def deflated(v: np.ndarray) -> np.ndarray:
        v = like(v.reshape(d, 1), Q)  # on a device, one vector crosses per step
        along = Q.T @ v
        Pv = v - Q @ along
        return to_numpy(project_out(apply(Pv), Q) - tau * (Q @ along)).ravel()

    operator = LinearOperator((d, d), matvec=deflated, dtype=float)
    start = np.random.default_rng(random_state).standard_normal((d, 1))
    start = to_numpy(project_out(like(start, Q), Q))
    values, U = lanczos(operator, k, start.ravel())
    return _cleaned(like(U[:, ::-1], Q), Q), like(values[::-1], Q)


def _of_unit_length(U: Array) -> int:
    """Return how many leading columns have the length they should: 1, unless rounding is all."""
    xp = array_namespace(U)
    lengths = to_numpy(xp.linalg.vector_norm(U, axis=0))
    wrong = np.flatnonzero(np.abs(lengths - 1.0) > 0.1)
    return int(wrong[0]) if len(wrong) else U.shape[1]


def _cleaned(U: Array, Q: Array) -> Array:
    """Remove what rounding put along Q, and restore orthonormality."""
    return orthonormalize(project_out(U, Q) if Q.shape[1] else U)
