"""Which column of a Spark DataFrame is what.

Spark rows have no order, so nothing can be paired with them by position: attributes, labels and
weights are columns of the same DataFrame as the features.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from pyspark.errors import AnalysisException
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from ..._attributes import close_names
from ...errors import SparkColumnsError
from .refusals import SHOWN, first_few, refuse_repeated
from .types import as_numbers


@dataclass(frozen=True)
class Roles:
    """The columns of one DataFrame, by what they are used for.

    Parameters
    ----------
    features : tuple of str
        Names of columns.
    sensitive, target, weight : dict of str to Column
        Attributes, labels and weights by name; the last two hold one or none.
    """

    features: tuple[str, ...]
    sensitive: dict[str, Column]
    target: dict[str, Column]
    weight: dict[str, Column]


def read_roles(X: DataFrame, y: Any, sensitive_features: Any, sample_weight: Any) -> Roles:
    """Return what the arguments of `fit` say about the columns of `X`.

    Parameters
    ----------
    X : DataFrame
        All columns.
    y, sample_weight : str, Column or None
        The name of a column of `X`, or an expression of its columns.
    sensitive_features : str, Column, list of these, or None
        The attributes.

    Returns
    -------
    Roles
        Every column of `X` is a feature, unless an argument has its name.
    """
    if not isinstance(X, DataFrame):
        raise TypeError(
            f"X is a {type(X).__module__}.{type(X).__name__}, not a Spark DataFrame. Pass a "
            f"pyspark.sql.DataFrame (of pandas on Spark: X.to_spark())."
        )
    refuse_repeated(X.columns)
    target = _columns("y", y, X)
    weight = _columns("sample_weight", sample_weight, X)
    sensitive = _columns("sensitive_features", sensitive_features, X)
    for name, given in (("y", target), ("sample_weight", weight)):
        if len(given) > 1:
            raise SparkColumnsError(f"{name} names {len(given)} columns. Pass one.")
    taken = _as_spelled({*target, *weight, *sensitive}, X.columns)
    return Roles(tuple(c for c in X.columns if c not in taken), sensitive, target, weight)


def column(name: str) -> Column:
    """Return the column of this name, whatever characters it has."""
    return F.col(quoted(name))


def quoted(name: str) -> str:
    """Return a name as Spark's SQL takes it: dots and spaces are parts of it.

    Examples
    --------
    >>> quoted("capital.gain")
    '`capital.gain`'
    """
    return "`" + name.replace("`", "``") + "`"


def _columns(argument: str, given: Any, X: DataFrame) -> dict[str, Column]:
    """Return the columns that an argument of `fit` stands for, by name."""
    if given is None:
        return {}
    if isinstance(given, DataFrame):
        raise SparkColumnsError(
            f"{argument} is a DataFrame of its own, but Spark rows have no order in which they "
            f"could be paired with those of X. Join them by a key, and pass the names of the "
            f"columns: {argument}={given.columns[:3]!r}."
        )
    listed = list(given) if isinstance(given, list | tuple) else [given]
    strange = next((v for v in listed if not isinstance(v, str | Column)), None)
    if strange is not None or not listed:
        raise SparkColumnsError(
            f"{argument} is a {type(given).__name__}{_of(strange)}, but X is a Spark DataFrame, "
            f"whose rows have no order in which others could be paired with them. Pass the name "
            f"of a column of X, an expression of its columns, or a list of these."
        )
    unknown = [v for v in listed if isinstance(v, str) and v not in X.columns]
    if unknown:
        near = [m for u in first_few(unknown) for m in close_names(u, X.columns)]
        raise SparkColumnsError(
            f"{argument} names {first_few(unknown)}, but X has the columns {first_few(X.columns)}"
            f"{' ...' if len(X.columns) > SHOWN else ''}."
            f"{f' Did you mean {near}?' if near else ''} Use names of columns of X."
        )
    columns = [column(v) if isinstance(v, str) else v for v in listed]
    try:
        fields = X.select(*columns).schema
    except AnalysisException as error:
        reason = str(error).strip().splitlines()[0]
        raise SparkColumnsError(
            f"{argument} cannot be computed from the columns of X, and the rows of another "
            f"DataFrame cannot be paired with these ({reason}). Join them by a key first."
        ) from None
    refuse_repeated(fields.names)
    return {
        field.name: as_numbers(c, field.dataType, widened=False)
        for field, c in zip(fields, columns, strict=True)
    }


def _as_spelled(names: Iterable[str], columns: Sequence[str]) -> set[str]:
    """Return names as X spells them: to Spark, F.col("SEX") is the column "sex"."""
    names = set(names)
    folded = {n.casefold() for n in names - set(columns)}
    return names | {c for c in columns if c.casefold() in folded}


def _of(strange: Any) -> str:
    return "" if strange is None else f" with a {type(strange).__name__}"
