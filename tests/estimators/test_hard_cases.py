"""Cases in which an obvious implementation quietly breaks the promise."""

import threading

import numpy as np
import pytest
import scipy.sparse

from assertions import assert_equal_group_means, assert_orthonormal, assert_same_subspace
from fairpca import FairPCA
from fairpca.errors import InfeasibleError, MissingGroupError, MissingTargetError
from fairpca.moments import collect_moments
from optional_libraries import pandas as pd
from oracles import fair_pca_s_by_the_book


@pytest.mark.parametrize("power", [3, 6])
def test_components_stay_orthonormal_and_fair_in_mixed_units(power):
    """Without the polishing step the weak components differ by 3e-5 standard deviations at 1e6."""
    rng = np.random.default_rng(0)
    g = rng.integers(0, 4, 3000)
    X = rng.normal(size=(3000, 8)) @ rng.normal(size=(8, 8)) + rng.normal(size=(4, 8))[g]
    X[:, :4] *= 10.0**-power
    X[:, 4:] *= 10.0**power
    fair = FairPCA(5).fit(X, sensitive_features=g)
    assert_orthonormal(fair.components_.T, atol=1e-10)
    for component in fair.transform(X).T:  # each in its own units
        assert_equal_group_means(component[:, None], g)


@pytest.mark.parametrize("n", [100, 5000])
@pytest.mark.parametrize("far", [0.0, 10.0, 1e8])
def test_rows_far_from_zero_are_transformed_to_all_digits(n, far):
    """Products about zero, with the mean's subtracted, would lose eight of sixteen digits."""
    rng = np.random.default_rng(0)
    X, g = rng.integers(-8, 9, size=(n, 6)) + far, rng.integers(0, 2, n)
    fair = FairPCA(3).fit(X, sensitive_features=g)
    expected = (X - fair.mean_) @ fair.components_.T
    np.testing.assert_allclose(fair.transform(X), expected, atol=1e-12)
    np.testing.assert_allclose(fair.transform(X[:1]), expected[:1], atol=1e-12)


def test_units_too_far_apart_for_digits_are_refused_unless_scaled():
    rng = np.random.default_rng(0)
    g = rng.integers(0, 3, 3000)
    X = rng.normal(size=(3000, 8)) @ rng.normal(size=(8, 8)) + g[:, None]
    X[:, :4] *= 1e-9
    X[:, 4:] *= 1e9
    with pytest.raises(InfeasibleError, match=r"along 2 direction.* that digits do not reach"):
        FairPCA(6).fit(X, sensitive_features=g)
    for estimator in (FairPCA(2), FairPCA(6, scale=True)):
        U = estimator.fit(X, sensitive_features=g).components_.T
        assert_orthonormal(U, atol=1e-10)
        assert estimator.mean_gap_ < 1e-9


def test_a_constant_column_takes_no_direction_however_the_rows_are_split():
    rng = np.random.default_rng(20)
    X, g = rng.normal(size=(60, 4)), rng.integers(0, 4, 60)
    X[:, 1] = 1e15 / 3
    batched = FairPCA(scale=True)
    for i in range(0, 60, 7):
        batched.partial_fit(X[i : i + 7], sensitive_features={"g": g[i : i + 7] > 1})
    assert batched.constraint_rank_ == 1
    assert batched.scale_[1] == 1
    rows = batched.moments_.contrasts()[0]
    np.testing.assert_array_equal(rows[:, 1], 0)


@pytest.mark.parametrize("column", ["constant", "far away"])
def test_sparse_columns_off_zero_take_no_direction_of_their_own(column):
    rng = np.random.default_rng(1)
    for _ in range(10):
        g = rng.integers(0, 3, 200)
        X = rng.normal(size=(200, 4)) * (rng.random((200, 4)) < 0.5)
        X[:, 2] = 0.3 if column == "constant" else X[:, 2] + 1e5
        nested = {"g": g, "coarse": g > 0}
        for scale in (False, True):
            sparse = FairPCA(scale=scale).fit(scipy.sparse.csr_array(X), sensitive_features=nested)
            dense = FairPCA(scale=scale).fit(X, sensitive_features=nested)
            assert len(dense.components_) == (1 if column == "constant" else 2)
            assert sparse.constraint_rank_ == dense.constraint_rank_ == 2
            assert_same_subspace(sparse.components_.T, dense.components_.T, atol=1e-6)


def test_a_missing_float_is_a_group_in_intersections_too():
    rng = np.random.default_rng(2)
    X, sex = rng.normal(size=(300, 9)), rng.integers(0, 2, 300).astype(float)
    sex[:60] = np.nan
    X[:60] += 2
    fair = FairPCA(2, missing_sensitive="group", intersectional=True)
    fair.fit(X, sensitive_features={"sex": sex, "old": rng.integers(0, 2, 300)})
    assert_equal_group_means(fair.transform(X), np.isnan(sex))


def test_a_light_group_in_single_precision_is_still_erased():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(50_000, 5)).astype(np.float32)
    rare = np.arange(50_000) < 500
    X[rare, 0] += 2
    w = np.where(rare, 1e-3, 1.0)
    fair = FairPCA(3).fit(X, sensitive_features=rare, sample_weight=w)
    assert fair.constraint_rank_ == 1
    assert_equal_group_means(fair.transform(X.astype(float)), rare, w, rtol=1e-4)


@pytest.mark.parametrize("separation", [1e2, 1e4, 1e5])
def test_covariances_of_distant_groups_keep_their_digits(separation):
    rng = np.random.default_rng(4)
    z = rng.integers(0, 2, 500)
    X = rng.normal(size=(500, 6)) * np.where(z[:, None] == 1, np.linspace(1, 3, 6), 1.0)
    X = X - np.array([X[z == 0].mean(0), X[z == 1].mean(0)])[z]
    moved = X + separation * z[:, None] * np.array([1.0, -0.5, 0.3, 0.7, -0.2, 0.4])
    fair = FairPCA(2, match="covariances", covariance_method="spectral", covariance_directions=3)
    fair.fit(moved, sensitive_features=z)
    oracle = fair_pca_s_by_the_book(moved, z, k=2, l=3)
    assert_same_subspace(fair.components_.T, oracle, atol=1e-6)


def test_later_changes_of_the_callers_arrays_do_not_reach_the_batches():
    rng = np.random.default_rng(5)
    X, w, z = rng.normal(size=(10, 30)), np.ones(10) + rng.random(10), np.arange(10) % 2
    fair = FairPCA(2).partial_fit(X, sensitive_features=z, sample_weight=w)
    expected = FairPCA(2).fit(X, sensitive_features=z, sample_weight=w).components_
    X[:], w[:] = 0, 100
    np.testing.assert_allclose(fair.components_, expected, atol=1e-10)


def test_threads_may_ask_for_the_result_at_the_same_time():
    rng = np.random.default_rng(6)
    X, z = rng.normal(size=(500, 60)), np.arange(500) % 2
    for _ in range(5):
        fair = FairPCA(5, tradeoff=0.5).partial_fit(X, sensitive_features=z)
        widths = []
        threads = [
            threading.Thread(target=lambda f=fair, w=widths: w.append(f.transform(X).shape[1]))
            for _ in range(8)
        ]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        assert widths == [10] * 8


def test_batches_with_other_attributes_are_refused():
    rng = np.random.default_rng(7)
    X, z = rng.normal(size=(20, 3)), np.arange(20) % 2
    fair = FairPCA(1).partial_fit(X, sensitive_features=pd.Series(z, name="sex"))
    with pytest.raises(ValueError, match=r"\['sex'\] cannot be added to .*\['sensitive'\]"):
        fair.partial_fit(X, sensitive_features=z)


@pytest.mark.parametrize("values", [[-128, -1, 127], [-128, 127], [-100, 100]])
def test_small_integer_types_do_not_wrap_around(values):
    rng = np.random.default_rng(8)
    z = rng.choice(np.array(values, dtype=np.int8), 300)
    X = rng.normal(size=(300, 5)) + (z == values[-1])[:, None]
    fair = FairPCA(2).fit(X, sensitive_features=z)
    assert fair.groups_["sensitive"] == values
    assert_equal_group_means(fair.transform(X), z)


def test_moments_for_another_criterion_are_refused_and_the_right_ones_fit():
    rng = np.random.default_rng(9)
    X, y, z = rng.normal(size=(90, 6)), np.arange(90) // 5 % 2, np.arange(90) % 3
    odds = FairPCA(2, criterion="equalized_odds")
    with pytest.raises(ValueError, match=r"collected for another criterion.*criterion="):
        odds.fit_moments(collect_moments(X, z))
    moments = collect_moments(X, z, y=y, criterion="equalized_odds")
    expected = FairPCA(2, criterion="equalized_odds").fit(X, y, sensitive_features=z)
    np.testing.assert_allclose(odds.fit_moments(moments).components_, expected.components_)


def test_categoricals_are_levels_whatever_their_categories():
    codes = pd.Series([0.5, 1.25, 0.5, 1.25] * 5, dtype="category", name="dose")
    fair = FairPCA(1).fit(np.random.default_rng(10).normal(size=(20, 3)), sensitive_features=codes)
    assert fair.groups_ == {"dose": [0.5, 1.25]}


@pytest.mark.parametrize("solver", ["auto", "iterative"])
def test_constant_rows_are_refused(solver):
    fair = FairPCA(5, solver=solver)
    with pytest.raises(InfeasibleError, match="vary along 0 direction"):
        fair.fit(np.ones((1200, 900)), sensitive_features=np.arange(1200) % 2)


@pytest.mark.parametrize("columns", ["sex", ["sex"], pd.Index(["sex"])])
def test_sensitive_columns_may_be_one_name_or_any_sequence(columns):
    rng = np.random.default_rng(11)
    table = pd.DataFrame(rng.normal(size=(30, 3)), columns=list("abc")).assign(sex=["f", "m"] * 15)
    assert FairPCA(1, sensitive_columns=columns).fit(table).transform(table).shape == (30, 1)


def test_sensitive_columns_of_frames_without_names_lists_and_sparse_matrices():
    rng = np.random.default_rng(12)
    table = np.column_stack([rng.normal(size=(30, 3)), np.arange(30) % 2])
    expected = FairPCA(1, sensitive_columns=[3]).fit(table).components_
    for X in (pd.DataFrame(table), table.tolist(), scipy.sparse.coo_array(table)):
        found = FairPCA(1, sensitive_columns=[3]).fit(X)
        np.testing.assert_allclose(found.components_, expected, atol=1e-12)
        assert found.transform(X).shape == (30, 1)
    assert FairPCA(1, sensitive_columns=-1).fit(table).groups_ == {"3": [0.0, 1.0]}


def test_underflow_is_an_error_and_not_plain_pca():
    rng = np.random.default_rng(13)
    X, z = rng.normal(size=(50, 3)) * 1e-170, np.arange(50) % 2
    with pytest.raises(ValueError, match="underflow"):
        FairPCA(1).fit(X, sensitive_features=z)


def test_no_attributes_at_all_are_missing_groups():
    X = np.random.default_rng(14).normal(size=(10, 3))
    for nothing in ({}, np.empty((10, 0)), pd.DataFrame(index=range(10))):
        with pytest.raises(MissingGroupError, match="no columns"):
            FairPCA(1).fit(X, sensitive_features=nothing)


def test_missing_labels_are_refused_where_labels_matter():
    rng = np.random.default_rng(15)
    X, z, y = rng.normal(size=(20, 3)), np.arange(20) % 2, np.r_[np.nan, np.ones(19)]
    with pytest.raises(MissingTargetError, match="y has missing values"):
        FairPCA(1, criterion="equal_opportunity").fit(X, y, sensitive_features=z)


def test_an_identifier_is_not_an_attribute():
    X = np.random.default_rng(16).normal(size=(10_001, 2))
    with pytest.raises(ValueError, match=r"10001 levels.*looks like an identifier"):
        FairPCA(1).fit(X, sensitive_features={"id": [str(i) for i in range(10_001)]})


def test_a_batch_without_weight_changes_nothing():
    rng = np.random.default_rng(17)
    X, z = rng.normal(size=(40, 3)), np.arange(40) % 2
    fair = FairPCA(1).partial_fit(X, sensitive_features=z)
    fair.partial_fit(X * 9, sensitive_features=z, sample_weight=np.zeros(40))
    expected = FairPCA(1).fit(X, sensitive_features=z)
    np.testing.assert_allclose(fair.components_, expected.components_, atol=1e-12)


def test_before_enough_rows_attributes_are_absent_and_the_reason_is_told():
    fair = FairPCA(1).partial_fit(np.ones((1, 3)), sensitive_features=["a"])
    assert not hasattr(fair, "components_")
    with pytest.raises(AttributeError, match=r"cannot be computed yet: Found 1 row"):
        fair.components_  # noqa: B018
    assert "FairPCA" in fair._repr_html_()


def test_a_name_in_place_of_a_column_is_refused_with_the_way_to_do_it():
    X = pd.DataFrame({"a": [1.0, 2.0], "sex": [0, 1]})
    with pytest.raises(ValueError, match=r"is a name.*sensitive_columns=\['sex'\]"):
        FairPCA(1).fit(X, sensitive_features="sex")


def test_moments_can_be_summed():
    rng = np.random.default_rng(19)
    X, z = rng.normal(size=(40, 3)), np.arange(40) % 2
    moments = sum(collect_moments(X[i::4], z[i::4] * 1) for i in range(4))
    assert moments.n_rows == 40
