"""Running times of fits, in a process of their own, which is killed when a fit takes too long."""

from __future__ import annotations

import math
import multiprocessing
import warnings
from dataclasses import dataclass
from multiprocessing.connection import Connection
from time import perf_counter
from typing import Any

import numpy as np

from ..datasets import make_two_gaussians
from ..errors import InfeasibleError
from ._protocol import make_method

READY, STARTED, DONE, CANNOT, FAILED = "ready", "started", "done", "cannot", "failed"
PREPARATION = 300.0
"""Seconds for the imports of a method and a first small fit, which do not count."""

K_OF_FIGURE_3, D_OF_APPENDIX, N_PER_GROUP = 5, 100, 168

_stopped_at: dict[tuple[str, float], int] = {}
"""Smallest d at which a method was stopped, by limit: larger ones are not tried in this run.

A resumed run does not know of earlier ones; it wastes one limit to find out again.
"""


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


def time_at_d(method: str, d: int, limit: float, budget: float, repeats: int) -> dict[str, float]:
    """Time a method at a dimension, unless it was too slow at a smaller one already."""
    if _stopped_at.get((method, limit), d) < d:
        return {"tried": 0.0}
    race = _Race(method, d, K_OF_FIGURE_3, repeats=repeats)
    times = _time_fits(race, limit=limit, budget=budget)
    if times.stopped:
        _stopped_at[method, limit] = min(d, _stopped_at.get((method, limit), d))
    return _values(times, limit)


def time_at_k(method: str, k: int, limit: float, budget: float, repeats: int) -> dict[str, float]:
    """Time a method for a number of components; some are slower for fewer, so all are tried."""
    race = _Race(method, D_OF_APPENDIX, k, repeats=repeats)
    return _values(_time_fits(race, limit=limit, budget=budget), limit)


def _values(times: _Times, limit: float) -> dict[str, float]:
    known = times.seconds if times.seconds and not times.stopped else [math.nan]
    low, median, high = np.quantile(known, [0.25, 0.5, 0.75])
    return {
        "tried": 1.0,
        "seconds": float(np.mean(known)),
        "seconds_std": float(np.std(known)),
        "seconds_low": float(low),
        "seconds_median": float(median),
        "seconds_high": float(high),
        "fits": float(len(times.seconds)),
        "stopped": float(times.stopped),
        "limit": limit,
    }


def _time_fits(race: _Race, *, limit: float, budget: float) -> _Times:
    """Fit until there are enough times or the budget (seconds) is spent; stop one at the limit.

    There are no times where the method has no answer; RuntimeError says that it raised or died.
    """
    context = _fresh_processes()
    receive, send = context.Pipe(duplex=False)
    process = context.Process(target=_fits, args=(race, send), daemon=True)
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


def _fits(race: _Race, send: Connection) -> None:
    """Fit once to a little data, then time fits; tell the parent about every step."""
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
