"""What a fit does not make equal is said, and columns that are no features are none."""

import numpy as np
import pandas as pd
import pytest

import fairpca
from fairpca import FairPCA, ParquetRows
from fairpca.auditing import AuditError
from fairpca.models import FairModel
from fairpca.models._streaming import stream_transform
from fairpca.tables import TableError


@pytest.fixture
def people():
    rng = np.random.default_rng(0)
    names = [*"abcd", *(f"x{j}" for j in range(16))]
    table = pd.DataFrame(rng.normal(size=(2000, 20)), columns=names)
    table["team"] = rng.choice(["red", "blue"], 2000)
    table["region"] = rng.choice([f"r{i}" for i in range(40)], 2000)
    table["sex"] = np.where(rng.random(2000) < 0.1, None, rng.choice(["f", "m"], 2000))
    table["joined"] = pd.to_datetime("2020-01-01") + pd.to_timedelta(np.arange(2000) % 60, "D")
    return table


@pytest.fixture(params=["memory", "files"])
def source(request, people, tmp_path):
    if request.param == "memory":
        return people
    people[:900].to_parquet(tmp_path / "1.parquet")
    people[900:].to_parquet(tmp_path / "2.parquet")
    return tmp_path


def test_merged_levels_and_unknown_groups_are_told(source):
    info = fairpca.fit_table(
        source, ["region", "sex"], ignore=["joined", "team"], n_components=2
    ).info
    merged, unknown = info["group_notes"]
    assert merged.startswith("region: 29 levels")
    assert "are not removed" in merged
    assert unknown.startswith("sex: ")
    assert "rows have no group here" in unknown


def test_dates_are_no_groups(source):
    with pytest.raises(AuditError, match=r"'joined' is a date.*years or bands"):
        fairpca.fit_table(source, "joined", ignore=["region", "sex", "team"])


def test_the_index_that_pandas_stores_is_no_feature(people, tmp_path):
    chosen = people[people["a"] > 0][[*"abc", "team"]]
    chosen.to_parquet(tmp_path / "people.parquet")
    rows = ParquetRows(tmp_path / "people.parquet", sensitive="team")
    assert list(rows.parts.names) == list("abc")
    for table in (tmp_path / "people.parquet", [tmp_path / "people.parquet"]):
        model = fairpca.fit_table(table, "team", n_components=1)
        assert model.encoder.needed_columns == list("abc")


def test_a_model_of_plain_numbers_transforms_files_by_name(people, tmp_path):
    people.to_parquet(tmp_path / "people.parquet")
    people[["b", "a", "d"]].to_csv(tmp_path / "new.csv", index=False)
    rows = ParquetRows(tmp_path / "people.parquet", sensitive="team", features=["a", "b", "d"])
    fair = FairPCA(1, missing_sensitive="ignore").fit(rows)
    model = FairModel(None, fair, {})
    for name in ("people.parquet", "new.csv"):
        n = stream_transform(model, tmp_path / name, tmp_path / "fair.parquet", dtype="float64")
        assert n == len(people)
        found = pd.read_parquet(tmp_path / "fair.parquet").to_numpy()
        np.testing.assert_allclose(found, fair.transform(people[["a", "b", "d"]]), atol=1e-12)


def test_missing_numbers_are_refused_where_nothing_fills_them_in(people, tmp_path):
    people.to_parquet(tmp_path / "people.parquet")
    fair = FairPCA(1).fit(people[["a", "b"]], sensitive_features=people["team"])
    people.loc[7, "b"] = np.nan
    people.to_parquet(tmp_path / "new.parquet")
    with pytest.raises(TableError, match="Column 'b' has missing"):
        stream_transform(FairModel(None, fair, {}), tmp_path / "new.parquet", tmp_path / "out.csv")
    assert not (tmp_path / "out.csv").exists()


def test_numbers_without_names_cannot_be_found_in_a_file(people, tmp_path):
    people.to_parquet(tmp_path / "people.parquet")
    fair = FairPCA(1).fit(people[["a", "b"]].to_numpy(), sensitive_features=people["team"])
    with pytest.raises(TableError, match="without names"):
        stream_transform(FairModel(None, fair, {}), tmp_path / "people.parquet", tmp_path / "o.csv")
