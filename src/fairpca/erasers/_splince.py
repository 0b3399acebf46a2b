"""SPLINCE: remove the covariance of features and attributes, keep that of features and y."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from .._attributes import KINDS, Attribute, are_categories, in_words_of_targets, read_attributes
from .._moments import GroupMoments, NumericMoments
from .._numerics import Array, array_namespace, on_the_host, to_numpy
from ..errors import InfeasibleError, MissingTargetError, UsageError
from ..estimators import Reader, check_choice
from ..solvers import mean_constraint, names_of
from ._projections import (
    Eraser,
    Factors,
    in_units_of_spread,
    learned_by_an_eraser,
    nothing_but_rounding,
    removed_along,
    scatter_inverse_times,
    where_means_differ,
)

SAME = 1e-10
"""Directions whose squared cosine is 1 up to this are the same."""

TARGET = "y (target)"
"""Name of the target among the attributes of the rows."""

MANY_CLASSES = 20
"""A target of integers with more values than this is read as numbers."""


def _splince(
    moments: GroupMoments, target: GroupMoments, *, partly: bool = False
) -> tuple[Factors, int, float]:
    r"""Return the factors, how many directions to keep had to go, and the largest overlap.

    Holstege et al. project obliquely, :math:`x' = x - A (B^\top A)^{-1} B^\top (x - \mu)`, with A a
    basis of the range of :math:`\Sigma_{xz}` as in LEACE. In the whitened space B is what a
    regression of A on a basis C of the range of :math:`\Sigma_{xy}` leaves, so that C stays. With
    `partly`, directions of C in the span of A are left out; if nothing remains this is LEACE.
    """
    work, A = where_means_differ(moments)
    r = A.shape[1]
    (a,) = target.attributes
    constant = a.is_constant if isinstance(a, NumericMoments) else len(a.labels) < 2
    C = A[:, :0] if constant else mean_constraint(in_units_of_spread(target)).Q
    xp = array_namespace(A)
    inverse = scatter_inverse_times(work, xp.concat([A, C], axis=1))
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
            f"to keep lie among the {r} to remove (up to {SAME:g}, after whitening), so there "
            f"the features predict both or neither. Use keep='possible' for what "
            f"can be kept, or LEACE, or leave out the attribute that y is a function of."
        )
    root_C = root_C @ Y[:, lost:]
    B = inverse_A - inverse_C @ (root_C @ (root_C.T @ (C.T @ inverse_A)))
    return removed_along(A, B, moments), lost, float(np.max(cosines[lost:], initial=0.0))


def _inverse_root(squares: Array) -> Array:
    """Return a matrix R with R^T (squares) R = I."""
    xp = array_namespace(squares)
    try:
        return xp.linalg.inv(xp.linalg.cholesky(0.5 * (squares + squares.T))).T
    except (np.linalg.LinAlgError, RuntimeError) as reason:  # the second is torch's
        raise nothing_but_rounding() from reason


def _read_target(y: Any, n: int, kind: str | None) -> Attribute:
    """Return y as an attribute of the rows; raise if it is absent, for all rows or for some."""
    if y is None:
        raise MissingTargetError(
            "SPLINCE keeps the covariance of the features with y and requires y to be passed, but "
            "the target y is None. Pass fit(X, y, sensitive_features=...), or use LEACE, which "
            "needs no y."
        )
    values = np.asarray(on_the_host(y))
    column = values.ravel() if values.ndim == 2 and values.shape[1] == 1 else y
    if values.size != n:
        raise UsageError(
            f"X has {n} rows, but y has shape {values.shape}, so they cannot be paired. Pass one "
            f"entry per row of X."
        )
    numbers = values.dtype.kind in "iuf" and not are_categories(y)
    if kind is None and numbers and len(np.unique(values)) > MANY_CLASSES:
        kind = "numeric"
    kinds = None if kind is None else {TARGET: kind}
    with in_words_of_targets("target_kind"):
        (target,) = read_attributes({TARGET: column}, kinds=kinds, missing="ignore", advise=False)
    if target.missing.any():
        raise MissingTargetError(
            f"y is missing in {int(target.missing.sum())} of {n} rows, so its covariance with the "
            f"features is unknown. Fill in the values, or leave these rows out."
        )
    return target


class SPLINCE(Eraser):
    """Remove the covariance of the features with the attributes, and keep that with `y`.

    Simultaneous projection for linear concept removal and covariance preservation. Afterwards no
    feature covaries with an attribute, as after `LEACE`, and the covariance of every feature with
    y is what it was; of all linear maps with both properties it changes the rows least. The
    result has the columns of the input.

    Prefer it to `LEACE` and `fairpca.FairPCA` in front of models that are regularised, or trained
    already. Where attribute and target are correlated it keeps the correlation of each feature
    with y, **including the part that is there because of the attribute**: it hides the attribute
    from linear models, and does not make their predictions of y independent of it. **Non-linear
    models may still predict the attributes.**

    Parameters
    ----------
    keep : {"all", "possible"}, default="all"
        What to do where covariances with y lie in directions that must be removed, as with y a
        function of the attribute, or with about as many classes as features. "all" raises an
        `fairpca.errors.InfeasibleError`. "possible" keeps the other covariances with y; `n_lost_`
        counts the directions that were given up. If all are, this is LEACE.
    target_kind : {None, "categorical", "numeric"}, default=None
        How to read y. By default floats with fractions, and more than 20 integer values, are
        numeric; everything else is classes, however many, each of which keeps its mean. Pass the
        kind if y comes in batches.

    Attributes
    ----------
    overlap_ : float
        The largest cosine between what was removed and what was kept, after whitening: how well
        the best linear predictions of attribute and target agree. The change of the rows grows like
        ``1 / (1 - overlap_ ** 2)``.
    n_lost_ : int
        Number of directions of covariance with y that could not be kept; 0 with ``keep="all"``.
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
    LEACE : Changes rows less, and keeps nothing about a target.

    References
    ----------
    .. [1] Holstege, Ravfogel, Wouters. "Preserving task-relevant information under linear concept
       removal". NeurIPS 2025.

    Examples
    --------
    >>> import numpy as np
    >>> from fairpca.erasers import SPLINCE
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

    _learned = Eraser._learned | {"overlap_", "n_lost_"}
    _equal_means = True

    def __init__(self, keep: str = "all", *, target_kind: str | None = None) -> None:
        self.keep = keep
        self.target_kind = target_kind

    def _check_parameters(self) -> None:
        check_choice("keep", self.keep, ("all", "possible"))
        if self.target_kind is not None:
            check_choice("target_kind", self.target_kind, KINDS, or_else="None")

    def _reader(self) -> Reader:
        read = partial(_read_target, kind=self.target_kind)
        return Reader.of(self, attribute_of_y=read, takes_device_arrays=True)

    def _solve(self, moments: GroupMoments) -> dict[str, Any]:
        kept = tuple(a for a in moments.attributes if a.name == TARGET)
        gone = tuple(a for a in moments.attributes if a.name != TARGET)
        sensitive = replace(moments, attributes=gone)
        target = replace(moments, attributes=kept)
        factors, lost, overlap = _splince(sensitive, target, partly=self.keep == "possible")
        return learned_by_an_eraser(factors, sensitive) | {"overlap_": overlap, "n_lost_": lost}

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        return tags
