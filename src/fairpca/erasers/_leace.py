"""LEACE: the least change of the rows after which no linear model sees the attributes."""

from __future__ import annotations

from typing import Any

from .._moments import GroupMoments
from ._projections import (
    Eraser,
    Factors,
    learned_by_an_eraser,
    removed_along,
    scatter_inverse_times,
    where_means_differ,
)


def leace(moments: GroupMoments) -> Factors:
    r"""Return the factors of the least change that removes all covariance with the attributes.

    Of all :math:`x'` affine in x without covariance with z,
    :math:`x - W^+ (W \Sigma_{xz})(W \Sigma_{xz})^+ W (x - \mu)` with :math:`W = \Sigma^{-1/2}`
    changes least in any norm (Belrose et al.). With A a basis of the range of
    :math:`\Sigma_{xz}` it is
    :math:`x - A (A^\top \Sigma^+ A)^{-1} A^\top \Sigma^+ (x - \mu)`: no root is taken, what is
    removed depends on A alone, however ill-conditioned the covariance is, and in units of each
    feature's norm rounding errors compare.
    """
    work, A = where_means_differ(moments)
    return removed_along(A, scatter_inverse_times(work, A), moments)


class LEACE(Eraser):
    """Change the rows as little as possible so that no linear model can see the attributes.

    Least-squares concept erasure. Afterwards no feature covaries with any attribute: groups have
    equal means, and no linear model trained on these rows predicts an attribute better than a
    constant does. Of all linear maps that achieve this it changes the rows least, in the mean
    square of any norm, so units do not matter. The result has the columns of the input.

    Prefer it to `fairpca.FairPCA` where every column must stay what it was, for instance in front
    of a model that exists already; FairPCA reduces the dimension. A linear model without
    regularisation that is trained on the result predicts the same as one trained on
    `MeanProjection`, `SPLINCE` or `fairpca.FairPCA` with all its components: they remove the same
    directions. **Non-linear models may still predict the attributes.**

    Attributes
    ----------
    n_directions_ : int
        How many directions were removed. Decided on correlations, so that rare groups and
        attributes in small units count.
    components_ : ndarray of shape (n_features, n_features)
        The oblique projection: row j has the weights of the centred features in column j of the
        result.
    mean_ : ndarray of shape (n_features,)
        Mean of all rows, which the projection leaves where it is.
    groups_ : dict
        The levels of each attribute, or "numeric".
    moments_ : GroupMoments
        The moments of all rows seen, for `partial_fit` and `fit_moments`. They are not kept after
        `fit` to more than 4096 features, or to wide or sparse rows.
    n_features_in_ : int
        Number of columns of X.
    feature_names_in_ : ndarray of shape (n_features,)
        Their names; only where all of them are strings.
    n_samples_seen_ : int
        Number of rows with positive weight.

    See Also
    --------
    fairpca.FairPCA : Reduces the dimension, too.
    SPLINCE : Also keeps all covariances with a target.

    Notes
    -----
    User guide: :doc:`/howto/choosing`.

    With more features than rows, any attribute is a linear function of the training rows, so that
    what is removed is each group's mean, and held-out data are changed along directions learned
    from noise. Reduce the dimension first.

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

    _equal_means = True

    def _solve(self, moments: GroupMoments) -> dict[str, Any]:
        return learned_by_an_eraser(leace(moments), moments)
