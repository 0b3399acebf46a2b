"""From the arguments of `fit` to rows, and from rows to moments, wherever the rows are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Self

import narwhals as nw
import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils import check_array
from sklearn.utils.validation import validate_data

from .._attributes import (
    Attribute,
    Columns,
    as_columns,
    check_frames,
    check_weights,
    drop_unused_labels,
    indexable,
    read_attributes,
    split_columns,
    warn_of_whole_numbers,
)
from .._moments import (
    GroupMoments,
    LevelMoments,
    Scores,
    SharesBelow,
    accumulate,
    moments_at,
    shares_below,
)
from .._numerics import (
    array_namespace,
    is_foreign,
    is_single,
    is_sparse,
    machine_epsilon,
    quiet_overflow,
    to_numpy,
    unmasked,
)
from .._rows import (
    Batch,
    DeviceRows,
    MappedRows,
    Rows,
    RowsElsewhere,
    check_all_finite,
    checked_rows,
    in_numpy,
    rows_elsewhere,
    streamed,
)
from ..errors import UsageError
from ._checks import (
    FLOATS,
    apply_criterion,
    canonical,
    check_lengths,
    check_sensitive_given,
    check_target,
    no_positive_row,
    read_targets,
)

HOST = np.empty(0)
"""An example of arrays in host memory."""

NO_ROWS = "Found 0 rows (n_samples = 0) in {}, while a variance needs at least 2. Pass rows."

UNDERFLOW, UNDERFLOW_SINGLE = 1e-280, 1e-30
"""Sums of squares below this have lost digits to underflow, in double and single precision."""

LARGEST, SMALLEST, SMALLEST_SINGLE = 1e75, 1e-75, 1e-18
"""Sizes of features between which their fourth powers (single precision: squares) are numbers."""

LARGEST_WEIGHT, SMALLEST_WEIGHT = 1e100, 1e-100
"""Sums of weights between which products with squares of features are numbers."""


_ASKED_OF_ESTIMATORS = (
    *("criterion", "pos_label", "sensitive_columns", "sensitive_kinds"),
    *("intersectional", "missing_sensitive", "device"),
)


@dataclass(frozen=True)
class Reader:
    """How the arguments of `fit` are read: which rows count, as what, and for which moments.

    It holds no rows, so it is what travels to files, Dask and Spark, and what tells whether moments
    that were collected before belong to the same question. Most fields are parameters of `FairPCA`.
    """

    name: str = "FairPCA"  # as messages call the estimator
    criterion: str = "demographic_parity"
    pos_label: Any = 1
    sensitive_columns: Sequence[Any] | None = None
    sensitive_kinds: Mapping[Any, str] | None = None
    intersectional: bool = False
    missing_sensitive: str = "error"
    device: Any = None
    with_scatters: bool = False  # whether moments have a scatter per group
    with_targets: bool = False  # whether moments know y, which then counts whatever the criterion
    target_kinds: Mapping[Any, str] | None = None
    takes_sparse: bool = True
    takes_device_arrays: bool = False
    complete: bool = False  # no more rows follow, so some of these must count
    keeps: bool = False  # moments may outlive the caller's arrays
    advise: bool = True  # of attributes that look like others; one batch does not know enough
    columns: tuple[int, tuple[str, ...] | None] | None = None  # number and names, as seen at fit

    @classmethod
    def of(cls, estimator: Any, **more: Any) -> Self:
        """Return the reader that the parameters of an estimator describe."""
        asked = {name: getattr(estimator, name) for name in _ASKED_OF_ESTIMATORS}
        return cls(type(estimator).__name__, **asked, **more)

    def rows(
        self,
        X: Any,
        y: Any = None,
        sensitive_features: Any = None,
        sample_weight: Any = None,
        estimator: Any = None,
    ) -> Rows | RowsElsewhere:
        """Check the arguments of `fit`; return the rows that count, or where they are."""
        # An estimator that has seen no columns yet learns their number and names.
        source = rows_elsewhere(X, y, sensitive_features, sample_weight)
        if source is None:
            return self.rows_in_memory(X, y, sensitive_features, sample_weight, estimator)
        source = source.for_estimator(self._sensitive)
        self._check_head(source.head, estimator)
        return source

    def rows_in_memory(
        self, X: Any, y: Any, sensitive_features: Any, sample_weight: Any, estimator: Any
    ) -> Rows:
        """Return the rows that count of what is in memory."""
        check_frames(X=X, sensitive_features=sensitive_features, y=y, sample_weight=sample_weight)
        features, columns = self.features(
            X, estimator, ensure_all_finite=False, ensure_min_samples=2 if self.complete else 1
        )
        n = features.shape[0]
        attributes = self.attributes_of(sensitive_features, columns)
        check_lengths(n, attributes)
        weight = check_weights(sample_weight, n, some=self.complete)
        kept = np.ones(n, bool) if weight is None else weight > 0
        labels, targets = None, self._targets_of(y, kept)
        if self.criterion != "demographic_parity":
            labels = check_target(y, n, self.criterion)
        kind, everyone = DeviceRows if is_foreign(features) else Rows, None
        if self.criterion == "equal_opportunity" and not self.with_targets:
            of_all, positions = _chosen(kept, weight)
            everyone = kind(features, of_all, chosen=positions)
        attributes, counted = apply_criterion(
            self.criterion, attributes, labels, self.pos_label, kept
        )
        if labels is not None and self.complete and not counted.any():
            found = list(dict.fromkeys(labels.tolist()))[:10]
            raise no_positive_row(f"y == {self.pos_label!r}; the labels are {found}")
        if self.with_targets:  # all rows tell what predicts y, some which groups are compared
            attributes = tuple(a.spread_over(counted[kept]) for a in attributes)
        else:
            kept = counted
        weight, chosen = _chosen(kept, weight)
        return kind(features, weight, attributes, chosen, everyone, targets)

    def _targets_of(self, y: Any, kept: np.ndarray) -> tuple[Attribute, ...]:
        """Return what y says of the rows that are kept, where somebody wants to know."""
        targets = read_targets(y, len(kept), self.target_kinds) if self.with_targets else ()
        if kept.all():
            return targets
        return tuple(drop_unused_labels(a.take(np.flatnonzero(kept))) for a in targets)

    def attributes_of(self, given: Any, columns: Columns | None) -> tuple[Attribute, ...]:
        """Return the attributes that were given, or that are columns of X."""
        check_sensitive_given(given, self.sensitive_columns, self.name)
        return read_attributes(
            given if columns is None else columns,
            kinds=self.sensitive_kinds,
            intersectional=self.intersectional,
            missing=self.missing_sensitive,
            advise=self.advise,
        )

    def moments(self, rows: Rows | RowsElsewhere, estimator: Any = None) -> GroupMoments:
        """Return the moments of rows; those of a device come back where others may follow."""
        if isinstance(rows, RowsElsewhere):
            return self._moments_elsewhere(rows, estimator)
        rows = self._seen(rows)
        rows = rows.safe_to_keep() if self.keeps else rows
        moments = finite_moments(rows, with_scatters=self.with_scatters)
        return moments if self.device is None or self.complete else moments_at(moments, HOST)

    def shares(self, rows: Rows | RowsElsewhere, estimator: Any, scores: Scores) -> SharesBelow:
        """Return how many rows of each group lie below thresholds on scores; one more pass."""
        if isinstance(rows, RowsElsewhere):
            return rows.fold(_CollectShares(self.for_batches(estimator), scores))
        return shares_below(self._seen(rows), scores)

    def read_often(self, rows: Rows | RowsElsewhere) -> Rows | RowsElsewhere:
        """Return rows of which nothing is computed twice, where memory allows."""
        if isinstance(rows, RowsElsewhere):
            return rows
        seen = self._seen(rows)
        return seen.computed_once() if isinstance(seen, MappedRows) else rows

    def check(self, moments: GroupMoments) -> None:
        """Raise unless moments are enough for a solution."""
        check_sizes(moments)
        check_some_rows(moments)

    def for_batches(self, estimator: Any) -> Self:
        """Return the reader of some of the rows at a time, of the columns an estimator has seen."""
        columns = None
        if estimator is not None:
            names = getattr(estimator, "feature_names_in_", None)
            columns = estimator.n_features_in_, None if names is None else tuple(names)
        return replace(self, complete=False, advise=False, columns=columns)

    def of_batch(self, batch: Batch) -> Rows:
        """Return the rows of a batch that count; its columns are those an estimator has seen."""
        return self.rows_in_memory(
            batch.X, batch.y, batch.sensitive_features, batch.sample_weight, self._stand_in()
        )

    def features(self, X: Any, estimator: Any = None, **checks: Any) -> tuple[Any, Columns | None]:
        """Return the features as an array, and the sensitive columns of X if it holds them."""
        X = unmasked(X)
        if is_foreign(X) and not self.takes_device_arrays:
            X = in_numpy(X, self.name)
        check_frames(X=X)
        there = is_foreign(X)  # and stays there
        sparse = "csr" if self.takes_sparse else False
        checks = checks if there else {"accept_sparse": sparse, "dtype": FLOATS, **checks}
        words = {} if there else {"estimator": estimator, "input_name": "X"}
        check = partial(checked_rows if there else check_array, **checks, **words)
        if estimator is None:
            return canonical(check(X)), None
        first = "n_features_in_" not in vars(estimator)
        if self.sensitive_columns is None:
            X, left = (check(X), {"skip_check_array": True}) if there else (X, checks)
            return canonical(validate_data(estimator, X, reset=first, **left)), None
        X = check(X, ensure_all_finite=False) if there else indexable(X)
        if not first and self._lacks_sensitive_columns(X, estimator):
            return canonical(check(X)), None
        validate_data(estimator, X, reset=first, skip_check_array=True)
        features, columns = split_columns(X, self._sensitive)
        return canonical(check(features)), columns

    def _lacks_sensitive_columns(self, X: Any, estimator: Any) -> bool:
        """Tell whether X has just the features; complain if it has neither form."""
        if X.shape[1] != estimator.n_features_in_ - len(self._sensitive):
            return False
        frame = nw.from_native(X, eager_only=True, pass_through=True)
        if isinstance(frame, nw.DataFrame) and hasattr(estimator, "feature_names_in_"):
            expected = [c for c in estimator.feature_names_in_ if c not in self._sensitive]
            if list(frame.columns) != expected:
                raise UsageError(
                    f"X has the columns {list(frame.columns)[:10]}, but the features at fit were "
                    f"{expected[:10]}. Pass the same columns in the same order, with or without "
                    f"the sensitive ones."
                )
        return True

    @property
    def _sensitive(self) -> list[Any]:
        return as_columns(self.sensitive_columns)

    def _seen(self, rows: Rows) -> Rows:
        """Return the rows as what their moments are taken of."""
        return rows if self.device is None else streamed(rows, self.device)

    def _check_head(self, head: Batch, estimator: Any) -> None:
        """Check the columns of rows that are still to come."""
        if head.sensitive_features is None and self.sensitive_columns is None:
            self.attributes_of(None, None)
        if head.y is None and self.with_targets:
            read_targets(None, 0, None)
        if head.y is None and self.criterion != "demographic_parity":
            check_target(None, 0, self.criterion)
        self.features(head.X, estimator, ensure_all_finite=False, ensure_min_samples=0)

    def _moments_elsewhere(self, source: RowsElsewhere, estimator: Any) -> GroupMoments:
        moments: GroupMoments | None = source.fold(_CollectMoments(self.for_batches(estimator)))
        if moments is None:
            raise UsageError(NO_ROWS.format(type(source).__name__))
        if moments.n_rows == 0 and self.complete and self.criterion == "equal_opportunity":
            raise no_positive_row(f"y == {self.pos_label!r}")
        if self.advise:
            self.tell_of_levels(moments)
        return moments

    def tell_of_levels(self, moments: GroupMoments) -> None:
        """Warn of levels, over all batches, that may be a quantity."""
        levels = {a.name: a.labels for a in moments.attributes if isinstance(a, LevelMoments)}
        for name in levels.keys() - set(map(str, self.sensitive_kinds or ())):
            warn_of_whole_numbers(name, levels[name])

    def _stand_in(self) -> Any:
        """Return what scikit-learn compares columns with; None where nothing has been seen."""
        if self.columns is None:
            return None
        n, names = self.columns
        seen = type(self.name, (BaseEstimator,), {})()  # warnings show the name
        seen.n_features_in_ = n
        if names is not None:
            seen.feature_names_in_ = np.array(names, dtype=object)
        return seen


def _chosen(kept: np.ndarray, weight: Any) -> tuple[np.ndarray | None, np.ndarray | None]:
    """Return the weights and the positions of the rows that are kept; None for all of them."""
    if kept.all():
        return weight, None
    return None if weight is None else weight[kept], np.flatnonzero(kept)


@dataclass(frozen=True)
class _CollectMoments:
    """From some of the rows, where they are, to their moments; None if there are none."""

    reader: Reader

    def __call__(self, batch: Batch) -> GroupMoments | None:
        """Return the moments of a batch."""
        if batch.n_rows == 0:
            return None
        return self.reader.moments(self.reader.of_batch(batch))


@dataclass(frozen=True)
class _CollectShares:
    """From some of the rows, where they are, to the shares of groups below thresholds."""

    reader: Reader
    scores: Scores

    def __call__(self, batch: Batch) -> SharesBelow | None:
        if batch.n_rows == 0:
            return None
        return self.reader.shares(self.reader.of_batch(batch), None, self.scores)


def finite_moments(rows: Rows, *, with_scatters: bool) -> GroupMoments:
    """Return the moments of the rows; raise if the rows, or their squares, are not finite."""
    moments = accumulate(rows, with_scatters=with_scatters)
    with quiet_overflow():
        diagonal = to_numpy(moments.scatter.diagonal)
        size = _sizes(moments)
        if moments.everyone is not None:
            far = [to_numpy(a) for a in (moments.everyone.mean, moments.everyone.spread)]
            size = np.maximum(size, np.abs(far).max(axis=0))
    if rows.chosen is not None:  # rows that do not count must be finite too, as in `transform`
        check_finite(rows)
    if moments.weight > LARGEST_WEIGHT:
        raise UsageError(_of_weights(moments.weight, "overflow"))
    if not (np.isfinite(diagonal).all() and size.max() <= LARGEST):
        if isinstance(rows, MappedRows):  # of which X was checked before
            raise UsageError(
                "X is finite, but kernel values of its rows, or their squares times the weights, "
                "overflow or are NaN. Divide X or the weights by a constant first, use a smaller "
                "gamma or degree (a whole one), or check the kernel function."
            )
        check_finite(rows)
        raise UsageError(
            f"X is finite, but its squares, times the weights, overflow, or powers of them would: "
            f"feature {int(size.argmax())} has the size {size.max():.0e} or more. Divide X or the "
            f"weights by a constant first."
        )
    smallest = UNDERFLOW_SINGLE if is_single(machine_epsilon(rows.empty)) else UNDERFLOW
    seen_as_they_are = not isinstance(rows, MappedRows)
    if rows.n_rows > 1 and diagonal.max() < smallest and seen_as_they_are and _varies(rows):
        raise UsageError(
            f"The squares of X, times the weights, underflow: the largest sum of squares of a "
            f"feature is {diagonal.max():.0e}. Multiply X or the weights by a constant first."
        )
    return moments


def check_sizes(moments: GroupMoments) -> None:
    """Raise if features, or weights, are so small that their products have lost digits."""
    # Batches are not asked one by one: a row may hold any small number.
    if 0 < moments.weight < SMALLEST_WEIGHT:
        raise UsageError(_of_weights(moments.weight, "underflow"))
    size = _sizes(moments)
    smallest = SMALLEST_SINGLE if is_single(moments.precision) else SMALLEST
    lost = np.flatnonzero((size > 0) & (size < smallest))
    if len(lost):
        raise UsageError(
            f"Squares of X underflow: feature {lost[0]} has the size {size[lost[0]]:.0e}, and "
            f"group differences in it would not be seen. Multiply it by a constant first, or leave "
            f"it out."
        )


def check_some_rows(moments: GroupMoments) -> None:
    """Raise unless moments are those of two rows or more."""
    if moments.n_rows < 2:
        raise UsageError(
            f"Found {moments.n_rows} row(s) that count (n_samples = {moments.n_rows}), while a "
            f"variance needs at least 2. Pass more rows."
        )


def _sizes(moments: GroupMoments) -> np.ndarray:
    """Return the larger of the mean's magnitude and the standard deviation of each feature."""
    mean, squares = np.abs(to_numpy(moments.mean)), to_numpy(moments.scatter.diagonal)
    weight = moments.weight if moments.weight > 0 else 1.0
    return np.maximum(mean, np.sqrt(np.maximum(squares, 0.0)) / np.sqrt(weight))


def _of_weights(total: float, what: str) -> str:
    return (
        f"The weights add up to {total:.0e}, and products of such numbers {what}. Only their "
        f"ratios matter: {'divide' if what == 'overflow' else 'multiply'} sample_weight by a "
        f"constant first."
    )


def check_finite(rows: Rows) -> None:
    """Raise if a feature of a row, counted or not, is NaN or infinite."""
    if is_foreign(rows.X):
        check_all_finite(rows.X)
        return
    with quiet_overflow():  # scikit-learn adds up infinities of both signs to find them
        check_array(rows.X, accept_sparse=True, input_name="X")


def _varies(rows: Rows) -> bool:
    X = rows.materialized().X  # rows that do not count may vary as they like
    if is_sparse(X):
        return bool(X.nnz)
    return bool(array_namespace(X).any(X[:1, :] != X))
