"""German Credit: the groups of the paper, and sex where personal_status is not."""

import pytest

from fairpca.datasets import load_german, load_lee2022


@pytest.fixture(scope="module")
def german(data_folder):
    return load_german(data=data_folder)


def test_there_are_1000_loans_of_which_700_are_good(german):
    assert german.features.shape == (1000, 18)
    assert german.target.sum() == 700


def test_neither_age_nor_personal_status_is_a_feature(german):
    assert not {"age", "personal_status"} & set(german.features)


def test_sex_follows_the_codes_of_personal_status(german, data_folder):
    other = load_german(data=data_folder, sensitive=["age_group"])
    women = other.features["personal_status"].isin(["A92", "A95"])
    assert women.equals(german.sensitive["sex"] == "female")
    assert women.sum() == 310


def test_the_age_groups_are_those_of_the_published_splits(german, data_folder):
    split = load_lee2022("german", data=data_folder).splits[0]
    older = split.z_train.sum() + split.z_test.sum()
    assert (german.sensitive["age_group"] == "25 or older").sum() == older == 851
    bad = split.y_train.sum() + split.y_test.sum()
    assert (german.target == 0).sum() == bad


def test_the_first_loan_is_the_first_line(german):
    first = german.features.iloc[0]
    assert first[["checking_account", "credit_history"]].tolist() == ["A11", "A34"]
    assert first[["duration_months", "credit_amount", "dependents"]].tolist() == [6, 1169, 1]
    assert german.sensitive.iloc[0].tolist() == ["25 or older", "male"]
    assert german.target[0] == 1
