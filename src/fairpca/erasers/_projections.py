"""What the erasers share: `fit`, and projections that remove where group means differ."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.base import OneToOneFeatureMixin

from .._maps import Removal
from .._moments import GroupMoments, RowScatter, noise_along, noise_of_features
from .._numerics import (
    Array,
    array_namespace,
    device,
    float64,
    graded_basis,
    inverse_of_scatter,
    is_single,
    like,
    quiet_overflow,
)
from .._rows import row_blocks
from ..errors import InfeasibleError
from ..estimators import FairTransformer, Reader, learned_from
from ..solvers import check_dimension, mean_constraint

AT_A_TIME = 256
"""So many features are looked at together, to see whether they are gone."""

Factors = tuple[Array, Array]
"""L and A of shape (d, r): the centred row x becomes x - A L^T x."""


def mean_projection(moments: GroupMoments) -> Factors:
    r"""Return the factors of :math:`I - QQ^\top`, Q a basis of where group means differ."""
    A, unit = where_means_differ(moments)[1], moments.spread[:, None]
    return removed_along(A, unit * graded_basis(A * unit), moments)


def where_means_differ(moments: GroupMoments) -> tuple[GroupMoments, Array]:
    """Return moments in units of spread, and a basis of where means differ; raise if all do."""
    work = in_units_of_spread(moments)
    A = mean_constraint(work).Q
    check_dimension(moments, A.shape[1], None)
    return work, A


def in_units_of_spread(moments: GroupMoments) -> GroupMoments:
    """Return moments in units in which the rounding of all features compares: over their norms."""
    xp = array_namespace(moments.mean)
    largest = xp.abs(moments.mean) * moments.weight**0.5
    # Of constants nothing is left, not even rounding.
    constant = xp.where(largest > 1.0, largest, xp.ones_like(largest))
    return moments.rescaled(xp.where(moments.varies, moments.spread, constant))


def removed_along(A: Array, B: Array, moments: GroupMoments) -> Factors:
    r"""Return the factors of :math:`x - A (B^\top A)^{-1} B^\top x`, A and B in units of spread."""
    # Whatever B is, all covariance in the span of A is removed; along B is where rows move.
    try:
        away = array_namespace(A).linalg.solve(A.T @ B, A.T).T
    except (np.linalg.LinAlgError, RuntimeError) as reason:  # the second is torch's
        raise nothing_but_rounding() from reason
    return B / moments.spread[:, None], away * moments.spread[:, None]


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


class Eraser(OneToOneFeatureMixin, FairTransformer):
    """Base of the methods that keep all columns, and remove their correlation with attributes.

    An eraser is a class with `_solve`: from moments to what `learned_by_an_eraser` returns.
    """

    _learned = FairTransformer._learned - {"components_"} | {"n_directions_"}

    @property
    def components_(self) -> Array:
        """The projection, of shape (d, d), made of its factors when it is asked for."""
        self._check_solved()
        return self._map.matrix.T

    def _reader(self) -> Reader:
        return Reader.of(self, takes_device_arrays=True)

    def fit(
        self,
        X: Any,
        y: Any = None,
        *,
        sensitive_features: Any = None,
        given: Any = None,
        sample_weight: Any = None,
    ) -> Self:
        """Learn the directions to remove from the rows of `X`.

        Parameters
        ----------
        X : array-like, frame or sparse matrix of shape (n_samples, n_features)
            Features. Tensors of torch and CuPy stay on their device. A Dask array or DataFrame, a
            Spark DataFrame and `fairpca.io.ParquetRows` are read where they are, part by part.
        y : array-like of shape (n_samples,), default=None
            Target whose covariance with the features `SPLINCE` keeps; others ignore it.
        sensitive_features : array-like, Series, frame or dict of columns, default=None
            Sensitive attributes of the n_samples rows, in any number of columns, paired with the
            rows by position: where both have row labels, as in pandas, these must be the same in
            the same order. Required.
        given : array-like, Series, frame or dict of columns, default=None
            Legitimate factors: people whose factors are equal are compared with each other
            (conditional demographic parity). Categories, and numbers of at most ten values, are
            strata, in each of which groups are compared; missing values are a stratum, too. Other
            numbers are regressed out of features and attributes, in each stratum by itself.
            :doc:`/howto/legitimate_factors`
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
            came = (X, y, sensitive_features, sample_weight, self._validated)
            rows = reader.rows(*came, given=given)
            self._learn_from_rows(reader, rows)
        return self


def learned_by_an_eraser(factors: Factors, moments: GroupMoments) -> dict[str, Any]:
    """Return the change of rows, as it is applied, in scikit-learn's words.

    What rounding leaves of a feature that is gone as a whole, such as a copy of the attribute, is a
    copy still, if a small one: such a column is the mean, in every row.
    """
    gone = gone_as_a_whole(factors, moments)
    if gone is not None:
        moments.need_all_digits()
    removal = _as_precise_as_rows(Removal(*factors, moments.mean, gone), moments)
    return learned_from(removal, moments) | {"n_directions_": int(factors[0].shape[1])}


def gone_as_a_whole(factors: Factors, moments: GroupMoments) -> Array | None:
    """Return a mask of the features of which only rounding is left; None if none is gone."""
    along, away = factors
    xp, S = array_namespace(along), moments.scatter
    # What is left of all features takes d^2 r steps, up to rounding; few are looked at closely.
    covariances = S.apply(along)
    change = xp.sum(away * (away @ (along.T @ covariances) - 2.0 * covariances), axis=1)
    noise = sum(_terms(part, factors) ** 2 for part in noise_of_features(moments))
    places = xp.nonzero((S.diagonal + change <= 2.0 * noise) & moments.varies)[0]
    if places.shape[0] == 0:
        return None
    gone, features = xp.zeros_like(moments.varies), xp.arange(along.shape[0], device=device(along))
    terms = _terms(moments.spread, factors)
    for block in row_blocks(places.shape[0], AT_A_TIME):
        at = places[block]
        here = features[:, None] == at[None, :]
        columns = xp.astype(here, along.dtype) - along @ xp.take(away, at, axis=0).T
        cancelled = moments.spread @ xp.abs(columns) <= moments.rounding * xp.take(terms, at)
        cancelled = cancelled | (S.along(columns) <= noise_along(moments, columns))
        gone = gone | xp.any(here & cancelled[None, :], axis=1)
    return gone if bool(xp.any(gone)) else None


def _terms(sizes: Array, factors: Factors) -> Array:
    """Return how large the terms are that make up each feature afterwards."""
    along, away = (array_namespace(a).abs(a) for a in factors)
    return sizes + away @ (along.T @ sizes)


def _as_precise_as_rows(removal: Removal, moments: GroupMoments) -> Removal:
    """Return what rows in single precision are changed with: as precise as these, half as large."""
    if not is_single(max(moments.precision, moments.resolution)):
        return removal
    xp = array_namespace(removal.mean)
    norm, single = xp.linalg.vector_norm, xp.float32
    parts = (removal.along, removal.away, removal.mean)
    with quiet_overflow():
        errors = [norm(a - float64(xp.astype(a, single))) for a in parts]
    limits = [float(xp.finfo(single).eps) * norm(a) for a in parts]
    if not bool(xp.all(xp.stack(errors) <= xp.stack(limits))):  # beyond the range of single ones
        return removal
    along, away, mean = (xp.astype(a, single) for a in parts)
    return Removal(along, away, mean, removal.gone)


def scatter_inverse_times(work: GroupMoments, A: Array) -> Array:
    """Return the pseudo-inverse of the scatter times `A`; variance that is rounding is none."""
    scatter = work.scatter
    if isinstance(scatter, RowScatter) and scatter.n_rows < work.n_features:
        return _by_gram_side(scatter, A, work)
    xp = array_namespace(A)
    constant = xp.astype(xp.logical_not(work.varies), A.dtype)
    S = scatter.dense().matrix + identity(A) * constant  # constant features: no inverse for them
    rounding = 2.0 * work.rounding * float(np.sqrt(work.n_features))  # norm of errors in S
    if work.resolution > 0:  # and of those in the rows
        rounding = float(noise_along(work))
    try:
        inverse = inverse_of_scatter(S)
    except (np.linalg.LinAlgError, RuntimeError):  # the second is torch's
        inverse = None
    # The largest row sum of the inverse is at least 1 over the smallest eigenvalue.
    if inverse is not None and float(xp.max(xp.sum(xp.abs(inverse), axis=1))) * rounding < 1.0:
        return inverse @ A
    work.need_all_digits()
    values, vectors = xp.linalg.eigh(S)
    noise = noise_along(work, vectors) if work.resolution > 0 else rounding
    return vectors @ ((vectors.T @ A) * _reciprocal(values, noise)[:, None])


def _by_gram_side(scatter: RowScatter, A: Array, work: GroupMoments) -> Array:
    """Wide data F: (F^T F)^+ A = F^T (F F^T)^{+2} F A, with an n x n matrix in the middle."""
    xp = array_namespace(A)
    values, vectors = xp.linalg.eigh(scatter.gram())
    noise = float(values[-1]) * scatter.n_rows * work.precision
    if work.resolution > 0:
        noise = max(noise, float(noise_along(work)))
    if float(values[1]) <= noise:  # the first is what the mean took
        work.need_all_digits()
    reciprocal = _reciprocal(values, noise)
    inner = (vectors.T @ scatter.times_rows(A)) * (reciprocal**2)[:, None]
    return scatter.rows_transposed(vectors @ inner)


def _reciprocal(values: Array, zero: float | Array) -> Array:
    xp = array_namespace(values)
    counts = values > zero
    return xp.where(counts, 1.0 / xp.where(counts, values, xp.ones_like(values)), like(0.0, values))
