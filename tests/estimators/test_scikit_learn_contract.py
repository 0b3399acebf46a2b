import pickle

import numpy as np
import pytest
import sklearn
from sklearn.base import clone
from sklearn.compose import ColumnTransformer, make_column_transformer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from assertions import assert_equal_group_means
from fairpca import FairKernelPCA, FairPCA, FairPLS
from fairpca.errors import MissingGroupError
from made_up_groups import Fits, FitsAndTransforms, FitsBatches, with_made_up_groups
from optional_libraries import pandas as pd
from optional_libraries import polars as pl

GroupedPCA = with_made_up_groups(FairPCA)
GroupedKernelPCA = with_made_up_groups(FairKernelPCA, batches=False)
GroupedPLS = with_made_up_groups(FairPLS, batches=False)


class GroupedByDistributions(Fits, FairPCA):
    def __init__(self, n_components=None, match="distributions", random_state=0):
        super().__init__(n_components, match=match, random_state=random_state)


class GroupedApproximateKernelPCA(Fits, FitsBatches, FitsAndTransforms, FairKernelPCA):
    def __init__(self, approximation="nystroem", n_landmarks=10, tradeoff=0.0):
        super().__init__(
            approximation=approximation, n_landmarks=n_landmarks, tradeoff=tradeoff, random_state=0
        )


class GroupedPLSInOnePass(Fits, FitsBatches, FairPLS):
    """Of which batches can be fitted."""


LANDMARKS_ARE_ROWS = {
    f"check_sample_weight_equivalence_on_{kind}_data": (
        "a repeated row can be drawn twice as a landmark, a row of weight two cannot"
    )
    for kind in ("dense", "sparse")
}


DEPENDS_ON_ROWS = dict.fromkeys(
    LANDMARKS_ARE_ROWS, "shrinkage, unless it is given, depends on the number of rows"
)


READERS_MEET_ROWS = dict.fromkeys(
    LANDMARKS_ARE_ROWS, "readers meet rows in an order, and a repeated row is one more of them"
)


def what_no_estimator_of_its_kind_can(estimator):
    if isinstance(estimator, GroupedByDistributions):
        return READERS_MEET_ROWS
    if isinstance(estimator, FairPLS) and estimator.kernel is None:
        return DEPENDS_ON_ROWS if estimator.shrinkage is None else {}
    return LANDMARKS_ARE_ROWS if getattr(estimator, "approximation", None) == "nystroem" else {}


@parametrize_with_checks(
    [
        GroupedPCA(),
        GroupedPCA(scale=True, tradeoff=0.5),
        GroupedByDistributions(),
        GroupedByDistributions(1),
        GroupedKernelPCA(),
        GroupedKernelPCA(tradeoff=0.5, kernel="laplacian", solver="dense", n_components=1),
        GroupedApproximateKernelPCA(tradeoff=0.5),
        GroupedApproximateKernelPCA("random_features"),
        GroupedPLS(),
        GroupedPLSInOnePass(match="means", shrinkage=0.1, scale=True),
        GroupedPLSInOnePass(kernel="rbf", n_landmarks=10, match="covariances", random_state=0),
    ],
    expected_failed_checks=what_no_estimator_of_its_kind_can,
)
def test_all_estimator_checks_pass(estimator, check):
    check(estimator)


@pytest.fixture
def people():
    rng = np.random.default_rng(0)
    sex = rng.choice(["f", "m"], 200)
    X = pd.DataFrame(rng.normal(size=(200, 5)), columns=list("abcde"))
    X["a"] += 2.0 * (sex == "m")
    y = (X["b"] + rng.normal(size=200) > 0).astype(int)
    return X, y, pd.Series(sex, name="sex")


@pytest.fixture
def routing():
    with sklearn.config_context(enable_metadata_routing=True):
        yield


def test_fit_then_transform_equals_fit_transform(people):
    X, _, sex = people
    a = FairPCA(2).fit(X, sensitive_features=sex).transform(X)
    np.testing.assert_array_equal(a, FairPCA(2).fit_transform(X, sensitive_features=sex))


def test_refitting_equals_a_fresh_fit(people):
    X, _, sex = people
    other = FairPCA(3, match="covariances", covariance_method="spectral", tradeoff=0.5)
    other.fit(X**3, sensitive_features=sex)
    other.set_params(match="means", tradeoff=0.0, n_components=2).fit(X, sensitive_features=sex)
    fresh = FairPCA(2).fit(X, sensitive_features=sex)
    assert set(vars(other)) == set(vars(fresh))
    np.testing.assert_array_equal(other.components_, fresh.components_)


def test_a_pipeline_passes_the_attributes_by_name(people):
    X, y, sex = people
    model = make_pipeline(StandardScaler(), FairPCA(2), LogisticRegression())
    model.fit(X, y, fairpca__sensitive_features=sex)
    assert_equal_group_means(model[:-1].transform(X), sex.to_numpy())


def test_a_plain_pipeline_without_attributes_refuses_and_never_erases_the_label(people):
    X, y, _ = people
    with pytest.raises(MissingGroupError, match=r"plain PCA.*sensitive_columns"):
        make_pipeline(FairPCA(2), LogisticRegression()).fit(X, y)


def test_metadata_routing_reaches_the_estimator_in_cross_validation(people, routing):
    X, y, sex = people
    fair = FairPCA(2).set_fit_request(sensitive_features=True)
    model = make_pipeline(fair, LogisticRegression())
    scores = cross_val_score(model, X, y, params={"sensitive_features": sex}, cv=3)
    assert scores.shape == (3,)


def test_forgetting_to_request_the_metadata_is_an_error(people, routing):
    X, y, sex = people
    with pytest.raises((TypeError, ValueError)):
        make_pipeline(FairPCA(2), LogisticRegression()).fit(X, y, sensitive_features=sex)


def test_grid_search_chooses_over_its_parameters(people, routing):
    X, y, sex = people
    fair = FairPCA().set_fit_request(sensitive_features=True)
    model = make_pipeline(fair, LogisticRegression())
    grid = {"fairpca__n_components": [1, 4], "fairpca__tradeoff": [0.0, 1.0]}
    search = GridSearchCV(model, grid, cv=3).fit(X, y, sensitive_features=sex)
    assert search.best_params_["fairpca__n_components"] == 4


def test_fair_pls_takes_part_in_pipelines_and_grid_searches(people, routing):
    X, y, sex = people
    fair = FairPLS(random_state=0).set_fit_request(sensitive_features=True)
    model = make_pipeline(StandardScaler(), fair, LogisticRegression())
    grid = {"fairpls__distribution_penalty": [0.0, 1000.0], "fairpls__kernel": [None, "rbf"]}
    search = GridSearchCV(model, grid, cv=3).fit(X, y, sensitive_features=sex)
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()
    best = search.best_estimator_
    assert_equal_group_means(best[:-1].transform(X), sex.to_numpy())
    assert best[:-1].get_feature_names_out().tolist() == ["fairpls0"]
    assert best.score(X, y) > 0.6
    weighted = clone(fair).set_fit_request(sample_weight=True)
    w = np.where(y == 1, 2.0, 1.0)
    weighted = make_pipeline(weighted).fit(X, y, sensitive_features=sex, sample_weight=w)
    assert_equal_group_means(weighted.transform(X), sex.to_numpy(), w)


def test_fair_pls_keeps_names_and_parameters(people):
    X, y, sex = people
    three = np.where(X["c"] > 1, 2, y)
    fair = FairPLS(kernel="rbf", n_landmarks=20, random_state=0).set_output(transform="pandas")
    T = fair.fit_transform(X, three, sensitive_features=sex)
    assert list(T.columns) == ["fairpls0", "fairpls1"] == fair.get_feature_names_out().tolist()
    assert clone(fair).get_params() == fair.get_params()
    again = pickle.loads(pickle.dumps(fair))
    np.testing.assert_array_equal(again.transform(X), T)
    table = X.assign(sex=sex)
    columns = FairPLS(sensitive_columns=["sex"]).fit(table, y)
    np.testing.assert_allclose(
        columns.transform(X), FairPLS().fit(X, y, sensitive_features=sex).transform(X)
    )


def test_sensitive_columns_need_no_routing_at_all(people):
    X, y, sex = people
    table = X.assign(sex=sex)
    model = make_pipeline(FairPCA(2, sensitive_columns=["sex"]), LogisticRegression())
    model.fit(table, y)
    direct = FairPCA(2).fit(X, sensitive_features=sex)
    np.testing.assert_allclose(model[0].components_, direct.components_, atol=1e-12)
    assert model[0].n_features_in_ == 6
    assert model[0].components_.shape == (2, 5)
    np.testing.assert_allclose(model.predict(table), model.predict(X))  # with or without the column
    assert cross_val_score(model, table, y, cv=3).shape == (3,)


@pytest.mark.parametrize("to_frame", [lambda f: f, pl.from_pandas], ids=["pandas", "polars"])
def test_sensitive_columns_work_for_every_frame(people, to_frame):
    X, _, sex = people
    table = to_frame(X.assign(sex=sex))
    fair = FairPCA(2, sensitive_columns=["sex"]).fit(table)
    assert_equal_group_means(fair.transform(table), sex.to_numpy())


def test_sensitive_columns_of_arrays_are_positions(people):
    X, _, sex = people
    table = np.column_stack([X, (sex == "m").to_numpy()])
    fair = FairPCA(2, sensitive_columns=[5]).fit(table)
    assert fair.transform(table).shape == (200, 2)
    assert_equal_group_means(fair.transform(table[:, :5]), sex.to_numpy())


def test_features_in_another_order_are_refused_with_sensitive_columns_too(people):
    X, _, sex = people
    fair = FairPCA(2, sensitive_columns=["sex"]).fit(X.assign(sex=sex))
    with pytest.raises(ValueError, match="features at fit were"):
        fair.transform(X[list("edcba")])


def test_column_transformer_keeps_other_columns(people):
    X, _, sex = people
    table = X.assign(sex=sex)
    transformer = make_column_transformer(
        (FairPCA(1, sensitive_columns=["sex"]), ["a", "b", "c", "sex"]), remainder="passthrough"
    )
    assert isinstance(transformer, ColumnTransformer)
    assert transformer.fit_transform(table).shape == (200, 3)


@pytest.mark.parametrize(("library", "frame"), [("pandas", pd.DataFrame), ("polars", pl.DataFrame)])
def test_output_can_be_a_frame_with_names(people, library, frame):
    X, _, sex = people
    fair = FairPCA(2, tradeoff=0.5).set_output(transform=library).fit(X, sensitive_features=sex)
    T = fair.transform(X)
    assert isinstance(T, frame)
    fair_half, standard_half = ["fairpca0", "fairpca1"], ["fairpca_standard0", "fairpca_standard1"]
    assert list(T.columns) == fair_half + standard_half
    assert fair.get_feature_names_out().tolist() == list(T.columns)


def test_clone_and_pickle_keep_everything(people):
    X, _, sex = people
    fair = FairPCA(2, scale=True).fit(X, sensitive_features=sex)
    assert clone(fair).get_params() == fair.get_params()
    again = pickle.loads(pickle.dumps(fair))
    np.testing.assert_array_equal(again.transform(X), fair.transform(X))


def test_a_notebook_shows_a_diagram(people):
    X, _, sex = people
    assert "FairPCA" in FairPCA(2).fit(X, sensitive_features=sex)._repr_html_()
