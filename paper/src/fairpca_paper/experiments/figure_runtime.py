"""The paper's Figure 3 and Appendix C.3: running time against the dimensions d and k.

And curves of running times, with methods that were stopped before they were done.
"""

from __future__ import annotations

import math
import multiprocessing
import os
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from multiprocessing.connection import Connection
from time import perf_counter
from typing import Any

import numpy as np

from fairpca.datasets import make_two_gaussians
from fairpca.errors import InfeasibleError

from .experiment import Experiment, Result, Settings, Summary, Task, combinations
from .panels import error_curve, horizontal_grid, line_options, method_legend, note, write
from .protocol import SHOWN, make_method, published
from .run import end_with
from .style import FAINT, in_order, paper_figure, style_of

DATASET = "two gaussians"
SMALL_D, LARGE_D = tuple(range(20, 101, 10)), tuple(range(100, 801, 100))
PATIENCE = {"limit": 30.0, "budget": 5.0, "repeats": 10}
QUICK_PATIENCE = {"limit": 1.0, "budget": 0.5, "repeats": 2}

READY, STARTED, DONE, CANNOT, FAILED = "ready", "started", "done", "cannot", "failed"
PREPARATION = 300.0
"""Seconds for the imports of a method and a first small fit, which do not count."""

K_OF_FIGURE_3, D_OF_APPENDIX, N_PER_GROUP = 5, 100, 168

_stopped_at: dict[tuple[str, float], int] = {}
"""Smallest d at which a method was stopped, by limit: larger ones are not tried in this run."""


@dataclass(frozen=True)
class _Times:
    """Seconds of the fits that ended, and whether one was stopped at the limit."""

    seconds: tuple[float, ...]
    stopped: bool = False


@dataclass(frozen=True)
class _Race:
    """What is to be timed: a method of the figures, fitted to new data at most `repeats` times."""

    method: str
    d: int
    k: int
    repeats: int = 10


def _time_at_d(method: str, d: int, limit: float, budget: float, repeats: int) -> dict[str, float]:
    """Time a method at a dimension, unless it was too slow at a smaller one already."""
    if _stopped_at.get((method, limit), d) < d:
        return {"tried": 0.0}
    race = _Race(method, d, K_OF_FIGURE_3, repeats=repeats)
    times = _time_fits(race, limit=limit, budget=budget)
    if times.stopped:
        _stopped_at[method, limit] = min(d, _stopped_at.get((method, limit), d))
    return _values(times, limit)


def _time_at_k(method: str, k: int, limit: float, budget: float, repeats: int) -> dict[str, float]:
    """Time a method for a number of components; some are slower for fewer, so all are tried."""
    race = _Race(method, D_OF_APPENDIX, k, repeats=repeats)
    return _values(_time_fits(race, limit=limit, budget=budget), limit)


def _values(times: _Times, limit: float) -> dict[str, float]:
    known = times.seconds if times.seconds and not times.stopped else [math.nan]
    low, median, high = np.quantile(known, [0.25, 0.5, 0.75])
    quartiles = {"seconds_low": low, "seconds_median": median, "seconds_high": high}
    numbers = {"seconds": np.mean(known), "seconds_std": np.std(known), **quartiles}
    counts = {"fits": len(times.seconds), "stopped": times.stopped, "limit": limit}
    return {"tried": 1.0} | {name: float(number) for name, number in (numbers | counts).items()}


def _time_fits(race: _Race, *, limit: float, budget: float) -> _Times:
    """Fit until there are enough times or the budget (seconds) is spent; stop one at the limit."""
    context = _fresh_processes()
    receive, send = context.Pipe(duplex=False)
    process = context.Process(target=_fits, args=(race, send, os.getpid()), daemon=True)
    process.start()
    send.close()  # ours; when the other end closes, too, waiting ends
    try:
        return _collected(receive, limit, budget)
    except EOFError as error:
        raise RuntimeError(f"The process that fitted {race} died without an answer.") from error
    finally:
        process.kill()
        process.join()
        receive.close()


def _collected(receive: Connection, limit: float, budget: float) -> _Times:
    seconds: list[float] = []
    patience = PREPARATION
    while receive.poll(patience):
        what, value = receive.recv()
        if what == FAILED:
            raise RuntimeError(value)
        if what == CANNOT:
            return _Times(())
        if what == DONE:
            seconds.append(value)
            if sum(seconds) >= budget:
                return _Times(tuple(seconds))
        if what == READY and seconds:
            return _Times(tuple(seconds))
        patience = limit if what == STARTED else PREPARATION
    return _Times(tuple(seconds), stopped=True)


def _fits(race: _Race, send: Connection, parent: int) -> None:
    """Fit once to a little data, then time fits; tell the parent about every step."""
    end_with(parent)  # not after a fit that nobody waits for
    warnings.simplefilter("ignore")  # about representations, which nobody looks at here
    try:
        X, z = make_two_gaussians(8, n_per_group=30, random_state=0)
        make_method(race.method, 8, 2).fit(X, sensitive_features=z)
        for draw in range(race.repeats):
            X, z = make_two_gaussians(race.d, n_per_group=N_PER_GROUP, random_state=draw)
            method = make_method(race.method, race.d, race.k)
            send.send((STARTED, draw))
            start = perf_counter()
            method.fit(X, sensitive_features=z)
            send.send((DONE, perf_counter() - start))
        send.send((READY, race.repeats))
    except BrokenPipeError:
        return  # the parent has gone
    except InfeasibleError as error:
        send.send((CANNOT, str(error)))
    except Exception as error:
        send.send((FAILED, f"{type(error).__name__}: {error}"))


def _fresh_processes() -> Any:
    """Return the kind of process that has no threads of the parent, and starts fast if it can."""
    if "forkserver" not in multiprocessing.get_all_start_methods():
        return multiprocessing.get_context("spawn")
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload([__name__])
    return context


@dataclass(frozen=True)
class _Plan:
    """What changes along the axis of a figure, its panels, and what its words are."""

    axis: str
    title: str
    run: Callable[..., dict[str, float]]
    panels: tuple[tuple[int, ...], ...]
    quick: tuple[int, ...]
    size: tuple[float, float]
    label: str
    fixed: str
    ends: str


PLANS = (
    _Plan(
        axis="d",
        title="Figure 3: running time against the dimension of the data",
        run=_time_at_d,
        panels=(SMALL_D, LARGE_D),
        quick=(20, 60, 100, 300),
        size=(7.6, 4.3),
        label="dimension d",
        fixed=f"k = {K_OF_FIGURE_3} components",
        ends="larger d are not tried then.",
    ),
    _Plan(
        axis="k",
        title="Appendix C.3: running time against the number of components",
        run=_time_at_k,
        panels=((2, 5, 10, 15, 20, 30, 40, 50),),
        quick=(5, 50),
        size=(6.2, 4.4),
        label="number of components k",
        fixed=f"d = {D_OF_APPENDIX} features",
        ends="no marker: no solution with so many components.",
    ),
)


@dataclass(frozen=True)
class _TimedFits:
    """Median and quartiles of running times; the limit where the method was stopped."""

    seconds: float
    low: float | None = None
    high: float | None = None
    stopped: bool = False


def _tasks(settings: Settings, *, plan: _Plan) -> list[Task]:
    patience = QUICK_PATIENCE if settings.quick else PATIENCE
    # Ascending, so that a method that is too slow ends early.
    positions = plan.quick if settings.quick else sorted({at for row in plan.panels for at in row})
    tasks = []
    for one in combinations(method=SHOWN, parameter=positions):
        at = one["parameter"]
        key = {"dataset": DATASET, "k": at if plan.axis == "k" else K_OF_FIGURE_3, **one}
        tasks.append(Task(key, plan.run, {"method": one["method"], plan.axis: at, **patience}))
    return tasks


def _summarize(results: Sequence[Result], *, plan: _Plan) -> list[Summary]:
    """Return seconds where fits ended, and the limit where one was stopped."""
    said = {  # seconds of another machine, where the paper names a number
        (method, int(row["parameters"])): float(row["number"])
        for row in published("text")
        if row["experiment"] == f"figure-runtime-{plan.axis}" and row["relation"] != "below"
        for method in row["methods"].split(";")
    }
    rows = []
    for result in results:
        key, values = result.key, result.values
        timing = _timing(values)
        if timing is None:
            continue
        method, at = str(key["method"]), int(key["parameter"])
        row = partial(Summary, str(key["dataset"]), int(key["k"]), method, parameter=float(at))
        if timing.stopped:
            rows.append(row("seconds_stopped_after", timing.seconds, 0.0))
        else:
            mean, std = values["seconds"], values["seconds_std"]
            rows.append(row("seconds", mean, std, said.get((method, at))))
    return rows


def _timing(values: Mapping[str, float]) -> _TimedFits | None:
    """Return None where nothing was tried, or the method has no answer."""
    if values["tried"] == 0 or (values["fits"] == 0 and values["stopped"] == 0):
        return None
    if values["stopped"] > 0:
        return _TimedFits(values["limit"], stopped=True)
    return _TimedFits(values["seconds_median"], values["seconds_low"], values["seconds_high"])


def _timings(results: Iterable[Result], wanted: set[int]) -> dict[str, dict[float, _TimedFits]]:
    """Arrange the times of the wanted positions by method and position."""
    timings: dict[str, dict[float, _TimedFits]] = {}
    for result in results:
        timing, position = _timing(result.values), int(result.key["parameter"])
        if timing is not None and position in wanted:
            timings.setdefault(str(result.key["method"]), {})[position] = timing
    return timings


def _draw(results: Sequence[Result], settings: Settings, *, plan: _Plan) -> Any:
    """Draw running times along the axis, in one panel or in those for small and large values."""
    methods = in_order({str(result.key["method"]) for result in results})
    at = {int(result.key["parameter"]) for result in results}
    tried = [result.values for result in results if result.values["tried"] > 0]
    limit = max((values["limit"] for values in tried), default=PATIENCE["limit"])
    fits = max((int(values["fits"]) for values in tried), default=0)
    with paper_figure(*plan.size) as figure:
        panels = figure.subplots(1, len(plan.panels), sharey=True, squeeze=False)[0]
        for axes, positions in zip(panels, plan.panels, strict=True):
            within = {x for x in at if positions[0] <= x <= positions[-1]}
            shown = _timings(results, within)
            if axes is not panels[0]:  # methods that end in the panel before are not drawn twice
                shown = {name: fits for name, fits in shown.items() if not fits[min(fits)].stopped}
            _timing_curves(axes, shown, methods, limit)
            if len(panels) > 1:
                first, last = min(within, default=positions[0]), max(within, default=positions[-1])
                axes.set_title(f"{plan.axis} from {first} to {last}", loc="left", weight="bold")
            axes.set_xlabel(plan.label)
        panels[0].set_ylabel("running time of a fit (seconds)")
        method_legend(figure, methods, columns=4)
        note(
            figure,
            f"Two Gaussians of {N_PER_GROUP} rows each, {plan.fixed}: medians and quartiles of up "
            f"to {fits} fits,\neach to new data. All methods as implemented in this package; "
            f"solid: its own.\nArrows: a fit was stopped after {limit:g} s; {plan.ends}",
        )
    return figure


def _timing_curves(
    axes: Any,
    timings: Mapping[str, Mapping[float, _TimedFits]],
    methods: Sequence[str],
    limit: float,
) -> None:
    """Draw running times on a logarithmic axis; hollow markers with arrows reached the limit."""
    axes.set_yscale("log")
    horizontal_grid(axes)
    ends: list[tuple[str, float]] = []
    for method in methods:
        points = sorted(timings.get(method, {}).items())
        done = {x: timing for x, timing in points if not timing.stopped}
        if done:
            middle = [t.seconds for t in done.values()]
            below = [t.seconds - (t.seconds if t.low is None else t.low) for t in done.values()]
            above = [(t.seconds if t.high is None else t.high) - t.seconds for t in done.values()]
            error_curve(axes, style_of(method), list(done), middle, [below, above])
        ends += [(method, x) for x, timing in points if timing.stopped]
    if ends:
        _stops(axes, ends, timings, limit)


def _stops(
    axes: Any,
    ends: Sequence[tuple[str, float]],
    timings: Mapping[str, Mapping[float, _TimedFits]],
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
    _name_limit(axes, limit, list(taken))


def _stop(
    axes: Any, method: str, before: list[tuple[float, float]], end: tuple[float, float]
) -> None:
    style = style_of(method)
    look = {"color": style.colour, "linewidth": style.width, "zorder": style.order}
    axes.plot(*zip(*before, end, strict=True), linestyle=style.line, **look)
    hollow = {"markerfacecolor": "white", "markeredgecolor": style.colour, "markeredgewidth": 1.3}
    axes.plot(*end, **line_options(style) | hollow | {"linestyle": "none"}, clip_on=False)
    write(axes, "↑", end, (0, 3), xycoords="data", ha="center", color=style.colour, size=11)


def _name_limit(axes: Any, limit: float, taken: Sequence[float]) -> None:
    """Write what the line is where no arrow is near."""
    first, last = axes.get_xlim()
    places = {"left": (0.01, 0.15), "center": (0.5, 0.5), "right": (0.99, 0.85)}

    def room(side: str) -> float:
        middle = places[side][1]
        return min(abs(float((x - first) / (last - first)) - middle) for x in taken)

    side = max(places, key=room)
    look = {"xycoords": ("axes fraction", "data"), "ha": side, "size": 8, "color": FAINT}
    write(axes, f"stopped after {limit:g} s", (places[side][0], limit), (0, 3), **look)


EXPERIMENTS = tuple(
    Experiment(
        f"figure-runtime-{plan.axis}",
        plan.title,
        partial(_tasks, plan=plan),
        partial(_summarize, plan=plan),
        partial(_draw, plan=plan),
        timed=True,
    )
    for plan in PLANS
)
