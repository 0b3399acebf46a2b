"""Bank Marketing: the published rates, and no call that is already over."""

import pytest

from fairpca.datasets import load_bank


@pytest.fixture(scope="module")
def bank(data_folder):
    return load_bank(data=data_folder)


def test_there_are_41188_clients_at_the_published_rates(bank):
    assert bank.features.shape == (41_188, 18)
    assert round(bank.target.mean(), 3) == 0.113
    assert round((bank.sensitive["age_group"] == "older than 40").mean(), 3) == 0.423


def test_age_is_no_feature_where_the_age_group_is_sensitive(bank):
    assert "age" not in bank.features


def test_age_is_a_feature_where_it_is_not_sensitive_and_agrees_with_the_group(bank, data_folder):
    other = load_bank(data=data_folder, sensitive=["marital"])
    older = other.features["age"] > 40
    assert older.equals(bank.sensitive["age_group"] == "older than 40")
    assert "marital" not in other.features


def test_the_duration_is_a_feature_on_request_only(bank, data_folder):
    assert "duration" not in bank.features
    with_duration = load_bank(data=data_folder, duration=True)
    assert set(with_duration.features) - set(bank.features) == {"duration"}
    # Why it is left out: a call that never took place was no success.
    assert with_duration.target[with_duration.features["duration"] == 0].sum() == 0


def test_the_first_client_is_the_first_line(bank):
    first = bank.features.iloc[0]
    assert first[["job", "marital", "education"]].tolist() == ["housemaid", "married", "basic.4y"]
    assert first[["campaign", "pdays", "euribor3m"]].tolist() == [1, 999, 4.857]
    assert bank.sensitive["age_group"][0] == "older than 40"
    assert bank.target[0] == 0


def test_the_documented_oddity_of_pdays_is_there(bank):
    never = bank.features["pdays"] == 999
    assert round(never.mean(), 2) == 0.96
    assert (bank.features["previous"][never] > 0).sum() == 4110
