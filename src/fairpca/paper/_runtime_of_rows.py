"""Running time against the number of training rows, on logarithmic axes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from ._canvas import paper_figure
from ._curves import Timing
from ._panels import horizontal_grid, note
from ._style import MethodStyle, in_order, label_of, style_of

TOGETHER = "Fair PCA, all λ at once"
"""Not a method of its own but another way to fit Fair PCA."""


def runtime_of_rows_figure(
    panels: Mapping[str, Mapping[str, Mapping[int, Timing]]], caption: str
) -> Any:
    """Draw running times of methods, a panel per criterion.

    Parameters
    ----------
    panels : mapping
        By title of the panel, then by method, then by number of rows.
    caption : str
        What the reader must know.

    Returns
    -------
    matplotlib.figure.Figure
    """
    with paper_figure(7.4, 4.0) as figure:
        row = figure.subplots(1, len(panels), sharey=True, squeeze=False)[0]
        for axes, (title, timings) in zip(row, panels.items(), strict=True):
            axes.set_title(title, loc="left")
            axes.set_xlabel("number of training rows")
            axes.set(xscale="log", yscale="log")
            horizontal_grid(axes)
            for method in in_order(set(timings)):
                _timed(axes, method, timings[method])
            _label_rows(axes, sorted({n for at in timings.values() for n in at}))
        row[0].set_ylabel("seconds per trained model")
        handles: dict[str, Any] = {}
        for axes in row:
            drawn, labels = axes.get_legend_handles_labels()
            handles |= dict(zip(labels, drawn, strict=True))
        figure.legend(
            handles.values(),
            handles.keys(),
            loc="outside upper center",
            ncols=3,
            handlelength=2.8,
        )
        note(figure, caption)
    return figure


def _style(method: str) -> MethodStyle:
    if method == TOGETHER:
        return replace(style_of("Fair PCA"), line=":", filled=False)
    return style_of(method)


def _timed(axes: Any, method: str, timings: Mapping[int, Timing]) -> None:
    style, points = _style(method), sorted(timings.items())
    axes.errorbar(
        [n for n, _ in points],
        [timing.mean for _, timing in points],
        # An error bar that reaches down to zero has no place on a logarithmic axis.
        yerr=[
            [min(timing.std, 0.9 * timing.mean) for _, timing in points],
            [timing.std for _, timing in points],
        ],
        label=label_of(method),
        color=style.colour,
        linestyle=style.line,
        linewidth=style.width,
        marker=style.marker,
        markersize=6.5 if style.marker in "*PX" else 5,
        markerfacecolor=style.colour if style.filled else "white",
        markeredgecolor="white" if style.filled else style.colour,
        markeredgewidth=0.5 if style.filled else 1.2,
        elinewidth=0.9,
        capsize=1.5,
        zorder=style.order,
    )


def _label_rows(axes: Any, numbers: list[int]) -> None:
    axes.set_xticks(numbers, [f"{n:,}" for n in numbers], rotation=30)
    axes.tick_params(axis="x", which="minor", length=0)
    axes.minorticks_off()
