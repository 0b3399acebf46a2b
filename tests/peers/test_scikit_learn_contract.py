"""Every peer is a scikit-learn transformer; the list is what the package exports."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.utils import estimator_checks
from sklearn.utils.estimator_checks import parametrize_with_checks

import fairpca.peers
from fairpca import MissingGroupError
from fairpca.peers._baselines import _IgnoresSensitiveFeatures
from made_up_groups import with_made_up_groups
from optional_libraries import pandas as pd
from registry import ESTIMATORS, asks_for_groups, transformed

PEERS = [getattr(fairpca.peers, name) for name in fairpca.peers.__all__]
PEERS = [peer for peer in PEERS if isinstance(peer, type) and hasattr(peer, "transform")]
FAIR = [peer for peer in PEERS if not issubclass(peer, _IgnoresSensitiveFeatures)]
SETTINGS = {
    "FPCA": {"n_components": 1},
    "MbFPCA": {"n_components": 1, "tol": 1.5},
    "RLACE": {"tol": 1.0},
}
"""Settings instead of the defaults: the checks have rows of two features, and few of them, where
two components, or nearly equal distributions, are not to be had (which is said); short games."""

WHOLE = ("PCA", "KernelPCA", "INLP", "OracleLEACE")
"""One peer for each way to read rows: all checks are made of it."""

OWN = [
    getattr(estimator_checks, f"check_{name}")
    for name in (
        "estimators_dtypes",
        "estimators_overwrite_params",
        "fit2d_1feature",
        "fit2d_1sample",
        "fit_check_is_fitted",
        "fit_idempotent",
        "methods_subset_invariance",
        "sample_weight_equivalence_on_dense_data",
        "transformer_general",
    )
]
"""Checks whose answer depends on the method, and not on how rows are read."""

GROUPED = {peer.__name__: with_made_up_groups(peer) for peer in PEERS}


def grouped(name):
    return GROUPED[name](**SETTINGS.get(name, {}))


@parametrize_with_checks([*map(grouped, WHOLE)])
def test_all_estimator_checks_pass(estimator, check):
    check(estimator)


@pytest.mark.parametrize("check", OWN, ids=lambda check: check.__name__)
@pytest.mark.parametrize("name", [name for name in GROUPED if name not in WHOLE])
def test_checks_of_the_method_pass(name, check):
    if name == "RLACE" and "sample_weight" in check.__name__:
        pytest.skip("rows are drawn at random, and a row of weight two is not drawn like two rows")
    check(name, grouped(name))


def test_every_exported_estimator_is_in_the_registry():
    known = {type(known.estimator) for known in ESTIMATORS.values()}
    assert {fairpca.peers.Reductions, *PEERS} <= known


def made(peer):
    """Return a peer with settings that suit few rows."""
    return peer(**SETTINGS.get(peer.__name__, {}))


@pytest.fixture
def people():
    rng = np.random.default_rng(0)
    sex = rng.choice(["f", "m"], 120)
    X = pd.DataFrame(rng.normal(size=(120, 5)), columns=list("abcde"))
    X["a"] += 2.0 * (sex == "m")
    y = (X["b"] + rng.normal(size=120) > 0).astype(int)
    return X, y, pd.Series(sex, name="sex")


@pytest.mark.parametrize("Peer", PEERS)
def test_a_frame_comes_back_with_names(Peer, people):
    X, y, sex = people
    peer = made(Peer).set_output(transform="pandas").fit(X, y, sensitive_features=sex)
    T = transformed(peer, X, sex)
    assert isinstance(T, pd.DataFrame)
    assert list(T.columns) == peer.get_feature_names_out().tolist()
    assert len(set(T.columns)) == T.shape[1]
    pd.testing.assert_index_equal(T.index, X.index)


@pytest.mark.parametrize("name", ["OracleLEACE"])
def test_erased_columns_keep_the_names_they_had(name, people):
    X, y, sex = people
    peer = getattr(fairpca.peers, name)().set_output(transform="pandas")
    assert list(peer.fit_transform(X, y, sensitive_features=sex).columns) == list("abcde")
    plain = getattr(fairpca.peers, name)().fit(X.to_numpy(), y, sensitive_features=sex)
    assert plain.get_feature_names_out().tolist() == ["x0", "x1", "x2", "x3", "x4"]


@pytest.mark.parametrize("Peer", FAIR)
def test_fitting_without_sensitive_features_is_refused(Peer, people):
    X, y, _ = people
    with pytest.raises(MissingGroupError, match="No sensitive features were given"):
        made(Peer).fit(X, y)
    with pytest.raises(MissingGroupError):
        make_pipeline(made(Peer), LogisticRegression()).fit(X, y)


@pytest.mark.parametrize("Peer", [peer for peer in PEERS if not asks_for_groups(peer)])
def test_a_pipeline_passes_the_attributes_by_name(Peer, people):
    X, y, sex = people
    model = make_pipeline(made(Peer), LogisticRegression())
    model.fit(X, y, **{f"{Peer.__name__.lower()}__sensitive_features": sex})
    assert model.predict(X).shape == (120,)


@pytest.mark.parametrize("Peer", PEERS)
def test_refitting_equals_a_fresh_fit(Peer, people):
    X, y, sex = people
    refitted = made(Peer).fit(X[::-1] ** 3, y[::-1], sensitive_features=sex[::-1])
    refitted.fit(X, y, sensitive_features=sex)
    fresh = made(Peer).fit(X, y, sensitive_features=sex)
    assert set(vars(refitted)) == set(vars(fresh))
    np.testing.assert_allclose(
        transformed(refitted, X, sex), transformed(fresh, X, sex), atol=1e-10
    )


@pytest.mark.parametrize("Peer", PEERS)
def test_every_peer_says_who_published_it_and_shows_how_it_is_used(Peer):
    assert ">>>" in Peer.__doc__
    assert issubclass(Peer, _IgnoresSensitiveFeatures) or "References" in Peer.__doc__
