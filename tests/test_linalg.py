import numpy as np
import pytest

from assertions import assert_orthonormal, assert_same_subspace
from fairpca._numerics import linalg
from fairpca._numerics.linalg import (
    complete_basis,
    deflate,
    deterministic_signs,
    orthonormalize,
    row_space,
    top_eigenpairs,
)


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
    rng = np.random.default_rng(3)
    Q, _ = np.linalg.qr(rng.normal(size=(d, d)))
    values = {
        "decaying": np.exp(-np.arange(d) / 10),
        "flat": 1 + np.linspace(1e-3, 0, d),
        "double": np.repeat(np.exp(-np.arange(d // 2) / 10), 2),
    }[spectrum]
    found, U = top_eigenpairs((Q * values) @ Q.T, k)
    np.testing.assert_allclose(found, values[:k], rtol=1e-10)
    assert_orthonormal(U)
    assert_same_subspace(U, Q[:, :k], atol=1e-7)


def test_a_cluster_of_equal_eigenvalues_still_gives_orthonormal_vectors():
    values, vectors = top_eigenpairs(np.eye(850), 20)
    np.testing.assert_allclose(values, 1)
    assert_orthonormal(vectors)


def test_deflation_equals_its_definition(asarray):
    rng = np.random.default_rng(1)
    S = rng.normal(size=(6, 6))
    S = S @ S.T
    Q, _ = np.linalg.qr(rng.normal(size=(6, 2)))
    P = np.eye(6) - Q @ Q.T
    deflated = np.asarray(deflate(asarray(S), asarray(Q), tau=2.5))
    np.testing.assert_allclose(deflated, P @ S @ P - 2.5 * Q @ Q.T, atol=1e-12)


def test_the_row_space_ignores_what_the_tolerance_calls_rounding():
    rows = np.array([[1.0, 0, 0], [1.0, 1e-9, 0], [0, 0, 1.0]])
    coefficients, basis = row_space(rows, tol=1e-6)
    assert coefficients.shape == (2, 3)
    assert_same_subspace(basis, np.eye(3)[:, [0, 2]])
    assert row_space(rows, tol=1e-12)[1].shape == (3, 3)


def test_no_rows_span_nothing():
    coefficients, basis = row_space(np.zeros((2, 4)), tol=1e-9)
    assert coefficients.shape == (0, 2)
    assert basis.shape == (4, 0)


def test_orthonormalize_keeps_leading_spans_and_directions():
    rng = np.random.default_rng(2)
    U, _ = np.linalg.qr(rng.normal(size=(8, 3)))
    cleaned = orthonormalize(U + 1e-7 * rng.normal(size=U.shape))
    assert_orthonormal(cleaned)
    np.testing.assert_allclose(cleaned, U, atol=1e-5)


def test_a_basis_is_completed_outside_what_must_be_avoided():
    pair = np.array([[1.0, 0], [1, 0], [0, 1], [0, 1]]) / np.sqrt(2)
    Q, U = pair[:, :1], pair[:, 1:]
    completed = complete_basis(U, Q, 3)
    assert_orthonormal(np.hstack([Q, completed]))
    np.testing.assert_array_equal(completed[:, :1], U)


def test_signs_are_deterministic(asarray):
    U = np.array([[0.6, -0.8], [-0.8, -0.6]])
    flipped = np.asarray(deterministic_signs(asarray(U)))
    np.testing.assert_array_equal(flipped, [[-0.6, 0.8], [0.8, 0.6]])
    np.testing.assert_array_equal(np.asarray(deterministic_signs(asarray(-U))), flipped)


def test_an_eigenvector_that_lanczos_missed_is_noticed(monkeypatch):
    A = np.diag(np.exp(-np.arange(900.0) / 10))
    original = linalg.eigsh

    def forgetful(A, k, **options):
        values, vectors = original(A, k + 1, **options | {"ncv": 2 * k + 12})
        return values[:-1], vectors[:, :-1]  # without the largest

    monkeypatch.setattr(linalg, "eigsh", forgetful)
    values, _ = top_eigenpairs(A, 10)
    assert values[0] == pytest.approx(1.0)
