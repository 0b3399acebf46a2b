"""What the tables of people have in common: files, a target, attributes, and a provenance."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import UsageError
from ._dataset import Dataset, floats_and_categories, import_pandas
from ._files import DataFile, obtain

if TYPE_CHECKING:
    from pandas import DataFrame, Series


@dataclass(frozen=True)
class Derived:
    """An attribute that is computed from columns of the table, which would give it away."""

    sources: tuple[str, ...]
    values: Callable[[DataFrame], Series]


@dataclass(frozen=True)
class Source:
    """A published data set: what is sensitive in it by default, its files and its provenance.

    Attributes that are `derived` are not columns; a column of the same name is hidden by it.
    """

    name: str
    sensitive: tuple[str, ...]
    description: str
    citation: str
    licence: str
    files: tuple[DataFile, ...] = ()
    derived: Mapping[str, Derived] = field(default_factory=dict)

    def read(self, data: str | os.PathLike[str] | None, **options: Any) -> DataFrame:
        """Read its file."""
        (file,) = self.files
        return read_csv(obtain(file, data), **options)

    def people(self, table: DataFrame, target: Any, given: Sequence[str] | None) -> Dataset:
        """Divide a table without its target into features and the attributes that were chosen."""
        return self.dataset(*_separate(table, given, self.sensitive, self.derived), target)

    def dataset(self, features: DataFrame, sensitive: DataFrame, target: Any) -> Dataset:
        """Return the parts with their provenance."""
        return Dataset(
            self.name, features, target, sensitive, self.description, self.citation, self.licence
        )


def read_csv(path: Path, **options: Any) -> DataFrame:
    """Read a file in which nothing but an empty field is missing.

    pandas would take texts such as "N/A" and "None" for missing values, too; here they are levels.
    """
    return import_pandas().read_csv(path, keep_default_na=False, na_values=[""], **options)


def chosen_names(
    given: Sequence[str] | None, default: Sequence[str], available: Sequence[str]
) -> tuple[str, ...]:
    """Return the names of the sensitive attributes, each once, or say which there are."""
    names = [given] if isinstance(given, str) else list(default if given is None else given)
    if not names:
        raise UsageError(
            "sensitive is empty, but a data set needs at least one sensitive attribute. Leave it "
            f"out for {listed(default)}."
        )
    unknown = [name for name in names if name not in set(available)]
    if unknown:
        raise UsageError(
            f"sensitive names {listed(unknown)}, which these data do not have. There are: "
            f"{listed(available)}."
        )
    return tuple(dict.fromkeys(names))


def _separate(
    table: DataFrame,
    given: Sequence[str] | None,
    default: Sequence[str],
    derived: Mapping[str, Derived],
) -> tuple[DataFrame, DataFrame]:
    """Divide a table into features and sensitive attributes, all floats or sorted categories.

    What is sensitive is no feature, nor are the columns it is derived from.
    """
    names = chosen_names(given, default, list(dict.fromkeys([*derived, *table])))
    hidden: set[str] = set()
    attributes = {}
    for name in names:
        rule = derived.get(name)
        attributes[name] = rule.values(table) if rule else table[name]
        hidden.update(rule.sources if rule else (name,))
    features = table.drop(columns=[name for name in table if name in hidden])
    sensitive = import_pandas().DataFrame(attributes, index=table.index)
    return floats_and_categories(features), floats_and_categories(sensitive)


def listed(names: Sequence[str]) -> str:
    """Return the names as they are written in a sentence."""
    return ", ".join(f"'{name}'" for name in names)
