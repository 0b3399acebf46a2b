"""What the panels of all figures have in common: titles, notes, legends, grids."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ._style import FAINT, label_of, style_of


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
    place = {"xycoords": "axes fraction", "textcoords": "offset points"}
    axes.annotate(name, (0, 1), (0, 16), weight="bold", size=10, **place)
    axes.annotate(finding, (0, 1), (0, 4), color=FAINT, **place)


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
    handles = [_swatch(axes, name) if boxes else _sample(axes, name) for name in methods]
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


def _sample(axes: Any, method: str) -> Any:
    style = style_of(method)
    (line,) = axes.plot([], [], **line_options(method), linestyle=style.line)
    return line


def _swatch(axes: Any, method: str) -> Any:
    style = style_of(method)
    (patch,) = axes.fill([], [], facecolor=style.face, edgecolor=style.colour, linewidth=1.2)
    return patch


def line_options(method: str) -> dict[str, Any]:
    """Return what `plot` and `errorbar` need to draw a method's line and markers."""
    style = style_of(method)
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


def _down_columns(items: Sequence[Any], columns: int) -> list[Any]:
    """Reorder so that a legend, which is filled column by column, reads row by row."""
    return [item for column in range(columns) for item in items[column::columns]]
