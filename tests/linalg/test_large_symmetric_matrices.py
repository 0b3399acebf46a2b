"""Few eigenvectors of a large matrix: which solver, and when a fast one is not believed."""

import numpy as np
import pytest

from assertions import assert_orthonormal
from fairpca._numerics import linalg


def with_spectrum(values, seed=0):
    d = len(values)
    Q, _ = np.linalg.qr(np.random.default_rng(seed).normal(size=(d, d)))
    A = (Q * values) @ Q.T
    return 0.5 * (A + A.T)


def decaying(d, *first):
    return np.concatenate([first, 0.5 ** np.arange(1, d - len(first) + 1)])


@pytest.fixture
def used(monkeypatch):
    """Names of the solvers that were called; matrices are large from order 80 on."""
    monkeypatch.setattr(linalg, "SUBSET_FROM", 80)
    names = []

    def spy(name):
        solver = getattr(linalg, name)

        def called(A, k):
            names.append(name)
            return solver(A, k)

        monkeypatch.setattr(linalg, name, called)

    spy("_by_lanczos")
    spy("_by_inverse_iteration")
    namespace = linalg.array_namespace
    monkeypatch.setattr(linalg, "array_namespace", lambda A: names.append("full") or namespace(A))
    return names


@pytest.mark.parametrize(
    ("d", "k", "expected"),
    [
        (79, 4, ["full"]),
        (80, 4, ["_by_lanczos"]),
        (80, 5, ["_by_inverse_iteration"]),
        (80, 20, ["_by_inverse_iteration"]),
        (80, 21, ["full"]),
    ],
    ids=["small", "very few pairs", "few pairs", "a quarter", "many pairs"],
)
def test_the_solver_depends_on_the_order_and_the_number_of_pairs(used, d, k, expected):
    A = with_spectrum(decaying(d, 9.0, 8.0))
    values, vectors = linalg.top_eigenpairs(A, k)
    assert used == expected
    assert vectors.shape == (d, k)
    np.testing.assert_allclose(A @ vectors, vectors * values, atol=1e-12)
    assert np.all(np.diff(values) <= 0)


def test_a_large_matrix_of_another_library_goes_to_its_own_solver(used):
    strict = pytest.importorskip("array_api_strict")
    A = with_spectrum(decaying(80, 9.0))
    values, _ = linalg.top_eigenpairs(strict.asarray(A), 2)
    assert used == ["full"]
    np.testing.assert_allclose(np.asarray(values), [9.0, 0.5])


def test_matrices_are_large_from_order_800_on(monkeypatch):
    monkeypatch.setattr(linalg, "_by_lanczos", lambda A, k: "few of many")
    assert linalg.top_eigenpairs(np.eye(800), 1) == "few of many"
    assert linalg.top_eigenpairs(np.eye(799), 1) != "few of many"


def test_a_try_of_lanczos_is_cheap(monkeypatch):
    """Three restarts of a space of 2k + 10 vectors cost less than a direct solver."""
    seen = []
    eigsh = linalg.eigsh
    monkeypatch.setattr(linalg, "eigsh", lambda A, k, **o: seen.append(o) or eigsh(A, k, **o))
    for k in (1, 3, 20):
        linalg._by_lanczos(with_spectrum(decaying(120, *np.arange(30.0, 5.0, -1.0))), k)
        assert seen[-1]["maxiter"] <= 3
        assert seen[-1]["ncv"] <= 2 * k + 10


def test_a_flat_spectrum_is_left_to_the_direct_solver(used):
    A = with_spectrum(np.linspace(1, 2, 200))
    values, vectors = linalg.top_eigenpairs(A, 3)
    assert used == ["_by_lanczos", "_by_inverse_iteration"]
    np.testing.assert_allclose(A @ vectors, vectors * values, atol=1e-12)
    np.testing.assert_allclose(values, np.linspace(1, 2, 200)[:-4:-1])


def test_lanczos_gives_up_where_it_would_take_long():
    assert linalg._by_lanczos(with_spectrum(np.linspace(1, 2, 200)), 3) is None


def test_leading_means_largest_not_largest_in_size():
    A = with_spectrum(decaying(120, -50.0, 5.0, 4.0, 3.0))
    values, vectors = linalg._by_lanczos(A, 3)
    np.testing.assert_allclose(values, [5, 4, 3])
    np.testing.assert_allclose(A @ vectors, vectors * values, atol=1e-10)


@pytest.mark.parametrize("unit", [1e-12, 1.0, 1e12])
@pytest.mark.parametrize(
    ("spectrum", "believed"),
    [
        ((5, 4, 4, 3), False),
        ((5, 4, 3, 3), True),
        ((5, 4, 3, 2), True),
        ((5, 4, 3, 3.1), False),
        ((1e6, 4, 3, 3 + 5e-5), True),
    ],
    ids=["a copy of a middle one", "a copy of the last", "nothing", "a larger one", "rounding"],
)
def test_an_answer_that_misses_a_pair_is_not_believed(monkeypatch, spectrum, believed, unit):
    """A single start vector may see one copy of an eigenvalue only."""
    A = np.diag(unit * decaying(120, *spectrum))
    seen = [2 if spectrum[2] == 3 else 3, 1, 0]
    answer = np.diagonal(A)[seen], np.eye(120)[:, seen]
    monkeypatch.setattr(linalg, "eigsh", lambda *args, **kwargs: answer)
    found = linalg._by_lanczos(A, 3)
    assert (found is not None) == believed
    if believed:
        np.testing.assert_allclose(found[0], unit * np.array([spectrum[0], 4.0, 3.0]))


def test_the_same_matrix_gives_the_same_bytes():
    A = with_spectrum(decaying(120, 5.0, 4.0, 3.0))
    first, again = (linalg._by_lanczos(A, 3) for _ in range(2))
    for a, b in zip(first, again, strict=True):
        assert a.tobytes() == b.tobytes()


def test_what_is_left_over_is_measured_outside_the_given_span():
    values = decaying(100, 7.0, 6.0, 5.0)
    A = with_spectrum(values)
    order = np.argsort(np.linalg.eigvalsh(A))[::-1]
    V = np.linalg.eigh(A)[1][:, order]
    assert linalg._largest_left_over(A, V[:, :2]) == pytest.approx(5.0, rel=1e-6)
    assert linalg._largest_left_over(A, V[:, 1:3]) == pytest.approx(7.0, rel=1e-6)
    assert (
        linalg._largest_left_over(A, V[:, :2]).hex() == linalg._largest_left_over(A, V[:, :2]).hex()
    )


def test_inverse_iteration_pairs_each_value_with_its_vector():
    A = with_spectrum(np.arange(30.0))
    values, V = linalg._by_inverse_iteration(A, 5)
    np.testing.assert_allclose(values, [29, 28, 27, 26, 25])
    np.testing.assert_allclose(A @ V, V * values, atol=1e-11)
    assert_orthonormal(V)
