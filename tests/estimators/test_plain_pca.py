import numpy as np
import pytest
import scipy.sparse
import sklearn.decomposition

from fairpca.errors import InfeasibleError
from fairpca.estimators import PlainPCA


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
    ours = PlainPCA(k).fit(X, sensitive_features=z)
    theirs = sklearn.decomposition.PCA(k).fit(X)
    np.testing.assert_allclose(
        without_signs(ours.transform(X)), without_signs(theirs.transform(X)), atol=1e-9
    )
    for name in ("explained_variance_", "explained_variance_ratio_", "mean_"):
        np.testing.assert_allclose(getattr(ours, name), getattr(theirs, name), rtol=1e-10)


def test_sensitive_features_are_ignored(people):
    X, z = people
    without = PlainPCA(2).fit_transform(X)
    np.testing.assert_array_equal(PlainPCA(2).fit_transform(X, sensitive_features=z), without)


def test_pca_of_batches_weights_and_sparse_rows(people):
    X, _ = people
    expected = PlainPCA(3).fit(X).components_
    batched = PlainPCA(3)
    for i in range(5):
        batched.partial_fit(X[i::5])
    np.testing.assert_allclose(batched.components_, expected, atol=1e-10)
    sparse = PlainPCA(3).fit(scipy.sparse.csr_array(X)).components_
    np.testing.assert_allclose(sparse, expected, atol=1e-9)
    times = np.arange(200) % 3
    weighted = PlainPCA(3).fit(X, sample_weight=times)
    np.testing.assert_allclose(
        weighted.components_, PlainPCA(3).fit(np.repeat(X, times, axis=0)).components_, atol=1e-9
    )
    wide = PlainPCA(3).fit(X[:5, :])
    assert wide.components_.shape == (3, 6)


def test_more_components_than_features_are_refused(people):
    with pytest.raises(InfeasibleError, match=r"n_components=7 is too large: .* along 6 direct"):
        PlainPCA(7).fit(people[0])
