"""Levels that differ in case, blanks or a final dot only are one: by every door of tables."""

import warnings

import numpy as np
import pandas as pd
import pytest

import fairpca
from fairpca import FairPCA, FairPLS, fit_table, load
from fairpca.errors import ManyLevelsWarning
from fairpca.io import CSVRows
from fairpca.metrics import leakage, selection_rate_difference
from fairpca.models import model_card, transform_file
from fairpca.moments import collect_moments
from fairpca.tables import TableEncoder, check_columns

N = 600
RNG = np.random.default_rng(0)
SEX, YES = RNG.integers(0, 2, N), RNG.integers(0, 2, N)
CLEAN = pd.DataFrame(
    {
        "sex": np.where(SEX, "Male", "Female"),
        "paid": np.where(YES, ">50K", "<=50K"),
        "job": RNG.choice(["Nurse", "Cook", "Smith"], N),
        "age": 40 + 3 * SEX + 5 * YES + RNG.normal(size=N) * 9,
        "height": 165 + 10 * SEX + RNG.normal(size=N) * 7,
    }
)


def messy(seed=1):
    """Return the table with a third of the levels in another spelling."""
    rng = np.random.default_rng(seed)
    frame = CLEAN.copy()
    for name, other in (("sex", str.lower), ("job", str.upper), ("paid", lambda t: f"{t}.")):
        frame[name] = [other(t) if rng.random() < 0.3 else t for t in frame[name]]
    return frame


def in_memory(frame, folder, **how):
    return fit_table(frame, "sex", "paid", n_components=2, **how)


def from_a_file(frame, folder, **how):
    frame.to_csv(folder / "people.csv", index=False)
    return fit_table(folder / "people.csv", "sex", "paid", n_components=2, **how)


def from_parts(frame, folder, **how):
    frame[:250].to_parquet(folder / "1.parquet", index=False)
    frame[250:].to_parquet(folder / "2.parquet", index=False)
    return fit_table(folder, "sex", "paid", n_components=2, **how)


@pytest.mark.parametrize("fitted", [in_memory, from_a_file, from_parts])
@pytest.mark.parametrize("criterion", ["equal_opportunity", "equalized_odds"])
def test_two_spellings_are_one_level_of_targets_attributes_and_features(
    tmp_path, fitted, criterion
):
    clean = in_memory(CLEAN, None, criterion=criterion)
    with pytest.warns(ManyLevelsWarning, match="has several spellings of a level") as said:
        found = fitted(messy(), tmp_path, criterion=criterion)
    assert [str(w.message).split()[0] for w in said] == ["'sex'", "'paid'"]
    assert found.estimator_.groups_ == clean.estimator_.groups_
    assert found.info_["groups"] == clean.info_["groups"]
    assert found.info_["pos_label"] == ">50K"
    np.testing.assert_allclose(found.transform(messy()), clean.transform(CLEAN), atol=1e-9)
    told = [text for text in found.info_["notices"] if "several spellings" in text]
    assert len(told) == 3
    n = int((messy()["job"] == "NURSE").sum())
    assert f"with 'NURSE' ({n})" in next(text for text in told if text.startswith("'job'"))
    assert all(text.split(":")[0] in model_card(found) for text in told)


def test_new_rows_in_a_spelling_that_no_row_had_belong_to_the_level(tmp_path):
    with pytest.warns(ManyLevelsWarning):
        model = in_memory(messy(), None)
    model.save(tmp_path / "model.fairpca")
    loaded = load(tmp_path / "model.fairpca")
    new = CLEAN.assign(job=CLEAN["job"].str.swapcase() + " . ")
    np.testing.assert_array_equal(loaded.transform(new), model.transform(CLEAN))
    new.to_csv(tmp_path / "new.csv", index=False)
    transform_file(loaded, tmp_path / "new.csv", tmp_path / "fair.csv", dtype="float64")
    fair = pd.read_csv(tmp_path / "fair.csv").to_numpy()
    np.testing.assert_allclose(fair, model.transform(CLEAN), atol=1e-9)


def test_an_exported_graph_knows_the_usual_spellings(tmp_path):
    pytest.importorskip("onnx")
    runtime = pytest.importorskip("onnxruntime")
    with pytest.warns(ManyLevelsWarning):
        model = in_memory(messy(), None)
    fairpca.models.export_onnx(model, tmp_path / "model.onnx")
    session = runtime.InferenceSession(tmp_path / "model.onnx")
    for write in (str.lower, str.upper, lambda t: f"{t}."):
        new = CLEAN.assign(job=CLEAN["job"].map(write))
        inputs = {"job": new[["job"]].to_numpy(object)}
        inputs |= {c: new[[c]].to_numpy(np.float32) for c in ("age", "height")}
        (T,) = session.run(None, inputs)
        np.testing.assert_allclose(T, model.transform(CLEAN), atol=1e-4)


@pytest.mark.parametrize("pos_label", [">50K", ">50k.", " >50K. "])
def test_the_yes_may_be_named_in_any_spelling(pos_label):
    with pytest.warns(ManyLevelsWarning):
        model = in_memory(messy(), None, criterion="equal_opportunity", pos_label=pos_label)
    clean = in_memory(CLEAN, None, criterion="equal_opportunity", pos_label=">50K")
    np.testing.assert_allclose(model.transform(messy()), clean.transform(CLEAN), atol=1e-9)


def test_classes_are_merged_as_well():
    three = np.array(["Low", "mid", "HIGH"])[RNG.integers(0, 3, N)]
    frame = CLEAN.assign(paid=[t.lower() if i % 3 else t for i, t in enumerate(three)])
    with pytest.warns(ManyLevelsWarning, match="'paid' has several spellings"):
        model = fit_table(frame, "sex", "paid", method="fair_pls", match="means")
    assert sorted(model.estimator_.targets_["paid"]) == ["high", "low", "mid"]


def test_an_encoder_lists_what_it_merged_and_calls_it_as_most_rows_do():
    jobs = ["cook", "Cook", "Cook ", "nurse", "nurse", "cook."]
    frame = pd.DataFrame({"job": jobs, "n": range(6)})
    encoder = TableEncoder().fit(frame)
    assert encoder.get_feature_names_out().tolist() == ["job_nurse", "n"]
    assert encoder.columns_[0].n_distinct == 2
    assert "'Cook' (2 rows) with 'cook' (1), 'cook.' (1)" in encoder.columns_[0].note
    one = TableEncoder().fit(pd.DataFrame({"job": ["cook", "Cook", "COOK."], "n": range(3)}))
    assert one.columns_[0].kind == "constant"


def test_a_word_and_its_initial_stay_apart_with_a_question():
    frame = CLEAN.assign(sex=np.where(SEX, np.where(YES, "M", "Male"), "Female"))
    (asked,) = [n for n in check_columns(frame, ["sex"]) if n.kind == "spelling"]
    assert "'M' and 'Male', which are kept apart. Do they mean the same?" in asked.text
    assert set(fit_table(frame, "sex", n_components=1).info_["groups"]["sex"]) == {
        "M",
        "Male",
        "Female",
    }
    grades = CLEAN.assign(sex=np.where(SEX, "A", "B"))
    assert not [n for n in check_columns(grades, ["sex"]) if n.kind == "spelling"]


X = CLEAN[["age", "height"]].to_numpy()
TWO = np.where(SEX, np.where(YES, "Male", "male "), "Female")


@pytest.mark.parametrize("labels", [TWO, list(TWO), pd.Series(TWO, dtype="category")])
def test_arrays_keep_what_they_hold_and_warn(labels):
    with pytest.warns(ManyLevelsWarning, match=r"'Male' and 'male '.*write them alike"):
        fair = FairPCA(1).partial_fit(X, sensitive_features=labels)
    with pytest.warns(ManyLevelsWarning, match=r"'Male' and 'male '|'male ' and 'Male'"):
        fair = FairPCA(1).fit(np.c_[X, X**2], sensitive_features=labels)
    assert len(fair.groups_["sensitive"]) == 3


def test_labels_of_criteria_and_targets_warn_as_well(tmp_path):
    y = np.where(YES, np.where(SEX, "Yes", "yes"), "no")
    with pytest.warns(ManyLevelsWarning, match=r"y has levels .*'Yes' and 'yes'"):
        FairPCA(1, criterion="equal_opportunity", pos_label="Yes").fit(
            X, np.where(RNG.random(N) < 0.5, y, "Yes"), sensitive_features=SEX
        )
    with pytest.warns(ManyLevelsWarning, match=r"'Yes' and 'yes'"):
        FairPLS(1).fit(np.c_[X, X**2], y, sensitive_features=SEX)
    with pytest.warns(ManyLevelsWarning, match=r"'Male' and 'male '"):
        leakage(X, TWO, random_state=0)
    with pytest.warns(ManyLevelsWarning, match=r"'Male' and 'male '"):
        selection_rate_difference(YES, YES, sensitive_features=TWO)
    frame = messy()[["sex", "age", "height"]].assign(one=RNG.normal(size=N), two=RNG.normal(size=N))
    frame.to_csv(tmp_path / "people.csv", index=False)
    with pytest.warns(ManyLevelsWarning, match=r"'Female' and 'female'"):
        FairPCA(1).fit(CSVRows(tmp_path / "people.csv", sensitive="sex"))


def test_codes_that_are_different_levels_warn_of_nothing():
    with warnings.catch_warnings(action="error"):
        collect_moments(X, {"sex": SEX, "code": np.where(YES, "A", "B."), "n": SEX == 1})
