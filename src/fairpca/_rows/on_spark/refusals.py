"""What columns of a Spark DataFrame cannot be, said with what to do."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from pyspark.sql import DataFrame

from ...errors import SparkColumnsError
from .types import is_number, is_vector

SHOWN = 10
"""How many columns a message lists."""


def refuse_words(X: DataFrame, features: Sequence[str]) -> None:
    """Raise unless the features are columns of numbers, or one column of arrays."""
    kinds = {name: X.schema[name].dataType for name in features}
    if len(kinds) == 1 and all(map(is_vector, kinds.values())):
        return
    other = {name: kind for name, kind in kinds.items() if not is_number(kind)}
    if other:
        told = ", ".join(f"{n!r} ({k.simpleString()})" for n, k in first_few(other.items()))
        raise SparkColumnsError(
            f"{len(other)} of the {len(kinds)} columns that are left as features are not numbers: "
            f"{told}. Every column that is not named as an attribute, y or sample_weight is a "
            f"feature. Drop these, make numbers of them (a vector of pyspark.ml through "
            f"vector_to_array, as the only feature), or name what they are."
        )
    if not kinds:
        raise SparkColumnsError(
            "No column is left as a feature: all have been named as something else. Pass a "
            "DataFrame that has the features too."
        )


def refuse_repeated(names: Sequence[str]) -> None:
    """Raise if two columns have the same name."""
    repeated = [n for n in dict.fromkeys(names) if names.count(n) > 1]
    if repeated:
        raise SparkColumnsError(
            f"X has several columns named {first_few(repeated)} (a join leaves both sides'), so it "
            f"is unclear which is meant. Drop or rename them."
        )


def refuse_missing(X: DataFrame, features: Sequence[str]) -> None:
    """Raise unless X has the features that an estimator was fitted to."""
    missing = [c for c in features if c not in X.columns]
    if missing:
        raise SparkColumnsError(
            f"X lacks {len(missing)} of the {len(features)} features that this was fitted to: "
            f"{first_few(missing)}. Pass a DataFrame that has them."
        )
    refuse_words(X, features)


def refuse_collisions(kept: Sequence[str], names: Sequence[str]) -> None:
    """Raise if the representation has names of columns that stay; case means nothing to Spark."""
    made = {name.casefold() for name in names}
    taken = [c for c in kept if c.casefold() in made]
    if taken:
        raise SparkColumnsError(
            f"X has columns named {first_few(taken)}, as the representation does. Rename or drop "
            f"them first."
        )


def refuse_attributes_beside_arrays(
    X: DataFrame, features: Sequence[str], sensitive: Sequence[Any]
) -> None:
    """Raise if attributes are to be columns of X as the estimator sees it, which has no names."""
    if sensitive and is_vector(X.schema[features[0]].dataType):
        raise SparkColumnsError(
            f"The features are arrays in the column {features[0]!r}, so X as the estimator sees it "
            f"has no columns named {list(sensitive)}. Leave sensitive_columns out, and pass "
            f"fit(X, sensitive_features={list(sensitive)})."
        )


def first_few(values: Iterable[Any]) -> list[Any]:
    """Return as many as a message can bear."""
    return list(values)[:SHOWN]
