"""Which column is what: features, attributes, target, weight."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from ..errors import MissingGroupError, TableError
from ..tables import meant


@dataclass(frozen=True)
class ColumnRoles:
    """The columns that are read, by what they are for.

    Parameters
    ----------
    features, sensitive : tuple of str
        In the order in which estimators see them.
    target, weight : str or None
        Labels, and weights >= 0.
    """

    features: tuple[str, ...]
    sensitive: tuple[str, ...]
    target: str | None = None
    weight: str | None = None

    @property
    def needed(self) -> list[str]:
        """All of them, each once."""
        others = (name for name in (self.target, self.weight) if name is not None)
        return list(dict.fromkeys([*self.features, *self.sensitive, *others]))


def choose_columns(
    there: Sequence[str],
    sensitive: str | Iterable[str],
    *,
    features: Iterable[str] | None = None,
    target: str | None = None,
    weight: str | None = None,
    ignore: str | Iterable[str] = (),
    where: str = "the table",
) -> ColumnRoles:
    """Return the roles of columns; what has no other role is a feature, unless these are named.

    Parameters
    ----------
    there : sequence of str
        The columns of the table.
    sensitive, features, target, weight, ignore
        Names of columns. No column has two roles.
    where : str
        What the table is called in messages.

    Examples
    --------
    >>> choose_columns(["age", "sex", "income", "id"], "sex", target="income", ignore="id")
    ColumnRoles(features=('age',), sensitive=('sex',), target='income', weight=None)
    """
    attributes = _listed(sensitive)
    if not attributes:
        raise MissingGroupError(
            "sensitive names no column, and without attributes this would be plain PCA. Name at "
            "least one."
        )
    left_out = _listed(ignore)
    named = None if features is None else _listed(features)
    roles = {"target": target, "weight": weight}
    claims = [("sensitive", name) for name in attributes]
    claims += [(role, name) for role, name in roles.items() if name is not None]
    claims += [("ignore", name) for name in left_out]
    claims += [("features", name) for name in named or ()]
    taken: dict[str, str] = {}
    for role, name in claims:
        if name not in there:
            raise TableError(
                f"{role} names '{name}', which is not a column of {where}.{meant(str(name), there)}"
            )
        if name in taken:
            raise TableError(
                f"The column '{name}' is named twice, by {taken[name]} and by {role}. Name it once."
            )
        taken[name] = role
    chosen = [name for name in there if name not in taken] if named is None else named
    if not chosen:
        raise TableError(f"No column of {where} is left to be a feature. Name at least one.")
    return ColumnRoles(tuple(chosen), tuple(attributes), target, weight)


def _listed(names: str | Iterable[str]) -> list[str]:
    return [names] if isinstance(names, str) else list(names)


def check_same_names(
    path: Path,
    there: Sequence[str],
    first: Path,
    of_first: Sequence[str],
    needed: Sequence[str],
    *,
    every: bool,
) -> None:
    """Raise if a file lacks a needed column that the first one has.

    Where `every` column of the first is used, also if it has one that the first has not.
    """
    lacking = [name for name in needed if name not in there]
    if lacking:
        raise TableError(
            f"'{path}' lacks the column '{lacking[0]}', which '{first}' has."
            f"{meant(lacking[0], there)} Leave that file out, or add the column."
        )
    more = [name for name in there if name not in of_first]
    if every and more:
        raise TableError(
            f"'{path}' has the column '{more[0]}', which '{first}' has not. Name the features, or "
            f"write all files with the same columns."
        )
