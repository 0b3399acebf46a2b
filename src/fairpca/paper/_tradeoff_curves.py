"""Accuracy against unfairness: one curve per method, one panel per task."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ._canvas import paper_figure
from ._panels import line_options, method_legend, note
from ._style import FAINT, in_order, style_of


@dataclass(frozen=True)
class TradeoffCurve:
    """The points of a method, from its fairest setting to its least fair one.

    Parameters
    ----------
    gap, accuracy : sequence of float
        Means over the draws.
    gap_error, accuracy_error : sequence of float
        Their standard errors.
    """

    gap: Sequence[float]
    accuracy: Sequence[float]
    gap_error: Sequence[float]
    accuracy_error: Sequence[float]


@dataclass(frozen=True)
class TradeoffPanel:
    """One panel.

    Parameters
    ----------
    title, gap_name : str
        What is above the panel, and below its axis.
    curves : mapping of str to TradeoffCurve
        By method.
    """

    title: str
    gap_name: str
    curves: Mapping[str, TradeoffCurve]


def tradeoff_figure(rows: Mapping[str, Sequence[TradeoffPanel]], caption: str) -> Any:
    """Draw rows of panels that share their accuracy.

    Parameters
    ----------
    rows : mapping of str to sequence of TradeoffPanel
        By name of the data set, from top to bottom; as many panels in each row.
    caption : str
        What the reader must know.

    Returns
    -------
    matplotlib.figure.Figure
    """
    columns = max(len(panels) for panels in rows.values())
    with paper_figure(2.35 * columns, 2.45 * len(rows) + 1.0) as figure:
        grid = figure.subplots(len(rows), columns, sharey="row", squeeze=False)
        for line, (name, panels) in zip(grid, rows.items(), strict=True):
            for axes, panel in zip(line, panels, strict=True):
                _panel(axes, panel)
            line[0].set_ylabel("accuracy")
            line[0].annotate(
                name,
                (0, 0.5),
                (-46, 0),
                xycoords="axes fraction",
                textcoords="offset points",
                rotation=90,
                va="center",
                ha="right",
                weight="bold",
                size=10,
            )
        shown = {method for panels in rows.values() for p in panels for method in p.curves}
        method_legend(figure, in_order(shown))
        note(figure, caption)
    return figure


def _panel(axes: Any, panel: TradeoffPanel) -> None:
    axes.grid()
    axes.tick_params(length=0)
    axes.margins(x=0.06, y=0.08)
    axes.locator_params(axis="x", nbins=4, steps=[1, 2, 5, 10])
    axes.set_title(panel.title, loc="left")
    axes.set_xlabel(panel.gap_name)
    for method in in_order(set(panel.curves)):
        curve, style = panel.curves[method], style_of(method)
        options = line_options(method) | {
            "markersize": 4.2,
            "linewidth": 1.4 if style.ours else 1.1,
        }
        axes.errorbar(
            curve.gap,
            curve.accuracy,
            xerr=curve.gap_error,
            yerr=curve.accuracy_error,
            linestyle="none",
            ecolor=style.colour,
            elinewidth=0.8,
            alpha=0.35,
            zorder=style.order - 1,
        )
        axes.plot(curve.gap, curve.accuracy, linestyle=style.line, **options)
    axes.set_xlim(left=min(0.0, axes.get_xlim()[0]))
    axes.annotate(
        "fairer ←",
        (0, 1),
        (3, -3),
        xycoords="axes fraction",
        textcoords="offset points",
        va="top",
        size=7.5,
        color=FAINT,
    )
