"""What sensitive columns and targets mean: groups of enough rows, quantities, two classes.

Rows in memory and rows of many files are measured by the same plan: values are counted, the counts
decide which levels are groups, and the plan then tells the group of every row.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from .._attributes import (
    Numeric,
    Roles,
    about_a_number,
    about_whole_numbers,
    assign_roles,
    folded,
    how_to_say,
    in_words_of_factors,
    in_words_of_targets,
    is_named,
    kind_of_factor,
    listed,
    name_of_missing,
    one_spelling,
    read_column,
)
from ..errors import SingleGroupError, TableError, UsageError
from ..tables import MARKS, Table, number, read_table, with_vectors

if TYPE_CHECKING:
    from pandas import Series

FEWEST_ROWS = 20
"""Groups of fewer rows are not measured: a half of them, in folds, is no evidence."""

MOST_GROUPS = 12
"""Of more groups, the smaller ones are measured together."""


MOST_CLASSES = 50
"""A target of more classes raises an error unless it is declared to have them."""


@dataclass(frozen=True)
class AttributePlan:
    """Which levels of a column are groups: by most rows, what was merged last; or a quantity.

    A target has all its levels, or is "binary": 1 where it is the last of the labels.
    `position` has the group of each level that is not too rare; `n_unknown` rows have no group. A
    quantity is as it is to estimators, and `cut` in two to be measured. What users should know of
    the kind of the column is in `told`, of the groups in `note`.
    """

    name: str
    kind: str
    told: str
    n_unknown: int = 0
    labels: tuple[str, ...] = ()
    n_rows: tuple[int, ...] = ()
    position: Mapping[str, int] = field(default_factory=dict)
    note: str = ""
    cut: float = np.nan

    def fitted(self, values: np.ndarray) -> np.ndarray:
        """Return what estimators get for rows of these groups, None where -1; or numbers."""
        if self.kind != "categorical":
            return values
        return np.array([*self.labels, None], dtype=object)[values]

    def known(self, values: np.ndarray) -> np.ndarray:
        """Return which rows have a group, or a number."""
        return ~np.isnan(values) if self.kind == "numeric" else values >= 0


def _plan_levels(
    name: str, counts: Mapping[str, int], n_missing: int, told: str, most: int | None
) -> AttributePlan:
    """Merge levels of few rows, and the smallest of more than `most`; too few count as unknown."""
    # Levels of as many rows are in the order of their names, whichever was read first.
    counts = dict(sorted(counts.items(), key=lambda item: (-item[1], item[0])))
    largest = list(counts)
    own = largest if most is None or len(largest) <= most else largest[: most - 1]
    kept = [level for level in own if counts[level] >= FEWEST_ROWS]
    rare = largest[len(kept) :]
    n_rare = sum(counts[level] for level in rare)
    labels, n_rows, note = list(kept), [counts[level] for level in kept], ""
    position = {level: code for code, level in enumerate(kept)}
    if rare and n_rare >= FEWEST_ROWS:
        position |= dict.fromkeys(rare, len(kept))
        labels.append(rare[0] if len(rare) == 1 else f"other ({_some(rare)})")
        n_rows.append(n_rare)
        if len(rare) > 1:
            note = f"{len(rare)} levels with the fewest rows are taken together: {_some(rare)}."
    elif rare:
        note = (
            f"{n_rare} row(s) of {_some(rare)} are too few to be measured (at least {FEWEST_ROWS} "
            f"are needed) and count as unknown."
        )
    if len(labels) < 2:
        found = ", ".join(f"'{label}' ({count})" for label, count in list(counts.items())[:4])
        missing = f", {n_missing} missing" if n_missing else ""
        raise SingleGroupError(
            f"The sensitive column '{name}' has fewer than two groups of at least {FEWEST_ROWS} "
            f"rows ({found or 'no value at all'}{missing}), so there is nothing to compare. Name "
            f"another column, or give more rows.{told and ' '}{told}"
        )
    n_unknown = n_missing + sum(counts.values()) - sum(n_rows)
    groups = tuple(labels), tuple(n_rows), position, note
    return AttributePlan(name, "categorical", told, n_unknown, *groups)


def _cut_in_two(name: str, distinct: np.ndarray, counts: np.ndarray) -> float:
    """Return where a quantity is cut into two bands, its median; `distinct` values are sorted."""
    if len(distinct) < 2:
        raise SingleGroupError(
            f"The sensitive column '{name}' is a number of {len(distinct)} value(s), so there is "
            f"nothing to compare. Name another column, or give more rows."
        )
    ends = np.cumsum(counts).round(6)
    middle = [(ends[-1] - 1) // 2, ends[-1] // 2]
    median = np.mean(distinct[np.searchsorted(ends, middle, side="right")])
    cut = float(min(float(median), distinct[-2]))
    above = counts[distinct > cut].sum()
    fewer = int(np.rint(min(above, counts.sum() - above)))
    if fewer < FEWEST_ROWS:
        raise SingleGroupError(
            f"The sensitive column '{name}' has {fewer} row(s) on one side of {cut:g}, but "
            f"at least {FEWEST_ROWS} are needed to measure anything. Give more rows."
        )
    return cut


def _some(labels: Sequence[str]) -> str:
    shown = ", ".join(map(str, labels[:3]))
    return shown if len(labels) <= 3 else f"{shown} and {len(labels) - 3} more"


@dataclass(frozen=True, eq=False)
class Measured:
    """An attribute of n rows: of the kind "levels", "numeric", "probabilities" or "intersection".

    `codes` has the place of each row's group among the `labels`, -1 where it is unknown; `fitted`
    is what estimators get: labels, None where unknown, or numbers, NaN where unknown. Groups that
    are `rare` have too few rows for probes, or are too many: they count as unknown in `codes`, and
    come after the others in `all_codes`, by which rates are counted.

    Where groups are known as `probabilities`, of shape (n, groups), NaN where unknown, rates are
    counted by these; codes are of a group that is drawn for each row. Estimators get the columns
    of all groups but the first, whose probabilities follow from them.
    """

    name: str
    columns: tuple[str, ...]
    kind: str
    labels: tuple[str, ...]
    codes: np.ndarray
    fitted: np.ndarray
    note: str
    rare: tuple[str, ...] = ()
    with_rare: np.ndarray | None = None
    probabilities: np.ndarray | None = None

    @property
    def to_fit(self) -> dict[str, np.ndarray]:
        """What estimators get, by column."""
        if self.kind != "probabilities":
            return {self.name: self.fitted}
        return dict(zip(self.columns[1:], self.fitted.T, strict=True))

    @property
    def counts(self) -> np.ndarray:
        """Rows of each group."""
        return np.bincount(self.codes[self.codes >= 0], minlength=len(self.labels))

    @property
    def all_labels(self) -> tuple[str, ...]:
        """The groups, then those that are rare."""
        return (*self.labels, *self.rare)

    @property
    def all_codes(self) -> np.ndarray:
        """Places among all groups, -1 where it is not known which."""
        return self.codes if self.with_rare is None else self.with_rare

    @property
    def chances(self) -> np.ndarray | None:
        """Probabilities of all groups, NaN of a row of unknown group; None where all are known.

        Of joint groups there are none, since a part of them may be known.
        """
        if self.probabilities is not None:
            return self.probabilities
        unknown = self.all_codes < 0
        if self.kind == "intersection" or not unknown.any():
            return None
        P = (self.all_codes[:, None] == np.arange(len(self.all_labels))).astype(float)
        P[unknown] = np.nan
        return P

    def at(self, rows: np.ndarray) -> Measured:
        """Return the same of some of the rows."""
        P = self.probabilities
        return replace(
            self,
            codes=self.codes[rows],
            fitted=self.fitted[rows],
            with_rare=self.all_codes[rows],
            probabilities=None if P is None else P[rows],
        )


def plan_column(
    column: Series,
    kind: str | None = None,
    n_rows: np.ndarray | None = None,
    most: int | None = None,
) -> tuple[AttributePlan, np.ndarray]:
    """Return the plan of a column, `n_rows` of each value, and the group or number of each.

    With repeated measures, each row may count as a part of one. Fits make all groups equal,
    however many; of what is measured, only so many can be read.
    """
    name, column = str(column.name), _without_marks(column)
    n_rows = np.ones(len(column), dtype=int) if n_rows is None else n_rows
    known = _has_level(column, kind)
    found = read_column(name, column if known.all() else column.where(known, None), kind)
    n_missing = int(n_rows[found.missing].sum())
    if isinstance(found, Numeric):
        distinct, place = np.unique(found.values[~found.missing], return_inverse=True)
        counts = np.bincount(place, n_rows[~found.missing])
        told = about_a_number(name, declared=kind is not None)
        cut = _cut_in_two(name, distinct, counts)
        return AttributePlan(name, "numeric", told, n_missing, cut=cut), found.values
    texts = _levels_of([_as_text(label) for label in found.labels], found.codes, n_rows)
    rows_of: dict[str, int] = dict.fromkeys(texts, 0)
    rows = np.bincount(found.codes + 1, n_rows, minlength=len(texts) + 1)[1:]
    for text, count in zip(texts, np.rint(rows).astype(np.int64).tolist(), strict=True):
        rows_of[text] += count
    declared = kind is not None or column.dtype == "category"
    told = "" if declared else about_whole_numbers(name, found.labels)
    if told and most is not None and len(texts) > most:
        raise UsageError(
            f"The sensitive column '{name}' has {len(texts)} whole-number values. If it is a "
            f"quantity, pass {how_to_say(name, 'numeric')}; if they are codes, pass "
            f"{how_to_say(name, 'categorical')}: the {most - 1} with the most rows are then "
            f"measured alone, the others together. Or make bands of it."
        )
    plan = _plan_levels(name, rows_of, n_missing, told, most)
    group_of = np.array([*(plan.position.get(text, -1) for text in texts), -1])
    return plan, group_of[found.codes]


def _levels_of(
    texts: Sequence[str], codes: np.ndarray, n_rows: np.ndarray | None = None
) -> list[str]:
    """Return the level that each text is a spelling of; `codes` has the text of each row, or -1."""
    counts = np.bincount(codes + 1, n_rows, minlength=len(texts) + 1)[1:].tolist()
    rows_of: dict[str, int] = dict.fromkeys(texts, 0)
    for text, count in zip(texts, counts, strict=True):
        rows_of[text] += count
    level_of = one_spelling(rows_of)
    return [level_of[text] for text in texts]


def measure_attribute(
    column: Series, kind: str | None = None, n_rows: np.ndarray | None = None
) -> Measured:
    """Return the groups of a sensitive column; a quantity is cut at its median to be measured."""
    column = _without_marks(column)
    plan, values = plan_column(column, kind, n_rows, MOST_GROUPS)
    name = plan.name
    if plan.kind == "categorical":
        note, fitted = " ".join(filter(None, [plan.told, plan.note])), plan.fitted(values)
        measured = Measured(name, (name,), "levels", plan.labels, values, fitted, note)
        few = (values < 0) & _has_level(column, kind)
        spelled = Counter(_as_text(value) for value in column[few].tolist())
        texts = sorted(set(one_spelling(spelled).values()))
        if not texts:
            return measured
        # Together too few to be measured, and shown all the same.
        label = texts[0] if len(texts) == 1 else f"other ({_some(texts)})"
        return replace(measured, rare=(label,), with_rare=np.where(few, len(plan.labels), values))
    known, cut = np.isfinite(values), plan.cut
    labels = (f"{name} ≤ {cut:g}", f"{name} > {cut:g}")
    codes = np.where(known, (values > cut).astype(int), -1)
    counts = np.bincount(codes[known], minlength=2)
    if counts[1] > counts[0]:
        labels, codes = labels[::-1], np.where(known, 1 - codes, -1)
    note = f"{plan.told} It is measured in two bands, cut at the median {cut:g}."
    return Measured(name, (name,), "numeric", labels, codes, values, note)


@dataclass(frozen=True)
class FactorPlan:
    """How a legitimate factor counts: by its levels, or as a number, which some rows may lack.

    These are compared with each other: whether a row lacks it is a factor then, too, and the number
    itself is the mean of all others, so that it says nothing of them.
    """

    name: str
    kind: str
    mean: float = 0.0
    may_lack: bool = False

    @property
    def kinds(self) -> dict[str, str]:
        """The kinds of the columns that estimators get."""
        missing = {name_of_missing(self.name): "categorical"} if self.may_lack else {}
        return {self.name: self.kind, **missing}

    def columns(self, values: np.ndarray) -> dict[str, np.ndarray]:
        """Return what estimators get for rows: texts, None where missing; or numbers, and flags."""
        if self.kind == "categorical":
            return {self.name: values}
        lacks = np.isnan(values)
        missing = {name_of_missing(self.name): lacks} if self.may_lack else {}
        return {self.name: np.where(lacks, self.mean, values), **missing}


def plan_factor(
    column: Series, kind: str | None = None, *, complete: bool = True
) -> tuple[FactorPlan, np.ndarray]:
    """Return the plan of a legitimate factor, and the text or number of each row.

    Where rows are not `complete`, there may be others, with other values or without one.
    """
    name, column = str(column.name), _without_marks(column)
    known = _has_level(column, kind)
    n_values = column[known].nunique()
    if complete and n_values + (not known.all()) < 2:
        value = f" '{_as_text(column[known].iloc[0])}'" if n_values else ""
        raise TableError(
            f"The factor '{name}' has the single value{value} in all {len(column)} rows, so it "
            f"explains nothing. Leave it out."
        )
    kind = kind or kind_of_factor(column[known])
    if kind == "categorical" or not n_values:
        return FactorPlan(name, "categorical"), texts_of(column)
    with in_words_of_factors():
        found = read_column(name, column if known.all() else column.where(known, None), kind)
    assert isinstance(found, Numeric)
    lacks = np.isnan(found.values)
    mean = float(found.values[~lacks].mean())
    return FactorPlan(name, kind, mean, bool(lacks.any()) or not complete), found.values


def texts_of(column: Series) -> np.ndarray:
    """Return how the value of each row is called, None where it is missing."""
    codes, distinct = column.where(_is_known(column), None).factorize()
    return np.array([*map(_as_text, distinct.tolist()), None], dtype=object)[codes]


_YES = frozenset(
    (
        *("yes", "y", "true", "t", "+", "positive", "pos", "approve", "approved", "accept"),
        *("accepted", "admit", "admitted", "grant", "granted", "hire", "hired", "select"),
        *("selected", "invite", "invited", "promote", "promoted", "offer", "offered", "award"),
        *("awarded", "allow", "allowed", "pass", "passed", "good", "favorable", "favourable"),
        *("eligible", "qualified", "success", "successful", "succeeded", "paid", "repaid", "won"),
    )
)
_NO = frozenset(
    (
        *("no", "n", "false", "f", "-", "negative", "neg", "not", "non", "never", "without"),
        *("deny", "denied", "decline", "declined", "reject", "rejected", "refuse", "refused"),
        *("fail", "failed", "failure", "bad", "unfavorable", "unfavourable", "dismissed"),
        *("defaulted", "lost"),
    )
)
"""Words of decisions: they show which of two values is the positive class."""

_NEGATED = re.compile("(un|in|dis)-?")


def _yes_among(levels: Sequence[str]) -> str | None:
    """Return which of two levels is positive, by its words or as a number; None if neither is.

    >>> _yes_among(["hired", "rejected"]), _yes_among(["default", "no default"])
    ('hired', 'default')
    >>> _yes_among(["eligible", "ineligible"]), _yes_among(["blue", "red"])
    ('eligible', None)
    """
    words = [folded(level) for level in levels]
    if set(words) in ({"0", "1"}, {"-1", "1"}):
        return levels[words.index("1")]
    for yes, no in ((0, 1), (1, 0)):
        before = words[no].removesuffix(words[yes])
        more = words[yes].startswith(">") and words[no].startswith("<")
        if _says(words[yes]) > _says(words[no]) or more or _NEGATED.fullmatch(before):
            return levels[yes]
    return None


def _says(level: str) -> int:
    """Return 1 where a word of a level is positive, -1 where one is negative, else 0."""
    words = {level} | {word for word in re.split("[ _-]+", level) if len(word) > 1}
    return -1 if words & _NO else int(bool(words & _YES))


def _levels_in(
    column: Series, n_rows: np.ndarray | None = None
) -> tuple[np.ndarray, np.ndarray, dict[str, list[Any]]]:
    """Return which rows are known, the level of each of them, and these in order with values."""
    known = _is_known(column)
    codes, distinct = column[known].factorize()
    values = distinct.tolist()
    texts = [_as_text(value) for value in values]
    levels = _levels_of(texts, codes, None if n_rows is None else n_rows[known])
    by_level: dict[str, list[Any]] = {}
    for level, value in zip(levels, values, strict=True):
        by_level.setdefault(level, []).append(value)
    in_order = dict(sorted(by_level.items()))
    with suppress(TypeError):  # numbers by their size, unless there are texts among them
        numbers = {level: v[0] for level, v in by_level.items() if not isinstance(v[0], str)}
        in_order = dict(sorted(by_level.items(), key=lambda item: numbers.get(item[0], item[0])))
    place = {level: i for i, level in enumerate(in_order)}
    return known, np.array([place[level] for level in levels], dtype=int)[codes], in_order


def binary_target(
    column: Series, positive: Any = None, n_rows: np.ndarray | None = None
) -> tuple[np.ndarray, np.ndarray, str]:
    """Return which rows are positive, which are known, and the value that counts as positive.

    By default that is a word such as "yes", else the larger number or the last in the alphabet.
    """
    known, codes, by_level = _levels_in(column, n_rows)
    shown = list(by_level)
    if len(shown) < 2:
        only = f"the value '{shown[0]}' only" if shown else "no value at all"
        raise TableError(
            f"The target '{column.name}' has {only}, and nothing can be learned about it. Name "
            f"another target, or none."
        )
    if positive is not None:
        chosen = _named(str(column.name), by_level, positive)
    elif len(shown) == 2:
        chosen = _yes_among(shown) or shown[-1]
    else:
        raise TableError(
            f"The target '{column.name}' has {len(shown)} distinct values "
            f"({listed(shown, 4)}), but it must be binary. Name the positive class "
            f"(pos_label='{shown[-1]}', on the command line --pos-label), or make a column of two "
            f"values, such as whether it exceeds a limit."
        )
    is_positive = np.zeros(len(column), dtype=bool)
    is_positive[known] = codes == shown.index(chosen)
    return is_positive, known, chosen


def one_decision(column: Series, positive: Any = None) -> np.ndarray | None:
    """Return decisions that are the same for all, as 1 or 0, NaN where there is none.

    They are 1 where they are the positive class, or say "yes"; None if there are several values.
    """
    known, _, by_level = _levels_in(column)
    if len(by_level) != 1:
        return None
    (level,) = by_level
    says_no = level == "0" or _yes_among([level, ""]) == ""
    is_yes = not says_no if positive is None else folded(level) == folded(str(positive))
    return np.where(known, float(is_yes), np.nan)


def about_the_yes(column: Series, remedy: str | None = None) -> str:
    """Return which of two values is taken as the positive class without a reason; else nothing.

    By default the `remedy` is the argument that names it.
    """
    _, _, by_level = _levels_in(column)
    shown = list(by_level)
    if len(shown) != 2 or _yes_among(shown) is not None:
        return ""
    no, yes = shown
    why = "last in the alphabet" if isinstance(by_level[yes][0], str) else "larger"
    if remedy is None:
        remedy = f"For the other one, pass pos_label='{no}' (command line: --pos-label '{no}')."
    return (
        f"'{column.name}' is '{no}' or '{yes}', and neither is clearly the positive class: "
        f"'{yes}', the {why}, is taken. {remedy}"
    )


def numbers_of(column: Series, what: str) -> np.ndarray:
    """Return a column as floats, NaN where there is no value; an error says `what` it is."""
    column = _without_marks(column)
    known = _is_known(column)
    try:
        if column.dtype.kind in "mM":
            raise UsageError("Days since 1970 are no numbers that anybody means.")
        found = read_column(str(column.name), column.where(known, None), "numeric")
    except UsageError:
        for value in column[known]:
            if not (isinstance(value, int | float) and np.isfinite(value)):
                raise TableError(
                    f"The {what} '{column.name}' has to be numbers, but it holds '{value}'. Name "
                    f"another column, or write numbers and leave the others empty."
                ) from None
        largest = float(np.max(np.abs(column[known].to_numpy(dtype=float))))
        raise TableError(
            f"The {what} '{column.name}' holds values of the size {largest:.0e}, whose squares "
            f"overflow. Divide it by a constant first."
        ) from None
    return np.asarray(found.values) if isinstance(found, Numeric) else np.full(len(column), np.nan)


def weights_of(numbers: np.ndarray, name: str) -> np.ndarray:
    """Return the numbers of a column of weights; raise where one is missing or negative."""
    for wrong, is_wrong in (("have no", np.isnan(numbers)), ("have a negative", numbers < 0)):
        if is_wrong.any():
            raise TableError(
                f"{np.count_nonzero(is_wrong):,} of {len(numbers):,} rows {wrong} weight in "
                f"'{name}', but every row needs one of 0 or more. Fill them in, or leave these "
                f"rows out."
            )
    return numbers


def plan_target(
    column: Series,
    kind: str | None = None,
    pos_label: Any = None,
    above: float | None = None,
    *,
    binary: bool = False,
    kinds_in: str = "target_kinds",
    n_rows: np.ndarray | None = None,
) -> tuple[AttributePlan, np.ndarray]:
    """Return the plan of a target, and the class or number of each row.

    It is binary if it must be (`binary`), if the positive class is named, by its value or `above` a
    number, or if there are two values; else by the rules for sensitive columns, but no class is too
    rare. Errors name the argument that declares its kind.
    """
    if above is not None:
        values = numbers_of(column, "target")
        plan = AttributePlan(str(column.name), "binary", "", labels=("", f"> {above:.15g}"))
        return plan, np.where(np.isnan(values), -1, values > above)
    column = _without_marks(column)
    name, known = str(column.name), _is_known(column)
    levels = {folded(_as_text(value)) for value in column[known].unique().tolist()}
    if binary or pos_label is not None or (len(levels) <= 2 and kind != "numeric"):
        is_positive, known, yes = binary_target(column, pos_label, n_rows)
        told = about_the_yes(column) if pos_label is None else ""
        plan = AttributePlan(name, "binary", told, labels=("", yes))
        return plan, np.where(known, is_positive.astype(int), -1)
    with in_words_of_targets(kinds_in):
        found = read_column(name, column if known.all() else column.where(known, None), kind)
        if isinstance(found, Numeric):
            return AttributePlan(name, "numeric", ""), found.values
        declared = kind is not None or column.dtype == "category"
        if not declared and about_whole_numbers(name, found.labels):
            raise UsageError(
                f"The target {name!r} has {len(found.labels)} whole-number values, which may be "
                f"classes or a quantity. Pass {how_to_say(name, 'numeric')} if it is a quantity, "
                f"{how_to_say(name, 'categorical')} if these are classes."
            )
    texts = _levels_of([_as_text(label) for label in found.labels], found.codes, n_rows)
    position = {t: i for i, t in enumerate(dict.fromkeys(texts))}
    if len(position) > MOST_CLASSES and not declared:
        raise TableError(
            f"The target '{name}' has {len(position)} classes ({listed(list(position), 4)}), like "
            f"identifiers, or numbers with other characters. Name another target, or merge "
            f"classes; or pass {kinds_in}={{{name!r}: 'categorical'}} (command line: "
            f"--categorical {name})."
        )
    codes = np.array([*(position[text] for text in texts), -1])
    return AttributePlan(name, "categorical", "", labels=tuple(position)), codes[found.codes]


def _named(target: str, by_level: Mapping[str, list[Any]], positive: Any) -> str:
    """Return the level that was named, in whatever spelling; raise where none fits, or two do."""
    chosen = [
        level
        for level, raw in by_level.items()
        if folded(level) == folded(str(positive)) or any(is_named(v, positive) for v in raw)
    ]
    if not chosen:
        raise TableError(
            f"No row of the target '{target}' is '{positive}'. Its values are "
            f"{listed(list(by_level))}."
        )
    if len(chosen) > 1:
        raise TableError(
            f"The target '{target}' has {listed(chosen)}, and pos_label='{positive}' may mean any "
            f"of them. Write what is the same in the same way first."
        )
    return chosen[0]


def _without_marks(column: Series) -> Series:
    """Return texts of numbers, and of marks such as "-" where they are missing, as numbers."""
    if column.dtype.kind != "O" or column.dtype == "category":
        return column
    with suppress(TypeError):  # lists, say
        distinct = column.dropna().unique().tolist()
        meant = {v: number(v.strip()) for v in distinct if isinstance(v, str)}
        marks = {v for v in meant if v.strip() in MARKS}
        if marks and len(meant) == len(distinct) > len(marks):
            plain = all(found is not None for v, found in meant.items() if v not in marks)
            return column.map(meant).astype(float) if plain else column
    return column


def _is_known(column: Series) -> np.ndarray:
    """Return which rows have a value; a question mark is none, as in the features."""
    try:
        distinct = column.unique().tolist()
    except TypeError:
        raise TableError(
            f"The column '{column.name}' holds lists or other values of several parts, which are "
            f"no groups. Name another column, or make one value of each."
        ) from None
    marks = [v for v in distinct if isinstance(v, str) and v.strip() == "?"]
    return (column.notna() & ~column.isin(marks)).to_numpy(dtype=bool)


def _has_level(column: Series, kind: str | None) -> np.ndarray:
    """Return which rows have a value; infinity is none, unless it is said to be a level."""
    known = _is_known(column)
    if getattr(column.dtype, "kind", "") == "f" and kind != "categorical":
        known = known & np.isfinite(column.to_numpy(dtype=float, na_value=np.nan))
    return known


def _as_text(value: Any) -> str:
    """Return how a value is called; numbers without a fraction like integers."""
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return str(value).strip() or "(blank)"


def as_table(table: Any, vectors: Any = None) -> Table:
    """Return what users pass as a table, perhaps with a vector for each row."""
    if isinstance(table, str | Path):
        return read_table(table, vectors=vectors)
    if not isinstance(table, Table):
        table = replace(Table.from_frame(table), source="")
    return with_vectors(table, vectors)


def roles_in(
    table: Table,
    sensitive: str | Sequence[str] | None,
    target: str | None,
    ignore: Sequence[str],
    **others: Any,
) -> Roles:
    """Return the roles of the columns; built-in data sets know theirs."""
    if sensitive is None or not len(sensitive):
        sensitive = table.sensitive or ()
        target = target if target is not None else table.target
    columns = list(table.frame.columns)
    return assign_roles(
        columns, sensitive=sensitive, target=target, ignore=ignore, renamed=table.renamed, **others
    )
