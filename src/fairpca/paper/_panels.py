"""What the panels of all figures are made of: titles, notes, legends, grids, dots and boxes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ._style import FAINT, GROUPS, HAIR, MethodStyle, label_of, style_of

SHARE = 0.86
"""Part of the distance between two positions that the boxes fill."""


def write(axes: Any, text: str, at: tuple[float, float], offset: Any, **look: Any) -> None:
    """Write at a place of a panel, in parts of its sides, moved by an offset in points."""
    place: dict[str, Any] = {"xycoords": "axes fraction", "textcoords": "offset points"}
    axes.annotate(text, at, offset, **place | look)


def headed(axes: Any, name: str, finding: str) -> None:
    """Write what a panel is in bold, and below it what it shows.

    Parameters
    ----------
    axes : matplotlib axes
        Panel to write above.
    name, finding : str
        What it is; what it shows.

    Examples
    --------
    >>> from fairpca.paper import headed, paper_figure
    >>> with paper_figure(4, 3) as figure:
    ...     axes = figure.subplots()
    ...     headed(axes, "Adult", "Sex can be told from plain PCA.")
    >>> [text.get_text() for text in axes.texts]
    ['Adult', 'Sex can be told from plain PCA.']
    """
    write(axes, name, (0, 1), (0, 16), weight="bold", size=10)
    write(axes, finding, (0, 1), (0, 4), color=FAINT)


def note(figure: Any, text: str) -> None:
    """Write what the reader must know below all panels, in small faint letters.

    Parameters
    ----------
    figure : matplotlib figure
        Figure with the panels.
    text : str
        One line or more.

    Examples
    --------
    >>> from fairpca.paper import note, paper_figure
    >>> with paper_figure(4, 3) as figure:
    ...     note(figure, "Means over ten splits.")
    >>> figure.get_supxlabel()
    'Means over ten splits.'
    """
    figure.supxlabel(text, x=0.01, ha="left", size=8, color=FAINT, linespacing=1.35)


def method_legend(
    figure: Any, methods: Sequence[str], *, columns: int | None = None, boxes: bool = False
) -> None:
    """Name the methods once, above all panels.

    Parameters
    ----------
    figure : matplotlib figure
        Figure with the panels.
    methods : sequence of str
        Names in the order of the legend.
    columns : int, optional
        Number of columns; by default as many as leave rows of equal length.
    boxes : bool
        Whether methods are drawn as boxes, not as lines.

    Examples
    --------
    >>> from fairpca.paper import method_legend, paper_figure
    >>> with paper_figure(4, 3) as figure:
    ...     axes = figure.subplots()
    ...     method_legend(figure, ["PCA", "Fair PCA"])
    >>> [text.get_text() for text in figure.legends[0].get_texts()]
    ['PCA', 'Fair PCA']
    """
    axes = figure.axes[0]
    handles = [_sample(axes, style_of(name), boxes=boxes) for name in methods]
    rows = -(-len(methods) // 6)
    columns = columns or -(-len(methods) // rows)
    figure.legend(
        _down_columns(handles, columns),
        _down_columns([label_of(name) for name in methods], columns),
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


def _down_columns(items: Sequence[Any], columns: int) -> list[Any]:
    """Reorder so that a legend, which is filled column by column, reads row by row."""
    return [item for column in range(columns) for item in items[column::columns]]


def horizontal_grid(axes: Any) -> None:
    """Draw faint lines to read values from.

    Parameters
    ----------
    axes : matplotlib axes
        Panel to draw into.

    Examples
    --------
    >>> from fairpca.paper import horizontal_grid, paper_figure
    >>> with paper_figure(4, 3) as figure:
    ...     axes = figure.subplots()
    ...     horizontal_grid(axes)
    >>> axes.yaxis.get_gridlines()[0].get_visible()
    True
    """
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


def scatter_groups(
    axes: Any, T: np.ndarray, group: np.ndarray, *, ellipses: bool = True, most: int = 1200
) -> None:
    """Draw rows as dots, neither group on top, with an ellipse of two standard deviations each.

    Parameters
    ----------
    axes : matplotlib axes
        Panel to draw into.
    T : array of shape (n, 2)
        Two columns of a representation.
    group : array of shape (n,)
        Groups, 0 or 1.
    ellipses : bool
        Whether to draw the groups' means and covariances as ellipses.
    most : int
        Number of rows to draw at most; of more, a fixed sample is taken.

    Examples
    --------
    >>> import numpy as np
    >>> from fairpca.paper import paper_figure, scatter_groups
    >>> rng = np.random.default_rng(0)
    >>> group = np.arange(200) % 2
    >>> with paper_figure(3, 3) as figure:
    ...     axes = figure.subplots()
    ...     scatter_groups(axes, rng.normal(size=(200, 2)) + group[:, None], group)
    >>> len(axes.lines)  # an ellipse each
    2
    """
    order = np.random.default_rng(0).permutation(len(T))[:most]
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
    outline: np.ndarray = 2 * axes_of_it @ circle + T.mean(axis=0)[:, None]
    return outline


def group_legend(axes: Any, names: Mapping[int, str]) -> None:
    """Name the groups in their colours inside a panel.

    Parameters
    ----------
    axes : matplotlib axes
        Panel to write into.
    names : mapping of int to str
        What to call each group.

    Examples
    --------
    >>> from fairpca.paper import group_legend, paper_figure
    >>> with paper_figure(3, 3) as figure:
    ...     axes = figure.subplots()
    ...     group_legend(axes, {0: "women", 1: "men"})
    >>> [text.get_text() for text in axes.texts]
    ['women', 'men']
    """
    for place, (g, name) in enumerate(names.items()):
        look = {"va": "top", "color": GROUPS[g], "weight": "bold", "size": 8.5}
        write(axes, name, (0, 1), (5, -5 - 12 * place), **look)


def numbers_below(axes: Any, numbers: Mapping[str, str], *, label: bool) -> None:
    """Write numbers under a panel, one per line.

    Parameters
    ----------
    axes : matplotlib axes
        Panel to write below.
    numbers : mapping of str to str
        What they are, and the numbers as they are to be shown.
    label : bool
        Whether to write what they are, to the left.

    Examples
    --------
    >>> from fairpca.paper import numbers_below, paper_figure
    >>> with paper_figure(3, 3) as figure:
    ...     axes = figure.subplots()
    ...     numbers_below(axes, {"AUC": "0.52"}, label=True)
    >>> [text.get_text() for text in axes.texts]
    ['0.52', 'AUC']
    """
    for line, (name, text) in enumerate(numbers.items()):
        write(axes, text, (0.5, 0), (0, -34 - 13 * line), ha="center", va="top")
        if label:
            write(axes, name, (0, 0), (-6, -34 - 13 * line), ha="right", va="top")


def grouped_boxes(
    axes: Any,
    values: Mapping[str, Mapping[float, Sequence[float]]],
    methods: Sequence[str],
    positions: Sequence[float],
) -> None:
    """Draw a box per method and position, in slots that are the same in every panel.

    Parameters
    ----------
    axes : matplotlib axes
        Panel to draw into.
    values : mapping of str to mapping of float to sequence of float
        Numbers by method and position; what is missing leaves its slot empty.
    methods : sequence of str
        Methods of the figure, from left to right; each has a slot, used or not.
    positions : sequence of float
        Positions on the axis, spaced evenly whatever their values.

    Notes
    -----
    A box spans the middle half of the numbers and has a line at the median; whiskers reach to
    the farthest number within one and a half box lengths, and circles are beyond.

    Examples
    --------
    >>> from fairpca.paper import grouped_boxes, paper_figure
    >>> values = {"PCA": {2: [0.8, 0.9, 0.7]}, "Fair PCA": {2: [0.5, 0.52, 0.51], 10: [0.55, 0.6]}}
    >>> with paper_figure(4, 3) as figure:
    ...     axes = figure.subplots()
    ...     grouped_boxes(axes, values, methods=["PCA", "Fair PCA"], positions=[2, 10])
    >>> len(axes.patches)  # one place has no numbers
    3
    """
    slot = SHARE / max(1, len(methods))
    for place in range(len(positions) - 1):
        axes.axvline(place + 0.5, color=HAIR, linewidth=0.6, zorder=0)
    for rank, method in enumerate(methods):
        offset = (rank - (len(methods) - 1) / 2) * slot
        drawn = [
            (place + offset, finite)
            for place, position in enumerate(positions)
            if (finite := [v for v in values.get(method, {}).get(position, ()) if np.isfinite(v)])
        ]
        if drawn:
            _boxes(axes, style_of(method), drawn, 0.82 * slot)
    axes.set(xlim=(-0.5, max(1, len(positions)) - 0.5))
    axes.set_xticks(range(len(positions)), [f"{position:g}" for position in positions])
    axes.tick_params(axis="x", length=0)
    horizontal_grid(axes)


def _boxes(
    axes: Any, style: MethodStyle, drawn: list[tuple[float, list[float]]], width: float
) -> None:
    """Draw boxes at the given places, each of the given numbers."""
    line = {"color": style.colour, "linewidth": 0.9}
    axes.boxplot(
        [numbers for _, numbers in drawn],
        positions=[x for x, _ in drawn],
        widths=width,
        manage_ticks=False,
        patch_artist=True,
        zorder=style.order,
        boxprops={"facecolor": style.face, "edgecolor": style.colour, "linewidth": 0.9},
        medianprops={"color": style.colour, "linewidth": 1.8},
        whiskerprops=line,
        capprops=line,
        flierprops={"marker": "o", "markersize": 2, "markeredgecolor": style.colour},
    )
