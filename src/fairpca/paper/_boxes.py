"""Box plots of several methods side by side at each position of an axis."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ._panels import horizontal_grid
from ._style import HAIR, style_of

SHARE = 0.86
"""Part of the distance between two positions that the boxes fill."""


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
            if (finite := _finite(values.get(method, {}).get(position, ())))
        ]
        if drawn:
            _boxes(axes, method, [x for x, _ in drawn], [v for _, v in drawn], 0.82 * slot)
    axes.set(xlim=(-0.5, max(1, len(positions)) - 0.5))
    axes.set_xticks(range(len(positions)), [f"{position:g}" for position in positions])
    axes.tick_params(axis="x", length=0)
    horizontal_grid(axes)


def _boxes(
    axes: Any, method: str, x: list[float], numbers: list[list[float]], width: float
) -> None:
    style = style_of(method)
    line = {"color": style.colour, "linewidth": 0.9}
    axes.boxplot(
        numbers,
        positions=x,
        widths=width,
        manage_ticks=False,
        patch_artist=True,
        zorder=style.order,
        boxprops={
            "facecolor": style.face,
            "edgecolor": style.colour,
            "linewidth": 0.9,
        },
        medianprops={"color": style.colour, "linewidth": 1.8},
        whiskerprops=line,
        capprops=line,
        flierprops={"marker": "o", "markersize": 2, "markeredgecolor": style.colour},
    )


def _finite(numbers: Sequence[float]) -> list[float]:
    return [float(number) for number in numbers if np.isfinite(number)]
