"""Tables on disk: looked at in one pass, then encoded whenever they are read again.

The first pass is in `_look`.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from .._attributes import assign_roles, checked_kinds, factors_among
from .._rows import Batch, Collect, LazyRows
from ..errors import TableError
from ..io import TableRows, rows_per_batch
from ..tables import (
    RawColumn,
    TableEncoder,
    TableFile,
    fingerprint_of_files,
    open_tables,
    simple,
    with_points,
)
from ._fit_table import Fitted, TableOptions, noticed
from ._look import look_at_rows
from ._plans import AttributePlan, FactorPlan, plan_factor, texts_of, weights_of

BATCH_ROWS = 2**15
"""Rows at a time: several such batches, as texts and as numbers, are in memory at once."""

MOST_FILES_NAMED = 100


def fit_on_disk(
    table: Any,
    reading: Mapping[str, Any],
    wanted: TableOptions,
    n_jobs: int | None,
    progress: Callable[[int, int | None, str], None] | None,
) -> Fitted:
    """Look at the rows in one pass; then encode all of them, and fit, in one or several."""
    files = open_tables(table, **reading)

    def passed(columns: Sequence[str], batch_rows: int, title: str) -> TableRows:
        return TableRows(
            files,
            columns,
            batch_rows=batch_rows,
            n_jobs=n_jobs,
            progress=None if progress is None else _by_passes(progress, title),
        )

    raw = {column.name: column for column in RawColumn.of(files)}
    roles = assign_roles(
        list(raw),
        sensitive=wanted.sensitive or (),
        target=wanted.target,
        weight=wanted.weight,
        ignore=wanted.ignore,
        renamed=files[0].renamed,
    )
    factors = factors_among(list(raw), roles, wanted.given)
    kinds = checked_kinds(wanted.sensitive_kinds, [*roles.sensitive, *factors])
    outcome = raw[roles.target or ""] if wanted.needs_target(roles.target) else None
    extra = [] if outcome is None else [outcome.name]
    extra += [] if roles.weight is None else [roles.weight]
    extra += factors
    read = [n for n in raw if roles.of(n) in ("feature", "sensitive") or n in extra]
    source = passed(read, BATCH_ROWS, "Looking at the rows")
    seen = look_at_rows(source, [raw[n] for n in read], roles.sensitive, outcome, wanted.seed)
    target = None
    if outcome is not None:
        plan = seen.counts[outcome.name].planned_target(**wanted.of_target(roles))
        target = _PlannedColumn(outcome, *plan)
    sample = seen.sample_frame(raw)
    drawn = sample[list(roles.features)]
    wanted.warn_of_far_numbers(drawn)
    encoder = wanted.encoder().fit(drawn)
    counted = ((n, seen.counts[n].planned(kinds.get(n))) for n in roles.sensitive)
    planned = tuple(_PlannedColumn(raw[n], *plan) for n, plan in counted)
    plans = [p.plan for p in planned]
    complete = seen.drawn.num_rows == seen.n_rows
    likened = [plan_factor(sample[n], kinds.get(n), complete=complete)[0] for n in factors]
    d = len(encoder.mean_)
    used = {*encoder.needed_columns, *roles.sensitive, *extra}
    batch_rows = min(rows_per_batch(d, itemsize=8), max(BATCH_ROWS, d))
    source = passed([n for n in read if n in used], batch_rows, "Fitting to the rows")
    source.n_rows = seen.n_read  # text files did not tell
    commas = frozenset(column.name for column in raw.values() if column.decimal == ",")
    weight = None if roles.weight is None else raw[roles.weight]
    alike = tuple(_PlannedFactor(raw[plan.name], plan) for plan in likened)
    rows = _EncodedRows(source, encoder, planned, target, weight, commas, alike)
    n_drawn, about = seen.drawn.num_rows, None if target is None else target.plan
    encoded: tuple[Any, Any, Any] = rows, None, None
    weights = given = None
    if complete and wanted.takes_all_rows_at_once(seen.n_rows, d):
        batch = rows.encoded(Batch(seen.drawn))
        encoded = batch.X, batch.y, batch.sensitive_features
        weights, given = batch.sample_weight, batch.given
    estimator = wanted.fitted(*encoded, plans, about, weights, likened, given)
    fingerprint = fingerprint_of_files([file.path for file in files])
    known = replace(roles, target=roles.target if roles.target in sample else None)
    notices = noticed(sample, known, files[0].renamed)
    if n_drawn < seen.n_rows:
        notices = [n for n in notices if n.kind != "spelling"] + seen.spellings()
    counts = seen.n_rows, seen.n_read - seen.n_rows
    facts = _name(table, files), fingerprint, *counts, roles, plans, about
    info = wanted.facts(*facts, notices, likened)
    info["files"] = [file.path.name for file in files[:MOST_FILES_NAMED]]
    info |= {"n_files": len(files), "sample_rows": n_drawn}
    if n_drawn < seen.n_rows:
        info["unknown_levels"] = seen.unknown_levels(encoder)
    return encoder, estimator, info


def _name(table: Any, files: Sequence[TableFile]) -> str:
    if len(files) == 1:
        return Path(files[0].path.name.removesuffix(".gz")).stem
    if isinstance(table, str | os.PathLike):
        return Path(table).name
    return f"{files[0].path.name} and {len(files) - 1} more"


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


@dataclass(frozen=True)
class _PlannedColumn:
    """A sensitive column or a target, its groups, and that of each value, -1 where it has none."""

    column: RawColumn
    plan: AttributePlan
    code_of: Mapping[Any, int]

    def values(self, array: Any) -> np.ndarray:
        """Return the places of rows' groups, -1 where unknown; or their numbers, NaN there."""
        if self.plan.kind == "numeric":
            return self.column.numbers(array)
        return _looked_up(self.column, self.code_of, array)

    def of_no_rows(self) -> np.ndarray:
        """Return what estimators get where there are no rows."""
        return self.plan.fitted(np.empty(0, float if self.plan.kind == "numeric" else int))


@dataclass(frozen=True)
class _PlannedFactor:
    """A column that is a legitimate factor, and how it counts."""

    column: RawColumn
    plan: FactorPlan

    def columns(self, array: Any) -> dict[str, np.ndarray]:
        """Return what estimators get for the rows of a batch."""
        if self.plan.kind == "numeric":
            return self.plan.columns(self.column.numbers(array))
        codes, values = self.column.values(array)
        return self.plan.columns(texts_of(self.column.series(values))[codes])

    def of_no_rows(self) -> dict[str, np.ndarray]:
        """Return what estimators get where there are no rows."""
        return self.plan.columns(np.empty(0, float if self.plan.kind == "numeric" else object))


def _looked_up(column: RawColumn, code_of: Mapping[Any, int], array: Any) -> np.ndarray:
    """Return the code of each row, by its value."""
    codes, values = column.values(array)
    used = set(np.unique(codes).tolist())
    unseen = [v for i, v in enumerate(values) if i in used and v is not None and v not in code_of]
    if unseen:
        raise TableError(
            f"The column '{column.name}' has '{unseen[0]}' here, which was not there when the "
            f"values were counted. The files were changed meanwhile: start again."
        )
    return np.array([code_of.get(value, -1) for value in values])[codes]


@dataclass(frozen=True, eq=False)
class _EncodedRows(LazyRows):
    """Rows of files, whose batches are Arrow tables, as numbers: read again when asked for.

    Rows without a value of the `target`, where one is needed, do not count; others by their
    `weight`. In columns of `commas`, numbers have a decimal comma.
    """

    source: LazyRows
    encoder: TableEncoder
    attributes: tuple[_PlannedColumn, ...]
    target: _PlannedColumn | None
    weight: RawColumn | None
    commas: frozenset[str]
    factors: tuple[_PlannedFactor, ...] = ()

    @property
    def head(self) -> Batch:
        """Numbers without names, as encoded rows are in memory."""
        nothing = {a.plan.name: a.of_no_rows() for a in self.attributes}
        y = None if self.target is None else {self.target.plan.name: self.target.of_no_rows()}
        weight = None if self.weight is None else np.empty(0)
        given = {n: values for f in self.factors for n, values in f.of_no_rows().items()}
        none = np.empty((0, len(self.encoder.mean_)))
        return Batch(none, y, nothing, weight, given=given or None)

    def encoded(self, batch: Batch) -> Batch:
        """Return the rows of a batch that count, as numbers."""
        raw = {name: simple(batch.X.column(name)) for name in batch.X.schema.names}
        y = None
        if self.target is not None:
            plan = self.target.plan
            values = self.target.values(raw[plan.name])
            known = plan.known(values)
            if not known.all():
                kept = np.flatnonzero(known)
                raw = {name: array.take(kept) for name, array in raw.items()}
            y = {plan.name: plan.fitted(values[known])}
        columns = {a.plan.name: a.plan.fitted(a.values(raw[a.plan.name])) for a in self.attributes}
        weight = None
        if self.weight is not None:
            weight = weights_of(self.weight.numbers(raw[self.weight.name]), self.weight.name)
        factors = (f.columns(raw[f.plan.name]) for f in self.factors)
        given = {name: values for of in factors for name, values in of.items()} or None
        for name in self.commas.intersection(self.encoder.number_columns):
            raw[name] = with_points(raw[name], ",")
        return Batch(self.encoder.encode(raw), y, columns, weight, batch.number, given)

    def fold(self, collect: Collect) -> Any:
        """Return the sum over the encoded batches."""
        return self.source.fold(_EncodeThen(self, collect))


@dataclass(frozen=True)
class _EncodeThen:
    """From a batch as it is read to what `collect` makes of it as numbers."""

    rows: _EncodedRows
    collect: Collect

    def __call__(self, batch: Batch) -> Any:
        """Return what `collect` returns; None if no row counts."""
        encoded = self.rows.encoded(batch)
        return self.collect(encoded) if encoded.n_rows else None
