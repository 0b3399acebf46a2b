"""How much worse each group is reconstructed than by a PCA of its own."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from .._numerics import to_numpy, top_eigenpairs
from ..errors import InfeasibleError
from ..moments import GroupMoments, LevelMoments, RowScatter
from ..solvers import check_attributes, maximize_variance
from ._one_attribute import the_levels


@dataclass(frozen=True)
class ExcessLosses:
    r"""The groups' covariances, and what the best k directions of each keep.

    The excess loss of a group is its mean squared reconstruction error minus the smallest possible
    with k directions: :math:`\mathrm{tr}_k(C_g) - \mathrm{tr}(C_g P)`.

    Parameters
    ----------
    labels : tuple of length m
        The groups.
    covariances : array of shape (m, p, p)
        Covariance (divisor n) of each group about its own mean, in p coordinates.
    span : array of shape (d, p) or None
        Orthonormal basis of these coordinates; None where they are the features.
    k : int
        Number of directions, at most p.
    """

    labels: tuple[Any, ...]
    covariances: np.ndarray
    span: np.ndarray | None
    k: int

    @property
    def best(self) -> np.ndarray:
        """Variance of each group along its own k leading directions."""
        return np.array([top_eigenpairs(C, self.k)[0].sum() for C in self.covariances])

    def kept(self, U: np.ndarray) -> np.ndarray:
        """Return the variance of each group that the columns of U keep."""
        variances: np.ndarray = np.einsum("pk,mpq,qk->m", U, self.covariances, U, optimize=True)
        return variances

    def leading(self, weights: np.ndarray) -> np.ndarray:
        """Return the k directions that minimise the weighted sum of the losses."""
        U: np.ndarray = top_eigenpairs(np.tensordot(weights, self.covariances, axes=1), self.k)[1]
        return U

    def in_features(self, U: np.ndarray) -> np.ndarray:
        """Return directions in the coordinates of the features."""
        return U if self.span is None else self.span @ U


def excess_losses(moments: GroupMoments, k: int | None, method: str) -> ExcessLosses:
    """Return the losses of the groups of the one attribute that the moments have.

    Parameters
    ----------
    moments : GroupMoments
        Moments with a scatter per group.
    k : int or None
        Number of directions; None for all.
    method : str
        Name of the method, for messages.

    Raises
    ------
    InfeasibleError
        If there are fewer than `k` features, or an attribute is numeric.
    SingleGroupError
        If there is only one group.
    """
    groups = the_levels(LevelMoments, moments.attributes, method)
    check_attributes(moments.attributes)
    d, span = moments.n_features, None
    if k is not None and k > d:
        raise InfeasibleError(
            f"n_components={k} is too large: the rows have {d} feature(s). Use n_components <= {d}."
        )
    if isinstance(moments.scatter, RowScatter):  # wide rows span few directions: work in these
        span = maximize_variance(moments, None).basis
        groups = groups.compressed(span)
        span = to_numpy(span)
    assert groups.scatters is not None, "the estimator collects scatters"
    covariances = np.array(
        [
            to_numpy(scatter.dense().matrix) / weight
            for scatter, weight in zip(groups.scatters, groups.weight, strict=True)
            if scatter is not None
        ]
    )
    p = covariances.shape[1]
    return ExcessLosses(groups.labels, covariances, span, p if k is None else min(k, p))
