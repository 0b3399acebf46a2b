import numpy as np
import pytest
from sklearn.metrics.pairwise import rbf_kernel

from assertions import assert_equal_group_means, assert_uncorrelated, group_means
from fairpca import FairKernelPCA
from fairpca.erasers import SAL, KernelSAL
from fairpca.errors import IndefiniteKernelWarning, InfeasibleError
from oracles import centred, indicator_matrix


@pytest.fixture
def people():
    rng = np.random.default_rng(0)
    z = rng.integers(0, 4, 150)
    return rng.normal(size=(150, 3)) + rng.normal(size=(4, 3))[z], z


def ksal_by_the_book(K, Z, k):
    """The centred kernel without the k leading singular vectors of Phi^T Z.

    They are Phi^T Z e / s for the eigenpairs (s^2, e) of Z^T K Z.
    """
    Z = Z - Z.mean(axis=0)
    values, E = np.linalg.eigh(Z.T @ K @ Z)
    A = K @ Z @ E[:, ::-1][:, :k] / np.sqrt(values[::-1][:k])
    # The columns of Z add up to 0, so that one eigenvalue is 0, or rounding below it.
    return K - A @ A.T, np.sqrt(np.maximum(values[::-1], 0.0))


@pytest.mark.parametrize("k", [1, 2, 3])
def test_coordinates_have_the_kernel_of_the_book(people, k):
    X, z = people
    eraser = KernelSAL(k, gamma=0.5).fit(X, sensitive_features=z)
    T = eraser.transform(X)
    expected, values = ksal_by_the_book(centred(rbf_kernel(X, gamma=0.5)), indicator_matrix(z), k)
    np.testing.assert_allclose(T @ T.T, expected, atol=1e-6)
    np.testing.assert_allclose(eraser.singular_values_, values[:3] / len(X), rtol=1e-6)
    assert eraser.n_directions_ == k


def test_all_directions_removed_give_fair_kernel_pca(people):
    """The same deflated kernel, so the same coordinates up to signs, for old rows and new."""
    X, z = people
    new = X[:40] + 0.1
    fair = FairKernelPCA(6, gamma=0.5).fit(X, sensitive_features=z)
    eraser = KernelSAL(n_components=6, gamma=0.5).fit(X, sensitive_features=z)
    assert eraser.n_directions_ == fair.constraint_rank_
    np.testing.assert_allclose(eraser.eigenvalues_, fair.eigenvalues_, rtol=1e-7)
    np.testing.assert_allclose(
        np.abs(eraser.transform(new)), np.abs(fair.transform(new)), atol=1e-6
    )
    everything = FairKernelPCA(gamma=0.5).fit_transform(X, sensitive_features=z)
    T = KernelSAL(gamma=0.5).fit_transform(X, sensitive_features=z)
    np.testing.assert_allclose(T @ T.T, everything @ everything.T, atol=1e-6)


def test_group_means_coincide_if_all_directions_are_removed_and_not_if_fewer(people):
    X, z = people
    v = X[:, 0] + np.random.default_rng(1).normal(size=150)
    T = KernelSAL(n_components=10).fit_transform(X, sensitive_features={"z": z, "v": v})
    assert_equal_group_means(T, z, rtol=1e-8)
    assert_uncorrelated(T, v, rtol=1e-8)
    fewer = KernelSAL(2, n_components=10).fit_transform(X, sensitive_features=z)
    assert np.ptp(group_means(fewer, z), axis=0).max() > 1e-3


def test_the_linear_kernel_is_sal(people):
    X, z = people
    T = KernelSAL(1, kernel="linear").fit_transform(X, sensitive_features=z)
    linear = SAL(1).fit_transform(X, sensitive_features=z)
    linear -= linear.mean(axis=0)
    np.testing.assert_allclose(T @ T.T, linear @ linear.T, atol=1e-10)
    assert T.shape == (150, 2)


def test_weights_count_as_repetitions(people):
    X, z = people
    times = np.arange(150) % 3 + 1
    a = KernelSAL(n_components=4, gamma=0.5)
    a.fit(X, sensitive_features=z, sample_weight=times)
    b = KernelSAL(n_components=4, gamma=0.5)
    b.fit(np.repeat(X, times, axis=0), sensitive_features=np.repeat(z, times))
    np.testing.assert_allclose(np.abs(a.transform(X)), np.abs(b.transform(X)), atol=1e-7)


def test_a_mean_that_is_not_subtracted_is_no_group_difference(people):
    X, z = people
    T = KernelSAL(n_components=8, center=False).fit_transform(X, sensitive_features=z)
    assert_equal_group_means(T, z, rtol=1e-8)


def test_what_is_not_there_cannot_be_removed_or_kept(people):
    X, z = people
    with pytest.raises(InfeasibleError, match="n_directions=4 is too large"):
        KernelSAL(4).fit(X, sensitive_features=z)
    with pytest.raises(InfeasibleError, match="n_components=3 is too large"):
        KernelSAL(1, n_components=3, kernel="linear").fit(X, sensitive_features=z)
    with pytest.raises(ValueError, match="is not a number of directions"):
        KernelSAL(0).fit(X, sensitive_features=z)


def test_kernels_that_are_no_kernels_are_refused_or_reported(people):
    X, z = people
    with pytest.raises(ValueError, match="'precomputed' is not offered here"):
        KernelSAL(kernel="precomputed").fit(np.eye(9), sensitive_features=z[:9])
    with pytest.raises(ValueError, match="kernel='gaussian' is not an option"):
        KernelSAL(kernel="gaussian").fit(X, sensitive_features=z)
    with pytest.warns(IndefiniteKernelWarning, match="not positive semi-definite"):
        KernelSAL(1, n_components=2, kernel="sigmoid", gamma=1.0).fit(X, sensitive_features=z)
    with pytest.raises(ValueError, match="overflow"):
        KernelSAL(kernel="poly", gamma=1.0).fit(X * 1e60, sensitive_features=z)
