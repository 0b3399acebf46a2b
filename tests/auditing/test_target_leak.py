"""Target leakage by one column: no method is recommended until that column is named."""

import numpy as np
import pandas as pd
import pytest

from fairpca.auditing._evidence import telling_columns
from fairpca.auditing._results import Notice


@pytest.fixture(scope="module")
def births():
    """As in a table of births: a low weight is a weight below 2,500."""
    rng = np.random.default_rng(0)
    n = 500
    race = rng.choice(["a", "b"], n)
    age = rng.normal(25, 5, n) + 3 * (race == "a")
    weight = 2500 + 40 * (age - 25) + rng.normal(0, 500, n)
    return pd.DataFrame(
        {
            "race": race,
            "age": age,
            "smoker": rng.random(n) < 0.3,
            "weight": weight,
            "low": weight < 2500,
        }
    )


def test_the_column_is_in_the_headline_and_nothing_is_recommended(audited, births):
    """Seen: 'Take Fair PLS', 'at AUC 1.00 instead of 1.00'."""
    found = audited(births, "race", "low", n_components=2)
    advice = found.advice
    assert advice.verdict == "target leak"
    assert (advice.representation, advice.code, advice.command, advice.ties) == (None, "", "", [])
    assert "weight alone predicts low (AUC 1.00)" in found.summary.headline
    assert "--ignore" in " ".join(advice.reasons)
    assert all(option.selection_frequency == 0 for option in advice.options)
    page = found.to_html()
    assert "Recommended:" not in page
    assert "Nothing is recommended before the columns that reveal low are named" in page


@pytest.mark.parametrize("given", [{"ignore": ["weight"]}, {"scores": "weight"}])
def test_once_it_is_named_or_ignored_there_is_a_recommendation_again(audited, births, given):
    found = audited(births, "race", "low", n_components=2, **given)
    assert found.advice.verdict != "target leak"
    assert "alone predicts" not in found.summary.headline


def test_a_leak_of_a_numeric_target_is_found_too(audited, births):
    table = births.drop(columns="low").assign(log_weight=np.log(births["weight"].clip(1)))
    found = audited(table, "race", "weight", n_components=2)
    assert found.advice.verdict == "target leak"
    assert "log_weight alone predicts weight" in found.summary.headline


def test_who_hides_an_attribute_gets_a_recommendation_all_the_same(audited, births):
    found = audited(births, "race", "low", n_components=2, aim="hide")
    assert found.advice.verdict != "target leak"


def test_columns_that_tell_it_together_are_noticed(audited, births):
    """Nobody knows whether a rule is meant, so it is a warning, and the recommendation stands."""
    rng = np.random.default_rng(1)
    before = births["weight"] + 800 * rng.normal(size=len(births))
    table = births.drop(columns="weight").assign(before=before, gain=births["weight"] - before)
    table = table.drop(columns="low").assign(weight=births["weight"])
    found = audited(table, "race", "weight", n_components=2)
    (notice,) = [n for n in found.notices if n.kind == "leak" and not n.column]
    assert "together predict 'weight' nearly perfectly (R2 1.00)" in notice.text
    assert found.advice.verdict != "target leak"


def test_only_what_is_nearly_certain_counts():
    def noticed(kind, value, other="y", column="c"):
        return Notice(kind, "warning", column, other, value, "")

    told = [noticed("leak", 0.991), noticed("copy", 1.0, column="d")]
    others = [noticed("leak", 0.98), noticed("proxy", 1.0), noticed("leak", 1.0, other="z")]
    together = noticed("leak", 1.0, column="")
    assert telling_columns([*told, *others, together], "y") == told[::-1]
    assert telling_columns(told, None) == []
