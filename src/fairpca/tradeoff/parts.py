"""The two halves of the trade-off, fitted once, and what each lambda makes of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone

from ..arrays import is_sparse
from ..estimators import FairKernelPCA, FairPCA


@dataclass(frozen=True)
class TradeoffParts:
    r"""A fitted pair of fair and standard components, ready for every lambda.

    With lambda the representation is :math:`(U_{fair}^\top x; \lambda U_{st}^\top x)`, so all
    representations are those *common rows* times a small matrix.

    Parameters
    ----------
    fitted : FairPCA or FairKernelPCA
        Fitted with ``tradeoff=1``.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> X, sex = rng.normal(size=(50, 4)), np.arange(50) % 2
    >>> parts = TradeoffParts.fit(FairPCA(3), X, sensitive_features=sex)
    >>> parts.common_rows(X).shape, parts.factor(0.5).shape, parts.factor(0.0).shape
    ((50, 4), (4, 4), (4, 3))
    >>> compact, both = parts.common_rows(X) @ parts.factor(0.5), parts.columns(X, 0.5)
    >>> bool(np.allclose(compact @ compact.T, both @ both.T))
    True
    """

    fitted: FairPCA | FairKernelPCA

    @classmethod
    def fit(
        cls,
        estimator: FairPCA | FairKernelPCA,
        X: Any,
        y: Any = None,
        *,
        sensitive_features: Any = None,
    ) -> TradeoffParts:
        """Fit a copy of the estimator to rows, once for all lambdas."""
        whole = clone(estimator).set_params(tradeoff=1.0)
        return cls(whole.fit(X, y, sensitive_features=sensitive_features))

    @property
    def k(self) -> int:
        """Number of components of each half."""
        return int(self.fitted.n_components_)

    def columns(self, X: Any, tradeoff: float) -> np.ndarray:
        """Return what `transform` with this lambda returns: 2k columns, k at lambda = 0."""
        return self.scaled(self.fitted.transform(X), tradeoff)

    def scaled(self, both: np.ndarray, tradeoff: float) -> np.ndarray:
        """Return the columns for a lambda, given those for lambda = 1."""
        if tradeoff == 0.0:
            return both[:, : self.k]
        return both * self._weights(tradeoff)

    def common_rows(self, X: Any) -> np.ndarray:
        """Return rows of which the representation of every lambda is a multiple, as doubles.

        They have d or 2k columns, whichever is less; with kernels 2k.
        """
        if not self._has_fewer_features:
            return self.fitted.transform(X).astype(float, copy=False)
        assert isinstance(self.fitted, FairPCA)
        features = self.fitted._features(X, first=False)[0]
        features = features.toarray() if is_sparse(features) else features
        rows = np.subtract(features, self.fitted.mean_, dtype=float)
        if self.fitted.scale_ is not None:
            rows /= self.fitted.scale_
        return rows

    def factor(self, tradeoff: float) -> np.ndarray:
        """Return B such that ``common_rows @ B`` has the inner products of `columns`.

        A learner that sees rows through inner products only (ridge, logistic regression with an
        l2 penalty, support vector machines) predicts the same from either.

        Notes
        -----
        With A = (U_fair, lambda U_st) of shape (d, 2k), B is the transposed R of a QR
        decomposition of A^T, so that B B^T = A A^T and B has no more columns than rows.
        """
        k = self.k
        if not self._has_fewer_features:
            return np.eye(2 * k)[:, :k] if tradeoff == 0.0 else np.diag(self._weights(tradeoff))
        assert isinstance(self.fitted, FairPCA)
        if tradeoff == 0.0:
            return self.fitted.components_.T
        both = np.vstack([self.fitted.components_, tradeoff * self.fitted.standard_components_])
        return np.asarray(np.linalg.qr(both, mode="r")).T

    def _weights(self, tradeoff: float) -> np.ndarray:
        return np.repeat([1.0, tradeoff], self.k)

    @property
    def _has_fewer_features(self) -> bool:
        if not isinstance(self.fitted, FairPCA):
            return False
        return self.fitted.components_.shape[1] < 2 * self.k
