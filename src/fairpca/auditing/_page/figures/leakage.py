"""How well probes guess an attribute from each representation."""

from __future__ import annotations

from typing import Any

from ..audit_lookup import AuditLookup, Entry
from ..findings import leakage_finding
from ..wording import decimal, interval, model_name, p_value
from .figure import Figure, error_bars, series_colour, symbol
from .plot_text import hover_lines, plot_text

SPREAD = 0.22
"""Distance of the probes of one row, where rows are 1 apart."""

CHANCE = "Chance: 95 % of permuted groups"

PIXELS_PER_ROW = 66


def leakage_figures(lookup: AuditLookup) -> list[Figure]:
    """Return a dot plot for each attribute: representations are rows, probes are markers."""
    return [
        _dots(lookup, position, attribute["name"])
        for position, attribute in enumerate(lookup.attributes)
        if any(one["attribute"] == attribute["name"] for one in lookup.audit["leakage"])
    ]


def _dots(lookup: AuditLookup, position: int, attribute: str) -> Figure:
    probes = lookup.probes()
    placed = [
        (row + SPREAD * (lane - (len(probes) - 1) / 2), probe, leak)
        for row, one in enumerate(lookup.representations)
        for lane, probe in enumerate(probes)
        if (leak := lookup.leak(one["key"], attribute, probe)) is not None
    ]
    dots = [
        _probe_dots(lookup, lane, probe, [(y, leak) for y, name, leak in placed if name == probe])
        for lane, probe in enumerate(probes)
    ]
    rows = lookup.representations
    layout = {
        "height": PIXELS_PER_ROW * len(rows) + 60,
        "xaxis": {"title": {"text": "AUC of guessing the group"}, "range": _range(placed)},
        "yaxis": {
            "tickvals": list(range(len(rows))),
            "ticktext": [plot_text(one["name"], width=16) for one in rows],
            "range": [len(rows) - 0.45, -0.55],
            "showgrid": False,
        },
        "shapes": [_guessing(), *(_stripe(row) for row in range(0, len(rows), 2))],
    }
    key = [
        *(
            {
                "name": one["legendgroup"],
                "colour": one["marker"]["color"],
                "symbol": one["marker"]["symbol"],
            }
            for one in dots
        ),
        {"name": CHANCE, "colour": "var(--chance)", "symbol": "bar"},
    ]
    return Figure(
        {"attribute": str(position)},
        [_chance(placed), *dots],
        layout,
        leakage_finding(lookup, attribute),
        key,
    )


def _probe_dots(
    lookup: AuditLookup, lane: int, probe: str, leaks: list[tuple[float, Entry]]
) -> dict[str, Any]:
    name = model_name(probe)
    colour = series_colour(lane)
    return {
        "type": "scatter",
        "mode": "markers",
        "name": plot_text(name),
        "legendgroup": name,
        "x": [leak["auc"]["value"] for _, leak in leaks],
        "y": [y for y, _ in leaks],
        "error_x": error_bars([leak["auc"] for _, leak in leaks], colour=colour, thickness=2),
        "marker": {"color": colour, "symbol": symbol(lane), "size": 11},
        "hoverinfo": "text",
        "hovertext": [
            hover_lines(
                f"{lookup.name(leak['representation'])}, {name.lower()}",
                f"AUC {decimal(leak['auc']['value'], 3)} ({interval(leak['auc'], digits=3)})",
                f"chance {decimal(leak['chance_low'])} to {decimal(leak['chance_high'])}",
                f"p {p_value(leak['p_value'])}: "
                + ("above chance" if leak["above_chance"] else "not told from chance"),
            )
            for _, leak in leaks
        ],
    }


def _chance(placed: list[tuple[float, str, Entry]]) -> dict[str, Any]:
    """Return the band of each dot: what the same probe reaches when groups are permuted."""
    ends: list[float | None] = []
    heights: list[float | None] = []
    for y, _, leak in placed:
        ends += [leak["chance_low"], leak["chance_high"], None]
        heights += [y, y, None]
    return {
        "type": "scatter",
        "mode": "lines",
        "name": CHANCE,
        "legendgroup": CHANCE,
        "x": ends,
        "y": heights,
        "line": {"color": "var(--chance)", "width": 12},
        "hoverinfo": "skip",
        "connectgaps": False,
    }


def _range(placed: list[tuple[float, str, Entry]]) -> list[float]:
    ends = [0.45, 0.75]
    for _, _, leak in placed:
        numbers = (*leak["auc"].values(), leak["chance_low"], leak["chance_high"])
        ends += [number for number in numbers if number is not None]
    return [max(0.0, min(ends) - 0.02), min(1.02, max(ends) + 0.02)]


def _guessing() -> dict[str, Any]:
    return {
        "type": "line",
        "xref": "x",
        "yref": "paper",
        "x0": 0.5,
        "x1": 0.5,
        "y0": 0,
        "y1": 1,
        "line": {"color": "var(--muted)", "width": 1, "dash": "dot"},
    }


def _stripe(row: int) -> dict[str, Any]:
    return {
        "type": "rect",
        "xref": "paper",
        "yref": "y",
        "x0": 0,
        "x1": 1,
        "y0": row - 0.5,
        "y1": row + 0.5,
        "fillcolor": "var(--stripe)",
        "line": {"width": 0},
        "layer": "below",
    }
