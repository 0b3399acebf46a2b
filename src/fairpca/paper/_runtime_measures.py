"""Running times of one method at one dimension, as tasks of the figures."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from ._stopwatch import Race, time_fits

K_OF_FIGURE_3, D_OF_APPENDIX = 5, 100

_stopped_at: dict[tuple[str, float], int] = {}
"""Smallest d at which a method was stopped, by limit: larger ones are not tried in this run.

A resumed run does not know of earlier ones; it wastes one limit to find out again.
"""


def time_at_d(method: str, d: int, limit: float, budget: float, repeats: int) -> dict[str, float]:
    """Time a method at a dimension, unless it was too slow at a smaller one already."""
    if _stopped_at.get((method, limit), d) < d:
        return {"tried": 0.0}
    race = Race(method, d, K_OF_FIGURE_3, repeats=repeats)
    times = time_fits(race, limit=limit, budget=budget)
    if times.stopped:
        _stopped_at[method, limit] = min(d, _stopped_at.get((method, limit), d))
    return _values(times.seconds, stopped=times.stopped, limit=limit)


def time_at_k(method: str, k: int, limit: float, budget: float, repeats: int) -> dict[str, float]:
    """Time a method for a number of components; some are slower for fewer, so all are tried."""
    race = Race(method, D_OF_APPENDIX, k, repeats=repeats)
    times = time_fits(race, limit=limit, budget=budget)
    return _values(times.seconds, stopped=times.stopped, limit=limit)


def _values(seconds: Sequence[float], *, stopped: bool, limit: float) -> dict[str, float]:
    known = seconds if seconds and not stopped else [math.nan]
    low, median, high = np.quantile(known, [0.25, 0.5, 0.75])
    return {
        "tried": 1.0,
        "seconds": float(np.mean(known)),
        "seconds_std": float(np.std(known)),
        "seconds_low": float(low),
        "seconds_median": float(median),
        "seconds_high": float(high),
        "fits": float(len(seconds)),
        "stopped": float(stopped),
        "limit": limit,
    }
