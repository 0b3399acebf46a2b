"""`fit` and `partial_fit` of everything that can be solved from moments."""

from __future__ import annotations

from abc import abstractmethod
from threading import RLock
from typing import Any, ClassVar, Self

from joblib import effective_n_jobs

from .._numerics import limited_threads
from .._rows import Rows, RowsElsewhere, rows_elsewhere
from ..errors import UsageError
from ..moments import DenseScatter, GroupMoments
from ._inputs import unchanged_on_error
from ._parameters import check_n_jobs
from ._parts import moments_elsewhere
from ._rows_to_moments import finite_moments
from ._sensitive_rows import ReadsSensitiveRows

_SOLVING = RLock()

KEEP_UP_TO = 4096
"""Moments of more features than this are not kept after `fit`."""


class FitsFromMoments(ReadsSensitiveRows):
    """Mixin: rows become moments, moments become learned attributes.

    The estimator says which attributes it learns, checks its parameters, and solves.
    """

    _learned: ClassVar[frozenset[str]]
    _chosen_at_first: ClassVar[tuple[str, ...]] = ()
    moments_: GroupMoments

    @abstractmethod
    def _check_parameters(self) -> None:
        """Raise if a parameter is not usable."""

    @abstractmethod
    def _collects_scatters(self) -> bool:
        """Tell whether a scatter per group is needed."""

    @abstractmethod
    def _solve(self, moments: GroupMoments) -> dict[str, Any]:
        """Return the learned attributes."""

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
            Features. Tensors of torch and CuPy stay on their device. A Dask array or DataFrame, a
            Spark DataFrame and `fairpca.ParquetRows` are read where they are, part by part, with
            the same result; for Spark, the other arguments are names of columns of X.
        y : array-like of shape (n,), optional
            Labels; only the criteria other than demographic parity look at them.
        sensitive_features : array-like, Series, frame or dict of columns with n rows
            Sensitive attributes, any number of columns, paired with the rows by position.
            Required, unless `sensitive_columns` names columns of X.
        sample_weight : array-like of shape (n,), optional
            Weights >= 0.

        Returns
        -------
        self
        """
        with unchanged_on_error(self), self._threads():
            self._forget(all_of_it=True)
            moments = self._moments(
                X, y, sensitive_features, sample_weight, first=True, partial=False
            )
            self._learn(moments)
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
            raise UsageError(
                f"This {type(self).__name__} was fitted to wide or sparse rows, to very many "
                f"features, or exactly with a kernel, and kept no moments, so a batch cannot be "
                f"added to it. Use partial_fit for all batches from the start, or a fresh clone."
            )
        with unchanged_on_error(self), self._threads():
            moments = self._moments(
                X, y, sensitive_features, sample_weight, first=first, partial=True
            )
            total = moments if first else self.moments_ + moments
            self._forget()
            self.moments_ = total
        return self

    def _moments(self, *arguments: Any, first: bool, partial: bool) -> GroupMoments:
        self._check_parameters()
        source = rows_elsewhere(*arguments)
        if source is not None:
            return moments_elsewhere(self, source, first=first, partial=partial)
        rows = self._rows(*arguments, first=first, partial=partial)
        if partial:
            rows = rows.safe_to_keep()
        rows = self._mapped(rows, first=first, partial=partial)
        return finite_moments(rows, with_scatters=self._collects_scatters())

    def _threads(self) -> Any:
        """Return a context in which as many threads work as the user asked for."""
        n_jobs = getattr(self, "n_jobs", None)
        check_n_jobs(n_jobs)
        return limited_threads(None if n_jobs is None else effective_n_jobs(n_jobs))

    def _mapped(self, rows: Rows, *, first: bool, partial: bool) -> Rows:
        """Return the rows whose moments are taken; a kernel method sees them as features."""
        return rows

    def _look_ahead(self, source: RowsElsewhere) -> None:
        """Decide what must be known before rows that are elsewhere become moments."""

    def _learn(self, moments: GroupMoments) -> None:
        if moments.n_rows < 2:
            raise UsageError(
                f"Found {moments.n_rows} row(s) that count (n_samples = {moments.n_rows}), while a "
                f"variance needs at least 2. Pass more rows."
            )
        self.__dict__.update(self._solve(moments))

    def _ensure_solved(self) -> None:
        """Compute what was learned, if rows came through `partial_fit`; one thread does."""
        if self._is_solved():
            return  # nobody waits for another estimator that is being solved
        with _SOLVING:
            if not self._is_solved():
                self._learn(self.moments_)

    def _keep(self, moments: GroupMoments) -> None:
        """Keep moments for later batches, unless they are the rows themselves, or very large."""
        if isinstance(moments.scatter, DenseScatter) and moments.n_features <= KEEP_UP_TO:
            self.moments_ = moments

    def _is_solved(self) -> bool:
        return "_map" in vars(self)

    def _forget(self, *, all_of_it: bool = False) -> None:
        """Drop what was learned; what later batches build on only if they start anew."""
        for name in [*self._learned, "moments_", *(self._chosen_at_first if all_of_it else ())]:
            self.__dict__.pop(name, None)

    def __getattr__(self, name: str) -> Any:
        # After partial_fit the result is computed when it is first asked for.
        if name in self._learned and "moments_" in vars(self) and not self._is_solved():
            try:
                self._ensure_solved()
            except ValueError as reason:
                raise AttributeError(f"{name} cannot be computed yet: {reason}") from reason
            if name in vars(self):
                return vars(self)[name]
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def __sklearn_is_fitted__(self) -> bool:
        return self._is_solved() or "moments_" in vars(self)
