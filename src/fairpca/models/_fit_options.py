"""What is fitted to the encoded rows of a table, whether they are in memory or on disk."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from sklearn.base import clone

from .._rows import RowsElsewhere
from ..errors import AuditError, InfeasibleError
from ..estimators import (
    COVARIANCE_TOLERANCE,
    FairKernelPCA,
    FairPCA,
    approximation_for,
    collect_moments,
    fewer_and_fewer,
    usual_components,
)
from ..peers import LEACE, PCA

TABLE_METHODS = ("fair_pca", "fair_kernel_pca", "leace", "pca")


@dataclass(frozen=True)
class FitOptions:
    """What is to be fitted, as `fairpca.fit_table` was told."""

    method: str
    n_components: int | None
    match: str
    tradeoff: float
    criterion: str
    intersectional: bool
    seed: int
    options: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.method not in TABLE_METHODS:
            listed = ", ".join(map(repr, TABLE_METHODS))
            raise AuditError(f"method='{self.method}' is none of {listed}.")
        if self.match != "means" and self.method != "fair_pca":
            raise AuditError(
                f"match='{self.match}' is for fair PCA, and method='{self.method}' would ignore "
                f"it. Use method='fair_pca', or leave match out."
            )
        if self.tradeoff and self.method not in ("fair_pca", "fair_kernel_pca"):
            raise AuditError(
                f"tradeoff={self.tradeoff} is for fair PCA and fair kernel PCA, and "
                f"method='{self.method}' would ignore it. Use one of them, or leave it out."
            )

    def fitted_to_rows(
        self, X: np.ndarray, y: Any, columns: dict[str, np.ndarray], kinds: dict[str, str]
    ) -> Any:
        """Return the estimator, fitted to encoded rows of shape (n, d) in memory."""
        d = X.shape[1]
        if self.method == "fair_pca":
            fair = self._fair_pca(d, kinds)
            return _first_that_fits(
                fair, self._numbers(d), lambda f: f.fit(X, y, sensitive_features=columns)
            )
        if self.method == "fair_kernel_pca":
            return self._kernel(d, kinds, len(X)).fit(X, y, sensitive_features=columns)
        moments = collect_moments(X, columns, y=y, **self._choices(kinds))
        return self._peer(d).fit_moments(moments)

    def fitted_to_parts(self, rows: RowsElsewhere, d: int, kinds: dict[str, str]) -> Any:
        """Return the estimator, fitted in one pass; kernels take one before, for landmarks."""
        if self.method == "fair_kernel_pca":
            return self._kernel(d, kinds, None).fit(rows)
        scatters = self.method == "fair_pca" and self.match == "covariances"
        moments = collect_moments(rows, None, with_scatters=scatters, **self._choices(kinds))
        if self.method != "fair_pca":
            return self._peer(d).fit_moments(moments)
        fair = self._fair_pca(d, kinds)
        return _first_that_fits(fair, self._numbers(d), lambda f: f.fit_moments(moments))

    def needs_all_rows_at_once(self, n_rows: int) -> bool:
        """Whether so few rows are better fitted in memory: by their kernel matrix."""
        exact = self.options.get("approximation", approximation_for(n_rows)) is None
        return self.method == "fair_kernel_pca" and exact

    def _choices(self, kinds: dict[str, str]) -> dict[str, Any]:
        return {
            "criterion": self.criterion,
            "intersectional": self.intersectional,
            "sensitive_kinds": kinds,
            "missing_sensitive": "ignore",
        }

    def _k(self, d: int) -> int:
        return usual_components(d) if self.n_components is None else self.n_components

    def _numbers(self, d: int) -> Sequence[int]:
        """Return the numbers of components to try in turn, where nobody named one."""
        ours = self.n_components is None and self.match == "covariances"
        return fewer_and_fewer(self._k(d)) if ours else (self._k(d),)

    def _fair_pca(self, d: int, kinds: dict[str, str]) -> FairPCA:
        options = dict(self.options)
        if self.match == "covariances":
            options = {"covariance_tol": COVARIANCE_TOLERANCE, **options}
        return FairPCA(
            self._k(d),
            match=self.match,
            tradeoff=self.tradeoff,
            random_state=self.seed,
            **self._choices(kinds),
            **options,
        )

    def _kernel(self, d: int, kinds: dict[str, str], n_rows: int | None) -> FairKernelPCA:
        approximation = "nystroem" if n_rows is None else approximation_for(n_rows)
        return FairKernelPCA(
            self._k(d),
            tradeoff=self.tradeoff,
            random_state=self.seed,
            **self._choices(kinds),
            **{"approximation": approximation, **self.options},
        )

    def _peer(self, d: int) -> Any:
        return LEACE(**self.options) if self.method == "leace" else PCA(self._k(d), **self.options)


def _first_that_fits(
    fair: FairPCA, numbers: Sequence[int], fit: Callable[[FairPCA], FairPCA]
) -> FairPCA:
    """Fit with the first of these numbers of components that is possible."""
    *tried, last = numbers
    for k in tried:
        try:
            return fit(clone(fair).set_params(n_components=k))
        except InfeasibleError:
            continue
    return fit(fair.set_params(n_components=last))
