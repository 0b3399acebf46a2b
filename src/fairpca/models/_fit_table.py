"""From a table, in memory or on disk, to a fair model."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.base import clone

from .._attributes import Roles, assign_roles, checked_kinds, in_words_of_targets
from .._rows import Batch, RowsElsewhere, TableRows, rows_per_batch
from ..errors import AuditError, InfeasibleError, ManyLevelsWarning, TargetError, warn_user
from ..estimators import (
    COVARIANCE_TOLERANCE,
    FairKernelPCA,
    FairPCA,
    FairPLS,
    approximation_for,
    as_many_as_there_are,
    collect_moments,
    fewer_and_fewer,
    usual_components,
)
from ..peers import LEACE, PCA
from ..tables import (
    AttributePlan,
    RawColumn,
    Table,
    TableEncoder,
    TableFile,
    are_many,
    as_table,
    fingerprint_of_files,
    is_large,
    is_on_disk,
    open_tables,
    plan_column,
    plan_target,
    read_table,
    roles_in,
)
from ._fair_model import FairModel
from ._large_tables import EncodedRows, PlannedColumn, look_at_rows

BATCH_ROWS = 2**15
"""Rows at a time: several such batches, as texts and as numbers, are in memory at once."""

CHECKPOINT_SECONDS = 10.0
MOST_FILES_NAMED = 100
TABLE_METHODS = ("fair_pca", "fair_pls", "fair_kernel_pca", "leace", "pca")

MOST_IN_MEMORY = 2**25
"""Rows that are all among those looked at are not read again for what takes up to so many numbers,
256 MB."""


def fit_table(
    table: Any,
    sensitive: str | Sequence[str] | None = None,
    target: str | None = None,
    *,
    method: str = "fair_pca",
    n_components: int | None = None,
    match: str | None = None,
    tradeoff: float = 0.0,
    criterion: str = "demographic_parity",
    positive: Any = None,
    ignore: Sequence[str] = (),
    sensitive_kinds: Mapping[str, str] | None = None,
    target_kinds: Mapping[str, str] | None = None,
    intersectional: bool = False,
    seed: int = 0,
    data: str | os.PathLike[str] | None = None,
    columns: Sequence[str] | None = None,
    header: bool | None = None,
    skip_lines: int = 0,
    encoding: str | None = None,
    checkpoint: str | os.PathLike[str] | None = None,
    n_jobs: int | None = None,
    progress: Callable[[int, int | None, str], None] | None = None,
    **options: Any,
) -> FairModel:
    """Fit a fair representation to a table with messy columns, ready to be saved.

    Parameters
    ----------
    table : DataFrame, Table, path, or sequence of paths
        A table in memory, a file, or the name of a built-in data set, as in `fairpca.audit`; or
        several files of the same columns, as a pattern (``"loans/*.parquet"``), a folder or a
        list. These, and files of more than a million rows or 500 MB, are read in batches.
    sensitive, target, positive, ignore, sensitive_kinds, data
        As in `fairpca.audit`. The target is no feature; its values, a yes or no, matter for
        criteria other than demographic parity only; and for fair PLS, which predicts them.
    target_kinds : dict, optional
        For fair PLS, whose target may also be classes, or a number: "categorical" or "numeric" by
        name, as `sensitive_kinds`. Two values are a yes or no, as `positive` makes any target.
    method : {"fair_pca", "fair_pls", "fair_kernel_pca", "leace", "pca"}
        What to fit to the encoded columns. "fair_pls" keeps the few columns that predict the
        target: use it where you have one.
    n_components : int, optional
        Number of components, by default 15 or fewer, of fair PLS as many as the target needs; LEACE
        keeps all columns.
    match : {"means", "covariances", "distributions"}
        What is made equal: by default means, for fair PCA, and distributions, which only fair PLS
        can.
    tradeoff : float in [0, 1]
        The paper's lambda; above 0 the guarantee is gone.
    criterion : str
        As in `fairpca.FairPCA`.
    intersectional : bool
        Whether to compare joint groups.
    seed : int
    columns, header, skip_lines, encoding
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
        of real tables seldom have equal covariances in many dimensions. Fair PLS has
        ``kernel="rbf"``; with None the model holds no rows of the table.

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
    Fair PLS goes over all rows several times to compare distributions; of these passes a
    `checkpoint` keeps the sums of the first, which adds up moments.
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
    wanted = _Options(
        *(method, n_components, match, tradeoff, criterion, intersectional, seed, options),
        *(sensitive_kinds or {}, target_kinds or {}, positive),
    )
    asked = {"sensitive": sensitive, "target": target, "ignore": ignore}
    reading: dict[str, Any] = {"columns": columns, "header": header, "skip_lines": skip_lines}
    reading["encoding"] = encoding
    in_batches = checkpoint is not None or n_jobs is not None
    if in_batches and not is_on_disk(table):
        raise AuditError(
            "checkpoint and n_jobs are for tables on disk, which are read in batches, but this "
            "one is in memory. Leave them out, or name the files."
        )
    if in_batches or are_many(table) or is_large(table):
        files = open_tables(table, **reading)

        def passed(columns: Sequence[str], batch_rows: int, title: str) -> TableRows:
            say = None if progress is None else _by_passes(progress, title)
            return TableRows(
                files,
                columns,
                batch_rows=batch_rows,
                n_jobs=n_jobs,
                checkpoint=checkpoint,
                checkpoint_seconds=CHECKPOINT_SECONDS,
                progress=say,
            )

        return _fit_on_disk(_name(table, files), files, wanted, asked, passed)
    if isinstance(table, str | os.PathLike):
        table = read_table(table, data=data, **reading)
    elif reading != dict.fromkeys(reading) | {"skip_lines": 0}:
        raise AuditError(
            "columns, header, skip_lines and encoding tell how to read text files, but this table "
            "is in memory. Leave them out."
        )
    return _fit_in_memory(as_table(table, data), wanted, asked)


def _by_passes(
    progress: Callable[[int, int | None, str], None], title: str
) -> Callable[[int, int | None], None]:
    """Return what is told of rows done; the title says which pass it is, from the second on."""
    n, last = 1, 0

    def say(done: int, total: int | None) -> None:
        nonlocal n, last
        n, last = n + (done <= last), done
        progress(done, total, title if n == 1 else f"{title}, pass {n}")

    return say


def _fit_in_memory(table: Table, wanted: _Options, asked: Mapping[str, Any]) -> FairModel:
    roles = roles_in(table, **asked)
    frame, y, target = table.frame, None, None
    if wanted.needs_target(roles):
        target, values = plan_target(frame[roles.target], **wanted.of_target(roles))
        known = target.known(values)
        frame, y = frame[known], {target.name: target.fitted(values[known])}
    frame = frame.reset_index(drop=True)
    said = checked_kinds(wanted.declared, roles.sensitive)
    planned = [plan_column(frame[name], said.get(name)) for name in roles.sensitive]
    plans = [plan for plan, _ in planned]
    encoder = TableEncoder().fit(frame[list(roles.features)])
    X = encoder.transform(frame[list(roles.features)])
    columns = {plan.name: plan.fitted(values) for plan, values in planned}
    kinds = {plan.name: plan.kind for plan in plans}
    with _ways_out(plans):
        estimator = wanted.fitted(X, y, columns, kinds, X.shape[1], target)
    info = _info(table.name, table.fingerprint, len(frame), roles, plans, target)
    return FairModel(encoder, estimator, info)


def _fit_on_disk(
    name: str,
    files: Sequence[TableFile],
    wanted: _Options,
    asked: Mapping[str, Any],
    passed: Callable[[Sequence[str], int, str], TableRows],
) -> FairModel:
    """Look at the rows in one pass; then encode all of them, and fit, in one or several."""
    raw = {column.name: column for column in RawColumn.of(files)}
    asked = {**asked, "sensitive": asked["sensitive"] or (), "renamed": files[0].renamed}
    roles = assign_roles(list(raw), **asked)
    kinds = checked_kinds(wanted.declared, roles.sensitive)
    outcome = raw[roles.target or ""] if wanted.needs_target(roles) else None
    extra = [] if outcome is None else [outcome.name]
    read = [n for n in raw if roles.of(n) in ("feature", "sensitive") or n in extra]
    source = passed(read, BATCH_ROWS, "Looking at the rows")
    seen = look_at_rows(source, [raw[n] for n in read], roles.sensitive, outcome, wanted.seed)
    target = None
    if outcome is not None:
        plan = seen.counts[outcome.name].planned_target(**wanted.of_target(roles))
        target = PlannedColumn(outcome, *plan)
    encoder = TableEncoder().fit(seen.sample_frame(raw)[list(roles.features)])
    counted = ((n, seen.counts[n].planned(kinds.get(n))) for n in roles.sensitive)
    planned = tuple(PlannedColumn(raw[n], *plan) for n, plan in counted)
    plans = [p.plan for p in planned]
    kinds, d = {plan.name: plan.kind for plan in plans}, len(encoder.mean_)
    used = {*encoder.needed_columns, *roles.sensitive, *extra}
    batch_rows = min(rows_per_batch(d, itemsize=8), max(BATCH_ROWS, d))
    source = passed([n for n in read if n in used], batch_rows, "Fitting to the rows")
    source.n_rows = seen.n_read  # text files did not tell
    commas = frozenset(column.name for column in raw.values() if column.decimal == ",")
    rows = EncodedRows(source, encoder, planned, target, commas)
    n_drawn, about = seen.drawn.num_rows, None if target is None else target.plan
    with _ways_out(plans):
        if n_drawn == seen.n_rows and wanted.takes_all_rows_at_once(seen.n_rows, d):
            batch = rows.encoded(Batch(seen.drawn))
            estimator = wanted.fitted(batch.X, batch.y, batch.sensitive_features, kinds, d, about)
        else:
            estimator = wanted.fitted(rows, None, None, kinds, d, about)
    fingerprint = fingerprint_of_files([file.path for file in files])
    info = _info(name, fingerprint, seen.n_rows, roles, plans, about)
    info["files"] = [file.path.name for file in files[:MOST_FILES_NAMED]]
    info["n_files"] = len(files)
    info["sample_rows"] = n_drawn
    if n_drawn < seen.n_rows:
        info["unknown_levels"] = seen.unknown_levels(encoder)
    return FairModel(encoder, estimator, info)


def _name(table: Any, files: Sequence[TableFile]) -> str:
    if len(files) == 1:
        return Path(files[0].path.name.removesuffix(".gz")).stem
    if isinstance(table, str | os.PathLike):
        return Path(table).name
    return f"{files[0].path.name} and {len(files) - 1} more"


def _info(
    name: str,
    fingerprint: str,
    n_rows: int,
    roles: Roles,
    plans: Sequence[AttributePlan],
    target: AttributePlan | None,
) -> dict[str, Any]:
    """Return the facts that a model keeps; warn of what may not be meant."""
    groups = {p.name: dict(zip(p.labels, p.n_rows, strict=True)) for p in plans if p.labels}
    for told in [plan.told for plan in plans if plan.told and plan.labels]:
        warn_user(told, ManyLevelsWarning)
    notes = [note for plan in plans for note in (plan.told, _what_was_merged(plan))]
    return {
        "data": name,
        "fingerprint": fingerprint,
        "n_rows": n_rows,
        "sensitive": list(roles.sensitive),
        "target": roles.target,
        **({"positive": target.labels[-1]} if target and target.kind == "binary" else {}),
        "groups": groups,
        **({"group_notes": list(filter(None, notes))} if any(notes) else {}),
    }


@contextlib.contextmanager
def _ways_out(plans: Sequence[AttributePlan]) -> Iterator[None]:
    """Where nothing is left of the features, say which groups may not be meant as such."""
    try:
        yield
    except InfeasibleError as error:
        told = [plan.told for plan in plans if plan.told and plan.kind == "categorical"]
        raise InfeasibleError(" ".join([str(error), *told])) from error


@dataclass(frozen=True)
class _Options:
    """What is fitted to the encoded rows of a table, whether they are in memory or on disk."""

    method: str
    n_components: int | None
    match: str | None
    tradeoff: float
    criterion: str
    intersectional: bool
    seed: int
    options: Mapping[str, Any]
    declared: Mapping[str, str]
    target_kinds: Mapping[str, str]
    positive: Any

    def __post_init__(self) -> None:
        if self.method not in TABLE_METHODS:
            listed = ", ".join(map(repr, TABLE_METHODS))
            raise AuditError(f"method='{self.method}' is none of {listed}.")
        matched = ["fair_pls"] if self.match == "distributions" else ["fair_pca", "fair_pls"]
        for name, usual, methods in (
            ("match", (None, "means"), matched),
            ("tradeoff", (0.0,), ["fair_pca", "fair_kernel_pca"]),
            ("target_kinds", ({},), ["fair_pls"]),
        ):
            value = getattr(self, name)
            if value not in usual and self.method not in methods:
                raise AuditError(
                    f"{name}={value!r} is for {' and '.join(map(repr, methods))}, and "
                    f"method='{self.method}' would ignore it. Use one of them, or leave it out."
                )

    def fitted(
        self,
        X: np.ndarray | RowsElsewhere,
        y: Any,
        columns: Any,
        kinds: dict[str, str],
        d: int,
        target: AttributePlan | None,
    ) -> Any:
        """Fit to encoded rows of d numbers; those elsewhere have `y` and `columns` with them."""
        usual = usual_components(d)
        if self.method == "fair_pls" and target is not None:
            kind = "numeric" if target.kind == "numeric" else "categorical"
            predictive = FairPLS(
                self.n_components,
                match=self.match or "distributions",
                random_state=self.seed,
                target_kinds={target.name: kind},
                **self._choices(kinds),
                **{"kernel": "rbf", **self.options},
            )
            return predictive.fit(X, y, sensitive_features=columns)
        if self.method == "fair_kernel_pca":
            approximation = approximation_for(len(X)) if isinstance(X, np.ndarray) else "nystroem"
            kernel = FairKernelPCA(
                tradeoff=self.tradeoff,
                random_state=self.seed,
                **self._choices(kinds),
                **{"approximation": approximation, **self.options},
            )
            return self._with_components(
                usual, kernel, lambda e: e.fit(X, y, sensitive_features=columns)
            )
        if self.method == "fair_pca" and isinstance(X, np.ndarray):
            return self._fair_pca(usual, kinds, lambda f: f.fit(X, y, sensitive_features=columns))
        scatters = self.method == "fair_pca" and self.match == "covariances"
        moments = collect_moments(X, columns, y=y, with_scatters=scatters, **self._choices(kinds))
        if self.method == "fair_pca":
            return self._fair_pca(usual, kinds, lambda f: f.fit_moments(moments))
        if self.method == "leace":
            return LEACE(**self.options).fit_moments(moments)
        return self._with_components(usual, PCA(**self.options), lambda p: p.fit_moments(moments))

    def takes_all_rows_at_once(self, n_rows: int, d: int) -> bool:
        """Whether so few rows are better fitted in memory: by their kernel matrix, or often."""
        if self.method == "fair_pls":
            return n_rows * d <= MOST_IN_MEMORY
        exact = self.options.get("approximation", approximation_for(n_rows)) is None
        return self.method == "fair_kernel_pca" and exact

    def needs_target(self, roles: Roles) -> bool:
        """Whether a target is predicted, or rows of one outcome compared; refuse if none is."""
        why = ""
        if self.method == "fair_pls":
            why = "method='fair_pls' keeps what predicts the target"
        elif self.criterion != "demographic_parity":
            why = f"criterion='{self.criterion}' compares groups among rows with the same outcome"
        if why and roles.target is None:
            raise TargetError(f"{why}, and no target was named. Name one (--target).")
        return bool(why)

    def of_target(self, roles: Roles) -> dict[str, Any]:
        """Return what is said of the target: its kind, the yes, and whether it must be binary."""
        with in_words_of_targets():
            kinds = checked_kinds(self.target_kinds, [roles.target])
        binary = self.method != "fair_pls" or self.criterion != "demographic_parity"
        return {"kind": kinds.get(roles.target or ""), "positive": self.positive, "binary": binary}

    def _choices(self, kinds: dict[str, str]) -> dict[str, Any]:
        return {
            "criterion": self.criterion,
            "intersectional": self.intersectional,
            "sensitive_kinds": kinds,
            "missing_sensitive": "ignore",
        }

    def _with_components(self, usual: int, unfitted: Any, fit: Callable[[Any], Any]) -> Any:
        """Fit as many components as were asked for, else as many as is usual, or there are."""
        if self.n_components is not None:
            return fit(unfitted.set_params(n_components=self.n_components))
        return as_many_as_there_are(
            lambda k: fit(clone(unfitted).set_params(n_components=k)), usual
        )

    def _fair_pca(
        self, usual: int, kinds: dict[str, str], fit: Callable[[FairPCA], FairPCA]
    ) -> FairPCA:
        """Fit; equal covariances in fewer components where nobody named a number of them."""
        options = dict(self.options)
        if self.match == "covariances":
            options = {"covariance_tol": COVARIANCE_TOLERANCE, **options}
        fair = FairPCA(
            match=self.match or "means",
            tradeoff=self.tradeoff,
            random_state=self.seed,
            **self._choices(kinds),
            **options,
        )
        if self.n_components is None and self.match == "covariances":
            *more, usual = fewer_and_fewer(usual)
            for k in more:
                with contextlib.suppress(InfeasibleError):
                    return fit(clone(fair).set_params(n_components=k))
        fitted: FairPCA = self._with_components(usual, fair, fit)
        return fitted


def _what_was_merged(plan: AttributePlan) -> str:
    """Return what a fit does not make equal, in a sentence or two; nothing if it is all."""
    said = []
    if plan.note:
        said.append(f"{plan.note.rstrip('.')}; differences among them are not removed.")
    if plan.n_unknown:
        said.append(
            f"{plan.n_unknown:,} rows have no group here; they count for the variance, not for the "
            f"comparison."
        )
    return f"{plan.name}: {' '.join(said)}" if said else ""
