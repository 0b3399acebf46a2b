"""What several methods share: the groups they compare, and the directions they leave."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np

from .._attributes import Levels
from .._moments import GroupMoments, LevelMoments, RowScatter
from .._numerics import Array, deterministic_signs, orthonormalize, to_numpy, top_eigenpairs
from .._rows import Rows
from ..errors import InfeasibleError, UsageError
from ..estimators import check_count
from ..solvers import check_attributes, maximize_variance, names_of

OneOf = TypeVar("OneOf", Levels, LevelMoments)


def number_of_components(peer: Any) -> int | None:
    """Return the checked parameter `n_components` of a peer that takes no share of the variance."""
    return check_count(
        "n_components", peer.n_components, "a number of directions", none_for="the default"
    )


def check_at_most(k: int | float | None, n_features: int) -> None:
    """Raise if more components are wanted than there are features."""
    if isinstance(k, int) and k > n_features:
        raise InfeasibleError(
            f"n_components={k} is too large: the rows have {n_features} feature(s). Use "
            f"n_components <= {n_features}."
        )


def weight_of_each(rows: Rows) -> np.ndarray:
    """Return the weights of the rows, ones where none were given."""
    return np.ones(rows.n_rows) if rows.weight is None else rows.weight


def the_levels(kind: type[OneOf], attributes: Sequence[Any], method: str) -> OneOf:
    """Return the one attribute, as levels of the given kind; raise if there are also numbers.

    Estimators set ``intersectional = True``, so that several categorical attributes arrive here
    as one, whose levels are their joint groups.
    """
    numeric = [a.name for a in attributes if not isinstance(a, kind)]
    if numeric:
        raise InfeasibleError(
            f"{method} compares groups, but the sensitive attribute(s) {numeric} are numeric and "
            f"have none. Cut them into bands, or use fairpca.FairPCA, which knows numbers."
        )
    levels: OneOf = attributes[0]
    return levels


def two_groups(moments: GroupMoments, method: str) -> LevelMoments:
    """Return the moments of the only attribute, if it has two levels; else say what to do."""
    attributes = moments.attributes
    if len(attributes) != 1:
        raise UsageError(
            f"{method} compares two groups, but {len(attributes)} attributes were given "
            f"({names_of(attributes)}). Pass one of them, or use fairpca.FairPCA, which takes any "
            f"number."
        )
    check_attributes(attributes)
    (attribute,) = attributes
    if not isinstance(attribute, LevelMoments):
        raise UsageError(
            f"{method} compares two groups, but the sensitive attribute {attribute.name!r} is "
            f"numeric. Cut it into two bands, or use fairpca.FairPCA, which takes numbers."
        )
    if len(attribute.labels) != 2:
        raise UsageError(
            f"{method} compares two groups, but the sensitive attribute {attribute.name!r} has "
            f"{len(attribute.labels)} levels: {list(attribute.labels)[:5]}. Merge them into two, "
            f"or use fairpca.FairPCA, which takes any number."
        )
    return attribute


def directions_to_keep(k: int | None, moments: GroupMoments, n_groups: int) -> int:
    """Return how many of the d directions stay: by default one goes per group but the first."""
    check_attributes(moments.attributes)
    d = moments.n_features
    if k is None and d < n_groups:
        raise InfeasibleError(
            f"Nothing is left: {n_groups} groups take {n_groups - 1} direction(s), and the rows "
            f"have {d} feature(s) (n_features = {d}). Merge groups, or add features."
        )
    if k is not None and k >= d:
        raise InfeasibleError(
            f"n_components={k} is too large: at least one of the {d} feature direction(s) "
            f"(n_features = {d}) has to go. Use n_components <= {d - 1}."
        )
    return d - n_groups + 1 if k is None else k


def along_principal_axes(U: Array, moments: GroupMoments, k: int) -> Array:
    """Return the first k principal axes of the rows within the span of U, most variance first."""
    axes = maximize_variance(moments.compressed(U), k).basis
    return deterministic_signs(orthonormalize(U @ axes))


@dataclass(frozen=True)
class ExcessLosses:
    r"""How much worse each of m groups is reconstructed than by a PCA of its own.

    The excess loss of a group is its mean squared reconstruction error minus the smallest possible
    with k directions: :math:`\mathrm{tr}_k(C_g) - \mathrm{tr}(C_g P)`. The covariances (m, p, p),
    divisor n, about each group's own mean, are in p coordinates with the orthonormal basis `span`
    of shape (d, p), which is None where they are the features.
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
    """Return the losses of the groups of the one attribute, with k directions or all."""
    groups = the_levels(LevelMoments, moments.attributes, method)
    check_attributes(moments.attributes)
    check_at_most(k, moments.n_features)
    span = None
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


def nearest_with_sum(values: np.ndarray, total: float) -> np.ndarray:
    r"""Return the numbers between 0 and 1 with the sum `total` that are nearest to the given ones.

    They are :math:`\min(1, \max(0, \lambda_i - \theta))`. The sum falls with :math:`\theta` and is
    linear between the breakpoints :math:`\lambda_i - 1` and :math:`\lambda_i`: one sort finds the
    piece that holds the answer, and a division the answer itself.
    """
    d = len(values)
    if not 0 <= total <= d:
        raise UsageError(
            f"{total} cannot be the sum of {d} numbers between 0 and 1. Use a number from 0 to {d}."
        )
    breakpoints = np.concatenate([values - 1.0, values])
    order = np.argsort(breakpoints, kind="stable")
    breakpoints = breakpoints[order]
    falling = np.cumsum(np.where(order < d, 1, -1))  # how many numbers fall after a breakpoint
    drops = falling[:-1] * np.diff(breakpoints)
    sums = d - np.concatenate([[0.0], np.cumsum(drops)])  # at the breakpoints, descending
    piece = min(int(np.searchsorted(-sums, -total, side="right")) - 1, 2 * d - 2)
    too_much = sums[piece] - total
    theta = breakpoints[piece] + (too_much / falling[piece] if falling[piece] else 0.0)
    nearest: np.ndarray = np.clip(values - theta, 0.0, 1.0)
    return nearest
