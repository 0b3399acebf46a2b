"""The two halves of the trade-off, fitted once, and what each lambda makes of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone

from .._numerics import is_sparse
from ..estimators import FairKernelPCA, FairPCA, FairTransformer

TakesTradeoff = FairTransformer | FairKernelPCA


@dataclass(frozen=True)
class TradeoffParts:
    r"""A fitted pair of fair and standard components, ready for every lambda.

    With lambda the representation is :math:`(U_{fair}^\top x; \lambda U_{st}^\top x)`, so all
    representations are those *common rows* times a small matrix. FairPCA and FairKernelPCA are
    fitted with ``tradeoff=1``; the standard half of an eraser, which returns all d columns, is the
    centred features themselves.
    """

    fitted: TakesTradeoff
    standard: np.ndarray | None = None

    @classmethod
    def fit(
        cls, estimator: TakesTradeoff, X: Any, y: Any = None, *, sensitive_features: Any = None
    ) -> TradeoffParts:
        """Fit a copy of the estimator to rows, once for all lambdas."""
        if isinstance(estimator, FairPCA | FairKernelPCA):
            whole = clone(estimator).set_params(tradeoff=1.0)
            return cls(whole.fit(X, y, sensitive_features=sensitive_features))
        eraser = clone(estimator).fit(X, y, sensitive_features=sensitive_features)
        return cls(eraser, np.eye(eraser.n_components_))

    @property
    def k(self) -> int:
        """Number of columns of the fair half."""
        return int(self.fitted.n_components_)

    def both(self, X: Any) -> np.ndarray:
        """Return the columns for lambda = 1, fair half first; `scaled` makes those of any other."""
        fair = self.fitted.transform(X)
        if self.standard is None:
            return np.asarray(fair)
        return np.hstack([fair, self._centred(X) @ self.standard])

    def scaled(self, both: np.ndarray, tradeoff: float) -> np.ndarray:
        """Return what `transform` with this lambda returns, of the columns for lambda = 1."""
        if tradeoff == 0.0:
            return both[:, : self.k]
        return both * self._weights(both.shape[1], tradeoff)

    def common_rows(self, X: Any) -> np.ndarray:
        """Return rows of which the representation of every lambda is a multiple, as doubles.

        They have as many columns as the features or as both halves, whichever is less; with
        kernels the latter.
        """
        if not self._has_fewer_features:
            return self.both(X).astype(float, copy=False)
        return self._centred(X)

    def factor(self, tradeoff: float) -> np.ndarray:
        """Return B such that ``common_rows @ B`` has the inner products of the columns.

        Of erasers those of their columns less the mean, which they add again. A learner that sees
        rows through inner products only (ridge, logistic regression with an l2 penalty, support
        vector machines) predicts the same from either.
        """
        if not self._has_fewer_features:
            size = self._n_columns
            weights = self._weights(size, tradeoff)
            return np.eye(size)[:, : self.k] if tradeoff == 0.0 else np.diag(weights)
        assert not isinstance(self.fitted, FairKernelPCA)
        fair: np.ndarray = self.fitted.components_.T
        standard = self.standard
        if isinstance(self.fitted, FairPCA):
            standard = self.fitted.standard_components_.T
        if tradeoff == 0.0:
            return fair
        assert standard is not None
        # The transposed R of A^T: B B^T = A A^T, and B has no more columns than rows.
        return np.asarray(np.linalg.qr(np.hstack([fair, tradeoff * standard]).T, mode="r")).T

    def _weights(self, n_columns: int, tradeoff: float) -> np.ndarray:
        return np.repeat([1.0, tradeoff], [self.k, n_columns - self.k])

    def _centred(self, X: Any) -> np.ndarray:
        assert not isinstance(self.fitted, FairKernelPCA)
        features = self.fitted._features(X)
        features = features.toarray() if is_sparse(features) else features
        rows: np.ndarray = np.subtract(features, self.fitted.mean_, dtype=float)
        scale = getattr(self.fitted, "scale_", None)
        return rows if scale is None else rows / scale

    @property
    def _n_columns(self) -> int:
        return 2 * self.k if self.standard is None else self.k + self.standard.shape[1]

    @property
    def _has_fewer_features(self) -> bool:
        if isinstance(self.fitted, FairKernelPCA):
            return False
        return bool(self.fitted.components_.shape[1] < self._n_columns)
