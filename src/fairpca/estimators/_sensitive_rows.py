"""From the arguments of `fit` to rows with attributes; shared by all estimators."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import narwhals as nw
import numpy as np
from sklearn.utils import check_array
from sklearn.utils.validation import validate_data

from .._attributes import Columns, as_columns, indexable, read_attributes, split_columns
from .._numerics import is_foreign, is_sparse
from .._rows import DeviceRows, Rows
from ..errors import UsageError
from ._device_arrays import checked_rows, in_numpy, split_positions
from ._inputs import (
    apply_criterion,
    check_lengths,
    check_same_order,
    check_sensitive_given,
    check_some_positive,
    check_target,
    check_weights,
)

FLOATS = (np.float64, np.float32)


def canonical(X: Any) -> Any:
    """Return sparse rows with sorted indices and no entry twice; others as they are.

    Squares of duplicate entries are not the square of their sum, and libraries that sort indices
    in place would do so in the caller's arrays.
    """
    if not is_sparse(X) or X.has_canonical_format:
        return X
    X = X.copy()
    X.sum_duplicates()
    return X


class ReadsSensitiveRows:
    """Mixin of estimators that learn from rows and their sensitive attributes.

    The estimator has the parameters `sensitive_columns`, `sensitive_kinds`, `intersectional`,
    `missing_sensitive`, `criterion` and `pos_label`.
    """

    sensitive_columns: Sequence[Any] | None
    sensitive_kinds: Mapping[Any, str] | None
    intersectional: bool
    missing_sensitive: str
    criterion: str
    pos_label: Any
    n_features_in_: int
    _works_on_devices: ClassVar[bool] = False
    _sees_a_part = False

    def _rows(
        self,
        X: Any,
        y: Any,
        sensitive_features: Any,
        sample_weight: Any,
        *,
        first: bool,
        partial: bool,
    ) -> Rows:
        """Check the arguments of `fit` and return the rows that count."""
        check_sensitive_given(sensitive_features, self.sensitive_columns, self._public_name())
        check_same_order(X, sensitive_features)
        features, columns = self._features(
            X, first=first, ensure_all_finite=False, ensure_min_samples=1 if partial else 2
        )
        n = features.shape[0]
        attributes = read_attributes(
            sensitive_features if columns is None else columns,
            kinds=self.sensitive_kinds,
            intersectional=self.intersectional,
            missing=self.missing_sensitive,
            advise=not self._sees_a_part,
        )
        check_lengths(n, attributes)
        weight = check_weights(sample_weight, n, some=not partial)
        kept = np.ones(n, bool) if weight is None else weight > 0
        labels = None
        if self.criterion != "demographic_parity":
            labels = check_target(y, n, self.criterion)
        attributes, kept = apply_criterion(self.criterion, attributes, labels, self.pos_label, kept)
        if labels is not None and not partial:
            check_some_positive(labels, self.pos_label, int(kept.sum()))
        chosen = None if kept.all() else np.flatnonzero(kept)
        if weight is not None and chosen is not None:
            weight = weight[chosen]
        kind = DeviceRows if is_foreign(features) else Rows
        return kind(features, weight, attributes, chosen)

    def _public_name(self) -> str:
        return type(self).__name__

    def _features(self, X: Any, *, first: bool, **checks: Any) -> tuple[Any, Columns | None]:
        """Return the features as an array, and the sensitive columns of X if it holds them."""
        if is_foreign(X) and self._works_on_devices:
            return self._features_there(X, first=first, **checks)
        X = in_numpy(X, self._public_name())
        checks = {"accept_sparse": "csr", "dtype": FLOATS, **checks}
        if self.sensitive_columns is None:
            return canonical(validate_data(self, X, reset=first, **checks)), None
        X = indexable(X)
        if not first and self._lacks_sensitive_columns(X):
            return canonical(check_array(X, **checks)), None
        validate_data(self, X, reset=first, skip_check_array=True)
        features, columns = split_columns(X, as_columns(self.sensitive_columns))
        return canonical(check_array(features, estimator=self, input_name="X", **checks)), columns

    def _features_there(self, X: Any, *, first: bool, **checks: Any) -> tuple[Any, Columns | None]:
        """Return the features of an array of another library, without moving them."""
        if self.sensitive_columns is None:
            X = checked_rows(X, **checks)
            validate_data(self, X, reset=first, skip_check_array=True)
            return X, None
        checks_later, checks = checks, {**checks, "ensure_all_finite": False}
        X = checked_rows(X, **checks)
        if not first and self._lacks_sensitive_columns(X):
            return checked_rows(X, **checks_later), None
        validate_data(self, X, reset=first, skip_check_array=True)
        features, columns = split_positions(X, as_columns(self.sensitive_columns))
        return checked_rows(features, **checks_later), columns

    def _lacks_sensitive_columns(self, X: Any) -> bool:
        """Tell whether X has just the features; complain if it has neither form."""
        sensitive = as_columns(self.sensitive_columns)
        if X.shape[1] != self.n_features_in_ - len(sensitive):
            return False
        frame = nw.from_native(X, eager_only=True, pass_through=True)
        if isinstance(frame, nw.DataFrame) and hasattr(self, "feature_names_in_"):
            expected = [c for c in self.feature_names_in_ if c not in sensitive]
            if list(frame.columns) != expected:
                raise UsageError(
                    f"X has the columns {list(frame.columns)[:10]}, but the features at fit were "
                    f"{expected[:10]}. Pass the same columns in the same order, with or without "
                    f"the sensitive ones."
                )
        return True
