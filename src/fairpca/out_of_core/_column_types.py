"""Types of columns: which can be what, and whether they are the same in all files."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .._attributes import Roles
from ..errors import TableError
from ..tables import import_arrow
from ._column_roles import check_same_names
from ._parquet_footers import Footer

NUMBER, TRUTH, TEXT, LEVELS = "number", "truth", "text", "levels"


def check_alike(footers: Sequence[Footer], roles: Roles, *, every_column: bool) -> None:
    """Raise unless all files have the needed columns, once each and of the same types.

    Parameters
    ----------
    every_column : bool
        Whether features are all columns without another role, so that new ones matter too.
    """
    first = footers[0]
    for footer in footers:
        names = list(footer.types)
        check_same_names(
            footer.path, names, first.path, list(first.types), roles.needed, every=every_column
        )
        for name in roles.needed:
            if name in footer.twice:
                raise TableError(
                    f"'{footer.path}' has two columns called '{name}'. Rename one of them."
                )
            mine, theirs = footer.types[name], first.types[name]
            if not _alike(mine, theirs):
                raise TableError(
                    f"The column '{name}' is of type {mine} in '{footer.path}', but of type "
                    f"{theirs} in '{first.path}'. Write all files with the same types."
                )


def _alike(a: Any, b: Any) -> bool:
    return a == b or kind_of_column(a) == kind_of_column(b) == TEXT


def kind_of_column(kind: Any) -> str | None:
    """Return what the values of an Arrow type are to us; None if nothing."""
    types = import_arrow().types
    if types.is_boolean(kind):
        return TRUTH
    if types.is_integer(kind) or types.is_floating(kind) or types.is_decimal(kind):
        return NUMBER
    if types.is_string(kind) or types.is_large_string(kind) or str(kind) == "string_view":
        return TEXT
    if types.is_dictionary(kind):
        return {TEXT: TEXT, NUMBER: LEVELS}.get(kind_of_column(kind.value_type) or "")
    return None


def check_kinds(types: dict[str, Any], roles: Roles, *, encoded: bool) -> None:
    """Raise unless features and weights are numbers, and attributes and labels plain values."""
    odd = [n for n in roles.features if kind_of_column(types[n]) not in (NUMBER, TRUTH)]
    if odd and not encoded:
        listed = ", ".join(f"'{name}' ({types[name]})" for name in odd[:5])
        more = f" and {len(odd) - 5} more" if len(odd) > 5 else ""
        raise TableError(
            f"Features are numbers or truth values, but {listed}{more} are not. Name the features, "
            f"or what to ignore; the command `fairpca fit` encodes columns of any kind."
        )
    for name in (*roles.sensitive, *([] if roles.target is None else [roles.target])):
        if kind_of_column(types[name]) is None or import_arrow().types.is_decimal(types[name]):
            raise TableError(
                f"The column '{name}' is of type {types[name]}, which is neither levels nor a "
                f"quantity. Write it as texts, numbers or truth values, such as bands of dates."
            )
    if roles.weight is not None and kind_of_column(types[roles.weight]) != NUMBER:
        raise TableError(
            f"The weight '{roles.weight}' is of type {types[roles.weight]}, no number."
        )


def common_dtype(types: dict[str, Any], features: Sequence[str]) -> np.dtype:
    """Return float32 where NumPy would make that of all features together, else float64."""
    is_decimal = import_arrow().types.is_decimal
    plain = {t for t in (types[name] for name in features) if not is_decimal(t)}
    dtypes = [np.dtype(t.to_pandas_dtype()) for t in plain]
    if any(is_decimal(types[name]) for name in features):
        dtypes.append(np.dtype(np.float64))
    single = np.dtype(np.float32)
    return single if np.result_type(*dtypes) == single else np.dtype(np.float64)
