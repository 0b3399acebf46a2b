"""Items shared by threads, and BLAS as it was found."""

import os
import signal
import subprocess
import sys
import threading

import numpy as np
import pytest
from threadpoolctl import threadpool_limits

from fairpca import FairPCA
from fairpca._numerics import threads
from fairpca._numerics.threads import (
    blas_threads,
    each_item,
    limited_threads,
    prefetch,
)
from fairpca.errors import UsageError
from fairpca.moments import collect_moments
from systems import posix


@pytest.mark.parametrize("threads", [1, 2, 5])
def test_every_item_is_worked_on_once_and_in_order(threads):
    taken = []

    def work(item):
        taken.append(item)
        return item**2

    with threadpool_limits(threads, user_api="blas"):
        assert each_item(work, range(11)) == [item**2 for item in range(11)]
    assert sorted(taken) == list(range(11))


def test_blas_has_one_thread_inside_and_its_own_number_afterwards():
    with threadpool_limits(2, user_api="blas"):
        assert each_item(lambda item: blas_threads(), range(8)) == [1] * 8
        assert blas_threads() == 2


def test_what_a_thread_raises_is_raised_here_after_what_came_before():
    def items():
        yield 1
        raise RuntimeError("later")

    seen = prefetch(items())
    assert next(seen) == 1
    with pytest.raises(RuntimeError, match="later"):
        next(seen)


def test_fits_in_several_threads_do_not_leave_blas_with_one_thread():
    rng = np.random.default_rng(0)
    X, z = rng.normal(size=(40_000, 8)), rng.integers(0, 2, 40_000)
    expected = FairPCA(2).fit(X, sensitive_features=z).components_
    found = []

    def fit():
        for _ in range(5):
            fair = FairPCA(2).fit(X, sensitive_features=z)
            found.append(fair.components_)

    with threadpool_limits(2, user_api="blas"):
        threads = [threading.Thread(target=fit) for _ in range(4)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        assert blas_threads() == 2
    assert len(found) == 20
    for components in found:
        np.testing.assert_allclose(components, expected, atol=1e-9)


def test_whoever_leaves_last_restores_the_threads_of_blas():
    entered, first_left = threading.Event(), threading.Event()

    def second():
        with limited_threads(1):
            entered.set()
            first_left.wait(10)

    with threadpool_limits(2, user_api="blas"):
        with limited_threads(1):
            thread = threading.Thread(target=second)
            thread.start()
            assert entered.wait(10)
        first_left.set()
        thread.join()
        assert blas_threads() == 2


def test_any_thread_can_limit_blas_once_others_are_done():
    seen = []

    def limit():
        with limited_threads(1):
            seen.append(blas_threads())

    with threadpool_limits(2, user_api="blas"):
        limit()
        thread = threading.Thread(target=limit)
        thread.start()
        thread.join()
        assert seen == [1, 1]
        assert blas_threads() == 2


def test_without_a_blas_that_is_known_everything_is_the_same(monkeypatch):
    """As on macOS, whose Accelerate has its threads to itself."""
    X, z = np.random.default_rng(0).normal(size=(5000, 30)), np.resize(["a", "b", "c"], 5000)
    known = FairPCA(2).fit(X, sensitive_features=z)
    monkeypatch.setattr(threads, "_blas", lambda: threads.ThreadpoolController().select(prefix=""))
    assert threads.blas_threads() == 1
    with threads.limited_threads(1), threads.one_thread():
        fair = FairPCA(2).fit(X, sensitive_features=z)
    np.testing.assert_allclose(np.abs(fair.components_ @ known.components_.T), np.eye(2), atol=1e-9)


PARENT = """
import os, time
import numpy as np
from fairpca._numerics import each_in_processes

def work(rows):
    os.write(1, f"{os.getpid()}\\n".encode())
    time.sleep(300)

list(each_in_processes(work, [np.zeros(2**18)] * 2, 2))
"""


@posix
@pytest.mark.parametrize("ending", ["SIGTERM", "SIGKILL"])
def test_processes_end_with_their_parent_and_rows_are_in_no_file(tmp_path, ending):
    ending = getattr(signal, ending)
    running = subprocess.Popen(
        [sys.executable, "-c", PARENT],
        env={**os.environ, "JOBLIB_TEMP_FOLDER": str(tmp_path), "TMPDIR": str(tmp_path)},
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    workers = {int(running.stdout.readline()) for _ in range(2)}
    files = [path for path in tmp_path.rglob("*") if path.is_file()]
    running.send_signal(ending)
    rest, _ = running.communicate(timeout=60)  # until nobody can write any more
    assert (len(workers), rest, running.returncode) == (2, "", -ending)
    assert files == []


@pytest.mark.parametrize("with_scatters", [False, True])
def test_the_number_of_threads_changes_moments_by_rounding_only(with_scatters):
    rng = np.random.default_rng(1)
    X, z = rng.normal(size=(40_000, 5)) + 100, rng.integers(0, 3, 40_000)
    with threadpool_limits(1, user_api="blas"):
        one = collect_moments(X, z, with_scatters=with_scatters)
    with threadpool_limits(3, user_api="blas"):
        three = collect_moments(X, z, with_scatters=with_scatters)
        again = collect_moments(X, z, with_scatters=with_scatters)
    np.testing.assert_allclose(three.scatter.matrix, one.scatter.matrix, rtol=1e-10)
    np.testing.assert_array_equal(three.scatter.matrix, again.scatter.matrix)
    for a, b in zip(
        one.attributes[0].scatters or (), three.attributes[0].scatters or (), strict=True
    ):
        np.testing.assert_allclose(a.matrix, b.matrix, rtol=1e-10)


@pytest.mark.parametrize(
    ("asked", "started"), [(None, 5), (1, 1), (2, 2), (100_000, 4), (np.int64(9), 4), (-1, 4)]
)
def test_no_more_is_started_than_there_are_cores(monkeypatch, asked, started):
    for name, cores in (
        ("cpu_count", lambda: 4),
        ("effective_n_jobs", lambda n: n if n > 0 else 4),
    ):
        monkeypatch.setattr(threads, name, cores)
    assert threads.allowed_jobs(asked, usual=5) == started


def test_more_may_be_started_where_they_wait(monkeypatch):
    monkeypatch.setattr(threads, "cpu_count", lambda: 4)
    assert threads.allowed_jobs(100_000, usual=1, most=32) == 32
    with pytest.raises(UsageError, match="n_jobs=0"):
        threads.allowed_jobs(0, usual=1)
