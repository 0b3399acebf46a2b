"""COMPAS: ProPublica's rows, and only what was known when the score was due."""

import pandas as pd
import pytest

from fairpca.datasets import load_compas
from fairpca.datasets._compas import DROPPED_COLUMNS

KEPT = {"age", "juv_fel_count", "juv_misd_count", "juv_other_count", "priors_count"} | {
    "c_charge_degree"
}


@pytest.fixture(scope="module")
def compas(data_folder):
    return load_compas(data=data_folder)


@pytest.fixture(scope="module")
def table(data_folder):
    return pd.read_csv(data_folder / "compas" / "compas-scores-two-years.csv")


def test_there_are_6172_defendants(compas):
    assert len(compas.target) == 6172
    # The counts of ProPublica's analysis.
    assert compas.sensitive["race"].value_counts()["African-American"] == 3175
    assert compas.sensitive["race"].value_counts()["Caucasian"] == 2103
    assert compas.sensitive["sex"].value_counts().to_dict() == {"Male": 4997, "Female": 1175}
    assert compas.target.sum() == 2809


def test_every_column_is_a_feature_an_attribute_or_dropped_for_a_reason(compas, table):
    assert set(compas.features) == KEPT
    assert KEPT | {"race", "sex"} | set(DROPPED_COLUMNS) == set(table)
    assert not (KEPT | {"race", "sex"}) & set(DROPPED_COLUMNS)
    assert all(DROPPED_COLUMNS.values())


def test_columns_dropped_as_copies_are_copies(table):
    assert table["decile_score.1"].equals(table["decile_score"])
    assert table["priors_count.1"].equals(table["priors_count"])
    assert table["screening_date"].equals(table["compas_screening_date"])
    assert table["v_screening_date"].equals(table["compas_screening_date"])
    bands = table.groupby("age_cat")["age"].agg(["min", "max"]).sort_values("min")
    assert bands["max"].tolist()[:2] < bands["min"].tolist()[1:]


def test_columns_dropped_as_constant_are_constant(table):
    for name, reason in DROPPED_COLUMNS.items():
        if reason == "constant":
            assert table[name].nunique() == 1, name


def test_dates_are_dropped_since_the_late_ones_tell_the_outcome(table):
    late = table["compas_screening_date"] > "2014-04-01"
    assert late.sum() > 500
    assert table.loc[late, "two_year_recid"].eq(1).all()
    assert table.loc[~late, "two_year_recid"].mean() < 0.45


def test_the_first_defendant_is_the_first_line(compas):
    assert compas.features.iloc[0].to_dict() == {
        "age": 69,
        "juv_fel_count": 0,
        "juv_misd_count": 0,
        "juv_other_count": 0,
        "priors_count": 0,
        "c_charge_degree": "F",
    }
    assert compas.sensitive.iloc[0].tolist() == ["Other", "Male"]
    assert compas.target[0] == 0
