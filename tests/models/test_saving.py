"""What is saved comes back: the same class, parameters, learned attributes, and bits."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from fairpca import FairKernelPCA, FairPCA, FairTableTransformer, load, save
from fairpca.erasers import LEACE
from fairpca.errors import ExistingFileError, ExportError
from fairpca.models import inspect_model
from fairpca.models._cards import _counts_of
from fairpca.models._estimator_state import CLASSES
from registry import ESTIMATORS, fitted, small_rows


@pytest.fixture
def path(tmp_path):
    return tmp_path / "model.fairpca"


@pytest.mark.parametrize("name", ESTIMATORS)
def test_a_loaded_model_gives_the_same_bits(name, path):
    model = fitted(name)
    save(model, path)
    loaded = load(path)
    assert type(loaded) is type(model)
    X, _, _ = small_rows(300, seed=1)
    for rows in (X, X[:1], X[:7], X.astype(np.float32), np.asfortranarray(X)):
        T = loaded.transform(rows)
        assert T.dtype == rows.dtype
        np.testing.assert_array_equal(T, model.transform(rows))


@pytest.mark.parametrize("name", ESTIMATORS)
def test_parameters_and_learned_attributes_survive(name, path):
    model = fitted(name)
    save(model, path)
    loaded = load(path)
    assert loaded.get_params() == model.get_params()
    left_out = inspect_model(path)["left_out"]
    assert left_out == ["moments_"] * ("moments_" in vars(model))
    assert set(vars(loaded)) == set(vars(model)) - set(left_out)
    assert list(loaded.get_feature_names_out()) == list(model.get_feature_names_out())
    for attribute in vars(loaded):
        assert_same(vars(loaded)[attribute], vars(model)[attribute], attribute)


def assert_same(loaded, saved, where):
    assert type(loaded) is type(saved), where
    if isinstance(saved, np.ndarray):
        np.testing.assert_array_equal(loaded, saved, strict=True, err_msg=where)
    elif hasattr(saved, "__dataclass_fields__"):
        for field in saved.__dataclass_fields__:
            assert_same(getattr(loaded, field), getattr(saved, field), f"{where}.{field}")
    elif isinstance(saved, tuple | list):
        assert len(loaded) == len(saved), where
        for a, b in zip(loaded, saved, strict=True):
            assert_same(a, b, where)
    else:
        assert loaded == saved, where


def test_every_known_class_is_tried_here():
    assert {type(ESTIMATORS[name].estimator).__name__ for name in ESTIMATORS} == set(CLASSES)


@pytest.mark.parametrize("name", ["fair pca", "with a trade-off", "linear kernel"])
def test_the_way_back_survives(name, path):
    model = fitted(name)
    save(model, path)
    T = model.transform(small_rows()[0])
    np.testing.assert_array_equal(load(path).inverse_transform(T), model.inverse_transform(T))


@pytest.mark.parametrize("name", ["fair pca", "matched covariances", "equalized odds", "nystroem"])
def test_batches_can_be_added_after_loading(name, path):
    X, sex, y = small_rows(200, seed=3)
    model = fitted(name)
    save(model, path, moments=True)
    loaded = load(path)
    assert inspect_model(path)["left_out"] == []
    for estimator in (model, loaded):
        estimator.partial_fit(X, y, sensitive_features=sex)
    np.testing.assert_array_equal(loaded.transform(X), model.transform(X))


def test_numeric_attributes_and_labels_of_every_plain_type_survive(path):
    X, sex, _ = small_rows(d=15)
    rng = np.random.default_rng(0)
    columns = {
        "sex": sex,
        "age": rng.normal(size=len(X)),
        "flag": rng.random(len(X)) < 0.5,
        "code": rng.integers(0, 3, len(X)),
        "half": rng.choice([0.5, 1.0], len(X)),
        "mixed": [None if i % 3 == 0 else "a" if i % 2 else "b" for i in range(len(X))],
    }
    kinds = {"half": "categorical", "code": "categorical"}
    model = FairPCA(1, missing_sensitive="group", sensitive_kinds=kinds)
    model.fit(X, sensitive_features=columns)
    save(model, path, moments=True)
    loaded = load(path)
    assert loaded.groups_ == model.groups_
    for name, levels in model.groups_.items():
        assert [type(v) for v in loaded.groups_[name]] == [type(v) for v in levels]
    assert loaded.sensitive_kinds == kinds
    loaded.partial_fit(X, sensitive_features=columns)
    np.testing.assert_allclose(np.abs(loaded.transform(X)), np.abs(model.transform(X)), atol=1e-9)


def test_names_of_columns_survive(path):
    X, sex, _ = small_rows()
    names = ["a", "ü", "<script>", "", '"\\', "\U0001f600"]
    model = FairPCA(2).fit(pd.DataFrame(X, columns=names), sensitive_features=sex)
    save(model, path)
    loaded = load(path)
    assert loaded.feature_names_in_.tolist() == names
    T = loaded.transform(pl.DataFrame(dict(zip(names, X.T, strict=True))))
    np.testing.assert_array_equal(T, model.transform(pd.DataFrame(X, columns=names)))
    with pytest.raises(ValueError, match="feature names"):
        loaded.transform(pd.DataFrame(X, columns=["z", *names[1:]]))


def test_sensitive_columns_survive(path):
    X, sex, _ = small_rows()
    frame = pd.DataFrame(X, columns=list("abcdef")).assign(sex=sex)
    model = FairPCA(2, sensitive_columns=["sex"]).fit(frame)
    save(model, path)
    loaded = load(path)
    np.testing.assert_array_equal(loaded.transform(frame), model.transform(frame))
    np.testing.assert_array_equal(loaded.transform(frame[list("abcdef")]), model.transform(frame))


def test_the_form_of_the_output_survives(path):
    X, sex, _ = small_rows()
    model = FairPCA(2).set_output(transform="pandas").fit(X, sensitive_features=sex)
    save(model, path)
    pd.testing.assert_frame_equal(load(path).transform(X), model.transform(X))


def test_given_kernel_values_can_be_mapped_after_loading(path):
    X, sex, _ = small_rows()
    model = FairKernelPCA(2, kernel="precomputed").fit(X @ X.T, sensitive_features=sex)
    save(model, path)
    np.testing.assert_array_equal(load(path).transform(X @ X.T), model.transform(X @ X.T))


@pytest.mark.parametrize("form", [scipy.sparse.csr_array, scipy.sparse.csr_matrix])
@pytest.mark.parametrize("kernel", ["rbf", "laplacian", "cosine"])
def test_sparse_training_rows_survive(form, kernel, path):
    _, sex, _ = small_rows()
    X = form(scipy.sparse.random(120, 30, density=0.2, random_state=0))
    model = FairKernelPCA(2, kernel=kernel).fit(X, sensitive_features=sex)
    save(model, path)
    loaded = load(path)
    assert type(loaded.X_fit_) is type(model.X_fit_)
    np.testing.assert_array_equal(loaded.transform(X), model.transform(X))


def test_a_model_that_was_fed_in_batches_is_solved_when_it_is_saved(path):
    X, sex, _ = small_rows()
    model = FairPCA(2).partial_fit(X, sensitive_features=sex)
    save(model, path)
    np.testing.assert_array_equal(load(path).transform(X), model.transform(X))


@pytest.mark.parametrize("name", ESTIMATORS)
def test_moments_are_saved_on_request_only_and_an_error_says_how(name, path):
    model, (X, sex, y) = fitted(name), small_rows()
    save(model, path)
    loaded = load(path)
    told = rf"this {type(model).__name__} has no moments.*saved with moments=True \(fairpca fit --m"
    with pytest.raises(AttributeError, match=told):
        _ = loaded.moments_
    if hasattr(loaded, "partial_fit"):
        before = dict(vars(loaded))
        with pytest.raises(ValueError, match=told):
            loaded.partial_fit(X, y, sensitive_features=sex)
        assert vars(loaded) == before
        if "moments_" in vars(model):
            save(model, path, moments=True, overwrite=True)
            assert "moments_" in vars(load(path))


def test_a_file_without_moments_has_no_room_that_grows_as_the_square_of_features(path):
    rng = np.random.default_rng(0)
    X, sex = rng.normal(size=(2000, 300)).astype(np.float32), rng.choice(["f", "m"], 2000)
    model = LEACE().fit(X, sensitive_features=sex)
    save(model, path)
    factors = 3 * X[0].nbytes  # along, away and the mean
    assert factors < path.stat().st_size < factors + 1500
    model.partial_fit(X, sensitive_features=sex)  # and what was fitted still goes on


WIDE, FEW = np.random.default_rng(0).normal(size=(20, 300)), ["f", "m"] * 10


@pytest.mark.parametrize(
    ("model", "reason"),
    [
        (FairPCA(2).partial_fit(WIDE, sensitive_features=FEW), "these rows themselves"),
        (FairPCA(2).fit(WIDE, sensitive_features=FEW), "kept none"),
        (fitted("rbf kernel"), "no partial_fit"),
    ],
)
def test_moments_that_there_are_not_cannot_be_saved(model, reason, path):
    with pytest.raises(ExportError, match=rf"Moments cannot be saved: this Fair.*{reason}"):
        save(model, path, moments=True)
    assert not path.exists()
    save(model, path)
    X = small_rows()[0] if reason == "no partial_fit" else WIDE
    np.testing.assert_array_equal(load(path).transform(X), model.transform(X))


def test_equal_arrays_take_room_once(path):
    rng = np.random.default_rng(0)
    X, sex = rng.normal(size=(400, 50)), rng.choice(["f", "m"], 400)
    model = FairKernelPCA(2).fit(X, sensitive_features=sex)
    save(model, path)  # training rows stand in X_fit_ and in the map
    assert path.stat().st_size < 1.5 * X.nbytes


def test_loaded_arrays_do_not_share_memory(path):
    save(fitted("fair pca"), path)
    loaded = load(path)
    before = loaded._map.mean.copy()
    loaded.mean_[:] = 0.0
    np.testing.assert_array_equal(loaded._map.mean, before)


def test_the_header_tells_what_the_model_is(path):
    save(fitted("fair pca"), path, info={"data": "small rows", "fingerprint": "abc"})
    header = inspect_model(path)
    assert header["class"] == "FairPCA"
    assert header["kind"] == "estimator"
    assert header["n_rows"] == 120
    assert header["n_features"] == 6
    assert header["groups"] == {"sensitive": ["f", "m"]}
    assert header["fingerprint"] == "abc"
    assert header["info"]["data"] == "small rows"
    assert header["parameters"]["n_components"] == 2
    assert header["versions"]["numpy"] == np.__version__
    assert header["created"].endswith("+00:00")


def test_groups_are_counted_where_moments_are_there():
    _, sex, _ = small_rows()
    counts = {label: int((sex == label).sum()) for label in ("f", "m")}
    for name in ("fair pca", "splince", "equalized odds"):  # and not the target's classes
        assert _counts_of(FairTableTransformer.of(None, fitted(name))) == {"sensitive": counts}
    assert _counts_of(FairTableTransformer.of(None, fitted("rbf kernel"))) == {}


def a_kernel_of_mine(a, b):
    return float(a @ b)


@pytest.mark.parametrize(
    ("parameters", "named"),
    [
        ({"kernel": a_kernel_of_mine}, "FairKernelPCA.kernel"),
        ({"random_state": np.random.RandomState(0)}, "random_state"),
    ],
)
def test_functions_and_generators_cannot_be_saved(parameters, named, path):
    X, sex, _ = small_rows()
    model = FairKernelPCA(2, **parameters).fit(X, sensitive_features=sex)
    with pytest.raises(ExportError, match=named):
        save(model, path)
    assert not path.exists()


def test_labels_that_are_not_plain_cannot_be_saved(path):
    X, _, _ = small_rows()
    days = [pd.Timestamp("2020-01-01") if i % 2 else pd.Timestamp("2021-01-01") for i in range(120)]
    model = FairPCA(2, sensitive_kinds={"sensitive": "categorical"})
    model.fit(X, sensitive_features=np.array(days, dtype=object))
    with pytest.raises(ExportError, match="Timestamp"):
        save(model, path)


def test_text_that_is_not_unicode_cannot_be_saved(path):
    X, sex, _ = small_rows()
    model = FairPCA(2).fit(X, sensitive_features=np.where(sex == "m", "\ud800", "f").astype(object))
    with pytest.raises(ExportError, match="Unicode"):
        save(model, path)


class MyFairPCA(FairPCA):
    pass


def test_classes_that_are_not_known_cannot_be_saved(path):
    X, sex, _ = small_rows()
    with pytest.raises(ExportError, match="MyFairPCA"):
        save(MyFairPCA(2).fit(X, sensitive_features=sex), path)


def test_a_strangers_attribute_cannot_be_saved(path):
    model = fitted("fair pca")
    model.note = "mine"
    with pytest.raises(ExportError, match="note"):
        save(model, path)


def test_a_model_that_is_not_fitted_cannot_be_saved(path):
    with pytest.raises(NotFittedError):
        save(FairPCA(2), path)


def test_names_without_end_are_refused_when_saving(path):
    X, sex, _ = small_rows()
    frame = pd.DataFrame(X, columns=["x" * 2**23 + str(i) for i in range(6)])
    model = FairPCA(2).fit(frame, sensitive_features=sex)
    with pytest.raises(ExportError, match="Shorten the column"):
        save(model, path)
    assert not path.exists()


def test_an_existing_file_is_kept_unless_it_is_to_be_replaced(path):
    save(fitted("fair pca"), path)
    before = path.read_bytes()
    told = r"exists and is kept\. Pass overwrite=True to replace it, or another name"
    with pytest.raises(ExistingFileError, match=told):
        save(fitted("leace"), path)
    with pytest.raises(FileExistsError, match=told):
        FairTableTransformer.of(None, fitted("leace")).save(path)
    assert path.read_bytes() == before
    FairTableTransformer.of(None, fitted("leace")).save(path, overwrite=True)
    assert type(load(path).estimator_).__name__ == "LEACE"
    save(fitted("fair pca"), path, overwrite=True)
    assert type(load(path)).__name__ == "FairPCA"


def test_an_existing_file_is_kept_where_saving_fails(path):
    save(fitted("fair pca"), path)
    before = path.read_bytes()
    with pytest.raises(ExportError):
        save(fitted("leace"), path, info={"made by": open}, overwrite=True)
    assert path.read_bytes() == before
    assert [p.name for p in path.parent.iterdir()] == [path.name]


def test_a_loaded_model_can_be_cloned_and_fitted_again(path):
    X, sex, _ = small_rows()
    save(fitted("fair pca"), path)
    again = clone(load(path)).fit(X, sensitive_features=sex)
    np.testing.assert_array_equal(again.transform(X), fitted("fair pca").transform(X))
