"""PCA, inside the complement of given directions: the common core of all linear methods."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy.sparse.linalg import LinearOperator

from .._moments import DenseScatter, GroupMoments, RowScatter, Scatter, noise_along
from .._numerics import (
    Array,
    array_namespace,
    deflate,
    deterministic_signs,
    graded_basis,
    is_single,
    lanczos,
    like,
    orthonormalize,
    project_out,
    to_numpy,
    top_eigenpairs,
)
from ..errors import InfeasibleError
from ._subspace import Subspace, components_to_reach

SMALL_SIDE = 6000
"""Up to this many rows or features a dense eigensolver is the automatic choice."""

SOLVERS = ("auto", "dense", "iterative")

UNRESOLVED = 1e-10
"""Eigenvalues below this share of the trace have lost digits to the rounding of the largest."""

NOTHING = 1e-13
"""Entries of unit vectors up to this size are what an eigensolver leaves of zeros."""

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
        Dimension; or the share of the total variance to reach, in (0, 1); or all directions along
        which the rows vary by more than rounding.
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
        If the rows vary, by more than rounding, along fewer than `k` directions, or these hold less
        than the asked variance.

    Notes
    -----
    No basis of the complement is built. With :math:`P = I - QQ^\top`, the answer is the leading
    eigenvectors of :math:`PSP - \tau QQ^\top`, at the cost of plain PCA plus
    :math:`O(d^2 r)`. For rows kept as rows (:math:`S = F^\top F`) the same eigenvectors come from
    the Gram side, :math:`F P F^\top`.

    Examples
    --------
    >>> import numpy as np
    >>> from fairpca.moments import collect_moments
    >>> from fairpca.solvers import maximize_variance
    >>> X = np.random.default_rng(0).normal(size=(200, 3)) * [1.0, 3.0, 2.0]
    >>> moments = collect_moments(X, np.arange(200) % 2)
    >>> most = maximize_variance(moments, 1)
    >>> rest = maximize_variance(moments, 1, avoid=most.basis)
    >>> [int(abs(one.basis).argmax()) for one in (most, rest)]  # features, by their spread
    [1, 2]
    """
    Q = like(np.zeros((moments.n_features, 0)), moments.mean) if avoid is None else avoid
    found = _leading(moments, k, Q, solver, random_state)
    if not _all_vary(found, moments):
        moments.need_all_digits()
        if isinstance(moments.scatter, DenseScatter):
            # Directions of rounding can mix with those of features in small units: avoid them, too.
            N = _cleaned(_without_variance(moments), Q)
            both = array_namespace(Q).concat([Q, N], axis=1)
            found = _leading(moments, k, both, solver, random_state)
    found = varying(replace(found, constraint_rank=Q.shape[1]), moments, k)
    if not isinstance(k, float):
        return found
    total = float(array_namespace(Q).sum(moments.objective.diagonal)) if total is None else total
    return found.first(components_to_reach(found.scatter, k, total))


def _leading(
    moments: GroupMoments,
    k: int | float | None,
    Q: Array,
    solver: str,
    random_state: int | np.random.Generator | None,
) -> Subspace:
    """Return the leading eigenvectors outside Q: k of them, or all; fewer where there are fewer."""
    scatter, d = moments.objective, moments.n_features
    available = d - Q.shape[1]
    count = min(available, k if isinstance(k, int) else available)
    if count <= 0:
        return Subspace(Q[:, :0], like(np.zeros(0), Q))
    wide = isinstance(scatter, RowScatter) and scatter.n_rows < d
    large = isinstance(scatter, RowScatter) and min(scatter.n_rows, d) > SMALL_SIDE
    if (solver == "iterative" or (solver == "auto" and large)) and count < available:
        U, values = _by_lanczos(scatter, count, Q, random_state)
    elif isinstance(scatter, RowScatter) and wide:
        U, values = _by_gram_side(scatter, count, Q, precision=moments.precision)
        if values.shape[0] < min(count, scatter.n_rows - 1 - Q.shape[1]):
            moments.need_all_digits()
    else:
        U, values = _by_dense_eigenvectors(scatter.dense(), count, Q)
    xp = array_namespace(values)
    return Subspace(deterministic_signs(U), xp.where(values > 0, values, xp.zeros_like(values)))


def varying(found: Subspace, moments: GroupMoments, k: int | float | None) -> Subspace:
    """Return the columns along which rows vary by more than rounding; raise if there are too few.

    What rounding leaves of copies, or of sums of other features, is small and may be anything, the
    attribute, too; and whoever standardises the representation makes it as large as the rest.
    """
    if not _all_vary(found, moments):
        xp, squares = array_namespace(moments.mean), moments.objective.along(found.basis)
        real = xp.nonzero(squares > noise_along(moments, found.basis))[0]
        basis, squares = xp.take(found.basis, real, axis=1), xp.take(squares, real)
        found = replace(found, basis=basis, scatter=squares)
    left, r = found.basis.shape[1], found.constraint_rank
    if left == 0 or (isinstance(k, int) and left < k):
        asked = f"n_components={k} is too large" if isinstance(k, int) else "Nothing is left"
        besides = f" besides the {r} that separate the group means" if r else ""
        advice = f"Use n_components <= {left}" if left else "Use other features, or more rows"
        if is_single(moments.precision):  # as a fit of fewer components leaves them
            advice += "; or fit to the rows again, whose sums are here in single precision"
        raise InfeasibleError(
            f"{asked}: the rows vary along {left} direction(s){besides}. All else is rounding: "
            f"features that are constant, or copies or sums of others, or so small beside others, "
            f"or groups so far apart, that digits do not reach; or rows are few. {advice}.",
            available=left,
        )
    return found


def _all_vary(found: Subspace, moments: GroupMoments) -> bool:
    """Tell at a glance whether no column can be a direction of rounding."""
    return bool(array_namespace(moments.mean).all(found.scatter > noise_along(moments)))


def _without_variance(moments: GroupMoments) -> Array:
    """Return directions (d, z) in which the rows do not vary, found on correlations."""
    xp, squares = array_namespace(moments.mean), moments.objective.diagonal
    unit = xp.sqrt(xp.where(squares > 0, squares, xp.ones_like(squares)))
    work = moments.rescaled(unit)
    R = work.objective.dense()
    V = xp.linalg.eigh(R.matrix)[1]
    V = xp.take(V, xp.nonzero(R.along(V) <= noise_along(work, V))[0], axis=1)
    V = xp.where(xp.abs(V) > NOTHING, V, xp.zeros_like(V))  # of features in tiny units it were much
    return graded_basis(V / unit[:, None])


def _by_dense_eigenvectors(scatter: DenseScatter, k: int, Q: Array) -> tuple[Array, Array]:
    S = scatter.matrix
    trace = float(array_namespace(S).linalg.trace(S))
    deflated = deflate(S, Q, tau=trace / S.shape[0] if trace > 0 else 1.0)
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
    first = Q.shape[1]  # after which all that is left may be rounding, and fewer than k be found
    k = min(k, int(kept.shape[0]))
    return found[:, first : first + k], kept[:k]


def _by_gram_side(
    scatter: RowScatter, k: int, Q: Array, *, precision: float
) -> tuple[Array, Array]:
    """Wide data: eigenvectors V of F P F^T (n x n) give the directions P F^T V."""
    xp = array_namespace(scatter.mean)
    G = scatter.gram()
    # Before deflation, after which rounding may be all.
    size = float(xp.linalg.vector_norm(G)) + scatter.cancelled
    if Q.shape[1]:
        FQ = scatter.times_rows(Q)
        G = G - FQ @ FQ.T
    values, V = top_eigenpairs(G, min(k, scatter.n_rows), single=is_single(precision))
    noise = size * scatter.n_rows * precision
    rank = int(xp.sum(xp.astype(values > noise, xp.int64)))
    scale = xp.sqrt(xp.where(values > 0, values, xp.ones_like(values)))
    U = project_out(scatter.rows_transposed(V[:, :rank]) / scale[:rank], Q)
    rank = _of_unit_length(U)
    return _cleaned(U[:, :rank], Q), values[:rank]


def _by_lanczos(
    scatter: Scatter, k: int, Q: Array, random_state: int | np.random.Generator | None
) -> tuple[Array, Array]:
    d = Q.shape[0]
    apply = scatter.apply if isinstance(scatter, RowScatter) else scatter.matrix.__matmul__
    tau = float(array_namespace(Q).sum(scatter.diagonal))
    if tau == 0:
        return Q[:, :0], like(np.zeros(0), Q)

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
