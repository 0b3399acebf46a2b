"""What peers share: bases of those that need rows, the groups compared, the directions left."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Self, TypeVar

from .._attributes import Levels
from .._maps import LinearMap
from .._moments import GroupMoments, LevelMoments
from .._numerics import Array, deterministic_signs, orthonormalize
from .._rows import Rows
from ..errors import InfeasibleError, UsageError
from ..estimators import (
    Reader,
    Representation,
    check_count,
    check_sizes,
    finite_moments,
    learned_from,
)
from ..solvers import Subspace, check_attributes, maximize_variance, names_of, varying, way_out

OneOf = TypeVar("OneOf", Levels, LevelMoments)


def number_of_components(peer: Any) -> int | None:
    """Return the checked parameter `n_components` of a peer that takes no share of the variance."""
    return check_count(
        "n_components", peer.n_components, "a number of directions", none_for="the default"
    )


def the_levels(kind: type[OneOf], attributes: Sequence[Any], method: str) -> OneOf:
    """Return the one attribute, as levels of the given kind; raise if there are also numbers."""
    # Estimators set ``intersectional = True``: several attributes arrive as one of their joint
    # groups.
    numeric = [a.name for a in attributes if not isinstance(a, kind)]
    if numeric:
        raise InfeasibleError(
            f"{method} compares groups, but the sensitive attribute(s) {numeric} are numeric and "
            f"have none. Cut them into bands, or use fairpca.FairPCA, which knows numbers."
        )
    return attributes[0]


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
            f"{way_out(moments.attributes)}"
        )
    if k is not None and k >= d:
        raise InfeasibleError(
            f"n_components={k} is too large: at least one of the {d} feature direction(s) "
            f"(n_features = {d}) has to go. Use n_components <= {d - 1}."
        )
    return d - n_groups + 1 if k is None else k


def along_principal_axes(U: Array, moments: GroupMoments, k: int | None = None) -> Array:
    """Return the axes of the span of U in which rows vary, most variance first, at most k."""
    inner = maximize_variance(moments.compressed(U), None)
    axes = Subspace(deterministic_signs(orthonormalize(U @ inner.basis)), inner.scatter)
    return varying(axes, moments, None).first(k).basis


class FitsRows(Representation):
    """Base of the methods that need the rows themselves, all at once."""

    @abstractmethod
    def _learned_from(self, rows: Rows) -> dict[str, Any]:
        """Return what is learned from the rows."""

    def fit(
        self, X: Any, y: Any = None, *, sensitive_features: Any = None, sample_weight: Any = None
    ) -> Self:
        """Learn the representation of the rows of `X`.

        Parameters
        ----------
        X : array-like or frame of shape (n, d)
            Features; sparse matrices where the method knows them.
        y : ignored
            There for the signature.
        sensitive_features : array-like, Series, frame or dict of columns with n rows
            Sensitive attributes, paired with the rows by position; row labels must agree.
        sample_weight : array-like of shape (n,), optional
            Weights >= 0, where the method knows weights.

        Returns
        -------
        self
        """
        with self._changing():
            self._check_parameters()
            self._forget(all_of_it=True)
            reader = replace(self._reader(), complete=True)
            rows = reader.rows_in_memory(X, y, sensitive_features, sample_weight, self)
            self.__dict__.update(self._learned_from(rows.materialized()))
        return self


class RowPeer(FitsRows):
    """Base of the methods that learn a linear map from dense rows."""

    @abstractmethod
    def _linear_map(self, rows: Rows, moments: GroupMoments) -> LinearMap:
        """Return the map that the method learns; `rows.X` is a dense array of doubles."""

    def _learned_from(self, rows: Rows) -> dict[str, Any]:
        moments = finite_moments(rows, with_scatters=False)
        check_sizes(moments)
        rows = Rows(rows.X.astype(float, copy=False), rows.weight, rows.attributes)
        return learned_from(self._linear_map(rows, moments), moments)

    def _reader(self) -> Reader:
        return Reader.of(self, takes_sparse=False)
