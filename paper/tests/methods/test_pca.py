import numpy as np
import pytest
import sklearn.decomposition

from fairpca.errors import InfeasibleError
from fairpca_paper.methods import PCA


@pytest.fixture
def people():
    rng = np.random.default_rng(0)
    z = rng.integers(0, 2, 200)
    X = rng.normal(size=(200, 6)) @ rng.normal(size=(6, 6)) + np.outer(z, np.arange(6)) + 100
    return X, z


@pytest.mark.parametrize("k", [None, 1, 3])
@pytest.mark.parametrize("n", [200, 5])
def test_it_is_scikit_learns(people, k, n):
    X, z = (part[:n] for part in people)
    ours = PCA(k).fit(X, sensitive_features=z)
    theirs = sklearn.decomposition.PCA(ours.n_components_, svd_solver="full").fit(X)
    assert ours.n_components_ == (k or min(6, n - 1))
    np.testing.assert_allclose(ours.transform(X), theirs.transform(X), atol=1e-9)
    for name in ("explained_variance_", "explained_variance_ratio_", "mean_"):
        np.testing.assert_allclose(getattr(ours, name), getattr(theirs, name), rtol=1e-10)


def test_sensitive_features_are_ignored(people):
    X, z = people
    without = PCA(2).fit_transform(X)
    np.testing.assert_array_equal(PCA(2).fit_transform(X, sensitive_features=z), without)
    anything = PCA(2).fit_transform(X, sensitive_features=["no", "such", "rows"])
    np.testing.assert_array_equal(anything, without)


def test_weights_count_as_repetitions(people):
    X, _ = people
    times = np.arange(200) % 3
    weighted = PCA(3).fit(X, sample_weight=times).components_
    repeated = PCA(3).fit(np.repeat(X, times, axis=0)).components_
    np.testing.assert_allclose(weighted, repeated, atol=1e-9)


def test_more_components_than_directions_are_refused_with_their_number(people):
    X, _ = people
    X = np.hstack([X, X[:, :1]])
    with pytest.raises(
        InfeasibleError, match=r"n_components=7 is too large: .* along 6 direct"
    ) as e:
        PCA(7).fit(X)
    assert e.value.available == 6
