"""From a table and names to a question that can be measured: rows, groups, target, columns."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np

from .._attributes import Roles, checked_kinds
from ..errors import AuditError, TargetError
from ..estimators import usual_components
from ..metrics import percent
from ..tables import (
    FEWEST_ROWS,
    MOST_GROUPS,
    Measured,
    Table,
    TableEncoder,
    as_table,
    binary_target,
    find_notices,
    measure_attribute,
    roles_in,
)
from ._representations import TrainingRows
from ._results import Attribute, Column, Data, Group, Notice, Reading, Target
from ._splits import Effort, HeldOut, Split, copies, evenly_sampled

if TYPE_CHECKING:
    from pandas import DataFrame, Series

_FEWEST_IN_ALL = 100  # halves of fewer rows show nothing but noise
_MANY_ALIKE = 0.05  # of the rows: a share that is told, even where people are just alike
_FEWEST_OUTCOMES = 20  # fewer of either teach a model nothing, and may all be in one half


@dataclass(frozen=True, eq=False)
class Question:
    """What is asked of the rows that are used; `n_dropped` have no target, `k` components.

    Rows with the same number in `people` stay on one side of a split; `counted` are the attributes
    with their groups counted in the whole table. `encoder` tells of what kind each column is; what
    rows are encoded by, their half tells.
    """

    table: Table
    features: DataFrame
    roles: Roles
    attributes: list[Measured]
    people: np.ndarray
    counted: list[Attribute]
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
            attributes=self.counted,
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
    sensitive_kinds: Mapping[str, str] | None = None,
    n_components: int | None,
    effort: Effort,
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
    n_dropped = len(table.frame) - len(frame)
    frame = frame.reset_index(drop=True)
    said = checked_kinds(sensitive_kinds, roles.sensitive)
    whole = _attributes(frame, roles, said, effort)
    strata = [a.codes for a in whole] + ([] if y is None else [y.astype(int)])
    rng = np.random.default_rng(seed)
    chosen = evenly_sampled(strata, effort.max_rows, rng, effort.group_rows)
    attributes, everybody, y_whole = [_of_rows(a, chosen) for a in whole], len(frame), y
    if len(chosen) < everybody:
        notices.append(_drawn(whole, attributes, everybody, effort.group_rows))
        frame, y = frame.iloc[chosen].reset_index(drop=True), None if y is None else y[chosen]
    features = frame[list(roles.features)]
    encoder = TableEncoder().fit(features)
    people, repeated = _people(frame.drop(columns=list(roles.ignored)))
    notices += repeated
    once = _first_of_each(people)
    if len(once) < len(frame):  # what is rare is decided by different people
        said |= {a.name: "numeric" for a in whole if a.kind == "numeric"}
        apart = _attributes(frame.iloc[once], roles, said, effort)
        attributes = [_of_rows(a, people) for a in apart]
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
        people=people,
        counted=[_counted(a, whole, y_whole) for a in attributes],
        y=y,
        target=None if y_whole is None else Target(str(roles.target), str(name), y_whole.mean()),
        n_dropped=n_dropped,
        notices=notices,
        columns=_columns(frame, roles, encoder),
        encoder=encoder,
        k=usual_components(d) if n_components is None else n_components,
        seed=seed,
    )


def prepare(question: Question, split: Split) -> HeldOut:
    """Encode both halves by what the training half shows; people are measured once."""
    held_out = split.test[_first_of_each(question.people[split.test])]
    train, test = (question.features.iloc[rows] for rows in (split.train, held_out))
    encoder = TableEncoder().fit(train, like=question.encoder)
    X_train = encoder.transform(train)
    X = encoder.transform(test)
    sensitive, kinds = _estimator_columns(question.attributes, split.train)
    y = question.y
    fitted_to = split.train[_first_of_each(question.people[split.train])]
    return HeldOut(
        index=split.index,
        rows=TrainingRows(
            X_train,
            sensitive,
            kinds,
            min(question.k, X_train.shape[1]),
            question.seed,
            None if y is None else y[split.train],
            question.roles.target,
        ),
        X=X,
        codes_train=[a.codes[split.train] for a in question.attributes],
        codes=[a.codes[held_out] for a in question.attributes],
        sizes=[len(a.labels) for a in question.attributes],
        y=None if y is None else y[held_out],
        rate=float("nan") if y is None else float(y[fitted_to].mean()),
    )


def _attributes(
    frame: DataFrame, roles: Roles, said: Mapping[str, str], effort: Effort
) -> list[Measured]:
    """Return the attributes of all rows, then their intersections."""
    found = [measure_attribute(frame[name], said.get(name)) for name in roles.sensitive]
    return [*found, *(_intersections(found) if effort.joint else [])]


def _of_rows(attribute: Measured, rows: np.ndarray) -> Measured:
    return replace(attribute, codes=attribute.codes[rows], fitted=attribute.fitted[rows])


def _drawn(
    whole: Sequence[Measured], drawn: Sequence[Measured], everybody: int, at_least: int
) -> Notice:
    """Say how many rows were drawn, and which group has become most frequent by that."""
    n = len(drawn[0].codes)
    text = (
        f"{n:,} of {everybody:,} rows were drawn for this audit: at random, but of every group "
        f"{at_least:,}, or all it has, as far as they take no more than half."
    )
    more, name, share, now = max(
        (now / n / (count / everybody), f"'{w.name}' = '{label}'", count / everybody, now / n)
        for w, d in zip(whole, drawn, strict=True)
        for label, count, now in zip(w.labels, w.counts, d.counts, strict=True)
    )
    if more > 1.1:
        text += (
            f" So {name} is {percent(now)} of these rows, and {percent(share, 3)} of the table: a "
            f"number about all rows, such as an accuracy, gives such a group more weight."
        )
    return Notice("sampled", "info", "", "", float(n), text)


def _numbered(column: Series) -> np.ndarray:
    try:
        codes, _ = column.factorize()
    except TypeError:  # lists, say
        codes, _ = column.map(repr).factorize()
    return np.asarray(codes + 1)


def _people(frame: DataFrame) -> tuple[np.ndarray, list[Notice]]:
    """Return a number for each row, the same for copies, and how many rows are equal in words."""
    row, copied = copies([_numbered(frame[name]) for name in frame])
    n, repeats = len(row), len(row) - int(row.max()) - 1
    share = repeats / n
    said = f"{repeats:,} rows ({percent(share)}) are equal to another one, attributes and all"
    if copied:
        text = (
            f"{said}, and too many to be of different people. Copies stay on one side of every "
            f"split, and are measured once: a model that meets a row again has not guessed."
        )
        return row, [Notice("repeated_rows", "warning", "", "", share, text)]
    text = (
        f"{said}, as may be in columns so coarse: they are taken for different people. If they are "
        f"copies, models only seem to guess, so leave copies out."
    )
    told = share >= _MANY_ALIKE
    return np.arange(n), [Notice("repeated_rows", "info", "", "", share, text)] * told


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


def _counted(used: Measured, whole: Sequence[Measured], positive: np.ndarray | None) -> Attribute:
    """Return an attribute with its groups counted in the whole table, where they are there."""
    counts: dict[str, tuple[int, float, float | None]] = {}
    for one in (one for one in whole if one.name == used.name):
        rates: list[float | None] = [None] * len(one.labels)
        if positive is not None:
            known = one.codes >= 0
            hits = np.bincount(one.codes[known], positive[known], minlength=len(one.labels))
            rates = (hits / one.counts).tolist()
        shares = one.counts / one.counts.sum()
        counts = dict(zip(one.labels, zip(one.counts, shares, rates, strict=True), strict=True))
    groups = []
    for label, n_used in zip(used.labels, used.counts, strict=True):
        n, share, rate = counts.get(label, (n_used, n_used / used.counts.sum(), None))
        groups.append(Group(label, int(n), float(share), rate, int(n_used)))
    missing = int(np.count_nonzero(used.codes < 0))
    return Attribute(used.name, list(used.columns), used.kind, groups, missing, used.note)


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


def _first_of_each(people: np.ndarray) -> np.ndarray:
    """Return the position of the first row of each person, ascending."""
    return np.sort(np.unique(people, return_index=True)[1])


def _estimator_columns(
    attributes: Sequence[Measured], rows: np.ndarray
) -> tuple[dict[str, np.ndarray], dict[str, str]]:
    """Return the columns of some rows as estimators take them, and their kinds."""
    single = [a for a in attributes if a.kind != "intersection"]
    kinds = {a.name: "numeric" if a.kind == "numeric" else "categorical" for a in single}
    return {a.name: a.fitted[rows] for a in single}, kinds
