"""Fair kernel PCA: ordinary kernel PCA of a deflated kernel."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from .._kernels import NEGATIVE, KernelScatter, Share
from .._moments import AttributeMoments
from .._numerics import (
    deterministic_signs,
    leading_eigenpairs,
    orthonormalize,
    project_out,
    row_space,
    top_eigenpairs,
)
from .._rows import block_rows, row_blocks
from ..errors import InfeasibleError
from ._equalize_means import check_attributes, names_of, quantity_hint
from ._subspace import DualSubspace, components_to_reach

DEPENDENT = 1e-12
"""Contrasts of unit length that differ by less from a combination of others add nothing."""

ZERO = 1e-12
"""Eigenvalues below this share of the largest are zero, as in scikit-learn's KernelPCA."""

GLANCE = 12
"""Products after which an iteration has met a negative eigenvalue if there is one of any size."""

SMALL = 500
"""Up to this many rows a direct eigensolver is the automatic choice."""


def equalize_kernel_means(
    scatter: KernelScatter,
    attributes: Sequence[AttributeMoments],
    k: int | float | None,
    *,
    definite: bool = False,
    solver: str = "auto",
    tol: float = 0.0,
    seed: int = 0,
) -> DualSubspace:
    r"""Solve fair kernel PCA.

    Among the k-dimensional subspaces of the feature space in which every group has the same mean,
    return the one that keeps the most variance.

    Parameters
    ----------
    scatter : KernelScatter
        Products of n rows in feature space.
    attributes : sequence of AttributeMoments
        From `fairpca._moments.attributes_over_rows`; none for plain kernel PCA.
    k : int, float or None
        Dimension; or the share of the total variance to reach; or all directions there are.
    definite : bool
        Whether the kernel is known to be positive semi-definite. If not, negative eigenvalues are
        looked for, and their directions left out.
    solver : {"auto", "dense", "iterative"}
        LAPACK, or block Krylov iterations that need only products with the kernel.
    tol : float
        Relative residual at which the iterations may stop; 0 asks for rounding.
    seed : int
        Start of the iterations.

    Returns
    -------
    DualSubspace

    Raises
    ------
    InfeasibleError
        If fewer than `k` directions satisfy the constraint.

    See Also
    --------
    fairpca.FairKernelPCA : The same for rows.

    Notes
    -----
    Algorithm 3 of [1]_ maximises :math:`\mathrm{tr}(B^\top K K B)` subject to
    :math:`B^\top K B = I` and :math:`Z^\top K B = 0` through an n x (n - m + 1) null space and a
    generalised eigenproblem. Its solution is ordinary kernel PCA of the Schur complement
    :math:`\tilde K = K - K Z (Z^\top K Z)^+ Z^\top K`: with :math:`\tilde K = V S V^\top`, the
    representation is :math:`V S^{1/2}`. The correction has rank m - 1, so it is applied and never
    formed, and the cost is that of kernel PCA. No ridge is needed for singular kernels.

    References
    ----------
    .. [1] Kleindessner, Donini, Russell, Zafar. "Efficient fair PCA for fair representation
       learning". AISTATS 2023.

    Examples
    --------
    >>> import numpy as np
    >>> from fairpca._rows import Rows
    >>> from fairpca._attributes import Levels
    >>> from fairpca._kernels import Kernel, kernel_matrix
    >>> from fairpca._moments import attributes_over_rows
    >>> from fairpca.solvers import equalize_kernel_means
    >>> from fairpca._kernels import KernelScatter
    >>> X = np.random.default_rng(0).normal(size=(60, 3))
    >>> sex = Levels("sex", labels=("f", "m"), codes=np.arange(60) % 2)
    >>> scatter = KernelScatter(kernel_matrix(Kernel("rbf", gamma=0.2), X))
    >>> fair = equalize_kernel_means(scatter, attributes_over_rows(Rows(X, attributes=(sex,))), 2)
    >>> T = fair.representation
    >>> bool(np.allclose(T[::2].mean(axis=0), T[1::2].mean(axis=0)))
    True
    """
    found = None if definite else _indefinite_eigenpairs(scatter, attributes, seed)
    if found is None:
        return _solve(scatter, attributes, k, solver=solver, tol=tol, seed=seed)
    # Leave out the negative part first: deflating it would turn it into positive variance.
    values, V = found
    kept = values > 0
    K = (V[:, kept] * values[kept]) @ V[:, kept].T
    positive = KernelScatter(K, centred=False, precision=scatter.precision)
    subspace = _solve(positive, attributes, k, solver=solver, tol=tol, seed=seed)
    inside = V[:, kept] @ (V[:, kept].T @ subspace.coefficients)
    return replace(subspace, coefficients=inside, smallest=float(values.min()))


def _indefinite_eigenpairs(
    scatter: KernelScatter, attributes: Sequence[AttributeMoments], seed: int
) -> tuple[np.ndarray, np.ndarray] | None:
    """Return all eigenpairs of a kernel that has negative ones, None if it has not.

    For many rows, a few products tell: with a kernel that is positive, as most are, nothing more
    than that is spent.
    """
    n = scatter.n_rows
    if n > SMALL:
        unit = scatter.norm or 1.0
        with scatter.side_by_side() as share:
            seen = leading_eigenpairs(
                lambda rows: scatter.apply(rows, share) / -unit, n, 1, products=GLANCE, seed=seed
            )
        m = _deflation_of(scatter, attributes).m
        suspicious = seen.values[0] > -NEGATIVE * seen.smallest or m.min(initial=0.0) < 0
        if not suspicious:
            return None
    values, V = np.linalg.eigh(scatter.dense())
    return None if values[0] >= -NEGATIVE * values[-1] else (values, V)


def _solve(
    scatter: KernelScatter,
    attributes: Sequence[AttributeMoments],
    k: int | float | None,
    *,
    solver: str,
    tol: float,
    seed: int,
) -> DualSubspace:
    """Solve for a kernel without negative part."""
    n = scatter.n_rows
    deflation = _deflation_of(scatter, attributes)
    r = deflation.rank
    most = n - r - int(scatter.centred)
    if isinstance(k, int) and k > most:
        raise InfeasibleError(
            f"n_components={k} is too large: {n} rows span at most {most} directions of the "
            f"feature space in which the groups ({names_of(attributes)}) have the same mean. Use "
            f"n_components <= {most}, or pass more rows.{quantity_hint(attributes)}",
            available=most,
        )
    if _iterates(solver, k, n):
        assert isinstance(k, int)
        unit = scatter.norm or 1.0
        with scatter.side_by_side() as share:

            def deflated(rows: np.ndarray) -> np.ndarray:
                image = scatter.apply(rows, share)
                image -= deflation.apply(rows)
                image /= unit
                return image

            found = leading_eigenpairs(deflated, n, k, tol=tol, seed=seed)
            if found.converged or solver == "iterative":
                subspace = _subspace(
                    scatter, deflation, found.values * unit, found.vectors, share=share
                )
                subspace = replace(subspace, residual=found.residual)
                return _enough(subspace, attributes, k)
    values, V = _directly(scatter, deflation, k)
    subspace = _subspace(scatter, deflation, values, V, promised=isinstance(k, int))
    return _enough(subspace, attributes, k)


def _iterates(solver: str, k: int | float | None, n: int) -> bool:
    if not isinstance(k, int) or solver == "dense":
        return False
    return solver == "iterative" or (n > SMALL and 20 * k <= n)


def _directly(
    scatter: KernelScatter, deflation: _Deflation, k: int | float | None
) -> tuple[np.ndarray, np.ndarray]:
    n = scatter.n_rows
    K = scatter.dense()
    for block in row_blocks(n, block_rows(n)):
        K[block] -= (deflation.A[block] / deflation.m) @ deflation.A.T
    return top_eigenpairs(K, k if isinstance(k, int) else n - deflation.rank)


def _subspace(
    scatter: KernelScatter,
    deflation: _Deflation,
    values: np.ndarray,
    V: np.ndarray,
    *,
    promised: bool = True,
    share: Share | None = None,
) -> DualSubspace:
    """Turn eigenvectors of the deflated kernel into combinations of rows.

    Where no number of them was `promised`, directions that rounding of the kernel values makes
    unreliable are left out.
    """
    zero = max(scatter.noise, ZERO * float(values.max(initial=0.0)))
    if not promised:
        zero = max(zero, scatter.resolution)
    positive = values > zero
    values = values[positive]
    V = deterministic_signs(orthonormalize(project_out(V[:, positive], deflation.Z)))
    B = V / np.sqrt(values)
    B -= deflation.Z @ ((deflation.A.T @ B) / deflation.m[:, None])
    T = scatter.apply(B.T, share).T
    # One step of refinement: what rounding left of the constraint.
    left = (deflation.Z.T @ T) / deflation.m[:, None]
    return DualSubspace(
        values=values,
        coefficients=B - deflation.Z @ left,
        representation=T - deflation.A @ left,
        constraint_rank=deflation.rank,
        smallest=None,
        residual=0.0,
        total=scatter.trace,
    )


def _enough(
    subspace: DualSubspace, attributes: Sequence[AttributeMoments], k: int | float | None
) -> DualSubspace:
    """Return as many directions as were asked for, or say how many there are."""
    found = len(subspace.values)
    if found == 0 or (isinstance(k, int) and found < k):
        asked = "" if k is None else f"n_components={k} is too large: "
        raise InfeasibleError(
            f"{asked}The kernel spans {found} direction(s) in which the rows vary and the groups "
            f"({names_of(attributes)}) have the same mean. Use fewer components, or a kernel with "
            f"more directions (rbf, or poly of a higher degree); if all rows look alike to the "
            f"kernel, standardise the features or use a larger gamma.{quantity_hint(attributes)}",
            available=found,
        )
    if not isinstance(k, float):
        return subspace
    return subspace.first(components_to_reach(subspace.values, k, subspace.total))


@dataclass(frozen=True)
class _Deflation:
    """K Z (Z^T K Z)^+ Z^T K = A diag(1/m) A^T, with orthonormal Z that diagonalises Z^T K Z."""

    Z: np.ndarray
    A: np.ndarray
    m: np.ndarray

    @property
    def rank(self) -> int:
        """How many directions are taken out."""
        return len(self.m)

    def apply(self, rows: np.ndarray) -> np.ndarray:
        """Return the correction times each row of `rows`."""
        return ((rows @ self.A) / self.m) @ self.A.T


def _deflation_of(scatter: KernelScatter, attributes: Sequence[AttributeMoments]) -> _Deflation:
    """Return what equal group means take out of the kernel; raise if there are no groups."""
    check_attributes(attributes)
    Z = np.zeros((scatter.n_rows, 0))
    if attributes:
        pairs = [a.independent_contrasts() for a in attributes]
        sizes = np.concatenate([size for _, size in pairs])
        contrasts = np.vstack([rows for rows, _ in pairs])
        contrasts /= np.where(sizes > 0, sizes, 1.0)[:, None]
        Z = row_space(contrasts, tol=DEPENDENT)[1]
    KZ = scatter.apply(Z.T).T
    M = Z.T @ KZ
    m, E = np.linalg.eigh(0.5 * (M + M.T))
    seen = np.abs(m) > scatter.noise  # the others: contrasts that the kernel does not see
    return _Deflation(Z @ E[:, seen], KZ @ E[:, seen], m[seen])
