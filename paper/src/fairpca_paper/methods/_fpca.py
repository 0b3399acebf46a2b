"""FPCA: fair PCA as a semidefinite program, and the subspace nearest to its solution."""

from __future__ import annotations

import numpy as np

from fairpca.errors import InfeasibleError

from ._base import (
    GroupedRows,
    LinearMethod,
    check_choice,
    check_count,
    check_number,
    warn_of_fewer,
)
from ._fpca_program import NO_DIFFERENCE, SOLVERS, FairSDP, relaxed
from ._linalg import deterministic_signs

TIED = 1e-4
"""Eigenvalues of the relaxation that differ by less, relatively, differ by the solver's error."""


def _fpca_problem(rows: GroupedRows, k: int, *, delta: float, mu: float) -> FairSDP:
    """Set up the program from two groups of standardised rows, as published."""
    # Divisors are n, `mu` is relative to the objective over the Frobenius norm of the centred rows,
    # and shifts are the smallest that make both matrices semidefinite.
    scatter = rows.scatter()
    first, second = rows.group_means()
    f = second - first
    if np.linalg.norm(f) <= rows.rounding * np.sqrt(len(f)):
        f = NO_DIFFERENCE
    most = len(scatter) - (1 if len(f) and delta < np.linalg.norm(f) else 0)
    if k > most:
        raise InfeasibleError(
            f"n_components={k} is too large: group means lie within delta={delta:g} of each other "
            f"in {most} feature direction(s) only (n_features = {len(scatter)}). Use fewer "
            f"components, or a larger delta."
        )
    values, V = np.linalg.eigh(_difference_of_covariances(rows))
    below, above = max(0.0, -values[0]), max(0.0, values[-1])
    roots = [
        np.sqrt(np.clip(a, 0.0, None))[:, None] * V.T for a in (values + below, above - values)
    ]
    price = mu * float(np.sqrt(scatter.trace()))
    C = scatter / rows.total_weight
    return FairSDP(C, (roots[0], roots[1]), float(below + above), f, k, delta, price)


def _difference_of_covariances(rows: GroupedRows) -> np.ndarray:
    """Return what the second group's covariance, divisor n, is more than the first one's."""
    first, second = rows.group_covariances()
    return np.asarray(second - first)


def _leading_subspace(P: np.ndarray, problem: FairSDP) -> tuple[np.ndarray, np.ndarray]:
    """Return all eigenvalues of P, and uncorrelated directions of its leading k eigenvectors."""
    # Of eigenvectors whose eigenvalues tie with the kth, those of most variance are taken.
    values, V = np.linalg.eigh(P)
    values, V = values[::-1], V[:, ::-1]
    k, C = problem.k, problem.C
    margin = TIED * values[0]
    above = int(np.sum(values > values[k - 1] + margin))
    tied = V[:, above : int(np.sum(values >= values[k - 1] - margin))]
    inside = np.linalg.eigh(tied.T @ C @ tied)[1][:, ::-1]
    V = np.hstack([V[:, :above], tied @ inside[:, : k - above]])
    rotation = np.linalg.eigh(V.T @ C @ V)[1][:, ::-1]
    return values, deterministic_signs(V @ rotation)


class FPCA(LinearMethod):
    r"""Find a fair subspace by a convex relaxation: close means, a price on unequal covariances.

    Olfat and Aswani's semidefinite program [1]_ with the constants of the published experiments
    [2]_. Rows are standardised. Over all matrices P with eigenvalues in [0, 1] and trace k,

    .. math:: \max \; \langle C, P\rangle / |X|_F - \mu (t_1 + t_2)
              \quad\text{s.t.}\quad f^\top P f \le \delta^2,

    where C is the correlation matrix, X the n standardised rows, f the difference of the group
    means, and :math:`t_i` the largest eigenvalue of :math:`P(\phi_i I \pm (\Sigma_1 - \Sigma_0))P`.
    The components span the leading k eigenvectors of the solution P.

    **The guarantees are those of P, not of the components.** P spreads over many directions to make
    :math:`t_i` small, and its leading eigenvectors neither respect `delta` (unless it is 0) nor
    keep the most variance. `fairpca.FairPCA` has equal means exactly, and with
    ``match="covariances"`` equal covariances, at more variance.

    Parameters
    ----------
    n_components : int, default=2
        Number of components k of the program; those in which no row varies are left out.
    delta : float, default=0.0
        Bound on the distance of the group means under P, in standard deviations of the features; 0
        makes the group means of the components equal.
    mu : float, default=0.01
        Price of unequal covariances. As :math:`|X|_F = \sqrt{n d}`, the same number weighs more
        for more rows.
    solver : {"splitting", "cvxpy"}, default="splitting"
        "splitting" is a first-order method that takes about a second for 100 features and
        certifies its result. "cvxpy" hands the published program to Clarabel (up to 20 features) or
        SCS.
    tol : float, default=1e-7
        Relative duality gap at which "splitting" stops.
    max_iter : int, default=5000
        Most steps of "splitting". A gap that is still above `tol` is reported as a warning.

    Attributes
    ----------
    components_ : array of shape (k, d)
        Orthonormal rows, for standardised features; most variance first.
    scale_ : array of shape (d,)
        Standard deviations that rows are divided by.
    relaxation_ : array of shape (d, d)
        The solution P.
    eigenvalues_ : array of shape (d,)
        Its eigenvalues, descending: k ones where the relaxation is tight. Where the kth and the
        next agree, the choice between their eigenvectors falls on those of more variance.
    objective_, duality_gap_ : float
        :math:`\langle C, P\rangle - \mu |X|_F (t_1 + t_2)`, and how far, relative to it, the best
        value can be: a certificate that does not depend on the solver.
    mean_gap_, relaxed_mean_gap_ : float
        Distance of the group means in the representation, and :math:`\sqrt{f^\top P f}`, which
        `delta` bounds.
    covariance_gap_ : float
        Spectral norm of the difference of the group covariances in the representation.
    n_iter_ : int
        Steps of the solver.
    mean_, n_components_, groups_, n_features_in_, feature_names_in_, n_samples_seen_
        As in `fairpca.FairPCA`.

    See Also
    --------
    fairpca.FairPCA : With ``match="covariances"``, the same aim without a semidefinite program.

    References
    ----------
    .. [1] Olfat, Aswani. "Convex formulations for fair principal component analysis". AAAI 2019.
    .. [2] Lee, Kim, Olfat, Hasegawa-Johnson, Yoo. "Fast and efficient MMD-based fair PCA via
       optimization over Stiefel manifold". AAAI 2022.

    Examples
    --------
    >>> import numpy as np
    >>> from fairpca_paper.methods import FPCA
    >>> rng = np.random.default_rng(0)
    >>> sex = rng.choice(["f", "m"], size=200)
    >>> X = rng.normal(size=(200, 6))
    >>> X[:, 0] += 2.0 * (sex == "m")
    >>> X[:, 1] *= np.where(sex == "m", 3.0, 1.0)
    >>> fair = FPCA(n_components=2).fit(X, sensitive_features=sex)
    >>> fair.mean_gap_ < 1e-9, fair.duality_gap_ < 1e-7
    (True, True)
    """

    _reading = "two"

    def __init__(
        self,
        n_components: int = 2,
        *,
        delta: float = 0.0,
        mu: float = 0.01,
        solver: str = "splitting",
        tol: float = 1e-7,
        max_iter: int = 5000,
    ) -> None:
        self.n_components = n_components
        self.delta = delta
        self.mu = mu
        self.solver = solver
        self.tol = tol
        self.max_iter = max_iter

    def _check_parameters(self) -> None:
        for name in ("n_components", "max_iter"):
            check_count(name, getattr(self, name))
        for name in ("delta", "mu", "tol"):
            check_number(name, getattr(self, name), zero=True)
        check_choice("solver", self.solver, SOLVERS)

    def _learn(self, rows: GroupedRows) -> np.ndarray:
        scale = rows.standard_deviations
        rows = rows.scaled(scale)
        problem = _fpca_problem(
            rows, int(self.n_components), delta=float(self.delta), mu=float(self.mu)
        )
        found = relaxed(problem, self.solver, tol=float(self.tol), max_steps=int(self.max_iter))
        eigenvalues, V = _leading_subspace(found.P, problem)
        V = rows.varying(V)
        warn_of_fewer(V.shape[1], int(self.n_components))
        unequal = _difference_of_covariances(rows)
        self.scale_, self.relaxation_, self.eigenvalues_ = scale, found.P, eigenvalues
        self.objective_, self.duality_gap_, self.n_iter_ = found.value, found.gap, found.steps
        self.mean_gap_ = float(np.linalg.norm(problem.f @ V)) if len(problem.f) else 0.0
        self.relaxed_mean_gap_ = problem.mean_gap(found.P)
        self.covariance_gap_ = float(np.linalg.norm(V.T @ unequal @ V, 2))
        return V
