"""Every method is a scikit-learn transformer; the list is what the package exports."""

import inspect

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.utils import estimator_checks
from sklearn.utils.estimator_checks import parametrize_with_checks

import fairpca_paper.methods
from fairpca.errors import MissingGroupError
from made_up_groups import with_made_up_groups

METHODS = [getattr(fairpca_paper.methods, name) for name in fairpca_paper.methods.__all__]
METHODS = [method for method in METHODS if hasattr(method, "transform")]
FAIR = [method for method in METHODS if method is not fairpca_paper.methods.PCA]
SETTINGS = {
    "FPCA": {"n_components": 1},
    "MbFPCA": {"n_components": 1, "tol": 1.5},
    "RLACE": {"tol": 1.0},
}
"""Settings instead of the defaults: the checks have rows of two features, and few of them, where
two components, or nearly equal distributions, are not to be had (which is said); short games."""

WHOLE = ("PCA", "INLP", "OracleLEACE")
"""One method for each way to read rows: all checks are made of it."""

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

GROUPED = {method.__name__: with_made_up_groups(method) for method in METHODS}


def grouped(name):
    return GROUPED[name](**SETTINGS.get(name, {}))


@pytest.mark.filterwarnings("ignore::fairpca_paper.methods.FewerComponentsWarning")  # few rows
@parametrize_with_checks([*map(grouped, WHOLE)])
def test_all_estimator_checks_pass(estimator, check):
    check(estimator)


@pytest.mark.parametrize("check", OWN, ids=lambda check: check.__name__)
@pytest.mark.parametrize("name", [name for name in GROUPED if name not in WHOLE])
def test_checks_of_the_method_pass(name, check):
    if name == "RLACE" and "sample_weight" in check.__name__:
        pytest.skip("rows are drawn at random, and a row of weight two is not drawn like two rows")
    check(name, grouped(name))


def asks_for_groups(method):
    """Whether `transform` needs the attributes."""
    return "sensitive_features" in inspect.signature(method.transform).parameters


def transformed(fitted, X, groups):
    known = {"sensitive_features": groups} if asks_for_groups(fitted) else {}
    return fitted.transform(X, **known)


def made(method):
    """Return a method with settings that suit few rows."""
    return method(**SETTINGS.get(method.__name__, {}))


@pytest.fixture
def people():
    rng = np.random.default_rng(0)
    sex = rng.choice(["f", "m"], 120)
    X = pd.DataFrame(rng.normal(size=(120, 5)), columns=list("abcde"))
    X["a"] += 2.0 * (sex == "m")
    y = (X["b"] + rng.normal(size=120) > 0).astype(int)
    return X, y, pd.Series(sex, name="sex")


@pytest.mark.parametrize("Method", METHODS)
def test_a_frame_comes_back_with_names(Method, people):
    X, y, sex = people
    method = made(Method).set_output(transform="pandas").fit(X, y, sensitive_features=sex)
    T = transformed(method, X, sex)
    assert isinstance(T, pd.DataFrame)
    assert list(T.columns) == method.get_feature_names_out().tolist()
    assert len(set(T.columns)) == T.shape[1]
    pd.testing.assert_index_equal(T.index, X.index)


@pytest.mark.parametrize("name", ["OracleLEACE"])
def test_erased_columns_keep_the_names_they_had(name, people):
    X, y, sex = people
    method = getattr(fairpca_paper.methods, name)().set_output(transform="pandas")
    assert list(method.fit_transform(X, y, sensitive_features=sex).columns) == list("abcde")
    plain = getattr(fairpca_paper.methods, name)().fit(X.to_numpy(), y, sensitive_features=sex)
    assert plain.get_feature_names_out().tolist() == ["x0", "x1", "x2", "x3", "x4"]


@pytest.mark.parametrize("Method", FAIR)
def test_fitting_without_sensitive_features_is_refused(Method, people):
    X, y, _ = people
    with pytest.raises(MissingGroupError, match="No sensitive features were given"):
        made(Method).fit(X, y)
    with pytest.raises(MissingGroupError):
        make_pipeline(made(Method), LogisticRegression()).fit(X, y)


@pytest.mark.parametrize("Method", [method for method in METHODS if not asks_for_groups(method)])
def test_a_pipeline_passes_the_attributes_by_name(Method, people):
    X, y, sex = people
    model = make_pipeline(made(Method), LogisticRegression())
    model.fit(X, y, **{f"{Method.__name__.lower()}__sensitive_features": sex})
    assert model.predict(X).shape == (120,)


@pytest.mark.parametrize("Method", METHODS)
def test_refitting_equals_a_fresh_fit(Method, people):
    X, y, sex = people
    refitted = made(Method).fit(X[::-1] ** 3, y[::-1], sensitive_features=sex[::-1])
    refitted.fit(X, y, sensitive_features=sex)
    fresh = made(Method).fit(X, y, sensitive_features=sex)
    assert set(vars(refitted)) == set(vars(fresh))
    np.testing.assert_allclose(
        transformed(refitted, X, sex), transformed(fresh, X, sex), atol=1e-10
    )


@pytest.mark.parametrize("Method", METHODS)
def test_every_method_says_who_published_it_and_shows_how_it_is_used(Method):
    assert ">>>" in Method.__doc__
    assert Method is fairpca_paper.methods.PCA or "References" in Method.__doc__
