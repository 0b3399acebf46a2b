"""The two halves of the trade-off, fitted once, and what each lambda makes of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import OneToOneFeatureMixin, clone

from .._numerics import is_sparse
from ..estimators import FairKernelPCA, FairPCA, FairTransformer
from ..peers import PCA

TakesTradeoff = FairTransformer | FairKernelPCA


@dataclass(frozen=True)
class TradeoffParts:
    r"""A fitted pair of fair and standard components, ready for every lambda.

    With lambda the representation is :math:`(U_{fair}^\top x; \lambda U_{st}^\top x)`, so all
    representations are those *common rows* times a small matrix. The standard half of a peer is
    plain PCA with as many components; of an eraser, which returns all d columns, the centred
    features themselves.

    Parameters
    ----------
    fitted : FairPCA, FairKernelPCA or peer that is fitted from moments
        The first two fitted with ``tradeoff=1``.
    standard : array of shape (d, k), optional
        For peers: the standard half, which they do not have themselves.

    Examples
    --------
    >>> import numpy as np
    >>> from fairpca import FairPCA
    >>> from fairpca.tradeoff import TradeoffParts
    >>> rng = np.random.default_rng(0)
    >>> X, sex = rng.normal(size=(50, 4)), np.arange(50) % 2
    >>> parts = TradeoffParts.fit(FairPCA(3), X, sensitive_features=sex)
    >>> parts.common_rows(X).shape, parts.factor(0.5).shape, parts.factor(0.0).shape
    ((50, 4), (4, 4), (4, 3))
    >>> compact, both = parts.common_rows(X) @ parts.factor(0.5), parts.columns(X, 0.5)
    >>> bool(np.allclose(compact @ compact.T, both @ both.T))
    True
    """

    fitted: TakesTradeoff
    standard: np.ndarray | None = None

    @classmethod
    def fit(
        cls, estimator: TakesTradeoff, X: Any, y: Any = None, *, sensitive_features: Any = None
    ) -> TradeoffParts:
        """Fit a copy of the estimator to rows, once for all lambdas.

        Parameters
        ----------
        estimator : FairPCA, FairKernelPCA or peer that is fitted from moments
            Unfitted; it stays as it is.
        X : array-like, frame or sparse matrix of shape (n, d)
            Features.
        y : array-like of shape (n,), optional
            Labels, for criteria that look at them.
        sensitive_features : array-like, Series, frame or dict of columns
            Attributes, as in `fairpca.FairPCA.fit`.

        Returns
        -------
        TradeoffParts
            Ready for every lambda.
        """
        if isinstance(estimator, FairPCA | FairKernelPCA):
            whole = clone(estimator).set_params(tradeoff=1.0)
            return cls(whole.fit(X, y, sensitive_features=sensitive_features))
        peer = clone(estimator).fit(X, y, sensitive_features=sensitive_features)
        return cls(peer, _standard_half(peer, X))

    @property
    def k(self) -> int:
        """Number of columns of the fair half."""
        return int(self.fitted.n_components_)

    def both(self, X: Any) -> np.ndarray:
        """Return the columns for lambda = 1, of which `scaled` makes those of any other.

        Parameters
        ----------
        X : array-like, frame or sparse matrix of shape (n, d)
            Features.

        Returns
        -------
        array of shape (n, 2k)
            The fair half, and the standard one.
        """
        fair = self.fitted.transform(X)
        if self.standard is None:
            return np.asarray(fair)
        return np.hstack([fair, self._centred(X) @ self.standard])

    def columns(self, X: Any, tradeoff: float) -> np.ndarray:
        """Return what `transform` with this lambda returns: both halves, one at lambda = 0.

        Parameters
        ----------
        X : array-like, frame or sparse matrix of shape (n, d)
            Features.
        tradeoff : float in [0, 1]
            Lambda.

        Returns
        -------
        array of shape (n, 2k), or (n, k) where lambda is 0
            The representation.
        """
        return self.scaled(self.both(X), tradeoff)

    def scaled(self, both: np.ndarray, tradeoff: float) -> np.ndarray:
        """Return the columns for a lambda, given those for lambda = 1.

        Parameters
        ----------
        both : array of shape (n, 2k)
            What `both` returned.
        tradeoff : float in [0, 1]
            Lambda.

        Returns
        -------
        array of shape (n, 2k), or (n, k) where lambda is 0
            The representation.
        """
        if tradeoff == 0.0:
            return both[:, : self.k]
        weighted: np.ndarray = both * self._weights(both.shape[1], tradeoff)
        return weighted

    def common_rows(self, X: Any) -> np.ndarray:
        """Return rows of which the representation of every lambda is a multiple, as doubles.

        They have as many columns as the features or as both halves, whichever is less; with
        kernels the latter.

        Parameters
        ----------
        X : array-like, frame or sparse matrix of shape (n, d)
            Features.

        Returns
        -------
        array of shape (n, p)
            To be multiplied with `factor`.
        """
        if not self._has_fewer_features:
            return self.both(X).astype(float, copy=False)
        return self._centred(X)

    def factor(self, tradeoff: float) -> np.ndarray:
        """Return B such that ``common_rows @ B`` has the inner products of `columns`.

        Of erasers those of their columns less the mean, which they add again. A learner that sees
        rows through inner products only (ridge, logistic regression with an l2 penalty, support
        vector machines) predicts the same from either.

        Parameters
        ----------
        tradeoff : float in [0, 1]
            Lambda.

        Returns
        -------
        array of shape (p, q)
            With q <= p.

        Notes
        -----
        With A = (U_fair, lambda U_st), B is the transposed R of a QR decomposition of A^T, so that
        B B^T = A A^T and B has no more columns than rows.
        """
        if not self._has_fewer_features:
            size = self._n_columns
            weights = self._weights(size, tradeoff)
            return np.eye(size)[:, : self.k] if tradeoff == 0.0 else np.diag(weights)
        fair, standard = self._halves
        if tradeoff == 0.0:
            return fair
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
    def _halves(self) -> tuple[np.ndarray, np.ndarray]:
        assert not isinstance(self.fitted, FairKernelPCA)
        if isinstance(self.fitted, FairPCA):
            return self.fitted.components_.T, self.fitted.standard_components_.T
        assert self.standard is not None
        return self.fitted.components_.T, self.standard

    @property
    def _n_columns(self) -> int:
        return 2 * self.k if self.standard is None else self.k + self.standard.shape[1]

    @property
    def _has_fewer_features(self) -> bool:
        if isinstance(self.fitted, FairKernelPCA):
            return False
        return bool(self.fitted.components_.shape[1] < self._n_columns)


def _standard_half(peer: FairTransformer, X: Any) -> np.ndarray:
    d = peer.components_.shape[1]
    if isinstance(peer, OneToOneFeatureMixin):
        return np.eye(d)
    plain = PCA(peer.n_components_)
    if hasattr(peer, "moments_"):
        return np.asarray(plain.fit_moments(peer.moments_).components_).T
    return np.asarray(plain.fit(X).components_).T  # wide or sparse rows are their own moments
