"""From a table and names to a question that can be measured: rows, groups, target, columns."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from itertools import combinations, product
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import numpy as np

from .._attributes import Roles, checked_kinds, listed
from ..errors import AuditError, TargetError, UsageError
from ..estimators import usual_components
from ..metrics import percent
from ..tables import (
    FEWEST_ROWS,
    MOST_GROUPS,
    AttributePlan,
    Measured,
    Table,
    TableEncoder,
    as_table,
    binary_target,
    find_notices,
    find_person,
    measure_attribute,
    numbers_of,
    plan_target,
    roles_in,
)
from ._representations import TrainingRows
from ._results import Attribute, Column, Data, Group, Notice, Reading, Target
from ._splits import Effort, HeldOut, OwnModel, Split, copies, evenly_sampled, one_row_each

if TYPE_CHECKING:
    from pandas import DataFrame, Series

_FEWEST_IN_ALL = 100  # halves of fewer rows show nothing but noise
_MANY_ALIKE = 0.05  # of the rows: a share that is told, even where people are just alike
_FEWEST_OUTCOMES = 20  # fewer of either teach a model nothing, and may all be in one half
_DRAWS_OF_ROWS = 19  # keeps these draws apart from others of the same seed


@dataclass(frozen=True, eq=False)
class Question:
    """What is asked of the rows that are used; `n_dropped` do not count, `k` components.

    Rows with the same number in `people` stay on one side of a split; `counted` are the attributes
    with their groups counted in the whole table. `y` is true where the target is positive, or has
    classes from 0 on, or numbers. `weights` have the mean 1; `own` are models that exist. `encoder`
    tells of what kind each column is; what rows are encoded by, their half tells.
    """

    table: Table
    features: DataFrame
    roles: Roles
    attributes: list[Measured]
    people: np.ndarray
    counted: list[Attribute]
    y: np.ndarray | None
    target: Target | None
    weights: np.ndarray | None
    own: list[OwnModel]
    n_dropped: int
    notices: list[Notice]
    columns: list[Column]
    encoder: TableEncoder
    k: int
    seed: int
    token: str = field(default_factory=lambda: uuid4().hex)

    def without_table(self) -> Question:
        """Return what a process needs to measure; the table may have more rows, and columns."""
        return replace(self, table=replace(self.table, frame=self.table.frame.iloc[:0]))

    @property
    def strata(self) -> list[np.ndarray]:
        """What every half should have the same share of."""
        codes = [a.codes for a in self.attributes]
        return codes if self.y is None else [*codes, _bands(self.y)]

    def described(self) -> Data:
        """Return the table as the audit shows it."""
        return Data(
            name=self.table.name,
            source=self.table.source,
            fingerprint=self.table.fingerprint,
            n_rows=len(self.features),
            n_rows_dropped=self.n_dropped,
            n_people=len(np.unique(self.people)),
            n_features=len(self.roles.features),
            n_encoded=len(self.encoder.mean_),
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
    above: float | None = None,
    ignore: Sequence[str],
    sensitive_kinds: Mapping[str, str] | None = None,
    scores: str | Sequence[str] = (),
    decisions: str | Sequence[str] = (),
    person: str | None = None,
    weight: str | None = None,
    n_components: int | None,
    effort: Effort,
    seed: int,
    data: str | os.PathLike[str] | None,
) -> Question:
    """Read the table, check the names, choose the rows and look at every column."""
    table = as_table(table, data)
    others = {"person": person, "weight": weight, "score": scores, "decision": decisions}
    roles = roles_in(table, sensitive, target, ignore, **others)
    _check_rows(len(table.frame), "")
    said = checked_kinds(sensitive_kinds, filter(None, [*roles.sensitive, roles.target]))
    frame, weights, notices = _weighed(table.frame, roles.weight)
    frame, y, weights, plan = _with_target(frame, weights, roles.target, said, positive, above)
    n_dropped = len(table.frame) - len(frame)
    said.pop(roles.target or "", None)
    whole = _attributes(frame, roles, said)
    rng = np.random.default_rng(seed)
    strata = [a.codes for a in whole] + ([] if y is None else [_bands(y)])
    chosen = evenly_sampled(strata, effort.max_rows, rng, effort.group_rows)
    attributes, everybody = [_of_rows(a, chosen) for a in whole], len(frame)
    counted_in = whole, y, weights
    if len(chosen) < everybody:
        notices.append(_drawn(whole, attributes, everybody, effort.group_rows))
        frame = frame.iloc[chosen].reset_index(drop=True)
        y, weights = (None if of is None else of[chosen] for of in (y, weights))
    people, repeated = _people(frame, roles)
    notices += repeated
    if len(np.unique(people)) < len(frame):  # what is rare is decided by different people
        said |= {a.name: "numeric" for a in whole if a.kind == "numeric"}
        attributes = _attributes(frame, roles, said, _parts(people))
    features = frame[list(roles.features)]
    encoder = TableEncoder().fit(features)
    d = len(encoder.mean_)
    if n_components is not None and n_components > d:
        raise AuditError(
            f"n_components={n_components}, but the columns give {d} numbers per row. Take at most "
            f"{d}."
        )
    own, unknown = _own_models(frame, roles, plan)
    _check_groups(own, attributes, _parts(people))
    return Question(
        table=table,
        features=features,
        roles=roles,
        attributes=attributes,
        people=people,
        counted=[_counted(a, *counted_in) for a in attributes],
        y=y,
        target=None if plan is None else _target(plan, *counted_in[1:]),
        weights=None if weights is None else weights / weights.mean(),
        own=own,
        n_dropped=n_dropped,
        notices=[*notices, *unknown, *_noticed(table, frame, roles, attributes, y)],
        columns=_columns(frame, roles, encoder),
        encoder=encoder,
        k=usual_components(d) if n_components is None else n_components,
        seed=seed,
    )


def prepare(question: Question, split: Split, *, encoded: bool = True) -> HeldOut:
    """Encode both halves by what the training half shows; people are measured once.

    Of a person's rows one is drawn, another in each round of splits; all are fitted to. If they are
    not `encoded`, rows have no columns: what is judged needs none.
    """
    rng = np.random.default_rng([question.seed, split.index // 2, _DRAWS_OF_ROWS])
    drawn = one_row_each(question.people, rng)
    held_out = drawn[np.isin(drawn, split.test)]
    train, test = (question.features.iloc[rows] for rows in (split.train, held_out))
    encoder, X_train, X = None, np.empty((len(train), 0)), np.empty((len(test), 0))
    if encoded:
        encoder = TableEncoder().fit(train, like=question.encoder)
        X_train, X = encoder.transform(train), encoder.transform(test)
    sensitive, kinds = _estimator_columns(question.attributes, split.train)
    y, weights, target = question.y, question.weights, question.target
    fitted_to = _parts(question.people[split.train])
    fitted_to = fitted_to if weights is None else fitted_to * weights[split.train]
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
            None if target is None else target.kind,
            None if weights is None else weights[split.train],
        ),
        X=X,
        codes_train=[a.codes[split.train] for a in question.attributes],
        codes=[a.codes[held_out] for a in question.attributes],
        sizes=[len(a.labels) for a in question.attributes],
        y=None if y is None else y[held_out],
        rate=float("nan") if y is None else _shares(y[split.train], fitted_to, target),
        weights=None if weights is None else weights[held_out],
        places=held_out,
        people=question.people[held_out],
        columns=encoder.outputs_by_column if encoder else {},
        encoder=encoder,
    )


def _weighed(frame: DataFrame, weight: str | None) -> tuple[DataFrame, Any, list[Notice]]:
    """Return the rows of a positive weight, their weights, and how many have none."""
    if weight is None:
        return frame, None, []
    weights = numbers_of(frame[weight], "weight")
    for wrong, is_wrong in (("have no", np.isnan(weights)), ("have a negative", weights < 0)):
        if is_wrong.any():
            raise AuditError(
                f"{np.count_nonzero(is_wrong):,} of {len(weights):,} rows {wrong} weight in "
                f"'{weight}', but every row needs one of 0 or more. Fill them in, or leave these "
                f"rows out."
            )
    used = weights > 0
    n_zero = int(np.count_nonzero(~used))
    text = f"{n_zero:,} rows have the weight 0 in '{weight}' and are left out."
    told = [Notice("zero_weight", "info", weight, "", float(n_zero), text)] if n_zero else []
    _check_rows(len(weights) - n_zero, f" of a positive '{weight}'")
    return frame[used], weights[used], told


def _with_target(
    frame: DataFrame,
    weights: np.ndarray | None,
    target: str | None,
    said: Mapping[str, str],
    positive: Any,
    above: float | None,
) -> tuple[DataFrame, np.ndarray | None, np.ndarray | None, AttributePlan | None]:
    """Return the rows whose target is known, renumbered, with its values, and its plan."""
    if target is None:
        if above is not None or positive is not None:
            name, value = ("positive", positive) if above is None else ("above", above)
            raise AuditError(
                f"{name}={value!r} is about the target, and no target was named. Name one "
                f"(--target), or leave it out."
            )
        return frame.reset_index(drop=True), None, weights, None
    if above is not None and positive is not None:
        raise AuditError(
            f"above={above!r} and positive={positive!r} both say when the target is a yes. Leave "
            f"one of them out."
        )
    try:
        plan, values = plan_target(frame[target], said.get(target), positive, above)
    except (UsageError, TargetError) as error:
        raise TargetError(str(error).replace("target_kinds", "sensitive_kinds")) from None
    known = plan.known(values)
    _check_rows(int(np.count_nonzero(known)), f" with a known '{target}'")
    frame, y = frame[known].reset_index(drop=True), values[known]
    _check_outcomes(plan, y)
    y = y.astype(bool) if plan.kind == "binary" else y
    return frame, y, None if weights is None else weights[known], plan


def _check_outcomes(plan: AttributePlan, y: np.ndarray) -> None:
    """Refuse a target of which too few rows tell anything."""
    enough = f"at least {_FEWEST_OUTCOMES} are needed to measure"
    if plan.kind == "numeric":
        if len(np.unique(y)) < 2:
            raise TargetError(
                f"The target '{plan.name}' has the value {y[0]:g} only, and nothing can be learned "
                f"about it. Name another target, or none."
            )
        return
    counts = np.bincount(y, minlength=len(plan.labels))
    if plan.kind == "binary":
        name = plan.labels[-1]
        which = f"are '{name}'" if counts[1] < counts[0] else f"are not '{name}'"
        if counts.min() < _FEWEST_OUTCOMES:
            raise TargetError(
                f"Only {counts.min()} rows of the target '{plan.name}' {which}, but {enough} "
                f"decisions. Name another target, or none, or give more rows."
            )
    rare = [f"'{plan.labels[c]}' ({counts[c]})" for c in np.flatnonzero(counts < _FEWEST_OUTCOMES)]
    if rare:
        raise TargetError(
            f"Of the target '{plan.name}', {len(rare)} of {len(counts)} classes have too few rows: "
            f"{', '.join(rare[:4])}{' and others' if len(rare) > 4 else ''}, but {enough} a class. "
            f"Merge them with others, leave these rows out, or say which value is the yes "
            f"(positive=..., on the command line --positive)."
        )


def _target(plan: AttributePlan, y: Any, weights: np.ndarray | None) -> Target:
    """Return what the audit shows of the target, over all rows."""
    kind = {"binary": "binary", "categorical": "classes", "numeric": "number"}[plan.kind]
    mean = float(np.average(y.astype(float), weights=weights))
    deviation = float(np.sqrt(np.average((y - mean) ** 2, weights=weights)))
    binary, number = kind == "binary", kind == "number"
    return Target(
        name=plan.name,
        kind=kind,
        positive=plan.labels[-1] if binary else None,
        rate=mean if binary else None,
        classes=list(plan.labels) if kind == "classes" else [],
        mean=mean if number else None,
        deviation=deviation if number else None,
    )


def _bands(y: np.ndarray) -> np.ndarray:
    """Return outcomes as strata: the classes, or the quarters of numbers."""
    if y.dtype.kind != "f":
        return y.astype(int)
    return np.searchsorted(np.unique(np.quantile(y, [0.25, 0.5, 0.75])), y)


def _shares(y: np.ndarray, counts: np.ndarray, target: Target | None) -> float | np.ndarray:
    """Return the share of positive rows, or of each class; numbers have none."""
    if target is None or target.kind == "number":
        return float("nan")
    found = np.bincount(y.astype(int), counts, minlength=max(2, len(target.classes)))
    return found / found.sum() if target.classes else float(found[1] / found.sum())


def _own_models(
    frame: DataFrame, roles: Roles, plan: AttributePlan | None
) -> tuple[list[OwnModel], list[Notice]]:
    """Return scores and decisions of models that exist, and of how many rows they are unknown."""
    yes = plan.labels[-1] if plan is not None and plan.kind == "binary" else None
    found = [("score", c, numbers_of(frame[c], "score")) for c in roles.score]
    found += [("decision", c, _decided(frame[c], yes)) for c in roles.decision]
    notices = []
    for kind, name, values in found:
        unknown = int(np.count_nonzero(np.isnan(values)))
        _check_rows(len(values) - unknown, f" with a {kind} in '{name}'")
        if np.nanmin(values) == np.nanmax(values):
            raise AuditError(
                f"The {kind} '{name}' has one value only, so it tells nobody apart. Name another "
                f"column."
            )
        if unknown:
            text = f"{unknown:,} rows have no {kind} in '{name}' and are left out of its numbers."
            notices.append(Notice("unknown_values", "info", name, "", float(unknown), text))
    own = [OwnModel(f"{kind}:{c}", f"{kind.title()} '{c}'", kind, v) for kind, c, v in found]
    return own, notices


def _check_groups(
    own: Sequence[OwnModel], attributes: Sequence[Measured], parts: np.ndarray
) -> None:
    """Refuse what is known of too few people of a group to be compared."""
    for model, attribute in product(own, attributes):
        members = attribute.codes >= 0
        total, known = (
            np.bincount(attribute.codes[rows], parts[rows], len(attribute.labels)).round()
            for rows in (members, members & ~np.isnan(model.values))
        )
        for group in np.flatnonzero(known < np.minimum(total, FEWEST_ROWS)):
            raise AuditError(
                f"{model.name} is known of {known[group]:.0f} people with {attribute.name} = "
                f"'{attribute.labels[group]}', but {FEWEST_ROWS} of every group are needed to "
                f"compare them. Fill it in, or leave such rows out."
            )


def _decided(column: Series, yes: str | None) -> np.ndarray:
    """Return decisions as 1 and 0, NaN where there is none; the target's yes is theirs, too."""
    for positive in dict.fromkeys([yes, None]):
        with suppress(TargetError):
            is_yes, known, _ = binary_target(column, positive)
            return np.where(known, is_yes.astype(float), np.nan)
    raise AuditError(
        f"The decision '{column.name}' has {column.nunique()} distinct value(s) "
        f"({listed(column.dropna().unique(), 4)}), but it must be a yes or no. Make a column of "
        f"two values."
    )


def _attributes(
    frame: DataFrame, roles: Roles, said: Mapping[str, str], n_rows: np.ndarray | None = None
) -> list[Measured]:
    """Return the attributes of all rows, then their intersections."""
    found = [measure_attribute(frame[name], said.get(name), n_rows) for name in roles.sensitive]
    return [*found, *_intersections(found, n_rows)]


def _parts(people: np.ndarray) -> np.ndarray:
    """Return what each row is of its person: 1 where it is the only one."""
    return 1.0 / np.bincount(people)[people]


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


def _people(frame: DataFrame, roles: Roles) -> tuple[np.ndarray, list[Notice]]:
    """Return a number for each row, the same for one person or for copies, and what to say of it.

    Where nobody says whose rows they are, equal ones may be copies.
    """
    if roles.person is not None:
        return _named_people(frame[roles.person])
    row, copied = copies([_numbered(frame[name]) for name in frame if roles.of(name) != "ignored"])
    once = np.unique(row, return_index=True)[1]
    candidates = [name for name in frame if roles.of(name) in ("feature", "ignored")]
    person = find_person(frame.iloc[np.sort(once)], roles.sensitive, candidates)
    told = [] if person is None else [_told(person)]
    n, repeats = len(row), len(row) - int(row.max()) - 1
    share = repeats / n
    said = f"{repeats:,} rows ({percent(share)}) are equal to another one, attributes and all"
    if copied:
        text = (
            f"{said}, and too many to be of different people. Copies stay on one side of every "
            f"split, and are measured once: a model that meets a row again has not guessed."
        )
        return row, [Notice("repeated_rows", "warning", "", "", share, text), *told]
    text = (
        f"{said}, as may be in columns so coarse: they are taken for different people. If they are "
        f"copies, models only seem to guess, so leave copies out."
    )
    if share >= _MANY_ALIKE:
        told.append(Notice("repeated_rows", "info", "", "", share, text))
    return np.arange(n), told


def _named_people(column: Series) -> tuple[np.ndarray, list[Notice]]:
    """Return a number for each person; a row without a value is of nobody else."""
    people = _numbered(column)
    unknown = np.flatnonzero(people == 0)
    people[unknown] = people.max() + 1 + np.arange(len(unknown))
    people = np.unique(people, return_inverse=True)[1]
    _check_rows(int(people.max()) + 1, f" of different people in '{column.name}'")
    if not len(unknown):
        return people, []
    text = (
        f"{len(unknown):,} rows have no value in '{column.name}': each is taken for a person of "
        f"its own."
    )
    return people, [
        Notice("unknown_values", "warning", str(column.name), "", float(len(unknown)), text)
    ]


def _check_rows(n: int, which: str) -> None:
    if n < _FEWEST_IN_ALL:
        raise AuditError(
            f"The table has {n} rows{which}, but at least {_FEWEST_IN_ALL} are needed: they are "
            f"divided into halves, and a half of fewer shows nothing but noise."
        )


def _noticed(
    table: Table,
    frame: DataFrame,
    roles: Roles,
    attributes: Sequence[Measured],
    y: np.ndarray | None,
) -> list[Notice]:
    looked_at = [c for c in frame if roles.of(c) in ("feature", "sensitive", "target")]
    shown = frame[looked_at]
    if y is not None and y.dtype == bool and frame[roles.target].nunique() > 2:
        shown = shown.assign(**{str(roles.target): y})  # of several values, the yes is what matters
    found = find_notices(shown, list(roles.sensitive), roles.target, renamed=table.renamed)
    told = [_told(notice) for notice in found]
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
        told.append(Notice(kind, "info", attribute.name, "", float(unknown), text))
    return told


def _told(n: Any) -> Notice:
    """Return a notice about a table as one of the audit."""
    return Notice(n.kind, n.severity, n.column, n.other or "", n.value, n.text)


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
            missing, distinct = int(column.isna().sum()), int(_numbered(column).max())
            found.append(Column(name, roles.of(name), "", missing, distinct, 0, ""))
    return found


def _counted(
    used: Measured,
    whole: Sequence[Measured],
    y: np.ndarray | None,
    weights: np.ndarray | None = None,
) -> Attribute:
    """Return an attribute with its groups counted in the whole table, where they are there."""
    counts: dict[str, tuple[int, float, float | None]] = {}
    for one in (one for one in whole if one.name == used.name):
        rates: list[float | None] = [None] * len(one.labels)
        known, m = one.codes >= 0, len(one.labels)
        w = np.ones(len(one.codes)) if weights is None else weights
        heavy = np.bincount(one.codes[known], w[known], minlength=m)
        if y is not None and y.dtype.kind in "bf":  # several classes have no mean
            rates = (np.bincount(one.codes[known], (w * y)[known], minlength=m) / heavy).tolist()
        shares = heavy / heavy.sum()
        counts = dict(zip(one.labels, zip(one.counts, shares, rates, strict=True), strict=True))
    groups = []
    for label, n_used in zip(used.labels, used.counts, strict=True):
        n, share, rate = counts.get(label, (n_used, n_used / used.counts.sum(), None))
        groups.append(Group(label, int(n), float(share), rate, int(n_used)))
    missing = int(np.count_nonzero(used.codes < 0))
    return Attribute(used.name, list(used.columns), used.kind, groups, missing, used.note)


def _intersections(
    attributes: Sequence[Measured], n_rows: np.ndarray | None = None
) -> list[Measured]:
    """Return every pair of attributes, and all of them together, as joint groups."""
    n = len(attributes)
    sizes = sorted({2, n}) if n >= 2 else []
    joint = [_joint(chosen, n_rows) for size in sizes for chosen in combinations(attributes, size)]
    return [attribute for attribute in joint if attribute is not None]


def _joint(attributes: Sequence[Measured], n_rows: np.ndarray | None) -> Measured | None:
    """Return the joint groups of enough rows, or None where there are fewer than two."""
    codes = np.stack([a.codes for a in attributes], axis=1)
    known = (codes >= 0).all(axis=1)
    distinct, inverse = np.unique(codes[known], axis=0, return_inverse=True)
    counts = np.rint(np.bincount(inverse.ravel(), None if n_rows is None else n_rows[known]))
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


def _estimator_columns(
    attributes: Sequence[Measured], rows: np.ndarray
) -> tuple[dict[str, np.ndarray], dict[str, str]]:
    """Return the columns of some rows as estimators take them, and their kinds."""
    single = [a for a in attributes if a.kind != "intersection"]
    kinds = {a.name: "numeric" if a.kind == "numeric" else "categorical" for a in single}
    return {a.name: a.fitted[rows] for a in single}, kinds
