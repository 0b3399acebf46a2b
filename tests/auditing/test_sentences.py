"""Every sentence that is made of numbers is read back against the JSON, whatever was decided."""

import html
import re
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest

from auditing import sentences as said_by
from auditing.sentences import NUMBER, RAW, Measured, assert_own, near, read_back, spoken
from fairpca.auditing import audit
from fairpca.auditing._advice import advise, summarise
from fairpca.auditing._decision import Decision, withheld
from fairpca.auditing._evidence import Evidence


def swapped(n=600, seed=0, swings=0.9):
    """Sex shows in means, age in spreads: with equal means, decisions differ by age most."""
    rng = np.random.default_rng(seed)
    sex = rng.choice(["f", "m"], n)
    age = rng.choice(["old", "young", "very old"], n, p=[0.5, 0.45, 0.05])
    height = rng.normal(size=n) + 1.4 * (sex == "m")
    swing = rng.normal(size=n) * np.where(age == "young", 0.4, 1.6)
    merit = height + swings * np.abs(swing)
    wage = merit + 0.5 * rng.normal(size=n)
    return pd.DataFrame(
        {
            **{"sex": sex, "age": age, "height": height, "swing": swing},
            **{"luck": rng.normal(size=n), "wage": 10 + 2 * wage},
            "paid": np.where(wage > np.quantile(wage, 0.6), "yes", "no"),
            "risk": merit + rng.normal(size=n),
            "granted": np.where(np.abs(swing) > 0.8, "yes", "no"),
        }
    )


@pytest.fixture(scope="module")
def decided(audited):
    table = swapped().drop(columns="wage")
    asked = {"scores": "risk", "decisions": "granted", "n_components": 3}
    return audited(table, ["sex", "age"], "paid", **asked)


@pytest.fixture(scope="module")
def predicted(audited):
    table = swapped(400).drop(columns=["paid", "risk"])
    return audited(table, ["sex", "age"], "wage", decisions="granted", n_components=2)


@pytest.fixture(scope="module")
def of_linear_models(audited):
    """A recommendation that trees do not follow; options with a lambda are among it."""
    table = swapped(400, swings=2.5).drop(columns=["wage", "risk", "granted"])
    return audited(table, ["sex", "age"], "paid", model="linear", n_components=2)


@pytest.fixture(scope="module")
def hidden(audited):
    table = swapped(400).drop(columns=["paid", "risk", "granted", "wage"])
    return audited(table, ["sex", "age"], n_components=2)


def told(found, decision):
    """Return all sentences, as they would be for another decision about the same numbers."""
    evidence = Evidence(found)
    summary, advice = summarise(evidence, decision), advise(evidence, decision)
    return [summary.headline, *summary.sentences, *advice.reasons, *advice.caveats]


def decisions_about(found):
    """Yield what might have been decided: each setting taken, a tie, and nothing."""
    raw, *rest = found.advice.options
    settings = [option for option in rest if ":" not in option.representation]
    kept = {"options": found.advice.options, "raw": raw, "n_settings": 7, "sure": 0.83}
    for one in settings:
        yield Decision("recommended", one, [], **kept)
    for one, other in pairwise([*settings, settings[0]]):
        if one.name != other.name:
            yield Decision("tie", one, [other.name], **{**kept, "sure": 0.41})
    for verdict in ("no action needed", "no method helps", "not settled", "limit not reached"):
        if found.data.target is not None or verdict in ("no action needed", "no method helps"):
            yield Decision(verdict, None, [], **kept)


def assert_all_read(found, decisions, **settings):
    found = replace(found, settings=replace(found.settings, **settings))
    measured, used = Measured(found), set()
    for decision in decisions:
        chosen = None if decision.chosen is None else spoken(decision.chosen.name)
        for sentence in told(found, decision):
            used.add(read_back(sentence, measured, chosen, decision))
    return used - {None}


def test_the_attributes_change_places_here(decided, predicted):
    """Or nothing below could find a gap under the wrong name."""
    for found in (decided, predicted):
        raw, *rest = found.advice.options
        assert {option.gap_attribute for option in rest} - {raw.gap_attribute}


def test_every_sentence_about_decisions_is_true_of_the_json(decided):
    used = assert_all_read(decided, decisions_about(decided))
    assert {
        said_by.headline,
        said_by.nothing,
        said_by.existing,
        said_by.errors,
        said_by.by_attribute,
        said_by.ratios,
        said_by.why,
        said_by.others,
        said_by.joint,
    } <= used
    assert {
        said_by.tied,
        said_by.sure,
        said_by.held_against,
        said_by.precisions,
        said_by.rule,
        said_by.given,
        said_by.left,
        said_by.useful,
    } <= used


def test_every_sentence_about_one_model_family_is_true_of_the_json(of_linear_models):
    used = assert_all_read(of_linear_models, decisions_about(of_linear_models))
    assert {said_by.void, said_by.headline, said_by.why} <= used


def test_every_sentence_about_predicted_numbers_is_true_of_the_json(predicted):
    used = assert_all_read(predicted, decisions_about(predicted))
    assert {
        said_by.headline,
        said_by.existing,
        said_by.by_attribute,
        said_by.why,
        said_by.others,
        said_by.joint,
        said_by.useful,
    } <= used


def test_every_sentence_about_hiding_is_true_of_the_json(hidden, decided):
    used = assert_all_read(hidden, decisions_about(hidden))
    assert {
        said_by.hiding,
        said_by.why_hidden,
        said_by.keeps,
        said_by.given,
        said_by.left,
        said_by.nothing_to_hide,
        said_by.nothing_helps,
    } <= used


def test_every_sentence_as_it_was_decided_is_true_of_the_json(decided, predicted, hidden):
    for found in (decided, predicted, hidden):
        option, measured = found.advice.option, Measured(found)
        sure = option.selection_frequency if option else 0.0
        advice = found.advice
        rest = advice.options, advice.options[0], 0, sure
        decision = Decision(advice.verdict, option, advice.ties, *rest)
        chosen = spoken(option.name) if option else None
        for sentence in [found.summary.headline, *found.summary.sentences]:
            read_back(sentence, measured, chosen, decision)


def test_every_sentence_where_nothing_else_is_there_is_true_of_the_json():
    table = swapped(400)[["sex", "age", "granted", "paid"]]
    found = audit(table, ["sex", "age"], "paid", decisions="granted", quick=True, n_jobs=1)
    measured = Measured(found)
    clauses = found.summary.headline
    assert_own(clauses, measured)
    said = [*found.summary.sentences, *found.advice.reasons, *found.advice.caveats]
    used = {read_back(sentence, measured, None, None) for sentence in said}
    assert {
        said_by.existing,
        said_by.errors,
        said_by.selects,
        said_by.own_ratio,
        said_by.own_reason,
        said_by.own_joint,
    } <= used


def test_every_sentence_about_a_target_leak_is_true_of_the_json(decided):
    notice = replace(decided.notices[0], kind="leak", severity="warning", column="swing",
                     other="paid", value=0.9973)  # fmt: skip
    found = replace(decided, notices=[notice])
    raw = decided.advice.options[0]
    decision = withheld(Decision("recommended", raw, [], decided.advice.options, raw, 7, 0.9))
    used = assert_all_read(found, [decision])
    assert {said_by.target_leak, said_by.why_target_leak} <= used


# On the page


def words_of(page):
    page = re.sub(r"<(script|style)\b.*?</\1>", " ", page, flags=re.DOTALL)
    return " ".join(html.unescape(re.sub(r"<[^>]+>", " ", page)).split())


@pytest.fixture(scope="module", params=["decided", "predicted"])
def shown(request):
    """Pages of the same numbers, with each setting taken: its audit, option and words."""
    found = request.getfixturevalue(request.param)
    pages = []
    for decision in decisions_about(found):
        if decision.verdict == "recommended":
            advice = advise(Evidence(found), decision)
            audited = replace(found, advice=advice, summary=summarise(Evidence(found), decision))
            pages.append((Measured(found), decision.chosen, words_of(audited.to_html())))
    return pages


def test_what_it_costs_is_true_of_the_best_model(shown):
    for m, option, words in shown:
        setting = spoken(option.name)
        said = re.search(
            rf"(?:AUC|R²)\) ({NUMBER}) on all columns, ({NUMBER}) with {re.escape(setting)}\. ",
            words,
        )
        assert near(said[1], m.utility(RAW)["value"])
        assert near(said[2], m.utility(setting)["value"])


def test_the_joint_gap_on_the_page_is_that_of_the_same_joint_groups(shown):
    for m, option, words in shown:
        names = "|".join(map(re.escape, m.attributes))
        said = re.search(
            rf"By ({names}), the gap is ({NUMBER}) (?:points|sd) with "
            rf"(.*?) \(({NUMBER}) to ({NUMBER})\), and ({NUMBER}) (?:points|sd) with all "
            rf"columns; (\d+) of (\d+) groups compared",
            words,
        )
        scale = 1 if m.number else 100
        assert said[3] == spoken(option.name)
        parity, before = m.worst(said[3], said[1]), m.worst(RAW, said[1])
        for text, end in zip(said.group(2, 4, 5), ("value", "low", "high"), strict=True):
            assert near(text, parity["gap"][end], scale)
        assert near(said[6], before["gap"]["value"], scale)
        assert (int(said[7]), int(said[8])) == (parity["n_compared"], parity["n_groups"])


def test_recovery_is_told_of_the_right_attribute(shown):
    for m, _, words in shown:
        table = words.partition("AUC for predicting each attribute")[2]
        for name in m.singles:
            auc = m.leak(RAW, name)["auc"]["value"]
            assert near(re.search(rf" {name} ({NUMBER}) (?:above|at) chance ", table)[1], auc)
            finding = re.search(
                rf"From all columns, {name} can be predicted with AUC ({NUMBER})[.;]", words
            )
            assert near(finding[1], auc)


def test_the_groups_left_out_have_the_rates_of_the_json(shown):
    for m, _, words in shown:
        table = words.partition("no gap in this report includes them")[2]
        scale, unit = (1, "") if m.number else (100, " %")
        name = "mean_score" if m.number else "selection_rate"
        for attribute in m.attributes:
            for group in m.worst(RAW, attribute)["groups"]:
                if group["compared"]:
                    continue
                said = re.search(
                    rf"{re.escape(attribute)} {re.escape(group['label'])} (\d+) ({NUMBER}){unit} ",
                    table,
                )
                assert int(said[1]) == group["n_rows"]
                assert near(said[2], group[name]["value"], scale)
