"""Numbers and names as people read them."""

from __future__ import annotations

from collections.abc import Sequence

LONGEST_NAME = 60


def percent(share: float, digits: int = 1) -> str:
    """Return a share in per cent.

    Examples
    --------
    >>> percent(0.0532), percent(0.05, 0)
    ('5.3 %', '5 %')
    """
    return f"{100 * share:.{digits}f} %"


def named(name: str) -> str:
    """Return the name of a column or level for a sentence: one line, and not too long."""
    line = " ".join(name.split()) or "(no name)"
    return line if len(line) <= LONGEST_NAME else f"{line[: LONGEST_NAME - 3]}..."


def points(share: float) -> str:
    """Return a difference of shares: from 10 % to 15 % it is 5 points."""
    return f"{100 * share:.1f} points"


def joined(names: Sequence[str]) -> str:
    """Return "a", "a and b", or "a, b and c"."""
    if len(names) <= 1:
        return "".join(names)
    return f"{', '.join(names[:-1])} and {names[-1]}"
