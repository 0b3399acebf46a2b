"""From arrays, frames and files as users hold them to moments, in one call."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .._moments import GroupMoments, moments_at
from ._checks import CRITERIA, MISSING, check_choice
from ._reader import HOST, Reader


def collect_moments(
    X: Any,
    sensitive_features: Any,
    *,
    y: Any = None,
    sample_weight: Any = None,
    criterion: str = "demographic_parity",
    pos_label: Any = 1,
    with_scatters: bool = False,
    with_targets: bool = False,
    target_kinds: Mapping[Any, str] | None = None,
    sensitive_kinds: Mapping[Any, str] | None = None,
    intersectional: bool = False,
    missing_sensitive: str = "error",
    device: Any = None,
) -> GroupMoments:
    """Return the moments of a batch of rows, ready to be added to those of other batches.

    Parameters
    ----------
    X : array-like, frame or sparse matrix of shape (n_samples, n_features)
        Features. A Dask array or DataFrame, a Spark DataFrame, `fairpca.io.ParquetRows` and
        `fairpca.io.CSVRows` are read where they are, part by part.
    sensitive_features : array-like, Series, frame or dict of columns with n_samples rows
        Sensitive attributes; None for rows of files, which name their columns themselves.
    y, sample_weight : array-like of shape (n_samples,), default=None
        Labels (for the criteria other than demographic parity), and weights >= 0.
    with_scatters : bool, default=False
        Whether to keep a scatter per group, as ``match="covariances"`` needs.
    with_targets : bool, default=False
        Also accumulate the products of X and y, which `FairPLS` needs. All rows then count for
        these, whatever the criterion.
    device : str or None, default=None
        Where to compute: None is where the rows are, and the moments stay there; "cuda" sends
        rows in host memory to a GPU, and the moments come back as NumPy arrays.
    criterion, pos_label, target_kinds, sensitive_kinds, intersectional, missing_sensitive
        As in `fairpca.FairPLS`.

    Returns
    -------
    GroupMoments
        Fit from it with ``FairPCA(...).fit_moments(moments)``; one set of moments serves every
        number of components and every trade-off.

    See Also
    --------
    FairPCA.fit_moments : Fits from what this returns.
    ParquetRows : Rows of files of any size.

    Notes
    -----
    The moments of wide and of sparse rows hold the rows themselves, without copying them.

    Examples
    --------
    >>> import numpy as np
    >>> from fairpca.moments import collect_moments
    >>> X = np.array([[0.0, 1.0], [2.0, 1.0], [4.0, 4.0]])
    >>> collect_moments(X, ["a", "b", "b"]).attributes[0].weight
    array([1., 2.])
    """
    check_choice("criterion", criterion, CRITERIA)
    check_choice("missing_sensitive", missing_sensitive, MISSING)
    reader = Reader(
        criterion=criterion,
        pos_label=pos_label,
        sensitive_kinds=sensitive_kinds,
        intersectional=intersectional,
        missing_sensitive=missing_sensitive,
        with_scatters=with_scatters,
        with_targets=with_targets,
        target_kinds=target_kinds,
        device=device,
        takes_device_arrays=True,
    )
    rows = reader.rows(X, y, sensitive_features, sample_weight, reader.validated, complete=False)
    moments = reader.moments(rows)
    return moments if device is None else moments_at(moments, HOST)
