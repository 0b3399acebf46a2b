"""Plots as plain dictionaries of plotly's traces and layouts: what all share, and most of them.

A colour is the name of a variable of the page's style sheet, as in ``var(--series-1)``; the page
replaces it, so that plots follow the light and the dark theme. Axes, fonts and margins that all
plots share are set there too.
"""

from __future__ import annotations

import math
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from typing import Any

import numpy as np

from ...metrics import decimal, joined, p_value, shortened
from .._evidence import Evidence
from .._results import Estimate, Leak, Panel, PanelGroups
from .words import interval, model_name, percent

N_COLOURS = 8
SYMBOLS = ("circle", "square", "diamond", "triangle-up", "cross", "x", "triangle-down", "star")
DASHES = ("solid", "dash", "dot", "dashdot", "longdash", "longdashdot")
MARKUP = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;"})
"""Plotly reads a few tags and entities in every label."""

SPREAD = 0.22
"""Distance of the probes of one row, where rows are 1 apart."""

CHANCE = "Chance: what the best of all probes stays within"
PIXELS_PER_ROW = 66

SAME_SCALE = 4
"""A panel whose spread differs by more than this factor from the first has axes of its own."""

Placed = list[tuple[float, str, Leak]]
"""The height, probe and number of each dot."""


@dataclass(frozen=True)
class Figure:
    """One plot for one choice of the reader."""

    choice: dict[str, str]  # of the page's choosers, such as {"attribute": "0"}
    data: list[dict[str, Any]]
    layout: dict[str, Any]
    finding: str  # in a sentence, also for those who do not see the plot
    key: list[dict[str, str]] = field(default_factory=list)  # entries of the legend
    aspect: float | None = None  # height by width, up to the layout's height; None: that is fixed


def marks(position: int, **more: Any) -> dict[str, Any]:
    """Return a colour and a symbol: twelve groups have twelve pairs, for people with any eyes."""
    symbol = SYMBOLS[(position + position // N_COLOURS) % len(SYMBOLS)]
    return {"color": series_colour(position), "symbol": symbol, **more}


def series_colour(position: int) -> str:
    """Return one of the colours of the style sheet."""
    return f"var(--series-{position % N_COLOURS + 1})"


def scatter(
    mode: str,
    name: str,
    x: Sequence[Any],
    y: Sequence[Any],
    *,
    hover: list[str] | None = None,
    **more: Any,
) -> dict[str, Any]:
    """Return a trace with a name in the legend, and a label for each point that is hovered over."""
    known = {"type": "scatter", "mode": mode, "name": plot_text(name), "legendgroup": name}
    labels = {} if hover is None else {"hoverinfo": "text", "hovertext": hover}
    return {**known, "x": x, "y": y, **more, **labels}


def entry(trace: dict[str, Any]) -> dict[str, str]:
    """Return the entry of a trace in the legend."""
    marker = trace["marker"]
    return {"name": trace["legendgroup"], "colour": marker["color"], "symbol": marker["symbol"]}


def error_bars(
    estimates: list[Estimate], *, scale: float = 1, colour: str, thickness: float = 1.5
) -> dict[str, Any]:
    """Return plotly's error bars from the confidence intervals of estimates."""

    def length(value: float | None, end: float | None, sign: int) -> float | None:
        if value is None or end is None:
            return None
        return max(0.0, sign * scale * (end - value))

    return {
        "type": "data",
        "symmetric": False,
        "array": [length(one.value, one.high, 1) for one in estimates],
        "arrayminus": [length(one.value, one.low, -1) for one in estimates],
        "color": colour,
        "thickness": thickness,
        "width": 0,
    }


def plot_text(text: str, *, length: int = 48, width: int | None = None) -> str:
    """Return text that plotly shows as it is, cut to a length and broken into lines of a width.

    >>> plot_text("<b>R&D</b>")
    '&lt;b&gt;R&amp;D&lt;/b&gt;'
    >>> plot_text("Fair PCA, equal covariances", width=16)
    'Fair PCA, equal<br>covariances'
    """
    text = shortened(text, length)
    lines = [text] if width is None else textwrap.wrap(text, width) or [""]
    return "<br>".join(line.translate(MARKUP) for line in lines)


def hover_lines(*lines: str) -> str:
    """Return lines, which may hold data, as the text of a hover label."""
    return "<br>".join(plot_text(line, length=80) for line in lines if line)


def evidence_figures(evidence: Evidence) -> dict[str, list[Figure]]:
    """Return what is drawn of every audit, by name: plots for all choices of the reader."""
    return {
        "leakage": _leakage_figures(evidence),
        "components": _component_figures(evidence),
        "variance": _variance_figures(evidence),
    }


def _leakage_figures(evidence: Evidence) -> list[Figure]:
    """Return a dot plot for each attribute: representations are rows, probes are markers."""
    return [
        _dots(evidence, position, attribute.name)
        for position, attribute in enumerate(evidence.attributes)
        if any(one.attribute == attribute.name for one in evidence.audit.leakage)
    ]


def _leakage_finding(evidence: Evidence, attribute: str) -> str:
    """Say how well the best probe guesses an attribute, before and after."""
    before, after = evidence.before(), evidence.after()
    found = []
    if before and (best := _best(evidence, before, attribute)):
        found.append(
            f"From {evidence.spoken(before)}, {attribute} is guessed with AUC "
            f"{decimal(best.auc.value)} (by {_probe(best)})"
        )
    if after and (best := _best(evidence, after, attribute)):
        seen = any(leak.above_chance for leak in evidence.leaks(after, attribute))
        found.append(
            f"after {evidence.spoken(after)} the best probe reaches {decimal(best.auc.value)} "
            f"({_probe(best)}), "
            + ("still above chance" if seen else "which cannot be told from chance")
        )
    text = "; ".join(found)
    return f"{text[0].upper()}{text[1:]}." if text else ""


def _best(evidence: Evidence, key: str, attribute: str) -> Leak | None:
    return max(evidence.leaks(key, attribute), key=lambda leak: leak.auc.value, default=None)


def _probe(leak: Leak) -> str:
    name = model_name(leak.probe).lower()
    return name if leak.probe == "boosting" else f"a {name}"


def _dots(evidence: Evidence, position: int, attribute: str) -> Figure:
    probes, rows = evidence.probes, evidence.fitted
    placed = [
        (row + SPREAD * (lane - (len(probes) - 1) / 2), probe, leak)
        for row, one in enumerate(rows)
        for lane, probe in enumerate(probes)
        if (leak := evidence.leak.get((one.key, attribute, probe))) is not None
    ]
    dots = [_probe_dots(evidence, lane, probe, placed) for lane, probe in enumerate(probes)]
    dotted = {"color": "var(--muted)", "width": 1, "dash": "dot"}
    guessing = _shape("line", "x", "paper", (0.5, 0.5, 0, 1), line=dotted)
    plain = {"fillcolor": "var(--stripe)", "line": {"width": 0}, "layer": "below"}
    stripes = [
        _shape("rect", "paper", "y", (0, 1, row - 0.5, row + 0.5), **plain)
        for row in range(0, len(rows), 2)
    ]
    layout = {
        "height": PIXELS_PER_ROW * len(rows) + 60,
        "xaxis": {"title": {"text": "AUC of guessing the group"}, "range": _range(placed)},
        "yaxis": {
            "tickvals": list(range(len(rows))),
            "ticktext": [plot_text(one.name, width=16) for one in rows],
            "range": [len(rows) - 0.45, -0.55],
            "showgrid": False,
        },
        "shapes": [guessing, *stripes],
    }
    return Figure(
        {"attribute": str(position)},
        [_chance(placed), *dots],
        layout,
        _leakage_finding(evidence, attribute),
        [*map(entry, dots), {"name": CHANCE, "colour": "var(--chance)", "symbol": "bar"}],
    )


def _probe_dots(evidence: Evidence, lane: int, probe: str, placed: Placed) -> dict[str, Any]:
    name = model_name(probe)
    leaks = [(y, leak) for y, one, leak in placed if one == probe]
    return scatter(
        "markers",
        name,
        [leak.auc.value for _, leak in leaks],
        [y for y, _ in leaks],
        error_x=error_bars(
            [leak.auc for _, leak in leaks], colour=series_colour(lane), thickness=2
        ),
        marker=marks(lane, size=11),
        hover=[
            hover_lines(
                f"{evidence.name(leak.representation)}, {name.lower()}",
                f"AUC {decimal(leak.auc.value, 3)} ({interval(leak.auc, digits=3)})",
                f"chance {decimal(leak.chance_low)} to {decimal(leak.chance_high)}",
                f"p {p_value(leak.p_value)}: "
                + ("above chance" if leak.above_chance else "not told from chance"),
            )
            for _, leak in leaks
        ],
    )


def _chance(placed: Placed) -> dict[str, Any]:
    """Return the band of each dot: what the same probe reaches when groups are permuted."""
    return scatter(
        "lines",
        CHANCE,
        [end for _, _, leak in placed for end in (leak.chance_low, leak.chance_high, None)],
        [height for y, _, _ in placed for height in (y, y, None)],
        line={"color": "var(--chance)", "width": 12},
        hoverinfo="skip",
        connectgaps=False,
    )


def _range(placed: Placed) -> list[float]:
    ends = [0.45, 0.75]
    for _, _, leak in placed:
        auc = leak.auc
        numbers = (auc.value, auc.low, auc.high, leak.chance_low, leak.chance_high)
        ends += [number for number in numbers if number is not None]
    return [max(0.0, min(ends) - 0.02), min(1.02, max(ends) + 0.02)]


def _shape(kind: str, xref: str, yref: str, box: Sequence[float], **more: Any) -> dict[str, Any]:
    ends = dict(zip(("x0", "x1", "y0", "y1"), box, strict=True))
    return {"type": kind, "xref": xref, "yref": yref, **ends, **more}


def _variance_figures(evidence: Evidence) -> list[Figure]:
    """Return one plot of the cumulative shares, or none if no spectrum was measured."""
    lines: list[dict[str, Any]] = []
    for place, spectrum in enumerate(one for one in evidence.audit.spectra if one.ratios):
        name = evidence.name(spectrum.representation)
        shares = list(accumulate(100 * (ratio or 0.0) for ratio in spectrum.ratios))
        dash = DASHES[place % len(DASHES)]
        lines.append(
            scatter(
                "lines+markers",
                name,
                list(range(1, len(shares) + 1)),
                shares,
                line={"color": series_colour(place), "width": 2.5, "dash": dash},
                marker=marks(place, size=7),
                hover=[
                    hover_lines(name, f"first {count}: {percent(share / 100)} of the variance")
                    for count, share in enumerate(shares, 1)
                ],
            )
        )
    layout = {
        "height": 340,
        "xaxis": {"title": {"text": "number of components"}, "rangemode": "tozero"},
        "yaxis": {"title": {"text": "variance kept (%)"}, "rangemode": "tozero"},
    }
    key = [entry(line) for line in lines]
    return [Figure({}, lines, layout, _variance_finding(evidence), key)] if lines else []


def _variance_finding(evidence: Evidence) -> str:
    """Say how much variance all components together keep."""
    kept = [
        f"{len(one.ratios)} components keep {percent(sum(ratio or 0.0 for ratio in one.ratios))} "
        f"with {evidence.spoken(one.representation)}"
        for one in evidence.audit.spectra
        if one.ratios
    ]
    return f"Of the variance of the features, {joined(kept)}."


def _component_figures(evidence: Evidence) -> list[Figure]:
    """Return a panel for each representation and attribute, all with equal axes if they can be.

    The points are not repeated for each attribute: a trace says which rows it shows, and the page
    takes them from the audit.
    """
    pictures, figures = evidence.audit.pictures, []
    framed = list(zip(pictures.panels, _frames(pictures.panels), strict=True))
    positions = {one.name: place for place, one in enumerate(evidence.attributes)}
    for place, groups in enumerate(pictures.groups):
        if groups.attribute not in positions:
            continue
        position = positions[groups.attribute]
        labels = [one.label for one in evidence.attributes[position].groups]
        present = sorted({code for code in groups.codes if code >= 0})
        key = [entry({"legendgroup": labels[code], "marker": marks(code)}) for code in present]
        for number, (panel, frame) in enumerate(framed):
            clouds = [
                {
                    **_markers(labels[code], labels[code]),
                    "rows": {"panel": number, "groups": place, "code": code},
                    "marker": marks(code, size=5, opacity=0.55),
                }
                for code in present
            ]
            means = _group_means(panel, groups.codes)
            centres = [
                {
                    **_markers(labels[code], f"mean of {labels[code]}"),
                    "x": [means[code][0]],
                    "y": [means[code][1]],
                    "marker": marks(code, size=13, line={"color": "var(--surface)", "width": 2}),
                }
                for code in present
                if code in means
            ]
            x_axis, y_axis = (
                {"title": {"text": f"component {axis}"}, "range": ends, "zeroline": False}
                for axis, ends in enumerate(frame, 1)
            )
            layout = {
                "height": 380,
                "xaxis": x_axis,
                "yaxis": {**y_axis, "scaleanchor": "x"},
                "dragmode": "zoom",
            }
            choice = {"attribute": str(position), "panel": str(number)}
            finding = _components_finding(evidence, panel, groups)
            figures.append(Figure(choice, clouds + centres, layout, finding, key, aspect=1.05))
    return figures


def _components_finding(evidence: Evidence, panel: Panel, groups: PanelGroups) -> str:
    """Say how far apart the means of the groups are in a panel."""
    means = list(_group_means(panel, groups.codes).values())
    spread = math.hypot(_deviation(panel.x), _deviation(panel.y)) / math.sqrt(2)
    if len(means) < 2 or spread == 0:
        return ""
    apart = max(math.dist(one, other) for one in means for other in means) / spread
    return (
        f"{evidence.name(panel.representation)}: the means of the groups of "
        f"{groups.attribute} are at most {decimal(apart)} standard deviations apart."
    )


def _group_means(panel: Panel, codes: list[int]) -> dict[int, tuple[float, ...]]:
    """Return the mean of each group's points in a panel, without rows of unknown groups."""
    points, group = np.array([panel.x, panel.y], dtype=float), np.array(codes, dtype=int)
    group = np.where(np.isfinite(points).all(axis=0), group, -1)
    return {
        code: tuple(points[:, group == code].mean(axis=1).tolist())
        for code in np.unique(group[group >= 0]).tolist()
    }


def _deviation(values: list[float]) -> float:
    known = [value for value in values if value is not None]
    return float(np.std(known)) if known else 0.0


def _markers(label: str, hover: str) -> dict[str, Any]:
    return {
        "type": "scatter",
        "mode": "markers",
        "legendgroup": label,
        "hoverinfo": "text",
        "hovertext": plot_text(hover),
    }


def _frames(panels: list[Panel]) -> list[list[list[float]]]:
    """Return the ranges of both axes for each panel: the same where scales are similar."""
    own = [[_span(panel.x), _span(panel.y)] for panel in panels]
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


def _span(values: list[float]) -> list[float]:
    """Return where the values lie, without the furthest that would squeeze all others."""
    known = np.array([value for value in values if value is not None], dtype=float)
    if known.size == 0:
        return [-1.0, 1.0]
    low, high = np.quantile(known, [0.01, 0.99])
    margin = 0.25 * (high - low) or 1.0
    low, high = max(low - margin, known.min()), min(high + margin, known.max())
    pad = 0.06 * (high - low) or 1.0
    return [round(float(low - pad), 4), round(float(high + pad), 4)]
