"""Orthonormal bases: what they keep, and what they do at the edges."""

import numpy as np
import pytest

from assertions import assert_orthonormal, assert_same_subspace
from fairpca._numerics.linalg import (
    deflate,
    deterministic_signs,
    orthonormalize,
    row_space,
)


def test_a_nearly_orthonormal_basis_moves_to_the_nearest_orthonormal_one(asarray):
    rng = np.random.default_rng(0)
    Q, _ = np.linalg.qr(rng.normal(size=(20, 4)))
    U = Q + 1e-10 * rng.normal(size=(20, 4))
    left, _, right = np.linalg.svd(U, full_matrices=False)
    cleaned = np.asarray(orthonormalize(asarray(U)))
    np.testing.assert_allclose(cleaned, left @ right, rtol=0, atol=1e-15)


def test_directions_are_kept_column_by_column(asarray):
    U = np.random.default_rng(1).normal(size=(9, 5))
    Q = np.asarray(orthonormalize(asarray(U)))
    assert_orthonormal(Q)
    triangle = Q.T @ U
    np.testing.assert_allclose(np.tril(triangle, -1), 0, atol=1e-12)
    assert np.all(np.diag(triangle) > 0)


def test_a_column_of_zeros_becomes_some_direction():
    U = np.array([[3.0, 0.0, -1.0], [0.0, 0.0, 2.0], [4.0, 0.0, 0.0], [0.0, 0.0, 0.0]])
    assert_orthonormal(orthonormalize(U))


@pytest.mark.parametrize("noise", [1e-10, 1.0], ids=["nearly orthonormal", "any"])
def test_the_precision_of_a_basis_is_kept(noise):
    U = (np.eye(4, 2) + noise * np.ones((4, 2))).astype(np.float32)
    assert orthonormalize(U).dtype == np.float32


@pytest.mark.parametrize("shape", [(0, 5), (3, 0), (0, 0)])
def test_no_rows_span_nothing(asarray, shape):
    coefficients, basis = row_space(asarray(np.zeros(shape)), tol=0.0)
    assert coefficients.shape == (0, shape[0])
    assert basis.shape == (shape[1], 0)


def test_a_singular_value_equal_to_the_tolerance_is_rounding():
    rows = np.diag([2.0, 0.5])
    assert row_space(rows, tol=0.5)[1].shape == (2, 1)
    assert row_space(rows, tol=0.25)[1].shape == (2, 2)


def test_a_column_of_zeros_has_no_sign_to_flip():
    assert not np.signbit(deterministic_signs(np.zeros((3, 1)))).any()


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
    assert row_space(np.zeros((2, 4)), tol=1e-9)[1].shape == (4, 0)


def test_signs_are_deterministic(asarray):
    U = np.array([[0.6, -0.8], [-0.8, -0.6]])
    flipped = np.asarray(deterministic_signs(asarray(U)))
    np.testing.assert_array_equal(flipped, [[-0.6, 0.8], [0.8, 0.6]])
    np.testing.assert_array_equal(np.asarray(deterministic_signs(asarray(-U))), flipped)
