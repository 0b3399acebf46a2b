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
    given: Any = None,
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
    sensitive_features : array-like, Series, frame or dict of columns
        Sensitive attributes of the n_samples rows; None for rows of files, which name their columns
        themselves.
    y : array-like of shape (n_samples,), default=None
        Labels, for the criteria other than demographic parity; targets, for `with_targets`.
    given : array-like, Series, frame or dict of columns, default=None
        Legitimate factors: people whose factors are equal are compared, as in `FairPCA.fit`.
    sample_weight : array-like of shape (n_samples,), default=None
        Weights >= 0.
    criterion : str, default="demographic_parity"
        Which rows are compared. "demographic_parity": all rows. "equal_opportunity": the rows with
        ``y == pos_label``. "equalized_odds": the rows of each class of y, class by class.
    pos_label : label, default=1
        The positive class of equal opportunity; blanks around texts are ignored.
    with_scatters : bool, default=False
        Whether to keep a scatter per group, as ``match="covariances"`` needs.
    with_targets : bool, default=False
        Whether to keep the products of X and y, which `FairPLS` needs. They are those of all rows,
        whatever the criterion.
    target_kinds : dict, default=None
        Declares columns of y as "categorical" or "numeric", by name ("y" if there is none). By
        default floats with fractions are numeric, and everything else is classes.
    sensitive_kinds : dict, default=None
        Declares attributes as "categorical" or "numeric", by column name. By default floats with
        fractions are numeric, and everything else is categorical, including integer values.
    intersectional : bool, default=False
        Whether to compare the joint groups of all categorical attributes (every combination)
        instead of each attribute's groups.
    missing_sensitive : {"error", "ignore", "group"}, default="error"
        What to do where an attribute is missing. "error" raises an error; "ignore" lets the row
        count for the variance, but not for the constraint; "group" makes missing a level.
    device : str or None, default=None
        Where to compute. None computes where the rows are, and the moments stay there; "cuda" sends
        rows in host memory to a GPU, and the moments come back as NumPy arrays.

    Returns
    -------
    moments : GroupMoments
        Fit from it with ``FairPCA(...).fit_moments(moments)``; one set of moments serves every
        number of components and every trade-off.

    See Also
    --------
    FairPCA.fit_moments : Fits from moments.
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
        takes_numbers_given=not with_scatters,
    )
    how: dict[str, Any] = {"given": given, "complete": False}
    rows = reader.rows(X, y, sensitive_features, sample_weight, reader.validated, **how)
    moments = reader.moments(rows)
    return moments if device is None else moments_at(moments, HOST)
