"""Accuracy against fairness over lambda, and the selection rates of the groups."""

from __future__ import annotations

from functools import partial
from typing import Any

from ...metrics import significant
from .._evidence import Evidence, parity_of, value_of
from .._results import Attribute, Curve, CurvePoint, Downstream, Estimate, Parity
from .figures import (
    Figure,
    entry,
    error_bars,
    hover_lines,
    marks,
    plot_text,
    scatter,
    series_colour,
)
from .words import interval, percent, points

CURVE = "var(--series-1)"
MARK = "var(--accent-strong)"
SLIDER = "Lambda of the slider"


def decision_figures(evidence: Evidence) -> dict[str, list[Figure]]:
    """Return what is drawn of decisions, by name."""
    return {"tradeoff": _tradeoff_figures(evidence), "rates": _rate_figures(evidence)}


def _tradeoff_figures(evidence: Evidence) -> list[Figure]:
    """Return a curve for each downstream model and attribute, with the marked point last."""
    return [
        _figure(evidence, number, curve, position, attribute.name)
        for number, curve in enumerate(evidence.audit.curves)
        for position, attribute in enumerate(evidence.attributes)
        if any(_drawable(point, attribute.name) for point in curve.points)
    ]


def _drawable(found: Downstream | CurvePoint | None, attribute: str) -> Parity | None:
    """Return the parity of a model that can be drawn: with a gap and an accuracy."""
    parity = parity_of(found, attribute)
    if found is None or parity is None:
        return None
    return None if None in (value_of(parity.dp_gap), value_of(found.accuracy)) else parity


def _finding(curve: Curve, attribute: str) -> str:
    """Say what the ends of a curve are."""
    drawn = [(one, parity) for one in curve.points if (parity := _drawable(one, attribute))]
    if len(drawn) < 2:
        return ""
    (fair, fair_gap), (plain, plain_gap) = drawn[0], drawn[-1]
    return (
        f"From lambda {significant(fair.tradeoff)} to {significant(plain.tradeoff)}, the gap "
        f"between the groups of {attribute} goes from {points(fair_gap.dp_gap.value)} to "
        f"{points(plain_gap.dp_gap.value)}, and accuracy from {percent(fair.accuracy.value)} to "
        f"{percent(plain.accuracy.value)}."
    )


def _figure(evidence: Evidence, number: int, curve: Curve, position: int, attribute: str) -> Figure:
    others = [
        trace
        for place, one in enumerate(evidence.fitted)
        if (trace := _other(evidence, place, one.key, curve.model, attribute))
    ]
    line = _line(evidence, curve, attribute)
    mark = {
        "type": "scatter",
        "hoverinfo": "text",
        **scatter("markers", SLIDER, [], []),
        "error_x": error_bars([], colour=MARK, thickness=2.5),
        "error_y": error_bars([], colour=MARK, thickness=2.5),
        "marker": {"color": "var(--surface)", "size": 15, "line": {"color": MARK, "width": 4}},
    }
    layout = {
        "height": 400,
        "xaxis": {"title": {"text": "gap of selection rates (points)"}, "rangemode": "tozero"},
        "yaxis": {"title": {"text": "accuracy (%)"}},
    }
    key = [
        {"name": line["legendgroup"], "colour": CURVE, "symbol": "line"},
        {"name": SLIDER, "colour": MARK, "symbol": "ring"},
        *map(entry, others),
    ]
    return Figure(
        {"curve": str(number), "attribute": str(position)},
        [*others, line, mark],
        layout,
        _finding(curve, attribute),
        key,
        aspect=0.95,
    )


def _line(evidence: Evidence, curve: Curve, attribute: str) -> dict[str, Any]:
    drawn = [(one, parity.dp_gap) for one in curve.points if (parity := _drawable(one, attribute))]
    faint = partial(error_bars, scale=100, colour="var(--faint)", thickness=1)
    return scatter(
        "lines+markers",
        f"{evidence.name(curve.representation)}, lambda 0 to 1",
        [100 * gap.value for _, gap in drawn],
        [100 * point.accuracy.value for point, _ in drawn],
        error_x=faint([gap for _, gap in drawn]),
        error_y=faint([point.accuracy for point, _ in drawn]),
        line={"color": CURVE, "width": 2},
        marker={"color": CURVE, "size": 6},
        hover=[
            _hover(f"lambda {significant(point.tradeoff)}", point.accuracy, gap)
            for point, gap in drawn
        ],
    )


def _other(
    evidence: Evidence, place: int, key: str, model: str, attribute: str
) -> dict[str, Any] | None:
    """Return a representation without lambda as a point behind the curve."""
    downstream = evidence.downstream.get((key, model))
    parity = _drawable(downstream, attribute)
    if downstream is None or parity is None:
        return None
    accuracy, gap, name = downstream.accuracy, parity.dp_gap, evidence.name(key)
    return scatter(
        "markers",
        name,
        [100 * gap.value],
        [100 * accuracy.value],
        marker=marks(place + 1, size=11),
        hover=[_hover(name, accuracy, gap)],
    )


def _hover(name: str, accuracy: Estimate, gap: Estimate) -> str:
    return hover_lines(
        name,
        f"accuracy {percent(accuracy.value)} ({interval(accuracy, 100, 1)})",
        f"gap {points(gap.value)} ({interval(gap, 100, 1)})",
    )


def _rate_figures(evidence: Evidence) -> list[Figure]:
    """Return empty bars for the groups of each attribute, which the slider fills."""
    return [_rates(position, attribute) for position, attribute in enumerate(evidence.attributes)]


def _rates(position: int, attribute: Attribute) -> Figure:
    labels = [plot_text(one.label, length=36, width=14) for one in attribute.groups]
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
