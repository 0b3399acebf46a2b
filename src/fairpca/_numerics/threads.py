"""Work on blocks of rows side by side, one BLAS thread each.

BLAS splits one product over threads. For tall and thin data that is a poor bargain: products of
4096 x 100 blocks run two to four times faster when each thread takes blocks of its own.
"""

from __future__ import annotations

import multiprocessing
import os
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from functools import cache
from numbers import Integral
from threading import Lock, Thread, get_ident
from time import sleep
from typing import Any, TypeVar

import numpy as np
import threadpoolctl
from joblib import Parallel, cpu_count, delayed, effective_n_jobs
from threadpoolctl import ThreadpoolController

from ..errors import UsageError

Item = TypeVar("Item")
Result = TypeVar("Result")

WIDEST = 1024
"""Products of more features keep all BLAS threads busy by themselves."""

SMALL = 200
"""Matrices of fewer rows and columns are no work for several threads."""

ACCUMULATORS = 2**23
"""Most numbers that the d x d accumulators of all threads may hold together."""


@cache
def _blas() -> ThreadpoolController:
    return ThreadpoolController().select(user_api="blas")


def blas_threads() -> int:
    """Return how many threads BLAS may use now, as set by the environment or the user."""
    return max((library.num_threads for library in _blas().lib_controllers), default=1)


def blas_shares(d: int) -> bool:
    """Tell whether BLAS shares a d x d product of many rows among threads better than we would.

    It cuts the product into strips, a thread each, which must not be narrow. Measured: 200 features
    are enough for 2 threads; for 16, 500 are and 250 are not.
    """
    return d >= max(SMALL, 24 * blas_threads())


@cache
def _blas_of_scipy() -> ThreadpoolController:
    """SciPy's own BLAS, where it has one beside NumPy's (as in wheels)."""
    own = [b.filepath for b in _blas().lib_controllers if "scipy.libs" in b.filepath]
    return _blas().select(filepath=own)


def _release_blas() -> None:
    """Let any thread set limits: newer threadpoolctl lets one until it is done, and no other."""
    openblas = getattr(threadpoolctl, "OpenBLASController", None)
    getattr(openblas, "clear_controlling_thread", lambda force: None)(force=True)


def _set_threads(library: Any, threads: int) -> None:
    if library.num_threads != threads:
        _release_blas()
        library.set_num_threads(threads)
        _release_blas()


_asked: dict[tuple[str, int], list[int]] = {}  # of a library, by all that are inside
_before: dict[tuple[str, int], int] = {}  # what was set when nobody was
_lock = Lock()


@contextmanager
def _limited(libraries: ThreadpoolController, threads: int) -> Iterator[None]:
    """Limit libraries while anybody is inside, and restore what was set before.

    Several fits may run in threads of the caller, and most libraries have one number for all of
    them: the smallest limit that anybody asks for holds, and the last one out restores. If each
    restored what it found, as threadpoolctl does, the first one's limit could stay for good.
    """
    me = get_ident()
    of = {(b.filepath, me if _knows_threads(b) else 0): b for b in libraries.lib_controllers}
    with _lock:
        for key, library in of.items():
            _before.setdefault(key, library.num_threads)
            _asked.setdefault(key, []).append(threads)
            _set_threads(library, min(_asked[key]))
    try:
        yield
    finally:
        with _lock:
            for key, library in of.items():
                _asked[key].remove(threads)
                _set_threads(library, min(_asked[key], default=_before[key]))
                if not _asked[key]:
                    del _asked[key], _before[key]


def _knows_threads(library: Any) -> bool:
    """Return whether a library has a number for each thread, so that none can disturb another."""
    layer = getattr(library, "threading_layer", "")
    return library.internal_api == "mkl" or "openmp" in (library.user_api, layer)


def limited_threads(threads: int | None, *, of_scipy: bool = False) -> AbstractContextManager[None]:
    """Let BLAS, and so everything here, use so many threads inside; None changes nothing.

    SciPy routines that call back into NumPy limit the BLAS `of_scipy`: two pools of threads would
    fight for cores.
    """
    if threads is None:
        return nullcontext()
    return _limited(_blas_of_scipy() if of_scipy else _blas(), threads)


def threads_for(order: int) -> AbstractContextManager[None]:
    """Let BLAS use one thread inside for matrices so small that it takes longer to wake others.

    Those would spin for a while, too, and compete with what comes next.
    """
    return limited_threads(1) if order < SMALL and blas_threads() > 1 else nullcontext()


def one_thread() -> AbstractContextManager[None]:
    """For many small problems, where threads of BLAS and OpenMP would only wait for each other."""
    return _limited(ThreadpoolController(), 1)


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

    Each thread has one BLAS thread, and the caller's is one of them: where others get no core, it
    does all the work. `work` must not touch what the work on other items touches.
    """
    threads, waiting = blas_threads(), deque(enumerate(items))
    if threads < 2:
        return [work(item) for _, item in waiting]
    errors = np.geterr()  # belongs to a thread: what is silenced here is silenced there
    done: dict[int, Result] = {}

    def take() -> None:
        try:
            with np.errstate(**errors):
                while waiting:
                    i, item = waiting.popleft()
                    done[i] = work(item)
        except IndexError:
            if waiting:
                raise
        except BaseException:
            waiting.clear()  # nobody begins another one
            raise

    with limited_threads(1), pool_of(threads - 1) as pool:
        others = [pool.submit(take) for _ in range(min(threads, len(waiting)) - 1)]
        take()
        for other in others:
            other.result()
    return [done[i] for i in range(len(done))]


@contextmanager
def pool_of(threads: int, name: str = "fairpca") -> Iterator[ThreadPoolExecutor]:
    """Give threads for some tasks; none is left at the end, and none of the tasks begins then."""
    pool = ThreadPoolExecutor(threads, name)
    try:
        yield pool
    finally:
        pool.shutdown(cancel_futures=True)


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
    end_with(parent)
    with one_thread():
        return i, work(item)


@cache
def end_with(pid: int) -> None:
    """End this process soon after its parent, if that is its parent."""
    parent = multiprocessing.parent_process()
    if parent is None or parent.pid != pid:
        return

    def wait() -> None:
        while os.getppid() == pid if parent.sentinel is None else parent.is_alive():
            sleep(0.5)
        os._exit(1)

    Thread(target=wait, name="fairpca-parent", daemon=True).start()


def prefetch(items: Iterable[Item]) -> Generator[Item, None, None]:
    """Yield items that a thread of its own makes, a few of them before they are asked for."""
    iterator, end = iter(items), object()
    with ExitStack() as last, pool_of(1, "fairpca-prefetch") as pool:
        last.callback(getattr(iterator, "close", lambda: None))
        waiting = deque(pool.submit(next, iterator, end) for _ in range(2))
        while (item := waiting.popleft().result()) is not end:
            waiting.append(pool.submit(next, iterator, end))
            yield item  # type: ignore[misc]
