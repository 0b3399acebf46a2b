"""Rows of files, however they are divided, give the answer of the same rows in memory."""

import numpy as np
import pytest

from assertions import assert_same_subspace
from fairpca import FairPCA, FairPLS
from fairpca.io import CSVRows, ParquetRows
from fairpca.moments import collect_moments
from out_of_core.people_in_files import (
    FEATURES,
    TOLD,
    fit_in_memory,
    people,
    same_bits,
    write_in_parts,
    write_parquet,
)
from slow import first_fast

BOTH = {"sensitive": ["race", "age"], **TOLD}


def assert_same_fit(apart, whole, atol=1e-8):
    assert_same_subspace(apart.components_.T, whole.components_.T, atol=atol)
    assert apart.n_samples_seen_ == whole.n_samples_seen_
    assert apart.feature_names_in_.tolist() == whole.feature_names_in_.tolist()


@pytest.mark.parametrize("row_group_size", first_fast([30, 5000, 1, 333], 2))
@pytest.mark.parametrize("batch_rows", [50, 1024])
def test_row_groups_and_batches_of_any_size(tmp_path, row_group_size, batch_rows):
    frame = people(600)
    write_parquet(frame, tmp_path / "p.parquet", row_group_size)
    rows = ParquetRows(tmp_path / "p.parquet", batch_rows=batch_rows, **BOTH)
    apart = FairPCA(2, missing_sensitive="ignore").fit(rows)
    assert_same_fit(apart, fit_in_memory(frame, missing_sensitive="ignore"))


def test_a_file_in_which_an_attribute_is_always_missing(tmp_path):
    frame = people()
    frame["team"] = frame["hired"].astype("Int64")
    frame.loc[:299, ["race", "age", "team"]] = None
    write_in_parts(frame, tmp_path / "d", [300, 500])
    told = {**BOTH, "sensitive": ["race", "age", "team"]}
    for missing in ("ignore", "group"):
        rows = ParquetRows(tmp_path / "d", batch_rows=100, **told)
        apart = FairPCA(2, missing_sensitive=missing).fit(rows)
        whole = fit_in_memory(frame, sensitive=("race", "age", "team"), missing_sensitive=missing)
        assert_same_fit(apart, whole)


@pytest.mark.parametrize("match", ["means", "covariances", "distributions"])
def test_fair_pls_of_files_in_which_an_attribute_or_a_class_is_missing(tmp_path, match):
    """The first file knows no level, no number and one class; the last has yet another class."""
    frame = people()
    frame["hired"] = np.where(np.arange(1000) < 300, "yes", frame["hired"].map({0: "no", 1: "yes"}))
    frame.loc[900:, "hired"] = "a third"
    frame.loc[:299, ["race", "age"]] = None
    write_in_parts(frame, tmp_path / "d", [300, 500])
    options = {"match": match, "missing_sensitive": "group", "scale": True}
    apart = FairPLS(**options).fit(ParquetRows(tmp_path / "d", batch_rows=100, **BOTH))
    whole = FairPLS(**options).fit(
        frame[FEATURES],
        frame["hired"],
        sensitive_features=frame[["race", "age"]],
        sample_weight=frame["w"],
    )
    T, expected = (fair.transform(frame[FEATURES]) for fair in (apart, whole))
    # Two columns are searched in single precision, with attributes in another order.
    atol = 1e-2 if match == "distributions" else 1e-8
    np.testing.assert_allclose(T, expected, rtol=1e-7, atol=atol)
    assert apart.targets_ == whole.targets_ == {"hired": ["a third", "no", "yes"]}
    assert T.shape == (1000, 2)


def test_scatters_of_joint_groups(tmp_path):
    frame = people(missing=0)
    frame["sex"] = np.where(frame["hired"], "f", "m")
    write_in_parts(frame, tmp_path / "d", [100, 101])
    rows = ParquetRows(
        tmp_path / "d", sensitive=["race", "sex"], ignore=["id", "age", "hired", "w"]
    )
    options = {"with_scatters": True, "intersectional": True}
    apart = collect_moments(rows, None, **options).attributes[0]
    whole = collect_moments(frame[FEATURES], frame[["race", "sex"]], **options).attributes[0]
    assert set(apart.labels) == set(whole.labels)
    assert len(whole.labels) == 8
    for label in whole.labels:
        a, b = (m.scatters[m.labels.index(label)].dense().matrix for m in (apart, whole))
        np.testing.assert_allclose(a, b, rtol=1e-10, atol=1e-10)


def test_single_precision_stays_single_and_mixed_is_double(tmp_path):
    frame = people(3000, dtype="float32", missing=0)
    write_in_parts(frame, tmp_path / "single", [1000], row_group_size=300)
    rows = ParquetRows(tmp_path / "single", batch_rows=500, **BOTH)
    assert rows.head.X.to_numpy().dtype == np.float32
    apart = FairPCA(2).fit(rows)
    assert apart.moments_.precision == np.finfo(np.float32).eps
    assert_same_fit(apart, fit_in_memory(frame), atol=1e-5)
    exact = fit_in_memory(frame.astype(dict.fromkeys(FEATURES, "float64")))
    assert_same_fit(apart, exact, atol=1e-5)
    mixed = frame.astype({"x3": "float64", "x4": "int32"})
    write_parquet(mixed, tmp_path / "mixed.parquet")
    apart = FairPCA(2).fit(ParquetRows(tmp_path / "mixed.parquet", **BOTH))
    assert apart.moments_.precision == np.finfo(np.float64).eps
    assert_same_fit(apart, fit_in_memory(mixed))
    asked = ParquetRows(tmp_path / "single", dtype="float64", **BOTH)
    assert_same_fit(FairPCA(2).fit(asked), exact)


def test_truth_values_and_whole_numbers_are_features_and_attributes(tmp_path):
    frame = people(missing=0).assign(
        x3=lambda f: f["x3"] > 0,
        x4=lambda f: f["hired"].astype("uint8"),
        team=lambda f: f["race"].astype("category"),
        old=lambda f: f["age"] > 40,
        size=lambda f: f["id"].str.len(),
    )
    write_in_parts(frame, tmp_path / "d", [500])
    told = ["team", "old", "size", "age"]
    rows = ParquetRows(tmp_path / "d", sensitive=told, features=FEATURES, batch_rows=77)
    apart = FairPCA(2).fit(rows)
    whole = FairPCA(2).fit(frame[FEATURES], sensitive_features=frame[told])
    assert_same_fit(apart, whole)


def test_wide_rows_stay_rows(tmp_path):
    rng = np.random.default_rng(0)
    frame = people(30, missing=0)[["race"]]
    wide = [f"y{j}" for j in range(60)]
    frame[wide] = rng.normal(size=(30, 60))
    write_in_parts(frame, tmp_path / "d", [10, 20])
    apart = FairPCA(2).fit(ParquetRows(tmp_path / "d", sensitive="race"))
    assert_same_fit(apart, FairPCA(2).fit(frame[wide], sensitive_features=frame["race"]))


@pytest.mark.parametrize("n_jobs", first_fast([2, 3, None]))
def test_threads_change_no_bit(tmp_path, n_jobs):
    write_in_parts(people(5000), tmp_path / "d", [7, 1500, 1600, 4000], row_group_size=400)
    one = moments_of(ParquetRows, tmp_path / "d", batch_rows=100, n_jobs=1)
    for _ in range(3):
        several = moments_of(ParquetRows, tmp_path / "d", batch_rows=100, n_jobs=n_jobs)
        assert same_bits(one, several)


def moments_of(source, path, **how):
    return collect_moments(source(path, **BOTH, **how), None, missing_sensitive="ignore")


def test_moments_are_those_of_the_rows(tmp_path):
    frame = people()
    write_in_parts(frame, tmp_path / "d", [123])
    options = {"with_scatters": True, "criterion": "equalized_odds", "missing_sensitive": "ignore"}
    rows = ParquetRows(tmp_path / "d", sensitive=["race"], features=FEATURES, target="hired")
    apart = collect_moments(rows, None, **options)
    whole = collect_moments(frame[FEATURES], frame[["race"]], y=frame["hired"], **options)
    np.testing.assert_allclose(apart.scatter.matrix, whole.scatter.matrix)
    np.testing.assert_allclose(
        apart.attributes[1].scatters[0].matrix, whole.attributes[1].scatters[0].matrix
    )


def test_only_the_needed_columns_are_read(tmp_path, monkeypatch):
    read = []
    frame = people(missing=0)
    write_parquet(frame, tmp_path / "p.parquet")
    rows = ParquetRows(tmp_path / "p.parquet", sensitive="race", features=["x5", "x1"])
    monkeypatch.setattr(type(rows), "_part", lambda rows, batch: read.append(set(batch.columns)))
    rows.fold(lambda part: None)
    assert read == [{"x5", "x1", "race"}]


@pytest.mark.parametrize("ending", ["csv", "csv.gz", "tsv"])
def test_text_files(tmp_path, ending):
    frame = people().assign(x3=lambda f: f["x3"] > 0, x4=lambda f: f["hired"] * 2)
    for i, (start, stop) in enumerate([(0, 1), (1, 700), (700, 1000)]):
        separator = "\t" if ending == "tsv" else ","
        frame[start:stop].to_csv(tmp_path / f"{i}.{ending}", index=False, sep=separator)
    rows = CSVRows(tmp_path / f"*.{ending}", batch_rows=150, **BOTH)
    for criterion in ("demographic_parity", "equalized_odds"):
        options = {"criterion": criterion, "missing_sensitive": "ignore"}
        assert_same_fit(FairPCA(2, **options).fit(rows), fit_in_memory(frame, **options))
    one, two = (moments_of(CSVRows, tmp_path, batch_rows=150, n_jobs=n) for n in (1, 2))
    assert same_bits(one, two)


def test_decimal_commas_and_numbers_that_turn_out_to_be_texts(tmp_path):
    frame = people(400, missing=0).drop(columns=["hired", "w", "id", "race"])
    frame["code"] = ["1", "2", "3", "4"] * 99 + ["x1", "1", "2", "3"]
    frame[:200].to_csv(tmp_path / "1.csv", index=False, sep=";", decimal=",")
    frame[200:].to_csv(tmp_path / "2.csv", index=False, sep=";", decimal=",")
    rows = CSVRows(tmp_path, sensitive=["age", "code"])
    whole = FairPCA(1).fit(frame[FEATURES], sensitive_features=frame[["age", "code"]])
    apart = FairPCA(1).fit(rows)
    assert_same_fit(apart, whole)
    assert apart.groups_["code"] == whole.groups_["code"]


def test_progress_tells_rows(tmp_path):
    frame = people(missing=0)
    write_in_parts(frame, tmp_path / "d", [400])
    frame.to_csv(tmp_path / "p.csv", index=False)
    told = []
    how = {"sensitive": "race", "features": FEATURES, "progress": lambda *n: told.append(n)}
    collect_moments(ParquetRows(tmp_path / "d", batch_rows=100, **how), None)
    assert told[-1] == (1000, 1000)
    assert [rows for rows, _ in told] == sorted({rows for rows, _ in told})
    told.clear()
    collect_moments(CSVRows(tmp_path / "p.csv", **how), None)
    assert told == [(1000, None)]
