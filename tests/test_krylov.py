import numpy as np
import pytest

from assertions import assert_orthonormal, assert_same_subspace
from fairpca._numerics.krylov import leading_eigenpairs


def symmetric(spectrum, seed=0):
    n = len(spectrum)
    Q = np.linalg.qr(np.random.default_rng(seed).standard_normal((n, n)))[0]
    A = (Q * spectrum) @ Q.T
    return 0.5 * (A + A.T), Q


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
    assert np.abs(residual).max() <= 1e-12 * scale


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
