"""From arrays and frames as users hold them to moments, in one call."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sklearn.utils import check_array

from .._numerics import is_foreign
from .._rows import RowsElsewhere, rows_elsewhere, streamed
from ..moments import GroupMoments, moments_at
from ._device_arrays import checked_rows
from ._inputs import CRITERIA
from ._on_devices import HOST
from ._parameters import MISSING, check_choice
from ._parts import moments_elsewhere
from ._rows_to_moments import finite_moments
from ._sensitive_rows import FLOATS, ReadsSensitiveRows, canonical


class _Reader(ReadsSensitiveRows):
    """Reads rows as an estimator does, without being one."""

    sensitive_columns = None
    with_scatters: bool
    device: Any

    def _moments(self, *arguments: Any, first: bool, partial: bool) -> GroupMoments:
        source = rows_elsewhere(*arguments)
        if source is not None:
            return moments_elsewhere(self, source, first=first)
        rows = streamed(self._rows(*arguments, first=first, partial=partial), self.device)
        moments = finite_moments(rows, with_scatters=self.with_scatters)
        return moments if self.device is None else moments_at(moments, HOST)

    def _look_ahead(self, source: RowsElsewhere) -> None:
        """Nothing has to be known before."""

    def _public_name(self) -> str:
        return "FairPCA"

    def _features(self, X: Any, *, first: bool, **checks: Any) -> tuple[Any, None]:
        checks.setdefault("ensure_min_samples", 1)
        if is_foreign(X):
            return checked_rows(X, **checks), None
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
    device: Any = None,
) -> GroupMoments:
    """Return the moments of a batch of rows, ready to be added to those of other batches.

    Parameters
    ----------
    X : array-like, frame or sparse matrix of shape (n, d)
        Features. A Dask array or DataFrame, a Spark DataFrame, or `fairpca.ParquetRows` are
        read where they are, part by part.
    sensitive_features : array-like, Series, frame or dict of columns with n rows
        Sensitive attributes.
    y, sample_weight : array-like of shape (n,), optional
        Labels (for the criteria other than demographic parity), and weights >= 0.
    with_scatters : bool
        Whether to keep a scatter per group, as ``match="covariances"`` needs.
    device : str or None
        Where to compute: None is where the rows are, and the moments stay there; "cuda" sends
        rows in host memory to a GPU, and the moments come back as NumPy arrays.
    criterion, pos_label, sensitive_kinds, intersectional, missing_sensitive
        As in `fairpca.FairPCA`.

    Returns
    -------
    GroupMoments
        Fit from it with ``FairPCA(...).fit_moments(moments)``; one set of moments serves every
        number of components and every trade-off.

    See Also
    --------
    FairPCA.fit_moments : Fits from what this returns.
    moments_from_parquet : The same from files of any size.

    Notes
    -----
    The moments of wide and of sparse rows hold the rows themselves, without copying them.

    Examples
    --------
    >>> import numpy as np
    >>> from fairpca import collect_moments
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
    reader.with_scatters, reader.device = with_scatters, device
    return reader._moments(X, y, sensitive_features, sample_weight, first=True, partial=True)
