"""Minimisation over orthonormal bases."""

import numpy as np
import pytest

from assertions import assert_orthonormal, assert_same_subspace
from fairpca._numerics.stiefel import minimize_on_stiefel


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
