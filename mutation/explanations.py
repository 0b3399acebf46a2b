"""Why a survivor may live: read from ``explained.toml``, matched by the very text of the line."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from pathlib import Path

from .outcomes import Outcome

FILE = Path(__file__).with_name("explained.toml")

KINDS = {
    "equivalent": "The result is the same for every input that can occur.",
    "speed": "The result is the same; it takes more time or memory.",
    "tie": "Differs only where two floating-point numbers are exactly equal.",
    "tuning": "A budget, a limit, a seed or a tolerance; a neighbouring value does as well.",
    "rounding": "Differs in digits that are rounding, or in a correction of that size.",
    "guard": "Protects against what the other code or today's libraries never do.",
}


@dataclass(frozen=True)
class Explanation:
    """Why one change of a line is no gap in the tests."""

    kind: str
    why: str


def explanations(file: Path = FILE) -> dict[tuple[str, str, str, str], Explanation]:
    """Return the explanation of each survivor that has one.

    An entry of the file names a module, a function and the text of a line, and lists the changes
    of this line that it explains. Once the line reads differently, nothing matches.
    """
    found = {}
    for entry in tomllib.loads(file.read_text(encoding="utf-8"))["survivor"]:
        if entry["kind"] not in KINDS:
            raise ValueError(f"{entry['kind']!r} is no kind of survivor. Use one of {list(KINDS)}.")
        for after in entry["changes"]:
            key = entry["module"], entry["function"], entry["line"], after
            found[key] = Explanation(entry["kind"], entry["why"])
    return found


def fragment(outcome: Outcome) -> tuple[str, str]:
    """Return the words of a line that change, before and after, as short as they can be read."""
    old, new = outcome.before.split(" "), outcome.after.split(" ")
    first = 0
    while first < min(len(old), len(new)) and old[first] == new[first]:
        first += 1
    last = 0
    while last < min(len(old), len(new)) - first and old[-1 - last] == new[-1 - last]:
        last += 1
    # One word around it, so that a removed argument can be placed.
    first, last = max(0, first - 1), max(0, last - 1)
    return " ".join(old[first : len(old) - last]), " ".join(new[first : len(new) - last])
