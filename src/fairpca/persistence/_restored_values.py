"""From plain JSON and arrays of a file to values; nothing is imported or called by name."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
import scipy.sparse

from ..errors import ModelFileError
from ._plain_values import SCALARS
from ._records import FUNCTIONS, RECORDS
from ._tensors import MAX_EXTENT

MAX_DEPTH = 24
"""Values nested deeper than this are not ours."""


def unplain(plain: Any, tensors: Mapping[str, np.ndarray], depth: int = 0) -> Any:
    """Return the value that JSON and arrays from a file stand for.

    Raises
    ------
    ModelFileError
        If they stand for none.
    """
    try:
        return _value(plain, tensors, depth)
    except ModelFileError:
        raise
    except (KeyError, TypeError, ValueError, IndexError, AttributeError, OverflowError) as reason:
        raise ModelFileError("has contents that no model has") from reason


def _value(plain: Any, tensors: Mapping[str, np.ndarray], depth: int) -> Any:
    if depth > MAX_DEPTH:
        raise ModelFileError("has contents nested deeper than those of any model")
    if plain is None or isinstance(plain, bool | int | float | str):
        return plain
    if isinstance(plain, list):
        return [_value(item, tensors, depth + 1) for item in plain]
    if "$array" in plain:
        return _array(plain["$array"], tensors)
    if "$texts" in plain:
        return _texts(tensors[plain["$texts"]["lengths"]], tensors[plain["$texts"]["bytes"]])
    if "$csr" in plain:
        return _sparse(plain, tensors)
    if "$record" in plain:
        record = RECORDS[plain["$record"]]
        return record.made(
            {name: _value(v, tensors, depth + 1) for name, v in plain["fields"].items()}
        )
    if "$tuple" in plain:
        return tuple(_value(item, tensors, depth + 1) for item in plain["$tuple"])
    if "$dict" in plain:
        return {
            _value(k, tensors, depth + 1): _value(v, tensors, depth + 1) for k, v in plain["$dict"]
        }
    if "$scalar" in plain:
        name, item = plain["$scalar"]
        return SCALARS[name](_value(item, tensors, depth + 1))
    if "$float" in plain:
        return {"inf": math.inf, "-inf": -math.inf, "nan": math.nan}[plain["$float"]]
    if "$objects" in plain:
        items = _value(plain["$objects"], tensors, depth + 1)
        objects = np.empty(len(items), dtype=object)
        objects[:] = items
        return objects.reshape(plain["shape"])
    return FUNCTIONS[plain["$function"]]


def _texts(lengths: np.ndarray, content: np.ndarray) -> list[str]:
    counted = lengths.dtype == np.int64 and lengths.ndim == 1 and bool((lengths >= 0).all())
    ends = np.cumsum(lengths) if counted else np.zeros(1)
    if content.dtype != np.uint8 or (ends[-1] if len(ends) else 0) != content.size or not counted:
        raise ModelFileError("has texts whose lengths do not fit")
    whole, starts = content.tobytes(), [0, *ends.tolist()[:-1]]
    return [whole[a:b].decode("utf-8") for a, b in zip(starts, ends.tolist(), strict=True)]


def _array(plain: Any, tensors: Mapping[str, np.ndarray]) -> np.ndarray:
    stored = tensors.get(plain["tensor"])
    if stored is None:
        raise ModelFileError(f"lacks the array {str(plain['tensor'])[:20]!r} that its header names")
    if stored.dtype.kind == "f" and not np.isfinite(stored).all():
        raise ModelFileError("has numbers that are NaN or infinite, which no fitted model has")
    a = stored.copy()  # so that two values that shared bytes in the file do not share memory
    a = a.T if plain["order"] == "F" else a
    for axis in plain["flipped"]:
        a = np.flip(a, axis)
    return a


def _sparse(plain: Any, tensors: Mapping[str, np.ndarray]) -> Any:
    parts = plain["$csr"]
    data, indices, indptr = (
        _array(parts[p]["$array"], tensors) for p in ("data", "indices", "indptr")
    )
    form = {"array": scipy.sparse.csr_array, "matrix": scipy.sparse.csr_matrix}[plain["form"]]
    shape = tuple(plain["shape"])
    if not _fit_together(data, indices, indptr, shape):
        raise ModelFileError("has sparse rows whose parts do not fit together")
    X = form((data, indices, indptr), shape=shape)
    X.check_format(full_check=True)
    return X


def _fit_together(data: np.ndarray, indices: np.ndarray, indptr: np.ndarray, shape: Any) -> bool:
    """Tell whether rows begin and end where there are entries; SciPy's loops trust that.

    SciPy's own check looks after it has made the numbers shorter, when some may have wrapped.
    """
    if not all(type(extent) is int and 0 <= extent < MAX_EXTENT for extent in shape):
        return False
    if any(a.ndim != 1 for a in (data, indices, indptr)) or len(shape) != 2:
        return False
    if indices.dtype.kind != "i" or indptr.dtype.kind != "i" or len(indptr) != shape[0] + 1:
        return False
    inside = bool(((indices >= 0) & (indices < shape[1])).all())
    rising = indptr[0] == 0 and bool((indptr[1:] >= indptr[:-1]).all())
    return inside and rising and int(indptr[-1]) == len(indices) == len(data)
