"""Values as plain JSON and arrays, these as safetensors, and back: what our files are made of.

A class says with `@record()` that files may hold its objects, and with ``_fits_together`` what
makes one valid. Nothing else in a file comes to life: nothing is imported or called by name.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
import math
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from numbers import Integral
from typing import Any, TypeVar

import numpy as np
import scipy.sparse

from .._numerics import is_sparse, to_numpy
from ..errors import ExportError, ModelFileError, UsageError, needing

MANY_TEXTS = 100
"""Lists of at least so many texts are kept with the arrays."""

MAX_DEPTH = 24
"""Values nested deeper than this are not ours."""

SCALARS: dict[str, Any] = {
    "float64": np.float64,
    "float32": np.float32,
    "int64": np.int64,
    "int32": np.int32,
    "bool": np.bool_,
}
"""NumPy's own numbers: labels and parameters keep their type."""

LENGTH = 8
"""A safetensors file starts with so many bytes that give the length of its header."""

MAX_HEADER = 2**25
"""Headers longer than this many bytes raise an error before they are read."""

MAX_TENSORS, MAX_DIMENSIONS, MAX_EXTENT = 4096, 3, 2**40
"""Bounds for the number of arrays, their dimensions, and the length of each dimension."""

DTYPES = {
    "float64": "F64",
    "float32": "F32",
    "int64": "I64",
    "int32": "I32",
    "int16": "I16",
    "int8": "I8",
    "uint64": "U64",
    "uint32": "U32",
    "uint16": "U16",
    "uint8": "U8",
    "bool": "BOOL",
}
"""Types of arrays that are written and read, as NumPy and as safetensors call them."""

LARGEST_GROWTH, ALWAYS_ALLOWED = 16, 2**27
"""The arrays that a header asks for may take so many times the bytes of the file, or so many."""

DAMAGED = "is damaged: its arrays do not fit to its header. Take a fresh copy of the file"

RECORDS: dict[str, type] = {}
"""The classes whose objects files can hold, by name; `record` fills it."""

FUNCTIONS: dict[str, Callable[..., Any]] = {}
"""Functions of ours that a value may hold; files name them, and no others are ever called."""

_KEPT: dict[str, tuple[str, ...]] = {}
_LATER: dict[str, dict[str, Any]] = {}

Named = TypeVar("Named", bound=Callable[..., Any])


def record(*keep: str, later: Iterable[str] = ()) -> Callable[[Named], Named]:
    """Let files hold objects of a class, the attributes `keep` of them, or name a function of ours.

    The attributes are set without a call of the class; then ``_fits_together()`` must be true.
    Those that came `later` have their default where a file was written before.
    """

    def register(named: Named) -> Named:
        if isinstance(named, type):
            RECORDS[named.__name__] = named
            _KEPT[named.__name__] = keep or tuple(f.name for f in dataclasses.fields(named))
            _LATER[named.__name__] = {name: getattr(named, name) for name in later}
        else:
            FUNCTIONS[named.__name__] = named
        return named

    return register


class Packer:
    """Turns values into JSON; arrays are put aside in `tensors`, equal ones once.

    Layouts are kept: products with an array in another order of memory round differently, and a
    loaded model gives the same bits as the one that was saved.
    """

    def __init__(self) -> None:
        self.tensors: dict[str, np.ndarray] = {}
        self._known: dict[tuple[Any, ...], str] = {}

    def plain(self, value: Any, where: str) -> Any:
        """Return a value as JSON; `where` it stands is for the message if it cannot be."""
        if value is None or isinstance(value, bool):
            return value
        if type(value) in (str, np.str_):
            return _checked_text(str(value), where)
        if isinstance(value, np.generic):
            if value.dtype.name not in SCALARS:
                raise _unsavable(value, where)
            return {"$scalar": [value.dtype.name, self.plain(value.item(), where)]}
        if isinstance(value, Integral):
            return int(value)
        if isinstance(value, float):
            return value if math.isfinite(value) else {"$float": repr(value)}
        if isinstance(value, list):
            if len(value) >= MANY_TEXTS and all(type(item) is str for item in value):
                return self._texts(value, where)
            return [self.plain(item, f"{where}[{i}]") for i, item in enumerate(value)]
        if isinstance(value, tuple):
            return {"$tuple": self.plain(list(value), where)}
        if isinstance(value, Mapping):
            pairs = [
                [self.plain(k, where), self.plain(v, f"{where}[{k!r}]")] for k, v in value.items()
            ]
            return {"$dict": pairs}
        if is_sparse(value):
            return self._sparse(value.tocsr(), where)
        name = type(value).__name__
        if RECORDS.get(name) is type(value):
            fields = {key: getattr(value, key) for key in _KEPT[name]}
            return {
                "$record": name,
                "fields": {key: self.plain(v, f"{where}.{key}") for key, v in fields.items()},
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
        return {"$texts": {"lengths": self._tensor(lengths), "bytes": self._tensor(content)}}

    def _array(self, a: np.ndarray, where: str) -> Any:
        if a.dtype.kind in "OU":
            return {"$objects": self.plain(a.ravel().tolist(), where), "shape": list(a.shape)}
        if a.dtype.name not in DTYPES or a.ndim > 2:
            raise _unsavable(a, where)
        flipped = [i for i, stride in enumerate(a.strides) if stride < 0 and a.shape[i] > 1]
        for axis in flipped:
            a = np.flip(a, axis)
        order = "F" if a.ndim == 2 and abs(a.strides[0]) < abs(a.strides[1]) else "C"
        tensor = self._tensor(a.T if order == "F" else a)
        return {"$array": {"tensor": tensor, "order": order, "flipped": flipped}}

    def _tensor(self, a: np.ndarray) -> str:
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


def unplain(plain: Any, tensors: Mapping[str, np.ndarray]) -> Any:
    """Return the value that JSON and arrays from a file stand for, or raise ModelFileError."""
    try:
        return _value(plain, tensors, 0)
    except ModelFileError:
        raise
    except (KeyError, TypeError, ValueError, IndexError, AttributeError, OverflowError) as reason:
        raise ModelFileError("has contents that no model has") from reason


def is_array(a: Any, *shape: int | None) -> bool:
    """Tell whether this is an array of floats of a shape; None stands for any length."""
    if not isinstance(a, np.ndarray) or a.dtype.kind != "f" or a.ndim != len(shape):
        return False
    return all(wanted is None or n == wanted for n, wanted in zip(a.shape, shape, strict=True))


def is_number(value: Any) -> bool:
    """Tell whether this is a finite number."""
    number = isinstance(value, int | float | np.integer | np.floating)
    return number and not isinstance(value, bool) and bool(abs(value) <= sys.float_info.max)


def is_count(value: Any) -> bool:
    """Tell whether this is a whole number >= 0."""
    counted = isinstance(value, int | np.integer) and not isinstance(value, bool)
    return counted and bool(value >= 0)


def is_label(value: Any) -> bool:
    """Tell whether this can be the name of a group: text, a number, nothing, or several of them."""
    if isinstance(value, tuple):
        return all(map(is_label, value))
    return value is None or isinstance(value, str | int | float | np.generic)


def _value(plain: Any, tensors: Mapping[str, np.ndarray], depth: int) -> Any:
    def inner(item: Any) -> Any:
        return _value(item, tensors, depth + 1)

    if depth > MAX_DEPTH:
        raise ModelFileError("has contents nested deeper than those of any model")
    if plain is None or isinstance(plain, bool | int | float | str):
        return plain
    if isinstance(plain, list):
        return [inner(item) for item in plain]
    if "$array" in plain:
        return _array(plain["$array"], tensors)
    if "$texts" in plain:
        return _texts(tensors[plain["$texts"]["lengths"]], tensors[plain["$texts"]["bytes"]])
    if "$csr" in plain:
        return _sparse(plain, tensors)
    if "$record" in plain:
        return _made(plain["$record"], {name: inner(v) for name, v in plain["fields"].items()})
    if "$tuple" in plain:
        items = plain["$tuple"]
        return tuple(inner(items) if isinstance(items, dict) else [inner(item) for item in items])
    if "$dict" in plain:
        return {inner(k): inner(v) for k, v in plain["$dict"]}
    if "$scalar" in plain:
        name, item = plain["$scalar"]
        return SCALARS[name](inner(item))
    if "$float" in plain:
        return {"inf": math.inf, "-inf": -math.inf, "nan": math.nan}[plain["$float"]]
    if "$objects" in plain:
        items = inner(plain["$objects"])
        objects = np.empty(len(items), dtype=object)
        objects[:] = items
        return objects.reshape(plain["shape"])
    return FUNCTIONS[plain["$function"]]


def _made(name: str, fields: dict[str, Any]) -> Any:
    value: Any = object.__new__(RECORDS[name])
    fields = _LATER[name] | fields
    vars(value).update(fields)
    if set(fields) != set(_KEPT[name]) or not value._fits_together():
        raise ModelFileError(f"has a {name} whose parts do not fit together")
    return value


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
    if not _rows_fit(data, indices, indptr, shape):
        raise ModelFileError("has sparse rows whose parts do not fit together")
    X = form((data, indices, indptr), shape=shape)
    X.check_format(full_check=True)
    return X


def _rows_fit(data: np.ndarray, indices: np.ndarray, indptr: np.ndarray, shape: Any) -> bool:
    """Tell whether rows begin and end where there are entries; SciPy's loops trust that."""
    # SciPy's own check looks after it has made the numbers shorter, when some may have wrapped.
    if not all(type(extent) is int and 0 <= extent < MAX_EXTENT for extent in shape):
        return False
    if any(a.ndim != 1 for a in (data, indices, indptr)) or len(shape) != 2:
        return False
    if indices.dtype.kind != "i" or indptr.dtype.kind != "i" or len(indptr) != shape[0] + 1:
        return False
    inside = bool(((indices >= 0) & (indices < shape[1])).all())
    rising = indptr[0] == 0 and bool((indptr[1:] >= indptr[:-1]).all())
    return inside and rising and int(indptr[-1]) == len(indices) == len(data)


def _checked_text(value: str, where: str) -> str:
    try:
        value.encode("utf-8")
    except UnicodeEncodeError as reason:
        raise ExportError(
            f"{where} holds {value!r}, which is not valid Unicode, so no other program could "
            f"read it. Rename the column or the label."
        ) from reason
    return value


def _unsavable(value: Any, where: str) -> ExportError:
    kind = "A function" if callable(value) else f"An object of type {type(value).__name__}"
    return ExportError(
        f"{kind} in {where} cannot be saved: a model file holds numbers and text only, never "
        f"code. Use a built-in kernel, plain labels, an integer random_state; or, for a whole "
        f"pipeline, skops: see fairpca.models.trusted_types."
    )


def pack(tensors: Mapping[str, np.ndarray], metadata: Mapping[str, str]) -> bytes:
    """Return C-ordered arrays and text as the bytes of a safetensors file."""
    save: Callable[..., bytes] = _safetensors().save
    return save({name: np.ascontiguousarray(a) for name, a in tensors.items()}, dict(metadata))


def header_bytes(content: bytes) -> bytes | None:
    """Return the header of a safetensors file; None where there is none of a sensible length."""
    if len(content) < LENGTH + 2:
        return None
    length = int.from_bytes(content[:LENGTH], "little")
    header = content[LENGTH : LENGTH + min(length, MAX_HEADER)]
    return header if header.startswith(b"{") and length <= MAX_HEADER else None


def announced_size(content: bytes) -> int | None:
    """Return how long the file should be by its own header, None where that cannot be read."""
    try:
        header = _parsed(header_bytes(content) or b"")
        ends = [entry["data_offsets"][1] for k, entry in header.items() if k != "__metadata__"]
        return LENGTH + int.from_bytes(content[:LENGTH], "little") + max(map(int, ends), default=0)
    except (ValueError, TypeError, KeyError, IndexError, AttributeError, RecursionError):
        return None


def unpack(content: bytes) -> tuple[Mapping[str, np.ndarray], dict[str, str]]:
    """Return the arrays and the text of a safetensors file that was found unaltered."""
    try:
        header = _parsed(header_bytes(content) or b"")
        metadata = header.pop("__metadata__", {})
        for entry in header.values():
            shape = entry["shape"]
            sized = all(isinstance(extent, int) and 0 <= extent <= MAX_EXTENT for extent in shape)
            if entry["dtype"] not in DTYPES.values() or len(shape) > MAX_DIMENSIONS or not sized:
                raise UsageError(f"an array of {entry['dtype']!r} and {shape!r}")
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as reason:
        raise ModelFileError(DAMAGED) from reason
    if len(header) > MAX_TENSORS:
        raise ModelFileError(f"has {len(header)} arrays, more than the {MAX_TENSORS} of any model")
    safetensors = _safetensors()
    try:
        arrays = safetensors.load(content)
    except Exception as reason:  # the library's own error class has changed its place
        raise ModelFileError(DAMAGED) from reason
    return RationedArrays(arrays, max(ALWAYS_ALLOWED, LARGEST_GROWTH * len(content))), metadata


class RationedArrays(Mapping[str, np.ndarray]):
    """The arrays of a file, of which no more than `most` bytes are handed out.

    Equal arrays are written once; named a million times, a small file would fill the memory.
    """

    def __init__(self, arrays: Mapping[str, np.ndarray], most: int) -> None:
        self._arrays, self._left = arrays, most

    def __getitem__(self, name: str) -> np.ndarray:
        array = self._arrays[name]
        self._left -= array.nbytes
        if self._left < 0:
            raise ModelFileError("names its arrays more often than any model does")
        return array

    def __iter__(self) -> Iterator[str]:
        return iter(self._arrays)

    def __len__(self) -> int:
        return len(self._arrays)


def _parsed(header: bytes) -> dict[str, Any]:
    parsed = json.loads(header.decode("utf-8"))
    if not isinstance(parsed, dict):
        raise UsageError("not an object")
    return parsed


def _safetensors() -> Any:
    with needing("safetensors", "models", "A model file"):
        import safetensors.numpy
    return safetensors.numpy
