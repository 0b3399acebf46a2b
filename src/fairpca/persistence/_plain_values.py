"""Fitted values as plain JSON and arrays."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Mapping
from numbers import Integral
from typing import Any

import numpy as np
import scipy.sparse

from .._numerics import is_sparse, to_numpy
from ..errors import UnsavableModelError
from ._records import FUNCTIONS, RECORDS, fields_of
from ._tensors import DTYPES

MANY_TEXTS = 100
"""Lists of at least so many texts are kept with the arrays."""

SCALARS: dict[str, Any] = {
    "float64": np.float64,
    "float32": np.float32,
    "int64": np.int64,
    "int32": np.int32,
    "bool": np.bool_,
}
"""NumPy's own numbers: labels and parameters keep their type."""


class Packer:
    """Turns values into JSON; arrays are put aside in `tensors`, equal ones once.

    Layouts are kept: products with an array in another order of memory round differently, and a
    loaded model gives the same bits as the one that was saved.

    Examples
    --------
    >>> import numpy as np
    >>> packer = Packer()
    >>> packer.plain({"a": (1, 2.5)}, "value")
    {'$dict': [['a', {'$tuple': [1, 2.5]}]]}
    >>> packer.plain(np.arange(3), "value")
    {'$array': {'tensor': 't0', 'order': 'C', 'flipped': []}}
    """

    def __init__(self) -> None:
        self.tensors: dict[str, np.ndarray] = {}
        self._known: dict[tuple[Any, ...], str] = {}

    def plain(self, value: Any, where: str) -> Any:
        """Return a value as JSON; `where` it stands is for the message if it cannot be."""
        if value is None or isinstance(value, bool | str):
            return _checked_text(value, where) if type(value) is str else _exactly(value, where)
        if isinstance(value, np.generic) and not isinstance(value, np.str_):
            return {"$scalar": [_scalar_type(value, where), self.plain(value.item(), where)]}
        if isinstance(value, Integral):
            return int(value)
        if isinstance(value, float):
            return value if math.isfinite(value) else {"$float": repr(value)}
        if isinstance(value, list):
            if len(value) >= MANY_TEXTS and all(type(item) is str for item in value):
                return self._texts(value, where)
            return [self.plain(item, f"{where}[{i}]") for i, item in enumerate(value)]
        if isinstance(value, tuple):
            return {"$tuple": [self.plain(item, f"{where}[{i}]") for i, item in enumerate(value)]}
        if isinstance(value, Mapping):
            pairs = [
                [self.plain(k, where), self.plain(v, f"{where}[{k!r}]")] for k, v in value.items()
            ]
            return {"$dict": pairs}
        if is_sparse(value):
            return self._sparse(value.tocsr(), where)
        if type(value).__name__ in RECORDS and type(value) is RECORDS[type(value).__name__].cls:
            fields = fields_of(value)
            return {
                "$record": type(value).__name__,
                "fields": {name: self.plain(v, f"{where}.{name}") for name, v in fields.items()},
            }
        for name, function in FUNCTIONS.items():
            if value is function:
                return {"$function": name}
        if hasattr(value, "shape") and hasattr(value, "dtype"):
            return self._array(to_numpy(value), where)
        raise _unsavable(value, where)

    def _texts(self, texts: list[str], where: str) -> Any:
        """Put many texts, such as a vocabulary, aside as bytes: headers are short."""
        parts = [_checked_text(text, where).encode("utf-8") for text in texts]
        lengths = np.array([len(part) for part in parts], dtype=np.int64)
        content = np.frombuffer(b"".join(parts), dtype=np.uint8)
        return {"$texts": {"lengths": self.tensor(lengths), "bytes": self.tensor(content)}}

    def _array(self, a: np.ndarray, where: str) -> Any:
        if a.dtype.kind in "OU":
            return {"$objects": self.plain(a.ravel().tolist(), where), "shape": list(a.shape)}
        if a.dtype.name not in DTYPES or a.ndim > 2:
            raise _unsavable(a, where)
        flipped = [i for i, stride in enumerate(a.strides) if stride < 0 and a.shape[i] > 1]
        for axis in flipped:
            a = np.flip(a, axis)
        order = "F" if a.ndim == 2 and abs(a.strides[0]) < abs(a.strides[1]) else "C"
        tensor = self.tensor(a.T if order == "F" else a)
        return {"$array": {"tensor": tensor, "order": order, "flipped": flipped}}

    def tensor(self, a: np.ndarray) -> str:
        """Put an array aside and return its name; one with the same content keeps its own."""
        a = np.ascontiguousarray(a)
        content = hashlib.sha256(a.data.cast("B") if a.size else b"").digest()
        key = (a.dtype.name, a.shape, content)
        name = self._known.setdefault(key, f"t{len(self._known)}")
        self.tensors[name] = a
        return name

    def _sparse(self, X: Any, where: str) -> Any:
        parts = {"data": X.data, "indices": X.indices, "indptr": X.indptr}
        plain = {name: self._array(np.asarray(part), where) for name, part in parts.items()}
        form = "array" if isinstance(X, scipy.sparse.sparray) else "matrix"
        return {"$csr": plain, "shape": [int(s) for s in X.shape], "form": form}


def _exactly(value: Any, where: str) -> Any:
    if type(value) not in (type(None), bool, np.str_):
        raise _unsavable(value, where)
    return str(value) if isinstance(value, str) else value


def _checked_text(value: str, where: str) -> str:
    try:
        value.encode("utf-8")
    except UnicodeEncodeError as reason:
        raise UnsavableModelError(
            f"{where} holds {value!r}, which is not valid Unicode, so no other program could "
            f"read it. Rename the column or the label."
        ) from reason
    return value


def _scalar_type(value: np.generic, where: str) -> str:
    name = value.dtype.name
    if name not in SCALARS:
        raise _unsavable(value, where)
    return name


def _unsavable(value: Any, where: str) -> UnsavableModelError:
    kind = "A function" if callable(value) else f"An object of type {type(value).__name__}"
    return UnsavableModelError(
        f"{kind} in {where} cannot be saved: a model file holds numbers and text only, never "
        f"code. Use a built-in kernel, plain labels, an integer random_state; or, for a whole "
        f"pipeline, fairpca.persistence.save_pipeline."
    )
