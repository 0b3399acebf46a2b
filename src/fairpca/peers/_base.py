"""What peers share that need the rows themselves; others are a `FairTransformer` of moments."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import replace
from typing import Any, Self

from .._moments import GroupMoments
from .._rows import LinearMap, Rows
from ..estimators import Reader, Representation, check_sizes, finite_moments, learned_from


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
            Sensitive attributes, paired with the rows by position.
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
