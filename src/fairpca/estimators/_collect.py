"""From arrays, frames and files as users hold them to moments, in one call."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from .._moments import GroupMoments
from ..errors import MissingTargetError, UsageError
from ._checks import CRITERIA, MISSING, check_choice, no_positive_row
from ._reader import Reader

if TYPE_CHECKING:
    from .._rows import FileRows
    from ..tables import Paths

_QUESTION = (
    *("with_scatters", "with_targets", "target_kinds"),
    *("sensitive_kinds", "intersectional", "missing_sensitive", "device"),
)
"""Options that are handed on to `collect_moments`; the others are for reading files."""


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
    X : array-like, frame or sparse matrix of shape (n, d)
        Features. A Dask array or DataFrame, a Spark DataFrame, or `fairpca.ParquetRows` are
        read where they are, part by part.
    sensitive_features : array-like, Series, frame or dict of columns with n rows
        Sensitive attributes.
    y, sample_weight : array-like of shape (n,), optional
        Labels (for the criteria other than demographic parity), and weights >= 0.
    with_scatters : bool
        Whether to keep a scatter per group, as ``match="covariances"`` needs.
    with_targets : bool
        Whether to keep what `FairPLS` needs of y: its products with the features. All rows then
        count for these, whatever the criterion.
    device : str or None
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
    return reader.moments(reader.rows(X, y, sensitive_features, sample_weight))


def moments_from_parquet(
    paths: Paths,
    sensitive: str | Iterable[str],
    *,
    features: Iterable[str] | None = None,
    target: str | None = None,
    weight: str | None = None,
    criterion: str = "demographic_parity",
    pos_label: Any = 1,
    with_scatters: bool = False,
    with_targets: bool = False,
    target_kinds: Mapping[Any, str] | None = None,
    sensitive_kinds: Mapping[Any, str] | None = None,
    intersectional: bool = False,
    missing_sensitive: str = "error",
    device: Any = None,
    **reading: Any,
) -> GroupMoments:
    """Return the moments of Parquet files of any size, in bounded memory.

    Parameters
    ----------
    paths, sensitive, features, target, weight
        Which files, and which columns: see `fairpca.ParquetRows`.
    criterion, pos_label, with_scatters, with_targets, target_kinds, device
        As in `fairpca.collect_moments`.
    sensitive_kinds, intersectional, missing_sensitive
        As in `fairpca.collect_moments`.
    **reading
        ``ignore, n_jobs, checkpoint, checkpoint_seconds, progress, batch_rows, dtype`` as in
        `fairpca.ParquetRows`.

    Returns
    -------
    GroupMoments
        Fit from it with ``FairPCA(...).fit_moments(moments)``; add it to the moments of others.

    Raises
    ------
    MissingTargetError
        If the criterion needs labels, and there are none, or no positive one in all files.
    ValueError
        If no row of all files counts. Where some files may be without, use
        `fairpca.collect_moments`.

    See Also
    --------
    ParquetRows : The same files, for `fit`.

    Examples
    --------
    >>> import tempfile
    >>> import pandas as pd
    >>> from fairpca import moments_from_parquet
    >>> file = f"{tempfile.mkdtemp()}/people.parquet"
    >>> people = pd.DataFrame({"age": [30, 40, 50], "size": [1.7, 1.8, 1.6], "sex": list("fmf")})
    >>> people.to_parquet(file)
    >>> moments_from_parquet(file, "sex").attributes[0].weight
    array([2., 1.])
    """
    from .._rows import ParquetRows  # it needs the readers of files

    return _moments_of(
        ParquetRows,
        paths,
        sensitive,
        features=features,
        target=target,
        weight=weight,
        criterion=criterion,
        pos_label=pos_label,
        with_scatters=with_scatters,
        with_targets=with_targets,
        target_kinds=target_kinds,
        sensitive_kinds=sensitive_kinds,
        intersectional=intersectional,
        missing_sensitive=missing_sensitive,
        device=device,
        **reading,
    )


def moments_from_csv(paths: Paths, sensitive: str | Iterable[str], **options: Any) -> GroupMoments:
    r"""Return the moments of text files of any size, in bounded memory.

    Parameters
    ----------
    paths, sensitive
        Which files, and which columns: see `fairpca.CSVRows`.
    **options
        As in `fairpca.moments_from_parquet`; and ``columns, header, skip_lines, encoding`` as in
        `fairpca.CSVRows`.

    Returns
    -------
    GroupMoments
        Fit from it with ``FairPCA(...).fit_moments(moments)``; add it to the moments of others.

    Raises
    ------
    MissingTargetError
        If the criterion needs labels, and there are none, or no positive one in all files.
    ValueError
        If no row of all files counts. Where some files may be without, use
        `fairpca.collect_moments`.

    See Also
    --------
    CSVRows : The same files, for `fit`.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from fairpca import moments_from_csv
    >>> file = Path(tempfile.mkdtemp()) / "people.csv"
    >>> _ = file.write_text("age,size,sex\n30,1.7,f\n40,1.8,m\n50,1.6,f\n")
    >>> moments_from_csv(file, "sex").attributes[0].weight
    array([2., 1.])
    """
    from .._rows import CSVRows  # it needs the readers of files

    return _moments_of(CSVRows, paths, sensitive, **options)


def _moments_of(
    kind: type[FileRows],
    paths: Paths,
    sensitive: str | Iterable[str],
    /,
    *,
    target: str | None = None,
    weight: str | None = None,
    criterion: str = "demographic_parity",
    pos_label: Any = 1,
    **options: Any,
) -> GroupMoments:
    if criterion != "demographic_parity" and target is None:
        raise MissingTargetError(
            f"criterion={criterion!r} compares rows with the same label, but target names no "
            f"column. Name it, or use criterion='demographic_parity'."
        )
    question = {name: options.pop(name) for name in _QUESTION if name in options}
    columns = {"sensitive": sensitive, "target": target, "weight": weight}
    rows = kind(paths, **columns, **options)  # type: ignore[arg-type]
    moments = collect_moments(rows, None, criterion=criterion, pos_label=pos_label, **question)
    if moments.n_rows:
        return moments
    weighted = "" if weight is None else f" and a positive weight '{weight}'"
    if criterion == "equal_opportunity":
        raise no_positive_row(f"{target} == {pos_label!r}{weighted}")
    if weight is not None:
        raise UsageError(
            f"All entries of '{weight}' are zero, so no row counts. Give some rows a positive "
            f"weight."
        )
    raise UsageError("No row of the files counts. Pass rows whose sensitive attributes are known.")
