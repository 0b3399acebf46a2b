"""Where nobody's group is known: how probable it is that a person belongs to each of the groups."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from typing import Any

import numpy as np

from ..errors import MissingGroupError, UsageError
from .reading import are_missing, as_array, attribute_columns

ADD_UP = 0.02
"""By so much rounded probabilities of a person may miss 1."""

_ROUNDING = 1e-9

_TAKEN = (
    " Several columns of numbers are taken for the probabilities of groups; pass an attribute as "
    "one column."
)


def probability_columns(sensitive: Any) -> dict[Any, np.ndarray] | None:
    """Return the columns of a frame, a dict or a matrix if all are numbers, else None.

    Several columns of numbers are taken for probabilities, and then checked, not taken for
    anything else. A single column has one value for each row, texts are several attributes.
    """
    if not isinstance(sensitive, Mapping) and as_array(sensitive).ndim != 2:
        return None
    columns = {name: as_array(of) for name, of in attribute_columns(sensitive).items()}
    numbers = all(of.ndim == 1 and _are_numbers(of) for of in columns.values())
    return columns if len(columns) > 1 and numbers else None


def read_probabilities(
    columns: Mapping[Any, Any],
    n_rows: int,
    name: str,
    *,
    may_be_missing: bool = False,
    declared: bool = False,
) -> np.ndarray:
    """Return probabilities of shape (n_rows, groups), of which those of a row add up to 1.

    If they may be missing, those of a row are NaN where all of them are. If they are not declared
    to be probabilities, errors say why they are taken for such.
    """
    if len(columns) < 2:
        raise UsageError(
            f"{name} has one column, but one of probabilities is needed for each of at least two "
            f"groups. Add the others, such as 1 - p; or pass the groups themselves as a vector."
        )
    for group, column in columns.items():
        if np.shape(column) != (n_rows,):
            raise UsageError(
                f"The probabilities of group {group!r} in {name} have shape {np.shape(column)}, "
                f"but there are {n_rows} rows. Pass one for each, in the same order."
            )
        if not _are_numbers(as_array(column)):
            raise UsageError(
                f"The probabilities of group {group!r} in {name} hold values that are no numbers. "
                f"Pass numbers from 0 to 1."
            )
    P = np.stack([_floats(as_array(column)) for column in columns.values()], axis=1)
    missing = np.isnan(P)
    unknown = missing.all(axis=1) if may_be_missing else np.zeros(n_rows, dtype=bool)
    if (lost := missing.any(axis=1) & ~unknown).any():
        raise MissingGroupError(
            f"Probabilities of {name} are missing in {lost.sum()} of {n_rows} rows, the first at "
            f"position {lost.argmax()}. Fill them in, such as with the shares of the groups, or "
            f"drop these rows."
        )
    outside = np.argwhere((P < -_ROUNDING) | (P > 1 + _ROUNDING))
    if len(outside):
        row, column = outside[0]
        raise UsageError(
            f"{name} has the probability {P[row, column]:g} of group {list(columns)[column]!r} at "
            f"position {row}, but probabilities are from 0 to 1: divide percentages by 100."
            f"{'' if declared else _TAKEN}"
        )
    P = np.clip(P, 0.0, 1.0)
    total = P.sum(axis=1)
    if (wrong := np.abs(total - 1) > ADD_UP + _ROUNDING).any():
        first = int(wrong.argmax())
        raise UsageError(
            f"The probabilities of {name} do not add up to 1 in {wrong.sum()} of {n_rows} rows: at "
            f"position {first} they come to {total[first]:.4g}. Add a column for the groups that "
            f"are not listed, or divide each row by its sum."
        )
    empty = np.flatnonzero(np.nansum(P, axis=0) == 0)
    if len(empty):
        raise UsageError(
            f"The probability of group {list(columns)[empty[0]]!r} in {name} is 0 in all {n_rows} "
            f"rows, so nobody may belong to it. Leave that column out."
        )
    return np.asarray(P / total[:, None])


def _are_numbers(values: np.ndarray) -> bool:
    if values.dtype != object:
        return values.dtype.kind in "biuf"
    known = values[~are_missing(values)].tolist()
    return all(isinstance(v, int | float | Decimal | np.number) for v in known)


def _floats(values: np.ndarray) -> np.ndarray:
    if values.dtype != object:
        return values.astype(float)
    return np.where(are_missing(values), np.nan, values).astype(float)
