"""What is fitted to the encoded rows of a table, whether they are in memory or on disk."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Mapping
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

    def fitted(
        self, X: np.ndarray | RowsElsewhere, y: Any, columns: Any, kinds: dict[str, str], d: int
    ) -> Any:
        """Return the estimator, fitted to encoded rows of d numbers.

        Those elsewhere, which have `y` and `columns` with them, are read once; kernels take another
        pass before, to draw landmarks.
        """
        if self.method == "fair_kernel_pca":
            return self._kernel(X, d, kinds).fit(X, y, sensitive_features=columns)
        if self.method == "fair_pca" and isinstance(X, np.ndarray):
            return self._fair_pca(d, kinds, lambda f: f.fit(X, y, sensitive_features=columns))
        scatters = self.method == "fair_pca" and self.match == "covariances"
        moments = collect_moments(X, columns, y=y, with_scatters=scatters, **self._choices(kinds))
        if self.method == "fair_pca":
            return self._fair_pca(d, kinds, lambda f: f.fit_moments(moments))
        peer = LEACE(**self.options) if self.method == "leace" else PCA(self._k(d), **self.options)
        return peer.fit_moments(moments)

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

    def _fair_pca(
        self, d: int, kinds: dict[str, str], fit: Callable[[FairPCA], FairPCA]
    ) -> FairPCA:
        """Fit; equal covariances in fewer components where nobody named a number of them."""
        options = dict(self.options)
        if self.match == "covariances":
            options = {"covariance_tol": COVARIANCE_TOLERANCE, **options}
        fair = FairPCA(
            self._k(d),
            match=self.match,
            tradeoff=self.tradeoff,
            random_state=self.seed,
            **self._choices(kinds),
            **options,
        )
        ours = self.n_components is None and self.match == "covariances"
        *more, last = fewer_and_fewer(self._k(d)) if ours else (self._k(d),)
        for k in more:
            with contextlib.suppress(InfeasibleError):
                return fit(clone(fair).set_params(n_components=k))
        return fit(fair.set_params(n_components=last))

    def _kernel(self, X: Any, d: int, kinds: dict[str, str]) -> FairKernelPCA:
        in_memory = isinstance(X, np.ndarray)
        approximation = approximation_for(len(X)) if in_memory else "nystroem"
        return FairKernelPCA(
            self._k(d),
            tradeoff=self.tradeoff,
            random_state=self.seed,
            **self._choices(kinds),
            **{"approximation": approximation, **self.options},
        )
