"""Whole pipelines go to a file and come back; what is not trusted stays out."""

import io
import zipfile

import numpy as np
import pytest
import scipy.sparse
import skops.io
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, MaxAbsScaler, StandardScaler

from fairpca import FairKernelPCA, FairModel, FairPCA
from fairpca.models import (
    ModelFileError,
    UnsavableModelError,
    load_pipeline,
    save_pipeline,
)
from fairpca.tables import TableEncoder
from people import people
from registry import ESTIMATORS, SAVED, fitted, small_rows


@pytest.fixture
def path(tmp_path):
    return tmp_path / "pipeline.skops"


@pytest.mark.parametrize(
    "last",
    [
        FairPCA(3),
        FairPCA(2, tradeoff=0.5),
        FairKernelPCA(3),
        FairKernelPCA(3, approximation="nystroem", n_landmarks=30),
    ],
)
def test_a_pipeline_gives_the_same_bits_after_loading(last, path):
    X, sex, _ = small_rows()
    X[::7, 1] = np.nan
    steps = make_pipeline(SimpleImputer(), StandardScaler(), last)
    steps.fit(X, **{f"{type(last).__name__.lower()}__sensitive_features": sex})
    save_pipeline(steps, path)
    loaded = load_pipeline(path)
    np.testing.assert_array_equal(loaded.transform(X), steps.transform(X))
    assert repr(loaded) == repr(steps)


def test_a_pipeline_of_frames_gives_the_same_bits_after_loading(path):
    frame, sex = people()
    fair = FairModel("sex", "owner", n_components=3, ignore=["note"])
    steps = make_pipeline(fair, LogisticRegression()).fit(frame.assign(sex=sex), frame["owner"])
    save_pipeline(steps, path)
    loaded = load_pipeline(path)
    np.testing.assert_array_equal(loaded.predict_proba(frame), steps.predict_proba(frame))
    assert loaded[0].get_params() == fair.get_params()


@pytest.mark.parametrize("make", [scipy.sparse.csr_matrix, scipy.sparse.csr_array])
@pytest.mark.parametrize("name", ["rbf kernel", "nystroem", "random features", "kernel sal"])
def test_rows_that_a_kernel_keeps_may_be_sparse(name, make, path):
    X, sex, _ = small_rows()
    X = make(np.where(X > 3, X, 0.0))
    steps = make_pipeline(MaxAbsScaler(), ESTIMATORS[name].made())
    steps.fit(X, **{f"{steps.steps[-1][0]}__sensitive_features": sex})
    save_pipeline(steps, path)
    loaded = load_pipeline(path)
    np.testing.assert_array_equal(loaded.transform(X), steps.transform(X))


def test_a_sparse_matrix_that_unpacks_without_end_is_refused(path):
    matrix, packed = io.BytesIO(), io.BytesIO()
    with zipfile.ZipFile(matrix, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("data.npy", b" " * 10**7)
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("1.npz", matrix.getvalue())
    path.write_bytes(packed.getvalue())
    with pytest.raises(ModelFileError, match="unpacks to"):
        load_pipeline(path, max_bytes=10**6)


def test_a_classifier_may_follow(path):
    X, sex, y = small_rows()
    steps = make_pipeline(StandardScaler(), FairPCA(3), LogisticRegression())
    steps.fit(X, y, fairpca__sensitive_features=sex)
    save_pipeline(steps, path)
    np.testing.assert_array_equal(load_pipeline(path).predict_proba(X), steps.predict_proba(X))


def test_a_table_encoder_may_go_first(path):
    frame, sex = people()
    steps = make_pipeline(TableEncoder(), FairPCA(3))
    steps.fit(frame, fairpca__sensitive_features=sex)
    before = steps.transform(frame)
    save_pipeline(steps, path)
    np.testing.assert_array_equal(load_pipeline(path).transform(frame), before)


@pytest.mark.parametrize("name", SAVED)
def test_every_model_can_be_a_step(name, path):
    model = fitted(name)
    save_pipeline(model, path)
    X, _, _ = small_rows(seed=1)
    np.testing.assert_array_equal(load_pipeline(path).transform(X), model.transform(X))


def a_kernel_of_mine(a, b):
    return float(a @ b)


def test_a_function_cannot_be_saved_and_is_named(path):
    X, sex, _ = small_rows()
    model = FairKernelPCA(2, kernel=a_kernel_of_mine).fit(X, sensitive_features=sex)
    with pytest.raises(UnsavableModelError, match="a_kernel_of_mine"):
        save_pipeline(model, path)
    assert not path.exists()


def test_types_that_are_not_trusted_are_refused_by_name(path):
    skops.io.dump(make_pipeline(FunctionTransformer(print), StandardScaler()), path)
    with pytest.raises(ModelFileError, match=r"holds builtins\.print"):
        load_pipeline(path)


@pytest.mark.parametrize("content", [b"", b"hello", b"PK\x03\x04" + b"\0" * 50, b"\x80\x04K\x01."])
def test_other_files_are_refused(content, path):
    path.write_bytes(content)
    with pytest.raises(ModelFileError, match="not a pipeline file"):
        load_pipeline(path)


def test_an_archive_of_something_else_is_refused(path):
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("schema.json", "[]")
    with pytest.raises(ModelFileError, match="skops"):
        load_pipeline(path)


def test_a_damaged_file_is_refused_or_gives_the_same(path):
    model = fitted("fair pca")
    save_pipeline(model, path)
    content = path.read_bytes()
    X, _, _ = small_rows(seed=1)
    expected = model.transform(X)
    rng = np.random.default_rng(0)
    for _ in range(300):
        changed = bytearray(content)
        changed[rng.integers(len(content))] ^= int(rng.integers(1, 256))
        path.write_bytes(changed)
        try:
            loaded = load_pipeline(path)
        except ModelFileError:
            continue
        np.testing.assert_array_equal(loaded.transform(X), expected)


def test_an_archive_that_unpacks_without_end_is_refused(path):
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("schema.json", b" " * 10**7)
    path.write_bytes(packed.getvalue())
    with pytest.raises(ModelFileError, match="unpacks to"):
        load_pipeline(path, max_bytes=10**6)


def test_a_missing_file_is_refused(path):
    with pytest.raises(ModelFileError, match="does not exist"):
        load_pipeline(path)
