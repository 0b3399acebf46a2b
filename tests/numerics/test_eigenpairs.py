"""Few eigenvectors of large matrices: which solver, and when a fast one is not believed."""

import numpy as np
import pytest
import scipy.linalg

from assertions import assert_orthonormal, assert_same_subspace
from fairpca._numerics import linalg
from fairpca._numerics.krylov import leading_eigenpairs
from fairpca._numerics.linalg import SUBSET_FROM, top_eigenpairs
from optional_libraries import array_api_strict as strict


def symmetric(spectrum, seed=0):
    n = len(spectrum)
    Q = np.linalg.qr(np.random.default_rng(seed).standard_normal((n, n)))[0]
    A = (Q * spectrum) @ Q.T
    return 0.5 * (A + A.T), Q


def with_spectrum(values):
    return symmetric(values)[0]


def decaying(d, *first):
    return np.concatenate([first, 0.5 ** np.arange(1, d - len(first) + 1)])


@pytest.fixture
def used(monkeypatch):
    """Names of the solvers that were called; matrices are large from order 80 on."""
    monkeypatch.setattr(linalg, "SUBSET_FROM", 80)
    names = []

    def spy(name):
        solver = getattr(linalg, name)

        def called(A, k, **options):
            names.append(name)
            return solver(A, k, **options)

        monkeypatch.setattr(linalg, name, called)

    spy("_by_products")
    spy("_by_inverse_iteration")
    namespace = linalg.array_namespace
    monkeypatch.setattr(linalg, "array_namespace", lambda A: names.append("full") or namespace(A))
    return names


@pytest.mark.parametrize(
    ("d", "k", "expected"),
    [
        (79, 4, ["full"]),
        (80, 4, ["_by_products"]),
        (80, 5, ["_by_inverse_iteration"]),
        (80, 20, ["_by_inverse_iteration"]),
        (80, 21, ["full"]),
    ],
    ids=["small", "very few pairs", "few pairs", "a quarter", "many pairs"],
)
def test_the_solver_depends_on_the_order_and_the_number_of_pairs(used, d, k, expected):
    A = with_spectrum(decaying(d, 9.0, 8.0))
    values, vectors = top_eigenpairs(A, k)
    assert used == expected
    assert vectors.shape == (d, k)
    np.testing.assert_allclose(A @ vectors, vectors * values, atol=1e-12)
    assert np.all(np.diff(values) <= 0)


def test_a_large_matrix_of_another_library_goes_to_its_own_solver(used):
    A = with_spectrum(decaying(80, 9.0))
    values, _ = top_eigenpairs(strict.asarray(A), 2)
    assert used == ["full"]
    np.testing.assert_allclose(np.asarray(values), [9.0, 0.5])


def test_matrices_are_large_from_order_800_on(monkeypatch):
    monkeypatch.setattr(linalg, "_by_products", lambda A, k: "few of many")
    assert top_eigenpairs(np.eye(800), 1) == "few of many"
    assert top_eigenpairs(np.eye(799), 1) != "few of many"


@pytest.mark.parametrize("strong", [0, 10], ids=["flat", "flat but for ten"])
def test_nobody_waits_for_products_that_would_take_long(monkeypatch, strong):
    """A spectrum may be flat as a whole, which is known beforehand, or from the tenth pair on."""
    asked = []
    search = linalg.leading_eigenpairs

    def counted(apply, n, k, **limits):
        return search(lambda rows: asked.append(1) or apply(rows), n, k, **limits)

    monkeypatch.setattr(linalg, "leading_eigenpairs", counted)
    A = with_spectrum(np.r_[np.linspace(900, 500, strong), np.linspace(2, 1, 900 - strong)])
    assert linalg._by_products(A, 40) is None
    assert len(asked) <= (20 if strong else 0)


def test_a_flat_spectrum_is_left_to_the_direct_solver(used):
    A = with_spectrum(np.linspace(1, 2, 200))
    values, vectors = top_eigenpairs(A, 3)
    assert used == ["_by_products", "_by_inverse_iteration"]
    np.testing.assert_allclose(A @ vectors, vectors * values, atol=1e-12)
    np.testing.assert_allclose(values, np.linspace(1, 2, 200)[:-4:-1])


def test_leading_means_largest_not_largest_in_size():
    A = with_spectrum(decaying(120, -50.0, 5.0, 4.0, 3.0))
    values, vectors = linalg._by_products(A, 3)
    np.testing.assert_allclose(values, [5, 4, 3])
    np.testing.assert_allclose(A @ vectors, vectors * values, atol=1e-10)


@pytest.mark.parametrize("unit", [1e-12, 1.0, 1e12])
@pytest.mark.parametrize(
    "spectrum",
    [(5, 4, 4, 3), (5, 4, 3, 3), (5, 4, 3, 2), (1e6, 4, 3, 3 + 5e-5), (5, *[4] * 20)],
    ids=["a copy of a middle one", "a copy of the last", "none", "nearly one", "many"],
)
def test_no_copy_of_an_eigenvalue_is_missed(monkeypatch, spectrum, unit):
    monkeypatch.setattr(linalg, "SUBSET_FROM", 400)
    A = unit * with_spectrum(decaying(400, *spectrum))
    values, vectors = top_eigenpairs(A, 3)
    np.testing.assert_allclose(values, unit * np.sort(spectrum)[:-4:-1], rtol=1e-9)
    np.testing.assert_allclose(A @ vectors, vectors * values, atol=1e-9 * values[0])
    assert_orthonormal(vectors)


def test_the_same_matrix_gives_the_same_bytes():
    A = with_spectrum(decaying(120, 5.0, 4.0, 3.0))
    first, again = (linalg._by_products(A, 3) for _ in range(2))
    for a, b in zip(first, again, strict=True):
        assert a.tobytes() == b.tobytes()


def test_inverse_iteration_pairs_each_value_with_its_vector():
    A = with_spectrum(np.arange(30.0))
    values, V = linalg._by_inverse_iteration(A, 5)
    np.testing.assert_allclose(values, [29, 28, 27, 26, 25])
    np.testing.assert_allclose(A @ V, V * values, atol=1e-11)
    assert_orthonormal(V)


@pytest.mark.parametrize("unit", [1e-30, 1.0, 1e60])
def test_a_matrix_of_single_precision_is_decomposed_in_it(unit):
    """Eigenvectors err by the rounding of the matrix; they are orthonormal to all digits."""
    A = unit * with_spectrum(np.linspace(1, 2, 850))
    exact = np.linalg.eigvalsh(A)
    values, V = top_eigenpairs(A, 20, single=True)
    assert_orthonormal(V)
    np.testing.assert_allclose(values, exact[:-21:-1], rtol=1e-7)
    np.testing.assert_allclose(A @ V, V * values, atol=2e-5 * unit)


@pytest.mark.parametrize("d", [6, 850])
@pytest.mark.parametrize("k", [1, 3])
def test_top_eigenpairs_agree_with_a_full_decomposition(d, k):
    rng = np.random.default_rng(0)
    A = rng.normal(size=(d, d))
    A = A + A.T
    values, vectors = top_eigenpairs(A, k)
    full_values, full_vectors = np.linalg.eigh(A)
    np.testing.assert_allclose(values, full_values[::-1][:k])
    assert_same_subspace(vectors, full_vectors[:, ::-1][:, :k])


@pytest.mark.parametrize("spectrum", ["decaying", "flat", "double"])
def test_large_matrices_with_any_spectrum(spectrum):
    d, k = 900, 20
    values = {
        "decaying": np.exp(-np.arange(d) / 10),
        "flat": 1 + np.linspace(1e-3, 0, d),
        "double": np.repeat(np.exp(-np.arange(d // 2) / 10), 2),
    }[spectrum]
    A, Q = symmetric(values)
    found, U = top_eigenpairs(A, k)
    np.testing.assert_allclose(found, values[:k], rtol=1e-10)
    assert_orthonormal(U)
    assert_same_subspace(U, Q[:, :k], atol=1e-7)


def test_a_cluster_of_equal_eigenvalues_still_gives_orthonormal_vectors():
    values, vectors = top_eigenpairs(np.eye(850), 20)
    np.testing.assert_allclose(values, 1)
    assert_orthonormal(vectors)


SPECTRA = {
    "decaying": 0.9 ** np.arange(500),
    "slowly decaying": 1.0 / np.arange(1, 501),
    "seven equal ones": np.r_[np.full(7, 3.0), 0.8 ** np.arange(493)],
    "one direction": np.r_[1.0, np.zeros(499)],
    "thirty directions": np.r_[np.linspace(2, 1, 30), np.zeros(470)],
    "zero": np.zeros(500),
    "with a negative part": np.r_[np.linspace(20, 10, 20), -np.linspace(0, 5, 480)],
}


@pytest.mark.parametrize("name", SPECTRA)
@pytest.mark.parametrize("k", [1, 5, 12])
def test_it_finds_the_leading_eigenpairs_to_rounding(name, k):
    A, _ = symmetric(SPECTRA[name])
    found = leading_eigenpairs(lambda rows: rows @ A, 500, k)
    true = np.sort(SPECTRA[name])[::-1][:k]
    scale = max(np.abs(SPECTRA[name]).max(), 1e-300)
    assert found.converged
    np.testing.assert_allclose(found.values, true, atol=1e-12 * scale)
    assert_orthonormal(found.vectors)
    residual = A @ found.vectors - found.vectors * found.values
    # Of "thirty directions" 1e-13 to 5e-12, by the kind of processor and the number of threads.
    assert np.abs(residual).max() <= 1e-11 * scale


@pytest.mark.parametrize("rank", [29, 30, 33])
def test_an_exhausted_space_stays_orthonormal(rank):
    """The last blocks of a matrix of low rank have hardly anything that is new."""
    for seed in range(6):
        A, _ = symmetric(np.r_[np.linspace(2, 1, rank), np.zeros(300 - rank)], seed)
        found = leading_eigenpairs(lambda rows, A=A: rows @ A, 300, 5)
        assert found.converged
        assert np.abs(A @ found.vectors - found.vectors * found.values).max() <= 3e-13


def test_restarts_keep_what_was_found():
    spectrum = np.r_[1.01 + 0.01 * np.arange(10)[::-1], np.linspace(1.0, 0.9, 590)]
    A, Q = symmetric(spectrum)
    found = leading_eigenpairs(lambda rows: rows @ A, 600, 10, products=200)
    assert found.converged
    assert_same_subspace(found.vectors, Q[:, :10], atol=1e-8)


def test_a_flat_spectrum_is_reported_as_not_converged():
    A, _ = symmetric(1 + 1e-3 * np.linspace(0, 1, 500))
    found = leading_eigenpairs(lambda rows: rows @ A, 500, 3, products=15)
    assert not found.converged
    assert found.residual > 1e-13
    true = np.linalg.norm(A @ found.vectors - found.vectors * found.values, axis=0).max()
    np.testing.assert_allclose(found.residual * found.values[0], true, rtol=1e-3)


def test_a_coarse_tolerance_saves_products():
    A, _ = symmetric(1.0 / np.arange(1, 501))
    calls = {}
    for tol in (0.0, 1e-3):
        counted = []
        leading_eigenpairs(lambda rows, c=counted: c.append(1) or rows @ A, 500, 5, tol=tol)
        calls[tol] = len(counted)
    assert calls[1e-3] < calls[0.0]


def test_small_operators_are_solved_directly():
    A, _ = symmetric(np.arange(10.0))
    found = leading_eigenpairs(lambda rows: rows @ A, 10, 9)
    np.testing.assert_allclose(found.values, np.arange(9.0, 0, -1))
    assert found.smallest == pytest.approx(0.0, abs=1e-12)


def test_the_smallest_value_shows_a_negative_part():
    A, _ = symmetric(np.r_[5.0, np.linspace(1, 0, 598), -2.0])
    found = leading_eigenpairs(lambda rows: rows @ A, 600, 2)
    assert found.smallest == pytest.approx(-2.0, rel=1e-3)


def test_more_copies_of_an_eigenvalue_than_the_block_is_wide_are_all_found():
    A, Q = symmetric(np.r_[np.full(20, 3.0), 2.0 * 0.8 ** np.arange(780)])
    found = leading_eigenpairs(lambda rows: rows @ A, 800, 16)
    np.testing.assert_allclose(found.values, 3.0)
    inside = Q[:, :20]
    np.testing.assert_allclose(inside @ (inside.T @ found.vectors), found.vectors, atol=1e-9)


def test_where_lapack_fails_for_a_few_eigenvectors_all_are_computed(monkeypatch):
    A = np.diag(np.arange(float(SUBSET_FROM)))

    def failing(*arguments, **options):
        raise np.linalg.LinAlgError("did not converge")

    monkeypatch.setattr(scipy.linalg, "eigh", failing)
    k = SUBSET_FROM // 8
    values, vectors = top_eigenpairs(A, k)
    np.testing.assert_allclose(values, np.diag(A)[: -k - 1 : -1])
    np.testing.assert_allclose(A @ vectors, vectors * values, atol=1e-10)
