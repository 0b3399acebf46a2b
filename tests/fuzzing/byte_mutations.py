"""Bytes that were valid, changed a little without knowing what they mean."""

from __future__ import annotations

import random
from collections.abc import Callable

INTERESTING = (0, 1, 2, 7, 8, 127, 128, 255, 2**15, 2**16 - 1, 2**31 - 1, 2**31, 2**32 - 1, 2**40)
INTERESTING_LONG = (*INTERESTING, 2**62, 2**63 - 1, 2**63, 2**64 - 1, 100, 1000)
TOKENS = (
    b"\x00",
    b"\xff\xfe",
    b"\xef\xbb\xbf",
    b"\xed\xa0\x80",  # half of a character
    b"\xf4\x90\x80\x80",  # beyond the last one
    b"\r",
    b"\n",
    b"\r\n",
    b'"',
    b'""',
    b",",
    b";",
    b"\t",
    b"\x1b[31m",
    b"nan",
    b"inf",
    b"-1",
    b"1e308",
    b"1e999",
    b"9" * 400,
    b"{",
    b"[",
    b"null",
    b"../",
    b"\xe2\x80\xae",
    b"PAR1",
    b"PK\x05\x06",
)


def _place(rng: random.Random, content: bytearray) -> int:
    """Return a position; beginnings and ends, where lengths and names are, more often."""
    n = len(content)
    where = rng.random()
    if where < 0.25:
        return rng.randrange(min(n, 64))
    if where < 0.4:
        return n - 1 - rng.randrange(min(n, 64))
    return rng.randrange(n)


def _length(rng: random.Random, content: bytearray) -> int:
    most = max(1, len(content) // 2)
    return min(most, rng.choice((1, 1, 2, 3, 4, 8, 16, 64, rng.randint(1, most))))


def flip(rng: random.Random, content: bytearray, other: bytes) -> None:
    """Flip a few bits."""
    for _ in range(rng.choice((1, 1, 1, 2, 8))):
        content[_place(rng, content)] ^= 1 << rng.randrange(8)


def set_byte(rng: random.Random, content: bytearray, other: bytes) -> None:
    """Set a byte."""
    content[_place(rng, content)] = rng.choice((0, 255, 127, 128, rng.randrange(256)))


def swap(rng: random.Random, content: bytearray, other: bytes) -> None:
    """Swap two stretches."""
    n = _length(rng, content)
    a, b = _place(rng, content), _place(rng, content)
    content[a : a + n], content[b : b + n] = content[b : b + n], content[a : a + n]


def delete(rng: random.Random, content: bytearray, other: bytes) -> None:
    """Leave out a stretch."""
    a = _place(rng, content)
    del content[a : a + _length(rng, content)]


def repeat(rng: random.Random, content: bytearray, other: bytes) -> None:
    """Repeat a stretch."""
    a = _place(rng, content)
    content[a:a] = content[a : a + _length(rng, content)] * rng.choice((1, 1, 2, 20))


def insert(rng: random.Random, content: bytearray, other: bytes) -> None:
    """Put in something that has a meaning to somebody, or noise."""
    a = _place(rng, content)
    content[a:a] = rng.choice((rng.choice(TOKENS), rng.randbytes(rng.randint(1, 16))))


def truncate(rng: random.Random, content: bytearray, other: bytes) -> None:
    """Cut off the end."""
    del content[_place(rng, content) :]


def extend(rng: random.Random, content: bytearray, other: bytes) -> None:
    """Add to the end."""
    content += rng.choice((rng.randbytes(rng.randint(1, 64)), b"\0" * 512, bytes(content)))


def clear(rng: random.Random, content: bytearray, other: bytes) -> None:
    """Fill a stretch with zeros or ones."""
    a, n = _place(rng, content), _length(rng, content)
    content[a : a + n] = rng.choice((b"\0", b"\xff")) * len(content[a : a + n])


def lie_about_a_length(rng: random.Random, content: bytearray, other: bytes) -> None:
    """Write a number where lengths often are."""
    width = rng.choice((1, 2, 4, 8))
    value = rng.choice(INTERESTING_LONG) % 2 ** (8 * width)
    a = rng.choice((0, 0, _place(rng, content), max(0, len(content) - 8)))
    content[a : a + width] = value.to_bytes(width, rng.choice(("little", "big")))


def splice(rng: random.Random, content: bytearray, other: bytes) -> None:
    """Take the rest, or a stretch, from another file."""
    cut, start = _place(rng, content), rng.randrange(len(other) + 1)
    stop = rng.choice((len(other), start + _length(rng, content)))
    content[cut : rng.choice((cut, len(content)))] = other[start:stop]


MUTATIONS: tuple[Callable[[random.Random, bytearray, bytes], None], ...] = (
    *(flip, flip, set_byte, swap, delete, repeat, insert, truncate, extend, clear),
    *(lie_about_a_length, splice),
)


def mutated(rng: random.Random, content: bytes, other: bytes) -> tuple[bytes, str]:
    """Return bytes after a few changes, with parts of others, and what was done."""
    changed, done = bytearray(content), []
    for _ in range(rng.choice((1, 1, 1, 2, 2, 3, 5))):
        if not changed:
            break
        mutation = rng.choice(MUTATIONS)
        mutation(rng, changed, other)
        done.append(mutation.__name__)
    return bytes(changed), ", ".join(done)
