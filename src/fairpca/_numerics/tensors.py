"""Named arrays as the bytes of a safetensors file; the only place that knows safetensors."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np

from ..errors import MissingExtraError, ModelFileError, UsageError

LENGTH = 8
"""A safetensors file starts with so many bytes that give the length of its header."""

MAX_HEADER = 2**23
"""Headers longer than this many bytes are refused before they are read."""

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
            _check_entry(entry["dtype"], entry["shape"])
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

    Equal arrays are written once and named several times. Named a million times, a small file would
    fill the memory; so an array counts each time it is asked for.
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


def _check_entry(dtype: Any, shape: Any) -> None:
    if dtype not in DTYPES.values():
        raise UsageError(f"the type {dtype!r}")
    if len(shape) > MAX_DIMENSIONS or not all(
        isinstance(extent, int) and 0 <= extent <= MAX_EXTENT for extent in shape
    ):
        raise UsageError(f"the shape {shape!r}")


def _safetensors() -> Any:
    try:
        import safetensors.numpy
    except ImportError as reason:
        raise MissingExtraError("safetensors", "models", "A model file") from reason
    return safetensors.numpy
