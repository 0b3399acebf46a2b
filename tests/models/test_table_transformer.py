"""A model of a table is a scikit-learn estimator, goes to a file and comes back."""

import pickle
import re
from inspect import getdoc, signature

import numpy as np
import pandas as pd
import polars
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import PredefinedSplit, cross_val_score
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.utils import estimator_checks

from fairpca import FairKernelPCA, FairPCA, FairTableTransformer, fit_table, load, save
from fairpca.errors import ExportError, InfeasibleError, ModelFileError, UsageError
from fairpca.models import export_torch, model_card
from fairpca.models._model_file import read_model_file, write_model_file
from fairpca.tables import TableEncoder
from people import people
from registry import fitted, small_rows


@pytest.fixture
def model():
    frame, sex = people()
    encoder = TableEncoder().fit(frame)
    fair = FairPCA(3).fit(encoder.transform(frame), sensitive_features=sex)
    return FairTableTransformer.of(
        encoder, fair, {"sensitive": ["sex"], "data": "people", "leakage": 0.75}
    )


@pytest.fixture
def path(tmp_path):
    return tmp_path / "model.fairpca"


def test_new_rows_with_unseen_categories_are_mapped_alike_after_loading(model, path):
    model.save(path)
    loaded = FairTableTransformer.load(path)
    new, _ = people(50, seed=1)
    new.loc[0, "job"] = "astronaut"
    new.loc[1, "age"] = np.inf
    new.loc[2, "note"] = None
    T = loaded.transform(new)
    assert T.dtype == float
    assert T.shape == (50, 3)
    np.testing.assert_array_equal(T, model.transform(new))
    assert loaded.info_ == model.info_
    assert loaded.get_feature_names_out().tolist() == ["fairpca0", "fairpca1", "fairpca2"]


def test_the_map_takes_encoded_rows(model):
    new, _ = people(50, seed=1)
    encoded = model.encoder_.transform(new)
    np.testing.assert_array_equal(model._map(encoded), model.transform(new))


def test_load_returns_the_model_with_its_preprocessing(model, path):
    save(model, path)
    assert isinstance(load(path), FairTableTransformer)


@pytest.mark.parametrize("name", ["fair pca", "nystroem", "leace"])
def test_there_may_be_no_preprocessing(name, path):
    FairTableTransformer.of(None, fitted(name), {"data": "numbers"}).save(path)
    X, _, _ = small_rows(seed=1)
    np.testing.assert_array_equal(
        FairTableTransformer.load(path).transform(X), fitted(name).transform(X)
    )


def test_a_bare_estimator_is_loaded_as_a_model_without_preprocessing(path):
    save(fitted("fair pca"), path, info={"data": "numbers"})
    loaded = FairTableTransformer.load(path)
    assert loaded.encoder_ is None
    assert loaded.info_ == {"data": "numbers"}


def test_kernels_follow_the_preprocessing(path):
    frame, sex = people()
    encoder = TableEncoder().fit(frame)
    fair = FairKernelPCA(3, approximation="nystroem", n_landmarks=30, random_state=0)
    fair.fit(encoder.transform(frame), sensitive_features=sex)
    model = FairTableTransformer.of(encoder, fair)
    model.save(path)
    np.testing.assert_array_equal(load(path).transform(frame), model.transform(frame))


def test_an_estimator_fitted_with_names_gives_no_warning(path):
    frame, sex = people()
    encoder = TableEncoder().fit(frame)
    encoded = pd.DataFrame(encoder.transform(frame), columns=encoder.get_feature_names_out())
    model = FairTableTransformer.of(encoder, FairPCA(3).fit(encoded, sensitive_features=sex))
    model.save(path)
    np.testing.assert_array_equal(load(path).transform(frame), model.transform(frame))


def test_a_model_is_fitted_and_its_parts_fit_together(model):
    with pytest.raises(NotFittedError):
        FairTableTransformer.of(None, FairPCA(2))
    with pytest.raises(ValueError, match="columns, but the estimator was fitted to 6"):
        FairTableTransformer.of(model.encoder_, fitted("fair pca"))


def test_other_preprocessing_cannot_be_saved(path):
    class Identity:
        def get_feature_names_out(self):
            return list("abcdef")

    with pytest.raises(ExportError, match="Identity"):
        FairTableTransformer.of(Identity(), fitted("fair pca")).save(path)


def test_a_model_has_its_own_info(model, path):
    with pytest.raises(ExportError, match="its own info"):
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
    FairTableTransformer.of(encoder, fair).save(path)
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
    assert model.estimator_.n_components_ == most
    with pytest.raises(InfeasibleError, match=rf"along {most} direction"):
        fit_table(table, sensitive=["sex"], method=method, n_components=4)


def applicants(n=600, seed=0):
    """People with a group, an outcome that depends on work, texts and gaps."""
    rng = np.random.default_rng(seed)
    sex = rng.choice(["f", "m"], size=n)
    frame = pd.DataFrame({"sex": sex, "age": rng.integers(18, 80, size=n)})
    frame["height"] = rng.normal(168, 7, size=n) + 12 * (sex == "m")
    frame["job"] = rng.choice(["cook", "nurse", "smith"], size=n)
    frame["score"] = np.where(rng.random(n) < 0.05, np.nan, rng.normal(size=n))
    earned = frame["score"].fillna(0) + 0.5 * (frame["job"] == "nurse") + 0.3 * (sex == "m")
    frame["paid"] = np.where(earned + rng.normal(size=n) > 0, "yes", "no")
    return frame


METHODS = ["fair_pca", "fair_pls", "fair_kernel_pca", "leace", "pca"]
CHECKS = [
    estimator_checks.check_parameters_default_constructible,
    estimator_checks.check_no_attributes_set_in_init,
    estimator_checks.check_get_params_invariance,
    estimator_checks.check_set_params,
    estimator_checks.check_estimators_unfitted,
    estimator_checks.check_transformers_unfitted,
]
FRAMES = {"pandas": lambda frame: frame, "polars": lambda frame: polars.from_pandas(frame)}


@pytest.mark.parametrize("method", METHODS)
def test_a_clone_fitted_to_the_same_rows_is_the_same_model(method, path):
    frame = applicants()
    model = fit_table(frame, "sex", "paid", method=method, n_components=1, ignore=["age"])
    again = clone(model)
    with pytest.raises(NotFittedError):
        again.transform(frame)
    assert again.get_params() == model.get_params()
    T = model.transform(frame)
    np.testing.assert_array_equal(again.fit(frame).transform(frame), T)
    np.testing.assert_array_equal(again.fit_transform(frame), T)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(model)).transform(frame), T)
    model.save(path)
    loaded = load(path)
    assert loaded.get_params() == model.get_params()
    np.testing.assert_array_equal(clone(loaded).fit(frame).transform(frame), T)


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
def test_the_model_keeps_the_contract_of_scikit_learn(check):
    """Its other checks pass arrays, and a table has names."""
    check("FairTableTransformer", FairTableTransformer("sex"))


def test_options_of_the_estimator_are_one_parameter():
    model = fit_table(applicants(), "sex", "paid", method="fair_pls", kernel=None)
    assert model.options == {"kernel": None}
    assert clone(model).fit(applicants()).estimator_.kernel is None
    assert model.set_params(options=None).fit(applicants()).estimator_.kernel == "rbf"


@pytest.mark.parametrize("library", FRAMES)
@pytest.mark.parametrize("method", METHODS)
def test_a_model_of_frames_is_validated_in_a_pipeline(method, library):
    frame = FRAMES[library](applicants())
    k = None if method == "fair_pls" else 4
    model = FairTableTransformer("sex", "paid", method=method, n_components=k)
    pipeline = Pipeline([("fair", model), ("classify", LogisticRegression())])
    y = (applicants()["paid"] == "yes").to_numpy()
    scores = cross_val_score(pipeline, frame, y, cv=3, scoring="roc_auc")
    assert (scores > 0.65).all(), scores
    assert (scores < 0.95).all(), "the target was a feature"
    with pytest.raises(NotFittedError):
        model.get_feature_names_out()  # scikit-learn fitted clones of it


def test_cross_validation_gives_what_is_fitted_by_hand():
    frame, halves = applicants(), np.arange(600) % 2
    y = (frame["paid"] == "yes").to_numpy()
    pipeline = make_pipeline(
        FairTableTransformer("sex", "paid", method="fair_pls"), LogisticRegression()
    )
    found = cross_val_score(pipeline, frame, y, cv=PredefinedSplit(halves), scoring="roc_auc")
    expected = []
    for half in (0, 1):
        train, test = frame[halves != half], frame[halves == half].drop(columns=["sex", "paid"])
        model = fit_table(train, "sex", "paid", method="fair_pls")
        classify = LogisticRegression().fit(model.transform(train), y[halves != half])
        scores = classify.decision_function(model.transform(test))
        expected.append(roc_auc_score(y[halves == half], scores))
    np.testing.assert_allclose(found, expected, rtol=1e-12)


@pytest.mark.parametrize("given", [pd.Series, np.asarray, list, polars.Series])
def test_the_target_may_come_beside_the_table(given):
    """Of cross-validation, as `y`; the column is never a feature, and need not be there."""
    frame = applicants()
    expected = fit_table(frame, "sex", "paid", method="fair_pls").transform(frame)
    shuffled = frame.assign(paid=frame["paid"].sample(frac=1.0, random_state=0).to_numpy())
    y = given(frame["paid"].tolist())
    for table, target in [
        (shuffled, "paid"),
        (frame.drop(columns="paid"), "paid"),
        (frame.drop(columns="paid"), None),
    ]:
        model = FairTableTransformer("sex", target, method="fair_pls").fit(table, y)
        np.testing.assert_array_equal(model.transform(frame), expected)
        assert "paid" not in model.feature_names_in_
        assert model.info_["target"] == (target or "y")


def test_what_a_model_reads_of_an_attribute_is_cross_validated():
    """Its column is what `y` is then, no target; columns that are left out may be, too."""
    frame, found = applicants(), {}
    for method, k in {"pca": 5, "fair_pca": 4}.items():
        model = FairTableTransformer("sex", "paid", method=method, n_components=k)
        pipeline = make_pipeline(model, LogisticRegression())
        found[method] = cross_val_score(pipeline, frame, frame["sex"], scoring="roc_auc").mean()
    assert found["pca"] > 0.7
    assert found["fair_pca"] < 0.55
    model = FairTableTransformer("sex", ignore=["paid"]).fit(frame, frame["paid"])
    assert model.info_["target"] is None
    assert model.feature_names_in_.tolist() == ["age", "height", "job", "score"]


def test_what_is_predicted_cannot_be_a_feature_unseen(tmp_path):
    frame = applicants()
    with pytest.raises(UsageError, match="Pass target='paid'"):
        FairTableTransformer("sex").fit(frame, frame["paid"])
    with pytest.raises(UsageError, match=r"1 column\(s\) of 599 rows"):
        FairTableTransformer("sex", "paid").fit(frame, frame["paid"][1:])
    with pytest.raises(UsageError, match="2 column"):
        FairTableTransformer("sex", "paid").fit(frame, frame[["paid", "job"]])
    with pytest.raises(UsageError, match="Pass target='age'"):
        FairTableTransformer("sex", "paid").fit(frame, frame["age"])
    with pytest.raises(UsageError, match="row labels of X and y differ"):
        FairTableTransformer("sex", "paid").fit(frame, frame["paid"][::-1])
    frame.to_csv(tmp_path / "people.csv", index=False)
    with pytest.raises(UsageError, match="this one is on disk"):
        FairTableTransformer("sex", "paid").fit(tmp_path / "people.csv", frame["paid"])


@pytest.mark.parametrize("library", FRAMES)
@pytest.mark.parametrize("output", ["pandas", "polars"])
def test_named_columns_come_out_of_frames(library, output, path):
    frame = FRAMES[library](applicants())
    model = FairTableTransformer("sex", "paid", n_components=2).set_output(transform=output)
    T = model.fit_transform(frame)
    assert type(T).__module__.startswith(output)
    assert list(T.columns) == list(model.get_feature_names_out()) == ["fairpca0", "fairpca1"]
    assert model.feature_names_in_.tolist() == ["age", "height", "job", "score"]
    assert model.n_features_in_ == 4
    rows = applicants().drop(columns=["sex", "paid"]).iloc[::2]
    if output == "pandas":
        assert model.transform(rows).index.equals(rows.index)
    model.save(path)
    assert load(path).transform(frame).equals(T)


def test_a_failed_fit_leaves_the_model_as_it_was():
    model = fit_table(applicants(), "sex", "paid", n_components=2)
    T = model.transform(applicants())
    with pytest.raises(UsageError, match="is none of"):
        model.set_params(method="magic").fit(applicants())
    np.testing.assert_array_equal(model.transform(applicants()), T)


def test_a_model_of_parts_says_that_it_cannot_be_fitted_again(model):
    """Nobody knows which options made the parts."""
    with pytest.raises(UsageError, match="made of fitted parts"):
        clone(model).fit(applicants())


@pytest.mark.parametrize("forged", [7, {"method": "magic"}, {"_map": 7}, {"match": {"$x": 1}}])
def test_forged_parameters_are_refused(forged, path):
    fit_table(applicants(), "sex", "paid", n_components=2).save(path)
    header, tensors = read_model_file(path)
    header.pop("sha256")
    known = header["table_parameters"]
    header["table_parameters"] = {**known, **forged} if isinstance(forged, dict) else forged
    write_model_file(path, header, tensors)
    with pytest.raises(ModelFileError):
        load(path)


def test_nothing_that_is_not_fitted_is_handed_over(path):
    for use in (
        model_card,
        lambda m: save(m, path),
        lambda m: export_torch(m, path.with_suffix(".py")),
    ):
        with pytest.raises(NotFittedError):
            use(FairTableTransformer("sex"))
    assert not path.exists()


def test_each_parameter_of_the_model_is_explained_once():
    """`fit_table` is a door: what it takes stands in `FairTableTransformer`, and in its `fit`."""
    told = f"{getdoc(FairTableTransformer)}\n{getdoc(FairTableTransformer.fit)}"
    taken = [
        *signature(FairTableTransformer).parameters,
        *signature(FairTableTransformer.fit).parameters,
    ][:-1]
    named = re.findall(r"^([\w, ]+?)(?: :.*)?$", told, flags=re.MULTILINE)
    listed = {name for names in named for name in names.split(", ")}
    assert {*taken} - {"self"} <= listed
