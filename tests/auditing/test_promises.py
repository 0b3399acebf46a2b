"""What whoever has to sign relies on, from a table to the advice; each was once seen broken."""

import html
import json
import re
from dataclasses import asdict

import jsonschema
import numpy as np
import pytest
from scipy.stats import spearmanr
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.metrics import accuracy_score, r2_score, roc_auc_score
from sklearn.model_selection import StratifiedKFold, cross_val_predict

from fairpca.auditing import audit, audit_schema
from fairpca.auditing._asking import ask
from fairpca.auditing._evidence import Evidence, largest, parity_of
from fairpca.auditing._representations import METHODS, TrainingRows, fit_method
from fairpca.auditing._results import Setting
from fairpca.auditing._splits import QUICK
from fairpca.metrics import (
    PROBES,
    distribution_gap,
    false_positive_rate_difference,
    mean_prediction_difference,
    precision_difference,
    select_top,
    selection_rate_difference,
    selection_rate_ratio,
    true_positive_rate_difference,
)
from fairpca.tables import TableEncoder
from optional_libraries import pandas as pd
from slow import slow

YES = {"yes": 1, "no": 0}


def option(found, key):
    (one,) = [o for o in found.advice.options if o.representation == key]
    return one


def downstream(found, key, model="existing_model"):
    (one,) = [d for d in found.downstream if (d.representation, d.model) == (key, model)]
    return one


# Trees on top


@pytest.fixture(scope="module")
def quadratic(audited):
    """Sex shows in the mean of one column and in the spread of another; both decide."""
    rng = np.random.default_rng(0)
    m = rng.integers(0, 2, size=500)
    spread = np.where(m, 3.0, 0.4) * rng.normal(size=500)
    mean, skill = rng.normal(size=500) + m, rng.normal(size=500)
    table = pd.DataFrame({"sex": m, "spread": spread, "mean": mean, "skill": skill})
    paid = mean + 1.5 * np.abs(spread) + skill + 0.5 * rng.normal(size=500) > 2.0
    table = table.assign(paid=np.where(paid, "yes", "no"))
    return {model: audited(table, "sex", "paid", model=model) for model in ("any", "linear")}


def test_a_method_whose_trees_keep_the_gap_is_not_advised_for_any_model(quadratic):
    """Seen: 'Take LEACE' at 4.6 points of a linear model, and trees at 17.9 of 17.3 before."""
    found = quadratic["any"]
    gaps = {
        (d.representation, d.model): d.parities[0].gap.value
        for d in found.downstream
        if d.representation in ("raw", "leace")
    }
    assert gaps["leace", "linear"] < 0.1 < 0.2 < gaps["raw", "linear"]
    assert gaps["leace", "boosting"] > 0.75 * gaps["raw", "boosting"] > 0.3
    assert found.advice.representation != "leace"
    if found.advice.representation is not None:
        models = {m.model: m.gap for m in option(found, found.advice.representation).models}
        assert models["boosting"].high < gaps["raw", "boosting"] - 0.1


def test_an_option_has_the_numbers_of_all_models_whichever_were_asked_for(quadratic):
    for found in quadratic.values():
        for one in found.advice.options:
            if one.tradeoff is None:
                assert [m.model for m in one.models] == [*PROBES]
    any_model, linear = (quadratic[m].advice.options[0] for m in ("any", "linear"))
    assert any_model.models == linear.models
    assert (linear.gap_model, linear.utility_model) == ("linear", "linear")
    assert any_model.gap.value > linear.gap.value


# No action needed, and no method that helps


def test_where_sex_does_not_matter_there_is_nothing_to_do(audited):
    rng = np.random.default_rng(1)
    table = pd.DataFrame(rng.normal(size=(400, 2)), columns=["a", "b"])
    table["sex"] = rng.choice(["f", "m"], size=400)
    table["paid"] = np.where(table["a"] + rng.normal(size=400) > 0, "yes", "no")
    assert audited(table, "sex", "paid", max_gap=0.1).advice.verdict == "not settled"
    found = audited(table, "sex", "paid", max_gap=0.25)
    assert found.advice.verdict == "no action needed"
    assert found.summary.headline.startswith("No action needed: decisions differ by")
    assert (found.advice.code, found.advice.command) == ("", "")
    assert found.advice.representation is None
    assert found.advice.options[0].gap.high <= 0.25


def test_where_the_outcome_is_the_attribute_nothing_helps(audited):
    """Seen: AUC .687 -> .577 'for 2.7 points', and an option worse than a constant."""
    rng = np.random.default_rng(0)
    m = rng.integers(0, 2, size=400)
    badges = {f"badge {i}": np.where(rng.random(400) < 0.05, 1 - m, m) for i in range(3)}
    table = pd.DataFrame({"sex": m, **badges, "paid": np.where(rng.random(400) < 0.1, 1 - m, m)})
    found = audited(table, "sex", "paid")
    assert found.advice.verdict == "no method helps"
    assert found.summary.headline.startswith("No tested method helps: decisions differ by 9")
    assert (found.advice.code, found.advice.command) == ("", "")
    assert len(found.advice.options) > 1  # what was tried is shown
    assert not any(one.eligible for one in found.advice.options)
    for one in found.advice.options[1:]:
        assert one.gap.value > 0.75 * found.advice.options[0].gap.value


# Rows of one person


@pytest.fixture(scope="module")
def panel():
    """Six rows each of 120 people, whose columns hardly change and say nothing of sex."""
    rng = np.random.default_rng(0)
    who = np.repeat(np.arange(120), 6)
    usual = rng.normal(size=(120, 4))[who] + 0.2 * rng.normal(size=(720, 4))
    frame = pd.DataFrame(usual, columns=list("abcd"))
    return frame.assign(who=who, sex=rng.choice(["f", "m"], size=120)[who])


def test_a_person_met_before_is_not_predicted(audited, panel):
    """Seen: each patient twice, sex 'above chance' at .58; men eight times .91, once each .65."""
    rows, people = (
        audited(panel, "sex", **given) for given in ({"ignore": ["who"]}, {"person": "who"})
    )
    seen = [leak for leak in rows.leakage if leak.representation == "raw"]
    assert max(leak.auc.value for leak in seen if leak.above_chance) > 0.62
    assert not any(leak.above_chance for leak in people.leakage if leak.representation == "raw")
    assert people.advice.verdict == "no action needed"
    assert (rows.data.n_people, people.data.n_people) == (720, 120)
    (told,) = [notice for notice in rows.notices if notice.kind == "person"]
    assert told.column == "who"
    assert not any(notice.kind == "person" for notice in people.notices)


# As many components as others


@pytest.fixture(scope="module")
def small(audited):
    """Four columns, of which an attribute of three groups separates two."""
    rng = np.random.default_rng(0)
    race = rng.choice(list("xyz"), size=500)
    table = pd.DataFrame(rng.normal(size=(500, 4)), columns=list("abcd")).assign(race=race)
    table["a"] += 1.5 * (race == "x")
    table["b"] += 1.5 * (race == "y")
    table["paid"] = np.where(table[list("abcd")].sum(axis=1) > 1, "yes", "no")
    return audited(table, "race", "paid", n_components=3)


def test_where_fair_pca_refuses_the_largest_number_that_fits_is_taken(small):
    """Seen: 'use <= 2' after 95 % of the page, a dash in the table, and no trade-off."""
    (fair,) = [r for r in small.representations if r.key == "fair_pca"]
    assert (fair.failure, fair.n_columns) == (None, 2)
    assert fair.note == "2 of 3 components: no more are available."
    assert [c.model for c in small.curves] == ["linear"]


def test_projections_are_compared_at_one_number_of_components(small):
    """Seen: covariances at k = 2 against means at k = 5; most of the credited effect was k."""
    columns = {r.key: r.n_columns for r in small.representations if r.n_columns is not None}
    common = small.settings.common_components
    assert common == min(columns[k] for k in columns if k in _PROJECTIONS)
    for key in _PROJECTIONS:
        if columns.get(key, common) > common:
            assert columns[f"{key}@{common}"] == common
            assert all((f"{key}@{common}", model) in Evidence(small).downstream for model in PROBES)
    names = {r.key: r.name for r in small.representations}
    assert names[f"pca@{common}"] == f"PCA, k = {common}"


_PROJECTIONS = (
    "pca",
    "fair_pca",
    "fair_pca_covariances",
    "fair_pca_distributions",
    "fair_kernel_pca",
)


# My own model


@pytest.fixture(scope="module")
def hired():
    """People with a score, two decisions, weights, and a score that is not always known."""
    rng = np.random.default_rng(0)
    n = 400
    m, race = rng.integers(0, 2, size=n), rng.choice(["x", "y"], size=n)
    skill = rng.normal(size=n)
    good = skill + 0.5 * m + rng.normal(size=n) > 0.2
    risk = 1 / (1 + np.exp(-(skill + 0.4 * m + 0.3 * rng.normal(size=n))))
    return pd.DataFrame(
        {
            "sex": np.where(m, "m", "f"),
            "race": race,
            "skill": skill,
            "luck": rng.normal(size=n),
            "good": np.where(good, "yes", "no"),
            "risk": risk.round(2),
            "called": np.where(risk > 0.6, "yes", "no"),
            "w": rng.integers(1, 4, size=n),
        }
    )


OWN = {"scores": ["risk"], "decisions": ["called"]}


@pytest.fixture(scope="module")
def of_own_models(audited, hired):
    return audited(hired, ["sex", "race"], "good", ignore=["w"], **OWN)


@pytest.fixture(scope="module")
def with_weights(audited, hired):
    return audited(hired, "sex", "good", weight="w", ignore=["race"], **OWN)


def test_a_score_the_wrong_way_round_is_pointed_out(hired, audited):
    """Seen: AUC 0.18 and half of the gap, without a word."""
    turned = hired.assign(risk=-hired["risk"])
    found = audited(turned, "sex", "good", scores=["risk"], ignore=["w", "race", "called"])
    (notice,) = [n for n in found.notices if n.kind == "reversed"]
    assert notice.severity == "warning"
    assert notice.value < 0.5


def test_what_a_model_says_of_rows_does_not_make_them_other_people(hired):
    """Seen: with a score among the columns three copies, without it none, and another advice."""
    twice = pd.concat([hired, hired.iloc[:60]], ignore_index=True)
    twice["risk"] = np.arange(len(twice)) / len(twice)
    given = {"pos_label": None, "ignore": ["w"], "n_components": None, "effort": QUICK}
    bare = ask(twice.drop(columns=["risk", "called"]), "sex", "good", seed=0, **given)
    own = ask(twice, "sex", "good", seed=0, **OWN, **given)
    np.testing.assert_array_equal(own.people, bare.people)
    assert len(np.unique(own.people)) == len(hired)


@pytest.mark.parametrize("which", ["of_own_models", "with_weights"])
def test_the_numbers_of_an_own_model_are_those_of_the_public_functions(which, hired, request):
    found = request.getfixturevalue(which)
    w = hired["w"].to_numpy(dtype=float) if which == "with_weights" else None
    y, risk = hired["good"].map(YES).to_numpy(), hired["risk"].to_numpy()
    share = np.average(y, weights=w)
    decided = {
        "decision:called": hired["called"].map(YES).to_numpy(),
        "score:risk": select_top(risk, share, sample_weight=w).astype(int),
    }
    for key, yes in decided.items():
        one = downstream(found, key)
        assert one.accuracy.value == pytest.approx(accuracy_score(y, yes, sample_weight=w))
        values = yes if key.startswith("decision") else risk
        auc = roc_auc_score(y, values, sample_weight=w)
        assert one.utility.value == pytest.approx(auc, rel=1e-9)
        for name in found.settings.sensitive:
            parity, groups = parity_of(one, name), hired[name]
            for printed, public in (
                (parity.gap, selection_rate_difference),
                (parity.ratio, selection_rate_ratio),
                (parity.true_positive_gap, true_positive_rate_difference),
                (parity.false_positive_gap, false_positive_rate_difference),
                (parity.precision_gap, precision_difference),
            ):
                expected = public(y, yes, sensitive_features=groups, sample_weight=w)
                assert printed.value == pytest.approx(expected, rel=1e-9)
            for group in parity.groups:
                rows = (groups == group.label).to_numpy()
                part = None if w is None else w[rows]
                rate = np.average(yes[rows], weights=part)
                assert group.selection_rate.value == pytest.approx(rate, rel=1e-9)
                mean, outcome = (np.average(v[rows], weights=part) for v in (values, y))
                assert group.mean_score.value == pytest.approx(mean, rel=1e-6)
                assert group.mean_outcome.value == pytest.approx(outcome, rel=1e-9)
    apart = parity_of(downstream(found, "score:risk"), "sex").distribution_gap
    assert apart.value == pytest.approx(
        distribution_gap(None, risk, sensitive_features=hired["sex"], sample_weight=w), rel=1e-9
    )


def test_weights_of_an_own_decision_are_repeated_rows(with_weights, hired):
    rows = hired.loc[hired.index.repeat(hired["w"])]
    gap = selection_rate_difference(
        None, rows["called"], sensitive_features=rows["sex"], pos_label="yes"
    )
    assert parity_of(downstream(with_weights, "decision:called"), "sex").gap.value == pytest.approx(
        gap
    )


def test_an_own_model_is_shown_beside_what_methods_give(of_own_models):
    found = of_own_models
    for key, kind in (("score:risk", "score"), ("decision:called", "decision")):
        (shown,) = [r for r in found.representations if r.key == key]
        assert (shown.kind, shown.n_columns) == (kind, 1)
        one = option(found, key)
        assert one.selection_frequency == 0
        assert not one.eligible
        gaps = [parity_of(downstream(found, key), name).gap.value for name in ("sex", "race")]
        assert one.gap.value == max(gaps)
        assert {leak.probe for leak in found.leakage if leak.representation == key} == {
            "linear",
            "boosting",
            "kernel",
        }
        sentences = " ".join(found.summary.sentences)
        assert f"decisions differ by {100 * gaps[0]:.1f} points" in sentences
        name = f"{one.name[0].lower()}{one.name[1:]}"
        assert f"{name} differs by {100 * max(gaps):.1f} points" in found.summary.headline
    assert found.advice.representation not in ("score:risk", "decision:called")


@pytest.mark.parametrize(
    "given",
    [
        {"scores": ["risk"], "decisions": ["called"], "ignore": ["w"]},
        {"scores": ["risk"], "decisions": ["called"], "target": "skill", "ignore": ["w"]},
        slow({"decisions": ["called"], "person": "who", "weight": "w", "target": "good"}),
        slow({"scores": ["risk"], "decisions": ["called"], "target": "race", "ignore": ["w"]}),
    ],
    ids=["no target", "a number", "person and weight", "classes"],
)
def test_own_models_are_audited_beside_every_kind_of_target(audited, hired, given):
    table = hired.assign(who=np.arange(400) // 2, race=np.resize(["x", "y", "z"], 400))
    table.loc[::9, "risk"] = np.nan
    found = audited(table.drop(columns="luck"), "sex", **({"ignore": []} | given))
    jsonschema.validate(json.loads(found.to_json()), audit_schema())
    assert found.summary.headline[:20] in html.unescape(found.to_html())
    for key in [r.key for r in found.representations if r.kind in ("score", "decision")]:
        one, kind = downstream(found, key), found.data.target and found.data.target.kind
        known = table["risk"].notna() if key == "score:risk" else np.ones(400, dtype=bool)
        if "person" not in given:
            assert sum(g.n_rows for g in one.parities[0].groups) == known.sum()
        predicted = {"binary": True, "number": key == "score:risk"}
        assert (one.utility is not None) == predicted.get(kind, False)
        gap = one.parities[0].gap
        assert 0 <= gap.low <= gap.value <= gap.high
    assert not re.search(
        r"\bnan\b|None|n/a", " ".join([*found.summary.sentences, found.summary.headline])
    )


# Targets of every kind


@pytest.fixture(scope="module")
def workers():
    """Wages: two more a year, five more of a high grade, and three more for men."""
    rng = np.random.default_rng(0)
    n = 500
    m = rng.integers(0, 2, size=n)
    years, grade = rng.normal(10, 4, size=n), rng.choice(["high", "low"], size=n)
    height = rng.normal(165, 6, size=n) + 14 * m
    wage = 2 * years + 5 * (grade == "high") + 3 * m + rng.normal(size=n)
    return pd.DataFrame(
        {
            "sex": np.where(m, "m", "f"),
            "height": height,
            "years": years,
            "grade": grade,
            "luck": rng.normal(size=n),
            "wage": wage,
            "offer": wage + rng.normal(size=n),
            "job": np.digitize(wage, np.quantile(wage, [1 / 3, 2 / 3])).astype(str),
        }
    )


@pytest.fixture(scope="module")
def of_wages(audited, workers):
    table = workers.drop(columns="job")
    return audited(table, "sex", "wage", scores=["offer"], model="linear", max_gap=0.02)


def test_a_number_is_judged_by_r2_and_by_means_in_its_deviations(of_wages, workers):
    """Seen: `--target lwage` failed, and proposed positive='8.537'."""
    target = of_wages.data.target
    assert (target.kind, target.deviation) == ("number", pytest.approx(workers["wage"].std(ddof=0)))
    raw = downstream(of_wages, "raw", "linear")
    X = TableEncoder().fit_transform(workers[["height", "years", "grade", "luck"]])
    predicted = cross_val_predict(LinearRegression(), X, workers["wage"], cv=2)
    r2 = r2_score(workers["wage"], predicted)
    assert raw.utility.low <= r2 <= raw.utility.high
    assert raw.utility.value == pytest.approx(r2, abs=0.02)
    rank = spearmanr(predicted, workers["wage"])[0]
    assert raw.rank_correlation.value == pytest.approx(rank, abs=0.02)
    gap = (
        mean_prediction_difference(None, predicted, sensitive_features=workers["sex"])
        / target.deviation
    )
    assert raw.parities[0].gap.value == pytest.approx(gap, abs=0.05)
    assert (raw.accuracy, raw.parities[0].ratio) == (None, None)


def test_an_own_number_is_that_of_the_public_functions(of_wages, workers):
    one, (own,) = downstream(of_wages, "score:offer"), downstream(of_wages, "score:offer").parities
    assert one.utility.value == pytest.approx(r2_score(workers["wage"], workers["offer"]), rel=1e-9)
    rank = spearmanr(workers["wage"], workers["offer"])[0]
    assert one.rank_correlation.value == pytest.approx(rank, rel=1e-9)
    gap = (
        mean_prediction_difference(None, workers["offer"], sensitive_features=workers["sex"])
        / of_wages.data.target.deviation
    )
    assert own.gap.value == pytest.approx(gap, rel=1e-9)
    whole = distribution_gap(None, workers["offer"], sensitive_features=workers["sex"])
    assert own.distribution_gap.value == pytest.approx(whole, rel=1e-9)
    (sentence,) = [s for s in of_wages.summary.sentences if s.startswith("offer") or "offer" in s]
    assert f"predictions differ by {gap:.2f} standard deviations of wage" in sentence
    assert "at R²" in sentence
    assert f"differs by {gap:.2f} standard deviations" in of_wages.summary.headline


def test_the_columns_behind_both_are_named(of_wages):
    """Seen: no way back to columns, neither to what carried sex nor to what the model used."""
    carriers = [c.column for c in of_wages.proxy_importance if c.attribute == "sex"]
    assert carriers[0] == "height"
    assert of_wages.proxy_importance[0].auc_drop.low > 0.2
    deciders = {d.column: d for d in of_wages.decision_importance}
    assert [d.column for d in of_wages.decision_importance][:2] == ["years", "grade"]
    if of_wages.advice.verdict in ("recommended", "tie"):
        chosen = option(of_wages, of_wages.advice.representation)
        if chosen.utility_model == "linear" and chosen.representation in ("leace", "fair_pca"):
            (years,) = deciders["years"].weights
            assert years.weight == pytest.approx(2.0, abs=0.2)


def test_several_classes_are_a_target(audited, workers):
    table = workers[["sex", "height", "years", "grade", "job"]]
    found = audited(table, "sex", "job")
    assert found.data.target.classes == ["0", "1", "2"]
    raw = downstream(found, "raw", "linear")
    X = TableEncoder().fit_transform(table[["height", "years", "grade"]])
    said = cross_val_predict(LogisticRegression(), X, table["job"], cv=2, method="predict_proba")
    aucs = [roc_auc_score(table["job"] == level, said[:, i]) for i, level in enumerate("012")]
    assert raw.utility.low <= np.mean(aucs) <= raw.utility.high
    gaps = [
        selection_rate_difference(
            None,
            select_top(s, np.mean(table["job"] == level)).astype(int),
            sensitive_features=table["sex"],
        )
        for s, level in zip(said.T, "012", strict=True)
    ]
    parity = raw.parities[0]
    assert parity.gap.value == pytest.approx(max(gaps), abs=0.06)
    assert parity.level in "012"
    assert all(d.parities[0].level is not None for d in found.downstream)


# One definition of every number


@pytest.fixture(params=["found", "of_wages", "of_own_models", "small"])
def any_audit(request):
    return request.getfixturevalue(request.param)


def test_a_number_that_is_there_twice_is_the_same_number(any_audit):
    """Seen: one table, four approval gaps; on one page 22.3 and 15.2 points for the same."""
    found, evidence = any_audit, Evidence(any_audit)
    asked = found.settings.model
    for one in found.advice.options:
        models = [m for m in one.models if asked in ("any", m.model) or m.model == "existing_model"]
        assert one.gap.value == max(m.gap.value for m in models)
        for model in one.models:
            behind = evidence.decisions(one, model.model)
            gaps = {p.attribute: p.gap.value for p in behind.parities}
            assert model.gap.value == max(gaps[name] for name in evidence.singles)
            assert model.gap.value == gaps[model.attribute]
            assert model.utility == behind.utility
        widest = evidence.decisions(one, one.gap_model)
        parity = parity_of(widest, one.gap_attribute)
        assert (one.gap.value, one.ratio) == (parity.gap.value, parity.ratio)
        assert one.utility == evidence.decisions(one, one.utility_model).utility
        key = "pca" if one.tradeoff else one.representation
        leak = evidence.leak[key, one.leak_attribute, one.leak_probe]
        assert (one.leak, one.leak_above_chance) == (leak.auc, leak.above_chance)
        (shown,) = [r for r in found.representations if r.key == one.representation]
        assert one.n_columns == shown.n_columns
    raw = found.advice.options[0]
    assert raw.n_columns == found.data.n_encoded


def in_headline(gap, number):
    """Whole points where the interval is wide."""
    if number:
        return f"{gap.value:.2f} standard deviations"
    return f"{100 * gap.value:.{0 if gap.high - gap.low > 0.04 else 1}f} points"


def test_the_words_have_the_numbers_of_the_tables(any_audit):
    found, evidence = any_audit, Evidence(any_audit)
    raw, words = found.advice.options[0], " ".join(found.summary.sentences)
    number = found.data.target.kind == "number"
    assert f"differ by {in_headline(raw.gap, number)}" in found.summary.headline
    for name in evidence.singles:
        worst = largest(evidence.leaks("raw", name))
        assert f"{name} with AUC {worst.auc.value:.2f} ({worst.auc.low:.2f} to" in words
    if found.advice.representation is None:
        return
    chosen = found.advice.option
    utilities = f"{raw.utility.value:.2f}", f"{chosen.utility.value:.2f}"
    assert f"{utilities[1]} instead of {utilities[0]}" in found.summary.headline
    assert in_headline(chosen.gap, number) in found.summary.headline
    after = f"{chosen.gap.value:.2f}" if number else f"{100 * chosen.gap.value:.1f}"
    assert after in found.advice.reasons[0]
    if chosen.ratio is not None:
        assert f"{raw.ratio.value:.2f} (" in words
        assert f"{chosen.ratio.value:.2f} (" in words
    (share,) = {one.selection_frequency for one in found.advice.options if one == chosen}
    said = [int(n) for r in found.advice.reasons for n in re.findall(r"(\d+) % of resamples", r)]
    assert round(100 * share) in said


def test_the_headline_of_a_table_is_what_plain_scikit_learn_says(found, people):
    """With folds of its own: gap 22.5 against 21.8 was near enough to be believed."""
    features = people.drop(columns=["sex", "race", "paid"])
    X, y = TableEncoder().fit_transform(features), people["paid"].map(YES).to_numpy()
    folds = StratifiedKFold(2, shuffle=True, random_state=5)
    for model, mine in (
        ("linear", LogisticRegression()),
        ("boosting", HistGradientBoostingClassifier(max_iter=60)),
    ):
        scores = cross_val_predict(mine, X, y, cv=folds, method="predict_proba")[:, 1]
        one = downstream(found, "raw", model)
        assert one.utility.low <= roc_auc_score(y, scores) <= one.utility.high
        yes = np.zeros(len(y), dtype=int)
        for train, test in folds.split(X, y):
            yes[test] = select_top(scores[test], y[train].mean())
        for name in ("sex", "race"):
            gap = selection_rate_difference(None, yes, sensitive_features=people[name])
            parity = parity_of(one, name)
            assert parity.gap.low <= gap <= parity.gap.high
            ratio = selection_rate_ratio(None, yes, sensitive_features=people[name])
            assert parity.ratio.low <= ratio <= parity.ratio.high


# Weights


@pytest.mark.parametrize("key", ["pca", "fair_pca", "fair_pca_covariances", "leace", "fair_pls"])
def test_a_row_of_weight_three_is_fitted_to_as_three_rows(key):
    rng = np.random.default_rng(0)
    n = 240
    sex, times = rng.integers(0, 2, size=n), rng.integers(1, 4, size=n)
    X = rng.normal(size=(n, 5)) + 0.7 * sex[:, None]
    y = X[:, 0] + X[:, 1] + rng.normal(size=n) > 0.7

    def represented(rows, weights):
        given = TrainingRows(
            *(X[rows], {"sex": sex[rows]}, {"sex": "categorical"}, 2, 0, y[rows], "paid", "binary"),
            weights=weights,
        )
        T = fit_method(Setting(key), given).represent(X)
        return T - T.mean(axis=0)

    everybody = np.arange(n)
    light = represented(everybody, times.astype(float))
    if METHODS[key].for_target:  # more rows are more certain, a weight is not: only ratios matter
        again = represented(everybody, 7.0 * times)
        assert abs(np.corrcoef(light[:, 0], again[:, 0])[0, 1]) > 0.999
        return
    heavy = represented(np.repeat(everybody, times), None)
    # Covariances are those of samples, which divide by one row less, and equal up to a tolerance.
    near = 0.01 if key == "fair_pca_covariances" else 1e-9
    assert np.linalg.norm(light @ light.T - heavy @ heavy.T) < near * np.sum(light**2)


# Seeds


@pytest.mark.slow
def test_other_seeds_advise_the_same_or_say_that_they_cannot_tell(people):
    """Seen for seeds 0 to 5: covariances, covariances, kernel, kernel, kernel, fair PCA."""
    taken = []
    for seed in range(5):
        found = audit(people, ["sex", "race"], "paid", quick=True, seed=seed, n_components=4)
        names = {o.name: o.representation for o in found.advice.options}
        taken.append({found.advice.representation, *(names[n] for n in found.advice.ties)})
    common = set.intersection(*taken)
    assert common, taken


def test_all_numbers_of_an_audit_are_known_or_null(any_audit):
    def walk(value):
        if isinstance(value, dict):
            for one in value.values():
                walk(one)
        elif isinstance(value, list):
            for one in value:
                walk(one)
        elif isinstance(value, float):
            assert np.isfinite(value)

    walk(asdict(any_audit))
