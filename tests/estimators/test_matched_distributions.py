"""Fair PCA by distributions: what stays exact, what is hidden, and every way in."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.metrics import roc_auc_score

from assertions import assert_equal_group_means, assert_orthonormal, assert_uncorrelated
from fairpca import FairKernelPCA, FairPCA
from fairpca.errors import ResidualWarning, UsageError
from fairpca.io import CSVRows


def people(n=2000, d=8, seed=0):
    """Group 1 differs in mean, in spread and in shape, each along a direction of its own."""
    rng = np.random.default_rng(seed)
    z = rng.integers(2, size=n)
    X = rng.normal(size=(n, d)) * np.linspace(1.5, 1.0, d)
    X[:, 0] *= np.where(z == 1, 2.0, 1.0)
    X[:, 1] = np.where(z == 1, rng.choice([-1.5, 1.5], size=n) + 0.2 * X[:, 1], X[:, 1])
    X[:, 2] += z
    return X @ np.linalg.qr(rng.normal(size=(d, d)))[0], z


def read_by_trees(T, z, T_new, z_new):
    trees = HistGradientBoostingClassifier(max_iter=100, random_state=0).fit(T, z)
    return roc_auc_score(z_new, trees.predict_proba(T_new)[:, 1])


def landmarks(k, **options):
    options = {"random_state": 0, "n_landmarks": 100} | options
    return FairKernelPCA(k, match="distributions", approximation="nystroem", **options)


@pytest.mark.parametrize("make", [FairPCA, landmarks])
def test_trees_hardly_see_on_new_rows_what_fair_pca_shows(make):
    X, z = people(4000)
    fair = make(3, **({} if make is landmarks else {"match": "distributions"}))
    fair.fit(X[:1500], sensitive_features=z[:1500])
    usual = FairPCA(3).fit(X[:1500], sensitive_features=z[:1500])
    known, new = slice(1500, 2750), slice(2750, 4000)
    read = [
        read_by_trees(T[known], z[known], T[new], z[new])
        for T in (fair.transform(X), usual.transform(X))
    ]
    assert read[0] < 0.6 < 0.8 < read[1]
    assert fair.separability_ < 2 * fair.separability_null_
    assert fair.mean_gap_ < 1e-9


def test_means_are_equal_exactly_and_components_are_orthonormal():
    X, z = people(800)
    fair = FairPCA(3, match="distributions").fit(X, sensitive_features=z)
    assert_orthonormal(fair.components_.T)
    assert_equal_group_means(fair.transform(X), z)
    variances = fair.transform(X).var(axis=0, ddof=1)
    np.testing.assert_allclose(fair.explained_variance_, variances)
    assert np.all(np.diff(variances) <= 0)
    back = fair.inverse_transform(fair.transform(X))
    np.testing.assert_allclose(fair.transform(back), fair.transform(X), atol=1e-10)


def test_many_groups_numbers_weights_and_missing_values():
    X, z = people(900)
    rng = np.random.default_rng(1)
    attributes = {
        "sex": np.where(rng.random(900) < 0.1, None, np.where(z == 1, "m", "f")),
        "race": rng.choice(["a", "b", "c"], size=900),
        "age": 40 + 10 * X[:, 3] + rng.normal(size=900),
    }
    weight = rng.uniform(0.0, 2.0, size=900)
    fair = FairPCA(2, match="distributions", missing_sensitive="ignore")
    fair.fit(X, sensitive_features=attributes, sample_weight=weight)
    T = fair.transform(X)
    assert_uncorrelated(T, attributes["age"], weight)
    assert_equal_group_means(T, attributes["race"], weight)
    assert 0 < fair.separability_ < 0.5


@pytest.mark.parametrize("criterion", ["equal_opportunity", "equalized_odds"])
def test_criteria_choose_who_is_compared(criterion):
    X, z = people(600)
    y = np.random.default_rng(5).integers(2, size=600)
    fair = FairPCA(2, match="distributions", criterion=criterion).fit(X, y, sensitive_features=z)
    assert_equal_group_means(fair.transform(X)[y == 1], z[y == 1])


@pytest.fixture(scope="module")
def hidden():
    X, z = people(800)
    return FairPCA(3, match="distributions").fit(X, sensitive_features=z), X, z


@settings(max_examples=5, deadline=None)
@given(seed=st.integers(0, 2**20), spread=st.floats(0.0, 3.0))
def test_an_invertible_map_of_the_output_does_not_change_the_verdict(hidden, seed, spread):
    """Readers see whitened rows. With all components of an output there is nothing to choose."""
    fair, X, z = hidden
    T, rng = fair.transform(X), np.random.default_rng(seed)
    M = np.linalg.qr(rng.normal(size=(3, 3)))[0] * 10.0 ** rng.uniform(-spread, spread, size=3)
    for rows in (T, T @ M):
        seen = FairPCA(match="distributions", scale=True).fit(rows, sensitive_features=z)
        assert seen.n_components_ == 3
        assert seen.separability_ == pytest.approx(fair.separability_, abs=0.02)
        assert seen.separability_ < 1.5 * seen.separability_null_


def test_the_same_for_a_seed_and_any_number_of_threads():
    X, z = people(700)
    fits = [
        FairPCA(3, match="distributions", n_jobs=n_jobs, random_state=0)
        .fit(X, sensitive_features=z)
        .components_
        for n_jobs in (1, 2, None)
    ]
    np.testing.assert_allclose(fits[0], fits[1], atol=1e-4)
    np.testing.assert_allclose(fits[0], fits[2], atol=1e-4)


def test_rows_of_a_file_give_the_same(tmp_path):
    X, z = people(600)
    path = tmp_path / "people.csv"
    header = ",".join([*(f"x{j}" for j in range(8)), "sex"])
    np.savetxt(path, np.c_[X, z], delimiter=",", header=header, comments="", fmt="%.17g")
    rows = CSVRows(path, sensitive=["sex"], batch_rows=100)
    apart = FairPCA(2, match="distributions").fit(rows)
    whole = FairPCA(2, match="distributions").fit(X, sensitive_features=z)
    np.testing.assert_allclose(apart.components_, whole.components_, atol=1e-4)


def test_a_sample_stands_for_more_rows(monkeypatch):
    monkeypatch.setattr("fairpca.estimators._drawn_rows.SAMPLE_ROWS", 1000)
    X, z = people(4000)
    fair = FairPCA(3, match="distributions").fit(X, sensitive_features=z)
    assert_equal_group_means(fair.transform(X), z)
    assert fair.separability_ < 2 * fair.separability_null_


def test_single_precision_stays_and_agrees():
    X, z = people(1000)
    single = FairPCA(2, match="distributions").fit(X.astype(np.float32), sensitive_features=z)
    assert single.transform(X.astype(np.float32)).dtype == np.float32
    assert single.mean_gap_ < 1e-3
    assert single.separability_ < 2 * single.separability_null_


def test_landmarks_reconstruct_the_columns():
    X, z = people(1000)
    fair = landmarks(4).fit(X, sensitive_features=z)
    T = fair.transform(X)
    back = fair.inverse_transform(T)
    decoder = np.linalg.lstsq(np.c_[np.ones(1000), T], X)[0]
    np.testing.assert_allclose(back, np.c_[np.ones(1000), T] @ decoder, atol=1e-6)
    assert_equal_group_means(T, z, rtol=1e-7)


def test_batches_and_moments_are_refused_in_words():
    fair = FairPCA(2, match="distributions")
    for name, words in (("partial_fit", "reads rows many times"), ("fit_moments", "row by row")):
        assert not hasattr(fair, name)
        with pytest.raises(AttributeError, match=words):
            getattr(fair, name)
    assert hasattr(FairPCA(2), "partial_fit")
    with pytest.raises(UsageError, match="approximation='nystroem' and center=True"):
        FairKernelPCA(2, match="distributions").fit(*[np.eye(4)], sensitive_features=[0, 1, 0, 1])


def test_too_many_components_leave_no_choice_and_that_is_said():
    X, z = people(1000)
    with pytest.warns(ResidualWarning, match="use fewer components"):
        FairPCA(match="distributions").fit(X, sensitive_features=z)


def test_progress_is_told(capsys):
    X, z = people(500)
    FairPCA(2, match="distributions", verbose=True).fit(X, sensitive_features=z)
    assert "distributions: step 100 of" in capsys.readouterr().err
