"""Streamed fair kernel PCA: exact constraint, approximate kernel, any batches."""

import numpy as np
import pytest
import scipy.sparse
from sklearn.base import clone

from assertions import assert_equal_group_means, assert_uncorrelated
from fairpca import FairKernelPCA
from fairpca._kernels import KernelColumns
from fairpca.errors import FewLandmarksWarning, IndefiniteKernelWarning, InfeasibleError

MODES = ["nystroem", "random_features"]


@pytest.fixture(scope="module")
def people():
    rng = np.random.default_rng(0)
    n = 900
    A = {"race": rng.integers(0, 4, n), "sex": rng.choice(["f", "m"], n), "age": rng.normal(size=n)}
    X = rng.normal(size=(n, 6)) * np.linspace(2, 0.5, 6)
    X[:, 0] += A["race"]
    X[:, 1] *= np.where(A["sex"] == "m", 2, 1)
    X[:, 2] += A["age"]
    return X, A, rng.uniform(0.2, 3.0, n)


def part_of(A, rows):
    return {name: column[rows] for name, column in A.items()}


def angles(T, S):
    """Sines of the principal angles between two representations of the same rows."""
    P, Q = (np.linalg.qr(M - M.mean(axis=0))[0] for M in (T, S))
    return np.sqrt(np.clip(1 - np.linalg.svd(P.T @ Q, compute_uv=False) ** 2, 0, None))


@pytest.mark.parametrize("center", [True, False])
@pytest.mark.parametrize("kernel", ["rbf", "laplacian", "poly", "cosine", "linear"])
def test_nystroem_with_every_row_a_landmark_is_exact(people, kernel, center):
    X, A, w = people
    k = 1 if kernel in ("cosine", "linear") else 3  # six features, five constraints
    options = {"sensitive_features": A, "sample_weight": w}
    exact = FairKernelPCA(k, kernel=kernel, center=center).fit(X, **options)
    all_rows = FairKernelPCA(
        k, kernel=kernel, center=center, approximation="nystroem", n_landmarks=len(X)
    ).fit(X, **options)
    np.testing.assert_allclose(all_rows.eigenvalues_, exact.eigenvalues_, rtol=1e-6)
    np.testing.assert_allclose(
        all_rows.explained_variance_ratio_, exact.explained_variance_ratio_, rtol=1e-6
    )
    assert angles(all_rows.transform(X), exact.transform(X)).max() < 1e-5
    assert all_rows.constraint_rank_ == exact.constraint_rank_
    assert all_rows.landmarks_.shape == X.shape


@pytest.mark.parametrize("mode", MODES)
def test_angles_to_the_exact_subspace_shrink_as_features_are_added(people, mode):
    X, A, _ = people
    X = X * np.array([1, 1, 1, 6, 4, 1])  # two directions that stand out
    exact = FairKernelPCA(2).fit(X, sensitive_features=A).transform(X)
    largest = []
    for p in (20, 80, 320):
        drawn = [
            FairKernelPCA(2, approximation=mode, n_landmarks=p, random_state=seed)
            .fit(X, sensitive_features=A)
            .transform(X)
            for seed in range(5)
        ]
        largest.append(np.mean([angles(T, exact).max() for T in drawn]))
    assert largest[0] > 1.5 * largest[1]
    assert largest[1] > 1.5 * largest[2]


@pytest.mark.parametrize("center", [True, False])
@pytest.mark.parametrize("mode", MODES)
def test_the_constraint_is_exact_however_few_the_features(people, mode, center):
    X, A, w = people
    fair = FairKernelPCA(2, approximation=mode, n_landmarks=30, center=center, random_state=0)
    fair.fit(X, sensitive_features=A, sample_weight=w)
    T = fair.transform(X)
    assert_equal_group_means(T, A["race"], w)
    assert_equal_group_means(T, A["sex"], w)
    assert_uncorrelated(T, A["age"], w)
    assert fair.mean_gap_ < 1e-10
    assert fair.constraint_rank_ == 5
    assert fair.dual_components_.shape == (30, 2)


@pytest.mark.parametrize("mode", MODES)
def test_batches_equal_one_fit_once_the_landmarks_are_drawn(people, mode):
    X, A, w = people
    one = FairKernelPCA(3, approximation=mode, n_landmarks=40, gamma=0.1, random_state=0)
    two = FairKernelPCA(3, approximation=mode, n_landmarks=40, gamma=0.1, random_state=0)
    first = slice(0, 100)
    options = {"sensitive_features": part_of(A, first), "sample_weight": w[first]}
    one.partial_fit(X[first], **options)
    two.partial_fit(X[first], **options)
    rest = slice(100, None)
    one.partial_fit(X[rest], sensitive_features=part_of(A, rest), sample_weight=w[rest])
    for start in range(100, 900, 7):
        rows = slice(start, start + 7)
        two.partial_fit(X[rows], sensitive_features=part_of(A, rows), sample_weight=w[rows])
    assert two.n_samples_seen_ == 900
    assert "_map" in vars(two)  # solved when it was first asked for
    np.testing.assert_allclose(two.eigenvalues_, one.eigenvalues_, rtol=1e-9)
    np.testing.assert_allclose(two.transform(X), one.transform(X), atol=1e-7)
    assert_equal_group_means(two.transform(X), A["race"], w)


def test_a_batch_can_be_added_to_a_fit(people):
    X, A, _ = people
    old, new = slice(0, 800), slice(800, None)
    fair = FairKernelPCA(2, approximation="nystroem", n_landmarks=50, random_state=0)
    fair.fit(X[old], sensitive_features=part_of(A, old))
    landmarks, before = fair.landmarks_.copy(), fair.transform(X)
    fair.partial_fit(X[new], sensitive_features=part_of(A, new))
    np.testing.assert_array_equal(fair.landmarks_, landmarks)
    assert np.abs(fair.transform(X) - before).max() > 1e-6
    assert_equal_group_means(fair.transform(X), A["race"])


@pytest.mark.parametrize("mode", MODES)
def test_the_seed_decides(people, mode):
    X, A, _ = people

    def fit(seed):
        fair = FairKernelPCA(2, approximation=mode, n_landmarks=40, random_state=seed)
        return fair.fit(X, sensitive_features=A).transform(X)

    np.testing.assert_array_equal(fit(0), fit(0))
    assert np.abs(np.abs(fit(0)) - np.abs(fit(1))).max() > 1e-3


@pytest.mark.parametrize("mode", MODES)
def test_sparse_rows_equal_dense_ones(mode, people):
    _, A, _ = people
    S = scipy.sparse.csr_array(scipy.sparse.random(900, 12, density=0.3, random_state=2))
    sparse, dense = (
        FairKernelPCA(3, approximation=mode, n_landmarks=50, random_state=0, gamma=0.5)
        .fit(M, sensitive_features=A)
        .transform(M)
        for M in (S, S.toarray())
    )
    assert angles(sparse, dense).max() < 1e-6
    assert_equal_group_means(sparse, A["race"])


def test_single_precision_comes_back_as_single_precision(people):
    X, A, _ = people
    fair = FairKernelPCA(2, approximation="nystroem", n_landmarks=100, random_state=0)
    T = fair.fit(X.astype(np.float32), sensitive_features=A).transform(X.astype(np.float32))
    assert T.dtype == np.float32
    double = FairKernelPCA(2, approximation="nystroem", n_landmarks=100, random_state=0)
    expected = double.fit(X, sensitive_features=A).transform(X)
    assert angles(T.astype(float), expected).max() < 1e-4
    assert_equal_group_means(T.astype(float), A["race"], rtol=1e-6)


def test_rows_are_mapped_in_blocks(people, monkeypatch):
    X, A, _ = people
    many = np.tile(X, (40, 1))
    blocks, features = [], KernelColumns.__call__
    monkeypatch.setattr(
        KernelColumns, "__call__", lambda self, B: blocks.append(len(B)) or features(self, B)
    )
    groups = {name: np.tile(column, 40) for name, column in A.items()}
    FairKernelPCA(2, approximation="nystroem", n_landmarks=200, random_state=0).fit(
        many, sensitive_features=groups
    )
    assert max(blocks) * 200 <= 2**22
    assert max(blocks) < len(many) / 4


@pytest.mark.parametrize("mode", MODES)
def test_the_tradeoff_appends_the_standard_components(people, mode):
    X, A, _ = people
    parameters = {"approximation": mode, "n_landmarks": 60, "random_state": 0}
    fair = FairKernelPCA(2, **parameters).fit(X, sensitive_features=A)
    both = FairKernelPCA(2, tradeoff=0.5, **parameters).fit(X, sensitive_features=A)
    T = both.transform(X)
    np.testing.assert_allclose(T[:, :2], fair.transform(X), atol=1e-9)
    scatter = T[:, 2:].T @ (T[:, 2:] - T[:, 2:].mean(axis=0)) / 0.25
    assert scatter[0, 0] > fair.eigenvalues_[0]  # unconstrained: more variance
    np.testing.assert_allclose(scatter[0, 1], 0, atol=1e-7)


def test_a_small_first_batch_limits_the_landmarks_and_says_so(people):
    X, A, _ = people
    fair = FairKernelPCA(1, approximation="nystroem", n_landmarks=50)
    with pytest.warns(FewLandmarksWarning, match=r"n_landmarks=50, but the first batch has 20"):
        fair.partial_fit(X[:20], sensitive_features=part_of(A, slice(0, 20)))
    assert len(fair.landmarks_) == 20


def test_a_first_batch_without_rows_that_count_is_refused(people):
    X, A, _ = people
    fair = FairKernelPCA(1, approximation="nystroem")
    with pytest.raises(ValueError, match="first batch has no row that counts"):
        fair.partial_fit(X, sensitive_features=A, sample_weight=np.zeros(len(X)))
    assert not any(name.endswith("_") for name in vars(fair))


def test_more_components_than_the_features_can_show_are_refused(people):
    X, A, _ = people
    fair = FairKernelPCA(6, kernel="linear", approximation="nystroem")
    with pytest.raises(InfeasibleError, match=r"n_components=6 is too large.* 5 direction"):
        fair.fit(X, sensitive_features=A["sex"])
    few = {"sensitive_features": A["sex"][:9]}
    with pytest.raises(InfeasibleError, match=r"vary along 7 direction"):
        FairKernelPCA(12, approximation="random_features", n_landmarks=60).fit(X[:9], **few)


def test_changing_the_kernel_between_batches_is_refused(people):
    X, A, _ = people
    fair = FairKernelPCA(2, approximation="nystroem", n_landmarks=50, random_state=0)
    fair.partial_fit(X, sensitive_features=A)
    fair.set_params(gamma=9.0, kernel="laplacian")
    with pytest.raises(ValueError, match=r"\['kernel', 'gamma'\] were changed.*Set them back"):
        fair.partial_fit(X, sensitive_features=A)
    fair.set_params(gamma="scale", kernel="rbf", n_components=3)  # what is solved may change
    assert fair.partial_fit(X, sensitive_features=A).transform(X).shape == (900, 3)


def test_shares_are_of_the_whole_variance_not_of_what_the_landmarks_see(people):
    X, A, _ = people
    exact = FairKernelPCA(3).fit(X, sensitive_features=A)
    few = FairKernelPCA(3, approximation="nystroem", n_landmarks=60, random_state=0)
    few.fit(X, sensitive_features=A)
    assert few.explained_variance_ratio_.sum() < exact.explained_variance_ratio_.sum()
    share = few.explained_variance_ratio_[0] / few.explained_variance_[0]
    expected = exact.explained_variance_ratio_[0] / exact.explained_variance_[0]
    assert share == pytest.approx(expected, rel=1e-2)
    with pytest.raises(InfeasibleError, match=r"asks for 95\.00% of the variance"):
        few.set_params(n_components=0.95).fit(X, sensitive_features=A)


def test_an_indefinite_kernel_is_reported_from_its_landmarks(people):
    X, A, _ = people
    fair = FairKernelPCA(2, kernel="sigmoid", gamma=0.5, approximation="nystroem", n_landmarks=80)
    with pytest.warns(IndefiniteKernelWarning, match=r"eigenvalue of -\d") as caught:
        fair.fit(X, sensitive_features=A)
    assert caught[0].filename == __file__  # it points at the line above
    assert_equal_group_means(fair.transform(X), A["race"])


@pytest.mark.parametrize("center", [True, False])
def test_equal_opportunity_with_every_row_a_landmark_is_exact(people, center):
    """The mean of all rows is a combination of all, so landmarks are drawn among all."""
    X, A, w = people
    X, y, sex = X[:300] + 1.0, np.arange(300) % 3 // 2, A["sex"][:300]
    options = {"sensitive_features": sex, "sample_weight": w[:300]}
    exact = FairKernelPCA(2, criterion="equal_opportunity", center=center, tradeoff=0.5)
    near = clone(exact).set_params(approximation="nystroem", n_landmarks=300)
    T, S = (fair.fit(X, y, **options).transform(X) for fair in (exact, near))
    np.testing.assert_allclose(np.abs(S), np.abs(T), atol=1e-5)
    np.testing.assert_allclose(near.explained_variance_ratio_, exact.explained_variance_ratio_)
    assert_equal_group_means(S[:, :2][y == 1], sex[y == 1], w[:300][y == 1])
