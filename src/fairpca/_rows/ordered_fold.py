"""Batches are collected side by side and added one after the other, in their order.

It is a left fold, whatever the threads do: the same bits from any number of them.
"""

from __future__ import annotations

import warnings
from collections import deque
from collections.abc import Callable, Generator
from contextlib import closing
from threading import Lock
from typing import Any

from .._numerics import limited_threads, pool_of, prefetch
from .lazy_rows import plus

RESULTS_PER_THREAD = 2
"""Results of batches that may wait for an earlier one, so that no thread must."""


def ordered_fold(
    batches: Generator[Any, None, None],
    collect: Callable[[Any], Any],
    *,
    n_jobs: int,
    after_each: Callable[[int], None],
) -> Any:
    """Return the sum of what `collect` makes of the batches; None where it is always None.

    Threads take the next batch and collect it, each with one BLAS thread; this one adds the
    results and tells `after_each` how many rows are done. What that raises ends the work, as does
    the error of the first batch with one.
    """
    # One thread that reads and one that collects overlap; several overlap by themselves.
    source = prefetch(batches) if n_jobs == 1 else batches
    turn, begun = Lock(), 0

    def one_more() -> tuple[int, Any]:
        nonlocal begun
        index = -1
        try:
            with turn:
                index, begun = begun, begun + 1
                batch = next(source, None)
            if batch is None:
                return index, None
            rows = batch.n_rows
            return index, (rows, collect(batch))
        except BaseException as error:
            return index, error

    waiting: dict[int, Any] = {}
    total, n_rows, added = None, 0, 0
    # Threads that enter and leave `catch_warnings`, as scikit-learn's checks do, may restore the
    # filters of one another; what was set before is set again at the end.
    with (
        warnings.catch_warnings(),
        limited_threads(1),
        closing(source),
        pool_of(n_jobs, "fairpca-batches") as pool,
    ):
        tasks = deque(pool.submit(one_more) for _ in range(RESULTS_PER_THREAD * n_jobs))
        while tasks:
            index, outcome = tasks.popleft().result()
            waiting[index] = outcome
            if outcome is not None:
                tasks.append(pool.submit(one_more))
            while waiting.get(added) is not None:
                outcome, added = waiting.pop(added), added + 1
                if isinstance(outcome, BaseException):
                    raise outcome
                rows, result = outcome
                total, n_rows = plus(total, result), n_rows + rows
                after_each(n_rows)
    return total
