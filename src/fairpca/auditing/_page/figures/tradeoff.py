"""Accuracy against fairness over lambda, and the selection rates of the groups."""

from __future__ import annotations

from typing import Any

from ..audit_lookup import AuditLookup, Entry, parity_of, value_of
from ..findings import tradeoff_finding
from ..wording import interval, percent, points, significant
from .figure import Figure, error_bars, series_colour, symbol
from .plot_text import hover_lines, plot_text

CURVE = "var(--series-1)"
MARK = "var(--accent-strong)"


def tradeoff_figures(lookup: AuditLookup) -> list[Figure]:
    """Return a curve for each downstream model and attribute, with the marked point last."""
    return [
        _figure(lookup, number, curve, position, attribute["name"])
        for number, curve in enumerate(lookup.audit["curves"])
        for position, attribute in enumerate(lookup.attributes)
        if any(_at(point, attribute["name"]) for point in curve["points"])
    ]


def rate_figures(lookup: AuditLookup) -> list[Figure]:
    """Return empty bars for the groups of each attribute, which the slider fills."""
    return [_rates(position, attribute) for position, attribute in enumerate(lookup.attributes)]


def _at(point: Entry, attribute: str) -> Entry | None:
    """Return the parity of a point that can be drawn."""
    parity = parity_of(point, attribute)
    drawable = parity and None not in (value_of(parity["dp_gap"]), value_of(point["accuracy"]))
    return parity if drawable else None


def _figure(
    lookup: AuditLookup, number: int, curve: Entry, position: int, attribute: str
) -> Figure:
    others = [
        trace
        for place, one in enumerate(lookup.representations)
        if (trace := _other(lookup, place, one["key"], curve["model"], attribute))
    ]
    line = _line(lookup, curve, attribute)
    mark = {
        **{name: line[name] for name in ("type", "hoverinfo")},
        "mode": "markers",
        "name": "Lambda of the slider",
        "legendgroup": "Lambda of the slider",
        "x": [],
        "y": [],
        "error_x": error_bars([], colour=MARK, thickness=2.5),
        "error_y": error_bars([], colour=MARK, thickness=2.5),
        "marker": {"color": "var(--surface)", "size": 15, "line": {"color": MARK, "width": 4}},
    }
    layout = {
        "height": 400,
        "xaxis": {
            "title": {"text": "gap of selection rates (points)"},
            "rangemode": "tozero",
        },
        "yaxis": {"title": {"text": "accuracy (%)"}},
    }
    key = [
        {"name": line["legendgroup"], "colour": CURVE, "symbol": "line"},
        {"name": "Lambda of the slider", "colour": MARK, "symbol": "ring"},
        *(
            {
                "name": one["legendgroup"],
                "colour": one["marker"]["color"],
                "symbol": one["marker"]["symbol"],
            }
            for one in others
        ),
    ]
    return Figure(
        {"curve": str(number), "attribute": str(position)},
        [*others, line, mark],
        layout,
        tradeoff_finding(lookup, curve, attribute),
        key,
        aspect=0.95,
    )


def _line(lookup: AuditLookup, curve: Entry, attribute: str) -> dict[str, Any]:
    drawn = [(one, parity) for one in curve["points"] if (parity := _at(one, attribute))]
    name = f"{lookup.name(curve['representation'])}, lambda 0 to 1"
    return {
        "type": "scatter",
        "mode": "lines+markers",
        "name": plot_text(name),
        "legendgroup": name,
        "x": [100 * parity["dp_gap"]["value"] for _, parity in drawn],
        "y": [100 * point["accuracy"]["value"] for point, _ in drawn],
        "error_x": error_bars(
            [parity["dp_gap"] for _, parity in drawn], scale=100, colour="var(--faint)", thickness=1
        ),
        "error_y": error_bars(
            [point["accuracy"] for point, _ in drawn], scale=100, colour="var(--faint)", thickness=1
        ),
        "line": {"color": CURVE, "width": 2},
        "marker": {"color": CURVE, "size": 6},
        "hoverinfo": "text",
        "hovertext": [
            hover_lines(
                f"lambda {significant(point['tradeoff'])}",
                f"accuracy {percent(point['accuracy']['value'])} "
                f"({interval(point['accuracy'], 100, 1)})",
                f"gap {points(parity['dp_gap']['value'])} ({interval(parity['dp_gap'], 100, 1)})",
            )
            for point, parity in drawn
        ],
    }


def _other(
    lookup: AuditLookup, place: int, key: str, model: str, attribute: str
) -> dict[str, Any] | None:
    """Return a representation without lambda as a point behind the curve."""
    downstream = lookup.downstream(key, model)
    parity = _at(downstream, attribute) if downstream else None
    if downstream is None or parity is None:
        return None
    accuracy, gap = downstream["accuracy"], parity["dp_gap"]
    name = lookup.name(key)
    return {
        "type": "scatter",
        "mode": "markers",
        "name": plot_text(name),
        "legendgroup": name,
        "x": [100 * gap["value"]],
        "y": [100 * accuracy["value"]],
        "marker": {"color": series_colour(place + 1), "symbol": symbol(place + 1), "size": 11},
        "hoverinfo": "text",
        "hovertext": [
            hover_lines(
                name,
                f"accuracy {percent(accuracy['value'])} ({interval(accuracy, 100, 1)})",
                f"gap {points(gap['value'])} ({interval(gap, 100, 1)})",
            )
        ],
    }


def _rates(position: int, attribute: Entry) -> Figure:
    labels = [plot_text(one["label"], length=36, width=14) for one in attribute["groups"]]
    rows = list(range(len(labels)))
    lines = max((label.count("<br>") + 1 for label in labels), default=1)
    bars = {
        "type": "bar",
        "orientation": "h",
        "x": [None] * len(labels),
        "y": rows,
        "width": 0.62,
        "marker": {"color": [series_colour(row) for row in rows]},
        "error_x": error_bars([], colour="var(--text)", thickness=1.5),
        "hoverinfo": "skip",
    }
    numbers = {
        "type": "scatter",
        "mode": "text",
        "x": [1.04] * len(labels),
        "y": rows,
        "text": [""] * len(labels),
        "textposition": "middle right",
        "hoverinfo": "skip",
        "cliponaxis": False,
    }
    layout = {
        "height": max(38, 17 * lines + 8) * len(labels) + 70,
        "xaxis": {
            "title": {"text": "positive decisions"},
            "range": [0, 1.3],
            "tickvals": [0, 0.25, 0.5, 0.75, 1],
            "ticktext": ["0", "25", "50", "75", "100 %"],
        },
        "yaxis": {
            "tickvals": rows,
            "ticktext": labels,
            "range": [len(labels) - 0.5, -0.5],
            "showgrid": False,
        },
    }
    return Figure({"attribute": str(position)}, [bars, numbers], layout, "")
