"""From a table on disk to a fair model on disk."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..errors import AuditError
from ..tables import (
    Table,
    TableEncoder,
    are_many,
    as_table,
    binary_target,
    estimator_columns,
    is_large,
    is_on_disk,
    measure_attribute,
    read_table,
    roles_in,
    what_was_merged,
)
from ._fair_model import FairModel
from ._fit_options import FitOptions
from ._large_tables import Progress, check_criterion, fit_large_table, model_info


def fit_table(
    table: Any,
    sensitive: str | Sequence[str] | None = None,
    target: str | None = None,
    *,
    method: str = "fair_pca",
    n_components: int | None = None,
    match: str = "means",
    tradeoff: float = 0.0,
    criterion: str = "demographic_parity",
    positive: Any = None,
    ignore: Sequence[str] = (),
    intersectional: bool = False,
    seed: int = 0,
    data: str | os.PathLike[str] | None = None,
    columns: Sequence[str] | None = None,
    header: bool | None = None,
    skip_lines: int = 0,
    checkpoint: str | os.PathLike[str] | None = None,
    n_jobs: int | None = None,
    progress: Progress | None = None,
    **options: Any,
) -> FairModel:
    """Fit a fair representation to a table with messy columns, ready to be saved.

    Parameters
    ----------
    table : DataFrame, Table, path, or sequence of paths
        A table in memory, a file, or the name of a built-in data set, as in `fairpca.audit`; or
        several files of the same columns, as a pattern (``"loans/*.parquet"``), a folder or a
        list. These, and files of more than a million rows or 500 MB, are read in batches.
    sensitive, target, positive, ignore, data
        As in `fairpca.audit`. The target is no feature; its values matter for criteria other than
        demographic parity only.
    method : {"fair_pca", "fair_kernel_pca", "leace", "pca"}
        What to fit to the encoded columns.
    n_components : int, optional
        Number of components, by default 15 or fewer; LEACE keeps all columns.
    match : {"means", "covariances"}
        For fair PCA.
    tradeoff : float in [0, 1]
        The paper's lambda; above 0 the guarantee is gone.
    criterion : str
        As in `fairpca.FairPCA`.
    intersectional : bool
        Whether to compare joint groups.
    seed : int
    columns, header, skip_lines
        How to read text files, as in `fairpca.tables.read_table`.
    checkpoint : path, optional
        Where to keep what was summed up of the batches. After an interruption the same call
        continues from there, with the same result; the file is removed at the end.
    n_jobs : int, optional
        Threads that read and encode batches; by default as many as BLAS may use. The result is
        the same to the last bit.
    progress : callable, optional
        Called with the rows done, the rows there are (None where unknown) and what is being done.
    **options
        More parameters of the estimator, such as ``covariance_tol``, which is 0.05 here: groups
        of real tables seldom have equal covariances in many dimensions.

    Returns
    -------
    FairModel
        With `transform` for frames of the same columns (sensitive ones are not needed), `save` and
        the numbers of the fit. **Equal means do not hide what a non-linear model can see**: run
        `fairpca.audit` on the same table.

    See Also
    --------
    FairModel : What it returns.
    save : Writes it to a file.
    audit : What to fit, and what it would cost.

    Notes
    -----
    Tables that are read in batches are read twice, in bounded memory. First the groups are counted
    over all rows, and what the columns are is learned from up to 200,000 rows drawn at random; then
    all rows are encoded and summed up. Up to 200,000 rows, the result is that of a table in memory.
    Where there are more, a level of a feature that is not among the drawn rows is unknown to the
    model, and ``info["unknown_levels"]`` counts its rows; a text in a column of numbers is an
    error.

    Examples
    --------
    >>> import numpy as np
    >>> import pandas as pd
    >>> from fairpca import fit_table
    >>> rng = np.random.default_rng(0)
    >>> people = pd.DataFrame({"sex": rng.choice(["f", "m"], size=200)})
    >>> people["height"] = rng.normal(170, 7, size=200) + 13 * (people["sex"] == "m")
    >>> people["shoe"] = people["height"] / 4 + rng.normal(size=200)
    >>> people["age"] = rng.integers(18, 80, size=200)
    >>> model = fit_table(people, "sex", n_components=2)
    >>> model.transform(people.drop(columns="sex")).shape
    (200, 2)
    """
    wanted = FitOptions(
        method, n_components, match, tradeoff, criterion, intersectional, seed, options
    )
    in_batches = checkpoint is not None or n_jobs is not None
    if in_batches and not is_on_disk(table):
        raise AuditError(
            "checkpoint and n_jobs are for tables on disk, which are read in batches, but this "
            "one is in memory. Leave them out, or name the files."
        )
    reading: dict[str, Any] = {"columns": columns, "header": header, "skip_lines": skip_lines}
    if in_batches or are_many(table) or is_large(table):
        return fit_large_table(
            table,
            sensitive,
            target,
            wanted,
            positive=positive,
            ignore=ignore,
            checkpoint=checkpoint,
            n_jobs=n_jobs,
            progress=progress,
            **reading,
        )
    if isinstance(table, str | os.PathLike):
        table = read_table(table, data=data, **reading)
    elif columns is not None or header is not None or skip_lines:
        raise AuditError(
            "columns, header and skip_lines tell how to read text files, but this table is in "
            "memory. Leave them out."
        )
    return _fit_in_memory(as_table(table, data), sensitive, target, wanted, positive, ignore)


def _fit_in_memory(
    table: Table,
    sensitive: str | Sequence[str] | None,
    target: str | None,
    wanted: FitOptions,
    positive: Any,
    ignore: Sequence[str],
) -> FairModel:
    roles = roles_in(table, sensitive, target, ignore)
    frame = table.frame
    y = None
    if roles.target is not None and wanted.criterion != "demographic_parity":
        is_positive, known, _ = binary_target(frame[roles.target], positive)
        frame, y = frame[known], is_positive[known].astype(int)
    else:
        check_criterion(wanted, roles)
    frame = frame.reset_index(drop=True)
    attributes = [measure_attribute(frame[name]) for name in roles.sensitive]
    encoder = TableEncoder().fit(frame[list(roles.features)])
    X = encoder.transform(frame[list(roles.features)])
    columns, kinds = estimator_columns(attributes, np.arange(len(frame)))
    estimator = wanted.fitted(X, y, columns, kinds, X.shape[1])
    levels = [a for a in attributes if a.kind == "levels"]
    groups = {a.name: dict(zip(a.labels, a.counts.tolist(), strict=True)) for a in levels}
    notes = [
        what_was_merged(
            a.name, a.note if a.kind == "levels" else "", int(np.count_nonzero(a.codes < 0))
        )
        for a in attributes
    ]
    info = model_info(table.name, table.fingerprint, len(frame), roles, groups, notes)
    return FairModel(encoder, estimator, info)
