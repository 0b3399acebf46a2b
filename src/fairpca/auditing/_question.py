"""From a table and names to a question that can be measured: rows, groups, target, columns."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np

from .._attributes import Roles
from ..errors import AuditError, TargetError
from ..estimators import usual_components
from ..tables import (
    FEWEST_ROWS,
    MOST_GROUPS,
    Measured,
    Table,
    TableEncoder,
    as_table,
    binary_target,
    estimator_columns,
    find_notices,
    measure_attribute,
    roles_in,
)
from ._representations import TrainingRows
from ._results import Attribute, Column, Data, Group, Notice, Reading, Target
from ._splits import HeldOut, Split, evenly_sampled

if TYPE_CHECKING:
    from pandas import DataFrame

_FEWEST_IN_ALL = 100  # halves of fewer rows show nothing but noise
_FEWEST_OUTCOMES = 20  # fewer of either teach a model nothing, and may all be in one half


@dataclass(frozen=True, eq=False)
class Question:
    """What is asked of the rows that are used; `n_dropped` have no target, `k` components.

    `encoder` tells of what kind each column is; what rows are encoded by, their half tells.
    """

    table: Table
    features: DataFrame
    roles: Roles
    attributes: list[Measured]
    y: np.ndarray | None
    target: Target | None
    n_dropped: int
    notices: list[Notice]
    columns: list[Column]
    encoder: TableEncoder
    k: int
    seed: int

    @property
    def strata(self) -> list[np.ndarray]:
        """What every half should have the same share of."""
        codes = [a.codes for a in self.attributes]
        return codes if self.y is None else [*codes, self.y.astype(int)]

    def described(self, n_encoded: int) -> Data:
        """Return the table as the audit shows it."""
        return Data(
            name=self.table.name,
            source=self.table.source,
            fingerprint=self.table.fingerprint,
            n_rows=len(self.features),
            n_rows_dropped=self.n_dropped,
            n_features=len(self.roles.features),
            n_encoded=n_encoded,
            ignored=list(self.roles.ignored),
            columns=self.columns,
            attributes=[_described(a, self.y) for a in self.attributes],
            target=self.target,
            reading=self._reading,
        )

    @property
    def _reading(self) -> Reading | None:
        if not self.table.reading:
            return None
        told = {"columns": None, "header": None, "skip_lines": 0, **self.table.reading}
        columns = told.pop("columns")
        return Reading(None if columns is None else list(columns), **told)


def ask(
    table: Any,
    sensitive: str | Sequence[str] | None,
    target: str | None,
    *,
    positive: Any,
    ignore: Sequence[str],
    n_components: int | None,
    max_rows: int,
    joint: bool,
    seed: int,
    data: str | os.PathLike[str] | None,
) -> Question:
    """Read the table, check the names, choose the rows and look at every column."""
    table = as_table(table, data)
    roles = roles_in(table, sensitive, target, ignore)
    frame, notices = table.frame, []
    y = known = name = None
    _check_rows(len(frame), None)
    if roles.target is not None:
        y, known, name = binary_target(frame[roles.target], positive)
        frame, y = frame[known], y[known]
        _check_rows(len(frame), roles.target)
        fewer = int(min(np.count_nonzero(y), np.count_nonzero(~y)))
        if fewer < _FEWEST_OUTCOMES:
            which = f"are '{name}'" if y.mean() < 0.5 else f"are not '{name}'"
            raise TargetError(
                f"Only {fewer} rows of the target '{roles.target}' {which}, but at least "
                f"{_FEWEST_OUTCOMES} are needed to measure decisions. Name another target, or "
                f"none, or give more rows."
            )
    rng = np.random.default_rng(seed)
    n_dropped = len(table.frame) - len(frame)
    if len(frame) > max_rows:
        chosen = evenly_sampled([np.zeros(len(frame)) if y is None else y], max_rows, rng)
        notices.append(
            Notice(
                *("sampled", "info", "", "", float(max_rows)),
                f"{max_rows:,} of {len(frame):,} rows were drawn at random for this audit.",
            )
        )
        frame, y = frame.iloc[chosen], None if y is None else y[chosen]
    frame = frame.reset_index(drop=True)
    attributes = [measure_attribute(frame[name]) for name in roles.sensitive]
    attributes += _intersections(attributes) if joint else []
    features = frame[list(roles.features)]
    encoder = TableEncoder().fit(features)
    d = len(encoder.get_feature_names_out())
    if n_components is not None and n_components > d:
        raise AuditError(
            f"n_components={n_components}, but the columns give {d} numbers per row. Take at most "
            f"{d}."
        )
    notices += _noticed(table, frame, roles, attributes)
    return Question(
        table=table,
        features=features,
        roles=roles,
        attributes=attributes,
        y=y,
        target=None if y is None else Target(str(roles.target), str(name), float(y.mean())),
        n_dropped=n_dropped,
        notices=notices,
        columns=_columns(frame, roles, encoder),
        encoder=encoder,
        k=usual_components(d) if n_components is None else n_components,
        seed=seed,
    )


def prepare(question: Question, split: Split) -> HeldOut:
    """Encode both halves by what the training half shows."""
    train, test = (question.features.iloc[rows] for rows in (split.train, split.test))
    encoder = TableEncoder().fit(train, like=question.encoder)
    X_train = encoder.transform(train)
    X = encoder.transform(test)
    sensitive, kinds = estimator_columns(question.attributes, split.train)
    y = question.y
    return HeldOut(
        index=split.index,
        rows=TrainingRows(
            X_train, sensitive, kinds, min(question.k, X_train.shape[1]), question.seed
        ),
        X=X,
        codes_train=[a.codes[split.train] for a in question.attributes],
        codes=[a.codes[split.test] for a in question.attributes],
        sizes=[len(a.labels) for a in question.attributes],
        y_train=None if y is None else y[split.train],
        y=None if y is None else y[split.test],
    )


def _check_rows(n: int, target: str | None) -> None:
    if n < _FEWEST_IN_ALL:
        known = f" with a known '{target}'" if target is not None else ""
        raise AuditError(
            f"The table has {n} rows{known}, but at least {_FEWEST_IN_ALL} are needed: they are "
            f"divided into halves, and a half of fewer shows nothing but noise."
        )


def _noticed(
    table: Table, frame: DataFrame, roles: Roles, attributes: Sequence[Measured]
) -> list[Notice]:
    found = [
        Notice(n.kind, n.severity, n.column or "", n.other or "", n.value, n.text)
        for n in find_notices(
            frame.drop(columns=list(roles.ignored)),
            list(roles.sensitive),
            roles.target,
            renamed=table.renamed,
        )
    ]
    for attribute in attributes:
        unknown = int(np.count_nonzero(attribute.codes < 0))
        if attribute.kind == "intersection" or not (attribute.note or unknown):
            continue
        missing = (
            f"The group of {unknown:,} rows is not known, or too rare to be measured."
            if unknown
            else ""
        )
        kind = "numeric_attribute" if attribute.kind == "numeric" else "small_group"
        text = f"{attribute.name}: {' '.join(filter(None, [attribute.note, missing]))}"
        found.append(Notice(kind, "info", attribute.name, "", float(unknown), text))
    return found


def _columns(frame: DataFrame, roles: Roles, encoder: TableEncoder) -> list[Column]:
    encoded = {column.name: column for column in encoder.columns_}
    found = []
    for name in frame.columns:
        if name in encoded:
            c = encoded[name]
            found.append(
                Column(name, "feature", c.kind, c.n_missing, c.n_distinct, c.n_outputs, c.note)
            )
        else:
            column = frame[name]
            missing, distinct = int(column.isna().sum()), int(column.nunique())
            found.append(Column(name, roles.of(name), "", missing, distinct, 0, ""))
    return found


def _described(attribute: Measured, positive: np.ndarray | None) -> Attribute:
    """Return the attribute with its groups counted."""
    known = attribute.codes >= 0
    counts = np.bincount(attribute.codes[known], minlength=len(attribute.labels))
    rates: list[float | None] = [None] * len(attribute.labels)
    if positive is not None:
        hits = np.bincount(attribute.codes[known], positive[known], minlength=len(attribute.labels))
        rates = (hits / counts).tolist()
    groups = [
        Group(label, int(count), float(count / known.sum()), rate)
        for label, count, rate in zip(attribute.labels, counts, rates, strict=True)
    ]
    missing = int(np.count_nonzero(~known))
    return Attribute(
        attribute.name, list(attribute.columns), attribute.kind, groups, missing, attribute.note
    )


def _intersections(attributes: Sequence[Measured]) -> list[Measured]:
    """Return every pair of attributes, and all of them together, as joint groups."""
    n = len(attributes)
    sizes = sorted({2, n}) if n >= 2 else []
    joint = [_joint(chosen) for size in sizes for chosen in combinations(attributes, size)]
    return [attribute for attribute in joint if attribute is not None]


def _joint(attributes: Sequence[Measured]) -> Measured | None:
    """Return the joint groups of enough rows, or None where there are fewer than two."""
    codes = np.stack([a.codes for a in attributes], axis=1)
    known = (codes >= 0).all(axis=1)
    distinct, inverse, counts = np.unique(
        codes[known], axis=0, return_inverse=True, return_counts=True
    )
    order = np.argsort(-counts, kind="stable")
    kept = [g for g in order[:MOST_GROUPS] if counts[g] >= FEWEST_ROWS]
    if len(kept) < 2:
        return None
    labels = tuple(
        " & ".join(a.labels[code] for a, code in zip(attributes, distinct[g], strict=True))
        for g in kept
    )
    position = np.full(len(counts), -1)
    position[kept] = np.arange(len(kept))
    joint = np.full(len(codes), -1)
    joint[known] = position[inverse.ravel()]
    left = int(np.count_nonzero(known & (joint < 0)))
    note = f"{left} rows of {len(counts) - len(kept)} rare combinations are left out."
    return Measured(
        name=" × ".join(a.name for a in attributes),
        columns=tuple(column for a in attributes for column in a.columns),
        kind="intersection",
        labels=labels,
        codes=joint,
        fitted=np.array([*labels, None], dtype=object)[joint],
        note=note if left else "",
    )
