"""From the arguments of `fit` to rows, and from rows to moments, wherever the rows are."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

import narwhals as nw
import numpy as np
from sklearn.utils import check_array

from .._attributes import (
    Attribute,
    Columns,
    Factors,
    advising,
    as_columns,
    check_frames,
    check_weights,
    drop_unused_labels,
    factor_columns,
    indexable,
    kinds_of_factors,
    numbers_asked,
    read_attributes,
    read_factors,
    split_columns,
    warn_of_spellings,
    warn_of_whole_numbers,
)
from .._kernels import Features
from .._moments import (
    Distributions,
    GroupMoments,
    LevelMoments,
    Scores,
    SharesBelow,
    distributions_of,
    moments_at,
    shares_below,
)
from .._numerics import (
    Array,
    has_history,
    is_foreign,
    is_sparse,
    to_numpy,
    unmasked,
    without_history,
)
from .._rows import (
    Batch,
    DeviceRows,
    LazyRows,
    MappedRows,
    Rows,
    as_lazy_rows,
    checked_rows,
    flat,
    streamed,
)
from ..errors import UsageError
from ..solvers import warn_of_incomplete_strata
from ._checks import (
    FLOATS,
    apply_criterion,
    attributes_of,
    check_lengths,
    check_sensitive_given,
    check_target,
    no_positive_row,
    read_targets,
)
from ._far_values import far_values, warn_of_far_values
from ._finite_moments import check_finite, check_sizes, finite_moments

HOST = np.empty(0)
"""An example of arrays in host memory."""

NO_ROWS = "Found 0 rows (n_samples = 0) in {}, while a variance needs at least 2. Pass rows."

Validated = Callable[..., tuple[Any, Columns | None]]
"""From X, and keywords of `check_array`, to its features and the sensitive columns it holds."""


@dataclass(frozen=True)
class ColumnsOfX:
    """Number and names of the columns of X; no names of an array."""

    n: int
    names: tuple[Any, ...] | None


def columns_of(X: Any) -> ColumnsOfX:
    """Return the number of columns of X, and the names that a frame gives them."""
    frame = nw.from_native(X, eager_only=True, pass_through=True)
    names = tuple(frame.columns) if isinstance(frame, nw.DataFrame) else None
    return ColumnsOfX(int(X.shape[1]), names)


@dataclass(frozen=True)
class Reader:
    """How the arguments of `fit` are read: which rows count, as what, and for which moments.

    A value: it holds no rows, knows no estimator and changes nothing, so it is what travels to
    files, Dask and Spark. Most fields are parameters of `FairPCA`.
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
    with_attributes: bool = True  # whether rows have groups at all
    with_targets: bool = False  # whether moments know y, which then counts whatever the criterion
    target_kinds: Mapping[Any, str] | None = None
    attribute_of_y: Callable[[Any, int], Attribute] | None = None  # y as one more attribute
    features: Features | None = None  # what rows are seen through before moments are taken
    takes_sparse: bool = True
    takes_numbers_given: bool = True  # or levels alone, as legitimate factors
    takes_device_arrays: bool = False
    parameters: frozenset[str] | None = None  # that errors may advise; None: any
    names: Sequence[Any] | None = None  # of the features, where they have any

    @classmethod
    def of(cls, estimator: Any, **more: Any) -> Self:
        """Return the reader that the parameters of an estimator describe."""
        names = vars(estimator).get("feature_names_in_")
        if names is not None:
            hidden = as_columns(estimator.sensitive_columns)
            more["names"] = [name for name in names if name not in hidden]
        more["parameters"] = frozenset(type(estimator)._get_param_names())
        more["takes_numbers_given"] = getattr(estimator, "match", "means") == "means"
        return cls(
            type(estimator).__name__,
            estimator.criterion,
            estimator.pos_label,
            estimator.sensitive_columns,
            estimator.sensitive_kinds,
            estimator.intersectional,
            estimator.missing_sensitive,
            estimator.device,
            **more,
        )

    @property
    def sensitive(self) -> list[Any]:
        """The columns of X that are attributes."""
        return as_columns(self.sensitive_columns)

    def rows(
        self,
        X: Any,
        y: Any,
        sensitive_features: Any,
        sample_weight: Any,
        validated: Validated,
        *,
        given: Any = None,
        complete: bool = True,
        advise: bool = True,
    ) -> Rows | LazyRows:
        """Return the rows that count of the arguments of `fit`, or where they are.

        With `complete`, no more rows follow, so some of these must count. Who reads a batch does
        not `advise` on attributes that look like others: it does not know enough.
        """
        came = (without_history(X), y, sensitive_features, sample_weight, given)
        X, y, sensitive_features, sample_weight, given = came = flat(*came)
        if not all(value is None or type(value) is np.ndarray for value in came):
            source = as_lazy_rows(*came)
            if source is not None:
                source = source.for_estimator(self.sensitive)
                self._check_head(source.head)
                validated(source.head.X, ensure_all_finite=False, ensure_min_samples=0)
                return source
            if isinstance(sensitive_features, str):  # before X is read, which may fail, too
                check_sensitive_given(sensitive_features, self.sensitive_columns, self.name)
            others = {"y": y, "sample_weight": sample_weight, "given": given}
            check_frames(X=X, sensitive_features=sensitive_features, **others)
        features, columns = validated(
            X, ensure_all_finite=False, ensure_min_samples=2 if complete else 1
        )
        batch = Batch(features, y, sensitive_features, sample_weight, given=given)
        return self._rows_that_count(batch, columns, complete=complete, advise=advise)

    def of_batch(self, batch: Batch, columns: ColumnsOfX) -> Rows:
        """Return the rows of a batch that count, if its columns are those of the other batches."""
        found = columns_of(batch.X)
        if found != columns:
            raise UsageError(
                f"A batch has {found.n} columns {list(found.names or ())[:10]}, while the others "
                f"have {columns.n} columns {list(columns.names or ())[:10]}; the feature names "
                f"should match. Pass the same columns in the same order."
            )
        check_frames(
            X=batch.X,
            sensitive_features=batch.sensitive_features,
            y=batch.y,
            sample_weight=batch.sample_weight,
            given=batch.given,
        )
        features, sensitive = self.validated(batch.X, ensure_all_finite=False)
        counted = replace(batch, X=features)
        return self._rows_that_count(counted, sensitive, complete=False, advise=False)

    def _rows_that_count(
        self, given: Batch, columns: Columns | None, *, complete: bool, advise: bool
    ) -> Rows:
        with advising(self.parameters):  # also in another thread or process
            return self._counted(given, columns, complete=complete, advise=advise)

    def _counted(
        self, given: Batch, columns: Columns | None, *, complete: bool, advise: bool
    ) -> Rows:
        features, y = given.X, given.y
        n = features.shape[0]
        kind = Rows if type(features) is np.ndarray or not is_foreign(features) else DeviceRows
        of_factors, kinds = self._factor_kinds(given.given)
        reader = self if kinds is self.sensitive_kinds else replace(self, sensitive_kinds=kinds)
        attributes = reader._attributes(given, columns, advise=advise)
        check_lengths(n, attributes)
        others = () if self.attribute_of_y is None else (self.attribute_of_y(y, n),)
        factors = self._factors(given.given, n, of_factors)
        plain = self.criterion == "demographic_parity" and not self.with_targets
        if given.sample_weight is None and plain and factors is None:
            return kind(features, None, (*attributes, *others))
        weight = check_weights(given.sample_weight, n, some=complete)
        kept = np.ones(n, bool) if weight is None else weight > 0
        targets, labels, everyone = self._targets(y, kept), None, None
        if self.criterion != "demographic_parity":
            labels = check_target(y, n, self.criterion)
        if self.criterion == "equal_opportunity" and not self.with_targets:
            of_all, positions = _chosen(kept, weight)
            everyone = kind(features, of_all, chosen=positions)
        attributes, counted = apply_criterion(
            self.criterion, attributes, labels, self.pos_label, kept, factors
        )
        attributes = (*attributes, *attributes_of(kept, others))
        if labels is not None and complete and not counted.any():
            found = list(dict.fromkeys(labels.tolist()))[:10]
            raise no_positive_row(f"y == {self.pos_label!r}; the labels are {found}")
        if self.with_targets:  # all rows tell what predicts y, some which groups are compared
            attributes = tuple(a.spread_over(counted[kept]) for a in attributes)
        else:
            kept = counted
        weight, chosen = _chosen(kept, weight)
        return kind(features, weight, attributes, chosen, everyone, targets)

    def _attributes(
        self, given: Batch, columns: Columns | None, *, advise: bool
    ) -> tuple[Attribute, ...]:
        """Return the attributes that were given, or that are columns of X."""
        if not self.with_attributes:
            return ()
        check_sensitive_given(given.sensitive_features, self.sensitive_columns, self.name, given.y)
        return read_attributes(
            given.sensitive_features if columns is None else columns,
            kinds=self.sensitive_kinds,
            intersectional=self.intersectional,
            missing=self.missing_sensitive,
            advise=advise,
        )

    def _factor_kinds(self, given: Any) -> tuple[dict[str, str], Mapping[Any, str] | None]:
        """Return what is declared of legitimate factors, and what of the attributes."""
        if given is None or self.sensitive_kinds is None:
            return {}, self.sensitive_kinds
        return kinds_of_factors(self.sensitive_kinds, list(factor_columns(given)))

    def _factors(self, given: Any, n: int, kinds: Mapping[str, str]) -> Factors | None:
        """Return the legitimate factors, if any were given."""
        if given is None:
            return None
        factors = read_factors(given, n, kinds)
        if factors.numbers is not None and not self.takes_numbers_given:
            names = ", ".join(repr(name) for name in factors.numbers.names)
            raise UsageError(
                f"The factors {names} are numbers, and only means can be compared given numbers. "
                f"Use match='means', or cut them into bands, so that there are groups to compare."
            )
        return factors

    def _targets(self, y: Any, kept: np.ndarray) -> tuple[Attribute, ...]:
        """Return what y says of the rows that are kept, where somebody wants to know."""
        targets = read_targets(y, len(kept), self.target_kinds) if self.with_targets else ()
        if kept.all():
            return targets
        return tuple(drop_unused_labels(a.take(np.flatnonzero(kept))) for a in targets)

    def _check_head(self, head: Batch) -> None:
        """Check that rows which are still to come have what is asked of them."""
        if head.sensitive_features is None and self.sensitive_columns is None:
            self._attributes(head, None, advise=False)
        if head.y is None and self.with_targets:
            read_targets(None, 0, None)
        if head.y is None and self.criterion != "demographic_parity":
            check_target(None, 0, self.criterion)

    def validated(self, X: Any, **checks: Any) -> tuple[Any, Columns | None]:
        """Return the features as an array, and the sensitive columns of X if it holds them."""
        X = self.in_reach(X)
        if self.sensitive_columns is None:
            return self.array(X, **checks), None
        X = checked_rows(X, ensure_all_finite=False) if is_foreign(X) else indexable(X)
        features, columns = split_columns(X, self.sensitive)
        return self.array(features, **checks), columns

    def in_reach(self, X: Any) -> Any:
        """Return X where this method computes: of many, in host memory."""
        X = unmasked(X)
        if is_foreign(X) and not self.takes_device_arrays:
            if has_history(X):
                raise UsageError(
                    f"X requires a gradient, and this {self.name} computes in NumPy, where there "
                    f"is none. Pass X.detach(), or call it inside torch.no_grad(); linear methods "
                    f"are differentiated."
                )
            X = to_numpy(X)
        check_frames(X=X)
        return X

    def array(self, X: Any, **checks: Any) -> Any:
        """Return rows as floats, where they are; sparse ones without an entry twice."""
        if is_foreign(X):
            return checked_rows(X, **checks)
        sparse = "csr" if self.takes_sparse else False
        checks = {"accept_sparse": sparse, "dtype": FLOATS, **checks}
        with numbers_asked(X):
            return canonical(check_array(X, input_name="X", estimator=self.name, **checks))

    def moments(
        self, rows: Rows | LazyRows, *, more_follow: bool = False, provisional: bool = False
    ) -> GroupMoments:
        """Return the moments of rows; where `more_follow`, they outlive the caller's arrays.

        Those of rows in memory may be `provisional`: see `accumulate`.
        """
        if isinstance(rows, LazyRows):
            moments: GroupMoments | None = rows.fold(_CollectMoments(self, columns_of(rows.head.X)))
            if moments is None:
                raise UsageError(NO_ROWS.format(type(rows).__name__))
            if not more_follow:
                self.warn_many_levels(moments)
            return moments
        seen = rows
        if self.features is not None or self.device is not None:
            seen = self._seen(rows)
        seen = seen.safe_to_keep() if more_follow else seen
        moments = finite_moments(seen, with_scatters=self.with_scatters, provisional=provisional)
        return self.with_far_values(moments, rows, in_batches=more_follow)

    def with_far_values(
        self, moments: GroupMoments, rows: Rows | LazyRows, *, in_batches: bool = False
    ) -> GroupMoments:
        """Return moments that know of values far from all others; rows `in_batches` have no place.

        The rows are those before they are seen through a kernel.
        """
        if isinstance(rows, LazyRows):
            return moments
        far = far_values(rows, moments if self.features is None else None)
        if in_batches:
            far = tuple(replace(each, row=None) for each in far)
        return replace(moments, far_values=far) if far else moments

    def shares(self, rows: Rows | LazyRows, scores: Scores) -> SharesBelow:
        """Return how many rows of each group lie below thresholds on scores; one more pass."""
        if isinstance(rows, LazyRows):
            return rows.fold(_CollectShares(self, columns_of(rows.head.X), scores))
        return shares_below(self._seen(rows), scores)

    def distributions(self, rows: Rows | LazyRows, W: Array, centre: Array) -> Distributions:
        """Return how scores are distributed in the groups; one more pass."""
        if isinstance(rows, LazyRows):
            collect = _CollectDistributions(self, columns_of(rows.head.X), W, centre)
            found: Distributions = rows.fold(collect)
            return found
        return distributions_of(self._seen(rows), W, centre)

    def cached(self, rows: Rows | LazyRows) -> Rows | LazyRows:
        """Return rows of which nothing is computed twice, where memory allows."""
        if isinstance(rows, LazyRows):
            return rows
        seen = self._seen(rows)
        return seen.computed_once() if isinstance(seen, MappedRows) else rows

    def _seen(self, rows: Rows) -> Rows:
        """Return the rows as what their moments are taken of."""
        if self.features is None:
            return rows if self.device is None else streamed(rows, self.device)
        if isinstance(rows, MappedRows):
            return rows
        check_finite(rows)
        return rows.as_rows_of(MappedRows, features=self.features)

    def warn_of_far_values(self, rows: Rows) -> None:
        """Warn of values far from all others, of rows whose moments nobody takes."""
        warn_of_far_values(far_values(rows), self.names)

    def check(self, moments: GroupMoments) -> None:
        """Raise unless moments are enough for a solution; warn of what it leaves out or rests on.

        That is classes of y that lack groups, and values far from all others.
        """
        if moments.n_rows == 0 and self.criterion == "equal_opportunity":
            raise no_positive_row(f"y == {self.pos_label!r}")
        if self.features is None:  # which may be as small as they like
            check_sizes(moments)
        if moments.n_rows < 2:
            raise UsageError(
                f"Found {moments.n_rows} row(s) that count (n_samples = {moments.n_rows}), while a "
                f"variance needs at least 2. Pass more rows."
            )
        warn_of_far_values(moments.far_values, self.names)
        warn_of_incomplete_strata(moments.attributes)

    def warn_many_levels(self, moments: GroupMoments) -> None:
        """Warn of levels, over all batches, that may be a quantity, or spellings of one."""
        levels = {a.name: a.labels for a in moments.attributes if isinstance(a, LevelMoments)}
        for name in levels.keys() - set(map(str, self.sensitive_kinds or ())):
            warn_of_whole_numbers(name, levels[name])
        for name, labels in levels.items():
            warn_of_spellings(name, labels)


def _chosen(kept: np.ndarray, weight: Any) -> tuple[np.ndarray | None, np.ndarray | None]:
    """Return the weights and the positions of the rows that are kept; None for all of them."""
    if kept.all():
        return weight, None
    return None if weight is None else weight[kept], np.flatnonzero(kept)


def canonical(X: Any) -> Any:
    """Return sparse rows with sorted indices and no entry twice; others as they are."""
    # Squares of duplicate entries are not the square of their sum; indices sorted in place would be
    # the caller's.
    if not is_sparse(X) or X.has_canonical_format:
        return X
    X = X.copy()
    X.sum_duplicates()
    return X


@dataclass(frozen=True)
class _CollectMoments:
    """From some of the rows, where they are, to their moments; None if there are none."""

    reader: Reader
    columns: ColumnsOfX

    def __call__(self, batch: Batch) -> GroupMoments | None:
        """Return the moments of a batch; those of a device come back, where others may follow."""
        if batch.n_rows == 0:
            return None
        moments = self.reader.moments(self.reader.of_batch(batch, self.columns))
        far = tuple(replace(each, row=None) for each in moments.far_values)
        moments = replace(moments, far_values=far)
        return moments if self.reader.device is None else moments_at(moments, HOST)


@dataclass(frozen=True)
class _CollectShares:
    """From some of the rows, where they are, to the shares of groups below thresholds."""

    reader: Reader
    columns: ColumnsOfX
    scores: Scores

    def __call__(self, batch: Batch) -> SharesBelow | None:
        if batch.n_rows == 0:
            return None
        return self.reader.shares(self.reader.of_batch(batch, self.columns), self.scores)


@dataclass(frozen=True)
class _CollectDistributions:
    """From some of the rows, where they are, to the distributions of scores in the groups."""

    reader: Reader
    columns: ColumnsOfX
    W: Array
    centre: Array

    def __call__(self, batch: Batch) -> Distributions | None:
        if batch.n_rows == 0:
            return None
        rows = self.reader.of_batch(batch, self.columns)
        return self.reader.distributions(rows, self.W, self.centre)
