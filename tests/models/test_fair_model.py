"""A model with its preprocessing goes to a file and comes back."""

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import NotFittedError

from fairpca import FairKernelPCA, FairPCA, InfeasibleError
from fairpca.models import (
    FairModel,
    ModelFileError,
    UnsavableModelError,
    fit_table,
    load,
    save,
)
from fairpca.models._model_file import read_model_file, write_model_file
from fairpca.tables._encoder import TableEncoder
from people import people
from registry import fitted, small_rows


@pytest.fixture
def model():
    frame, sex = people()
    encoder = TableEncoder().fit(frame)
    fair = FairPCA(3).fit(encoder.transform(frame), sensitive_features=sex)
    return FairModel(encoder, fair, {"sensitive": ["sex"], "data": "people", "leakage": 0.75})


@pytest.fixture
def path(tmp_path):
    return tmp_path / "model.fairpca"


def test_new_rows_with_unseen_categories_are_mapped_alike_after_loading(model, path):
    model.save(path)
    loaded = FairModel.load(path)
    new, _ = people(50, seed=1)
    new.loc[0, "job"] = "astronaut"
    new.loc[1, "age"] = np.inf
    new.loc[2, "note"] = None
    T = loaded.transform(new)
    assert T.dtype == float
    assert T.shape == (50, 3)
    np.testing.assert_array_equal(T, model.transform(new))
    assert loaded.info == model.info
    assert loaded.output_names == ["fairpca0", "fairpca1", "fairpca2"]


def test_the_map_takes_encoded_rows(model):
    new, _ = people(50, seed=1)
    encoded = model.encoder.transform(new)
    np.testing.assert_array_equal(model.map(encoded), model.transform(new))


def test_load_returns_the_model_with_its_preprocessing(model, path):
    save(model, path)
    assert isinstance(load(path), FairModel)


@pytest.mark.parametrize("name", ["fair pca", "nystroem", "leace"])
def test_there_may_be_no_preprocessing(name, path):
    FairModel(None, fitted(name), {"data": "numbers"}).save(path)
    X, _, _ = small_rows(seed=1)
    np.testing.assert_array_equal(FairModel.load(path).transform(X), fitted(name).transform(X))


def test_a_bare_estimator_is_loaded_as_a_model_without_preprocessing(path):
    save(fitted("fair pca"), path, info={"data": "numbers"})
    loaded = FairModel.load(path)
    assert loaded.encoder is None
    assert loaded.info == {"data": "numbers"}


def test_kernels_follow_the_preprocessing(path):
    frame, sex = people()
    encoder = TableEncoder().fit(frame)
    fair = FairKernelPCA(3, approximation="nystroem", n_landmarks=30, random_state=0)
    fair.fit(encoder.transform(frame), sensitive_features=sex)
    model = FairModel(encoder, fair)
    model.save(path)
    np.testing.assert_array_equal(load(path).transform(frame), model.transform(frame))


def test_an_estimator_fitted_with_names_gives_no_warning(path):
    frame, sex = people()
    encoder = TableEncoder().fit(frame)
    encoded = pd.DataFrame(encoder.transform(frame), columns=encoder.get_feature_names_out())
    model = FairModel(encoder, FairPCA(3).fit(encoded, sensitive_features=sex))
    model.save(path)
    np.testing.assert_array_equal(load(path).transform(frame), model.transform(frame))


def test_a_model_is_fitted_and_its_parts_fit_together(model):
    with pytest.raises(NotFittedError):
        FairModel(None, FairPCA(2))
    with pytest.raises(ValueError, match="columns, but the estimator was fitted to 6"):
        FairModel(model.encoder, fitted("fair pca"))


def test_other_preprocessing_cannot_be_saved(path):
    class Identity:
        def get_feature_names_out(self):
            return list("abcdef")

    with pytest.raises(UnsavableModelError, match="Identity"):
        FairModel(Identity(), fitted("fair pca")).save(path)


def test_a_model_has_its_own_info(model, path):
    with pytest.raises(UnsavableModelError, match="its own info"):
        save(model, path, info={"data": "other"})


@pytest.mark.parametrize("part", ["columns_", "encoders_", "kept_", "mean_"])
def test_forged_preprocessing_is_refused(part, model, path):
    model.save(path)
    header, tensors = read_model_file(path)
    header.pop("sha256")
    header["encoder"]["fields"][part] = 7
    write_model_file(path, header, tensors)
    with pytest.raises(ModelFileError, match="preprocessing"):
        load(path)


def test_many_texts_are_kept_beside_the_header(path):
    frame, sex = people()
    frame["story"] = [f"{i * 7919 % 10007} tales of {i * 104729 % 9973}" for i in range(len(frame))]
    encoder = TableEncoder().fit(frame)
    fair = FairPCA(3).fit(encoder.transform(frame), sensitive_features=sex)
    FairModel(encoder, fair).save(path)
    content = path.read_bytes()
    assert int.from_bytes(content[:8], "little") < 20_000
    np.testing.assert_array_equal(
        load(path).transform(frame), fair.transform(encoder.transform(frame))
    )


def test_no_rows_make_no_rows(model):
    frame, _ = people(5)
    assert model.transform(frame.head(0)).shape == (0, 3)


@pytest.mark.parametrize(("method", "most"), [("fair_pca", 2), ("pca", 3)])
def test_columns_that_depend_on_others_are_no_components(method, most):
    """Three of six numbers were taken: what rounding left of height in cm and mm told the sex."""
    rng = np.random.default_rng(0)
    sex = np.array(["f", "m"])[np.arange(600) % 2]
    age, height, weight = rng.normal(size=(3, 600)) + np.outer([0.3, 1.5, 1.0], sex == "m")
    table = pd.DataFrame({"age": 40 + 9 * age, "birth_year": 1986 - 9 * age, "sex": sex})
    table = table.assign(height_cm=170 + 8 * height, height_mm=1700 + 80 * height)
    table = table.assign(weight_kg=70 + 9 * weight, weight_g=70_000 + 9_000 * weight)
    model = fit_table(table, sensitive=["sex"], method=method)
    assert model.estimator.n_components_ == most
    with pytest.raises(InfeasibleError, match=rf"along {most} direction"):
        fit_table(table, sensitive=["sex"], method=method, n_components=4)
