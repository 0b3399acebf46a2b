"""FairPCA(match="covariances") as a user meets it."""

import numpy as np
import pytest

from assertions import assert_equal_group_means
from fairpca import FairPCA
from fairpca.errors import InfeasibleError
from fairpca.metrics import covariance_gap
from slow import first_fast


@pytest.fixture(scope="module")
def people():
    rng = np.random.default_rng(0)
    n, d = 900, 12
    z = rng.choice(["f", "m"], n)
    X = rng.normal(size=(n, d)) * np.linspace(2, 1, d) + (z == "m")[:, None] * np.linspace(1, 0, d)
    X[z == "m", :4] *= 1.6
    X[z == "f", 8:] *= 1.8
    return X, z


def test_the_default_makes_means_and_covariances_equal(people):
    X, z = people
    fair = FairPCA(3, match="covariances").fit(X, sensitive_features=z)
    T = fair.transform(X)
    assert fair.covariance_gap_ < 1e-10
    assert covariance_gap(T, z) < 1e-9
    assert_equal_group_means(T, z)
    np.testing.assert_allclose(fair.explained_variance_, T.var(axis=0, ddof=1))
    assert np.all(np.diff(fair.explained_variance_) <= 0)


def test_the_knobs_order_variance_and_each_turns_the_other_off(people):
    X, z = people

    def kept(**knobs):
        fair = FairPCA(3, match="covariances", **knobs).fit(X, sensitive_features=z)
        return fair.explained_variance_.sum()

    assert kept(covariance_directions=1.0) == pytest.approx(kept(covariance_penalty=0.0))
    assert kept(covariance_penalty=0.0) > kept() > kept(covariance_penalty=2.0)
    assert kept() == pytest.approx(kept(covariance_penalty=0.5))
    assert kept(covariance_directions=1.0) > kept(covariance_directions=0.6)
    assert kept(covariance_tol=0.2, covariance_penalty=0.0) > kept(covariance_penalty=0.0)


def test_spectral_without_knobs_is_the_papers(people):
    X, z = people
    one, other = (
        FairPCA(3, match="covariances", covariance_method="spectral", covariance_directions=share)
        for share in (None, 0.85)
    )
    np.testing.assert_array_equal(
        one.fit(X, sensitive_features=z).components_, other.fit(X, sensitive_features=z).components_
    )


def test_scaling_weights_and_batches_go_together_with_it(people):
    X, z = people
    w = np.random.default_rng(1).integers(1, 4, len(X)).astype(float)
    whole = FairPCA(2, match="covariances", scale=True)
    whole.fit(X, sensitive_features=z, sample_weight=w)
    parts = FairPCA(2, match="covariances", scale=True)
    for rows in np.array_split(np.arange(len(X)), 4):
        parts.partial_fit(X[rows], sensitive_features=z[rows], sample_weight=w[rows])
    np.testing.assert_allclose(np.abs(parts.transform(X)), np.abs(whole.transform(X)), atol=1e-3)
    assert parts.covariance_gap_ < 1e-9


def test_progress_is_shown_on_request(people, capsys):
    X, z = people
    FairPCA(2, match="covariances", verbose=True).fit(X, sensitive_features=z)
    assert "covariance gap" in capsys.readouterr().err
    FairPCA(2, match="covariances").fit(X, sensitive_features=z)
    assert not capsys.readouterr().err


def test_impossible_requests_are_told_with_numbers_and_a_way_out(people):
    X, z = people
    with pytest.raises(InfeasibleError, match=r"n_components=9 .*allow 5.*covariance_tol"):
        FairPCA(9, match="covariances").fit(X, sensitive_features=z)
    loose = FairPCA(9, match="covariances", covariance_tol=0.6, covariance_penalty=0.0)
    assert loose.fit(X, sensitive_features=z).covariance_gap_ <= 0.6


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"covariance_penalty": -1}, r"covariance_penalty=-1 .*>= 0"),
        ({"covariance_penalty": "much"}, r"covariance_penalty='much'"),
        ({"covariance_directions": "few"}, r"covariance_directions='few'.*None for all"),
        ({"covariance_tol": 0.0}, r"covariance_tol=0\.0 .*above 0"),
        ({"covariance_method": "magic"}, r"'exact', 'spectral'"),
    ],
)
def test_bad_knobs_are_refused(people, parameters, message):
    X, z = people
    with pytest.raises(ValueError, match=message):
        FairPCA(2, match="covariances", **parameters).fit(X, sensitive_features=z)


@pytest.mark.parametrize("seed", first_fast(range(20), 5))
def test_two_groups_are_matched_whenever_the_inertia_allows_it(seed):
    rng = np.random.default_rng(seed)
    d, n = int(rng.integers(4, 13)), 200
    z = np.arange(n) % 2
    X = rng.normal(size=(n, d))
    X[z == 1] = X[z == 1] @ (np.eye(d) + 0.7 * rng.normal(size=(d, d)) / np.sqrt(d))
    X *= np.logspace(0, -2, d)
    gap = X[z == 0].mean(axis=0) - X[z == 1].mean(axis=0)
    R = np.linalg.svd(gap[None, :])[2][1:].T
    values = np.linalg.eigvalsh(R.T @ (np.cov(X[z == 0].T) - np.cov(X[z == 1].T)) @ R)
    bound = min((values > 0).sum(), (values < 0).sum())
    if bound == 0:
        return
    for penalty in (0.0, 0.5, 100.0):
        fair = FairPCA(match="covariances", covariance_penalty=penalty)
        assert fair.fit(X, sensitive_features=z).n_components_ == bound
        assert fair.covariance_gap_ < 1e-6
    with pytest.raises(InfeasibleError, match="do not exist"):
        FairPCA(int(bound) + 1, match="covariances").fit(X, sensitive_features=z)


@pytest.mark.parametrize("seed", first_fast(range(10), 4))
def test_a_budget_holds_for_every_one_of_many_groups(seed):
    rng = np.random.default_rng(seed)
    z, X = np.arange(60) % 5, rng.normal(size=(60, 8))
    for tol in (0.3, 0.6, 0.9):
        fair = FairPCA(2, match="covariances", covariance_tol=tol, covariance_penalty=0.0)
        try:
            T = fair.fit(X, sensitive_features=z).transform(X)
        except InfeasibleError:
            continue
        assert covariance_gap(T, z) <= tol * (1 + 1e-9)


@pytest.mark.parametrize("column", ["constant", "copy"])
def test_directions_without_variance_are_no_solution(column):
    rng = np.random.default_rng(0)
    z, X = np.arange(200) % 2, rng.normal(size=(200, 3))
    X[z == 1] *= 2  # one group varies more in every direction
    more = np.ones(200) if column == "constant" else X[:, 0]
    with pytest.raises(InfeasibleError, match=r"2 directions allow 0"):
        FairPCA(1, match="covariances").fit(np.column_stack([X, more]), sensitive_features=z)


def test_a_share_of_the_variance_may_use_the_budget(people):
    X, z = people
    strict = FairPCA(match="covariances", covariance_penalty=0.0).fit(X, sensitive_features=z)
    share = float(strict.explained_variance_ratio_.sum()) + 0.05
    with pytest.raises(InfeasibleError, match=r"hold at most.*covariance_tol"):
        strict.set_params(n_components=share).fit(X, sensitive_features=z)
    loose = FairPCA(share, match="covariances", covariance_penalty=0.0, covariance_tol=0.5)
    assert loose.fit(X, sensitive_features=z).explained_variance_ratio_.sum() >= share


def test_an_attribute_given_twice_asks_for_nothing_more(people):
    X, z = people
    once = FairPCA(3, match="covariances").fit(X, sensitive_features={"z": z})
    twice = FairPCA(3, match="covariances").fit(X, sensitive_features={"z": z, "again": z})
    np.testing.assert_allclose(twice.explained_variance_, once.explained_variance_, rtol=1e-6)
