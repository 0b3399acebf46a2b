"""Which engine holds these rows? Asked without importing any."""

from __future__ import annotations

from typing import Any

from ..errors import UsageError
from .elsewhere import RowsElsewhere

ENGINES = {"dask": "Dask", "dask_expr": "Dask", "pyspark": "Spark"}
"""Engines by the package that their collections come from."""


def rows_elsewhere(
    X: Any, y: Any = None, sensitive_features: Any = None, sample_weight: Any = None
) -> RowsElsewhere | None:
    """Return the arguments of `fit` as rows of an engine; None if they are in memory.

    Parameters
    ----------
    X : any
        Features: a Dask array or DataFrame, a Spark DataFrame, rows of files, or something in
        memory.
    y, sensitive_features, sample_weight : any
        What else `fit` was given. It must be of the same engine.

    Raises
    ------
    ValueError
        If some arguments are in memory and others are not.
    """
    others = {
        "y": y,
        "sensitive_features": sensitive_features,
        "sample_weight": sample_weight,
    }
    if isinstance(X, RowsElsewhere):
        _refuse_others(X, others)
        return X
    engine = _engine(X)
    if engine is None:
        for name, value in others.items():
            _refuse_lazy(name, value)
        return None
    if engine == "Dask":
        from .on_dask.dask_collections import DaskRows

        return DaskRows(X, **others)
    from .on_spark.frames import SparkRows

    return SparkRows(X, **others)


def _engine(value: Any) -> str | None:
    return ENGINES.get(type(value).__module__.partition(".")[0])


def _refuse_others(X: RowsElsewhere, others: dict[str, Any]) -> None:
    given = [name for name, value in others.items() if value is not None]
    if given:
        raise UsageError(
            f"X is a {type(X).__name__}, which has its own attributes, labels and weights, but "
            f"{', '.join(given)} came too. Name the columns where you made it."
        )


def _refuse_lazy(name: str, value: Any) -> None:
    columns = value.values() if isinstance(value, dict) else [value]
    engine = next(filter(None, map(_engine, columns)), None)
    if engine is not None:
        raise UsageError(
            f"{name} is a {engine} collection, but X is in memory, so their rows cannot be "
            f"paired. Pass both as {engine} collections, or compute {name} first."
        )
