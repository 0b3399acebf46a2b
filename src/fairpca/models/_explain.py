"""What each column of one person's row does to the representation."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from .._attributes import as_columns
from .._maps import AffineMap
from ..errors import UsageError
from ..tables import arrow_columns, import_pandas

AVERAGE, JOINTLY = "(average)", "(jointly)"
"""Rows for what no column does alone: of the average person, and of several columns together."""


def contributions(model: Any, row: Any) -> Any:
    """Return what a row's columns add to each output, as `FairTableTransformer.explain` tells.

    A column adds what would be missing were it at its average, which is zero in encoded rows.
    """
    frame = _one_row(row)
    if model.encoder_ is None:
        values, x, average, places = _of_numbers(model, frame)
    else:
        x = model.encoder_.transform(frame)
        arrays = arrow_columns(frame, model.encoder_.needed_columns)
        values = {name: arrays[name][0].as_py() for name in model.encoder_.needed_columns}
        average, places = np.zeros_like(x), model.encoder_.outputs_by_column
    without = np.repeat(x, len(places), axis=0)
    for row_without, place in zip(without, places.values(), strict=True):
        row_without[place] = average[0, place]
    with_all, alone, *others = model._map(np.vstack([x, average, without]))
    added = dict(zip(places, with_all - np.asarray(others), strict=True)) | {AVERAGE: alone}
    if not isinstance(model._map, AffineMap):
        added[JOINTLY] = with_all - sum(added.values())
    table = import_pandas().DataFrame.from_dict(
        added, orient="index", columns=model.get_feature_names_out()
    )
    value = np.empty(len(table), dtype=object)
    value[: len(places)] = [values[name] for name in places]
    table.insert(0, "value", value)
    return table


def _one_row(row: Any) -> Any:
    """Return a frame of one row; of a mapping, or a Series as rows of pandas come, make one."""
    pandas = import_pandas()
    if isinstance(row, pandas.Series | Mapping):
        row = pandas.DataFrame({str(name): [value] for name, value in row.items()})
    shape = getattr(row, "shape", ())
    if len(shape) == 1:  # a row of an array
        return row[None, :]
    if shape[:1] != (1,):
        many = f" of {shape[0]:,} rows" if shape else ""
        raise UsageError(
            f"explain is for one person, but a {type(row).__name__}{many} was given. Pass one row, "
            f"such as people.iloc[[3]], or a dict of a value per column."
        )
    return row


def _of_numbers(
    model: Any, row: Any
) -> tuple[dict[str, Any], np.ndarray, np.ndarray, dict[str, np.ndarray]]:
    """Return values, the row, the average and the place of each column, of rows of numbers."""
    if not isinstance(model._map, AffineMap):
        raise UsageError(
            "This model has a kernel and no encoder, so it does not know the average of a column, "
            "and explain compares with it. Fit it to a table: fit_table(...)."
        )
    estimator = model.estimator_
    x = np.asarray(estimator._features(row), dtype=float)
    names = vars(estimator).get("feature_names_in_", [f"x{j}" for j in range(x.shape[1])])
    hidden = as_columns(estimator.sensitive_columns)
    kept = [str(name) for name in names if name not in hidden]
    places = {name: np.array([j]) for j, name in enumerate(kept)}
    values = dict(zip(kept, x[0].tolist(), strict=True))
    return values, x, np.asarray(model._map.mean, dtype=float)[None, :], places
