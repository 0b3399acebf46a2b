"""Attributes of which probabilities of groups are all that is known: a column for each group."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from .._attributes import Roles, listed, read_probabilities
from ..errors import AuditError, SingleGroupError
from ..models import FEWEST_ROWS, MOST_GROUPS, Measured, numbers_of

if TYPE_CHECKING:
    from pandas import DataFrame

Declared = dict[str, dict[str, str]]
"""Columns of probabilities, by attribute and group."""

_DRAWS_OF_GROUPS = 23  # keeps these draws apart from others of the same seed


def declared_probabilities(given: Any, sensitive: Sequence[str] = ()) -> Declared:
    """Return the columns of each attribute by group; a group that has no name has its column's.

    An attribute of which groups are known, such as a sensitive column, needs none.
    """
    if given is None:
        return {}
    example = "probabilities={'race': ['p_white', 'p_black']}"
    if not isinstance(given, Mapping):
        raise AuditError(
            f"probabilities={given!r} does not say of which attribute. Pass a dict such as "
            f"{example}."
        )
    found: Declared = {}
    for name, columns in given.items():
        named = isinstance(columns, Mapping)
        if isinstance(columns, str) or not (named or isinstance(columns, Sequence)):
            raise AuditError(
                f"probabilities[{name!r}]={columns!r} is not one column for each group. Pass "
                f"several, such as {example}."
            )
        groups = columns.items() if named else [(column, column) for column in columns]
        found[str(name)] = {str(group): str(column) for group, column in groups}
        if len(columns) < 2:
            raise AuditError(
                f"probabilities[{name!r}] has {len(columns)} column(s), but one is needed for each "
                f"of at least two groups. Add the others, such as 1 - p."
            )
        if not all(found[str(name)]):
            raise AuditError(f"A group of probabilities[{name!r}] has an empty name. Name it.")
        _check_once([str(column) for _, column in groups])
    for name in found:
        if name in sensitive:
            raise AuditError(
                f"'{name}' is named twice, as sensitive and with probabilities. Leave it out of "
                f"one of them: of probabilities, if the column has everybody's group."
            )
    _check_once([column for columns in found.values() for column in columns.values()])
    return found


def _check_once(columns: Sequence[str]) -> None:
    for column in columns:
        if columns.count(column) > 1:
            raise AuditError(
                f"probabilities name the column '{column}' twice, but each group has its own. "
                f"Leave it out of one of them."
            )


@dataclass(frozen=True)
class Probable:
    """The attributes of which probabilities are known, and the seed by which groups are drawn."""

    declared: Declared
    seed: int

    @property
    def columns(self) -> list[str]:
        """All columns of probabilities."""
        return [column for columns in self.declared.values() for column in columns.values()]

    def check(self, frame: DataFrame, roles: Roles) -> None:
        """Reject a name that another column has, and what are no probabilities, before the work."""
        for name, columns in self.declared.items():
            if name in frame and roles.of(name) != "ignored":
                raise AuditError(
                    f"The table has a column '{name}', too, with the role {roles.of(name)!r}. If "
                    f"it has the groups, audit it as a sensitive column, without probabilities; "
                    f"else call the attribute otherwise, or ignore the column."
                )
            _read(frame, name, columns)

    def measured(self, frame: DataFrame, people: np.ndarray) -> list[Measured]:
        """Return the attributes; all rows of a person are of the same group when one is drawn."""
        rng = np.random.default_rng([self.seed, _DRAWS_OF_GROUPS])
        where = {name: rng.random(int(people.max()) + 1)[people] for name in self.declared}
        return [
            _measured(name, columns, *_read(frame, name, columns), where[name], people)
            for name, columns in self.declared.items()
        ]


def _read(frame: DataFrame, name: str, columns: Mapping[str, str]) -> tuple[np.ndarray, np.ndarray]:
    """Return the columns as they are, for fits, and probabilities that add up to 1 exactly."""
    numbers = {group: numbers_of(frame[column], "probability") for group, column in columns.items()}
    P = read_probabilities(numbers, len(frame), f"'{name}'", may_be_missing=True, declared=True)
    return np.stack([*numbers.values()], axis=1), P


def _measured(
    name: str,
    columns: Mapping[str, str],
    numbers: np.ndarray,
    P: np.ndarray,
    where: np.ndarray,
    people: np.ndarray,
) -> Measured:
    """Return the attribute, with groups by expected people, those with too few for probes last.

    A group is drawn for each person: the one in which the place `where`, from 0 to 1, falls. What
    a probe makes of drawn groups is, on average over draws, what it makes of each person counting
    in every group by the probability.
    """
    parts, known = 1.0 / np.bincount(people)[people], ~np.isnan(P).any(axis=1)
    groups = np.array([*columns])
    drawn = np.full(len(P), -1)
    drawn[known] = np.minimum(
        (where[known, None] >= P[known].cumsum(axis=1)).sum(axis=1), len(groups) - 1
    )
    expected = parts[known] @ P[known]
    enough = np.bincount(drawn[known], parts[known], minlength=len(groups)) >= FEWEST_ROWS
    enough &= expected >= FEWEST_ROWS
    order = np.lexsort((groups, -expected, ~enough))
    n_probed = min(int(enough.sum()), MOST_GROUPS)
    if n_probed < 2:
        counts = ", ".join(f"'{groups[g]}' ({expected[g]:.1f})" for g in order[:4])
        raise SingleGroupError(
            f"Of the groups of '{name}', fewer than two have {FEWEST_ROWS} expected people "
            f"({counts}), so there is nothing to compare. Add up columns of small groups, or give "
            f"more rows."
        )
    labels = tuple(groups[order].tolist())
    codes = np.append(np.argsort(order), -1)[drawn]
    certain = known.all() and bool(np.isin(P, (0.0, 1.0)).all())
    return Measured(
        name=name,
        columns=tuple(columns[group] for group in labels),
        kind="probabilities",
        labels=labels[:n_probed],
        codes=np.where(codes < n_probed, codes, -1),
        fitted=numbers[:, order[1:]],
        note=_about(columns, labels[n_probed:]),
        rare=labels[n_probed:],
        with_rare=codes,
        probabilities=None if certain else P[:, order],
    )


def _about(columns: Mapping[str, str], rare: Sequence[str]) -> str:
    few = ""
    if rare:
        few = f" Probes leave out groups of few expected people: {listed(rare)}."
    return (
        f"Groups are probabilities ({listed([*columns.values()])}): everybody counts in each by "
        f"the probability, and people of a group are expected numbers. Rates and gaps hold if the "
        f"probabilities are calibrated and decisions do not depend on the group beyond them; where "
        f"they do, gaps are usually too small. Leakage is that of the proxy: models predict a "
        f"group that is drawn for each person by the probabilities.{few}"
    )
