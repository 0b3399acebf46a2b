"""Ratios in one run: contestants alternate, medians are compared.

Machines are noisy and change speed between runs, so no time means anything by itself. Before each
run there is a pause, because BLAS threads keep spinning for a while after their last product and
would slow down whoever comes next.
"""

import gc
import statistics
import time
from collections.abc import Callable, Mapping

PAUSE = 0.15


def alternate(
    contestants: Mapping[str, Callable[[], object]], repeats: int, *, warm_up: bool = True
) -> dict[str, float]:
    """Return the median seconds of each contestant over alternating runs."""
    for run in contestants.values() if warm_up else ():
        run()
    seconds: dict[str, list[float]] = {name: [] for name in contestants}
    for _ in range(repeats):
        for name, run in contestants.items():
            gc.collect()
            time.sleep(PAUSE)
            start = time.perf_counter()
            run()
            seconds[name].append(time.perf_counter() - start)
    return {name: statistics.median(values) for name, values in seconds.items()}


def geometric_mean(values: list[float]) -> float:
    return statistics.geometric_mean(values)
