"""A linear representation as Spark column expressions: no Python worker is needed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from pyspark.sql import Column
from pyspark.sql import functions as F
from sklearn.utils.validation import check_is_fitted

from ..._numerics import on_the_host
from ...errors import SparkColumnsError
from ..maps import LinearMap
from .roles import quoted


def representation_columns(estimator: Any, columns: Sequence[str] | None = None) -> list[Column]:
    """Return the fair representation as expressions of the columns of a Spark DataFrame.

    Spark computes them as it computes any sum of columns, in double precision. Where a feature is
    null, so is the representation (`transform` refuses such rows).

    Parameters
    ----------
    estimator : FairPCA
        Fitted, to rows from anywhere. Any estimator with a linear map will do.
    columns : sequence of d str, optional
        The columns that hold the features; by default those with the names seen at `fit`.

    Returns
    -------
    list of k Column
        With the names of `get_feature_names_out`.

    Examples
    --------
    With a fitted estimator, ``frame.select("id", *representation_columns(fair))``.
    """
    check_is_fitted(estimator)
    estimator._ensure_solved()
    fair = estimator._map
    if not isinstance(fair, LinearMap):
        raise SparkColumnsError(
            f"{type(estimator).__name__} is not a linear map, so it cannot be written as sums of "
            f"columns. Use transform, which works in Python workers."
        )
    fair = fair.converted(on_the_host)
    names = _features(estimator, int(fair.matrix.shape[0]), columns)
    matrix = np.asarray(fair.matrix, float)
    if fair.scale is not None:
        matrix = matrix / np.asarray(fair.scale, float)[:, None]
    mean = np.asarray(fair.mean, float)
    centred = [
        f"(CAST({quoted(name)} AS DOUBLE) - {_number(m)})"
        for name, m in zip(names, mean, strict=True)
    ]
    offset = np.zeros(matrix.shape[1]) if fair.offset is None else np.asarray(fair.offset, float)
    sums = [
        _sum([_number(b), *(f"{c} * {_number(w)}" for c, w in zip(centred, weights, strict=True))])
        for b, weights in zip(offset, matrix.T, strict=True)
    ]
    made = estimator.get_feature_names_out()
    return [F.expr(s).alias(str(name)) for s, name in zip(sums, made, strict=True)]


def _features(estimator: Any, d: int, columns: Sequence[str] | None) -> list[str]:
    if columns is None:
        sensitive = getattr(estimator, "sensitive_columns", None)
        sensitive = [sensitive] if isinstance(sensitive, str) else list(sensitive or [])
        columns = [c for c in getattr(estimator, "feature_names_in_", []) if c not in sensitive]
    if len(columns) != d:
        raise SparkColumnsError(
            f"The representation is made of {d} features, but {len(columns)} columns are named. "
            f"Pass columns=[...] with the {d} names, in the order of the features at fit."
        )
    return [str(c) for c in columns]


def _number(value: float) -> str:
    """Return a double as Spark's SQL reads it, to the last bit."""
    return f"({float(value)!r}D)"


def _sum(terms: list[str]) -> str:
    """Return a sum as a tree: one as deep as it is long would be too deep for Spark's planner."""
    if len(terms) == 1:
        return terms[0]
    half = len(terms) // 2
    return f"({_sum(terms[:half])} + {_sum(terms[half:])})"
