"""Columns of files: what they may be, and the arrays that `fit` takes of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from .._attributes import Roles
from ..errors import TableError
from ..tables import NUMBER, TEXT, TRUTH, TableFile, common_type, distinct, family, import_arrow

_PADDING = 1040
"""Numbers between the rows of a block, so that they do not start at the same place of the cache."""


@dataclass(frozen=True)
class FileBatch:
    """Some consecutive rows of a file as they are read, with a number of their own."""

    columns: dict[str, Any]
    n_rows: int
    number: int
    where: str


def feature_block(batch: FileBatch, names: Sequence[str], dtype: np.dtype) -> np.ndarray:
    """Return columns of numbers as rows of a block (d, n), whose transpose BLAS takes as it is."""
    arrow = import_arrow()
    block = np.empty((len(names), batch.n_rows + _PADDING), dtype)[:, : batch.n_rows]
    for row, name in zip(block, names, strict=True):
        column, start = batch.columns[name], 0
        if column.null_count:
            raise TableError(
                f"The feature '{name}' is missing in {column.null_count:,} of {batch.where}, and a "
                f"product with a missing number is missing. Fill the values in, leave the column "
                f"or the rows out, or use `fairpca fit`, which fills in medians."
            )
        for chunk in column.chunks:
            if arrow.types.is_decimal(chunk.type):
                chunk = chunk.cast(arrow.float64())
            with np.errstate(over="ignore"):  # infinite numbers raise an error later, by name
                row[start : start + len(chunk)] = chunk.to_numpy(zero_copy_only=False)
            start += len(chunk)
    return block


def floats(array: Any) -> np.ndarray:
    """Return an Arrow array as float64, NaN where missing."""
    doubles = array.cast(import_arrow().float64(), safe=False)
    return np.asarray(doubles.to_numpy(zero_copy_only=False))


def labels(array: Any) -> np.ndarray:
    """Return an Arrow array as numbers, or as objects with None where missing."""
    arrow = import_arrow()
    if arrow.types.is_floating(array.type) or arrow.types.is_decimal(array.type):
        return floats(array)
    if not array.null_count and not _has_levels(array.type):
        return array.to_numpy(zero_copy_only=False)
    codes, values = distinct(array)
    return np.array([*values[:-1], None], dtype=object)[codes]


def attribute(array: Any) -> Any:
    """Return a sensitive column so that it has the same kind whatever is missing in it."""
    arrow = import_arrow()
    if arrow.types.is_floating(array.type) or arrow.types.is_decimal(array.type):
        return floats(array)
    if _has_levels(array.type) or array.null_count:
        # Levels even where nothing is known: a part must not look different for that.
        array = array if arrow.types.is_dictionary(array.type) else array.dictionary_encode()
        return array if hasattr(array, "chunks") else arrow.chunked_array([array])
    return labels(array)


def _has_levels(kind: Any) -> bool:
    return family(kind) == TEXT or import_arrow().types.is_dictionary(kind)


def _kind_of_type(kind: Any) -> str | None:
    """Return what the values of an Arrow type are to us; None if nothing."""
    found = {"number": NUMBER, "text": TEXT, "bool": TRUTH}.get(family(kind))
    if found != TEXT and import_arrow().types.is_dictionary(kind):
        return "levels" if found == NUMBER else None
    return found


def types_of(files: Sequence[TableFile], needed: Sequence[str]) -> dict[str, Any]:
    """Return the types of the needed columns, which all files have once each.

    Whole numbers in one file and fractions in another are numbers: pandas writes what has a missing
    value as fractions, and what has no value at all as nothing. Others have to be of one type.
    """
    first = files[0]
    for file in files:
        for name in needed:
            file.check_once([name])
            mine, theirs = file.types[name], first.types[name]
            if mine == theirs or "nothing" in (family(mine), family(theirs)):
                continue
            kinds = {_kind_of_type(mine), _kind_of_type(theirs)}
            if kinds not in ({TEXT}, {NUMBER}):
                raise TableError(
                    f"The column '{name}' is of type {mine} in '{file.path}', but of type "
                    f"{theirs} in '{first.path}'. Write all files with the same types."
                )
    return {name: common_type([file.types[name] for file in files]) for name in needed}


def of_type(column: Any, kind: Any) -> Any:
    """Return a column of one of several files with the type that it has in all of them."""
    mine = column.type
    if mine == kind or _kind_of_type(mine) == TEXT:
        return column
    return column.cast(kind, safe=False)


def check_kinds(types: Mapping[str, Any], roles: Roles, *, encoded: bool) -> None:
    """Raise unless features and weights are numbers, and attributes and labels plain values."""
    odd = [n for n in roles.features if _kind_of_type(types[n]) not in (NUMBER, TRUTH)]
    if odd and not encoded:
        listed = ", ".join(f"'{name}' ({types[name]})" for name in odd[:5])
        more = f" and {len(odd) - 5} more" if len(odd) > 5 else ""
        raise TableError(
            f"Features are numbers or truth values, but {listed}{more} are not. Name the features, "
            f"or what to ignore; the command `fairpca fit` encodes columns of any kind."
        )
    for name in (*roles.sensitive, *([] if roles.target is None else [roles.target])):
        if _kind_of_type(types[name]) is None:
            raise TableError(
                f"The column '{name}' is of type {types[name]}, which is neither levels nor a "
                f"quantity. Write it as texts, numbers or truth values, such as bands of dates."
            )
    if roles.weight is not None and _kind_of_type(types[roles.weight]) != NUMBER:
        raise TableError(
            f"The weight '{roles.weight}' is of type {types[roles.weight]}, no number."
        )


def chosen_dtype(dtype: Any, types: Mapping[str, Any], features: Sequence[str]) -> np.dtype:
    """Return what was asked to compute in; else float32 where NumPy would make that of all."""
    if dtype is not None:
        if np.dtype(dtype) not in (np.dtype(np.float32), np.dtype(np.float64)):
            raise TableError(f"dtype={dtype!r} is neither float32 nor float64.")
        return np.dtype(dtype)
    is_decimal = import_arrow().types.is_decimal
    kinds = {types[name] for name in features}
    dtypes = {np.dtype(float if is_decimal(t) else t.to_pandas_dtype()) for t in kinds}
    single = bool(dtypes) and np.result_type(*dtypes) == np.float32
    return np.dtype(np.float32 if single else np.float64)
