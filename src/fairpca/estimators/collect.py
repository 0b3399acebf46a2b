"""From arrays and frames as users hold them to moments, in one call."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sklearn.utils import check_array

from ..arrays import is_numpy, is_sparse
from ..moments import GroupMoments
from .inputs import CRITERIA
from .parameters import MISSING, check_choice
from .rows_to_moments import finite_moments
from .sensitive_rows import FLOATS, ReadsSensitiveRows, canonical


class _Reader(ReadsSensitiveRows):
    """Reads rows as an estimator does, without being one."""

    sensitive_columns = None

    def _public_name(self) -> str:
        return "FairPCA"

    def _features(self, X: Any, *, first: bool, **checks: Any) -> tuple[Any, None]:
        if hasattr(X, "__array_namespace__") and not is_numpy(X) and not is_sparse(X):
            return X, None  # another array library: stays where it is
        checks |= {"ensure_min_samples": 1}
        X = check_array(X, accept_sparse="csr", dtype=FLOATS, input_name="X", **checks)
        return canonical(X), None


def collect_moments(
    X: Any,
    sensitive_features: Any,
    *,
    y: Any = None,
    sample_weight: Any = None,
    criterion: str = "demographic_parity",
    pos_label: Any = 1,
    with_scatters: bool = False,
    sensitive_kinds: Mapping[Any, str] | None = None,
    intersectional: bool = False,
    missing_sensitive: str = "error",
) -> GroupMoments:
    """Return the moments of a batch of rows, ready to be added to those of other batches.

    Parameters
    ----------
    X : array-like, frame or sparse matrix of shape (n, d)
        Features.
    sensitive_features : array-like, Series, frame or dict of columns with n rows
        Sensitive attributes.
    y, sample_weight : array-like of shape (n,), optional
        Labels (for the criteria other than demographic parity), and weights >= 0.
    with_scatters : bool
        Whether to keep a scatter per group, as ``match="covariances"`` needs.
    criterion, pos_label, sensitive_kinds, intersectional, missing_sensitive
        As in `fairpca.FairPCA`.

    Returns
    -------
    GroupMoments
        Fit from it with ``FairPCA(...).fit_moments(moments)``; one set of moments serves every
        number of components and every trade-off.

    Notes
    -----
    The moments of wide and of sparse rows hold the rows themselves, without copying them.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[0.0, 1.0], [2.0, 1.0], [4.0, 4.0]])
    >>> collect_moments(X, ["a", "b", "b"]).attributes[0].weight
    array([1., 2.])
    """
    check_choice("criterion", criterion, CRITERIA)
    check_choice("missing_sensitive", missing_sensitive, MISSING)
    reader = _Reader()
    reader.criterion, reader.pos_label = criterion, pos_label
    reader.sensitive_kinds, reader.intersectional = sensitive_kinds, intersectional
    reader.missing_sensitive = missing_sensitive
    rows = reader._rows(X, y, sensitive_features, sample_weight, first=True, partial=True)
    return finite_moments(rows, with_scatters=with_scatters)
