import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.decomposition import PCA

from assertions import assert_orthonormal
from fairpca.errors import InfeasibleError, SingleGroupError
from fairpca_paper.methods import BalancedPCA, MbFPCA, SamadiPCA
from fairpca_paper.methods._reconstruction import _balance, _ExcessLosses, _geodesic
from published_tables import splits


@st.composite
def two_groups(draw):
    """Far from the origin, tiny groups, dependent features, wide rows, groups of unequal size."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n, d = draw(st.integers(6, 40)), draw(st.integers(2, 12))
    z = (rng.random(n) < draw(st.sampled_from([0.1, 0.5]))).astype(int)
    z[:2] = [0, 1]
    X = rng.normal(size=(n, d)) * rng.uniform(0.1, 3.0, (2, d))[z]
    shape = draw(st.sampled_from(["plain", "duplicated column", "constant column", "large group"]))
    if shape == "duplicated column":
        X[:, -1] = X[:, 0]
    elif shape == "constant column":
        X[:, -1] = 3.25
    elif shape == "large group":
        X[z == 1] *= 1e4
    X += draw(st.sampled_from([0.0, 1e3])) * rng.normal(size=d)
    varies = np.linalg.matrix_rank(X - X.mean(axis=0), tol=1e-6 * X.std(axis=0).max())
    return X, z, draw(st.integers(1, int(varies)))


def losses_of(X, z, U):
    """What each group's reconstruction costs more than by its own PCA, from the rows."""
    found = []
    for g in np.unique(z):
        A = X[z == g] - X[z == g].mean(axis=0)
        values = np.linalg.svd(A, compute_uv=False) ** 2
        found.append((values[: U.shape[1]].sum() - np.sum((A @ U) ** 2)) / len(A))
    return np.array(found)


@given(two_groups())
def test_no_subspace_does_better_and_both_groups_lose_the_same(problem):
    X, z, k = problem
    balanced = BalancedPCA(k).fit(X, sensitive_features=z)
    U = balanced.components_.T
    assert U.shape == (X.shape[1], k)
    assert_orthonormal(U, atol=1e-10)
    losses = losses_of(X, z, U)
    size = max(A.var(axis=0).sum() for A in (X[z == 0], X[z == 1]))
    np.testing.assert_allclose(balanced.losses_, losses, atol=1e-10 * size)
    assert abs(losses[0] - losses[1]) <= 1e-10 * size
    # The certificate, computed anew: weights bound the larger loss of every subspace from below.
    assert lower_bound(X, z, k, balanced.weights_) >= losses.max() - 1e-10 * size
    assert balanced.duality_gap_ <= 1e-10 * size


def lower_bound(X, z, k, weights):
    """The smallest weighted loss of any k directions, by eigenvalues; from the rows."""
    total, best = 0.0, 0.0
    for g, weight in zip(np.unique(z), weights, strict=True):
        C = np.cov(X[z == g].T, bias=True)
        best += weight * np.sort(np.linalg.eigvalsh(C))[::-1][:k].sum()
        total = total + weight * C
    return best - np.sort(np.linalg.eigvalsh(total))[::-1][:k].sum()


@given(two_groups())
def test_it_is_never_worse_than_multiplicative_weights_even_with_more_directions(problem):
    X, z, k = problem
    size = max(A.var(axis=0).sum() for A in (X[z == 0], X[z == 1]))
    scaled = X / np.sqrt(size)
    balanced = BalancedPCA(k).fit(scaled, sensitive_features=z)
    samadi = SamadiPCA(k, n_iter=20).fit(scaled, sensitive_features=z)
    assert balanced.losses_.max() <= samadi.losses_.max() + 1e-10


def test_random_subspaces_do_not_beat_it():
    rng = np.random.default_rng(0)
    z = np.repeat([0, 1], [80, 20])
    X = rng.normal(size=(100, 4)) * rng.uniform(0.5, 3.0, (2, 4))[z]
    best = BalancedPCA(2).fit(X, sensitive_features=z).losses_.max()
    for _ in range(500):
        U = np.linalg.qr(rng.normal(size=(4, 2)))[0]
        assert losses_of(X, z, U).max() >= best - 1e-12


def test_crossing_eigenvalues_are_balanced_by_a_mixture():
    # Each group lives on an axis of its own. At equal weights any direction is as good as any
    # other, and only the diagonal treats both groups alike; the neighbours are the axes.
    covariances = np.array([np.diag([1.0, 0.0]), np.diag([0.0, 1.0])])
    found = _balance(_ExcessLosses(("a", "b"), covariances, None, k=1))
    np.testing.assert_allclose(np.abs(found.U[:, 0]), np.sqrt([0.5, 0.5]), atol=1e-12)
    np.testing.assert_allclose(found.losses, [0.5, 0.5], atol=1e-12)
    assert found.losses.max() - found.bound < 1e-12


@given(st.integers(0, 2**32 - 1), st.integers(1, 4), st.integers(1, 3))
def test_integer_covariances_with_many_crossings_are_solved_too(seed, k, blocks):
    rng = np.random.default_rng(seed)
    covariances = np.array(
        [np.diag(rng.integers(0, 3, 5).astype(float)) * blocks for _ in range(2)]
    )
    found = _balance(_ExcessLosses(("a", "b"), covariances, None, k))
    assert_orthonormal(found.U)
    assert abs(found.difference) < 1e-12
    assert found.losses.max() - found.bound < 1e-12


def test_groups_with_the_same_covariance_get_plain_pca():
    rng = np.random.default_rng(0)
    A = rng.normal(size=(50, 4)) * [4, 3, 2, 1]
    X, z = np.vstack([A, A + 10.0]), np.repeat([0, 1], 50)
    balanced = BalancedPCA(2).fit(X, sensitive_features=z)
    own = PCA(2).fit(A).components_
    np.testing.assert_allclose(
        balanced.components_.T @ balanced.components_, own.T @ own, atol=1e-9
    )
    np.testing.assert_allclose(balanced.losses_, 0.0, atol=1e-12)


@given(st.integers(0, 2**32 - 1), st.integers(1, 3))
def test_the_geodesic_joins_both_subspaces(seed, k):
    rng = np.random.default_rng(seed)
    A, B = (np.linalg.qr(rng.normal(size=(5, k)))[0] for _ in range(2))
    path = _geodesic(A, B)
    np.testing.assert_allclose(path(0.0) @ path(0.0).T, A @ A.T, atol=1e-12)
    np.testing.assert_allclose(path(1.0) @ path(1.0).T, B @ B.T, atol=1e-12)
    half = path(0.5)
    assert_orthonormal(half)
    assert np.linalg.norm(half @ half.T - A @ A.T) == pytest.approx(
        np.linalg.norm(half @ half.T - B @ B.T)
    )


def test_it_hides_nothing():
    rng = np.random.default_rng(0)
    z = np.arange(400) % 2
    X = rng.normal(size=(400, 3)) * [1.0, 5.0, 1.0]
    X[:, 1] += 20.0 * z
    T = BalancedPCA(1).fit_transform(X, sensitive_features=z)[:, 0]
    assert abs(T[z == 0].mean() - T[z == 1].mean()) > 3 * T[z == 0].std()


@pytest.mark.parametrize("seed", range(20))
def test_groups_that_differ_by_rounding_find_a_subspace(seed):
    """A root finder was given an interval without a change of sign."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(2, 2)) + 1e3 * np.arange(2)[:, None] + 1e6 * rng.normal(size=2)
    balanced = BalancedPCA(1).fit(X, sensitive_features=["a", "b"])
    assert np.isfinite(balanced.transform(X)).all()


@pytest.mark.parametrize("method", [BalancedPCA(1), SamadiPCA(1), MbFPCA(1)])
def test_units_whose_fourth_powers_overflow_are_refused(method):
    """LAPACK did not converge, or a root finder met NaN."""
    X = np.random.default_rng(0).normal(size=(40, 4))
    with pytest.raises(ValueError, match=r"feature \d has the size .*e\+150.*Divide X"):
        method.fit(X * 1e150, sensitive_features=np.arange(40) % 2)


def test_wide_rows_are_solved_in_their_span():
    rng = np.random.default_rng(0)
    z = np.arange(9) % 2
    X = rng.normal(size=(9, 40)) * np.where(z == 0, 3.0, 1.0)[:, None]
    balanced = BalancedPCA(3).fit(X, sensitive_features=z)
    np.testing.assert_allclose(balanced.losses_, losses_of(X, z, balanced.components_.T), atol=1e-9)
    assert balanced.duality_gap_ < 1e-9
    assert BalancedPCA().fit(X, sensitive_features=z).components_.shape == (8, 40)
    for method in (BalancedPCA(9), SamadiPCA(9)):
        with pytest.raises(InfeasibleError, match=r"n_components=9 .* along 8 direction"):
            method.fit(X, sensitive_features=z)


def test_refusals_say_what_to_do():
    X = np.random.default_rng(0).normal(size=(30, 3))
    with pytest.raises(InfeasibleError, match=r"exact for two groups, but there are 3.*SamadiPCA"):
        BalancedPCA(1).fit(X, sensitive_features=np.arange(30) % 3)
    with pytest.raises(InfeasibleError, match="n_components=4 is too large"):
        BalancedPCA(4).fit(X, sensitive_features=np.arange(30) % 2)
    with pytest.raises(SingleGroupError):
        BalancedPCA(1).fit(X, sensitive_features=np.zeros(30, dtype=int))


@pytest.mark.parametrize("k", [2, 10])
@pytest.mark.parametrize("dataset", ["Adult Income", "German Credit", "COMPAS"])
def test_real_tables_are_balanced_and_better_than_published_weights(dataset, k, data_folder):
    k = 9 if (dataset, k) == ("COMPAS", 10) else k  # 11 features, but the rows span 9 directions
    for X, z, *_ in splits(data_folder, dataset):
        balanced = BalancedPCA(k).fit(X, sensitive_features=z)
        samadi = SamadiPCA(k).fit(X, sensitive_features=z)
        assert balanced.duality_gap_ < 1e-10
        assert balanced.losses_.max() <= samadi.losses_.max() + 1e-10
        assert np.ptp(balanced.losses_) < 1e-10
