"""The share of variance kept, against the covariance formula and scikit-learn."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.decomposition import PCA

from fairpca.metrics import _moments as variance
from fairpca.metrics import explained_variance_ratio


def orthonormal_rows(rng, k, d):
    return np.linalg.qr(rng.normal(size=(d, k)))[0].T


@given(st.integers(0, 2**32 - 1), st.integers(1, 6), st.sampled_from([0.0, 1e4]))
def test_the_ratio_agrees_with_the_covariance_formula(seed, d, offset):
    rng = np.random.default_rng(seed)
    X = offset + rng.normal(size=(rng.integers(2, 30), d)) * rng.uniform(0.1, 10, size=d)
    U = orthonormal_rows(rng, int(rng.integers(1, d + 1)), d)
    A = np.atleast_2d(np.cov(X, rowvar=False))
    expected = np.trace(U @ A @ U.T) / np.trace(A)
    assert explained_variance_ratio(X, U) == pytest.approx(expected, abs=1e-8)


@given(st.integers(0, 2**32 - 1), st.integers(2, 6))
def test_a_subspace_and_its_complement_share_all_the_variance(seed, d):
    rng = np.random.default_rng(seed)
    X, U = rng.normal(size=(20, d)), orthonormal_rows(rng, d, d)
    parts = explained_variance_ratio(X, U[:1]), explained_variance_ratio(X, U[1:])
    assert sum(parts) == pytest.approx(1)


def test_on_the_training_rows_it_is_what_scikit_learn_reports():
    X = np.random.default_rng(0).normal(size=(80, 7)) * np.arange(1, 8)
    pca = PCA(3).fit(X)
    expected = pca.explained_variance_ratio_.sum()
    assert explained_variance_ratio(X, pca.components_) == pytest.approx(expected)


def test_float32_rows_far_from_zero_keep_their_digits():
    rng = np.random.default_rng(0)
    X = (1000 + rng.normal(size=(5000, 4))).astype(np.float32)
    U = orthonormal_rows(rng, 2, 4)
    expected = explained_variance_ratio(X.astype(np.float64), U)
    assert explained_variance_ratio(X, U) == pytest.approx(expected, rel=1e-9)


def test_the_ratio_does_not_depend_on_the_block_size(monkeypatch):
    rng = np.random.default_rng(0)
    X, U = rng.normal(size=(50, 4)), orthonormal_rows(rng, 2, 4)
    whole = explained_variance_ratio(X, U)
    monkeypatch.setattr(variance, "_BLOCK_ENTRIES", 12)
    assert explained_variance_ratio(X, U) == pytest.approx(whole, rel=1e-12)


def test_rows_that_are_not_orthonormal_are_refused_with_the_deviation():
    with pytest.raises(ValueError, match=r"not orthonormal.* by 3, more than 1e-6.*orth"):
        explained_variance_ratio(np.eye(3), [[2.0, 0.0, 0.0]])


def test_components_in_columns_are_refused():
    with pytest.raises(ValueError, match=r"shape \(3, 1\), but X has 3 features.*per row"):
        explained_variance_ratio(np.eye(3), [[1.0], [0.0], [0.0]])


def test_rows_without_variance_are_refused():
    with pytest.raises(ValueError, match=r"2 row\(s\) that are all equal.*variance is 0"):
        explained_variance_ratio(np.ones((2, 2)), [[1.0, 0.0]])
