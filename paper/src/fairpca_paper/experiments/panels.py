"""What the panels of all figures are made of: titles, notes, legends, grids, dots and boxes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from .style import FAINT, GROUPS, HAIR, MethodStyle, label_of, style_of

MOST_DOTS = 1200
"""Rows to draw; of more, a fixed sample is taken."""


def write(axes: Any, text: str, at: tuple[float, float], offset: Any, **look: Any) -> None:
    """Write at a place of a panel, in parts of its sides, moved by an offset in points."""
    place: dict[str, Any] = {"xycoords": "axes fraction", "textcoords": "offset points"}
    axes.annotate(text, at, offset, **place | look)


def headed(axes: Any, name: str, finding: str) -> None:
    """Write what a panel is in bold, and below it what it shows."""
    write(axes, name, (0, 1), (0, 16), weight="bold", size=10)
    write(axes, finding, (0, 1), (0, 4), color=FAINT)


def note(figure: Any, text: str) -> None:
    """Write what the reader must know below all panels, in small faint letters."""
    figure.supxlabel(text, x=0.01, ha="left", size=8, color=FAINT, linespacing=1.35)


def method_legend(
    figure: Any, methods: Sequence[str], *, columns: int | None = None, boxes: bool = False
) -> None:
    """Name the methods once, above all panels; by default in rows of equal length."""
    rows = -(-len(methods) // 6)
    columns = columns or -(-len(methods) // rows)
    # A legend is filled column by column; this order makes it read row by row.
    names = [name for column in range(columns) for name in methods[column::columns]]
    figure.legend(
        [_sample(figure.axes[0], style_of(name), boxes=boxes) for name in names],
        [label_of(name) for name in names],
        loc="outside upper center",
        ncols=columns,
        handlelength=1.2 if boxes else 2.6,
        columnspacing=1.4,
        handletextpad=0.5,
    )


def _sample(axes: Any, style: MethodStyle, *, boxes: bool) -> Any:
    if boxes:
        return axes.fill([], [], facecolor=style.face, edgecolor=style.colour, linewidth=1.2)[0]
    return axes.plot([], [], **line_options(style), linestyle=style.line)[0]


def horizontal_grid(axes: Any) -> None:
    """Draw faint lines to read values from."""
    axes.grid(axis="y", which="major")
    axes.tick_params(axis="y", length=0)


def line_options(style: MethodStyle) -> dict[str, Any]:
    """Return what `plot` and `errorbar` need to draw a method's line and markers."""
    return {
        "color": style.colour,
        "linewidth": style.width,
        "marker": style.marker,
        "markersize": 6.5 if style.marker in "*PX" else 5,
        "markerfacecolor": style.colour if style.filled else "white",
        "markeredgecolor": style.colour if not style.filled else "white",
        "markeredgewidth": 1.2 if not style.filled else 0.5,
        "zorder": style.order,
    }


def error_curve(
    axes: Any, style: MethodStyle, x: Sequence[float], y: Sequence[float], yerr: Any, **look: Any
) -> None:
    """Draw a method's line through points with error bars below and above."""
    bars = {"yerr": yerr, "elinewidth": 0.9, "capsize": 1.5, "linestyle": style.line}
    axes.errorbar(x, y, **line_options(style), **bars, **look)


def scatter_groups(axes: Any, T: np.ndarray, group: np.ndarray, *, ellipses: bool = True) -> None:
    """Draw rows as dots, neither group on top, with an ellipse of two standard deviations each."""
    order = np.random.default_rng(0).permutation(len(T))[:MOST_DOTS]
    colours = np.array(GROUPS)[group[order]]
    axes.scatter(*T[order].T, s=5, c=colours, alpha=0.55, linewidth=0, rasterized=True)
    if ellipses:
        for g, colour in enumerate(GROUPS):
            axes.plot(*_ellipse(T[group == g]), color=colour, linewidth=1.8)
    axes.set(aspect="equal", adjustable="datalim", box_aspect=1)
    axes.locator_params(nbins=4)
    axes.tick_params(length=2, labelsize=7.5, labelcolor=FAINT)
    axes.spines[:].set(visible=True, color=HAIR)


def _ellipse(T: np.ndarray) -> np.ndarray:
    angle = np.linspace(0, 2 * np.pi, 200)
    values, vectors = np.linalg.eigh(np.cov(T.T))
    axes_of_it = vectors * np.sqrt(np.maximum(values, 0))
    circle = np.stack([np.cos(angle), np.sin(angle)])
    return 2 * axes_of_it @ circle + T.mean(axis=0)[:, None]


def group_legend(axes: Any, names: Mapping[int, str]) -> None:
    """Name the groups in their colours inside a panel."""
    for place, (g, name) in enumerate(names.items()):
        look = {"va": "top", "color": GROUPS[g], "weight": "bold", "size": 8.5}
        write(axes, name, (0, 1), (5, -5 - 12 * place), **look)
