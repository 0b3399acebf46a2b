import numpy as np
import pytest
import scipy.sparse
import sklearn.decomposition
from sklearn.metrics.pairwise import rbf_kernel

from fairpca import FairKernelPCA, IndefiniteKernelWarning, InfeasibleError
from fairpca.peers._baselines import PCA, KernelPCA


@pytest.fixture
def people():
    rng = np.random.default_rng(0)
    z = rng.integers(0, 2, 200)
    X = rng.normal(size=(200, 6)) @ rng.normal(size=(6, 6)) + np.outer(z, np.arange(6)) + 100
    return X, z


def without_signs(T):
    return T * np.sign(T[np.argmax(np.abs(T), axis=0), np.arange(T.shape[1])])


@pytest.mark.parametrize("k", [None, 1, 3, 0.9])
def test_pca_is_scikit_learns(people, k):
    X, z = people
    ours = PCA(k).fit(X, sensitive_features=z)
    theirs = sklearn.decomposition.PCA(k).fit(X)
    np.testing.assert_allclose(
        without_signs(ours.transform(X)), without_signs(theirs.transform(X)), atol=1e-9
    )
    for name in ("explained_variance_", "explained_variance_ratio_", "mean_"):
        np.testing.assert_allclose(getattr(ours, name), getattr(theirs, name), rtol=1e-10)
    back = ours.inverse_transform(ours.transform(X))
    np.testing.assert_allclose(back, theirs.inverse_transform(theirs.transform(X)), atol=1e-9)


@pytest.mark.parametrize("Yardstick", [PCA, KernelPCA])
def test_the_yardsticks_ignore_sensitive_features(people, Yardstick):
    X, z = people
    without = Yardstick(2).fit_transform(X)
    np.testing.assert_array_equal(Yardstick(2).fit_transform(X, sensitive_features=z), without)
    anything = Yardstick(2).fit_transform(X, sensitive_features=["no", "such", "rows"])
    np.testing.assert_array_equal(anything, without)


def test_pca_of_batches_weights_and_sparse_rows(people):
    X, _ = people
    expected = PCA(3).fit(X).components_
    batched = PCA(3)
    for i in range(5):
        batched.partial_fit(X[i::5])
    np.testing.assert_allclose(batched.components_, expected, atol=1e-10)
    sparse = PCA(3).fit(scipy.sparse.csr_array(X)).components_
    np.testing.assert_allclose(sparse, expected, atol=1e-9)
    times = np.arange(200) % 3
    weighted = PCA(3).fit(X, sample_weight=times)
    np.testing.assert_allclose(
        weighted.components_, PCA(3).fit(np.repeat(X, times, axis=0)).components_, atol=1e-9
    )
    wide = PCA(3).fit(X[:5, :])
    assert wide.components_.shape == (3, 6)


def test_more_components_than_features_are_refused(people):
    with pytest.raises(InfeasibleError, match=r"n_components=7 is too large: .* along 6 direct"):
        PCA(7).fit(people[0])


@pytest.mark.parametrize("kernel", ["rbf", "poly", "cosine", "linear"])
def test_kernel_pca_is_scikit_learns(people, kernel):
    X = (people[0] - people[0].mean(axis=0)) / people[0].std(axis=0)
    ours = KernelPCA(3, kernel=kernel, gamma=0.2).fit(X)
    theirs = sklearn.decomposition.KernelPCA(3, kernel=kernel, gamma=0.2, eigen_solver="dense")
    T, expected = ours.transform(X[::-1]), theirs.fit(X).transform(X[::-1])
    np.testing.assert_allclose(without_signs(T), without_signs(expected), atol=1e-7)
    np.testing.assert_allclose(ours.eigenvalues_, theirs.eigenvalues_, rtol=1e-9)


def test_gamma_is_that_of_fair_kernel_pca(people):
    X, z = people
    fair = FairKernelPCA(2).fit(X, sensitive_features=z)
    plain = KernelPCA(2).fit(X)
    assert plain.gamma_ == fair.gamma_ == pytest.approx(1 / (6 * X.var()))
    assert np.all(plain.eigenvalues_ >= fair.eigenvalues_)


def test_all_components_of_kernel_pca_give_the_kernel_back(people):
    X, _ = people
    K = rbf_kernel(X, gamma=0.01)
    K = K - K.mean(axis=0) - K.mean(axis=1)[:, None] + K.mean()
    T = KernelPCA(gamma=0.01).fit_transform(X)
    np.testing.assert_allclose(T @ T.T, K, atol=1e-7)


def test_weights_count_as_repetitions_in_kernel_pca(people):
    X, _ = people
    times = np.arange(200) % 3
    a = KernelPCA(3, gamma=0.01).fit(X, sample_weight=times)
    b = KernelPCA(3, gamma=0.01).fit(np.repeat(X, times, axis=0))
    np.testing.assert_allclose(
        without_signs(a.transform(X)), without_signs(b.transform(X)), atol=1e-8
    )


def test_kernels_that_are_no_kernels_are_refused_or_reported(people):
    X, _ = people
    with pytest.raises(ValueError, match="'precomputed' is not offered here"):
        KernelPCA(kernel="precomputed").fit(np.eye(9))
    with pytest.raises(ValueError, match="kernel='gaussian' is not an option"):
        KernelPCA(kernel="gaussian").fit(X)
    standard = (X - X.mean(axis=0)) / X.std(axis=0)
    with pytest.warns(IndefiniteKernelWarning, match="not positive semi-definite"):
        KernelPCA(2, kernel="sigmoid", gamma=1.0).fit(standard)
    with pytest.raises(ValueError, match="overflow"):
        KernelPCA(2, kernel="poly", gamma=1.0).fit(X * 1e60)
