"""JSON that was valid, changed where it hurts; it stays JSON, or nearly."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterator
from typing import Any

NUMBERS = (
    *(
        0,
        -0.0,
        1,
        -1,
        2,
        3,
        0.5,
        1e-320,
        1e308,
        -1e308,
        1e-5,
        255,
        2**31,
        2**53 + 1,
        2**63,
        -(2**63),
    ),
    *(2**64, 10**30, 10**400, float("nan"), float("inf"), float("-inf"), 100_000, True, False),
)
TEXTS = (
    "",
    " ",
    "../../../../etc/passwd",
    "/etc/passwd",
    "..\\..\\windows",
    "a\0b",
    "\x1b]0;title\x07\x1b[2J",
    "\ud800",
    "\u202egnp.exe",
    "ﬁ\u0301\u200d😀",
    "<script>alert(1)</script>",
    "=cmd|' /C calc'!A0",
    "__class__",
    "__import__('os').system('id')",
    "os.system",
    "builtins.eval",
    "{{7*7}}%s{0.__class__}",
    "NaN",
    "x" * 5000,
    "1" * 5000,
    "numpy.core.multiarray._reconstruct",
)
KEYS = (
    *("$array", "$texts", "$csr", "$record", "$tuple", "$dict", "$scalar", "$float", "$objects"),
    *("$function", "fields", "shape", "form", "tensor", "order", "flipped", "__class__", "name"),
    *("__init__", "_map", "transform", "kernel", "n_components", "", "\ud800", "a\0b", "../x"),
)
Place = tuple[Any, Any]
"""A container and a key of it."""


def places(tree: Any) -> Iterator[Place]:
    """Yield every node of a tree by the container it is in."""
    stack = [tree]
    while stack:
        node = stack.pop()
        keys = list(node) if isinstance(node, dict) else range(len(node))
        for key in keys:
            yield node, key
            if isinstance(node[key], dict | list):
                stack.append(node[key])


def nasty(rng: random.Random) -> Any:
    """Return a value that is seldom expected."""
    kind = rng.randrange(8)
    if kind < 3:
        return rng.choice(NUMBERS)
    if kind < 5:
        return rng.choice(TEXTS)
    if kind == 5:
        return rng.choice((None, [], {}, [[]], [None], [0] * 1000))
    if kind == 6:
        return {rng.choice(KEYS): nasty(rng)}
    return nested(rng)


def nested(rng: random.Random) -> Any:
    """Return a value in many lists or dicts."""
    value: Any = 1
    key = rng.choice(("$tuple", "x", None))
    for _ in range(rng.choice((5, 25, 100, 300))):
        value = [value] if key is None else {key: [value] if key == "$tuple" else value}
    return value


def replace(rng: random.Random, at: Place, others: list[Place]) -> None:
    """Put something else in its place."""
    at[0][at[1]] = nasty(rng)


def remove(rng: random.Random, at: Place, others: list[Place]) -> None:
    """Leave it out."""
    del at[0][at[1]]


def copy_from_lazily(rng: random.Random, at: Place, others: list[Place]) -> None:
    """Put what is in another place."""
    there = rng.choice(others)
    at[0][at[1]] = _copied(there[0][there[1]])


def nudge(rng: random.Random, at: Place, others: list[Place]) -> None:
    """Change a number a little, a text by a letter, a list by an entry."""
    value = at[0][at[1]]
    if isinstance(value, bool):
        at[0][at[1]] = not value
    elif isinstance(value, int | float):
        at[0][at[1]] = rng.choice((value + 1, value - 1, -value, value * 2, str(value), [value]))
    elif isinstance(value, str):
        cut = rng.randint(0, len(value))
        at[0][at[1]] = value[:cut] + rng.choice(TEXTS) + value[cut:]
    elif isinstance(value, list):
        at[0][at[1]] = rng.choice((value + value[:1], value[1:], value[::-1], value * 2))
    elif isinstance(value, dict) and value:
        value[rng.choice(KEYS)] = value.pop(rng.choice(list(value)))
    else:
        at[0][at[1]] = nasty(rng)


def add_a_key(rng: random.Random, at: Place, others: list[Place]) -> None:
    """Add an entry."""
    holder = at[0]
    if isinstance(holder, dict):
        holder[rng.choice(KEYS)] = nasty(rng)
    else:
        holder.insert(at[1], nasty(rng))


EDITS: tuple[Callable[[random.Random, Place, list[Place]], None], ...] = (
    *(replace, replace, remove, copy_from_lazily, nudge, nudge, add_a_key),
)


def edited(rng: random.Random, tree: Any, other: Any) -> tuple[Any, str]:
    """Return a copy of JSON values with a few edits, some from another tree, and what was done."""
    tree, done = _copied(tree), []
    foreign = list(places(other))
    for _ in range(rng.choice((1, 1, 1, 2, 3))):
        own = list(places(tree))
        if not own:
            break
        edit = rng.choice(EDITS)
        at = rng.choice(own)
        edit(rng, at, foreign if rng.random() < 0.5 and foreign else own)
        done.append(f"{edit.__name__} at {str(at[1])[:30]!r}")
    return tree, "; ".join(done)


def _copied(tree: Any) -> Any:
    return json.loads(as_text(tree))  # deeper than `copy.deepcopy` can go


def as_text(tree: Any) -> str:
    """Return JSON as careless programs write it: NaN, infinities and halves of characters."""
    return json.dumps(tree, separators=(",", ":"))
