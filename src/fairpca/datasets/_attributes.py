"""Sensitive attributes leave the features, and with them the columns they are derived from."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ..errors import UsageError
from ._tables import as_floats_and_categories, frame

if TYPE_CHECKING:
    from pandas import DataFrame, Series


@dataclass(frozen=True)
class Derived:
    """An attribute that is computed from columns of the table.

    Parameters
    ----------
    sources : tuple of str
        The columns that would give it away; they are no features where it is sensitive.
    values : callable
        Takes the table, returns the attribute of each row.
    """

    sources: tuple[str, ...]
    values: Callable[[DataFrame], Series]


def chosen_names(
    given: Sequence[str] | None, default: Sequence[str], available: Sequence[str]
) -> tuple[str, ...]:
    """Return the names of the sensitive attributes, each once, or say which there are.

    Examples
    --------
    >>> chosen_names(None, default=["sex"], available=["age", "sex"])
    ('sex',)
    >>> chosen_names(["race"], default=["sex"], available=["age", "sex"])
    Traceback (most recent call last):
    ValueError: sensitive names 'race', which these data do not have. There are: 'age', 'sex'.
    """
    names = [given] if isinstance(given, str) else list(default if given is None else given)
    if not names:
        raise UsageError(
            "sensitive is empty, but a data set needs at least one sensitive attribute. Leave it "
            f"out for {_listed(default)}."
        )
    unknown = [name for name in names if name not in set(available)]
    if unknown:
        raise UsageError(
            f"sensitive names {_listed(unknown)}, which these data do not have. There are: "
            f"{_listed(available)}."
        )
    return tuple(dict.fromkeys(names))


def chosen_besides_target(
    target: str | None,
    given: Sequence[str] | None,
    default: Sequence[str],
    available: Sequence[str],
    meaning: Callable[[str], str] = str,
) -> tuple[str, ...]:
    """Return the sensitive names where one of the attributes may be the target instead.

    Parameters
    ----------
    target : str or None
        What is to be predicted; it leaves the default.
    given, default, available : sequence of str
        As for `chosen_names`.
    meaning : callable, optional
        Two names of the same meaning are the same attribute.

    Examples
    --------
    >>> chosen_besides_target("age", None, ["age", "sex"], ["age", "sex"])
    ('sex',)
    """
    if target is None:
        return chosen_names(given, default, available)
    if target not in set(available):
        raise UsageError(
            f"target='{target}', which these data do not have. There are: {_listed(available)}."
        )
    others = [name for name in default if meaning(name) != meaning(target)]
    names = chosen_names(given, others, available)
    if meaning(target) in map(meaning, names):
        raise UsageError(
            f"target='{target}' is among the sensitive attributes {_listed(names)}. A "
            f"representation that hides it cannot predict it; leave it out of one of the two."
        )
    return names


def separate(
    table: DataFrame,
    given: Sequence[str] | None,
    default: Sequence[str],
    derived: Mapping[str, Derived] | None = None,
) -> tuple[DataFrame, DataFrame]:
    """Divide a table without its target into features and sensitive attributes.

    Parameters
    ----------
    table : DataFrame of shape (n, d)
        Columns from which to choose.
    given, default : sequence of str
        What the user chose, if anything; what is chosen otherwise.
    derived : mapping, optional
        Attributes that are not columns; a column of the same name is hidden by it.

    Returns
    -------
    features, sensitive : DataFrame
        Numbers as floats, everything else as categories with sorted levels.
    """
    derived = derived or {}
    names = chosen_names(given, default, list(dict.fromkeys([*derived, *table])))
    hidden: set[str] = set()
    attributes = {}
    for name in names:
        rule = derived.get(name)
        attributes[name] = rule.values(table) if rule else table[name]
        hidden.update(rule.sources if rule else (name,))
    features = table.drop(columns=[name for name in table if name in hidden])
    return (
        as_floats_and_categories(features),
        as_floats_and_categories(frame(attributes, table.index)),
    )


def _listed(names: Sequence[str]) -> str:
    return ", ".join(f"'{name}'" for name in names)
