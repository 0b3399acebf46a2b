"""Columns whose type differs from file to file, as pandas writes them where a value is missing."""

import numpy as np
import pandas as pd
import pytest

from fairpca import FairPCA, fit_table
from fairpca.errors import TableError
from fairpca.io import ParquetRows
from fairpca.moments import collect_moments

N = 200
RNG = np.random.default_rng(0)
PEOPLE = pd.DataFrame({"age": RNG.integers(18, 80, N), "pay": RNG.normal(size=N), "n": range(N)})
PEOPLE["group"], PEOPLE["y"], PEOPLE["w"] = RNG.integers(0, 3, N), np.arange(N) % 2, 1


def written(folder, **kinds):
    """Write two files, of which the second has these types."""
    PEOPLE[:90].to_parquet(folder / "1.parquet", index=False)
    PEOPLE[90:].astype(kinds).to_parquet(folder / "2.parquet", index=False)
    return folder


@pytest.mark.parametrize("first", ["float64", "float32", "int16", "uint64"])
def test_whole_numbers_in_one_file_may_be_fractions_in_another(tmp_path, first):
    kinds = dict.fromkeys(["age", "group", "y", "w"], first)
    names = {"sensitive": "group", "target": "y", "weight": "w"}
    rows = ParquetRows(written(tmp_path, **kinds), **names)
    found = FairPCA(1, criterion="equal_opportunity").fit(rows)
    X = PEOPLE[["age", "pay", "n"]]
    groups = {"group": PEOPLE["group"].astype(float)}
    expected = FairPCA(1, criterion="equal_opportunity").fit(
        X, PEOPLE["y"], sensitive_features=groups
    )
    np.testing.assert_allclose(found.components_, expected.components_, atol=1e-9)
    assert found.groups_ == expected.groups_
    turned = sorted(tmp_path.glob("*.parquet"), reverse=True)
    again = FairPCA(1, criterion="equal_opportunity").fit(ParquetRows(turned, **names))
    np.testing.assert_allclose(again.components_, expected.components_, atol=1e-9)
    table = fit_table(tmp_path, "group", n_components=1, ignore=["y", "w"])
    assert table.info_["n_rows"] == N


def test_a_group_that_is_unknown_in_all_of_a_file_is_unknown(tmp_path):
    people = PEOPLE.assign(group=PEOPLE["group"].map({0: "a", 1: "b", 2: "c"}))
    people[:90].to_parquet(tmp_path / "1.parquet", index=False)
    people[90:].assign(group=None).to_parquet(tmp_path / "2.parquet", index=False)
    for paths in (["1.parquet", "2.parquet"], ["2.parquet", "1.parquet"]):
        files = [tmp_path / path for path in paths]
        rows = ParquetRows(files, sensitive="group", ignore=["y", "w"])
        moments = collect_moments(rows, None, missing_sensitive="ignore")
        assert moments.attributes[0].labels == ("a", "b", "c")
        assert moments.attributes[0].count.sum() == 90


@pytest.mark.parametrize(("name", "kind"), [("age", str), ("group", str), ("w", bool)])
def test_other_types_are_refused_with_both_files(tmp_path, name, kind):
    with pytest.raises(TableError, match=rf"'{name}' is of type .*2\.parquet.*int64 in .*1\.parq"):
        ParquetRows(written(tmp_path, **{name: kind}), sensitive="group", target="y", weight="w")
