"""Work on blocks of rows side by side, one BLAS thread each.

BLAS splits one product over threads. For tall and thin data that is a poor bargain: products of
4096 x 100 blocks run two to four times faster when each thread takes blocks of its own.
"""

from __future__ import annotations

import multiprocessing
import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import cache
from itertools import pairwise
from numbers import Integral
from threading import Lock, Thread
from time import sleep
from typing import Any, TypeVar

import numpy as np
import threadpoolctl
from joblib import Parallel, cpu_count, delayed, effective_n_jobs
from threadpoolctl import ThreadpoolController, threadpool_limits

from ..errors import UsageError

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


class _Asked:
    """What was asked of one library, by all that are inside, and what was set before."""

    def __init__(self, library: Any) -> None:
        self._library = library
        self._before: int = library.num_threads
        self._limits: list[int] = []
        self._holds = False

    def enter(self, threads: int) -> None:
        self._limits.append(threads)
        if len(self._limits) > 1:
            self._set(min(self._limits))
            return
        # Newer threadpoolctl lets one thread set limits until it is done, and ignores all others:
        # where somebody else is that thread, the limits are theirs.
        self._library.set_num_threads(threads)
        self._holds = self._library.num_threads == threads

    def leave(self, threads: int) -> bool:
        """Take a limit back; return whether nobody is left inside."""
        self._limits.remove(threads)
        self._set(min(self._limits, default=self._before))
        return not self._limits

    def _set(self, threads: int) -> None:
        if self._holds:  # by whichever thread of ours came first
            _release_blas()
            self._library.set_num_threads(threads)
            _release_blas()


_inside: dict[str, _Asked] = {}
_lock = Lock()


@contextmanager
def _limited(libraries: ThreadpoolController, threads: int) -> Iterator[None]:
    """Limit libraries while anybody is inside, and restore what was set before.

    Several fits may run in threads of the caller, and most libraries have one number for all of
    them: the smallest limit that anybody asks for holds, and the last one out restores. If each
    restored what it found, the first one's limit could stay for good.
    """
    of_all = {b.filepath: b for b in libraries.lib_controllers if not _knows_threads(b)}
    others = [b.filepath for b in libraries.lib_controllers if b.filepath not in of_all]
    with _lock:
        for path, library in of_all.items():
            if path not in _inside:
                _inside[path] = _Asked(library)
            _inside[path].enter(threads)
    try:
        with libraries.select(filepath=others).limit(limits=threads) if others else nullcontext():
            yield
    finally:
        with _lock:
            for path in of_all:
                if _inside[path].leave(threads):
                    del _inside[path]


def _knows_threads(library: Any) -> bool:
    """Return whether a library has a number for each thread, so that none can disturb another."""
    return library.internal_api == "mkl" or getattr(library, "threading_layer", "") == "openmp"


def limited_threads(threads: int | None, *, of_scipy: bool = False) -> AbstractContextManager[None]:
    """Let BLAS, and so everything here, use so many threads inside; None changes nothing.

    SciPy routines that call back into NumPy limit the BLAS `of_scipy`: two pools of threads would
    fight for cores.
    """
    if threads is None:
        return nullcontext()
    return _limited(_blas_of_scipy() if of_scipy else _blas(), threads)


@contextmanager
def one_thread() -> Iterator[None]:
    """For many small problems, where threads of BLAS and OpenMP would only wait for each other."""
    with limited_threads(1), threadpool_limits(1, user_api="openmp"):
        yield


def check_n_jobs(n_jobs: Any) -> None:
    """Raise unless this is a number of threads or processes, as joblib counts them, or None."""
    if n_jobs is not None and (not isinstance(n_jobs, Integral) or n_jobs == 0):
        raise UsageError(
            f"n_jobs={n_jobs!r} is not a number of threads. Use an integer >= 1, -1 for all "
            f"cores, or None."
        )


def allowed_jobs(n_jobs: int | None, *, usual: int, most: int | None = None) -> int:
    """Return how many threads or processes to start: no more than cores, or than `most`."""
    check_n_jobs(n_jobs)
    most = max(cpu_count(), most or 1)
    return usual if n_jobs is None else min(effective_n_jobs(n_jobs), most)


def each_item(work: Callable[[Item], Result], items: Iterable[Item]) -> list[Result]:
    """Return the results of `work` on every item, in order; a free thread takes the next one.

    Each thread has one BLAS thread. `work` must not touch what the work on other items touches.
    """
    threads = blas_threads()
    if threads < 2:
        return [work(item) for item in items]
    errors = np.geterr()  # belongs to a thread: what is silenced here is silenced there

    def alike(item: Item) -> Result:
        with np.errstate(**errors):
            return work(item)

    with limited_threads(1), ThreadPoolExecutor(threads) as pool:
        return list(pool.map(alike, items))


def each_in_processes(
    work: Callable[[Item], Result], items: Iterable[Item], n_jobs: int
) -> Iterator[tuple[int, Result]]:
    """Yield the place of an item and the result of `work` on it, whichever is ready first.

    Each process has one BLAS thread, and ends when its parent has, however that was. Items go
    through pipes: in files of shared memory, rows of people would outlive who is killed.
    """
    parallel = Parallel(n_jobs, return_as="generator_unordered", batch_size=1, max_nbytes=None)
    jobs = (delayed(_in_process)(os.getpid(), i, work, item) for i, item in enumerate(items))
    done: Iterator[tuple[int, Result]] = parallel(jobs)
    return done


def _in_process(
    parent: int, i: int, work: Callable[[Item], Result], item: Item
) -> tuple[int, Result]:
    _end_with(parent)
    with one_thread():
        return i, work(item)


@cache
def _end_with(pid: int) -> None:
    """End this process soon after its parent, if that is its parent."""
    parent = multiprocessing.parent_process()
    if parent is None or parent.pid != pid:
        return

    def wait() -> None:
        while os.getppid() == pid if parent.sentinel is None else parent.is_alive():
            sleep(0.5)
        os._exit(1)

    Thread(target=wait, name="fairpca-parent", daemon=True).start()


def ahead(items: Iterable[Item], depth: int = 2) -> Iterator[Item]:
    """Yield items that a thread of its own makes, a few of them before they are asked for."""
    iterator, end = iter(items), object()
    pool = ThreadPoolExecutor(1, "fairpca-ahead")
    waiting = deque(pool.submit(next, iterator, end) for _ in range(depth))
    try:
        while (item := waiting.popleft().result()) is not end:
            waiting.append(pool.submit(next, iterator, end))
            yield item  # type: ignore[misc]
    finally:
        pool.shutdown(cancel_futures=True)
        getattr(iterator, "close", lambda: None)()


def share_blocks(
    work: Callable[[Sequence[slice]], Result], blocks: Sequence[slice], *, d: int
) -> list[Result]:
    """Return the results of `work` on runs of blocks of rows of `d` features, in their order.

    Results are taken to be of size d x d; there is a single one where threads would not pay. The
    work on one run must not touch what that on others touches.
    """
    threads = 1
    if d <= WIDEST and len(blocks) >= 4:
        threads = min(blas_threads(), len(blocks) // 2, max(1, ACCUMULATORS // d**2))
    if threads < 2:
        return [work(blocks)]
    edges = [round(i * len(blocks) / threads) for i in range(threads + 1)]
    return each_item(work, [blocks[a:b] for a, b in pairwise(edges)])
