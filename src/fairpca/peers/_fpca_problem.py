"""The semidefinite program of FPCA, and certificates for it."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from .._numerics import deterministic_signs, to_numpy
from ..errors import InfeasibleError
from ..moments import GroupMoments
from ._two_groups import covariances_of_two_groups, means_of_two_groups

NO_DIFFERENCE = np.empty(0)

TIED = 1e-4
"""Eigenvalues of the relaxation that differ by less, relatively, differ by the solver's error."""


@dataclass(frozen=True)
class FairSDP:
    r"""Maximise ``<C, P> - price (t_1 + t_2)`` over the fantope, the convex hull of projections.

    :math:`t_i = |S_i P|_2^2` is the largest eigenvalue of :math:`P A_i P`, where
    :math:`A_i = S_i^\top S_i = \phi_i I \pm (\Sigma_1 - \Sigma_0)`, and
    :math:`f^\top P f \le \delta^2` bounds the difference of the group means.

    Parameters
    ----------
    C : array of shape (d, d)
        Covariance of the rows (for standardised ones: correlation), divisor n.
    roots : pair of arrays of shape (d, d)
        :math:`S_1` and :math:`S_2`.
    shift : float
        :math:`\phi_1 + \phi_2`; the squares of the roots add up to that multiple of the identity.
    f : array of shape (d,) or empty
        Difference of the group means; empty where there is no constraint.
    k : int
        Trace of P.
    delta, price : float
        Bound on the difference, and weight of the covariances in the objective.
    """

    C: np.ndarray
    roots: tuple[np.ndarray, np.ndarray]
    shift: float
    f: np.ndarray
    k: int
    delta: float
    price: float

    def value(self, P: np.ndarray) -> float:
        """Return the objective at P."""
        norms = [np.linalg.norm(S @ P, 2) for S in self.roots]
        return float(np.vdot(self.C, P) - self.price * np.sum(np.square(norms)))

    def mean_gap(self, P: np.ndarray) -> float:
        r"""Return :math:`\sqrt{f^\top P f}`: for a projection, the distance of the group means."""
        return float(np.sqrt(max(self.f @ P @ self.f, 0.0))) if len(self.f) else 0.0

    def bound(self, U: tuple[np.ndarray, np.ndarray], multiplier: float = 0.0) -> float:
        r"""Return a number that the objective exceeds nowhere on the feasible set.

        Parameters
        ----------
        U : pair of arrays of shape (d, d)
            Any matrices; the bound is tight at the subgradients of the penalties.
        multiplier : float >= 0
            Any price for the difference of means.

        Notes
        -----
        With price p, :math:`p|Y|_2^2 \ge \langle U, Y\rangle - |U|_*^2 / 4p` turns the objective
        into a linear one, whose largest value over the fantope is a sum of k eigenvalues.
        """
        linear, constant = self.C.copy(), 0.0
        if self.price > 0:
            for S, part in zip(self.roots, U, strict=True):
                product = S.T @ part
                linear -= 0.5 * (product + product.T)
                constant += float(np.linalg.norm(part, "nuc")) ** 2 / (4.0 * self.price)
        if len(self.f):
            linear -= multiplier * np.outer(self.f, self.f)
            constant += multiplier * self.delta**2
        return float(np.linalg.eigvalsh(linear)[-self.k :].sum()) + constant

    def feasible(self, P: np.ndarray) -> np.ndarray:
        """Return a matrix of the fantope near P, itself in the fantope, with small enough gap."""
        gap = self.mean_gap(P)
        if gap <= self.delta:
            return P
        share = (self.delta / gap) ** 2
        # Mix with the even spread over all directions without a difference.
        e = self.f / np.linalg.norm(self.f)
        even = (np.eye(len(e)) - np.outer(e, e)) * (self.k / (len(e) - 1))
        return share * P + (1.0 - share) * even

    def without_mean_direction(self) -> tuple[np.ndarray, FairSDP]:
        """Return a basis R of the directions without difference, and the problem for ``R^T P R``.

        For ``delta = 0``, where P f = 0, it is the same problem with one dimension less.
        """
        R = np.linalg.svd(self.f[None, :])[2][1:].T
        first, second = (np.linalg.qr(S @ R)[1] for S in self.roots)
        smaller = replace(self, C=R.T @ self.C @ R, roots=(first, second), f=NO_DIFFERENCE)
        return R, smaller


def fpca_problem(moments: GroupMoments, k: int, *, delta: float, mu: float) -> FairSDP:
    """Set up the program from the moments of two groups of standardised rows.

    As in the published code: covariances with divisor n, ``mu`` relative to the objective divided
    by the Frobenius norm of the centred rows, one ``t`` for each sign of the difference, and the
    smallest shifts that make both matrices semidefinite.

    Raises
    ------
    InfeasibleError
        If no matrix of the fantope has a difference of means as small as `delta`.
    """
    scatter = to_numpy(moments.scatter.dense().matrix)
    first, second = means_of_two_groups(moments)
    f = second - first
    if np.linalg.norm(f) <= moments.rounding * np.sqrt(len(f)):
        f = NO_DIFFERENCE
    most = len(scatter) - (1 if len(f) and delta < np.linalg.norm(f) else 0)
    if k > most:
        raise InfeasibleError(
            f"n_components={k} is too large: group means lie within delta={delta:g} of each other "
            f"in {most} feature direction(s) only (n_features = {len(scatter)}). Use fewer "
            f"components, or a larger delta."
        )
    covariances = covariances_of_two_groups(moments)
    values, V = np.linalg.eigh(covariances[1] - covariances[0])
    below, above = max(0.0, -values[0]), max(0.0, values[-1])
    roots = [
        np.sqrt(np.clip(a, 0.0, None))[:, None] * V.T for a in (values + below, above - values)
    ]
    price = mu * float(np.sqrt(scatter.trace()))
    C = scatter / moments.weight
    return FairSDP(C, (roots[0], roots[1]), float(below + above), f, k, delta, price)


def leading_subspace(P: np.ndarray, problem: FairSDP) -> tuple[np.ndarray, np.ndarray]:
    """Return all eigenvalues of P, and an orthonormal basis of its leading k eigenvectors.

    Among eigenvectors whose eigenvalues tie with the kth, those of most variance are taken; the
    basis is the one of uncorrelated components, most variance first.
    """
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
