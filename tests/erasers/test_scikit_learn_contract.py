"""Every eraser is a scikit-learn transformer; the list is what the package exports."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.utils import estimator_checks
from sklearn.utils.estimator_checks import parametrize_with_checks

import fairpca.erasers
from fairpca import FairKernelPCA, FairPCA, FairPLS
from fairpca.errors import MissingGroupError
from made_up_groups import with_made_up_groups
from optional_libraries import pandas as pd
from registry import ESTIMATORS

EXPORTED = [getattr(fairpca.erasers, name) for name in fairpca.erasers.__all__]
ERASERS = [one for one in EXPORTED if isinstance(one, type)]

FEW_FEATURES = (
    "the check has two or three features, and classes that differ in all directions: nothing can "
    "be removed and all of y kept, which is said (and done in part with keep='possible')"
)
EXPECTED_FAILURES = {
    "GroupedSPLINCE()": dict.fromkeys(
        [
            "check_estimators_overwrite_params",
            "check_estimators_fit_returns_self",
            "check_readonly_memmap_input",
            "check_estimator_sparse_array",
            "check_estimator_sparse_matrix",
        ],
        FEW_FEATURES,
    ),
}
"""Checks that an eraser cannot pass, with the reason."""


WHOLE = ("KernelSAL", "LEACE", "SPLINCE")
"""One eraser for each way to read rows: all checks are made of it."""

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

GROUPED = {eraser.__name__: with_made_up_groups(eraser) for eraser in ERASERS}


@parametrize_with_checks(
    [*(GROUPED[name]() for name in WHOLE), GROUPED["SPLINCE"](keep="possible")],
    expected_failed_checks=lambda estimator: EXPECTED_FAILURES.get(repr(estimator), {}),
)
def test_all_estimator_checks_pass(estimator, check):
    check(estimator)


@pytest.mark.parametrize("check", OWN, ids=lambda check: check.__name__)
@pytest.mark.parametrize("name", [name for name in GROUPED if name not in WHOLE])
def test_checks_of_the_method_pass(name, check):
    check(name, GROUPED[name]())


def test_every_exported_estimator_is_in_the_registry():
    known = {type(known.estimator) for known in ESTIMATORS.values()}
    assert {FairPCA, FairKernelPCA, FairPLS, *ERASERS} <= known


@pytest.fixture
def people():
    rng = np.random.default_rng(0)
    sex = rng.choice(["f", "m"], 120)
    X = pd.DataFrame(rng.normal(size=(120, 5)), columns=list("abcde"))
    X["a"] += 2.0 * (sex == "m")
    y = (X["b"] + rng.normal(size=120) > 0).astype(int)
    return X, y, pd.Series(sex, name="sex")


@pytest.mark.parametrize("Eraser", ERASERS)
def test_a_frame_comes_back_with_names(Eraser, people):
    X, y, sex = people
    eraser = Eraser().set_output(transform="pandas").fit(X, y, sensitive_features=sex)
    T = eraser.transform(X)
    assert isinstance(T, pd.DataFrame)
    assert list(T.columns) == eraser.get_feature_names_out().tolist()
    assert len(set(T.columns)) == T.shape[1]
    pd.testing.assert_index_equal(T.index, X.index)


@pytest.mark.parametrize("Eraser", [one for one in ERASERS if one is not fairpca.erasers.KernelSAL])
def test_erased_columns_keep_the_names_they_had(Eraser, people):
    X, y, sex = people
    eraser = Eraser().set_output(transform="pandas")
    assert list(eraser.fit_transform(X, y, sensitive_features=sex).columns) == list("abcde")
    plain = Eraser().fit(X.to_numpy(), y, sensitive_features=sex)
    assert plain.get_feature_names_out().tolist() == ["x0", "x1", "x2", "x3", "x4"]


@pytest.mark.parametrize("Eraser", ERASERS)
def test_fitting_without_sensitive_features_is_refused(Eraser, people):
    X, y, _ = people
    with pytest.raises(MissingGroupError, match="No sensitive features were given"):
        Eraser().fit(X, y)
    with pytest.raises(MissingGroupError):
        make_pipeline(Eraser(), LogisticRegression()).fit(X, y)


@pytest.mark.parametrize("Eraser", ERASERS)
def test_a_pipeline_passes_the_attributes_by_name(Eraser, people):
    X, y, sex = people
    model = make_pipeline(Eraser(), LogisticRegression())
    model.fit(X, y, **{f"{Eraser.__name__.lower()}__sensitive_features": sex})
    assert model.predict(X).shape == (120,)


@pytest.mark.parametrize("Eraser", ERASERS)
def test_refitting_equals_a_fresh_fit(Eraser, people):
    X, y, sex = people
    refitted = Eraser().fit(X[::-1] ** 3, y[::-1], sensitive_features=sex[::-1])
    refitted.fit(X, y, sensitive_features=sex)
    fresh = Eraser().fit(X, y, sensitive_features=sex)
    assert set(vars(refitted)) == set(vars(fresh))
    np.testing.assert_allclose(refitted.transform(X), fresh.transform(X), atol=1e-10)


@pytest.mark.parametrize("Eraser", ERASERS)
def test_every_eraser_says_who_published_it_and_shows_how_it_is_used(Eraser):
    assert ">>>" in Eraser.__doc__
    assert "References" in Eraser.__doc__
