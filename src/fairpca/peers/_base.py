"""What all peers share: the package's `fit` and `transform`, and a linear map in between."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Self

from .._attributes import Columns
from .._rows import LinearMap, Rows
from ..estimators import (
    FairTransformer,
    FitsGivenMoments,
    Represents,
    check_sizes,
    finite_moments,
    groups_of,
    unchanged_on_error,
)
from ..moments import GroupMoments


def learned_by_a_peer(linear: LinearMap, moments: GroupMoments) -> dict[str, Any]:
    """Return what was learned in scikit-learn's words."""
    return {
        "_map": linear,
        "components_": linear.matrix.T,
        "mean_": linear.mean,
        "n_components_": int(linear.matrix.shape[1]),
        "n_samples_seen_": moments.n_rows,
        "groups_": groups_of(moments.attributes),
    }


class AsPublished:
    """Choices of `fairpca.FairPCA` that a method as published does not have."""

    sensitive_columns: Sequence[Any] | None = None
    sensitive_kinds: Mapping[Any, str] | None = None
    intersectional: bool = False
    missing_sensitive: str = "error"
    criterion: str = "demographic_parity"
    pos_label: Any = 1
    random_state: Any = None


class MomentPeer(AsPublished, FitsGivenMoments, FairTransformer):
    """Base of the methods that are functions of moments: one pass, batches, any order."""

    _learned: ClassVar[frozenset[str]] = frozenset(
        ["_map", "components_", "mean_", "n_components_", "n_samples_seen_", "groups_"]
    )

    @abstractmethod
    def _linear_map(self, moments: GroupMoments) -> LinearMap:
        """Return the map that the method learns from the moments."""

    def _check_parameters(self) -> None:
        """Accept all parameters; methods with parameters check them here."""

    def _collects_scatters(self) -> bool:
        return False

    def _solve(self, moments: GroupMoments) -> dict[str, Any]:
        return learned_by_a_peer(self._linear_map(moments), moments)


class FitsRows(AsPublished, Represents):
    """Base of the methods that need the rows themselves, all at once."""

    @abstractmethod
    def _learned_from(self, rows: Rows) -> dict[str, Any]:
        """Return what is learned from the rows."""

    def _check_parameters(self) -> None:
        """Accept all parameters; methods with parameters check them here."""

    def fit(
        self,
        X: Any,
        y: Any = None,
        *,
        sensitive_features: Any = None,
        sample_weight: Any = None,
    ) -> Self:
        """Learn the representation of the rows of `X`.

        Parameters
        ----------
        X : array-like or frame of shape (n, d)
            Features; sparse matrices where the method knows them.
        y : ignored
            There for the signature.
        sensitive_features : array-like, Series, frame or dict of columns with n rows
            Sensitive attributes, paired with the rows by position.
        sample_weight : array-like of shape (n,), optional
            Weights >= 0, where the method knows weights.

        Returns
        -------
        self
        """
        with unchanged_on_error(self):
            self._check_parameters()
            rows = self._rows(X, y, sensitive_features, sample_weight, first=True, partial=False)
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
        return learned_by_a_peer(self._linear_map(rows, moments), moments)

    def _features(self, X: Any, *, first: bool, **checks: Any) -> tuple[Any, Columns | None]:
        return super()._features(X, first=first, **{**checks, "accept_sparse": False})

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = False
        return tags
