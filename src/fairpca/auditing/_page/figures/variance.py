"""How much variance the first components keep."""

from __future__ import annotations

from itertools import accumulate
from typing import Any

from ..audit_lookup import AuditLookup
from ..findings import variance_finding
from ..wording import percent
from .figure import Figure, series_colour, symbol
from .plot_text import hover_lines, plot_text

DASHES = ("solid", "dash", "dot", "dashdot", "longdash", "longdashdot")


def variance_figures(lookup: AuditLookup) -> list[Figure]:
    """Return one plot of the cumulative shares, or none if no spectrum was measured."""
    spectra = [one for one in lookup.audit["spectra"] if one["ratios"]]
    if not spectra:
        return []
    lines: list[dict[str, Any]] = []
    for place, spectrum in enumerate(spectra):
        name = lookup.name(spectrum["representation"])
        shares = list(accumulate(100 * (ratio or 0.0) for ratio in spectrum["ratios"]))
        lines.append(
            {
                "type": "scatter",
                "mode": "lines+markers",
                "name": plot_text(name),
                "legendgroup": name,
                "x": list(range(1, len(shares) + 1)),
                "y": shares,
                "line": {"color": series_colour(place), "width": 2.5, "dash": DASHES[place % 6]},
                "marker": {"color": series_colour(place), "symbol": symbol(place), "size": 7},
                "hoverinfo": "text",
                "hovertext": [
                    hover_lines(name, f"first {count}: {percent(share / 100)} of the variance")
                    for count, share in enumerate(shares, 1)
                ],
            }
        )
    layout = {
        "height": 340,
        "xaxis": {"title": {"text": "number of components"}, "rangemode": "tozero"},
        "yaxis": {"title": {"text": "variance kept (%)"}, "rangemode": "tozero"},
    }
    key = [
        {
            "name": one["legendgroup"],
            "colour": one["line"]["color"],
            "symbol": one["marker"]["symbol"],
        }
        for one in lines
    ]
    return [Figure({}, lines, layout, variance_finding(lookup), key)]
