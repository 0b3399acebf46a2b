"""Minimisation over orthonormal bases."""

import numpy as np
import pytest

from assertions import assert_orthonormal, assert_same_subspace
from fairpca._numerics.stiefel import Stiefel, _column_scaling, minimize_on_stiefel


def symmetric(s, seed):
    A = np.random.default_rng(seed).normal(size=(s, s))
    return A + A.T


def orthonormal(s, k, seed=0):
    return np.linalg.qr(np.random.default_rng(seed).normal(size=(s, k)))[0]


@pytest.mark.parametrize(("s", "k"), [(2, 1), (5, 5), (20, 3), (60, 10)])
def test_the_smallest_eigenvectors_minimise_the_trace(s, k):
    A = symmetric(s, 0)
    found = minimize_on_stiefel(
        lambda L: (np.vdot(L, A @ L), 2 * A @ L), orthonormal(s, k), tol=1e-9
    )
    values, V = np.linalg.eigh(A)
    assert found.value == pytest.approx(values[:k].sum(), rel=1e-9)
    assert_orthonormal(found.L)
    assert_same_subspace(found.L, V[:, :k], atol=1e-6)
    assert found.gradient_norm <= 1e-6 * np.linalg.norm(A, 2)


def test_a_function_that_depends_on_the_basis_and_not_only_on_its_span():
    """The nearest orthonormal matrix is the polar factor."""
    M = np.random.default_rng(1).normal(size=(7, 3))
    left, _, right = np.linalg.svd(M, full_matrices=False)
    found = minimize_on_stiefel(
        lambda L: (float(np.sum((L - M) ** 2)), 2 * (L - M)), orthonormal(7, 3), tol=1e-9
    )
    np.testing.assert_allclose(found.L, left @ right, atol=1e-7)


def test_the_number_of_steps_is_limited():
    A = symmetric(50, 2)
    calls = []

    def objective(L):
        calls.append(1)
        return np.vdot(L, A @ L), 2 * A @ L

    found = minimize_on_stiefel(objective, orthonormal(50, 5), tol=0.0, max_steps=3)
    assert found.evaluations == len(calls) < 60
    assert_orthonormal(found.L)


def test_at_a_minimum_it_stays():
    V = np.linalg.eigh(symmetric(8, 3))[1][:, :2]
    A = symmetric(8, 3)
    found = minimize_on_stiefel(lambda L: (np.vdot(L, A @ L), 2 * A @ L), V, tol=1e-9)
    assert found.evaluations == 1
    np.testing.assert_array_equal(found.L, V)


@pytest.mark.parametrize("far", [1e-9, 0.1, 1.0, 30.0])
def test_near_and_far_points_are_pulled_back_to_the_same_factor(far):
    """Gram matrix or reflections: the orthonormal factor with a positive diagonal is one."""
    L = orthonormal(9, 4)
    W = L + far * np.random.default_rng(1).normal(size=(9, 4)) / 6
    Q = Stiefel().retract(W)
    assert_orthonormal(Q)
    triangle = Q.T @ W
    np.testing.assert_allclose(np.tril(triangle, -1), 0, atol=1e-13 * np.abs(W).max())
    assert np.all(np.diag(triangle) > 0)
    np.testing.assert_allclose(Q @ triangle, W, atol=1e-13 * np.abs(W).max())


def test_scaled_columns_find_the_same_in_fewer_steps_where_a_spectrum_decays():
    V = np.linalg.eigh(symmetric(80, 4))[1]
    A = (V * -(np.arange(1, 81) ** -1.5)) @ V.T
    start = np.linalg.qr(V[:, :8] + 0.05 * V[:, 8:16])[0]
    plain, scaled = (
        minimize_on_stiefel(
            lambda L: (np.vdot(L, A @ L), 2 * A @ L), start, tol=1e-7, scaled=scaled
        )
        for scaled in (False, True)
    )
    assert scaled.gradient_norm <= 1e-7
    assert scaled.value == pytest.approx(plain.value, rel=1e-9)
    assert_orthonormal(scaled.L)
    assert scaled.evaluations < 0.7 * plain.evaluations


def test_without_curvature_along_the_columns_nothing_is_scaled():
    L = orthonormal(6, 2)
    assert _column_scaling(L, L) is None
    scale = _column_scaling(L, -L * [4.0, 1e-9])
    np.testing.assert_allclose(scale(L), L / [4.0, 4e-3])
