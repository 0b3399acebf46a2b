"""What a fit does not make equal is said, and columns that are no features are none."""

import json
import warnings
from decimal import Decimal
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

import fairpca
from cli.commands import invoke
from fairpca import FairKernelPCA, FairPCA, FairTableTransformer
from fairpca.errors import (
    InfeasibleError,
    ManyLevelsWarning,
    SingleGroupError,
    TableError,
    UsageError,
)
from fairpca.io import CSVRows, ParquetRows
from fairpca.metrics import mean_gap
from fairpca.models import model_card, transform_file


@pytest.fixture
def people():
    rng = np.random.default_rng(0)
    names = [*"abcd", *(f"x{j}" for j in range(16))]
    table = pd.DataFrame(rng.normal(size=(2000, 20)), columns=names)
    table["team"] = rng.choice(["red", "blue"], 2000)
    share = np.repeat([0.17, 0.15 / 35], [5, 35])
    table["region"] = rng.choice([f"r{i}" for i in range(40)], 2000, p=share)
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
    ).info_
    merged, unknown = info["group_notes"]
    assert merged.startswith("region: 35 levels")
    assert "are not removed" in merged
    assert unknown.startswith("sex: ")
    assert "rows have no group here" in unknown


def test_many_groups_of_a_table_are_all_made_equal(tmp_path):
    rng = np.random.default_rng(0)
    region = np.arange(1200) % 17
    shift = rng.normal(size=(17, 24))[region]
    table = pd.DataFrame(rng.normal(size=(1200, 24)) + shift).add_prefix("x")
    table["region"] = np.char.add("r", region.astype(str))
    table[:500].to_parquet(tmp_path / "1.parquet")
    table[500:].to_parquet(tmp_path / "2.parquet")
    for source in (table, tmp_path):
        model = fairpca.fit_table(source, "region", n_components=3)
        assert len(model.estimator_.groups_["region"]) == 17
        assert mean_gap(model.transform(table), table["region"].to_numpy()) < 1e-9


def test_dates_are_no_groups(source):
    with pytest.raises(UsageError, match=r"'joined' is a date.*years or bands"):
        fairpca.fit_table(source, "joined", ignore=["region", "sex", "team"])


def test_the_index_that_pandas_stores_is_no_feature(people, tmp_path):
    chosen = people[people["a"] > 0][[*"abc", "team"]]
    chosen.to_parquet(tmp_path / "people.parquet")
    rows = ParquetRows(tmp_path / "people.parquet", sensitive="team")
    assert list(rows.head.X.columns) == list("abc")
    for table in (tmp_path / "people.parquet", [tmp_path / "people.parquet"]):
        model = fairpca.fit_table(table, "team", n_components=1)
        assert model.encoder_.needed_columns == list("abc")


def test_a_model_of_plain_numbers_transforms_files_by_name(people, tmp_path):
    people.to_parquet(tmp_path / "people.parquet")
    people[["b", "a", "d"]].to_csv(tmp_path / "new.csv", index=False)
    rows = ParquetRows(tmp_path / "people.parquet", sensitive="team", features=["a", "b", "d"])
    fair = FairPCA(1, missing_sensitive="ignore").fit(rows)
    model = FairTableTransformer.of(None, fair, {})
    for name in ("people.parquet", "new.csv"):
        n = transform_file(model, tmp_path / name, tmp_path / "fair.parquet", dtype="float64")
        assert n == len(people)
        found = pd.read_parquet(tmp_path / "fair.parquet").to_numpy()
        np.testing.assert_allclose(found, fair.transform(people[["a", "b", "d"]]), atol=1e-12)


def test_missing_numbers_are_refused_where_nothing_fills_them_in(people, tmp_path):
    people.to_parquet(tmp_path / "people.parquet")
    fair = FairPCA(1).fit(people[["a", "b"]], sensitive_features=people["team"])
    people.loc[7, "b"] = np.nan
    people.to_parquet(tmp_path / "new.parquet")
    with pytest.raises(TableError, match="Column 'b' has missing"):
        transform_file(
            FairTableTransformer.of(None, fair, {}), tmp_path / "new.parquet", tmp_path / "out.csv"
        )
    assert not (tmp_path / "out.csv").exists()


def test_numbers_without_names_cannot_be_found_in_a_file(people, tmp_path):
    people.to_parquet(tmp_path / "people.parquet")
    fair = FairPCA(1).fit(people[["a", "b"]].to_numpy(), sensitive_features=people["team"])
    with pytest.raises(TableError, match="without names"):
        transform_file(
            FairTableTransformer.of(None, fair, {}), tmp_path / "people.parquet", tmp_path / "o.csv"
        )


CODES = np.random.default_rng(1).integers(1, 13, 3000)
"""A race, say: each has a mean of its own, and none is along a line."""

KINDS = {
    "integers": (CODES, "categorical"),
    "floats": (CODES.astype(float), "categorical"),
    "integers and missing": (np.where(np.arange(3000) < 99, np.nan, CODES), "categorical"),
    "decimals": ([Decimal(int(code)) for code in CODES], "categorical"),
    "fractions": (CODES + 0.5, "numeric"),
    "decimals with fractions": ([Decimal(int(code)) / 4 for code in CODES], "numeric"),
    "texts": (CODES.astype(str), "categorical"),
}


def of_codes(values):
    X = np.random.default_rng(0).normal(size=(3000, 20))
    X[:, 0] += 2 * np.cos(2 * CODES)
    return pd.DataFrame(X, columns=[f"x{j}" for j in range(20)]).assign(race=values)


def by_fit(table, folder, kinds=None):
    fair = FairPCA(2, missing_sensitive="ignore", sensitive_kinds=kinds)
    return fair.fit(table.drop(columns="race"), sensitive_features=table[["race"]])


def by_batches(table, folder, kinds=None):
    fair = FairPCA(2, missing_sensitive="ignore", sensitive_kinds=kinds)
    for start in range(0, 3000, 500):
        part = table[start : start + 500]
        fair.partial_fit(part.drop(columns="race"), sensitive_features=part[["race"]])
    return fair


def by_table(table, folder, kinds=None):
    return fairpca.fit_table(table, "race", n_components=2, sensitive_kinds=kinds).estimator_


def by_parquet_files(table, folder, kinds=None):
    table[:900].to_parquet(folder / "1.parquet")
    table[900:].to_parquet(folder / "2.parquet")
    return fairpca.fit_table(folder, "race", n_components=2, sensitive_kinds=kinds).estimator_


def by_text_files(table, folder, kinds=None):
    table[:900].to_csv(folder / "1.csv", index=False)
    table[900:].to_csv(folder / "2.csv", index=False)
    return fairpca.fit_table(folder, "race", n_components=2, sensitive_kinds=kinds).estimator_


def by_parquet_rows(table, folder, kinds=None):
    table.to_parquet(folder / "1.parquet", row_group_size=800)
    rows = ParquetRows(folder, sensitive="race")
    return FairPCA(2, missing_sensitive="ignore", sensitive_kinds=kinds).fit(rows)


def by_text_rows(table, folder, kinds=None):
    table.to_csv(folder / "1.csv", index=False)
    rows = CSVRows(folder, sensitive="race", batch_rows=800)
    return FairPCA(2, missing_sensitive="ignore", sensitive_kinds=kinds).fit(rows)


def by_dask(table, folder, kinds=None):
    dask = pytest.importorskip("dask")
    with dask.config.set({"dataframe.convert-string": False}):  # decimals would be texts
        rows = pytest.importorskip("dask.dataframe").from_pandas(table, npartitions=3)
    fair = FairPCA(2, missing_sensitive="ignore", sensitive_kinds=kinds)
    return fair.fit(rows, sensitive_features="race")


DOORS = [by_fit, by_batches, by_table, by_parquet_files, by_text_files]
DOORS += [by_parquet_rows, by_text_rows, by_dask]


def by_command(table, folder, kinds=None):
    table.to_csv(folder / "people.csv", index=False)
    said = [word for name, kind in (kinds or {}).items() for word in (f"--{kind}", name)]
    out = folder / "model.fairpca"
    words = ["fit", folder / "people.csv", "-s", "race", "--n-components", 2, *said, "--out", out]
    result = invoke(list(map(str, words)))
    assert result.exit_code == 0, result.output
    assert ("whole-number values, which are taken as groups" in result.output) == (not kinds)
    return FairTableTransformer.load(out).estimator_


def by_audit(table, folder, kinds=None):
    table = table[["x0", "x1", "x2", "race"]]
    found = fairpca.audit(table, "race", sensitive_kinds=kinds, quick=True, max_rows=600, n_jobs=1)
    return as_audited(found.to_dict())


def by_audit_command(table, folder, kinds=None):
    table[["x0", "x1", "x2", "race"]].to_csv(folder / "people.csv", index=False)
    said = [word for name, kind in (kinds or {}).items() for word in (f"--{kind}", name)]
    words = ["audit", folder / "people.csv", "-s", "race", "--quick", "--max-rows", 600, *said]
    words += ["--jobs", 1, "--json", folder / "a.json", "--out", folder / "a.html"]
    result = invoke(list(map(str, words)))
    if result.exit_code:
        raise UsageError(" ".join(result.output.split()))
    return as_audited(json.loads((folder / "a.json").read_text(encoding="utf-8")))


def as_audited(found):
    (race,) = found["data"]["attributes"]
    groups = [group["label"] for group in race["groups"]]
    return SimpleNamespace(groups_={"race": "numeric" if race["kind"] == "numeric" else groups})


@pytest.mark.parametrize("door", DOORS, ids=lambda door: door.__name__)
@pytest.mark.parametrize(("values", "kind"), KINDS.values(), ids=KINDS)
def test_a_column_is_the_same_by_every_door(tmp_path, door, values, kind):
    texts_of_numbers = isinstance(values[0], str) and "text" in door.__name__
    told = kind == "categorical" and (texts_of_numbers or not isinstance(values[0], str))
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always", ManyLevelsWarning)
        fair = door(of_codes(values), tmp_path)
        groups = fair.groups_["race"]
    assert (groups == "numeric") == (kind == "numeric")
    assert [w for w in said if "race has 12 whole-number values" in str(w.message)] or not told
    if kind == "categorical":
        assert len(groups) == 12
        names = [f"x{j}" for j in range(20)]
        T = of_codes(values)[names].to_numpy() @ (fair.components_.T)
        known = np.arange(3000) >= (99 if pd.isna(values[0]) else 0)
        if "table" not in door.__name__ and "files" not in door.__name__:  # these standardise
            assert mean_gap(T[known], CODES[known].astype(str)) < 1e-9


AGES = np.random.default_rng(2).integers(20, 80, 3000)


@pytest.mark.parametrize("door", [*DOORS, by_command, by_audit, by_audit_command])
@pytest.mark.parametrize("said", [None, "numeric", "categorical"])
def test_sixty_ages_are_no_number_by_one_door_and_groups_by_another(tmp_path, door, said):
    """Whole numbers are groups unless somebody says more; what measures groups asks."""
    X = np.random.default_rng(0).normal(size=(3000, 70)) + (AGES == 30)[:, None]
    table = pd.DataFrame(X, columns=[f"x{j}" for j in range(70)]).assign(race=AGES)
    kinds = None if said is None else {"race": said}
    if said is None and "audit" in door.__name__:
        with pytest.raises(UsageError, match=r"60 whole-number.*--numeric race.*--categorical ra"):
            door(table, tmp_path)
        return
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always", ManyLevelsWarning)
        groups = door(table, tmp_path, kinds).groups_["race"]
    if said == "numeric":
        assert groups == "numeric"
    else:
        assert len(groups) == (12 if "audit" in door.__name__ else 60)  # it measures the largest
    asked = [w for w in told if "race has 60 whole-number values" in str(w.message)]
    assert bool(asked) == (said is None and door is not by_command)  # which prints it


def test_a_card_promises_for_a_number_what_holds_for_a_number():
    table = of_codes(CODES + 0.5)
    model = fairpca.fit_table(table, "race", n_components=2)
    T = model.transform(table)
    assert mean_gap(T, CODES + 0.5) < 1e-9
    assert mean_gap(T, CODES.astype(str)) > 0.2
    card = model_card(model)
    assert "all groups have the same mean" not in card
    assert "no column is correlated with race" in card
    assert "race is taken as a number, since it has fractions" in card
    with pytest.warns(ManyLevelsWarning):
        card = model_card(fairpca.fit_table(of_codes(CODES), "race", n_components=2))
    assert "all groups have the same mean" in card
    assert "race has 12 whole-number values, which are taken as groups" in card


@pytest.mark.parametrize("in_memory", [True, False])
def test_kinds_can_be_said_of_tables(tmp_path, in_memory):
    table = of_codes(CODES).assign(born=pd.Timestamp("2000-01-01") + pd.to_timedelta(CODES, "D"))
    table[:900].to_parquet(tmp_path / "1.parquet")
    table[900:].to_parquet(tmp_path / "2.parquet")
    source = table if in_memory else tmp_path
    kinds = {"race": "numeric", "born": "numeric"}
    model = fairpca.fit_table(source, ["race", "born"], sensitive_kinds=kinds, n_components=2)
    assert set(model.estimator_.groups_.values()) == {"numeric"}
    assert mean_gap(model.transform(table), CODES + 1e-9 * CODES) < 1e-6
    kinds = {"race": "categorical", "born": "categorical"}
    model = fairpca.fit_table(source, ["race", "born"], sensitive_kinds=kinds, n_components=2)
    assert [len(groups) for groups in model.estimator_.groups_.values()] == [12, 12]
    with pytest.raises(UsageError, match="sensitive_kinds names the column 'rcae'"):
        fairpca.fit_table(source, ["race"], ignore=["born"], sensitive_kinds={"rcae": "numeric"})


def test_where_so_many_groups_cannot_work_the_way_out_is_named():
    table = of_codes(CODES)[["x0", "x1", "x2", "race"]]
    way_out = r"Nothing is left.*race has 12 whole-number values.*'numeric'.*--numeric race"
    with pytest.raises(InfeasibleError, match=way_out):
        fairpca.fit_table(table, "race")
    for estimator in (FairPCA(1), FairKernelPCA(1, approximation="nystroem", n_landmarks=5)):
        with pytest.raises(InfeasibleError, match="race has 12 whole-number values"):
            estimator.set_params(sensitive_kinds={"race": "categorical"}).fit(
                table[["x0", "x1", "x2"]], sensitive_features=table[["race"]]
            )
    alone = table.assign(race=np.arange(3000))
    with pytest.raises(SingleGroupError, match=r"fewer than two groups.*3000 whole-number values"):
        fairpca.fit_table(alone, "race")
