"""Threads of the caller may share estimators, and fit at the same time."""

import threading
import warnings
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from blas import release_blas
from fairpca import FairPCA
from fairpca.metrics import leakage
from registry import ESTIMATORS, fitted_once, small_rows
from slow import first_fast

THREADS = 4


def at_once(call, arguments):
    """Call in several threads that start together; the first error of any is raised."""
    gate = threading.Barrier(len(arguments))

    def waiting(argument):
        gate.wait(30)
        return call(argument)

    with ThreadPoolExecutor(len(arguments)) as pool:
        return list(pool.map(waiting, arguments))


def set_threads():
    """How many threads each library may use in this thread, by its file."""
    return {library["filepath"]: library["num_threads"] for library in threadpool_info()}


@pytest.fixture
def two_threads():
    """Two BLAS and OpenMP threads, as on a machine with two idle cores."""
    limit = threadpool_limits(2)
    release_blas()  # otherwise newer threadpoolctl would ignore what other threads set
    yield
    release_blas()
    limit.restore_original_limits()


@pytest.mark.parametrize("name", ESTIMATORS)
def test_threads_that_share_an_estimator_get_the_rows_they_asked_for(name):
    model = fitted_once(name)
    asked = [small_rows(20 + 7 * i, seed=i)[0] for i in range(THREADS)]
    expected = [model.transform(X) for X in asked]
    found = at_once(lambda X: [model.transform(X) for _ in range(5)], asked)
    for each, alone in zip(found, expected, strict=True):
        for T in each:
            np.testing.assert_array_equal(T, alone)


def test_the_first_use_of_a_stream_by_several_threads_solves_it_once_for_all():
    X, sex, _ = small_rows(500)
    expected = FairPCA(2).fit(X, sensitive_features=sex).transform(X)
    for _ in range(10):
        stream = FairPCA(2).partial_fit(X, sensitive_features=sex)  # not solved yet
        for T in at_once(stream.transform, [X] * THREADS):
            np.testing.assert_allclose(T, expected, atol=1e-10)


def test_fits_of_all_kinds_at_once_give_what_each_gives_alone(two_threads):
    names = [name for name in ESTIMATORS if "held-out" not in name][::2]
    X, sex, y = small_rows()
    expected = {name: fitted_once(name).transform(X) for name in names}
    before = set_threads()

    def fit(part):
        return {n: ESTIMATORS[n].made().fit(X, y, sensitive_features=sex) for n in part}

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # few steps and few rows; one filter for all threads
        found = at_once(fit, [names[i::THREADS] for i in range(THREADS)])
    assert set_threads() == before
    for models in found:
        for name, model in models.items():
            T = model.transform(X)
            np.testing.assert_allclose(T, expected[name], atol=1e-7, err_msg=name)


def test_measures_in_several_threads_leave_the_threads_of_blas_as_they_were(two_threads):
    X, sex, _ = small_rows(200)
    alone = leakage(X, sex, n_permutations=20, random_state=0)
    before = set_threads()
    for _ in range(3):
        found = at_once(
            lambda seed: leakage(X, sex, n_permutations=20, random_state=seed), [0] * THREADS
        )
        assert set_threads() == before
        assert [str(one) for one in found] == [str(alone)] * THREADS


@pytest.mark.parametrize("threads", first_fast([2, 3]))
@pytest.mark.parametrize("name", ["fair pca", "matched covariances", "iterative solver", "leace"])
def test_the_number_of_blas_threads_changes_a_fit_by_rounding_only(name, threads):
    X, sex, y = small_rows(40_000, 9)

    def projector(n):
        with threadpool_limits(n, user_api="blas"):
            model = ESTIMATORS[name].made().fit(X, y, sensitive_features=sex)
        U = getattr(model, "components_", None)
        return model.transform(X[:50]) if U is None else U.T @ U

    np.testing.assert_allclose(projector(threads), projector(1), atol=1e-8)


@pytest.mark.parametrize("n_jobs", first_fast([2, -1]))
@pytest.mark.parametrize("name", ["fair pca", "with a trade-off", "rbf kernel", "nystroem"])
def test_n_jobs_changes_a_fit_by_rounding_only(name, n_jobs):
    X, sex, y = small_rows(600)
    one, more = (
        ESTIMATORS[name].made().set_params(n_jobs=n).fit(X, y, sensitive_features=sex)
        for n in (1, n_jobs)
    )
    np.testing.assert_allclose(more.transform(X), one.transform(X), atol=1e-8)
