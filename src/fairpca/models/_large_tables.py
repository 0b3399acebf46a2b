"""`fit_table` for tables that are spread over files, or too large for memory."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from .._attributes import Roles, assign_roles
from .._numerics import fingerprint_of
from .._rows import Batch, Collect, LargestKey, RowsElsewhere, TableRows, rows_per_batch
from ..errors import TableError, TargetError
from ..tables import (
    AttributePlan,
    LevelPlan,
    RawColumn,
    TableEncoder,
    TableFile,
    arrow_to_pandas,
    fingerprint_of_files,
    import_arrow,
    open_tables,
    raw_columns,
    simple,
    typed,
    what_was_merged,
    with_points,
)
from ._fair_model import FairModel
from ._first_pass import SAMPLE_ROWS, LookAtRows, RowsSeen, unknown_levels
from ._fit_options import FitOptions

LOOKING, FITTING = "Looking at the rows", "Fitting to the rows"
BATCH_ROWS = 2**15
"""Rows at a time: several such batches, as texts and as numbers, are in memory at once."""

CHECKPOINT_SECONDS = 10.0

Progress = Callable[[int, int | None, str], None]
"""Called with the rows done, the rows there are or None, and what is being done."""

MOST_FILES_NAMED = 100


def fit_large_table(
    table: Any,
    sensitive: str | Sequence[str] | None,
    target: str | None,
    wanted: FitOptions,
    *,
    positive: Any = None,
    ignore: Sequence[str] = (),
    columns: Sequence[str] | None = None,
    header: bool | None = None,
    skip_lines: int = 0,
    checkpoint: str | os.PathLike[str] | None = None,
    n_jobs: int | None = None,
    progress: Progress | None = None,
) -> FairModel:
    """Fit to a table on disk in two passes and bounded memory; parameters as in `fit_table`.

    The first pass counts the groups over all rows and draws the rows from which it is learned what
    the columns are. The second encodes all rows and adds up their moments.
    """
    files = open_tables(table, columns=columns, header=header, skip_lines=skip_lines)
    raw = {column.name: column for column in raw_columns(files)}
    roles = assign_roles(list(raw), sensitive=sensitive or (), target=target, ignore=ignore)
    check_criterion(wanted, roles)
    outcome = None
    if roles.target is not None and wanted.criterion != "demographic_parity":
        outcome = raw[roles.target]
    read = tuple(
        name
        for name in raw
        if roles.of(name) in ("feature", "sensitive") or (outcome and name == outcome.name)
    )

    def pass_over(columns: Sequence[str], batch_rows: int, title: str) -> TableRows:
        say = None if progress is None else lambda done, total: progress(done, total, title)
        return TableRows(
            files,
            columns,
            batch_rows=batch_rows,
            n_jobs=n_jobs,
            checkpoint=checkpoint,
            checkpoint_seconds=CHECKPOINT_SECONDS,
            progress=say,
        )

    source = pass_over(read, BATCH_ROWS, LOOKING)
    seen = _look(source, [raw[name] for name in read], roles.sensitive, outcome, wanted.seed)
    outcome_of = {} if seen.outcomes is None else seen.outcomes.outcomes(positive)
    encoder = TableEncoder().fit(_sample_frame(seen, raw)[list(roles.features)])
    attributes = []
    for name in roles.sensitive:
        plan, code_of = seen.counts[name].planned()
        attributes.append(_PlannedColumn(raw[name], plan, code_of))
    used = {*encoder.needed_columns, *roles.sensitive, *([] if outcome is None else [outcome.name])}
    commas = frozenset(column.name for column in raw.values() if column.decimal == ",")
    encoding = _Encoding(encoder, tuple(attributes), outcome, outcome_of, commas)
    kinds, d = {a.plan.name: a.plan.kind for a in attributes}, len(encoder.mean_)
    complete = seen.sample.rows[0].num_rows == seen.n_rows
    if complete and wanted.needs_all_rows_at_once(seen.n_rows):
        batch = encoding.encoded(Batch(seen.sample.rows[0]))
        estimator = wanted.fitted(batch.X, batch.y, batch.sensitive_features, kinds, d)
    else:
        batch_rows = min(rows_per_batch(d, itemsize=8), max(BATCH_ROWS, d))
        source = pass_over([name for name in read if name in used], batch_rows, FITTING)
        estimator = wanted.fitted(_EncodedRows(source, encoding), None, None, kinds, d)
    return FairModel(encoder, estimator, _info(table, files, roles, seen, attributes, encoder))


def check_criterion(wanted: FitOptions, roles: Roles) -> None:
    """Refuse a criterion that needs outcomes where no target was named."""
    if wanted.criterion != "demographic_parity" and roles.target is None:
        raise TargetError(
            f"criterion='{wanted.criterion}' compares groups among rows with the same outcome, and "
            f"no target was named. Name one."
        )


def _look(
    source: TableRows,
    columns: Sequence[RawColumn],
    sensitive: Sequence[str],
    outcome: RawColumn | None,
    seed: int,
) -> RowsSeen:
    n, largest_key = SAMPLE_ROWS, LargestKey()
    if source.n_rows is not None and outcome is None:
        # A few more than needed, so that there are enough: the largest keys are dropped later.
        largest_key.value = min(1.0, (n + 8 * n**0.5) / max(1, source.n_rows))
    target = None if outcome is None else outcome.name
    look = LookAtRows(tuple(columns), tuple(sensitive), target, n, largest_key, seed)
    seen: RowsSeen | None = source.fold(look)
    if seen is None or seen.n_read == 0:
        raise TableError(f"'{source.files[0].path}' has names of columns but no rows.")
    if seen.n_rows == 0:
        raise TargetError(f"No row has a value of the target '{target}'. Name another target.")
    return seen


def _sample_frame(seen: RowsSeen, raw: Mapping[str, RawColumn]) -> Any:
    """Return the sample with the types that the whole table would have in memory."""
    arrow, table = import_arrow(), seen.sample.rows[0]
    columns = {}
    for name in table.schema.names:
        column = table.column(name)
        kind = raw[name].type
        if kind is None:
            column = typed(column, raw[name].decimal)
        elif arrow.types.is_dictionary(kind):
            column = column.dictionary_encode()  # a declared category stays one
        columns[name] = column
    return arrow_to_pandas(arrow.table(columns))


def model_info(
    name: str,
    fingerprint: str,
    n_rows: int,
    roles: Roles,
    groups: Mapping[str, Mapping[str, int]],
    notes: Sequence[str],
) -> dict[str, Any]:
    """Return the facts that a model keeps; `notes` say what a fit does not make equal."""
    info = {
        "data": name,
        "fingerprint": fingerprint,
        "n_rows": n_rows,
        "sensitive": list(roles.sensitive),
        "target": roles.target,
        "groups": groups,
    }
    return info | ({"group_notes": list(filter(None, notes))} if any(notes) else {})


def _info(
    table: Any,
    files: Sequence[TableFile],
    roles: Roles,
    seen: RowsSeen,
    attributes: Sequence[_PlannedColumn],
    encoder: TableEncoder,
) -> dict[str, Any]:
    sampled = seen.sample.rows[0].num_rows
    plans = [a.plan for a in attributes if isinstance(a.plan, LevelPlan)]
    groups = {plan.name: dict(zip(plan.labels, plan.n_rows, strict=True)) for plan in plans}
    notes = [what_was_merged(plan.name, plan.note, plan.n_unknown) for plan in plans]
    name, fingerprint = _name(table, files), fingerprint_of_files([f.path for f in files])
    info = model_info(name, fingerprint, seen.n_rows, roles, groups, notes)
    info["files"] = [file.path.name for file in files[:MOST_FILES_NAMED]]
    info["n_files"] = len(files)
    info["sample_rows"] = sampled
    if sampled < seen.n_rows:
        info["unknown_levels"] = unknown_levels(seen, encoder)
    return info


def _name(table: Any, files: Sequence[TableFile]) -> str:
    if len(files) == 1:
        return Path(files[0].path.name.removesuffix(".gz")).stem
    if isinstance(table, str | os.PathLike):
        return Path(table).name
    return f"{files[0].path.name} and {len(files) - 1} more"


@dataclass(frozen=True)
class _PlannedColumn:
    """A sensitive column, its groups, and the group of each value, -1 where it has none."""

    column: RawColumn
    plan: AttributePlan
    code_of: Mapping[Any, int]

    def fitted(self, array: Any) -> np.ndarray:
        """Return the groups of rows, None where unknown; or their numbers, NaN where unknown."""
        if isinstance(self.plan, LevelPlan):
            return self.plan.fitted(_looked_up(self.column, self.code_of, array))
        return self.column.numbers(array)


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
    of_rows: np.ndarray = np.array([code_of.get(value, -1) for value in values])[codes]
    return of_rows


@dataclass(frozen=True)
class _Encoding:
    """From a batch as it is read to numbers, groups and outcomes.

    Of the target, where one is needed, `outcome_of` has 1 for positive values, 0 for others and -1
    for those that are unknown. In columns of `commas`, numbers have a decimal comma.
    """

    encoder: TableEncoder
    attributes: tuple[_PlannedColumn, ...]
    target: RawColumn | None
    outcome_of: Mapping[Any, int]
    commas: frozenset[str]

    def encoded(self, batch: Batch) -> Batch:
        """Return the rows that count as numbers."""
        raw = {name: simple(batch.X.column(name)) for name in batch.X.schema.names}
        y = None
        if self.target is not None:
            y = _looked_up(self.target, self.outcome_of, raw[self.target.name])
            if (y < 0).any():
                kept = np.flatnonzero(y >= 0)
                raw, y = {name: array.take(kept) for name, array in raw.items()}, y[kept]
        columns = {a.plan.name: a.fitted(raw[a.plan.name]) for a in self.attributes}
        for name in self.commas.intersection(self.encoder.number_columns):
            raw[name] = with_points(raw[name], ",")
        return Batch(self.encoder.encode(raw), y, columns, None, batch.number)


@dataclass(frozen=True)
class _EncodeThen:
    """From a batch as it is read to what `collect` makes of it as numbers."""

    encoding: _Encoding
    collect: Collect

    def __call__(self, batch: Batch) -> Any:
        """Return what `collect` returns; None if no row counts."""
        encoded = self.encoding.encoded(batch)
        return self.collect(encoded) if encoded.n_rows else None

    @property
    def fingerprint(self) -> str | None:
        """Tells whether moments collected by another process belong to the same question."""
        question, e = getattr(self.collect, "fingerprint", None), self.encoding
        if question is None:
            return None
        columns = [(a.plan, a.column.decimal, a.code_of) for a in e.attributes]
        target = None if e.target is None else e.target.name
        return fingerprint_of(
            (e.encoder.to_plain(), columns, target, e.outcome_of, e.commas, question)
        )


@dataclass(frozen=True, eq=False)
class _EncodedRows(RowsElsewhere):
    """Rows of files, whose batches are Arrow tables, as numbers: read again when asked for."""

    source: RowsElsewhere
    encoding: _Encoding

    @property
    def head(self) -> Batch:
        """Numbers without names, as encoded rows are in memory."""
        nothing = {
            a.plan.name: np.empty(0, dtype=object if isinstance(a.plan, LevelPlan) else float)
            for a in self.encoding.attributes
        }
        y = None if self.encoding.target is None else np.empty(0, dtype=int)
        return Batch(np.empty((0, len(self.encoding.encoder.mean_))), y, nothing)

    def fold(self, collect: Collect) -> Any:
        """Return the sum over the encoded batches."""
        return self.source.fold(_EncodeThen(self.encoding, collect))
