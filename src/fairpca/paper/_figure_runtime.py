"""The paper's Figure 3 and Appendix C.3: running time against the dimensions d and k.

And curves of running times, with methods that were stopped before they were done.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from ._experiment import Experiment, Result, Settings, Summary, Task
from ._panels import horizontal_grid, line_options, method_legend, note, write
from ._protocol import SHOWN, published
from ._style import FAINT, in_order, paper_figure, style_of
from ._timing import D_OF_APPENDIX, K_OF_FIGURE_3, N_PER_GROUP, time_at_d, time_at_k

DATASET = "two gaussians"
SMALL_D, LARGE_D = range(20, 101, 10), range(100, 801, 100)
EVERY_K = (2, 5, 10, 15, 20, 30, 40, 50)
QUICK_D, QUICK_K = (20, 60, 100, 300), (5, 50)
PATIENCE = {"limit": 30.0, "budget": 5.0, "repeats": 10}
QUICK_PATIENCE = {"limit": 1.0, "budget": 0.5, "repeats": 2}


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


def _tasks_over_d(settings: Settings) -> list[Task]:
    dimensions = QUICK_D if settings.quick else sorted({*SMALL_D, *LARGE_D})
    return [
        Task(
            {"dataset": DATASET, "k": K_OF_FIGURE_3, "method": method, "parameter": d},
            time_at_d,
            {"method": method, "d": d, **(QUICK_PATIENCE if settings.quick else PATIENCE)},
        )
        for method in SHOWN
        for d in dimensions  # ascending, so that a method that is too slow ends early
    ]


def _tasks_over_k(settings: Settings) -> list[Task]:
    return [
        Task(
            {"dataset": DATASET, "k": k, "method": method, "parameter": k},
            time_at_k,
            {"method": method, "k": k, **(QUICK_PATIENCE if settings.quick else PATIENCE)},
        )
        for method in SHOWN
        for k in (QUICK_K if settings.quick else EVERY_K)
    ]


def _summarize(results: Sequence[Result], *, axis: str) -> list[Summary]:
    """Return seconds where fits ended, and the limit where one was stopped."""
    said = _said_in_the_text(f"figure-runtime-{axis}")
    rows = []
    for result in results:
        key, values = result.key, result.values
        timing = _timing(values)
        if timing is None:
            continue
        dataset, k, method = str(key["dataset"]), int(key["k"]), str(key["method"])
        at = int(key["parameter"])
        row = partial(Summary, dataset, k, method, parameter=float(at))
        if timing.stopped:
            rows.append(row("seconds_stopped_after", timing.seconds, 0.0))
        else:
            mean, std = values["seconds"], values["seconds_std"]
            rows.append(row("seconds", mean, std, said.get((method, at))))
    return rows


def _said_in_the_text(experiment: str) -> dict[tuple[str, int], float]:
    """Return seconds of another machine by method and position, where the paper names a number."""
    return {
        (method, int(row["parameters"])): float(row["number"])
        for row in published("text")
        if row["experiment"] == experiment and row["relation"] != "below"
        for method in row["methods"].split(";")
    }


def _timing(values: Mapping[str, float]) -> TimedFits | None:
    """Return None where nothing was tried, or the method has no answer."""
    if values["tried"] == 0 or (values["fits"] == 0 and values["stopped"] == 0):
        return None
    if values["stopped"] > 0:
        return TimedFits(values["limit"], stopped=True)
    return TimedFits(values["seconds_median"], values["seconds_low"], values["seconds_high"])


def _timings(
    results: Iterable[Result], positions: Iterable[int]
) -> dict[str, dict[float, TimedFits]]:
    """Arrange the times of these positions by method and position."""
    wanted = set(positions)
    timings: dict[str, dict[float, TimedFits]] = {}
    for result in results:
        timing, position = _timing(result.values), int(result.key["parameter"])
        if timing is not None and position in wanted:
            timings.setdefault(str(result.key["method"]), {})[position] = timing
    return timings


def _limit(results: Sequence[Result]) -> float:
    return max(
        (r.values["limit"] for r in results if r.values["tried"] > 0), default=PATIENCE["limit"]
    )


def _draw_over_d(results: Sequence[Result], settings: Settings) -> Any:
    """Draw running times for small dimensions, and for large ones."""
    methods = in_order({str(result.key["method"]) for result in results})
    tried = {int(result.key["parameter"]) for result in results}
    with paper_figure(7.6, 4.3) as figure:
        panels = figure.subplots(1, 2, sharey=True)
        for axes, positions in zip(panels, (SMALL_D, LARGE_D), strict=True):
            within = {d for d in tried if positions[0] <= d <= positions[-1]}
            shown = _timings(results, within)
            if positions is LARGE_D:  # methods that end in the panel before are not drawn twice
                shown = {name: at for name, at in shown.items() if not at[min(at)].stopped}
            timing_curves(axes, shown, methods, _limit(results))
            first, last = min(within, default=positions[0]), max(within, default=positions[-1])
            axes.set_title(f"d from {first} to {last}", loc="left", weight="bold")
            axes.set_xlabel("dimension d")
        panels[0].set_ylabel("running time of a fit (seconds)")
        method_legend(figure, methods, columns=4)
        ends = "larger d are not tried then."
        note(figure, _caption(results, f"k = {K_OF_FIGURE_3} components", ends))
    return figure


def _draw_over_k(results: Sequence[Result], settings: Settings) -> Any:
    """Draw running times against the number of components."""
    methods = in_order({str(result.key["method"]) for result in results})
    with paper_figure(6.2, 4.4) as figure:
        axes = figure.subplots()
        timing_curves(axes, _timings(results, EVERY_K), methods, _limit(results))
        axes.set(xlabel="number of components k", ylabel="running time of a fit (seconds)")
        method_legend(figure, methods, columns=4)
        ends = "no marker: no solution with so many components."
        note(figure, _caption(results, f"d = {D_OF_APPENDIX} features", ends))
    return figure


def _caption(results: Sequence[Result], fixed: str, ends: str) -> str:
    fits = max((int(r.values["fits"]) for r in results if r.values["tried"] > 0), default=0)
    return (
        f"Two Gaussians of {N_PER_GROUP} rows each, {fixed}: medians and quartiles of up to "
        f"{fits} fits,\neach to new data. All methods as implemented in this package; solid: its "
        f"own.\nArrows: a fit was stopped after {_limit(results):g} s; {ends}"
    )


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


EXPERIMENTS = (
    Experiment(
        name="figure-runtime-d",
        title="Figure 3: running time against the dimension of the data",
        tasks=_tasks_over_d,
        summarize=partial(_summarize, axis="d"),
        draw=_draw_over_d,
        timed=True,
    ),
    Experiment(
        name="figure-runtime-k",
        title="Appendix C.3: running time against the number of components",
        tasks=_tasks_over_k,
        summarize=partial(_summarize, axis="k"),
        draw=_draw_over_k,
        timed=True,
    ),
)
