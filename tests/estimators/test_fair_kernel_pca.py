"""The guarantees of exact FairKernelPCA as a user meets them."""

import numpy as np
import pytest
import scipy.sparse
from hypothesis import given, settings
from sklearn.decomposition import KernelPCA
from sklearn.metrics.pairwise import pairwise_kernels, rbf_kernel
from threadpoolctl import threadpool_limits

from assertions import assert_equal_group_means, assert_uncorrelated
from fairpca import FairKernelPCA, FairPCA
from fairpca.errors import IndefiniteKernelWarning, InfeasibleError, ResidualWarning
from optional_libraries import pandas as pd
from oracles import centred, fair_kernel_pca_by_the_book
from strategies import grouped_rows

NAMED = ["rbf", "laplacian", "poly", "cosine", "linear"]


@pytest.fixture(scope="module")
def people():
    rng = np.random.default_rng(0)
    n = 640
    A = pd.DataFrame(
        {"race": rng.integers(0, 5, n), "sex": rng.choice(["f", "m"], n), "age": rng.normal(size=n)}
    )
    X = rng.normal(size=(n, 10)) * np.linspace(2, 0.5, 10)
    X[:, 0] += A["race"]
    X[:, 1] *= np.where(A["sex"] == "m", 2, 1)
    X[:, 2] += A["age"]
    return X, A, rng.uniform(0.2, 3.0, n)


@pytest.mark.parametrize("center", [True, False])
@pytest.mark.parametrize("kernel", NAMED)
def test_groups_have_the_same_mean_and_new_rows_the_same_map(people, kernel, center):
    X, A, w = people
    fair = FairKernelPCA(3, kernel=kernel, center=center)
    T = fair.fit_transform(X, sensitive_features=A, sample_weight=w)
    assert_equal_group_means(T, A["race"].to_numpy(), w)
    assert_equal_group_means(T, A["sex"].to_numpy(), w)
    assert_uncorrelated(T, A["age"].to_numpy(), w)
    assert fair.mean_gap_ < 1e-12
    assert fair.constraint_rank_ == 6
    np.testing.assert_allclose(fair.transform(X), T, atol=1e-10 * np.abs(T).max())
    np.testing.assert_allclose(w @ T**2, fair.eigenvalues_) if not center else None


@pytest.mark.parametrize("weighted", [False, True])
def test_the_linear_kernel_is_fair_pca(people, weighted):
    X, A, w = people
    options = {"sensitive_features": A, "sample_weight": w if weighted else None}
    kernel = FairKernelPCA(3, kernel="linear").fit(X + 50.0, **options)
    linear = FairPCA(3).fit(X + 50.0, **options)
    T, expected = kernel.transform(X + 50.0), linear.transform(X + 50.0)
    np.testing.assert_allclose(np.abs(T), np.abs(expected), atol=1e-9)
    for name in ("explained_variance_", "explained_variance_ratio_", "constraint_rank_"):
        np.testing.assert_allclose(getattr(kernel, name), getattr(linear, name), rtol=1e-9)
    assert kernel.groups_ == linear.groups_
    back = kernel.inverse_transform(T)
    np.testing.assert_allclose(back, linear.inverse_transform(expected), atol=1e-9)


def test_without_a_group_difference_it_equals_scikit_learns_kernel_pca():
    rng = np.random.default_rng(1)
    half = rng.normal(size=(300, 3))
    X, z = np.vstack([half, half]), np.repeat(["a", "b"], 300)  # twins: one of each group
    fair = FairKernelPCA(4, gamma=0.3).fit(X, sensitive_features=z)
    plain = KernelPCA(4, kernel="rbf", gamma=0.3, eigen_solver="dense").fit(X)
    assert fair.constraint_rank_ == 0
    new = rng.normal(size=(20, 3))
    np.testing.assert_allclose(np.abs(fair.transform(new)), np.abs(plain.transform(new)), atol=1e-9)
    np.testing.assert_allclose(fair.eigenvalues_, plain.eigenvalues_)


def test_a_precomputed_kernel_is_the_kernel(people):
    X, A, w = people
    train, new = slice(0, 600), slice(600, None)
    options = {"sensitive_features": A[train], "sample_weight": w[train]}
    fair = FairKernelPCA(3, gamma=0.1).fit(X[train], **options)
    K = rbf_kernel(X[train], gamma=0.1)
    before = K.copy()
    given = FairKernelPCA(3, kernel="precomputed").fit(K, **options)
    np.testing.assert_array_equal(K, before)
    K_new = rbf_kernel(X[new], X[train], gamma=0.1)
    np.testing.assert_allclose(
        np.abs(given.transform(K_new)), np.abs(fair.transform(X[new])), atol=1e-10
    )
    assert given.gamma_ is None
    assert given.__sklearn_tags__().input_tags.pairwise


def test_a_function_of_two_rows_is_a_kernel(people):
    X, A, _ = people
    X, A = X[:60], A[:60]

    def shifted(a, b, *, power):
        return (a @ b + 1.0) ** power

    own = FairKernelPCA(2, kernel=shifted, kernel_params={"power": 2})
    named = FairKernelPCA(2, kernel="poly", gamma=1.0, degree=2)
    sex = A["sex"]
    a, b = (e.fit(X, sensitive_features=sex).transform(X[:9]) for e in (own, named))
    np.testing.assert_allclose(np.abs(a), np.abs(b), atol=1e-9)


def test_sparse_rows_equal_dense_ones(people):
    _, A, _ = people
    S = scipy.sparse.random(640, 12, density=0.3, random_state=2)
    sparse = FairKernelPCA(3).fit(scipy.sparse.csr_array(S), sensitive_features=A)
    dense = FairKernelPCA(3).fit(S.toarray(), sensitive_features=A)
    assert sparse.gamma_ == pytest.approx(dense.gamma_)
    np.testing.assert_allclose(
        sparse.transform(scipy.sparse.csr_array(S)), dense.transform(S.toarray()), atol=1e-9
    )


@pytest.mark.parametrize("center", [True, False])
def test_equal_opportunity_measures_the_positive_rows_from_the_mean_of_all(people, center):
    X, A, _ = people
    X, race, y = X[:300].copy(), A["race"].to_numpy()[:300], np.arange(300) % 3 // 2
    X[:, 3] += y
    K, positive = rbf_kernel(X, gamma=0.1), y == 1
    inner = (centred(K) if center else K)[np.ix_(positive, positive)]
    values, book = fair_kernel_pca_by_the_book(inner, race[positive], k=2)
    for kernel, rows in (("rbf", X), ("precomputed", K)):
        eo = FairKernelPCA(2, kernel=kernel, gamma=0.1, center=center, tradeoff=0.5)
        eo.set_params(criterion="equal_opportunity")
        T = eo.fit_transform(rows, y, sensitive_features=race)
        np.testing.assert_allclose(eo.eigenvalues_, values)
        np.testing.assert_allclose(np.abs(T[positive, :2]), np.abs(book.T), atol=1e-9)
        assert_equal_group_means(T[positive, :2], race[positive])
        squares = np.linalg.eigvalsh(inner)[::-1][:2]
        np.testing.assert_allclose((T[positive, 2:] ** 2).sum(axis=0), 0.25 * squares)


@pytest.mark.parametrize("weighted", [False, True])
def test_equal_opportunity_with_the_linear_kernel_is_fair_pca(people, weighted):
    X, A, w = people
    w, y = np.floor(w) if weighted else None, np.arange(len(X)) % 3 // 2
    X = X + 5.0 * y[:, None]
    options = {"sensitive_features": A["sex"], "sample_weight": w}
    linear = FairPCA(3, criterion="equal_opportunity", tradeoff=0.5).fit(X, y, **options)
    for kernel, rows in (("linear", X), ("precomputed", X @ X.T)):
        fair = FairKernelPCA(3, kernel=kernel, criterion="equal_opportunity", tradeoff=0.5)
        T = fair.fit(rows, y, **options).transform(rows)
        np.testing.assert_allclose(np.abs(T), np.abs(linear.transform(X)), atol=1e-8)
        if kernel == "linear":
            rows = linear.inverse_transform(linear.transform(X))
            np.testing.assert_allclose(fair.inverse_transform(T), rows, atol=1e-6)


def test_gamma_is_that_of_all_rows_whatever_the_criterion(people):
    X, A, _ = people
    y = (X[:, 0] > 3).astype(int)
    for options in ({}, {"approximation": "random_features"}):
        eo = FairKernelPCA(2, criterion="equal_opportunity", **options)
        eo.fit(X, y, sensitive_features=A["sex"])
        assert eo.gamma_ == pytest.approx(1 / (X.shape[1] * X.var()))


def test_equalized_odds_equalises_within_every_class(people):
    X, A, _ = people
    y = np.arange(len(X)) % 3
    fair = FairKernelPCA(2, criterion="equalized_odds").fit(X, y, sensitive_features=A["sex"])
    for c in range(3):
        assert_equal_group_means(fair.transform(X)[y == c], A["sex"].to_numpy()[y == c])


def test_missing_attributes_count_for_the_variance_only(people):
    X, A, _ = people
    sex = A["sex"].where(np.arange(len(A)) % 7 > 0)
    fair = FairKernelPCA(2, missing_sensitive="ignore").fit(X, sensitive_features=sex)
    known = sex.notna().to_numpy()
    assert fair.n_samples_seen_ == len(X)
    assert_equal_group_means(fair.transform(X)[known], sex[known].to_numpy())


def test_the_tradeoff_appends_lambda_times_kernel_pca(people):
    X, A, _ = people
    fair = FairKernelPCA(2, gamma=0.1).fit(X, sensitive_features=A)
    both = FairKernelPCA(2, gamma=0.1, tradeoff=0.3)
    T = both.fit_transform(X, sensitive_features=A)
    np.testing.assert_allclose(T, both.transform(X), atol=1e-10)
    np.testing.assert_allclose(T[:, :2], fair.transform(X), atol=1e-10)
    plain = KernelPCA(2, kernel="rbf", gamma=0.1).fit_transform(X)
    np.testing.assert_allclose(np.abs(T[:, 2:]), 0.3 * np.abs(plain), atol=1e-9)
    names = ["fairkernelpca0", "fairkernelpca1"]
    assert list(both.get_feature_names_out()[:2]) == names
    assert both.get_feature_names_out()[2] == "fairkernelpca_standard0"


def test_gamma_is_resolved_and_the_parameter_left_alone(people):
    X, A, _ = people
    scale = FairKernelPCA(2).fit(X, sensitive_features=A)
    assert scale.gamma == "scale"
    assert scale.gamma_ == pytest.approx(1 / (X.shape[1] * X.var()))
    assert FairKernelPCA(2, gamma="auto").fit(X, sensitive_features=A).gamma_ == 0.1
    assert FairKernelPCA(2, gamma=0.25).fit(X, sensitive_features=A).gamma_ == 0.25


def test_rows_near_1e7_are_as_good_as_rows_near_zero(people):
    X, A, _ = people
    near = FairKernelPCA(3, gamma=0.1).fit(X, sensitive_features=A).transform(X)
    far = FairKernelPCA(3, gamma=0.1).fit(X + 1e7, sensitive_features=A).transform(X + 1e7)
    np.testing.assert_allclose(np.abs(far), np.abs(near), atol=1e-6)


def test_single_precision_comes_back_as_single_precision(people):
    X, A, _ = people
    fair = FairKernelPCA(3).fit(X.astype(np.float32), sensitive_features=A)
    T = fair.transform(X.astype(np.float32))
    assert T.dtype == np.float32
    double = FairKernelPCA(3).fit(X, sensitive_features=A).transform(X)
    np.testing.assert_allclose(np.abs(T), np.abs(double), atol=1e-4)


def test_a_large_test_set_never_builds_its_kernel_matrix(people, monkeypatch):
    X, A, _ = people
    fair = FairKernelPCA(2).fit(X, sensitive_features=A)
    shapes = []
    combine = type(fair._map.features.kernel).combine

    def recorded(self, left, right):
        shapes.append((left.shape[0], right.shape[0]))
        return combine(self, left, right)

    monkeypatch.setattr(type(fair._map.features.kernel), "combine", recorded)
    many = np.tile(X, (10, 1))
    T = fair.transform(many)
    np.testing.assert_allclose(T[: len(X)], T[-len(X) :])
    assert max(a * b for a, b in shapes) <= 2**20
    assert sum(a for a, _ in shapes) == len(many)


def test_threads_change_nothing_but_rounding(people):
    X, A, _ = people
    with threadpool_limits(2, user_api="blas"):
        two = FairKernelPCA(2).fit(X, sensitive_features=A).transform(X)
    one = FairKernelPCA(2, n_jobs=1).fit(X, sensitive_features=A).transform(X)
    np.testing.assert_allclose(two, one, atol=1e-10)


def test_solvers_agree_and_a_tolerance_is_honoured(people):
    X, A, _ = people
    dense, iterative, coarse = (
        FairKernelPCA(3, gamma=0.02, **parameters).fit(X, sensitive_features=A)
        for parameters in ({"solver": "dense"}, {"solver": "iterative"}, {"tol": 1e-3})
    )
    np.testing.assert_allclose(dense.eigenvalues_, iterative.eigenvalues_, rtol=1e-11)
    np.testing.assert_allclose(dense.eigenvalues_, coarse.eigenvalues_, rtol=1e-3)
    assert coarse.mean_gap_ < 1e-12  # the tolerance concerns the variance, not the constraint


def test_a_flat_spectrum_is_solved_directly_or_reported(people):
    X, A, _ = people
    flat = {"kernel": "laplacian", "gamma": 3.0}  # hardly any two rows are alike
    auto = FairKernelPCA(3, **flat).fit(X, sensitive_features=A)
    dense = FairKernelPCA(3, solver="dense", **flat).fit(X, sensitive_features=A)
    np.testing.assert_allclose(auto.eigenvalues_, dense.eigenvalues_, rtol=1e-10)
    nearly = np.diag(np.linspace(1, 2, len(X)))
    with pytest.warns(ResidualWarning, match=r"relative residual of .*solver='auto'"):
        FairKernelPCA(2, kernel="precomputed", solver="iterative").fit(
            nearly, sensitive_features=A["sex"]
        )


def test_an_indefinite_kernel_is_reported_with_its_size(people):
    X, A, _ = people
    sigmoid = FairKernelPCA(2, kernel="sigmoid", gamma=0.5, coef0=1.0)
    with pytest.warns(IndefiniteKernelWarning, match=r"eigenvalue of -\d.*times the largest"):
        T = sigmoid.fit_transform(X, sensitive_features=A)
    assert_equal_group_means(T, A["race"].to_numpy())
    K = pairwise_kernels(X, metric="sigmoid", gamma=0.5, coef0=1.0)
    with pytest.warns(IndefiniteKernelWarning) as caught:
        every = FairKernelPCA(kernel="precomputed", solver="dense").fit(K, sensitive_features=A)
    assert caught[0].filename == __file__  # it points at the line above
    assert (every.eigenvalues_ > 0).all()
    assert every.explained_variance_ratio_.sum() <= 1.0
    with pytest.warns(IndefiniteKernelWarning):  # few rows: another solver
        FairKernelPCA(2, kernel="sigmoid", gamma=0.5).fit(X[:90], sensitive_features=A["sex"][:90])


def test_all_components_reproduce_the_deflated_kernel(people):
    X, A, _ = people
    fair = FairKernelPCA(gamma=0.1).fit(X[:100], sensitive_features=A["sex"][:100])
    assert fair.n_components_ == 98  # less the mean and the constraint
    assert fair.explained_variance_ratio_.sum() < 1.0
    assert np.all(np.diff(fair.eigenvalues_) <= 0)


@settings(max_examples=25)
@given(grouped_rows(weights=True))
def test_data_nobody_chose(rows):
    X, columns, w = rows
    X = (X - X.mean(axis=0)) / X.std(axis=0).clip(1e-9)
    fair = FairKernelPCA(2).fit(X, sensitive_features=columns, sample_weight=w)
    T = fair.transform(X)
    assert fair.mean_gap_ < 1e-9
    for name, column in columns.items():
        if name == "v":
            assert_uncorrelated(T, column, w, rtol=1e-7)
        else:
            assert_equal_group_means(T, column, w, rtol=1e-7)


def test_wildly_different_offsets_are_warned_about():
    rng = np.random.default_rng(5)
    X, z = rng.normal(size=(100, 2)), np.arange(100) % 2
    X[:, 0] += z
    X[:, 1] += 1e6  # a column of time stamps: gamma='scale' makes all rows look alike
    with pytest.warns(ResidualWarning, match=r"agree in too many digits.*Standardise"):
        fair = FairKernelPCA(1).fit(X, sensitive_features=z)
    T = fair.transform(X)
    gap = abs(T[z == 0].mean() - T[z == 1].mean()) / T.std()
    assert 1e-9 < gap < fair.mean_gap_  # the reported number covers what happened
    with pytest.raises(InfeasibleError, match=r"look alike.*standardise"):
        FairKernelPCA(1).fit(X + np.array([0, 1e8]), sensitive_features=z)
