"""LEACE: the least change of the rows after which no linear model sees the attributes."""

from __future__ import annotations

from typing import Any, Self

from sklearn.base import OneToOneFeatureMixin

from .._moments import GroupMoments
from .._numerics import Array
from ..estimators import FairTransformer
from ._projections import (
    ERASED,
    learned_by_an_eraser,
    removed_along,
    scatter_inverse_times,
    where_means_differ,
)


def leace(moments: GroupMoments) -> Array:
    r"""Return the projection that removes all covariance with the attributes at the least change.

    Of all :math:`x'` affine in x without covariance with z,
    :math:`x - W^+ (W \Sigma_{xz})(W \Sigma_{xz})^+ W (x - \mu)` with :math:`W = \Sigma^{-1/2}`
    changes least in any norm (Belrose et al.). With A a basis of the range of
    :math:`\Sigma_{xz}` it is
    :math:`x - A (A^\top \Sigma^+ A)^{-1} A^\top \Sigma^+ (x - \mu)`: no root is taken, what is
    removed depends on A alone, however ill-conditioned the covariance is, and in units of each
    feature's spread rounding errors compare.
    """
    work, A = where_means_differ(moments)
    return removed_along(A, scatter_inverse_times(work, A), moments)


class LEACE(OneToOneFeatureMixin, FairTransformer):
    """Change the rows as little as possible so that no linear model can see the attributes.

    Least-squares concept erasure. Afterwards no feature covaries with any attribute: groups have
    equal means, and no linear model trained on these rows predicts an attribute better than a
    constant does. Of all linear maps that achieve this it changes the rows least, in the mean
    square of any norm, so units do not matter. The result has the columns of the input.

    Prefer it to `fairpca.FairPCA` where every column must stay what it was, for instance in front
    of a model that exists already; FairPCA reduces the dimension. A linear model without
    regularisation that is trained on the result predicts the same as one trained on
    `MeanProjection`, `SPLINCE` or `fairpca.FairPCA` with all its components: they remove the same
    directions. **Non-linear models may still see the groups.**

    Attributes
    ----------
    n_directions_ : int
        How many directions were removed. Decided on correlations, so that rare groups and
        attributes in small units count.
    components_ : array of shape (d, d)
        The oblique projection: row j has the weights of the centred features in column j of the
        result.
    mean_, groups_, moments_, n_features_in_, feature_names_in_, n_samples_seen_
        As in `MeanProjection`.

    See Also
    --------
    OracleLEACE : Changes less still, where the attribute of every row is known.
    SPLINCE : Also keeps all covariances with a target.

    Notes
    -----
    With more features than rows, any attribute is a linear function of the training rows, so that
    what is removed is each group's mean, and new rows are changed along directions learned from
    noise. Reduce the dimension first.

    References
    ----------
    .. [1] Belrose, Schneider-Joseph, Ravfogel, Cotterell, Raff, Biderman. "LEACE: perfect linear
       concept erasure in closed form". NeurIPS 2023.

    Examples
    --------
    >>> import numpy as np
    >>> from fairpca.erasers import LEACE
    >>> rng = np.random.default_rng(0)
    >>> sex = rng.choice(["f", "m"], size=500)
    >>> X = rng.normal(size=(500, 5)) + np.outer(sex == "m", [2, 1, 0, 0, 0])
    >>> T = LEACE().fit_transform(X, sensitive_features=sex)
    >>> bool(np.allclose(T[sex == "f"].mean(axis=0), T[sex == "m"].mean(axis=0)))
    True
    """

    _learned = ERASED
    _equal_means = True

    def fit(
        self, X: Any, y: Any = None, *, sensitive_features: Any = None, sample_weight: Any = None
    ) -> Self:
        """Learn the directions to remove from the rows of `X`.

        Parameters
        ----------
        X : array-like, frame or sparse matrix of shape (n_samples, n_features)
            Features; a Dask or Spark collection and files as in `fairpca.FairPCA.fit`.
        y : ignored
            There for the signature.
        sensitive_features : array-like, Series, frame or dict of columns with n_samples rows
            Sensitive attributes, paired with the rows by position; row labels must agree.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights >= 0.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        with self._changing():
            self._begin()
            reader = self._reader()
            rows = reader.rows(X, y, sensitive_features, sample_weight, self._validated)
            moments = reader.moments(rows)
            self._learn_from(moments)
            self._keep(moments)
        return self

    def _solve(self, moments: GroupMoments) -> dict[str, Any]:
        return learned_by_an_eraser(leace(moments), moments)
