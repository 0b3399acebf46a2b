"""A table of text: a caption, heads, and rows whose first cell names them."""

from __future__ import annotations

from dataclasses import dataclass, field

from ..audit_lookup import Entry, value_of
from ..wording import NOT_MEASURED, decimal, interval, percent


@dataclass(frozen=True)
class Cell:
    """A number or a word, and in smaller type what qualifies it."""

    text: str
    detail: str = ""
    tone: str = ""


@dataclass(frozen=True)
class Table:
    """What a template needs to print a table.

    Parameters
    ----------
    caption : str
        What the numbers are, in words.
    heads : list of str
        One per column.
    rows : list of list of Cell
        The first cell of a row is its name.
    choice : dict
        For which settings of the page's choosers it is shown, such as ``{"attribute": "0"}``.
    wide : bool
        Whether paper is too narrow for it; there, columns from the sixth on are left out.
    """

    caption: str
    heads: list[str]
    rows: list[list[Cell]]
    choice: dict[str, str] = field(default_factory=dict)
    wide: bool = False


def words(*texts: str) -> list[Cell]:
    """Return cells of plain text."""
    return [Cell(text) for text in texts]


def number(estimate: Entry | None, digits: int = 2) -> Cell:
    """Return an estimate with its interval."""
    return Cell(decimal(value_of(estimate), digits), interval(estimate, digits=digits))


def share(estimate: Entry | None) -> Cell:
    """Return a share in percent with its interval."""
    return Cell(percent(value_of(estimate)), interval(estimate, 100, 1))


def difference(estimate: Entry | None) -> Cell:
    """Return a difference of shares, in points, with its interval."""
    value = value_of(estimate)
    text = NOT_MEASURED if value is None else decimal(100 * value, 1)
    return Cell(text, interval(estimate, 100, 1))
