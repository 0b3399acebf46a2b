"""What tells one question from another, also in another process: values, never addresses."""

from __future__ import annotations

import hashlib
import platform
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import fields, is_dataclass
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import numpy as np

from ..errors import UnknownQuestionError
from .arrays import is_foreign, is_sparse, to_numpy

LIBRARIES = ("numpy", "scipy", "scikit-learn", "safetensors", "pandas")

PLAIN = (bool, int, float, complex, str, bytes, type(None))


def fingerprint_of(value: Any, name: str = "value") -> str:
    """Return a digest that values share if they are equal, in this process or another.

    Functions need an attribute ``fingerprint``, a text: nothing but an address tells what they are.
    """
    return hashlib.sha256(_described(value, name, ()).encode()).hexdigest()


def own_fingerprint(value: Any) -> str | None:
    """Return the text by which an object, not its class, says what it is; None without one."""
    told = None if isinstance(value, type) else getattr(value, "fingerprint", None)
    return told if isinstance(told, str) else None


def _described(value: Any, name: str, above: tuple[int, ...]) -> str:
    if isinstance(value, np.generic):
        value = value.item()
    if type(value) in PLAIN:
        return repr(value)
    if id(value) in above:
        raise _unknown(name, "holds itself")
    above = (*above, id(value))
    told = own_fingerprint(value)
    if told is not None:
        return f"{_kind(value)} {told!r}"
    if isinstance(value, np.ndarray):
        return _array(value, name, above)
    if is_sparse(value):
        rows = value.tocsr().sorted_indices()
        places = [np.asarray(i, dtype=np.int64) for i in (rows.indptr, rows.indices)]
        return _each([value.shape, rows.data, *places], name, above)
    if isinstance(value, Mapping):
        items = ((_described(k, name, above), k, v) for k, v in value.items())
        pairs = sorted((key, _described(v, f"{name}[{k!r}]", above)) for key, k, v in items)
        return f"mapping {pairs!r}"
    if isinstance(value, Set):
        return f"set {sorted(_described(v, name, above) for v in value)!r}"
    if isinstance(value, Sequence):
        return _each(value, name, above)
    if isinstance(value, np.random.RandomState):
        return _described(value.get_state(legacy=False), name, above)
    if isinstance(value, np.random.Generator):
        return _described(value.bit_generator.state, name, above)
    return _object(value, name, above)


def _object(value: Any, name: str, above: tuple[int, ...]) -> str:
    if isinstance(value, type) and value.__module__ in ("builtins", "numpy"):
        return repr(value)
    if callable(value) and not _kind(value).startswith(("fairpca.", "torch.device")):
        called = getattr(value, "__qualname__", type(value).__qualname__)
        raise _unknown(name, f"is the function '{called}'")
    if is_foreign(value) or hasattr(value, "__array__"):
        array = to_numpy(value) if is_foreign(value) else np.asarray(value)
        return f"{_kind(value)} {_array(array, name, above)}"
    held = getattr(value, "__dict__", None)
    if is_dataclass(value):
        held = {field.name: getattr(value, field.name) for field in fields(value)}
    if held is not None:
        # What users know by name comes first, so that it is what they are told about.
        names = sorted(held, key=lambda key: (key.startswith("_"), key))
        inside = "" if len(above) == 1 else f"{name}."
        parts = [(key, _described(held[key], f"{inside}{key}", above)) for key in names]
        return f"{_kind(value)} {parts!r}"
    kind: Any = type(value)
    if kind.__repr__ is object.__repr__ or " at 0x" in repr(value):
        raise _unknown(name, f"is a {kind.__qualname__}")
    return f"{_kind(value)} {value!r}"


def _each(values: Iterable[Any], name: str, above: tuple[int, ...]) -> str:
    return repr([_described(v, f"{name}[{i}]", above) for i, v in enumerate(values)])


def _array(array: np.ndarray, name: str, above: tuple[int, ...]) -> str:
    if array.dtype.hasobject:
        return f"{array.dtype} {array.shape} {_each(array.ravel().tolist(), name, above)}"
    return f"{array.dtype} {array.shape} {hashlib.sha256(array.tobytes()).hexdigest()}"


def _kind(value: Any) -> str:
    return f"{type(value).__module__}.{type(value).__qualname__}"


def _unknown(name: str, what: str) -> UnknownQuestionError:
    return UnknownQuestionError(
        f"{name} {what}, and nothing tells whether it is the same in another run. Give it an "
        f"attribute `fingerprint`, a text that changes whenever its results do."
    )


def library_versions(libraries: Sequence[str] = LIBRARIES) -> dict[str, str]:
    """Return the versions of Python, of this package and of the libraries that are installed."""
    found = {"python": platform.python_version(), "fairpca": "unknown"}
    for name in ("fairpca", *libraries):
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found
