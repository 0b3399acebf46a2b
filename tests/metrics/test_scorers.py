"""Gaps and leakage as scores of scikit-learn's searches, with metadata routing."""

import numpy as np
import pytest
from sklearn import config_context
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import make_scorer
from sklearn.model_selection import GridSearchCV, StratifiedKFold, cross_validate
from sklearn.pipeline import make_pipeline

from fairpca import FairPCA, FairTableTransformer
from fairpca.errors import MissingGroupError, UsageError
from fairpca.metrics import leakage, make_leakage_scorer, selection_rate_difference
from optional_libraries import pandas as pd


@pytest.fixture(autouse=True)
def routing():
    with config_context(enable_metadata_routing=True):
        yield


@pytest.fixture
def people():
    rng = np.random.default_rng(0)
    sex, old = rng.choice(["f", "m"], size=600), rng.random(600) < 0.4
    X = rng.normal(size=(600, 5)) + (sex == "m")[:, None] * [2, 1, 0, 0, 0]
    X[:, 4] += 3 * old
    y = (X[:, 0] + X[:, 3] + rng.normal(size=600) > 1).astype(int)
    return X, y, sex, np.where(old, "old", "young")


def fair_model(**options):
    fair = FairPCA(2, **options).set_fit_request(sensitive_features=True)
    return make_pipeline(fair, LogisticRegression())


def gap_scorer():
    gap = make_scorer(selection_rate_difference, greater_is_better=False)
    return gap.set_score_request(sensitive_features=True)


def test_scores_are_minus_the_leakage_and_the_gap_of_the_held_out_rows(people):
    X, y, sex, _ = people
    folds = StratifiedKFold(3, shuffle=True, random_state=1)
    found = cross_validate(
        fair_model(tradeoff=1.0),
        X,
        y,
        scoring={"leak": make_leakage_scorer("boosting", cv=3), "gap": gap_scorer()},
        params={"sensitive_features": sex},
        cv=folds,
    )
    for i, (train, test) in enumerate(folds.split(X, y)):
        fair = FairPCA(2, tradeoff=1.0).fit(X[train], sensitive_features=sex[train])
        T = fair.transform(X[test])
        auc = leakage(T, sex[test], probe="boosting", cv=3, random_state=0).auc
        assert found["test_leak"][i] == -auc < -0.7
        said = LogisticRegression().fit(fair.transform(X[train]), y[train]).predict(T)
        gap = selection_rate_difference(y[test], said, sensitive_features=sex[test])
        assert found["test_gap"][i] == -gap


def test_a_search_finds_what_leaks_least_and_what_is_most_accurate_within_a_limit(people):
    X, y, sex, _ = people
    grid = {"fairpca__tradeoff": [1.0, 0.0], "fairpca__n_components": [1, 2]}
    scoring = {"leak": make_leakage_scorer(), "gap": gap_scorer(), "auc": "roc_auc"}
    search = GridSearchCV(fair_model(), grid, scoring=scoring, refit="leak", cv=3)
    assert search.fit(X, y, sensitive_features=sex).best_params_["fairpca__tradeoff"] == 0.0

    def most_accurate_within(results):
        allowed = results["mean_test_gap"] >= -0.2
        return int(np.where(allowed, results["mean_test_auc"], -np.inf).argmax())

    fits = clone(search).set_params(refit=most_accurate_within).fit(X, y, sensitive_features=sex)
    at, auc, gap = (
        fits.best_index_,
        *(fits.cv_results_[f"mean_test_{name}"] for name in ("auc", "gap")),
    )
    assert gap[at] >= -0.2 > gap.min()
    assert auc[at] == auc[gap >= -0.2].max() < auc.max()


def test_of_several_attributes_the_one_that_leaks_most_counts(people):
    X, y, sex, age = people
    both = pd.DataFrame({"sex": sex, "age": age})
    score, new = make_leakage_scorer(), both[300:]
    model = fair_model().fit(X[:300], y[:300], sensitive_features=sex[:300])
    one, other = (score(model, X[300:], y[300:], sensitive_features=new[name]) for name in new)
    assert other < -0.8 < -0.6 < one
    assert score(model, X[300:], y[300:], sensitive_features=new) == other


def test_weights_and_attributes_of_another_name_are_routed_on_request(people):
    X, y, sex, _ = people
    weight = np.where(np.arange(600) % 3, 1.0, 0.0)
    asked = {"weights": weight, "gender": sex, "sensitive_features": sex}
    scorer = make_leakage_scorer(cv=3).set_score_request(
        sensitive_features="gender", sample_weight="weights"
    )
    found = cross_validate(fair_model(), X, y, scoring=scorer, params=asked, cv=3)
    plain = make_leakage_scorer(cv=3).set_score_request(sensitive_features="gender")
    del asked["weights"]
    unweighted = cross_validate(fair_model(), X, y, scoring=plain, params=asked, cv=3)
    assert (found["test_score"] != unweighted["test_score"]).all()


def test_a_transformer_of_tables_needs_no_attribute_but_its_scorers_do(people):
    X, y, sex, _ = people
    table = pd.DataFrame(X, columns=list("abcde")).assign(sex=sex, job=np.where(X[:, 1] > 1, 1, 0))
    model = make_pipeline(FairTableTransformer("sex", n_components=2), LogisticRegression())
    scoring = {"leak": make_leakage_scorer(), "gap": gap_scorer()}
    grid = {"fairtabletransformer__method": ["pca", "fair_pca"]}
    search = GridSearchCV(model, grid, scoring=scoring, refit="leak", cv=3)
    search.fit(table, y, sensitive_features=table["sex"])
    assert search.best_params_["fairtabletransformer__method"] == "fair_pca"
    assert search.cv_results_["mean_test_leak"][0] < -0.7


def test_what_cannot_be_scored_is_said(people):
    X, y, sex, _ = people
    score = make_leakage_scorer("kernel")
    assert repr(score) == "make_leakage_scorer('kernel', cv=5, random_state=0)"
    with pytest.raises(MissingGroupError, match=r"got no sensitive_features.*metadata routing"):
        score(fair_model().fit(X, y, sensitive_features=sex), X, y)
    with pytest.raises(UsageError, match=r"LogisticRegression has no transform.*make_scorer"):
        score(LogisticRegression().fit(X, y), X, y, sensitive_features=sex)
    with config_context(enable_metadata_routing=False):
        model = make_pipeline(FairPCA(2), LogisticRegression())
        search = GridSearchCV(model, {"fairpca__tradeoff": [0.0]}, scoring=make_leakage_scorer())
        search.set_params(error_score="raise")
        with pytest.raises(MissingGroupError, match="enable_metadata_routing=True"):
            search.fit(X, y, fairpca__sensitive_features=sex)
