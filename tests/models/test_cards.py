"""A card tells what a reader must know, and shows data as text."""

import re
import tracemalloc

import numpy as np
import pandas as pd
import pytest

from fairpca import FairPCA, FairPLS, FairTableTransformer, fit_table
from fairpca.erasers import LEACE
from fairpca.models import model_card
from fairpca.models._cards import _markdown
from fairpca.tables import TableEncoder
from registry import ESTIMATORS, fitted, small_rows

HOSTILE = ["<script>alert(1)</script>", "[x](javascript:a)", "a|b", "`rm`", "# title\n\n## b", "**"]


@pytest.mark.parametrize("name", ESTIMATORS)
def test_every_model_has_a_card(name):
    model = fitted(name)
    card = model_card(model)
    assert type(model).__name__ in card.splitlines()[0]
    for heading in (
        "trained on",
        "guarantees",
        "does not guarantee",
        "Numbers",
        "How to use",
        "Made",
    ):
        assert re.search(f"^## .*{heading}", card, re.MULTILINE)


@pytest.mark.parametrize("name", ESTIMATORS)
def test_cards_promise_equal_means_only_where_tests_look_for_them(name):
    assert ESTIMATORS[name].fair or "have the same mean" not in model_card(fitted(name))


def test_the_card_counts_the_groups_and_points_at_small_ones():
    X, sex, _ = small_rows()
    sex[:] = "f"
    sex[:7] = "m"
    card = model_card(FairPCA(2).fit(X, sensitive_features={"sex": sex}))
    assert "Groups of sex: f (113 rows), m (7 rows)" in card
    assert "Small here: m of sex (7 rows)" in card


def test_groups_that_the_model_did_not_count_are_told_by_info():
    counts = {"sensitive": {"f": 62, "m": 58}}
    card = model_card(fitted("rbf kernel"), info={"groups": counts})
    assert "Groups of sensitive: f (62 rows), m (58 rows)" in card
    odd = model_card(fitted("rbf kernel"), info={"groups": {"sensitive": {"f": "many"}}})
    assert "Groups of sensitive: f, m" in odd


def test_the_card_gives_the_numbers_that_were_measured():
    model = FairTableTransformer.of(
        None,
        fitted("matched covariances"),
        {
            "data": "small rows",
            "fingerprint": "abc123",
            "sensitive": ["sex"],
            "target": "income",
            "leakage": {"before": 0.8125, "after": 0.5},
        },
    )
    card = model_card(model)
    for told in ("small rows", "abc123", "sex", "income", "leakage, before | 0.8125"):
        assert told in card
    kept = 100 * model.estimator_.explained_variance_ratio_.sum()
    assert f"variance kept | {kept:.1f} %" in card
    assert "`covariance_gap_`" in card


def test_a_trade_off_promises_nothing():
    assert "Nothing for the representation as a whole" in model_card(fitted("with a trade-off"))
    assert "Nothing: this method ignores" in model_card(fitted("plain pca"))


def test_the_card_says_that_a_kernel_model_holds_training_rows():
    assert "holds 120 rows of the training data" in model_card(fitted("rbf kernel"))
    assert "rows of the training data" not in model_card(fitted("random features"))
    assert "holds 10 rows of the training data" in model_card(fitted("fair pls, kernel"))
    assert "rows of the training data" not in model_card(fitted("fair pls"))


def test_the_card_of_fair_pls_says_how_far_distributions_are_the_same():
    X, sex, y = small_rows(400)
    one = FairPLS().fit(X, {"income": y}, sensitive_features={"sex": sex})
    card = model_card(one)
    assert "Target that the columns predict: income, classes 0, 1" in card
    assert "each column has nearly the same distribution in all groups" in card
    assert "There is one column" in card
    assert "certified_gap" in card
    assert f"| `distribution_gap_` | {one.distribution_gap_:.4g} |" in card
    share = 100 * one.explained_targets_[0, 0]
    assert f"| share of income that fairpls0 explains | {share:.1f} % |" in card
    both = {"income": X[:, 1] + X[:, 2], "grade": X[:, 3] > 3}
    several = FairPLS().fit(X, both, sensitive_features={"sex": sex})
    card = model_card(several)
    assert "income, continuous" in card
    assert "There is one column" not in card
    assert "others may still predict the groups" in card
    assert "that fairpls1 explains" in card
    spread = FairPLS(match="covariances").fit(X, y, sensitive_features=sex)
    card = model_card(spread)
    assert "Group variances of each column were brought closer" in card
    assert "the same distribution" not in card
    assert "Non-linear models may still predict the groups" in card
    assert 'Measure the leakage; `match="distributions"` hides more' in card


@pytest.mark.parametrize(
    ("name", "who"),
    [
        ("rbf kernel", "Non-linear models may still predict the groups"),
        ("matched covariances", "Models that are neither linear nor quadratic may still predict"),
        ("with a trade-off", "- **Models may still predict the groups.**"),
        ("plain pca", "- **Models may still predict the groups.**"),
    ],
)
def test_the_card_says_which_models_may_still_see_the_groups(name, who):
    assert who in model_card(fitted(name))


def test_hostile_names_stay_text():
    X, _, _ = small_rows()
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(X, columns=HOSTILE)
    groups = {"<img src=x>": rng.choice(HOSTILE[:2], len(X))}
    encoder = TableEncoder().fit(frame)
    estimator = FairPCA(2).fit(encoder.transform(frame), sensitive_features=groups)
    card = model_card(
        FairTableTransformer.of(encoder, estimator, {"data": "<b>", "x|y": "</table>"})
    )
    assert "<" not in card
    assert not re.search(r"(?<!\\)\]\(", card)
    headings = [line for line in card.splitlines() if line.startswith("#")]
    assert len(headings) == 8
    assert "&lt;script&gt;" in card


def test_hostile_names_of_the_output_stay_text():
    X, sex, _ = small_rows()
    frame = pd.DataFrame(X, columns=["```\n<script>", *HOSTILE[1:]])
    card = model_card(LEACE().fit(frame, sensitive_features=sex))
    assert "<" not in card
    assert card.count("```") == 2


@pytest.mark.parametrize("text", [*HOSTILE, "a\u2028b", "\x00", "&lt;", "$x$", "x" * 10_000])
def test_escaped_text_is_one_short_line_without_markup(text):
    shown = _markdown(text)
    assert len(shown) < 500
    assert len(shown.splitlines()) == 1
    assert not re.search(r"(?<!\\)[`*_\[\]|#$]|[<>]", shown)


def test_long_lists_are_cut():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(300, 200)), columns=[f"c{i}" for i in range(200)])
    card = model_card(FairPCA(2).fit(frame, sensitive_features=rng.choice(["f", "m"], 300)))
    assert "and 140 more" in card
    assert "c199" not in card


def test_a_very_long_name_is_cut_before_it_is_looked_at():
    tracemalloc.start()
    assert len(_markdown("x" * 10**6)) < 100
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 2 * 10**6  # the text itself, and not a list of its letters


@pytest.mark.parametrize("door", ["frame", "file"])
def test_the_card_says_how_many_rows_had_no_target(door, tmp_path):
    rng = np.random.default_rng(0)
    sex = rng.choice(["f", "m"], 300)
    table = pd.DataFrame({"sex": sex, "a": rng.normal(size=300), "b": rng.normal(size=300)})
    table["wage"] = np.where(np.arange(300) % 3, table["a"] + 10.5 + rng.normal(size=300), np.nan)
    table.to_csv(tmp_path / "wages.csv", index=False)
    given = table if door == "frame" else tmp_path / "wages.csv"
    model = fit_table(given, "sex", "wage", method="fair_pls")
    assert (model.info_["n_rows"], model.info_["n_rows_dropped"]) == (200, 100)
    card = model_card(model)
    assert "Rows left out, whose target is missing: 100 (33.3 % of the table)" in card
    whole = fit_table(table.dropna(), "sex", "wage", method="fair_pls")
    assert "left out" not in model_card(whole)
