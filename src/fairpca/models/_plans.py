"""What sensitive columns and targets mean: groups of enough rows, quantities, yes or no.

Rows in memory and rows of many files are measured by the same plan: values are counted, the counts
decide which levels are groups, and the plan then tells the group of every row.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
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
    how_to_say,
    in_words_of_targets,
    is_named,
    listed,
    read_column,
)
from ..errors import SingleGroupError, TableError, UsageError
from ..tables import Table, read_table

if TYPE_CHECKING:
    from pandas import Series

FEWEST_ROWS = 20
"""Groups of fewer rows are not measured: a half of them, in folds, is no evidence."""

MOST_GROUPS = 12
"""Of more groups, the smaller ones are measured together."""


MOST_CLASSES = 50
"""A target of more classes is refused unless somebody says that it has them."""


@dataclass(frozen=True)
class AttributePlan:
    """Which levels of a column are groups: by most rows, what was merged last; or a quantity.

    A target has all its levels, or is a yes or no: "binary", 1 where it is the last of the labels.
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
    """An attribute of n rows, of the kind "levels", "numeric" or "intersection".

    `codes` has the place of each row's group among the `labels`, -1 where it is unknown; `fitted`
    is what estimators get: labels, None where unknown, or numbers, NaN where unknown. Groups that
    are `rare` have too few rows for probes, or are too many: they count as unknown in `codes`, and
    come after the others in `all_codes`, by which rates are counted.
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

    def at(self, rows: np.ndarray) -> Measured:
        """Return the same of some of the rows."""
        parts = {"codes": self.codes[rows], "fitted": self.fitted[rows]}
        return replace(self, **parts, with_rare=self.all_codes[rows])


def plan_column(
    column: Series,
    kind: str | None = None,
    n_rows: np.ndarray | None = None,
    most: int | None = None,
) -> tuple[AttributePlan, np.ndarray]:
    """Return the plan of a column, `n_rows` of each value, and the group or number of each.

    Of people with several rows, each row may count as a part of one. Fits make all groups equal,
    however many; of what is measured, only so many can be read.
    """
    name = str(column.name)
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
    texts = [_as_text(label) for label in found.labels]
    rows_of: dict[str, int] = dict.fromkeys(texts, 0)
    rows = np.bincount(found.codes + 1, n_rows, minlength=len(texts) + 1)[1:]
    for text, count in zip(texts, np.rint(rows).astype(np.int64).tolist(), strict=True):
        rows_of[text] += count
    declared = kind is not None or column.dtype == "category"
    told = "" if declared else about_whole_numbers(name, found.labels)
    if told and most is not None and len(texts) > most:
        raise UsageError(
            f"The sensitive column '{name}' has {len(texts)} whole-number values. If it is a "
            f"quantity, say {how_to_say(name, 'numeric')}; if they are codes, say "
            f"{how_to_say(name, 'categorical')}: the {most - 1} with the most rows are then "
            f"measured alone, the others together. Or make bands of it."
        )
    plan = _plan_levels(name, rows_of, n_missing, told, most)
    group_of = np.array([*(plan.position.get(text, -1) for text in texts), -1])
    return plan, group_of[found.codes]


def measure_attribute(
    column: Series, kind: str | None = None, n_rows: np.ndarray | None = None
) -> Measured:
    """Return the groups of a sensitive column; a quantity is cut at its median to be measured."""
    plan, values = plan_column(column, kind, n_rows, MOST_GROUPS)
    name = plan.name
    if plan.kind == "categorical":
        note, fitted = " ".join(filter(None, [plan.told, plan.note])), plan.fitted(values)
        measured = Measured(name, (name,), "levels", plan.labels, values, fitted, note)
        few = (values < 0) & _has_level(column, kind)
        texts = sorted({_as_text(value) for value in column[few].unique().tolist()})
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


_POSITIVE_WORDS = ("1", "true", "yes", "y", "t", "positive", "approved", "good", "accepted")


def binary_target(column: Series, positive: Any = None) -> tuple[np.ndarray, np.ndarray, str]:
    """Return which rows are positive, which are known, and the value that counts as positive.

    By default that is a word such as "yes", else the larger number or the last in the alphabet.
    """
    known = _is_known(column)
    values = column[known]
    by_text: dict[str, list[Any]] = {}  # as the levels of attributes: " yes" is "yes"
    for value in values.unique().tolist():
        by_text.setdefault(_as_text(value), []).append(value)
    raw = [text if isinstance(v[0], str) else v[0] for text, v in by_text.items()]
    shown = [_as_text(v) for v in _sorted(raw)]
    if len(by_text) < 2:
        only = f"the value '{shown[0]}' only" if shown else "no value at all"
        raise TableError(
            f"The target '{column.name}' has {only}, and nothing can be learned about it. Name "
            f"another target, or none."
        )
    if positive is not None:
        chosen = _named(str(column.name), by_text, positive, shown)
    elif len(by_text) == 2:
        words = [t for t in by_text if t.casefold() in _POSITIVE_WORDS]
        sure = len(words) == 1 and isinstance(by_text[words[0]][0], str)
        chosen = words[0] if sure else shown[-1]
    else:
        raise TableError(
            f"The target '{column.name}' has {len(by_text)} distinct values "
            f"({listed(shown, 4)}), but it must be a yes or no. Say which value is the "
            f"yes (pos_label='{shown[-1]}', on the command line --pos-label), or make a column of "
            f"two values, such as whether it exceeds a limit."
        )
    is_positive = np.zeros(len(column), dtype=bool)
    is_positive[known] = values.isin(by_text[chosen]).to_numpy(dtype=bool)
    return is_positive, known, chosen


def numbers_of(column: Series, what: str) -> np.ndarray:
    """Return a column as floats, NaN where there is no value; `what` it is says the refusal."""
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


def plan_target(
    column: Series,
    kind: str | None = None,
    pos_label: Any = None,
    above: float | None = None,
    *,
    binary: bool = False,
    kinds_in: str = "target_kinds",
) -> tuple[AttributePlan, np.ndarray]:
    """Return the plan of a target, and the class, yes or no, or number of each row.

    It is a yes or no if it must be (`binary`), if somebody says which value is the yes or `above`
    which it is one, or if there are two values; else by the rules for sensitive columns, but no
    class is too rare. Refusals name the argument that says its kind.
    """
    if above is not None:
        values = numbers_of(column, "target")
        plan = AttributePlan(str(column.name), "binary", "", labels=("", f"> {above:.15g}"))
        return plan, np.where(np.isnan(values), -1, values > above)
    name, known = str(column.name), _is_known(column)
    texts = {_as_text(value) for value in column[known].unique().tolist()}
    if binary or pos_label is not None or (len(texts) <= 2 and kind != "numeric"):
        is_positive, known, yes = binary_target(column, pos_label)
        plan = AttributePlan(name, "binary", "", labels=("", yes))
        return plan, np.where(known, is_positive.astype(int), -1)
    with in_words_of_targets(kinds_in):
        found = read_column(name, column if known.all() else column.where(known, None), kind)
        if isinstance(found, Numeric):
            return AttributePlan(name, "numeric", ""), found.values
        declared = kind is not None or column.dtype == "category"
        if not declared and about_whole_numbers(name, found.labels):
            raise UsageError(
                f"The target {name!r} has {len(found.labels)} whole-number values, and nobody can "
                f"tell classes from a quantity. Say {how_to_say(name, 'numeric')} if it is a "
                f"quantity, {how_to_say(name, 'categorical')} if these are classes."
            )
    position = {t: i for i, t in enumerate(dict.fromkeys(map(_as_text, found.labels)))}
    if len(position) > MOST_CLASSES and not declared:
        raise TableError(
            f"The target '{name}' has {len(position)} classes ({listed(list(position), 4)}), as an "
            f"identifier or a number with other signs in it has. Name another target, or merge "
            f"classes; or say {kinds_in}={{{name!r}: 'categorical'}} (command line: "
            f"--categorical {name})."
        )
    codes = np.array([*(position[_as_text(label)] for label in found.labels), -1])
    return AttributePlan(name, "categorical", "", labels=tuple(position)), codes[found.codes]


def _named(
    target: str, by_text: Mapping[str, list[Any]], positive: Any, shown: Sequence[str]
) -> str:
    """Return the one value that was named; refuse none, and two that differ by case alone."""
    chosen = [text for text, raw in by_text.items() if any(is_named(v, positive) for v in raw)]
    if not chosen:
        raise TableError(
            f"No row of the target '{target}' is '{positive}'. Its values are {listed(shown)}."
        )
    written = str(positive).strip().casefold()
    alike = dict.fromkeys([*chosen, *(t for t in by_text if t.casefold() == written)])
    if len(alike) > 1:
        raise TableError(
            f"The target '{target}' has {listed(list(alike))}, and pos_label='{positive}' may mean "
            f"any of them. Write what is the same in the same way first."
        )
    return chosen[0]


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


def _sorted(values: Sequence[Any]) -> list[Any]:
    try:
        return sorted(values)
    except TypeError:
        return sorted(values, key=str)


def as_table(table: Any) -> Table:
    """Return what users pass as a table."""
    if isinstance(table, Table):
        return table
    if isinstance(table, str | Path):
        return read_table(table)
    return replace(Table.from_frame(table), source="")


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
