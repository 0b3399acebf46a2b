"""Variance kept, and gaps of means and covariances, against definitions."""

from functools import partial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import norm
from sklearn.decomposition import PCA
from sklearn.metrics import roc_auc_score

from fairpca import FairPCA, metrics
from fairpca.errors import ManyLevelsWarning, MissingGroupError
from fairpca.metrics import _moments as moments
from fairpca.metrics import covariance_gap, explained_variance_ratio, mean_gap


def orthonormal_rows(rng, k, d):
    return np.linalg.qr(rng.normal(size=(d, k)))[0].T


@given(st.integers(0, 2**32 - 1), st.integers(1, 6), st.sampled_from([0.0, 1e4]))
def test_the_ratio_agrees_with_the_covariance_formula(seed, d, offset):
    rng = np.random.default_rng(seed)
    X = offset + rng.normal(size=(rng.integers(2, 30), d)) * rng.uniform(0.1, 10, size=d)
    U = orthonormal_rows(rng, int(rng.integers(1, d + 1)), d)
    A = np.atleast_2d(np.cov(X, rowvar=False))
    expected = np.trace(U @ A @ U.T) / np.trace(A)
    assert explained_variance_ratio(X, U) == pytest.approx(expected, abs=1e-8)


@given(st.integers(0, 2**32 - 1), st.integers(2, 6))
def test_a_subspace_and_its_complement_share_all_the_variance(seed, d):
    rng = np.random.default_rng(seed)
    X, U = rng.normal(size=(20, d)), orthonormal_rows(rng, d, d)
    parts = explained_variance_ratio(X, U[:1]), explained_variance_ratio(X, U[1:])
    assert sum(parts) == pytest.approx(1)


def test_on_the_training_rows_it_is_what_scikit_learn_reports():
    X = np.random.default_rng(0).normal(size=(80, 7)) * np.arange(1, 8)
    pca = PCA(3).fit(X)
    expected = pca.explained_variance_ratio_.sum()
    assert explained_variance_ratio(X, pca.components_) == pytest.approx(expected)


def test_float32_rows_far_from_zero_keep_their_digits():
    rng = np.random.default_rng(0)
    X = (1000 + rng.normal(size=(5000, 4))).astype(np.float32)
    U = orthonormal_rows(rng, 2, 4)
    expected = explained_variance_ratio(X.astype(np.float64), U)
    assert explained_variance_ratio(X, U) == pytest.approx(expected, rel=1e-9)


def test_the_ratio_does_not_depend_on_the_block_size(monkeypatch):
    rng = np.random.default_rng(0)
    X, U = rng.normal(size=(50, 4)), orthonormal_rows(rng, 2, 4)
    whole = explained_variance_ratio(X, U)
    monkeypatch.setattr(moments, "_BLOCK_ENTRIES", 12)
    assert explained_variance_ratio(X, U) == pytest.approx(whole, rel=1e-12)


def test_rows_that_are_not_orthonormal_are_refused_with_the_deviation():
    with pytest.raises(ValueError, match=r"not orthonormal.* by 3, more than 1e-6.*orth"):
        explained_variance_ratio(np.eye(3), [[2.0, 0.0, 0.0]])


def test_components_in_columns_are_refused():
    with pytest.raises(ValueError, match=r"shape \(3, 1\), but X has 3 features.*per row"):
        explained_variance_ratio(np.eye(3), [[1.0], [0.0], [0.0]])


def test_rows_without_variance_are_refused():
    with pytest.raises(ValueError, match=r"2 row\(s\) that are all equal.*variance is 0"):
        explained_variance_ratio(np.ones((2, 2)), [[1.0, 0.0]])


def test_it_is_the_largest_distance_in_units_of_its_column():
    rng = np.random.default_rng(0)
    z = rng.integers(3, size=200)
    T = rng.normal(size=(200, 4)) * [1, 10, 100, 1e-3] + np.outer(z == 2, [0, 5, 0, 0])
    expected = max(
        abs(T[z == g, j].mean() - T[:, j].mean()) / T[:, j].std()
        for g in range(3)
        for j in range(4)
    )
    assert mean_gap(T, z) == pytest.approx(expected)


def test_on_the_training_rows_it_is_what_the_estimator_says():
    rng = np.random.default_rng(0)
    z = rng.choice(["a", "b", "c"], size=300)
    X = rng.normal(size=(300, 6)) + np.outer(z == "c", [2.0, 1, 0, 0, 0, 0])
    fair = FairPCA(3).fit(X, sensitive_features=z)
    assert mean_gap(fair.transform(X), z) < 1e-12
    both = FairPCA(3, tradeoff=1.0).fit(X, sensitive_features=z)
    assert mean_gap(both.transform(X)[:, 3:], z) > 0.5


def test_two_tenths_mean_an_auc_of_about_sixty_one_percent():
    rng = np.random.default_rng(0)
    z = np.arange(200_000) % 2
    within = np.sqrt(1 - 0.2**2)  # so that all rows have a standard deviation of one
    T = within * rng.normal(size=(len(z), 1)) + np.where(z == 1, 0.2, -0.2)[:, None]
    assert mean_gap(T, z) == pytest.approx(0.2, abs=0.01)
    assert roc_auc_score(z, T[:, 0]) == pytest.approx(norm.cdf(0.4 / np.sqrt(2)), abs=0.01)


def test_columns_that_do_not_vary_do_not_count():
    T = np.column_stack([np.full(6, 0.1 + 0.2), [1.0, 2, 3, 3, 2, 1]])
    assert mean_gap(T, [0, 0, 0, 1, 1, 1]) == pytest.approx(0.0, abs=1e-15)
    assert mean_gap(np.ones((4, 2)), [0, 0, 1, 1]) == 0.0


def test_on_training_rows_it_is_what_the_estimator_reports():
    rng = np.random.default_rng(0)
    X, z = rng.normal(size=(300, 5)), rng.choice(list("abc"), 300)
    X[z == "b", :2] *= 2
    fair = FairPCA(2, match="covariances", covariance_method="spectral")
    T = fair.fit(X, sensitive_features=z).transform(X)
    assert covariance_gap(T, z) == pytest.approx(fair.covariance_gap_)


def test_one_column_and_equal_groups():
    T = np.array([[1.0], [-1.0], [1.0], [-1.0]])
    assert covariance_gap(T, [0, 0, 1, 1]) == 0.0
    assert covariance_gap(np.zeros((4, 2)), [0, 0, 1, 1]) == 0.0


def test_a_group_of_one_row_is_refused():
    with pytest.raises(ValueError, match=r"\['b'\] have one row"):
        covariance_gap(np.eye(3), ["a", "a", "b"])


def of_decisions(name, T, age):
    return getattr(metrics, name)(1 * (T[:, 1] > 0), 1 * (T[:, 0] > 0), sensitive_features=age)


NUMBERS = {
    "mean_gap": lambda T, age: metrics.mean_gap(T, age),
    "covariance_gap": lambda T, age: metrics.covariance_gap(T, age),
    "leakage": lambda T, age: metrics.leakage(T, age, random_state=0),
    "certified_gap": lambda T, age: metrics.certified_gap(np.arange(len(T)) % 4, age).bound,
    "mean_prediction_difference": lambda T, age: metrics.mean_prediction_difference(
        None, T[:, 0], sensitive_features=age
    ),
    "distribution_gap": lambda T, age: metrics.distribution_gap(
        None, T[:, 0], sensitive_features=age
    ),
}
"""Everything that is told of groups, or of a number."""

OF_DECISIONS = {"selection_rate_difference", "selection_rate_ratio", "precision_difference"}
OF_DECISIONS |= {"true_positive_rate_difference", "false_positive_rate_difference"}
NUMBERS |= {name: partial(of_decisions, name) for name in sorted(OF_DECISIONS)}


def explained(T, age):
    return metrics.explained_difference(
        None, 1 * (T[:, 0] > 0), sensitive_features=age, given=T[:, 1] > 0
    ).difference


OF_DECISIONS |= {"explained_difference"}
NUMBERS |= {"explained_difference": explained}

NO_GROUPS = {"Certificate", "ExplainedDifference", "Leakage", "explained_variance_ratio"}
NO_GROUPS |= {"select_top"}
NO_GROUPS |= {"ProxyDifference", "proxy_difference"}  # which takes probabilities
NO_GROUPS |= {"neighbours_kept", "similarity_correlation"}
NO_GROUPS |= {"Plan", "plan"}  # of people whom nobody has met
NO_GROUPS |= {"make_leakage_scorer"}  # makes a function


def test_every_metric_of_groups_is_asked_about_numbers():
    assert NUMBERS.keys() == set(metrics.__all__) - NO_GROUPS


@pytest.mark.parametrize("name", NUMBERS)
def test_a_date_is_a_number_of_days(name):
    rng = np.random.default_rng(0)
    T, days = rng.normal(size=(400, 2)), rng.permutation(400)
    born = np.datetime64("1990-01-01") + days
    assert NUMBERS[name](T, born) == pytest.approx(NUMBERS[name](T, days + 0.5), nan_ok=True)


@pytest.mark.parametrize("name", NUMBERS)
def test_a_number_is_not_one_group_per_value(name):
    rng = np.random.default_rng(0)
    T = rng.normal(size=(400, 2))
    age = 40 + 10 * T[:, 0] + rng.normal(size=400)
    found = NUMBERS[name](T, age)
    if name == "mean_gap":
        correlations = np.corrcoef(np.column_stack([T, age]).T)[2, :2]
        np.testing.assert_allclose(found, np.abs(correlations).max())
    else:
        assert found == NUMBERS[name](T, age > np.median(age))


@pytest.mark.parametrize("name", NUMBERS)
def test_many_whole_numbers_are_asked_about_and_refused_where_some_have_one_row(name):
    T = np.random.default_rng(0).normal(size=(400, 2))
    ages = np.arange(400) % 12 + 30
    with pytest.warns(ManyLevelsWarning, match=r"has 12 whole-number values.*numpy\.median"):
        found = NUMBERS[name](T, ages)
    assert found == NUMBERS[name](T, ages.astype(str))
    ages[0] = 17
    with pytest.raises(ValueError, match=r"has 13 whole-number values.*numpy\.median.*one row"):
        NUMBERS[name](T, ages.astype(float))


@pytest.mark.parametrize("name", NUMBERS)
def test_masks_of_groups_and_of_rows_are_not_dropped(name):
    T, sex = np.random.default_rng(0).normal(size=(400, 2)), np.arange(400) % 2
    with pytest.raises(MissingGroupError, match="missing"):
        NUMBERS[name](T, np.ma.array(sex, mask=np.arange(400) == 3))
    if name not in OF_DECISIONS | {"certified_gap"}:  # these see no representation
        with pytest.raises(ValueError, match="NaN"):
            NUMBERS[name](np.ma.array(T, mask=np.arange(800).reshape(400, 2) == 2), sex)


def test_a_number_that_was_made_uncorrelated_has_no_gap():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 4))
    age = X[:, 0] + rng.normal(size=300)
    fair = FairPCA(2).fit(X, sensitive_features=age)
    assert metrics.mean_gap(fair.transform(X), age) < 1e-12
    assert metrics.mean_gap(X, age) > 0.5


def test_one_value_hides_a_gap_from_means_and_not_from_medians():
    rng = np.random.default_rng(0)
    z = np.arange(1000) % 2
    x = rng.normal(size=1000) + 0.8 * z
    x[0] += x[z == 1].sum() - x[z == 0].sum()  # the means are equal now
    assert mean_gap(x[:, None], z) < 1e-12
    assert mean_gap(x[:, None], z, robust=True) > 0.2
    low, median, high = np.quantile(x, [0.25, 0.5, 0.75])
    expected = max(abs(np.median(x[z == g]) - median) for g in (0, 1)) / (high - low)
    assert mean_gap(x[:, None], z, robust=True) == pytest.approx(expected)
    number = rng.normal(size=1000)
    ranks = np.corrcoef(np.argsort(np.argsort(x)), np.argsort(np.argsort(number)))[0, 1]
    assert mean_gap(x[:, None], number, robust=True) == pytest.approx(abs(ranks))
    assert mean_gap(np.ones((1000, 1)), z, robust=True) == 0.0
