"""Running times with error bars, and methods that were stopped before they were done."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ._panels import horizontal_grid, line_options, write
from ._style import FAINT, style_of


@dataclass(frozen=True)
class Timing:
    """The running time of a method at one position.

    Parameters
    ----------
    mean, std : float
        Seconds, over the fits.

    Examples
    --------
    >>> from fairpca.paper import Timing
    >>> Timing(mean=1.5).std
    0.0
    """

    mean: float
    std: float = 0.0


@dataclass(frozen=True)
class TimedFits:
    """The running time of a method that may have been stopped, at one position.

    Parameters
    ----------
    seconds : float
        Median over the fits; where the method was stopped, the limit.
    low, high : float, optional
        Quartiles.
    stopped : bool
        Whether the method was stopped.

    Examples
    --------
    >>> from fairpca.paper import TimedFits
    >>> TimedFits(seconds=60.0, stopped=True)
    TimedFits(seconds=60.0, low=None, high=None, stopped=True)
    """

    seconds: float
    low: float | None = None
    high: float | None = None
    stopped: bool = False


def timing_curves(
    axes: Any,
    timings: Mapping[str, Mapping[float, TimedFits]],
    methods: Sequence[str],
    limit: float,
) -> None:
    """Draw running times on a logarithmic axis, and where a method reached the time limit.

    Parameters
    ----------
    axes : matplotlib axes
        Panel to draw into.
    timings : mapping of str to mapping of float to TimedFits
        By method and position.
    methods : sequence of str
        Methods in drawing order.
    limit : float
        Seconds after which a method is stopped. A hollow marker with an arrow on this line says
        that it would have taken longer.

    Examples
    --------
    >>> from fairpca.paper import TimedFits, paper_figure, timing_curves
    >>> with paper_figure(4, 3) as figure:
    ...     axes = figure.subplots()
    ...     fits = {"Fair PCA": {1.0: TimedFits(0.1), 2.0: TimedFits(0.2, low=0.1, high=0.4)}}
    ...     fits["FPCA (0, 0.01)"] = {1.0: TimedFits(20.0), 2.0: TimedFits(60.0, stopped=True)}
    ...     timing_curves(axes, fits, ["Fair PCA", "FPCA (0, 0.01)"], limit=60.0)
    >>> axes.get_yscale()
    'log'
    """
    axes.set_yscale("log")
    horizontal_grid(axes)
    ends: list[tuple[str, float]] = []
    for method in methods:
        points = sorted(timings.get(method, {}).items())
        done = [(x, timing) for x, timing in points if not timing.stopped]
        if done:
            _curve(axes, method, done)
        ends += [(method, x) for x, timing in points if timing.stopped]
    if ends:
        _stops(axes, ends, timings, limit)


def _curve(axes: Any, method: str, points: Sequence[tuple[float, TimedFits]]) -> None:
    style = style_of(method)
    x, y = [x for x, _ in points], [timing.seconds for _, timing in points]
    below = [t.seconds - (t.seconds if t.low is None else t.low) for _, t in points]
    above = [(t.seconds if t.high is None else t.high) - t.seconds for _, t in points]
    look = line_options(style) | {"linestyle": style.line, "elinewidth": 0.9, "capsize": 1.5}
    axes.errorbar(x, y, yerr=[below, above], **look)


def _stops(
    axes: Any,
    ends: Sequence[tuple[str, float]],
    timings: Mapping[str, Mapping[float, TimedFits]],
    limit: float,
) -> None:
    every_x = [x for at in timings.values() for x in at]
    step = 0.025 * (max(every_x) - min(every_x) or 1.0)
    taken: dict[float, int] = {}
    for method, x in ends:
        place = taken[x] = taken.get(x, -1) + 1
        shown = x + step * ((place + 1) // 2) * (-1) ** place  # beside others stopped at this x
        before = max(((at, t) for at, t in timings[method].items() if at < x), default=None)
        leads = [] if before is None or before[1].stopped else [(before[0], before[1].seconds)]
        _stop(axes, method, leads, (shown, limit))
    axes.axhline(limit, color=FAINT, linewidth=0.8, linestyle=(0, (1, 2)), zorder=1)
    axes.set_ylim(top=3 * limit)  # room for the arrows
    _name_limit(axes, limit, [x for _, x in ends])


def _name_limit(axes: Any, limit: float, taken: Sequence[float]) -> None:
    """Write what the line is where no arrow is near."""
    first, last = axes.get_xlim()
    places = {"left": 0.01, "center": 0.5, "right": 0.99}

    def room(side: str) -> float:
        middle = {"left": 0.15, "center": 0.5, "right": 0.85}[side]
        return min(abs(float((x - first) / (last - first)) - middle) for x in taken)

    side = max(places, key=room)
    place = {"xycoords": ("axes fraction", "data"), "ha": side}
    text = f"stopped after {limit:g} s"
    write(axes, text, (places[side], limit), (0, 3), size=8, color=FAINT, **place)


def _stop(
    axes: Any, method: str, before: list[tuple[float, float]], end: tuple[float, float]
) -> None:
    style = style_of(method)
    x, y = zip(*before, end, strict=True)
    axes.plot(
        x, y, color=style.colour, linewidth=style.width, linestyle=style.line, zorder=style.order
    )
    hollow = {
        "markerfacecolor": "white",
        "markeredgecolor": style.colour,
        "markeredgewidth": 1.3,
        "linestyle": "none",
    }
    axes.plot(end[0], end[1], **line_options(style) | hollow, clip_on=False)
    write(axes, "↑", end, (0, 3), xycoords="data", ha="center", color=style.colour, size=11)
