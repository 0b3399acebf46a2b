"""Model files taken apart, changed, and put together with the digest that belongs to them.

Written from the description of the format, not with the package's own code: a mistake there
would otherwise be made here as well.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import math
import random
import struct
from dataclasses import dataclass, replace
from typing import Any

from .byte_mutations import INTERESTING_LONG, mutated
from .json_mutations import as_text, edited, places

KEY = "fairpca"
FLOATS = (math.nan, math.inf, -math.inf, 0.0, -0.0, 1e308, -1e308, 5e-324, 1e-300, 1e16, 1.0)


@dataclass(frozen=True)
class Parts:
    """The header of a safetensors file, the text of ours in it, and the bytes of the arrays."""

    outer: dict[str, Any]
    inner: dict[str, Any]
    data: bytes


def taken_apart(content: bytes) -> Parts:
    """Return the parts of a valid file."""
    length = int.from_bytes(content[:8], "little")
    outer = json.loads(content[8 : 8 + length])
    inner = json.loads(outer.pop("__metadata__")[KEY])
    inner.pop("sha256", None)
    return Parts(outer, inner, content[8 + length :])


def put_together(parts: Parts, *, sign: bool = True) -> bytes:
    """Return the file; where it is signed, with the right digest."""
    inner = {"sha256": "0" * 64, **parts.inner} if sign else parts.inner
    header = as_text({"__metadata__": {KEY: as_text(inner)}, **parts.outer}).encode()
    header += b" " * (-len(header) % 8)
    content = len(header).to_bytes(8, "little") + header + parts.data
    if not sign:
        return content
    digest = hashlib.sha256(content).hexdigest().encode()
    return content.replace(b"0" * 64, digest, 1)


def with_floats(rng: random.Random, parts: Parts, other: Parts) -> tuple[Parts, str]:
    """Change some numbers of the arrays."""
    data = bytearray(parts.data)
    for _ in range(rng.choice((1, 1, 2, 20))):
        if len(data) >= 8:
            place = 8 * rng.randrange(len(data) // 8)
            data[place : place + 8] = struct.pack("<d", rng.choice(FLOATS))
    return replace(parts, data=bytes(data)), "numbers of arrays"


def with_bytes(rng: random.Random, parts: Parts, other: Parts) -> tuple[Parts, str]:
    """Change bytes of the arrays."""
    data, done = mutated(rng, parts.data or b"\0", other.data)
    return replace(parts, data=data), f"bytes of arrays: {done}"


def with_shapes(rng: random.Random, parts: Parts, other: Parts) -> tuple[Parts, str]:
    """Lie about types, shapes and places of arrays."""
    if not parts.outer:
        return with_bytes(rng, parts, other)
    outer = json.loads(json.dumps(parts.outer))
    entry = outer[rng.choice(list(outer))]
    kind = rng.randrange(4)
    if kind == 0:
        entry["dtype"] = rng.choice(("F64", "F32", "I64", "U8", "BOOL", "F16", "BF16", "x", None))
    elif kind == 1:
        entry["shape"] = rng.choice(
            (entry["shape"][::-1], [*entry["shape"], 1], [], [rng.choice(INTERESTING_LONG)], [-1])
        )
    elif kind == 2:
        entry["data_offsets"][rng.randrange(2)] = rng.choice(
            (*INTERESTING_LONG, -1, len(parts.data))
        )
    else:
        a, b = rng.choice(list(outer)), rng.choice(list(outer))
        outer[a], outer[b] = outer[b], outer[a]
    return replace(parts, outer=outer), "shapes of arrays"


def with_other_outer(rng: random.Random, parts: Parts, other: Parts) -> tuple[Parts, str]:
    """Edit the header of the arrays as JSON."""
    outer, done = edited(rng, parts.outer, other.outer)
    return replace(parts, outer=outer if isinstance(outer, dict) else {}), f"outer header: {done}"


def with_other_inner(rng: random.Random, parts: Parts, other: Parts) -> tuple[Parts, str]:
    """Edit our header as JSON."""
    inner, done = edited(rng, parts.inner, other.inner)
    return replace(parts, inner=inner), f"header: {done}"


def with_repeats(rng: random.Random, parts: Parts, other: Parts) -> tuple[Parts, str]:
    """Name one array very often: a small file that wants much memory."""
    inner = json.loads(as_text(parts.inner))
    size = rng.choice((2**10, 2**16, 2**20))
    dtype, width = rng.choice((("F64", 8), ("U8", 1)))
    outer = {**parts.outer}
    outer["big"] = {
        "dtype": dtype,
        "shape": [size],
        "data_offsets": [len(parts.data), len(parts.data) + width * size],
    }
    lengths = {"dtype": "I64", "shape": [1], "data_offsets": [0, 0]}
    end = len(parts.data) + width * size
    lengths["data_offsets"] = [end, end + 8]
    outer["lengths"] = lengths
    one: dict[str, Any] = {"$array": {"tensor": "big", "order": "C", "flipped": []}}
    if dtype == "U8":
        one = {"$texts": {"lengths": "lengths", "bytes": "big"}}
    spots = [(holder, key) for holder, key in places(inner) if key != "sha256"]
    holder, key = rng.choice(spots)
    holder[key] = [one] * rng.choice((10, 1000, 10_000))
    data = parts.data + b"\0" * (width * size) + size.to_bytes(8, "little")
    return Parts(outer, inner, data), f"one array many times at {str(key)[:30]!r}"


FORGERIES = (
    *(with_other_inner,) * 6,
    *(with_floats, with_bytes, with_shapes, with_other_outer, with_repeats),
)


def forged(rng: random.Random, content: bytes, other: bytes) -> tuple[bytes, str]:
    """Return a file that has its right digest and wrong contents, and what was done."""
    parts, stranger = taken_apart(content), taken_apart(other)
    done = []
    for _ in range(rng.choice((1, 1, 1, 2))):
        with contextlib.suppress(TypeError, KeyError, ValueError, AttributeError, IndexError):
            parts, what = rng.choice(FORGERIES)(rng, parts, stranger)  # may be broken already
            done.append(what)
    return put_together(parts), "; ".join(done)
