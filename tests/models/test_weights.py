"""Rows of a table count by their weights: a column, or an argument of `fit`."""

import numpy as np
import pandas as pd
import pytest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from fairpca import FairTableTransformer, fit_table
from fairpca.errors import TableError, UsageError
from fairpca.metrics import mean_gap
from fairpca.models import model_card

N = 500
RNG = np.random.default_rng(0)
PEOPLE = pd.DataFrame({"sex": RNG.choice(["f", "m"], N), "job": RNG.choice(["a", "b", "c"], N)})
PEOPLE["age"] = RNG.normal(size=N) + (PEOPLE["sex"] == "m")
PEOPLE["pay"] = PEOPLE["age"] + RNG.normal(size=N)
PEOPLE["paid"] = np.where(RNG.normal(size=N) + PEOPLE["pay"] > 0, "yes", "no")
PEOPLE["w"] = RNG.integers(0, 5, N) * 0.5
METHODS = ["fair_pca", "fair_pls", "fair_kernel_pca", "leace", "pca"]


def weighted_gap(T):
    w, man = PEOPLE["w"].to_numpy(), (PEOPLE["sex"] == "m").to_numpy()
    return float(
        np.abs(
            np.average(T[man], axis=0, weights=w[man])
            - np.average(T[~man], axis=0, weights=w[~man])
        ).max()
    )


@pytest.mark.parametrize("method", METHODS)
def test_weights_are_the_same_as_a_column_an_argument_and_in_files(tmp_path, method):
    how = {"method": method, "n_components": 1 if method != "leace" else None}
    as_column = fit_table(PEOPLE, "sex", "paid", weight="w", **how)
    plain = PEOPLE.drop(columns="w")
    as_argument = FairTableTransformer("sex", "paid", **how).fit(plain, sample_weight=PEOPLE["w"])
    T = as_column.transform(plain)
    np.testing.assert_array_equal(as_argument.transform(plain), T)
    assert "w" not in as_column.feature_names_in_
    PEOPLE[:200].to_csv(tmp_path / "1.csv", sep=";", decimal=",", index=False)
    PEOPLE[200:].to_csv(tmp_path / "2.csv", sep=";", decimal=",", index=False)
    on_disk = fit_table(tmp_path, "sex", "paid", weight="w", **how)
    if method != "fair_kernel_pca":  # which draws its landmarks from parts
        np.testing.assert_allclose(np.abs(on_disk.transform(plain)), np.abs(T), atol=1e-6)
    if method not in ("pca", "fair_kernel_pca"):
        assert weighted_gap(T) < 1e-9 < mean_gap(T, PEOPLE["sex"])
    assert not np.allclose(fit_table(plain, "sex", "paid", **how).transform(plain), T, atol=1e-3)
    assert "count by their weight in w, which is no feature" in model_card(as_column)
    assert "count by weights that were passed" in model_card(as_argument)


def test_rows_without_an_outcome_lose_their_weights_with_them():
    known = RNG.random(N) < 0.9
    frame = PEOPLE.assign(paid=PEOPLE["paid"].where(known))
    how = {"criterion": "equal_opportunity", "n_components": 1, "weight": "w"}
    some, only = (fit_table(f, "sex", "paid", **how) for f in (frame, PEOPLE[known]))
    np.testing.assert_allclose(some.transform(PEOPLE), only.transform(PEOPLE), atol=1e-12)


def test_weights_go_through_a_pipeline():
    plain = PEOPLE.drop(columns=["w", "paid"])
    model = make_pipeline(FairTableTransformer("sex", n_components=2), StandardScaler())
    model.fit(plain, fairtabletransformer__sample_weight=PEOPLE["w"])
    assert weighted_gap(model[0].transform(plain)) < 1e-9


@pytest.mark.parametrize(
    ("weights", "told"),
    [(-1.0, "rows have a negative weight in 'w'"), (np.nan, "rows have no weight in 'w'")],
)
def test_a_row_without_a_usable_weight_is_refused_from_memory_and_files(tmp_path, weights, told):
    frame = PEOPLE.assign(w=np.where(np.arange(N) < 3, weights, 1.0))
    frame.to_parquet(tmp_path / "people.parquet")
    for table in (frame, [tmp_path / "people.parquet"]):
        with pytest.raises(TableError, match=f"3 of 500 {told}"):
            fit_table(table, "sex", ignore="paid", weight="w", n_components=1)


def test_one_kind_of_weights_at_a_time(tmp_path):
    with pytest.raises(UsageError, match="weighted by weight='w'"):
        FairTableTransformer("sex", weight="w").fit(PEOPLE, sample_weight=np.ones(N))
    PEOPLE.to_csv(tmp_path / "people.csv", index=False)
    with pytest.raises(UsageError, match=r"on disk.*weight=\.\.\."):
        FairTableTransformer("sex").fit(tmp_path / "people.csv", sample_weight=np.ones(N))
    with pytest.raises(UsageError, match="row labels"):
        FairTableTransformer("sex").fit(PEOPLE, sample_weight=PEOPLE["w"][::-1])
