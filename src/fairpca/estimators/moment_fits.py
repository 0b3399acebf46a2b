"""`fit`, `partial_fit` and `fit_moments` of everything that can be solved from moments."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.utils import check_array

from ..moments import DenseScatter, GroupMoments, accumulate
from .inputs import unchanged_on_error
from .sensitive_rows import ReadsSensitiveRows

KEEP_UP_TO = 4096
"""Moments of more features than this are not kept after `fit`."""


class FitsFromMoments(ReadsSensitiveRows):
    """Mixin: rows become moments, moments become learned attributes.

    The estimator says which attributes it learns, checks its parameters, and solves.
    """

    _learned: ClassVar[frozenset[str]]
    moments_: GroupMoments

    @abstractmethod
    def _check_parameters(self) -> None:
        """Raise if a parameter is not usable."""

    @abstractmethod
    def _collects_scatters(self) -> bool:
        """Tell whether a scatter per group is needed."""

    @abstractmethod
    def _solve(self, moments: GroupMoments) -> None:
        """Set the learned attributes."""

    def fit(
        self,
        X: Any,
        y: Any = None,
        *,
        sensitive_features: Any = None,
        sample_weight: Any = None,
    ) -> Self:
        """Learn the fair representation of the rows of `X`.

        Parameters
        ----------
        X : array-like, frame or sparse matrix of shape (n, d)
            Features.
        y : array-like of shape (n,), optional
            Labels; only the criteria other than demographic parity look at them.
        sensitive_features : array-like, Series, frame or dict of columns with n rows
            Sensitive attributes, any number of columns. Required, unless `sensitive_columns`
            names columns of X.
        sample_weight : array-like of shape (n,), optional
            Weights >= 0.

        Returns
        -------
        self
        """
        with unchanged_on_error(self):
            self._forget()
            moments = self._moments(
                X, y, sensitive_features, sample_weight, first=True, partial=False
            )
            self._solve(moments)
            self._keep(moments)
        return self

    def partial_fit(
        self,
        X: Any,
        y: Any = None,
        *,
        sensitive_features: Any = None,
        sample_weight: Any = None,
    ) -> Self:
        """Add a batch of rows; any split into batches gives the same result as `fit`.

        The result is computed when it is first asked for (`transform`, or an attribute such as
        `components_`), so adding a batch costs no eigenvectors.

        Parameters
        ----------
        X, y, sensitive_features, sample_weight
            As in `fit`. Levels of an attribute may be new, or absent, in a batch.

        Returns
        -------
        self
        """
        first = "moments_" not in vars(self)
        if first and self._is_solved():
            raise ValueError(
                f"This {type(self).__name__} was fitted to wide or sparse rows, or to very many "
                f"features, and kept no moments, so a batch cannot be added to it. Use "
                f"partial_fit for all batches from the start, or a fresh clone."
            )
        with unchanged_on_error(self):
            moments = self._moments(
                X, y, sensitive_features, sample_weight, first=first, partial=True
            )
            total = moments if first else self.moments_ + moments
            self._forget()
            self.moments_ = total
        return self

    def fit_moments(self, moments: GroupMoments) -> Self:
        """Learn the fair representation of rows known only through their moments.

        Parameters
        ----------
        moments : GroupMoments
            From `fairpca.collect_moments`, possibly the sum over many batches or machines. The
            criterion and the treatment of missing attributes were applied when they were
            collected.

        Returns
        -------
        self
        """
        with unchanged_on_error(self):
            self._forget()
            self._check_parameters()
            self._solve(moments)
            self._keep(moments)
            self.n_features_in_ = moments.n_features
        return self

    def _moments(self, *arguments: Any, first: bool, partial: bool) -> GroupMoments:
        self._check_parameters()
        rows = self._rows(*arguments, first=first, partial=partial)
        moments = accumulate(rows, with_scatters=self._collects_scatters())
        if not np.isfinite(moments.mean).all() or not np.isfinite(moments.scatter.diagonal).all():
            check_array(rows.X, accept_sparse=True, input_name="X", estimator=self)
            raise ValueError("X is finite, but its squares overflow. Divide X by a constant first.")
        return moments

    def _keep(self, moments: GroupMoments) -> None:
        """Keep moments for later batches, unless they are the rows themselves, or very large."""
        if isinstance(moments.scatter, DenseScatter) and moments.n_features <= KEEP_UP_TO:
            self.moments_ = moments

    def _is_solved(self) -> bool:
        return not self._learned.isdisjoint(vars(self))

    def _forget(self) -> None:
        for name in [*self._learned, "moments_"]:
            self.__dict__.pop(name, None)

    def __getattr__(self, name: str) -> Any:
        # After partial_fit the result is computed when it is first asked for.
        if name in self._learned and "moments_" in vars(self) and not self._is_solved():
            with unchanged_on_error(self):
                self._solve(self.moments_)
            if name in vars(self):
                return vars(self)[name]
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def __sklearn_is_fitted__(self) -> bool:
        return self._is_solved() or "moments_" in vars(self)
