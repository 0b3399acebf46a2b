"""Running times with error bars, and methods that were stopped before they were done."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from .panels import horizontal_grid, line_options
from .style import FAINT, style_of


@dataclass(frozen=True)
class Timing:
    """The running time of a method at one position.

    Parameters
    ----------
    mean, std : float
        Seconds; where the method was stopped, those after which it was.
    stopped : bool
        Whether the method was stopped.
    """

    mean: float
    std: float = 0.0
    stopped: bool = False


def timing_curves(
    axes: Any, timings: Mapping[str, Mapping[float, Timing]], methods: Sequence[str], limit: float
) -> None:
    """Draw running times on a logarithmic axis, and where a method reached the time limit.

    Parameters
    ----------
    axes : matplotlib axes
        Panel to draw into.
    timings : mapping of str to mapping of float to Timing
        By method and position.
    methods : sequence of str
        Methods in drawing order.
    limit : float
        Seconds after which a method is stopped. A hollow marker with an arrow on this line says
        that it would have taken longer.
    """
    axes.set_yscale("log")
    horizontal_grid(axes)
    ends: list[tuple[str, float]] = []
    for method in methods:
        points = sorted(timings.get(method, {}).items())
        done = [(x, timing) for x, timing in points if not timing.stopped]
        if done:
            # An error bar that reaches down to zero has no place on a logarithmic axis.
            below = [min(timing.std, 0.9 * timing.mean) for _, timing in done]
            above = [timing.std for _, timing in done]
            x, y = [x for x, _ in done], [timing.mean for _, timing in done]
            _curve(axes, method, x, y, [below, above])
        ends += [(method, x) for x, timing in points if timing.stopped]
    if ends:
        _stops(axes, ends, timings, limit)


def _curve(axes: Any, method: str, x: Sequence[float], y: Sequence[float], error: Any) -> None:
    options = line_options(method)
    line = style_of(method).line
    axes.errorbar(x, y, yerr=error, linestyle=line, elinewidth=0.9, capsize=1.5, **options)


def _stops(
    axes: Any,
    ends: Sequence[tuple[str, float]],
    timings: Mapping[str, Mapping[float, Timing]],
    limit: float,
) -> None:
    every_x = [x for at in timings.values() for x in at]
    step = 0.025 * (max(every_x) - min(every_x) or 1.0)
    taken: dict[float, int] = {}
    for method, x in ends:
        place = taken[x] = taken.get(x, -1) + 1
        shown = x + step * ((place + 1) // 2) * (-1) ** place  # beside others stopped at this x
        before = max(((at, t) for at, t in timings[method].items() if at < x), default=None)
        leads = [] if before is None or before[1].stopped else [(before[0], before[1].mean)]
        _stop(axes, method, leads, (shown, limit))
    axes.axhline(limit, color=FAINT, linewidth=0.8, linestyle=(0, (1, 2)), zorder=1)
    axes.set_ylim(top=3 * limit)  # room for the arrows
    axes.annotate(
        f"stopped after {limit:g} s",
        (0.5, limit),
        (0, 4),
        xycoords=("axes fraction", "data"),
        textcoords="offset points",
        ha="center",
        size=8,
        color=FAINT,
        bbox={"facecolor": "white", "edgecolor": "none", "pad": 1.0},
    )


def _stop(axes: Any, method: str, before: list, end: tuple[float, float]) -> None:
    style = style_of(method)
    x, y = zip(*before, end, strict=True)
    axes.plot(
        x, y, color=style.colour, linewidth=style.width, linestyle=style.line, zorder=style.order
    )
    axes.plot(
        *([value] for value in end),
        **line_options(method)
        | {"markerfacecolor": "white", "markeredgecolor": style.colour, "markeredgewidth": 1.3},
        linestyle="none",
        clip_on=False,
    )
    axes.annotate(
        "↑", end, (0, 3), textcoords="offset points", ha="center", color=style.colour, size=11
    )
