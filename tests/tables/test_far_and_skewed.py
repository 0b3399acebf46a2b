"""Numbers that stand for none, values that decide means, and skew: said, and mended when told."""

import numpy as np
import pandas as pd
import pytest

import fairpca
from fairpca.errors import OutlierWarning, UsageError
from fairpca.tables import TableEncoder, check_columns


def people(n=600, seed=0):
    rng = np.random.default_rng(seed)
    sex = rng.choice(["f", "m"], n)
    return pd.DataFrame(
        {
            "sex": sex,
            "age": rng.integers(18, 80, n),
            "height": rng.normal(170, 7, n) + 8 * (sex == "m"),
            "shoe": rng.normal(40, 2, n) + 2 * (sex == "m"),
        }
    )


def told(table, kind, **how):
    return [n for n in check_columns(table, ["sex"], **how) if n.kind == kind]


def test_a_value_that_decides_the_mean_is_noticed_with_its_remedy():
    table = people()
    assert told(table, "outlier") == told(table, "skew") == []
    table.loc[7, "height"] = 99999.0
    (notice,) = told(table, "outlier")
    assert (notice.severity, notice.column, notice.value) == ("warning", "height", 99999.0)
    assert "missing=[99999] (command line: --missing 99999)" in notice.text
    assert told(table, "outlier", missing=[99999]) == []


@pytest.mark.parametrize("value", [999, -99, 9999])
def test_nines_beyond_all_other_values_are_noticed(value):
    table = people()
    table.loc[::50, "age"] = value
    (notice,) = told(table, "outlier")
    assert (notice.column, notice.value) == ("age", value)
    assert f"--missing {value}" in notice.text


@pytest.mark.parametrize("value", [99, 81, 150])
def test_other_large_values_are_not(value):
    table = people()
    table.loc[::50, "age"] = value
    assert told(table, "outlier") == []


@pytest.mark.parametrize("unit", [1e-300, 1e300])
def test_huge_and_tiny_numbers_are_looked_at_alike(unit):
    rng = np.random.default_rng(0)
    table = people().assign(
        x=rng.normal(size=600) * unit, y=-(rng.exponential(size=600) ** 2) * unit
    )
    table.loc[3, "x"] = 1e5 * unit
    (notice,), (skew,) = told(table, "outlier"), told(table, "skew")
    assert notice.column == "x"
    assert {"x", "y"} == {name for name in table if f"'{name}' (" in skew.text}


def test_skewed_columns_are_one_notice():
    rng = np.random.default_rng(0)
    table = people().assign(
        income=rng.lognormal(10, 1, 600),
        visits=rng.poisson(0.1, 600),
        owner=rng.random(600) < 0.05,
        flag=(rng.random(600) < 0.05).astype(int),
    )
    (notice,) = told(table, "skew")
    assert notice.severity == "info"
    assert "'income' (" in notice.text
    assert "'visits' (" in notice.text
    assert "owner" not in notice.text
    assert "flag" not in notice.text
    assert "scale='rank'" in notice.text


def test_a_table_is_fitted_with_a_warning_that_names_the_column():
    table = people()
    table.loc[7, "height"] = 99999.0
    with pytest.warns(OutlierWarning, match="'height' has 99999"):
        bad = fairpca.fit_table(table, "sex", method="leace")
    model = fairpca.fit_table(table, "sex", method="leace", missing=[99999])
    assert model.encoder_.columns_[1].n_missing == 1
    new = people(4000, seed=1)

    def gap(fitted):
        T = fitted.transform(new)
        means = [T[(new["sex"] == sex).to_numpy()].mean(axis=0) for sex in ("f", "m")]
        return np.max(np.abs(means[0] - means[1]) / T.std(axis=0))

    assert gap(model) < 0.2 < 0.5 < gap(bad)
    assert model.info_["median_gap"] < 0.2 < 0.25 < bad.info_["median_gap"]
    assert "in ranges of the middle half of the people" in fairpca.models.model_card(bad)


def test_numbers_that_stand_for_none_are_missing_in_new_rows_too():
    table = people()
    table.loc[::20, "age"] = -999
    encoder = TableEncoder(missing=[-999]).fit(table[["age"]])
    empty = table[["age"]].astype(float).replace(-999, np.nan)
    assert encoder.get_feature_names_out().tolist() == ["age", "age_missing"]
    np.testing.assert_array_equal(encoder.transform(table), encoder.transform(empty))
    plain = TableEncoder().fit(empty)
    np.testing.assert_array_equal(encoder.transform(table), plain.transform(empty))
    part = TableEncoder().fit(table[["age"]][:200], like=encoder)
    assert part.columns_[0].n_missing == 10
    with pytest.raises(UsageError, match="does not name numbers"):
        TableEncoder(missing=["none"]).fit(table[["age"]])


def test_ranks_do_not_see_units_logarithms_or_outliers():
    rng = np.random.default_rng(0)
    income = rng.lognormal(10, 1, 900)
    frames = (pd.DataFrame({"x": x}) for x in (income, np.log(income), income**3))
    first, *others = (TableEncoder(scale="rank").fit_transform(frame) for frame in frames)
    for other in others:
        np.testing.assert_allclose(other, first, atol=1e-2)
    assert np.abs(first).max() < 1.75
    ties = pd.DataFrame({"x": [0, 0, 0, 1]})
    encoder = TableEncoder(scale="rank").fit(ties)
    np.testing.assert_allclose(encoder.encoders_[0].ranks, [[0, 1], [3 / 8, 7 / 8]])
    np.testing.assert_allclose(
        encoder.transform(pd.DataFrame({"x": [-5, 7]})), encoder.transform(ties)[[0, 3]]
    )
    with pytest.raises(UsageError, match="scale='log' is not an option"):
        TableEncoder(scale="log").fit(ties)


def test_a_model_of_ranks_is_saved_as_it_is(tmp_path):
    table = people().assign(income=np.random.default_rng(0).lognormal(10, 1, 600))
    model = fairpca.fit_table(table, "sex", n_components=2, scale="rank", missing=[18])
    model.save(tmp_path / "m.fairpca")
    loaded = fairpca.load(tmp_path / "m.fairpca")
    np.testing.assert_array_equal(loaded.transform(table), model.transform(table))
    assert loaded.scale == "rank"
    ranks = [row for row in model.encoder_.column_weights(np.ones(4)) if row.column == "income"]
    assert ranks[0].what == "first to last"
