"""What the tables of people have in common: files, a target, attributes, and a provenance."""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import UsageError
from ._dataset import Dataset, import_pandas
from ._files import DataFile, DataFolder, obtain, require

if TYPE_CHECKING:
    from pandas import DataFrame, Series


@dataclass(frozen=True)
class Derived:
    """An attribute that is computed from columns of the table, which would give it away."""

    sources: tuple[str, ...]
    values: Callable[[DataFrame], Series]


@dataclass(frozen=True)
class _Source:
    """A published data set: its attributes, files, provenance, and why columns are `dropped`."""

    name: str
    sensitive: tuple[str, ...]
    description: str
    citation: str
    licence: str
    files: tuple[DataFile, ...] = ()
    how_to_get: str = ""
    dropped: Mapping[str, str] = field(default_factory=dict)

    def read(self, data: DataFolder, **options: Any) -> DataFrame:
        """Read its file."""
        (file,) = self.files
        return read_csv(obtain(file, data), **options)

    def require(self, data: DataFolder, name: str) -> Path:
        """Return the path of something in the user's folder, where nothing can be downloaded."""
        return require(data, self.name, name, how_to_get=self.how_to_get)

    def people(
        self,
        table: DataFrame,
        target: Any,
        given: Sequence[str] | None,
        derived: Mapping[str, Derived] | None = None,
    ) -> Dataset:
        """Divide a table without its target into features and the attributes that were chosen."""
        features, attributes = _separate(table, given, self.sensitive, derived or {})
        return self.dataset(features, attributes, target)

    def dataset(self, features: DataFrame, sensitive: DataFrame, target: Any) -> Dataset:
        """Return the parts with their provenance."""
        provenance = (self.description, self.citation, self.licence)
        return Dataset(self.name, features, target, sensitive, *provenance)


@cache
def source(name: str) -> _Source:
    """Return what ``sources.toml`` says of a data set."""
    text = files(__package__).joinpath("sources.toml").read_text(encoding="utf-8")
    told = tomllib.loads(text)[name]
    told["sensitive"] = tuple(told["sensitive"])
    told["files"] = tuple(DataFile(folder=name, **file) for file in told.get("files", ()))
    return _Source(name=name, **told)


def read_csv(path: Path, **options: Any) -> DataFrame:
    """Read a file in which only an empty field is missing; texts such as "N/A" are levels."""
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
    """Return features and attributes; what an attribute is derived from is no feature either."""
    names = chosen_names(given, default, list(dict.fromkeys([*derived, *table])))
    hidden: set[str] = set()
    attributes = {}
    for name in names:
        rule = derived.get(name)
        attributes[name] = rule.values(table) if rule else table[name]
        hidden.update(rule.sources if rule else (name,))
    features = table.drop(columns=[name for name in table if name in hidden])
    sensitive = import_pandas().DataFrame(attributes, index=table.index)
    return _floats_and_categories(features), _floats_and_categories(sensitive)


def _floats_and_categories(table: DataFrame) -> DataFrame:
    """Return the table with numbers as float64 and everything else as sorted categories."""
    is_numeric = import_pandas().api.types.is_numeric_dtype
    kinds = {
        name: float if is_numeric(dtype) else "category"
        for name, dtype in table.dtypes.items()
        if dtype != "category"
    }
    return table.astype(kinds)


def listed(names: Sequence[str]) -> str:
    """Return the names as they are written in a sentence."""
    return ", ".join(f"'{name}'" for name in names)
