"""Mean projection and LEACE: take out what tells groups apart; and what all erasers share."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import OneToOneFeatureMixin

from .._moments import GroupMoments, RowScatter
from .._numerics import Array, array_namespace, device, like, project_out
from .._rows import LinearMap
from ..errors import InfeasibleError
from ..estimators import FairTransformer, learned_from
from ..solvers import check_dimension, mean_constraint


def mean_projection(moments: GroupMoments) -> LinearMap:
    r"""Return :math:`x' = \mu + (I - QQ^\top)(x - \mu)`, Q a basis of where group means differ."""
    A = mean_constraint(in_units_of_spread(moments)).Q
    check_dimension(moments, A.shape[1], None)
    return removed_along(A, moments.spread[:, None] * mean_directions(moments, A), moments)


def in_units_of_spread(moments: GroupMoments) -> GroupMoments:
    """Return moments in units in which the rounding of all features compares: over their norms."""
    xp = array_namespace(moments.mean)
    largest = xp.abs(moments.mean) * moments.weight**0.5
    # Of constants nothing is left, not even rounding.
    constant = xp.where(largest > 1.0, largest, xp.ones_like(largest))
    return moments.rescaled(xp.where(moments.varies, moments.spread, constant))


def mean_directions(moments: GroupMoments, A: Array) -> Array:
    """Return an orthonormal basis of `A`, given in units of spread, in the features' own units."""
    # Gram-Schmidt, longest column first, each column twice: unlike a QR decomposition it keeps the
    # digits of features in units of 1e-6 next to those in units of 1e6.
    xp = array_namespace(A)
    left = A * moments.spread[:, None]
    Q = left[:, :0]
    for _ in range(A.shape[1]):
        longest = int(xp.argmax(xp.linalg.vector_norm(left, axis=0)))
        q = project_out(left[:, longest : longest + 1], Q)
        q = q / xp.linalg.vector_norm(q)
        left = project_out(xp.concat([left[:, :longest], left[:, longest + 1 :]], axis=1), q)
        Q = xp.concat([Q, q], axis=1)
    return Q


def removed_along(A: Array, B: Array, moments: GroupMoments) -> LinearMap:
    r"""Return :math:`x - A (B^\top A)^{-1} B^\top (x - \mu)` for A and B in units of spread."""
    # Whatever B is, all covariance in the span of A is removed; along B is where rows move.
    try:
        kept = identity(A) - B @ array_namespace(A).linalg.solve(A.T @ B, A.T)
    except (np.linalg.LinAlgError, RuntimeError) as reason:  # the second is torch's
        raise nothing_but_rounding() from reason
    spread = moments.spread
    return around_the_mean(kept * spread / spread[:, None], moments)


def nothing_but_rounding() -> InfeasibleError:
    """Return the error of rows that vary by rounding where groups differ."""
    return InfeasibleError(
        "The groups differ in directions in which the rows vary by no more than rounding, so these "
        "cannot be whitened. Subtract a constant from features that lie far from zero, merge "
        "groups, or use MeanProjection, which whitens nothing."
    )


def identity(like: Array) -> Array:
    """Return the identity of order d for an array of shape (d, r)."""
    xp = array_namespace(like)
    return xp.eye(like.shape[0], dtype=like.dtype, device=device(like))


def around_the_mean(matrix: Array, moments: GroupMoments) -> LinearMap:
    """Return the map that multiplies what a row differs from the mean by, and adds the mean."""
    return LinearMap(matrix, moments.mean, offset=moments.mean)


ERASED = FairTransformer._learned | {"n_directions_"}
"""What is learned by methods that return the rows themselves, less what gives the groups away."""


def learned_by_an_eraser(linear: LinearMap, moments: GroupMoments) -> dict[str, Any]:
    """Return the map in scikit-learn's words, and how many directions it removes."""
    kept = float(array_namespace(linear.matrix).linalg.trace(linear.matrix))  # a projection's rank
    return learned_from(linear, moments) | {"n_directions_": moments.n_features - round(kept)}


class MeanProjection(OneToOneFeatureMixin, FairTransformer):
    r"""Remove the directions between group means, and leave all others as they are.

    Afterwards every group of every attribute has the same mean, and numeric attributes are
    uncorrelated with all features, so no linear model trained on these rows can tell the groups
    apart. The result has the columns of the input: the rows themselves, moved as little as an
    orthogonal projection can. `LEACE` moves them less; `fairpca.FairPCA` also chooses the k
    directions to keep. **Non-linear models still see the groups.**

    Attributes
    ----------
    n_directions_ : int
        How many directions were removed: at most the number of groups less one per attribute.
    components_ : array of shape (d, d)
        The projection: row j has the weights of the centred features in column j of the result.
    mean_ : array of shape (d,)
        Mean of the rows, which the projection leaves where it is.
    groups_ : dict
        The levels of each attribute, or "numeric".
    moments_, n_features_in_, feature_names_in_, n_samples_seen_
        As in `fairpca.FairPCA`.

    See Also
    --------
    SAL : The same, or fewer directions.
    LEACE : The least change that does the same.

    References
    ----------
    .. [1] Haghighatkhah, Fokkens, Sommerauer, Speckmann, Verbeek. "Better hit the nail on the
       head than beat around the bush: removing protected attributes with a single projection".
       EMNLP 2022; Haghighatkhah, Meulemans, Speckmann, Urhausen, Verbeek. "Obstructing
       classification via projection". MFCS 2021.

    Examples
    --------
    >>> import numpy as np
    >>> from fairpca.peers import MeanProjection
    >>> sex = np.array(["f", "f", "m", "m"])
    >>> X = np.array([[0.0, 1.0], [0.0, 3.0], [4.0, 1.0], [4.0, 3.0]])
    >>> MeanProjection().fit_transform(X, sensitive_features=sex)
    array([[2., 1.],
           [2., 3.],
           [2., 1.],
           [2., 3.]])
    """

    _learned = ERASED

    def _solve(self, moments: GroupMoments) -> dict[str, Any]:
        return learned_by_an_eraser(mean_projection(moments), moments)


def scatter_inverse_times(work: GroupMoments, A: Array) -> Array:
    """Return the pseudo-inverse of the scatter times `A`; variance that is rounding is none."""
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
        """Remove the covariance with the attributes at the least squared change."""
        # Belrose et al.: of all x' affine in x without covariance with z, x - W^+ (W S_xz)(W
        # S_xz)^+ W (x - mu) with W = S^(-1/2) changes least in any norm. With A a basis of the
        # range of S_xz it is x - A (A^T S^+ A)^(-1) A^T S^+ (x - mu): no root is taken, what is
        # removed depends on A alone, however ill-conditioned S is, and in units of each feature's
        # spread rounding errors compare.
        work = in_units_of_spread(moments)
        A = mean_constraint(work).Q
        check_dimension(moments, A.shape[1], None)
        linear = removed_along(A, scatter_inverse_times(work, A), moments)
        return learned_by_an_eraser(linear, moments)
