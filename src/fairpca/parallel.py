"""Work on blocks of rows side by side, one BLAS thread each.

BLAS splits one product over threads. For tall and thin data that is a poor bargain: products of
4096 x 100 blocks run two to four times faster when each thread takes blocks of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import cache
from itertools import pairwise
from threading import Lock
from typing import Any, TypeVar

import threadpoolctl
from threadpoolctl import ThreadpoolController

Item = TypeVar("Item")
Result = TypeVar("Result")

WIDEST = 1024
"""Products of more features keep all BLAS threads busy by themselves."""

ACCUMULATORS = 2**23
"""Most numbers that the d x d accumulators of all threads may hold together."""


@cache
def _blas() -> ThreadpoolController:
    return ThreadpoolController().select(user_api="blas")


def blas_threads() -> int:
    """Return how many threads BLAS may use now, as set by the environment or the user."""
    return max((library["num_threads"] for library in _blas().info()), default=1)


@cache
def _blas_of_scipy() -> ThreadpoolController:
    """SciPy's own BLAS, where it has one beside NumPy's (as in wheels)."""
    own = [b["filepath"] for b in _blas().info() if "scipy.libs" in b["filepath"]]
    return _blas().select(filepath=own)


def _release_blas() -> None:
    """Let any thread set limits, where threadpoolctl knows of one that may."""
    openblas = getattr(threadpoolctl, "OpenBLASController", None)
    release = getattr(openblas, "clear_controlling_thread", None)
    if release is not None:
        release(force=True)


class _Limit:
    """Limit libraries to some threads while anybody is inside, and restore what was set before.

    Several fits may run in threads of the caller; the first one in saves, the last one out
    restores. Newer threadpoolctl lets only one thread set limits until it is done with them, and
    ignores the others: so whoever leaves last takes that over, and nobody keeps it.
    """

    def __init__(self, libraries: Callable[[], ThreadpoolController]) -> None:
        self._libraries = libraries
        self._lock = Lock()
        self._inside = 0
        self._limit: Any = None
        self._holds = False

    @contextmanager
    def __call__(self, threads: int = 1) -> Iterator[None]:
        with self._lock:
            if self._inside == 0:
                self._limit = self._libraries().limit(limits=threads)
                self._holds = all(b["num_threads"] == threads for b in self._libraries().info())
            self._inside += 1
        try:
            yield
        finally:
            with self._lock:
                self._inside -= 1
                if self._inside == 0 and self._holds:
                    _release_blas()
                    self._limit.restore_original_limits()
                    _release_blas()


one_blas_thread = _Limit(_blas)
"""For those who run threads of their own, each of which multiplies matrices."""

_asked_for = _Limit(_blas)

one_scipy_blas_thread = _Limit(_blas_of_scipy)
"""For SciPy routines that call back into NumPy: two pools of threads would fight for the cores."""


@contextmanager
def limited_threads(threads: int | None) -> Iterator[None]:
    """Let BLAS, and so everything here, use so many threads inside; None changes nothing.

    Threads of the caller that come in while others are inside share the limit of the first.
    """
    if threads is None:
        yield
        return
    with _asked_for(threads):
        yield


def each_item(work: Callable[[Item], Result], items: Iterable[Item]) -> list[Result]:
    """Return the results of `work` on every item, in order; a free thread takes the next one.

    Each thread has one BLAS thread, so `work` may multiply matrices. It must not touch what the
    work on other items touches.
    """
    threads = blas_threads()
    if threads < 2:
        return [work(item) for item in items]
    with one_blas_thread(), ThreadPoolExecutor(threads) as pool:
        return list(pool.map(work, items))


def share_blocks(
    work: Callable[[Sequence[slice]], Result], blocks: Sequence[slice], *, d: int
) -> list[Result]:
    """Return the results of `work` on shares of the blocks, in the order of the rows.

    Parameters
    ----------
    work : callable
        Takes a sequence of blocks of rows. Must not touch what other shares touch.
    blocks : sequence of slice
        Blocks of rows of `d` features.
    d : int
        Number of features; results are taken to be of size d x d.

    Returns
    -------
    list
        One result per share; a single one where sharing would not pay.
    """
    threads = 1
    if d <= WIDEST and len(blocks) >= 4:
        threads = min(blas_threads(), len(blocks) // 2, max(1, ACCUMULATORS // d**2))
    if threads < 2:
        return [work(blocks)]
    edges = [round(i * len(blocks) / threads) for i in range(threads + 1)]
    return each_item(work, [blocks[a:b] for a, b in pairwise(edges)])
