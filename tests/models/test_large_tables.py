"""Tables in many files, or too large for memory, give the model of the same table in memory."""

import gzip

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from assertions import assert_same_subspace
from fairpca import fit_table
from fairpca.errors import (
    MissingGroupError,
    MissingTargetError,
    OutlierWarning,
    SingleGroupError,
    TableError,
    UsageError,
)
from fairpca.models import _fit_table as fitting
from fairpca.models import _large_tables as large_tables
from fairpca.models import _look
from fairpca.tables import _open as table_files
from fairpca.tables import read_table
from people import made_up_people

ADULT = [
    *("age", "workclass", "fnlwgt", "education", "education-num", "marital-status", "occupation"),
    *("relationship", "race", "sex", "capital-gain", "capital-loss", "hours-per-week"),
    *("native-country", "income"),
]


def messy_people(n=1500, seed=0):
    """People with dates, gaps, numbers that are levels, and levels that only some rows have."""
    rng = np.random.default_rng(seed)
    people = made_up_people(n, seed)
    people["born"] = pd.Timestamp("1960-01-01") + pd.to_timedelta(rng.integers(0, 9000, n), "D")
    people["floor"] = rng.integers(1, 4, n)
    people["name"] = [f"person {i % 97} of {town}" for i, town in enumerate(people["town"])]
    people["age"] = rng.integers(18, 80, n)
    people.loc[rng.random(n) < 0.1, "luck"] = np.nan
    people.loc[rng.random(n) < 0.05, "town"] = None
    people.loc[rng.random(n) < 0.03, "sex"] = None
    people.loc[rng.random(n) < 0.04, "paid"] = None
    people.loc[: n // 20, "race"] = "w"  # in the first file only
    people.loc[[n - 3, n - 2], "race"] = "rare"
    people.loc[n - 200 :, "town"] = "Far East"  # in the last file only
    return people


def write(people, folder, ending, edges=(400, 401, 1000)):
    """Write a table to one file and, cut at the edges, to several."""
    folder.mkdir(exist_ok=True)
    (folder / "parts").mkdir()
    pieces = {"all": people}
    starts = [0, *edges]
    for i, (a, b) in enumerate(zip(starts, [*edges, len(people)], strict=True)):
        pieces[f"parts/{i}"] = people[a:b]
    for name, rows in pieces.items():
        path = folder / f"{name}.{ending}"
        if ending == "parquet":
            rows.to_parquet(path, index=False, row_group_size=150)
        elif ending == "feather":
            rows.reset_index(drop=True).to_feather(path)
        else:
            rows.to_csv(path, index=False)
    return folder / f"all.{ending}", folder / "parts"


def assert_same_model(apart, whole, atol=1e-8):
    """The same map on the same columns, and the same facts."""
    names = whole.encoder_.get_feature_names_out().tolist()
    assert apart.encoder_.get_feature_names_out().tolist() == names
    np.testing.assert_allclose(apart.encoder_.mean_, whole.encoder_.mean_, rtol=1e-12)
    if hasattr(whole.estimator_, "components_") and whole.estimator_.components_.size:
        assert_same_subspace(
            apart.estimator_.components_.T, whole.estimator_.components_.T, atol=atol
        )
    shared = ("n_rows", "sensitive", "target", "groups")
    assert {k: apart.info_[k] for k in shared} == {k: whole.info_[k] for k in shared}


@pytest.mark.parametrize("ending", ["parquet", "csv", "feather"])
@pytest.mark.parametrize("criterion", ["demographic_parity", "equal_opportunity", "equalized_odds"])
def test_many_files_give_the_model_of_one_table(tmp_path, ending, criterion):
    one, parts = write(messy_people(), tmp_path, ending)
    question = {"sensitive": ["sex", "race", "age"], "target": "paid", "criterion": criterion}
    question["sensitive_kinds"] = {"age": "numeric"}
    whole = fit_table(one, **question, n_components=3)
    apart = fit_table(parts, **question, n_components=3)
    assert_same_model(apart, whole)
    assert apart.info_["n_files"] == 4
    assert apart.info_["sample_rows"] == apart.info_["n_rows"] == whole.info_["n_rows"]
    assert apart.info_["files"] == [f"{i}.{ending}" for i in range(4)]


@pytest.mark.parametrize(
    "wish",
    [
        {"method": "fair_pca", "tradeoff": 0.4, "intersectional": True, "n_components": 3},
        {"method": "leace"},
        {"method": "pca", "n_components": 3},
        {"method": "fair_kernel_pca", "n_components": 3},
        {"method": "fair_kernel_pca", "approximation": "nystroem", "n_landmarks": 50},
    ],
)
def test_every_method_gives_the_map_of_one_table(tmp_path, wish):
    people = messy_people()[["sex", "race", "paid", "height", "a0", "b0", "luck", "town", "skill"]]
    one, parts = write(people, tmp_path, "parquet")
    whole = fit_table(one, ["sex", "race"], "paid", **wish)
    apart = fit_table(parts, ["sex", "race"], "paid", **wish)
    assert type(apart.estimator_) is type(whole.estimator_)
    expected, found = whole.transform(people), apart.transform(people)
    assert expected.shape == found.shape
    signs = np.sign(np.sum(expected * found, axis=0))
    np.testing.assert_allclose(found * signs, expected, atol=1e-6 * np.abs(expected).max())


PREDICTED = {
    "a yes or no": {"target": "paid"},
    "one class": {"target": "race", "sensitive": ["sex"], "pos_label": "y"},
    "classes": {"target": "race", "sensitive": ["sex"]},
    "a number": {"target": "luck"},
    "whole numbers": {"target": "age", "target_kinds": {"age": "numeric"}},
    "odds": {"target": "paid", "criterion": "equalized_odds", "match": "covariances"},
    "opportunity": {"target": "paid", "criterion": "equal_opportunity", "match": "means"},
    "without a kernel": {"target": "paid", "criterion": "equal_opportunity", "kernel": None},
}


@pytest.mark.parametrize("at_once", [True, False])
@pytest.mark.parametrize("wish", PREDICTED)
@pytest.mark.parametrize("ending", ["parquet", "csv"])
def test_fair_pls_of_many_files_is_that_of_one_table(tmp_path, monkeypatch, ending, wish, at_once):
    people = messy_people().drop(columns=["name", "born"])
    one, parts = write(people, tmp_path, ending)
    asked = {"sensitive": ["sex", "race"], "n_landmarks": 40, **PREDICTED[wish]}
    whole = fit_table(one, method="fair_pls", **asked)
    if not at_once:  # as if the files were large
        monkeypatch.setattr(fitting, "MOST_IN_MEMORY", 0)
    apart = fit_table(parts, method="fair_pls", **asked)
    # Three classes are two columns, whose search in single precision amplifies rounding.
    searched = wish == "classes"
    assert_same_model(apart, whole, atol=1e-2 if searched else 1e-8)
    assert apart.info_.get("pos_label") == whole.info_.get("pos_label")
    assert apart.estimator_.targets_ == whole.estimator_.targets_
    assert apart.info_["n_rows"] == people[asked["target"]].notna().sum()
    expected, found = whole.transform(people), apart.transform(people)
    size = np.abs(expected).max()
    np.testing.assert_allclose(found, expected, atol=(1e-2 if searched else 1e-6) * size)
    assert apart.estimator_.mean_gap_ < 1e-9


@pytest.mark.parametrize("form", ["memory", "files"])
@pytest.mark.parametrize(
    ("question", "error", "message"),
    [
        ({}, MissingTargetError, "no target was named"),
        ({"target": "age"}, UsageError, r"target_kinds=.'age': 'numeric'. .command line: --num"),
        ({"target": "height", "target_kinds": {"luck": "numeric"}}, UsageError, "target_kinds"),
        ({"target": "town", "target_kinds": {"town": "numeric"}}, UsageError, "not numbers"),
        ({"target": "floor", "criterion": "equalized_odds"}, TableError, "must be binary"),
        ({"target": "paid", "pos_label": "perhaps"}, TableError, "perhaps"),
        ({"target": "nothing"}, TableError, "only"),
        ({"target": "id"}, TableError, r"has 1500 classes .*identifier.*--categorical id"),
        ({"target": "paid", "tradeoff": 0.5}, UsageError, "tradeoff"),
        ({"target": "paid", "match": "spreads"}, UsageError, "match='spreads'"),
        ({"method": "leace", "match": "distributions"}, UsageError, "fair_pls"),
        (
            {"method": "pca", "target": "age", "target_kinds": {"age": "numeric"}},
            UsageError,
            "is for 'fair_pls', and",
        ),
    ],
)
def test_targets_that_cannot_be_predicted_are_refused(tmp_path, form, question, error, message):
    people = messy_people().drop(columns=["name", "born"]).assign(nothing=1)
    people["id"] = [f"p{i}" for i in range(len(people))]
    _, parts = write(people, tmp_path, "parquet")
    with pytest.raises(error, match=message):
        fit_table(people if form == "memory" else parts, "sex", **{"method": "fair_pls"} | question)


def test_a_target_of_very_many_values_is_a_number_or_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(_look, "MOST_VALUES", 100)
    people = messy_people().drop(columns=["name", "born"])
    one, parts = write(people, tmp_path, "csv")
    asked = {"method": "fair_pls", "n_landmarks": 40}
    found = fit_table(parts, "sex", "height", **asked).estimator_
    assert found.targets_ == {"height": "numeric"}
    np.testing.assert_allclose(
        found.explained_targets_,
        fit_table(one, "sex", "height", **asked).estimator_.explained_targets_,
    )
    for more in ({"pos_label": 170}, {"target_kinds": {"height": "categorical"}}):
        with pytest.raises(TableError, match="more than 100 different values"):
            fit_table(parts, "sex", "height", **asked, **more)


def test_covariances_are_matched_by_the_moments_of_all_rows(tmp_path):
    people = messy_people()[["sex", "race", "height", "a0", "b0", "skill", "town"]]
    one, parts = write(people, tmp_path, "parquet")
    whole, apart = (
        fit_table(table, ["sex", "race"], match="covariances").estimator_ for table in (one, parts)
    )
    # The optimisation stops where it is good enough, so its start decides the last digits.
    for mine, theirs in zip(apart.moments_.attributes, whole.moments_.attributes, strict=True):
        assert mine.labels == theirs.labels
        for a, b in zip(mine.scatters, theirs.scatters, strict=True):
            np.testing.assert_allclose(a.dense().matrix, b.dense().matrix, rtol=1e-9, atol=1e-9)
    assert apart.n_components_ == whole.n_components_
    assert apart.covariance_gap_ <= 0.05
    assert apart.mean_gap_ < 1e-10


def test_adult_as_published_gives_the_model_of_the_whole_file(data_folder, tmp_path):
    file = data_folder / "adult" / "adult.test"
    lines = file.read_text(encoding="utf-8").splitlines(keepends=True)[1:]
    for i in range(3):
        (tmp_path / f"{i}.csv").write_text(
            "".join(lines[i * 6000 : (i + 1) * 6000]), encoding="utf-8"
        )
    question = {"sensitive": ["sex", "race"], "target": "income", "criterion": "equal_opportunity"}
    with pytest.warns(OutlierWarning, match="'capital-gain' is 99999 in 85 rows"):
        whole = fit_table(file, **question, reading={"columns": ADULT, "skip_lines": 1})
    with pytest.warns(OutlierWarning, match="'capital-gain' is 99999 in 85 rows"):
        apart = fit_table(tmp_path / "*.csv", **question, reading={"columns": ADULT}, n_jobs=2)
    assert_same_model(apart, whole)
    assert apart.info_["n_rows"] == 16281


def test_threads_change_no_bit(tmp_path):
    _, parts = write(messy_people(), tmp_path, "parquet")
    one, three = (fit_table(parts, ["sex", "race"], n_jobs=n) for n in (1, 3))
    np.testing.assert_array_equal(one.estimator_.components_, three.estimator_.components_)


def test_group_means_are_equal_over_all_rows_not_over_the_sample(tmp_path, monkeypatch):
    people = messy_people(4000)
    people.loc[people.index[-30:], "town"] = [f"Island {i}" for i in range(30)]
    _, parts = write(people, tmp_path, "parquet")
    monkeypatch.setattr(_look, "SAMPLE_ROWS", 300)
    model = fit_table(parts, ["sex", "race"], n_components=4, ignore=["name"])
    assert model.info_["sample_rows"] == 300
    assert model.info_["n_rows"] == 4000
    seen = set(next(c for c in model.encoder_.encoders_ if c.name == "town").levels)
    unseen = int((~people["town"].isin(seen) & people["town"].notna()).sum())
    assert model.info_["unknown_levels"] == {"town": unseen}
    assert 0 < unseen < 30
    counted = people["sex"].value_counts().to_dict()
    assert model.info_["groups"]["sex"] == counted
    assert model.estimator_.mean_gap_ < 1e-12
    T = model.transform(people)
    for sex in ("f", "m"):
        gap = T[people["sex"] == sex].mean(axis=0) - T[people["sex"].notna()].mean(axis=0)
        np.testing.assert_allclose(gap / T.std(axis=0), 0, atol=1e-10)


def test_the_sample_is_uniform_and_the_same_for_the_same_seed(tmp_path, monkeypatch):
    n = 6000
    people = made_up_people(n)[["sex", "town"]].assign(place=np.arange(n, dtype=float))
    _, parts = write(people, tmp_path, "csv", edges=(100, 4000))
    monkeypatch.setattr(_look, "SAMPLE_ROWS", 500)
    monkeypatch.setattr(large_tables, "BATCH_ROWS", 256)
    means = []
    for seed in (0, 0, 1):
        model = fit_table(parts, "sex", n_components=1, seed=seed, n_jobs=2)
        place = model.encoder_.get_feature_names_out().tolist().index("place")
        means.append(model.encoder_.mean_[place])
        assert model.info_["sample_rows"] == 500
    assert means[0] == means[1]
    assert means[0] != means[2]
    deviation = n / np.sqrt(12) / np.sqrt(500)
    assert max(abs(m - n / 2) for m in means) < 4 * deviation


def test_a_text_among_numbers_after_the_sample_is_an_error_that_names_the_file(
    tmp_path, monkeypatch
):
    people = messy_people(2000)
    people["height"] = people["height"].astype(object)
    people.loc[1999, "height"] = "tall"
    _, parts = write(people, tmp_path, "csv")
    monkeypatch.setattr(_look, "SAMPLE_ROWS", 50)
    with pytest.raises(TableError, match=r"3\.csv'.*'height' held numbers.*'tall'"):
        fit_table(parts, ["sex"], ignore=["name"])


def test_columns_that_vary_outside_the_sample_only_are_told(tmp_path, monkeypatch):
    people = messy_people(2000)
    rows = {"flag1": 5, "flag2": 1234, "flag3": 1990}
    for name, row in rows.items():
        people[name] = np.where(np.arange(2000) == row, "yes", "no")
    _, parts = write(people, tmp_path, "parquet")
    monkeypatch.setattr(_look, "SAMPLE_ROWS", 60)
    model = fit_table(parts, "sex", n_components=2, ignore=["name"])
    left_out = {c.name for c in model.encoder_.columns_ if c.kind == "constant"}
    assert left_out
    told = {name: n for name, n in model.info_["unknown_levels"].items() if name in rows}
    assert told == dict.fromkeys(left_out, 1)


def test_exact_kernels_of_more_rows_than_the_sample_are_refused(tmp_path, monkeypatch):
    _, parts = write(messy_people(), tmp_path, "parquet")
    monkeypatch.setattr(_look, "SAMPLE_ROWS", 60)
    with pytest.raises(ValueError, match="approximation='nystroem'"):
        fit_table(parts, "sex", method="fair_kernel_pca", approximation=None, ignore=["name"])
    model = fit_table(parts, "sex", method="fair_kernel_pca", n_landmarks=40, ignore=["name"])
    assert model.estimator_.landmarks_.shape[0] == 40


def test_a_quantity_with_very_many_values_is_not_counted(tmp_path, monkeypatch):
    monkeypatch.setattr("fairpca.models._look.MOST_VALUES", 200)
    people = messy_people()
    for ending in ("parquet", "csv"):
        one, parts = write(people, tmp_path / ending, ending)
        whole = fit_table(one, ["sex", "skill"], n_components=3)
        assert_same_model(fit_table(parts, ["sex", "skill"], n_components=3), whole)
        with pytest.raises(UsageError, match=r"'name' has 201 levels.*an identifier"):
            fit_table(parts, ["name"])


def test_numbers_with_decimal_commas_in_some_files_are_numbers(tmp_path):
    people = messy_people()[["sex", "height", "luck", "skill", "age"]]
    (tmp_path / "parts").mkdir()
    people[:700].to_csv(tmp_path / "parts" / "0.csv", sep=";", decimal=",", index=False)
    people[700:].to_csv(tmp_path / "parts" / "1.csv", sep=";", index=False)
    question = {"sensitive": ["sex", "age"], "sensitive_kinds": {"age": "numeric"}}
    apart = fit_table(tmp_path / "parts", **question, n_components=2)
    people.to_csv(tmp_path / "all.csv", index=False)
    assert_same_model(apart, fit_table(tmp_path / "all.csv", **question, n_components=2))


def test_large_files_are_read_in_batches_by_themselves(tmp_path, monkeypatch):
    one, _ = write(messy_people(), tmp_path, "parquet")
    assert "n_files" not in fit_table(one, "sex").info_
    monkeypatch.setattr(table_files, "LARGE_ROWS", 1000)
    assert fit_table(one, "sex").info_["n_files"] == 1
    text, _ = write(messy_people(), tmp_path / "text", "csv")
    monkeypatch.setattr(table_files, "LARGE_BYTES", 1000)
    assert fit_table(text, "sex").info_["n_files"] == 1


def test_a_packed_file_is_as_large_as_what_it_unpacks_to(tmp_path, monkeypatch):
    path = tmp_path / "bomb.csv.gz"
    rows = b"".join(b"%d,%d,%s\n" % (i % 7, i % 11, b"fm"[i % 2 :][:1]) for i in range(1540))
    path.write_bytes(gzip.compress(b"age,size,sex\n" + 50 * rows))
    assert path.stat().st_size < 20_000 < 50 * len(rows)
    assert "n_files" not in fit_table(path, "sex", n_components=1).info_
    for most in ("LARGE_BYTES", "LARGE_ROWS"):
        with monkeypatch.context() as patch:
            patch.setattr(table_files, most, 20_000)
            model = fit_table(path, "sex", n_components=1)
        assert (model.info_["n_files"], model.info_["n_rows"]) == (1, 77_000)


def test_a_table_that_does_not_fit_into_the_memory_is_refused_in_a_line(tmp_path, monkeypatch):
    one, _ = write(messy_people(), tmp_path, "csv")

    def full(*_, **__):
        raise pa.ArrowMemoryError("malloc of size 1281280000 failed")

    monkeypatch.setattr(table_files, "arrow_to_pandas", full)
    with pytest.raises(TableError, match=r"does not fit into the memory.*fairpca fit"):
        read_table(one)


def test_progress_tells_rows_of_both_passes(tmp_path):
    _, parts = write(messy_people(), tmp_path, "parquet")
    said = []
    fit_table(parts, "sex", progress=lambda *words: said.append(words))
    assert {what for _, _, what in said} == {"Looking at the rows", "Fitting to the rows"}
    assert said[-1] == (1500, 1500, "Fitting to the rows")
    assert all(total == 1500 for _, total, _ in said)


def test_progress_tells_which_of_many_passes_it_is(tmp_path, monkeypatch):
    monkeypatch.setattr(fitting, "MOST_IN_MEMORY", 0)
    _, parts = write(messy_people(), tmp_path, "csv")
    said = []
    asked = {"method": "fair_pls", "n_landmarks": 20, "progress": lambda *words: said.append(words)}
    fit_table(parts, "sex", "paid", **asked)
    titles = list(dict.fromkeys(what for _, _, what in said))
    later = [f"Fitting to the rows, pass {i}" for i in range(2, len(titles))]
    assert titles == ["Looking at the rows", "Fitting to the rows", *later]
    assert len(titles) > 5
    for title in titles:
        assert {total for _, total, what in said if what == title} == {
            None if title == titles[0] else 1500
        }
        done = [rows for rows, _, what in said if what == title]
        assert done == sorted(set(done))
        assert done[-1] == 1500


@pytest.mark.parametrize(
    ("question", "error", "message"),
    [
        ({"sensitive": "sx"}, TableError, "Did you mean 'sex'"),
        ({"sensitive": []}, MissingGroupError, "No sensitive column"),
        ({"sensitive": "sex", "criterion": "equalized_odds"}, MissingTargetError, "no target"),
        (
            {"sensitive": "sex", "target": "town", "criterion": "equalized_odds"},
            TableError,
            "distinct values",
        ),
        ({"sensitive": "sex", "method": "magic"}, UsageError, "method='magic'"),
        ({"sensitive": "nobody"}, SingleGroupError, "fewer than two groups"),
    ],
)
def test_questions_that_cannot_be_asked_are_refused(tmp_path, question, error, message):
    people = messy_people().assign(nobody="everybody")
    _, parts = write(people, tmp_path, "parquet")
    with pytest.raises(error, match=message):
        fit_table(parts, **question)


def test_a_word_for_missing_among_numbers_of_the_target_is_refused(tmp_path):
    people = messy_people().drop(columns=["name", "born"])
    people["paid"] = people["paid"].map({"yes": "1", "no": "0"})
    people.loc[7, "paid"] = "none"
    _, parts = write(people, tmp_path, "csv")
    with pytest.raises(TableError, match="'none'"):
        fit_table(parts, "sex", "paid", criterion="equalized_odds")


@pytest.mark.parametrize(
    ("ways", "positive"),
    [
        (("yes", " yes"), "yes"),
        (("true", "TRUE"), "true"),
        (("1", "1.0"), "1"),
    ],
)
def test_a_positive_value_is_one_value_in_whatever_ways_files_write_it(tmp_path, ways, positive):
    people = made_up_people(600)
    paid = (people["paid"] == "yes").to_numpy()
    other = {"yes": "no", "true": "false", "1": "0"}[positive]
    people["paid"] = np.where(paid, np.where(np.arange(600) % 3, *ways), other)
    asked = {"criterion": "equal_opportunity", "n_components": 2, "pos_label": positive}
    clean = people.assign(paid=paid.astype(int))
    expected = fit_table(clean, "sex", "paid", **{**asked, "pos_label": 1})
    one, parts = write(people, tmp_path, "csv", edges=(200, 300))
    for table in (people, one, parts) if positive == "yes" else (one, parts):  # files have types
        found = fit_table(table, "sex", "paid", **asked).estimator_
        assert_same_subspace(found.components_.T, expected.estimator_.components_.T, atol=1e-8)


def test_jobs_and_ways_to_read_are_for_files():
    people = made_up_people(200)
    several = fit_table(people, "sex", n_jobs=2)  # as in scikit-learn, no more than a wish
    np.testing.assert_array_equal(
        several.transform(people), fit_table(people, "sex").transform(people)
    )
    with pytest.raises(UsageError, match="in memory"):
        fit_table(people, "sex", reading={"skip_lines": 3})
