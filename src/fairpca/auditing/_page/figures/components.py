"""Held-out rows in the first two components, before and after."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..audit_lookup import AuditLookup, Entry
from ..findings import components_finding, group_means
from .figure import Figure, series_colour, symbol
from .plot_text import plot_text

SAME_SCALE = 4
"""A panel whose spread differs by more than this factor from the first has axes of its own."""


def component_figures(lookup: AuditLookup) -> list[Figure]:
    """Return a panel for each representation and attribute, all with equal axes if they can be.

    The points are not repeated for each attribute: a trace says which rows it shows, and the page
    takes them from the audit.
    """
    pictures = lookup.audit["pictures"]
    frames = _frames(pictures["panels"])
    positions = {one["name"]: place for place, one in enumerate(lookup.attributes)}
    return [
        _panel(lookup, number, panel, place, positions[groups["attribute"]], groups, frame)
        for place, groups in enumerate(pictures["groups"])
        if groups["attribute"] in positions
        for number, (panel, frame) in enumerate(zip(pictures["panels"], frames, strict=True))
    ]


def _panel(
    lookup: AuditLookup,
    number: int,
    panel: Entry,
    place: int,
    position: int,
    groups: Entry,
    frame: list[list[float]],
) -> Figure:
    labels = [one["label"] for one in lookup.attributes[position]["groups"]]
    present = sorted({code for code in groups["codes"] if code >= 0})
    means = group_means(panel, groups["codes"])
    clouds = [
        {
            **_markers(labels[code], labels[code]),
            "rows": {"panel": number, "groups": place, "code": code},
            "marker": {**_marker(code), "size": 5, "opacity": 0.55},
        }
        for code in present
    ]
    centres = [
        {
            **_markers(labels[code], f"mean of {labels[code]}"),
            "x": [means[code][0]],
            "y": [means[code][1]],
            "marker": {
                **_marker(code),
                "size": 13,
                "line": {"color": "var(--surface)", "width": 2},
            },
        }
        for code in present
        if code in means
    ]
    layout = {
        "height": 380,
        "xaxis": {"title": {"text": "component 1"}, "range": frame[0], "zeroline": False},
        "yaxis": {
            "title": {"text": "component 2"},
            "range": frame[1],
            "zeroline": False,
            "scaleanchor": "x",
        },
        "dragmode": "zoom",
    }
    return Figure(
        {"attribute": str(position), "panel": str(number)},
        clouds + centres,
        layout,
        components_finding(lookup, panel, groups),
        [
            {"name": labels[code], "colour": series_colour(code), "symbol": symbol(code)}
            for code in present
        ],
        aspect=1.05,
    )


def _marker(code: int) -> dict[str, Any]:
    return {"color": series_colour(code), "symbol": symbol(code)}


def _markers(label: str, hover: str) -> dict[str, Any]:
    return {
        "type": "scatter",
        "mode": "markers",
        "legendgroup": label,
        "hoverinfo": "text",
        "hovertext": plot_text(hover),
    }


def _frames(panels: list[Entry]) -> list[list[list[float]]]:
    """Return the ranges of both axes for each panel: the same where scales are similar."""
    own = [[_span(panel["x"]), _span(panel["y"])] for panel in panels]
    if not own:
        return []
    widths = [max(high - low for low, high in frame) for frame in own]
    alike = [1 / SAME_SCALE <= width / widths[0] <= SAME_SCALE for width in widths]
    together = [frame for frame, similar in zip(own, alike, strict=True) if similar]
    shared = [
        [min(frame[axis][0] for frame in together), max(frame[axis][1] for frame in together)]
        for axis in (0, 1)
    ]
    return [shared if similar else frame for frame, similar in zip(own, alike, strict=True)]


def _span(values: list[float | None]) -> list[float]:
    """Return where the values lie, without the furthest that would squeeze all others."""
    known = np.array([value for value in values if value is not None], dtype=float)
    if known.size == 0:
        return [-1.0, 1.0]
    low, high = np.quantile(known, [0.01, 0.99])
    margin = 0.25 * (high - low) or 1.0
    low, high = max(low - margin, known.min()), min(high + margin, known.max())
    pad = 0.06 * (high - low) or 1.0
    return [round(float(low - pad), 4), round(float(high + pad), 4)]
