"""FairPCA(match="covariances") as a user meets it."""

import numpy as np
import pytest

from assertions import assert_equal_group_means
from fairpca import FairPCA, InfeasibleError, collect_moments
from fairpca.metrics import covariance_gap


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


@pytest.mark.parametrize("knob", ["covariance_directions", "covariance_penalty"])
def test_auto_chooses_by_what_trees_read_from_held_out_rows(people, knob):
    X, z = people
    fair = FairPCA(3, match="covariances", random_state=0, **{knob: "auto"})
    fair.fit(X, sensitive_features=z)
    chosen, aucs = getattr(fair, f"{knob}_"), fair.held_out_auc_
    assert chosen in aucs
    assert aucs[chosen] <= min(aucs.values()) + 0.1
    direct = FairPCA(3, match="covariances", **{knob: chosen}).fit(X, sensitive_features=z)
    np.testing.assert_allclose(fair.components_, direct.components_)
    again = FairPCA(3, match="covariances", random_state=0, **{knob: "auto"})
    assert again.fit(X, sensitive_features=z).held_out_auc_ == aucs
    fair.set_params(**{knob: 0.5}).fit(X, sensitive_features=z)
    assert not hasattr(fair, "held_out_auc_")


def test_auto_says_what_it_needs(people):
    X, z = people
    fair = FairPCA(2, match="covariances", covariance_penalty="auto")
    with pytest.raises(ValueError, match=r"needs them at once"):
        fair.partial_fit(X, sensitive_features=z)
    with pytest.raises(ValueError, match=r"moments have no rows"):
        fair.fit_moments(collect_moments(X, z, with_scatters=True))
    with pytest.raises(ValueError, match=r"at least 90 rows; these are 60"):
        fair.fit(X[:60], sensitive_features=z[:60])
    with pytest.raises(ValueError, match=r"both 'auto'"):
        fair.set_params(covariance_directions="auto").fit(X, sensitive_features=z)


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
        ({"covariance_directions": "few"}, r"covariance_directions='few'.*'auto'"),
        ({"covariance_tol": 0.0}, r"covariance_tol=0\.0 .*above 0"),
        ({"covariance_method": "magic"}, r"'exact', 'spectral'"),
    ],
)
def test_bad_knobs_are_refused(people, parameters, message):
    X, z = people
    with pytest.raises(ValueError, match=message):
        FairPCA(2, match="covariances", **parameters).fit(X, sensitive_features=z)
