"""Mean projection, LEACE and SPLINCE: take out what tells groups apart, and leave the rest."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.base import OneToOneFeatureMixin

from .._attributes import KINDS, Attribute, drop_unused_labels, read_attributes
from .._moments import GroupMoments, NumericMoments, RowScatter, noise_along
from .._numerics import Array, array_namespace, device, graded_basis, like, on_the_host, to_numpy
from .._rows import LinearMap, Rows
from ..errors import InfeasibleError, MissingTargetError, UsageError
from ..estimators import FairTransformer, Reader, check_choice, learned_from
from ..solvers import check_dimension, mean_constraint, names_of

SAME = 1e-10
"""Directions whose squared cosine is 1 up to this are the same."""

TARGET = "y (target)"
"""Name of the target among the attributes of the rows."""

MANY_CLASSES = 20
"""A target of integers with more values than this is read as numbers."""


def mean_projection(moments: GroupMoments) -> Array:
    r"""Return :math:`I - QQ^\top`, Q an orthonormal basis of where group means differ."""
    A, unit = _where_means_differ(moments)[1], moments.spread[:, None]
    return _removed_along(A, unit * graded_basis(A * unit), moments)


def _where_means_differ(moments: GroupMoments) -> tuple[GroupMoments, Array]:
    """Return moments in units of spread, and a basis of where means differ; raise if all do."""
    work = _in_units_of_spread(moments)
    A = mean_constraint(work).Q
    check_dimension(moments, A.shape[1], None)
    return work, A


def _in_units_of_spread(moments: GroupMoments) -> GroupMoments:
    """Return moments in units in which the rounding of all features compares: over their norms."""
    xp = array_namespace(moments.mean)
    largest = xp.abs(moments.mean) * moments.weight**0.5
    # Of constants nothing is left, not even rounding.
    constant = xp.where(largest > 1.0, largest, xp.ones_like(largest))
    return moments.rescaled(xp.where(moments.varies, moments.spread, constant))


def _removed_along(A: Array, B: Array, moments: GroupMoments) -> Array:
    r"""Return the matrix of :math:`x - A (B^\top A)^{-1} B^\top x`, A and B in units of spread."""
    # Whatever B is, all covariance in the span of A is removed; along B is where rows move.
    try:
        kept = identity(A) - B @ array_namespace(A).linalg.solve(A.T @ B, A.T)
    except (np.linalg.LinAlgError, RuntimeError) as reason:  # the second is torch's
        raise _nothing_but_rounding() from reason
    return kept * moments.spread / moments.spread[:, None]


def _nothing_but_rounding() -> InfeasibleError:
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


ERASED = FairTransformer._learned | {"n_directions_"}
"""What is learned by methods that return the rows themselves, less what gives the groups away."""


def learned_by_an_eraser(projection: Array, moments: GroupMoments) -> dict[str, Any]:
    """Return the projection of what a row differs from the mean by, in scikit-learn's words.

    What rounding leaves of a feature that is gone as a whole, such as a copy of the attribute, is a
    copy still, if a small one: such a column is the mean, in every row.
    """
    xp = array_namespace(projection)
    rank = round(float(xp.linalg.trace(projection)))
    projection = xp.where(moments.varies, without_noise(projection, moments), projection)
    linear = LinearMap(projection, moments.mean, offset=moments.mean)
    return learned_from(linear, moments) | {"n_directions_": moments.n_features - rank}


def without_noise(matrix: Array, moments: GroupMoments) -> Array:
    """Return a map to features, with zeros for the columns in which rows vary by rounding only."""
    noise = moments.scatter.along(matrix) <= noise_along(moments, matrix)
    return array_namespace(matrix).where(noise, 0.0 * matrix, matrix)


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
        The projection: row j has the weights of the centred features in column j of the result; 0
        where nothing of the feature is left but rounding, so that the column is the mean.
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


def _scatter_inverse_times(work: GroupMoments, A: Array) -> Array:
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
        work, A = _where_means_differ(moments)
        projection = _removed_along(A, _scatter_inverse_times(work, A), moments)
        return learned_by_an_eraser(projection, moments)


def _splince(
    moments: GroupMoments, target: GroupMoments, *, partly: bool = False
) -> tuple[Array, int, float]:
    r"""Return the matrix, the number of directions to keep that had to go, and the largest overlap.

    Holstege et al. project obliquely, :math:`x' = x - A (B^\top A)^{-1} B^\top (x - \mu)`, with A a
    basis of the range of :math:`\Sigma_{xz}` as in LEACE. In the whitened space B is what a
    regression of A on a basis C of the range of :math:`\Sigma_{xy}` leaves, so that C stays. With
    `partly`, directions of C in the span of A are left out; if nothing remains this is LEACE.
    """
    work, A = _where_means_differ(moments)
    r = A.shape[1]
    (a,) = target.attributes
    constant = a.is_constant if isinstance(a, NumericMoments) else len(a.labels) < 2
    C = A[:, :0] if constant else mean_constraint(_in_units_of_spread(target)).Q
    xp = array_namespace(A)
    inverse = _scatter_inverse_times(work, xp.concat([A, C], axis=1))
    inverse_A, inverse_C = inverse[:, :r], inverse[:, r:]
    # Bases of both spaces that are orthonormal after whitening: A root_A and C root_C.
    root_A, root_C = _inverse_root(A.T @ inverse_A), _inverse_root(C.T @ inverse_C)
    Y, cosines, _ = xp.linalg.svd(root_C.T @ (C.T @ inverse_A) @ root_A, full_matrices=True)
    cosines = to_numpy(cosines)
    lost = int(np.sum(cosines**2 >= 1.0 - max(SAME, moments.rounding)))
    if lost and not partly:
        raise InfeasibleError(
            f"The covariance with y cannot be kept while that with the attributes "
            f"({names_of(moments.attributes)}) is removed: {lost} of the {C.shape[1]} direction(s) "
            f"to keep lie among the {r} to remove (up to {SAME:g}, after whitening), so what the "
            f"features tell about the one they tell about the other. Use keep='possible' for what "
            f"can be kept, or LEACE, or leave out the attribute that y is a function of."
        )
    root_C = root_C @ Y[:, lost:]
    B = inverse_A - inverse_C @ (root_C @ (root_C.T @ (C.T @ inverse_A)))
    return _removed_along(A, B, moments), lost, float(np.max(cosines[lost:], initial=0.0))


def _inverse_root(squares: Array) -> Array:
    """Return a matrix R with R^T (squares) R = I."""
    xp = array_namespace(squares)
    try:
        return xp.linalg.inv(xp.linalg.cholesky(0.5 * (squares + squares.T))).T
    except (np.linalg.LinAlgError, RuntimeError) as reason:  # the second is torch's
        raise _nothing_but_rounding() from reason


def _read_target(y: Any, n: int, kind: str | None) -> Attribute:
    """Return y as an attribute of the rows; raise if it is absent, for all rows or for some."""
    if y is None:
        raise MissingTargetError(
            "SPLINCE keeps what the features tell about y and requires y to be passed, but the "
            "target y is None. Pass fit(X, y, sensitive_features=...), or use LEACE, which needs "
            "no y."
        )
    values = np.asarray(on_the_host(y))
    column = values.ravel() if values.ndim == 2 and values.shape[1] == 1 else y
    if values.size != n:
        raise UsageError(
            f"X has {n} rows, but y has shape {values.shape}, so they cannot be paired. Pass one "
            f"entry per row of X."
        )
    if kind is None and values.dtype.kind in "iuf" and len(np.unique(values)) > MANY_CLASSES:
        kind = "numeric"
    kinds = None if kind is None else {TARGET: kind}
    (target,) = read_attributes({TARGET: column}, kinds=kinds, missing="ignore", advise=False)
    if target.missing.any():
        raise MissingTargetError(
            f"y is missing in {int(target.missing.sum())} of {n} rows, so its covariance with the "
            f"features is unknown. Fill in the values, or leave these rows out."
        )
    return target


@dataclass(frozen=True)
class _ReaderOfTargets(Reader):
    """Reads y as one more attribute: one to keep."""

    target_kind: str | None = None

    def rows_in_memory(
        self, X: Any, y: Any, sensitive_features: Any, sample_weight: Any, estimator: Any
    ) -> Rows:
        """Return the rows that count, with y among the attributes."""
        rows = super().rows_in_memory(X, y, sensitive_features, sample_weight, estimator)
        target = _read_target(y, rows.X.shape[0], self.target_kind)
        if rows.chosen is not None:
            target = target.take(rows.chosen)
        return replace(rows, attributes=(*rows.attributes, drop_unused_labels(target)))


class SPLINCE(OneToOneFeatureMixin, FairTransformer):
    """Remove what features tell linearly about the attributes, keep what they tell about `y`.

    Simultaneous projection for linear concept removal and covariance preservation. Afterwards no
    feature covaries with an attribute, as after `LEACE`, and the covariance of every feature with
    y is what it was; of all linear maps with both properties it changes the rows least. The
    result has the columns of the input.

    Prefer it to `LEACE` and `fairpca.FairPCA` in front of models that are regularised, or trained
    already. Where attribute and target are correlated it keeps the correlation of each feature
    with y, **including the part that is there because of the attribute**: it hides the attribute
    from linear models, and does not make their predictions of y independent of it. **Non-linear
    models may still see the groups.**

    Parameters
    ----------
    keep : {"all", "possible"}, default="all"
        What to do where covariances with y lie in directions that must be removed, as with y a
        function of the attribute, or with about as many classes as features. "all" raises an
        `fairpca.InfeasibleError`. "possible" keeps the other covariances with y; `n_lost_` tells
        how many directions were given up. If all are, this is LEACE.
    target_kind : {None, "categorical", "numeric"}, default=None
        How to read y. By default fractions, and more than 20 whole numbers, are numbers; all
        else are classes, each of which keeps its mean. Say which if y comes in batches.

    Attributes
    ----------
    overlap_ : float
        The largest cosine between what was removed and what was kept, after whitening: how well
        the best linear guesses of attribute and target agree. The change of the rows grows like
        ``1 / (1 - overlap_ ** 2)``.
    n_lost_ : int
        Number of directions of covariance with y that could not be kept; 0 with ``keep="all"``.
    n_directions_, components_, mean_, groups_, moments_
        As in `LEACE`.
    n_features_in_, feature_names_in_, n_samples_seen_
        As in `fairpca.FairPCA`.

    See Also
    --------
    LEACE : The same without a target whose signal is kept.

    References
    ----------
    .. [1] Holstege, Ravfogel, Wouters. "Preserving task-relevant information under linear concept
       removal". NeurIPS 2025.

    Examples
    --------
    >>> import numpy as np
    >>> from fairpca.peers import SPLINCE
    >>> rng = np.random.default_rng(0)
    >>> sex = rng.integers(0, 2, size=500)
    >>> y = rng.normal(size=500) + sex
    >>> X = rng.normal(size=(500, 3)) + np.outer(sex, [2, 1, 0]) + np.outer(y, [1, 0, 1])
    >>> T = SPLINCE().fit_transform(X, y, sensitive_features=sex)
    >>> bool(np.allclose(T[sex == 0].mean(axis=0), T[sex == 1].mean(axis=0)))
    True
    >>> bool(np.allclose((y - y.mean()) @ T, (y - y.mean()) @ X))
    True
    """

    _learned = ERASED | {"overlap_", "n_lost_"}

    def __init__(self, keep: str = "all", *, target_kind: str | None = None) -> None:
        self.keep = keep
        self.target_kind = target_kind

    def _check_parameters(self) -> None:
        check_choice("keep", self.keep, ("all", "possible"))
        if self.target_kind is not None:
            check_choice("target_kind", self.target_kind, KINDS, or_else="None")

    def _reader(self) -> Reader:
        return _ReaderOfTargets.of(self, target_kind=self.target_kind)

    def _solve(self, moments: GroupMoments) -> dict[str, Any]:
        kept = tuple(a for a in moments.attributes if a.name == TARGET)
        gone = tuple(a for a in moments.attributes if a.name != TARGET)
        sensitive = replace(moments, attributes=gone)
        target = replace(moments, attributes=kept)
        projection, lost, overlap = _splince(sensitive, target, partly=self.keep == "possible")
        return learned_by_an_eraser(projection, sensitive) | {"overlap_": overlap, "n_lost_": lost}

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        return tags
