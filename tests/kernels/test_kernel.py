import numpy as np
import pytest
import scipy.sparse
from sklearn.metrics.pairwise import pairwise_kernels

from fairpca.kernels import KERNELS, Kernel, kernel_matrix

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
