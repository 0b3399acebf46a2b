"""Pipelines go through skops with our list of trusted types, and give the same bits."""

import numpy as np
import pytest
import scipy.sparse
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, MaxAbsScaler, StandardScaler

from fairpca import FairKernelPCA, FairPCA, FairTableTransformer
from fairpca.models import trusted_types
from fairpca.tables import TableEncoder
from people import people
from registry import ESTIMATORS, fitted, small_rows

skops = pytest.importorskip("skops.io")


def through_skops(model):
    return skops.loads(skops.dumps(model), trusted=trusted_types())


@pytest.mark.parametrize(
    "last",
    [
        FairPCA(3),
        FairPCA(2, tradeoff=0.5),
        FairKernelPCA(3),
        FairKernelPCA(3, approximation="nystroem", n_landmarks=30),
    ],
)
def test_a_pipeline_gives_the_same_bits_after_loading(last):
    X, sex, _ = small_rows()
    X[::7, 1] = np.nan
    steps = make_pipeline(SimpleImputer(), StandardScaler(), last)
    steps.fit(X, **{f"{type(last).__name__.lower()}__sensitive_features": sex})
    loaded = through_skops(steps)
    np.testing.assert_array_equal(loaded.transform(X), steps.transform(X))
    assert repr(loaded) == repr(steps)


def test_a_pipeline_of_frames_gives_the_same_bits_after_loading():
    frame, sex = people()
    fair = FairTableTransformer("sex", "owner", n_components=3, ignore=["note"])
    steps = make_pipeline(fair, LogisticRegression()).fit(frame.assign(sex=sex), frame["owner"])
    loaded = through_skops(steps)
    np.testing.assert_array_equal(loaded.predict_proba(frame), steps.predict_proba(frame))
    assert loaded[0].get_params() == fair.get_params()


@pytest.mark.parametrize("make", [scipy.sparse.csr_matrix, scipy.sparse.csr_array])
@pytest.mark.parametrize("name", ["rbf kernel", "nystroem", "random features"])
def test_rows_that_a_kernel_keeps_may_be_sparse(name, make):
    X, sex, _ = small_rows()
    X = make(np.where(X > 3, X, 0.0))
    steps = make_pipeline(MaxAbsScaler(), ESTIMATORS[name].made())
    steps.fit(X, **{f"{steps.steps[-1][0]}__sensitive_features": sex})
    np.testing.assert_array_equal(through_skops(steps).transform(X), steps.transform(X))


def test_a_classifier_may_follow_and_a_table_encoder_go_first():
    X, sex, y = small_rows()
    steps = make_pipeline(StandardScaler(), FairPCA(3), LogisticRegression())
    steps.fit(X, y, fairpca__sensitive_features=sex)
    np.testing.assert_array_equal(through_skops(steps).predict_proba(X), steps.predict_proba(X))
    frame, sex = people()
    steps = make_pipeline(TableEncoder(), FairPCA(3)).fit(frame, fairpca__sensitive_features=sex)
    np.testing.assert_array_equal(through_skops(steps).transform(frame), steps.transform(frame))


@pytest.mark.parametrize("name", ESTIMATORS)
def test_every_model_can_be_a_step(name):
    X, _, _ = small_rows(seed=1)
    model = fitted(name)
    np.testing.assert_array_equal(through_skops(model).transform(X), model.transform(X))


def test_other_types_stay_untrusted():
    content = skops.dumps(make_pipeline(FunctionTransformer(print), StandardScaler()))
    assert "builtins.print" not in trusted_types()
    with pytest.raises(TypeError, match=r"builtins\.print"):
        skops.loads(content, trusted=trusted_types())


def test_trusted_types_are_classes_of_ours_and_arrays():
    names = trusted_types()
    assert names == sorted(set(names))
    assert {name.partition(".")[0] for name in names} == {"fairpca", "numpy", "scipy"}
    assert "fairpca.models._table_transformer.FairTableTransformer" in names
