"""LEACE: the least change of the rows after which no linear model sees the attributes."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import OneToOneFeatureMixin

from .._moments import GroupMoments, RowScatter
from .._numerics import Array, array_namespace, like
from ..estimators import FairTransformer
from ..solvers import check_dimension, mean_constraint
from ._mean_projection import (
    ERASED,
    identity,
    in_units_of_spread,
    learned_by_an_eraser,
    removed_along,
)


def scatter_inverse_times(work: GroupMoments, A: Array) -> Array:
    """Return the pseudo-inverse of the scatter times `A`, moments in units of spread.

    Directions whose variance is rounding count as directions without variance.
    """
    scatter = work.scatter
    if isinstance(scatter, RowScatter) and scatter.n_rows < work.n_features:
        return _by_gram_side(scatter, A, work.precision)
    xp = array_namespace(A)
    constant = xp.astype(xp.logical_not(work.varies), A.dtype)
    S = scatter.dense().matrix + identity(A) * constant  # constant features: no inverse for them
    rounding = 2.0 * work.rounding * float(np.sqrt(work.n_features))  # norm of errors in S
    try:
        inverse = xp.linalg.inv(S)
    except (np.linalg.LinAlgError, RuntimeError):  # the second is torch's
        inverse = None
    # The largest row sum of the inverse is at least 1 over the smallest eigenvalue.
    if inverse is not None and float(xp.max(xp.sum(xp.abs(inverse), axis=1))) * rounding < 1.0:
        return inverse @ A
    values, vectors = xp.linalg.eigh(S)
    return vectors @ ((vectors.T @ A) * _reciprocal(values, rounding)[:, None])


def _by_gram_side(scatter: RowScatter, A: Array, precision: float) -> Array:
    """Wide data F: (F^T F)^+ A = F^T (F F^T)^{+2} F A, with an n x n matrix in the middle."""
    xp = array_namespace(A)
    values, vectors = xp.linalg.eigh(scatter.gram())
    reciprocal = _reciprocal(values, float(values[-1]) * scatter.n_rows * precision)
    inner = (vectors.T @ scatter.times_rows(A)) * (reciprocal**2)[:, None]
    return scatter.rows_transposed(vectors @ inner)


def _reciprocal(values: Array, zero: float) -> Array:
    xp = array_namespace(values)
    counts = values > zero
    return xp.where(counts, 1.0 / xp.where(counts, values, xp.ones_like(values)), like(0.0, values))


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
    >>> from fairpca.peers import LEACE
    >>> rng = np.random.default_rng(0)
    >>> sex = rng.choice(["f", "m"], size=500)
    >>> X = rng.normal(size=(500, 5)) + np.outer(sex == "m", [2, 1, 0, 0, 0])
    >>> T = LEACE().fit_transform(X, sensitive_features=sex)
    >>> bool(np.allclose(T[sex == "f"].mean(axis=0), T[sex == "m"].mean(axis=0)))
    True
    """

    _learned = ERASED

    def _solve(self, moments: GroupMoments) -> dict[str, Any]:
        r"""Remove the covariance with the attributes at the least squared change.

        With :math:`W = \Sigma^{-1/2}`, Belrose et al. show that of all :math:`x'` affine in x with
        :math:`\mathrm{Cov}(x', z) = 0`, the one of least :math:`E\|M(x' - x)\|^2` for every M is

        .. math:: x' = x - W^+ (W\Sigma_{xz})(W\Sigma_{xz})^+ W (x - \mu).

        It does not depend on units, so it is computed in units of each feature's spread, where
        rounding errors compare. With A a basis of the range of :math:`\Sigma_{xz}` it is
        :math:`x - A (A^\top \Sigma^+ A)^{-1} A^\top \Sigma^+ (x - \mu)`: no root is taken, and what
        is removed depends on A alone, however ill-conditioned :math:`\Sigma` may be.
        """
        work = in_units_of_spread(moments)
        A = mean_constraint(work).Q
        check_dimension(moments, A.shape[1], None)
        linear = removed_along(A, scatter_inverse_times(work, A), moments)
        return learned_by_an_eraser(linear, moments)
