"""What is asked of a table: groups, subject ids, and both halves of a split."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import numpy as np

from .._attributes import Roles
from ..errors import AuditError
from ..metrics import Strata
from ..models import FEWEST_ROWS, MOST_GROUPS, Measured, measure_attribute
from ..tables import Table, TableEncoder, bytes_of_vectors, find_person
from ._phrases import percent
from ._representations import TrainingRows
from ._results import Attribute, Column, Data, Group, Notice, Reading, Target
from ._splits import ExistingModel, HeldOut, Split, bands, copies, members, one_row_each

if TYPE_CHECKING:
    from pandas import DataFrame, Series

_FEWEST_IN_ALL = 100  # halves of fewer rows show nothing but noise
_MANY_ALIKE = 0.05  # of the rows: a share that is told, even where people are just alike
_MOST_JOINT = 24  # joint groups that are counted by themselves: more are no table to read
_DRAWS_OF_ROWS = 19  # keeps these draws apart from others of the same seed


@dataclass(frozen=True, eq=False)
class Everybody:
    """All rows of a known target, of which some may have been drawn to fit and to measure.

    What needs no fitting is counted here: groups, outcomes, and what models that exist say.
    `alike` are strata of equal legitimate factors, if there are any.
    """

    attributes: list[Measured]
    people: np.ndarray
    y: np.ndarray | None
    weights: np.ndarray | None
    existing: list[ExistingModel]
    alike: Strata | None = None

    def held_out(self, question: Question, turn: int) -> HeldOut:
        """Return one row of every person as rows of one half, to which nothing was fitted."""
        rng = np.random.default_rng([question.seed, turn, _DRAWS_OF_ROWS])
        rows = one_row_each(self.people, rng)
        nothing = np.empty((0, 0))
        return HeldOut(
            index=0,
            rows=TrainingRows(
                nothing,
                {},
                {},
                0,
                question.seed,
                None if self.y is None else self.y[:0],
                question.roles.target,
                None if question.target is None else question.target.kind,
            ),
            X=np.empty((len(rows), 0)),
            codes_train=[],
            codes=[a.codes[rows] for a in self.attributes],
            all_codes=[a.all_codes[rows] for a in self.attributes],
            sizes=[len(a.all_labels) for a in self.attributes],
            y=None if self.y is None else self.y[rows],
            weights=None if self.weights is None else self.weights[rows],
            places=rows,
            people=self.people[rows],
            chances=chances_of(self.attributes, rows),
            alike=None if self.alike is None else self.alike.at(rows),
        )


@dataclass(frozen=True, eq=False)
class Question:
    """What is asked of the rows that are used; `n_dropped` do not count, `k` components.

    Rows with the same number in `people` stay on one side of a split; `counted` are the attributes
    with their groups counted in the whole table. `y` is true where the target is positive, or has
    classes from 0 on, or numbers. `weights` have the mean 1, and count a row that was drawn of
    several as often; `existing` are models that exist, and `everybody` all rows.
    `encoder` tells of what kind each column is; what rows are encoded by, their half tells. It is
    None where there are no features, and what exists is all there is to audit. `given` are columns
    of legitimate factors, `alike` the strata in which they are equal, and `probed_in` coarser ones.
    `probabilities` are the columns with those of groups, by attribute and group.
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
    existing: list[ExistingModel]
    everybody: Everybody
    n_dropped: int
    notices: list[Notice]
    columns: list[Column]
    encoder: TableEncoder | None
    k: int
    seed: int
    given: DataFrame | None = None
    alike: Strata | None = None
    probed_in: Strata | None = None
    probabilities: dict[str, dict[str, str]] = field(default_factory=dict)
    token: str = field(default_factory=lambda: uuid4().hex)

    def without_table(self) -> Question:
        """Return what a process needs to measure; the table may have more rows, and columns."""
        nobody = Everybody([], np.empty(0, dtype=int), None, None, [])
        table = replace(self.table, frame=self.table.frame.iloc[:0])
        return replace(self, table=table, everybody=nobody, given=None, alike=None, probed_in=None)

    @property
    def n_encoded(self) -> int:
        """Numbers per row after encoding."""
        return 0 if self.encoder is None else len(self.encoder.mean_)

    @property
    def singles(self) -> list[Measured]:
        """The attributes without their intersections."""
        return [a for a in self.attributes if a.kind != "intersection"]

    @property
    def strata(self) -> list[np.ndarray]:
        """What every half should have the same share of."""
        codes = [a.codes for a in self.attributes]
        return codes if self.y is None else [*codes, bands(self.y)]

    def described(self) -> Data:
        """Return the table as the audit shows it."""
        told = {"columns": None, "header": None, "skip_lines": 0, **self.table.reading}
        return Data(
            name=self.table.name,
            source=self.table.source,
            fingerprint=self.table.fingerprint,
            n_rows=len(self.features),
            n_rows_dropped=self.n_dropped,
            n_people=len(np.unique(self.people)),
            n_features=len(self.roles.features),
            n_encoded=self.n_encoded,
            ignored=list(self.roles.ignored),
            columns=self.columns,
            attributes=self.counted,
            target=self.target,
            reading=Reading(**told) if self.table.reading else None,
            n_rows_table=len(self.table.frame),
            title=self.table.title,
            labels=dict(self.table.labels) or None,
        )


def all_rows(question: Question, n_rounds: int) -> list[HeldOut]:
    """Return all people, once, or with other rows of theirs as often as there are rounds."""
    everybody = question.everybody
    once = len(np.unique(everybody.people)) == len(everybody.people)
    return [everybody.held_out(question, turn) for turn in range(1 if once else n_rounds)]


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
    if encoded and question.encoder is not None:
        like = question.encoder
        encoder = TableEncoder(scale=like.scale, missing=like.missing).fit(train, like=like)
        X_train, X = encoder.transform(train), encoder.transform(test)
    single = question.singles
    y, weights, target = question.y, question.weights, question.target
    fitted_to = parts_of_people(question.people[split.train])
    fitted_to = fitted_to if weights is None else fitted_to * weights[split.train]
    return HeldOut(
        index=split.index,
        rows=TrainingRows(
            X_train,
            {c: of[split.train] for a in single for c, of in a.to_fit.items()},
            {
                c: "categorical" if a.kind == "levels" else "numeric"
                for a in single
                for c in a.to_fit
            },
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
        all_codes=[a.all_codes[held_out] for a in question.attributes],
        sizes=[len(a.all_labels) for a in question.attributes],
        y=None if y is None else y[held_out],
        rate=float("nan") if y is None else _shares(y[split.train], fitted_to, target),
        weights=None if weights is None else weights[held_out],
        places=held_out,
        people=question.people[held_out],
        people_train=question.people[split.train],
        encoder=encoder,
        chances=chances_of(question.attributes, held_out),
        alike=None if question.alike is None else question.alike.at(held_out),
        kinds=tuple(a.kind for a in question.attributes),
    )


def chances_of(attributes: Sequence[Measured], rows: np.ndarray) -> list[np.ndarray | None]:
    """Return, of each attribute that is known in part, the probabilities of its groups."""
    found = [one.chances for one in attributes]
    return [None if of is None else of[rows] for of in found]


def _shares(y: np.ndarray, counts: np.ndarray, target: Target | None) -> float | np.ndarray:
    """Return the share of positive rows, or of each class; numbers have none."""
    if target is None or target.kind == "number":
        return float("nan")
    found = np.bincount(y.astype(int), counts, minlength=max(2, len(target.classes)))
    return found / found.sum() if target.classes else float(found[1] / found.sum())


def attributes_in(
    frame: DataFrame,
    roles: Roles,
    said: Mapping[str, str],
    n_rows: np.ndarray | None = None,
    probable: Sequence[Measured] = (),
) -> list[Measured]:
    """Return the attributes of all rows, those known as probabilities, and joint groups.

    Joint groups are of known ones: of others, nobody knows how they go together.
    """
    found = [measure_attribute(frame[name], said.get(name), n_rows) for name in roles.sensitive]
    sizes = sorted({2, len(found)}) if len(found) >= 2 else []  # every pair, and all together
    joint = [_joint(chosen, n_rows) for size in sizes for chosen in combinations(found, size)]
    return [*found, *probable, *(attribute for attribute in joint if attribute is not None)]


def _joint(attributes: Sequence[Measured], n_rows: np.ndarray | None) -> Measured | None:
    """Return the joint groups, or None where fewer than two have enough rows for probes.

    All that occur are counted, those of most rows first; the last of very many together.
    """
    codes = [a.all_codes for a in attributes]
    known = np.all([c >= 0 for c in codes], axis=0)
    inverse = np.zeros(int(known.sum()), dtype=int)
    for attribute, c in zip(attributes, codes, strict=True):  # integers sort faster than rows do
        cell = inverse * len(attribute.all_labels) + c[known]
        _, first, inverse = np.unique(cell, return_index=True, return_inverse=True)
    distinct = np.stack([c[known][first] for c in codes], axis=1)
    counts = np.rint(np.bincount(inverse, None if n_rows is None else n_rows[known]))
    order = np.argsort(-counts, kind="stable")
    n_probed = int(np.count_nonzero(counts[order[:MOST_GROUPS]] >= FEWEST_ROWS))
    if n_probed < 2:
        return None
    labels = [
        " & ".join(a.all_labels[code] for a, code in zip(attributes, distinct[g], strict=True))
        for g in order
    ]
    position, notes = np.argsort(order), []
    if len(order) > _MOST_JOINT:
        n_others = len(order) - _MOST_JOINT + 1
        labels = [*labels[: _MOST_JOINT - 1], f"other ({n_others} combinations)"]
        position = np.minimum(position, _MOST_JOINT - 1)
        notes.append(f"{n_others} combinations with the fewest rows are combined.")
    joint = np.full(len(known), -1)
    joint[known] = position[inverse]
    probed = np.where(joint < n_probed, joint, -1)
    left = int(np.count_nonzero(joint >= n_probed))
    if left:
        which = f"{left} rows of {len(labels) - n_probed} rare combinations"
        notes.append(f"Probes leave out {which}, whose rates are shown.")
    return Measured(
        name=" × ".join(a.name for a in attributes),
        columns=tuple(column for a in attributes for column in a.columns),
        kind="intersection",
        labels=tuple(labels[:n_probed]),
        codes=probed,
        fitted=np.array([*labels[:n_probed], None], dtype=object)[probed],
        note=" ".join(notes),
        rare=tuple(labels[n_probed:]),
        with_rare=joint,
    )


def counted_groups(used: Measured, everybody: Everybody) -> Attribute:
    """Return an attribute with its groups counted in the whole table, where they are there."""
    counts: dict[str, tuple[int, float, float | None]] = {}
    y, weights = everybody.y, everybody.weights
    for one in (one for one in everybody.attributes if one.name == used.name):
        of, m = members(one.all_codes, one.chances), len(one.all_labels)
        rates: list[float | None] = [None] * m
        w = of.chances if weights is None else of.chances * weights[of.rows]
        heavy = np.bincount(of.codes, w, minlength=m)
        if y is not None and y.dtype.kind in "bf":  # several classes have no mean
            rates = (np.bincount(of.codes, w * y[of.rows], minlength=m) / heavy).tolist()
        shares, rows = heavy / heavy.sum(), of.counts(m).round()
        counts = dict(zip(one.all_labels, zip(rows, shares, rates, strict=True), strict=True))
    groups, known = [], used.all_codes >= 0
    all_used = members(used.all_codes, used.chances).counts(len(used.all_labels)).round()
    for label, n_used in zip(used.all_labels, all_used, strict=True):
        n, share, rate = counts.get(label, (n_used, n_used / known.sum(), None))
        measured = label in used.labels
        groups.append(Group(label, int(n), float(share), rate, int(n_used), measured))
    missing = int(np.count_nonzero(~known))
    return Attribute(used.name, list(used.columns), used.kind, groups, missing, used.note)


def parts_of_people(people: np.ndarray) -> np.ndarray:
    """Return what each row is of its person: 1 where it is the only one."""
    return 1.0 / np.bincount(people)[people]


def copies_in(frame: DataFrame, roles: Roles) -> tuple[np.ndarray, list[Notice]]:
    """Return a number for each row, the same for copies, and what to say of it.

    Where nobody says whose rows they are, equal ones may be copies.
    """
    if not roles.features:  # groups, outcomes and decisions of different people are alike
        return np.arange(len(frame)), []
    shown = [name for name in frame if roles.of(name) not in ("ignored", "score", "decision")]
    row, copied = copies([numbered(frame[name]) for name in shown])
    once = np.unique(row, return_index=True)[1]
    candidates = [name for name in frame if roles.of(name) in ("feature", "ignored")]
    attributes = [*roles.sensitive, *roles.probability]
    person = find_person(frame.iloc[np.sort(once)], attributes, candidates)
    told = [] if person is None else [notice_of(person)]
    n, repeats = len(row), len(row) - int(row.max()) - 1
    share = repeats / n
    said = f"{repeats:,} rows ({percent(share)}) are equal to another one, attributes and all"
    if copied:
        text = (
            f"{said}, and too many to be of different people. Duplicates stay on one side of every "
            f"split, and are measured once: a model that has seen a row has nothing to predict."
        )
        return row, [Notice("repeated_rows", "warning", "", "", share, text), *told]
    text = (
        f"{said}, as chance allows in columns this coarse: they count as different people. If they "
        f"are duplicates, remove them: accuracy and leakage would be overstated."
    )
    if share >= _MANY_ALIKE:
        told.append(Notice("repeated_rows", "info", "", "", share, text))
    return np.arange(n), told


def named_people(column: Series) -> tuple[np.ndarray, list[Notice]]:
    """Return a number for each person; a row without a value is of nobody else."""
    people = numbered(column)
    unknown = np.flatnonzero(people == 0)
    people[unknown] = people.max() + 1 + np.arange(len(unknown))
    people = np.unique(people, return_inverse=True)[1]
    check_rows(int(people.max()) + 1, f" of different people in '{column.name}'")
    if not len(unknown):
        return people, []
    text = (
        f"{len(unknown):,} rows have no value in '{column.name}': each counts as a separate person."
    )
    return people, [
        Notice("unknown_values", "warning", str(column.name), "", float(len(unknown)), text)
    ]


def numbered(column: Series) -> np.ndarray:
    column = bytes_of_vectors(column)
    try:
        codes, _ = column.factorize()
    except TypeError:  # lists, say
        codes, _ = column.map(repr).factorize()
    return np.asarray(codes + 1)


def check_rows(n: int, which: str) -> None:
    if n < _FEWEST_IN_ALL:
        raise AuditError(
            f"The table has {n} rows{which}, but at least {_FEWEST_IN_ALL} are needed: fewer show "
            f"only noise.",
            too_few=True,
        )


def notice_of(n: Any) -> Notice:
    """Return a notice about a table as one of the audit."""
    return Notice(n.kind, n.severity, n.column, n.other or "", n.value, n.text)
