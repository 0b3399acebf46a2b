"""What all plots share: a figure, its key, colours and symbols."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from ..audit_lookup import Entry

N_COLOURS = 8
SYMBOLS = ("circle", "square", "diamond", "triangle-up", "cross", "x", "triangle-down", "star")


@dataclass(frozen=True)
class Figure:
    """One plot for one choice of the reader.

    Parameters
    ----------
    choice : dict
        For which settings of the page's choosers it is drawn, such as ``{"attribute": "0"}``.
    data, layout : list, dict
        As plotly takes them.
    finding : str
        What it shows, in a sentence; also the text for those who do not see it.
    key : list of dict
        Entries of the legend: name, colour, symbol.
    aspect : float or None
        Height by width, up to the height of the layout; None if the height is fixed.
    """

    choice: dict[str, str]
    data: list[dict[str, Any]]
    layout: dict[str, Any]
    finding: str
    key: list[dict[str, str]] = field(default_factory=list)
    aspect: float | None = None


def series_colour(position: int) -> str:
    """Return one of the colours of the style sheet, which people with any eyes can tell apart."""
    return f"var(--series-{position % N_COLOURS + 1})"


def symbol(position: int) -> str:
    """Return a marker, so that colour is never the only difference.

    Past the last colour the markers start elsewhere: twelve groups have twelve different pairs.
    """
    return SYMBOLS[(position + position // N_COLOURS) % len(SYMBOLS)]


def error_bars(
    estimates: list[Entry], *, scale: float = 1, colour: str, thickness: float = 1.5
) -> dict[str, Any]:
    """Return plotly's error bars from the confidence intervals of estimates."""

    def lengths(end: str, sign: int) -> list[float | None]:
        return [
            None
            if one["value"] is None or one[end] is None
            else max(0.0, sign * scale * (one[end] - one["value"]))
            for one in estimates
        ]

    return {
        "type": "data",
        "symmetric": False,
        "array": lengths("high", 1),
        "arrayminus": lengths("low", -1),
        "color": colour,
        "thickness": thickness,
        "width": 0,
    }
