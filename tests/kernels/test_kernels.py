"""Kernels as scikit-learn has them, and the feature maps that stand for them."""

import numpy as np
import pytest
import scipy.sparse
from sklearn.metrics.pairwise import pairwise_kernels

from fairpca._kernels import (
    KERNELS,
    Kernel,
    KernelColumns,
    RandomFeatures,
    kernel_matrix,
    pilot_centre,
    scale_gamma,
    whitening,
)
from fairpca._rows import Rows

PARAMETERS = {
    "rbf": {"gamma": 0.7},
    "laplacian": {"gamma": 0.7},
    "poly": {"gamma": 0.7, "degree": 3, "coef0": 0.5},
    "sigmoid": {"gamma": 0.7, "coef0": 0.5},
    "cosine": {},
    "linear": {},
}

RNG = np.random.default_rng(0)
DENSE = RNG.normal(size=(1100, 5))
SPARSE = scipy.sparse.csr_array(scipy.sparse.random(1100, 9, density=0.3, random_state=0))


@pytest.mark.parametrize("name", KERNELS)
@pytest.mark.parametrize(
    "X",
    [DENSE, DENSE.astype(np.float32), SPARSE, scipy.sparse.csr_matrix(SPARSE)],
    ids=["dense", "float32", "sparse array", "sparse matrix"],
)
def test_values_are_those_of_scikit_learn(name, X):
    expected = pairwise_kernels(X, metric=name, **PARAMETERS[name])
    K = kernel_matrix(Kernel(name, **PARAMETERS[name]), X)
    rtol = 1e-12 if X.dtype == np.float64 else 2e-5
    np.testing.assert_allclose(K, expected, atol=rtol * np.abs(expected).max())
    np.testing.assert_array_equal(K, K.T)
    assert K.dtype == X.dtype
    few = Kernel(name, **PARAMETERS[name])(X[:7], X[3:9])
    np.testing.assert_allclose(few, expected[:7, 3:9], atol=rtol * np.abs(expected).max())


@pytest.mark.parametrize("degree", [1, 2, 3, 5, 6, 8, 2.5])
def test_powers_are_powers(degree):
    X = np.abs(DENSE[:20])
    K = Kernel("poly", degree=degree)(X, X)
    np.testing.assert_allclose(K, (X @ X.T + 1.0) ** degree, rtol=1e-12)


def test_a_row_of_zeros_has_cosine_zero_with_everything():
    X = np.vstack([np.zeros(3), np.eye(3)])
    np.testing.assert_array_equal(Kernel("cosine")(X, X)[0], 0.0)


def test_a_centre_saves_the_digits_of_rows_far_from_the_origin():
    X = DENSE[:200] + 1e7
    expected = pairwise_kernels(DENSE[:200] + 1e7 - 1e7, metric="rbf", gamma=0.7)
    K = kernel_matrix(Kernel("rbf", gamma=0.7, centre=X.mean(axis=0)), X)
    np.testing.assert_allclose(K, expected, atol=1e-12)
    without = kernel_matrix(Kernel("rbf", gamma=0.7), X)
    assert np.abs(without - expected).max() > 1e-3


def test_a_function_gets_its_parameters():
    def overlap(a, b, *, power):
        return float(np.minimum(a, b).sum() ** power)

    X = np.abs(DENSE[:12])
    kernel = Kernel(overlap, parameters={"power": 2})
    expected = np.minimum(X[:, None], X[None]).sum(axis=2) ** 2
    np.testing.assert_allclose(kernel_matrix(kernel, X), expected)
    np.testing.assert_allclose(kernel(X[:5], X), expected[:5])


@pytest.mark.parametrize(
    ("kernel", "positive"),
    [
        (Kernel("rbf"), True),
        (Kernel("poly", degree=2), True),
        (Kernel("poly", degree=2.5), False),
        (Kernel("poly", coef0=-1.0), False),
        (Kernel("sigmoid"), False),
        (Kernel(min), False),
    ],
)
def test_it_is_known_which_kernels_are_positive(kernel, positive):
    assert kernel.is_positive == positive


DRAWS = np.random.default_rng(1)
X = DRAWS.normal(size=(150, 3))


@pytest.mark.parametrize("name", ["rbf", "laplacian"])
def test_products_of_random_features_approach_the_kernel(name):
    kernel = Kernel(name, gamma=0.4)
    K = kernel_matrix(kernel, X)
    errors = []
    for p in (100, 10_000):
        F = RandomFeatures.draw(kernel, p, np.zeros(3), seed=0)(X)
        assert F.shape == (150, p)
        errors.append(np.abs(F @ F.T - K).max())
    assert errors[1] < 0.06
    assert errors[1] < errors[0] / 4  # theory: a tenth


def test_an_odd_number_of_random_features_is_rounded_up():
    assert RandomFeatures.draw(Kernel("rbf"), 7, np.zeros(2), seed=0).n_features == 8


def test_random_features_do_not_lose_digits_far_from_the_origin():
    features = RandomFeatures.draw(Kernel("rbf", gamma=0.4), 50, np.full(3, 1e8), seed=0)
    near = RandomFeatures(features.frequencies, np.zeros(3))
    np.testing.assert_allclose(features(X + 1e8), near(X + 1e8 - 1e8), atol=1e-12)


def test_random_features_of_sparse_rows_equal_those_of_dense_ones():
    S = scipy.sparse.csr_array(scipy.sparse.random(30, 4, density=0.4, random_state=0))
    features = RandomFeatures.draw(Kernel("rbf"), 20, np.zeros(4), seed=0)
    np.testing.assert_allclose(features(S), features(S.toarray()))


def test_other_kernels_have_no_random_features():
    with pytest.raises(ValueError, match="not a function of x - y"):
        RandomFeatures.draw(Kernel("poly"), 10, np.zeros(2), seed=0)


def test_whitened_columns_of_all_rows_reproduce_the_kernel():
    kernel = Kernel("rbf", gamma=0.4)
    columns = KernelColumns(kernel, X)
    F = columns(X) @ whitening(columns, np.finfo(float).eps)
    np.testing.assert_allclose(F @ F.T, kernel_matrix(kernel, X), atol=1e-6)


def test_repeated_landmarks_add_nothing():
    twice = KernelColumns(Kernel("linear"), np.vstack([X, X]))
    assert whitening(twice, np.finfo(float).eps).shape == (300, 3)


@pytest.mark.parametrize("kind", ["dense", "sparse"])
def test_gamma_is_one_over_the_variance_of_all_entries(kind):
    A = np.where(DRAWS.random((5000, 3)) < 0.3, DRAWS.normal(5.0, 2.0, (5000, 3)), 0.0)
    rows = Rows(scipy.sparse.csr_array(A) if kind == "sparse" else A)
    assert scale_gamma(rows) == pytest.approx(1 / (3 * A.var()))


def test_weights_count_as_repetitions_in_gamma():
    w = DRAWS.integers(1, 5, 150)
    repeated = np.repeat(X, w, axis=0)
    assert scale_gamma(Rows(X, w.astype(float))) == pytest.approx(1 / (3 * repeated.var()))


def test_constant_rows_have_gamma_one():
    assert scale_gamma(Rows(np.full((4, 2), 3.0))) == 1.0


def test_the_pilot_centre_is_near_the_rows():
    assert np.abs(pilot_centre(Rows(X + 1e6)) - 1e6).max() < 1.0
