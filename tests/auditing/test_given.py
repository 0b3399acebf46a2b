"""Legitimate factors in audits: parts that add up to what is shown, and who decided."""

import html
import json
import re
import shlex
from dataclasses import replace

import jsonschema
import numpy as np
import pytest

from fairpca import Audit, audit
from fairpca.auditing import Overview, _whole_audit, audit_schema
from fairpca.auditing._asking import ask
from fairpca.auditing._findings import Findings
from fairpca.auditing._judging import Round
from fairpca.auditing._measures import Measures
from fairpca.auditing._question import prepare
from fairpca.auditing._recipes import audit_again
from fairpca.auditing._results import EXISTING, Setting
from fairpca.auditing._splits import QUICK, halves
from fairpca.errors import AuditError
from fairpca.metrics import explained_difference, leakage
from optional_libraries import pandas as pd
from slow import slow

PARTS = ("explained", "unexplained", "unmatched")
MEASURED = ("difference", *PARTS)


def hired(n=2000, seed=0, explained=0.5):
    """Women have a degree less often, as much as is `explained`; the rest of the gap is direct."""
    rng = np.random.default_rng(seed)
    sex = rng.choice(["f", "m"], size=n, p=[0.4, 0.6])
    man = sex == "m"
    degree = rng.random(n) < 0.3 + 0.5 * explained * man
    skill = rng.normal(size=n)
    chance = 0.2 + 0.4 * degree + 0.2 * (1 - explained) * man
    return pd.DataFrame(
        {
            "sex": sex,
            "degree": np.where(degree, "yes", "none"),
            "skill": skill,
            "hobby": rng.normal(size=n) + man,
            "hired": np.where(rng.random(n) < chance, "yes", "no"),
        }
    )


def measured(table, *asked, **options):
    return audit(table, "sex", *asked, **({"quick": True, "n_jobs": 1} | options))


def parity_of(found, key="decision:hired", attribute="sex"):
    """Return the parity of the first model of a representation."""
    one = next(d for d in found.downstream if d.representation == key)
    return next(p for p in one.parities if p.attribute == attribute)


def text_of(found):
    """Return the words of the page, without the numbers that are embedded in it."""
    page = re.sub(r"<(script|style)\b.*?</\1>", " ", found.to_html(), flags=re.DOTALL)
    return " ".join(html.unescape(re.sub(r"<[^>]+>", " ", page)).split())


def assert_same_parts(found, alone, scale=1.0):
    """Compare what an audit says with what the public function does."""
    assert (found.higher, found.lower) == tuple(map(str, alone.groups))
    own = (found.higher_alone, found.lower_alone)
    assert own == pytest.approx(alone.without_counterpart)
    assert found.n_strata == alone.n_strata
    for name in MEASURED:
        own = getattr(found, name)
        ends = getattr(alone, f"{name}_interval")
        assert own.value == pytest.approx(getattr(alone, name) / scale, abs=1e-9)
        assert (own.low, own.high) == pytest.approx([end / scale for end in ends], abs=1e-9)


# Decisions that exist: what the public function says of all rows


@pytest.fixture(scope="module")
def decided():
    """An audit of decisions only; the degree is ignored, so that no feature is left."""
    table = hired().drop(columns=["skill", "hobby"])
    return table, measured(table, decisions="hired", ignore=["degree"], given="degree")


def test_existing_decisions_are_split_as_the_public_function_does(decided):
    table, found = decided
    alone = explained_difference(
        None, table["hired"] == "yes", sensitive_features=table["sex"], given=table["degree"]
    )
    parity = parity_of(found)
    assert_same_parts(parity.explained, alone)
    assert parity.explained.difference.value == pytest.approx(parity.gap.value, abs=1e-12)


@pytest.mark.parametrize("case", ["number", "missing", "three groups", "weights", "codes", "alone"])
def test_factors_and_people_of_every_kind_are_split_as_the_public_function_does(case):
    rng = np.random.default_rng(4)
    table, options, weights = hired(n=1500, seed=2), {}, None
    score = rng.normal(size=1500) + (table["sex"] == "m")
    if case == "three groups":
        table["sex"] = table["sex"].mask(rng.random(1500) < 0.2, "x")
    if case == "missing":
        table["degree"] = table["degree"].mask(rng.random(1500) < 0.2)
    if case in ("number", "codes"):
        table["degree"] = score if case == "number" else (10 * score).round().astype(int)
        options["sensitive_kinds"] = {"degree": "categorical"} if case == "codes" else None
    if case == "alone":
        table["degree"] = table["degree"].mask((table["sex"] == "m") & (score > 2), "doctor")
    if case == "weights":
        weights = rng.exponential(size=1500)
        table, options["weight"] = table.assign(w=weights), "w"
    given = table["degree"].astype(str if case in ("codes", "three groups", "alone") else "object")
    if case == "number":
        given = table["degree"]
    ignored = ["skill", "hobby", "degree"]
    found = measured(table, decisions="hired", ignore=ignored, given="degree", **options)
    alone = explained_difference(
        None,
        table["hired"] == "yes",
        sensitive_features=table["sex"],
        given=given,
        sample_weight=weights,
    )
    assert_same_parts(parity_of(found).explained, alone)
    assert any(alone.without_counterpart) == (case in ("alone", "codes"))


def test_predictions_of_a_number_are_split_in_its_standard_deviations():
    rng = np.random.default_rng(5)
    table = hired(n=1200)
    table["wage"] = 20 + 6 * (table["degree"] == "yes") + rng.normal(0, 4, 1200)
    table["predicted"] = table["wage"] + 2 * (table["sex"] == "m") + rng.normal(size=1200)
    found = measured(table, "wage", scores="predicted", ignore=["hired"], given="degree")
    alone = explained_difference(
        None, table["predicted"], sensitive_features=table["sex"], given=table["degree"]
    )
    deviation = found.data.target.deviation
    assert_same_parts(parity_of(found, "score:predicted").explained, alone, deviation)


def test_what_exists_is_split_on_all_rows_where_some_are_drawn():
    table = hired(n=3000)
    found = measured(table, decisions="hired", given="degree", max_rows=500)
    assert any(notice.kind == "sampled" for notice in found.notices)
    alone = explained_difference(
        None, table["hired"] == "yes", sensitive_features=table["sex"], given=table["degree"]
    )
    assert_same_parts(parity_of(found).explained, alone)


def test_every_person_counts_once():
    """With each row three times, intervals are as wide as of single rows, and bands as few."""
    table = hired(n=600, seed=3).assign(person=range(600))
    table["years"] = np.random.default_rng(6).normal(size=600) + (table["sex"] == "m")
    options = {"decisions": "hired", "given": "years", "ignore": ["skill", "hobby", "degree"]}
    once, thrice = (
        parity_of(measured(of, person="person", **options)).explained
        for of in (table, pd.concat([table] * 3, ignore_index=True))
    )
    assert thrice.n_strata == once.n_strata
    for name in MEASURED:
        one, many = getattr(once, name), getattr(thrice, name)
        assert many.value == pytest.approx(one.value, abs=0.02)
        assert many.high - many.low == pytest.approx(one.high - one.low, rel=0.15)


# Models that the audit fits


@pytest.fixture(scope="module")
def found():
    """An audit with a target: its models are split; nobody is named who decided."""
    return measured(hired(), "hired", given="degree")


def test_parts_add_up_to_the_difference_of_the_rates_that_are_shown(found):
    n = 0
    for one in found.downstream:
        (parity,) = one.parities
        split = parity.explained
        rates = {group.label: group.selection_rate.value for group in parity.groups}
        shown = rates[split.higher] - rates[split.lower]
        assert split.difference.value == pytest.approx(shown, abs=1e-9)
        assert shown == max(rates.values()) - min(rates.values())
        total = sum(getattr(split, name).value for name in PARTS)
        assert total == pytest.approx(shown, abs=1e-9)
        # the gap may allow for the sampling error of the fit to all rows, and is never smaller
        assert parity.gap.value >= shown - 1e-9
        assert split.difference.high == pytest.approx(parity.gap.high, abs=0.005)
        n += 1
    assert n > 10
    for curve in found.curves:
        assert all(p.explained for point in curve.points for p in point.parities)


def rounds_asked(table, n_rounds, seed=0):
    """Return a question, and rounds of halves of its people."""
    question = ask(table, "sex", "hired", **ASKED, given="degree", seed=seed)
    splits = halves(question.strata, n_rounds, np.random.default_rng(seed), question.people)
    halves_of = [prepare(question, split, encoded=False) for split in splits]
    pairs = zip(halves_of[0::2], halves_of[1::2], strict=True)
    return question, [Round(pair, QUICK) for pair in pairs]


ASKED = {"pos_label": None, "ignore": (), "n_components": None, "effort": QUICK}


def judged(question, rounds, score):
    """Return what a fixed score of all rows comes to."""
    measures = [
        Measures(Setting("raw"), 2 * r + h, scores={"linear": score[one.places[one.half == h]]})
        for r, one in enumerate(rounds)
        for h in (0, 1)
    ]
    findings = Findings(
        measures, [], rounds, question.attributes, 0.95, question.target, question.existing
    )
    return findings.judged[Setting("raw"), "linear"], findings.parities[Setting("raw"), "linear"][0]


def test_rounds_are_split_by_themselves_and_averaged():
    """A model that differs from round to round, against the public function in each of them."""
    table = hired(n=800, seed=7)
    question, rounds = rounds_asked(table, 4)
    score = np.random.default_rng(8).normal(size=(800, 1)) + (table[["hobby"]] > 0)
    of_rounds, parity = judged(question, rounds, score.to_numpy())
    alone = []
    for one, of in zip(rounds, of_rounds, strict=True):
        people = table.iloc[one.places]
        alone.append(
            explained_difference(
                None,
                of.compared.values[0],
                sensitive_features=people["sex"],
                given=people["degree"],
                between=("m", "f"),
            )
        )
    assert {one.groups for one in alone} == {("m", "f")}
    for name in MEASURED:
        mean = np.mean([getattr(one, name) for one in alone])
        found = getattr(parity.explained, name)
        assert found.value == pytest.approx(mean, abs=1e-9)
        widths = [np.diff(getattr(one, f"{name}_interval"))[0] for one in alone]
        assert found.high - found.low >= np.sqrt(np.mean(np.square(widths))) - 1e-9


# How often intervals hold the truth


def truths(explained):
    """Return both parts of the gap of `hired` in the population, of men less women."""
    return {"explained": 0.4 * 0.5 * explained, "unexplained": 0.2 * (1 - explained)}


@pytest.mark.parametrize("n", [300, slow(1500)])
@pytest.mark.parametrize("explained", [0.0, 0.5, 1.0])
def test_intervals_of_existing_decisions_hold_the_truth(n, explained):
    held, truth = [], truths(explained)
    for seed in range(200):
        table = hired(n=n, seed=seed, explained=explained)[["sex", "degree", "hired"]]
        question = ask(
            table, "sex", None, **ASKED | {"ignore": ["degree"]}, decisions="hired",
            given="degree", seed=0,
        )  # fmt: skip
        everybody = question.everybody
        findings = Findings(
            [], [], [], question.attributes, 0.95, None, everybody.existing,
            [everybody.held_out(question, 0)],
        )  # fmt: skip
        found = findings.parities[everybody.existing[0].setting, EXISTING][0].explained
        sign = 1 if found.higher == "m" else -1
        parts = {name: getattr(found, name) for name in truth}
        held.append([of.low <= sign * truth[name] <= of.high for name, of in parts.items()])
    # 200 repeats know a share of 95 % to about 1.5 %
    assert np.all(np.mean(held, axis=0) > 0.91), np.mean(held, axis=0)


@pytest.mark.parametrize("explained", [0.0, slow(0.5), 1.0])
def test_intervals_of_models_hold_the_truth(explained):
    """Of a fixed score, whose decisions in the population are those of a large sample."""

    def score(table):
        rng = np.random.default_rng(len(table))
        favour = 0.8 * (1 - explained) * (table["sex"] == "m")
        degree = table["degree"] == "yes"
        return (degree + favour + table["skill"] + 0.3 * rng.normal(size=len(table))).to_numpy()

    large = hired(n=400_000, seed=99, explained=explained)
    rate = np.mean(large["hired"] == "yes")
    yes = score(large) > np.quantile(score(large), 1 - rate)
    whole = explained_difference(
        None, yes, sensitive_features=large["sex"], given=large["degree"], between=("m", "f")
    )
    held = []
    for seed in range(100):
        table = hired(n=500, seed=seed, explained=explained)
        question, rounds = rounds_asked(table, 3)
        parity = judged(question, rounds, score(table)[:, None])[1]
        sign = 1 if parity.explained.higher == "m" else -1
        held.append(
            [
                of.low <= sign * getattr(whole, name) <= of.high
                for name in ("explained", "unexplained")
                for of in [getattr(parity.explained, name)]
            ]
        )
    assert np.all(np.mean(held, axis=0) >= 0.89), np.mean(held, axis=0)


# What the audit does with it


def test_factors_change_no_other_number_and_no_verdict(found):
    plain = measured(hired(), "hired")
    for one, other in zip(found.downstream, plain.downstream, strict=True):
        kept = [replace(parity, explained=None) for parity in one.parities]
        assert replace(one, parities=kept) == other
    assert found.leakage == plain.leakage
    assert found.advice == plain.advice
    assert found.summary.headline == plain.summary.headline
    assert Overview(found).state == Overview(plain).state
    assert "degree" in [c.name for c in found.data.columns if c.role == "feature"]


def test_factors_tell_how_well_they_predict_the_attribute(found):
    table = hired()
    told = {leak.probe: leak for leak in found.factors}
    degree = (table[["degree"]] == "yes").astype(float)
    alone = leakage(degree, table["sex"], random_state=0)
    assert told["linear"].auc.value == pytest.approx(alone.auc, abs=0.02)
    assert told["linear"].above_chance
    balanced = measured(hired(explained=0.0), "hired", given="degree")
    assert not any(leak.above_chance for leak in balanced.factors)


def test_joint_groups_are_not_split():
    table = hired(n=600).assign(race=np.random.default_rng(1).choice(["a", "b"], 600))
    found = audit(table, ["sex", "race"], "hired", given="degree", quick=True, n_jobs=1)
    split = {p.attribute: p.explained is not None for p in found.downstream[0].parities}
    assert split == {"sex": True, "race": True, "sex × race": False}


def test_several_classes_are_split_in_the_class_of_the_largest_gap():
    rng = np.random.default_rng(2)
    table = hired(n=700)
    lucky = rng.random(700) < np.where(table["degree"] == "yes", 0.7, 0.2)
    table["hired"] = np.where(lucky, "office", rng.choice(["field", "home"], 700))
    found = measured(table, "hired", given="degree")
    parity = parity_of(found, "raw")
    rates = {group.label: group.selection_rate.value for group in parity.groups}
    split = parity.explained
    assert split.difference.value == pytest.approx(rates[split.higher] - rates[split.lower])


def test_json_schema_and_older_json(found):
    jsonschema.validate(json.loads(found.to_json()), audit_schema())
    assert Audit.from_json(found.to_json()) == found
    old = measured(hired(n=400), "hired").to_dict()
    assert old.pop("factors") is old.pop("leakage_given") is None
    for name in ("given", "given_by"):
        del old["settings"][name]
    for one in old["downstream"]:
        for parity in one["parities"]:
            assert parity.pop("explained") is None
    old["schema_version"] = "4.3"
    again = Audit.from_dict(old)
    assert again.settings.given is None
    assert "Conditional demographic parity" not in text_of(again)


def test_the_page_says_what_is_explained_and_that_nobody_is_named(found):
    page, split = text_of(found), parity_of(found, "raw")
    assert "Given degree" in page
    assert "Nobody is named who decided that degree is a legitimate factor." in page
    told = max(leak.auc.value for leak in found.factors)
    assert f"degree alone predicts sex with AUC {told:.2f}" in page
    assert "a proxy, significantly above chance" in page
    assert "The limit is about the whole gap" in page
    said = Overview(found).explained(found.advice.options[0], "sex")
    assert said in page
    worst = Overview(found).evidence.explained(found.advice.options[0], "sex")
    numbers = [float(one) for one in re.findall(r"-?\d+(?:\.\d)?", said)]
    parts = (worst.difference, worst.explained, worst.unexplained)
    assert numbers[:3] == pytest.approx([100 * part.value for part in parts], abs=0.51)
    assert numbers[0] == pytest.approx(numbers[1] + numbers[2], abs=0.11)
    assert split.explained.difference.value > 0.1
    assert f"With the raw features, {said}." in found.summary.sentences


def test_the_page_says_who_is_ahead_where_equal_factors_turn_the_gap_round():
    table = hired(n=3000, explained=1.0)
    rng = np.random.default_rng(1)
    chance = 0.3 + 0.4 * (table["degree"] == "yes") - 0.12 * (table["sex"] == "m")
    table["hired"] = np.where(rng.random(3000) < chance, "yes", "no")
    asked = {"decisions": "hired", "ignore": ["degree", "skill", "hobby"], "given": "degree"}
    found = measured(table, **asked)
    split = parity_of(found).explained
    assert split.higher == "m"
    assert split.unexplained.high < 0
    assert "are not; with equal degree, f is ahead." in text_of(found)
    other = measured(hired(n=900), **asked)
    assert parity_of(other).explained.unexplained.value > 0
    assert "is ahead" not in text_of(other)


def test_the_page_says_who_decided_as_text_and_not_as_markup():
    by = "the board, <b>3 May</b>"
    found = measured(hired(n=600), decisions="hired", given=["degree", "skill"], given_by=by)
    assert "That degree and skill are legitimate factors was decided by the board, <b>3 May" in (
        text_of(found)
    )
    assert "<b>3 May" not in found.to_html()
    assert "Nobody is named" not in text_of(found)


def test_the_page_says_where_people_have_no_counterpart():
    table = hired(n=900)
    table["degree"] = table["degree"].mask((table["sex"] == "m") & (table["skill"] > 1), "doctor")
    found = measured(table, decisions="hired", given="degree", ignore=["skill"])
    page = text_of(found)
    assert "are of people without a counterpart" in page
    assert re.search(r"People without a counterpart \d+ % of m, 0 % of f", page)


def test_the_page_says_where_nothing_can_be_split():
    table = hired(n=600)
    table["degree"] = table["sex"] + " school"
    found = measured(table, decisions="hired", given="degree")
    assert parity_of(found).explained is None
    assert "no combination of the factors has people of both groups" in text_of(found)


def test_audits_are_compared_with_and_without_factors(found):
    other = measured(hired(seed=5), "hired")
    for before, now in ((found, other), (other, found), (found, found)):
        changed = now.since(before)
        assert changed.changes.numbers
        told = [note for note in changed.changes.notes if note.startswith("Option given before")]
        assert len(told) == (before is not now)
        assert Audit.from_json(changed.to_json()) == changed
        changed.to_html()


# Commands and code


def test_the_audit_again_names_the_factors_and_who_decided(found):
    by = "the board"
    named = replace(found, settings=replace(found.settings, given_by=by))
    assert "given=['degree']" in audit_again(found)
    in_file = replace(named, data=replace(found.data, source="jobs.csv"))
    words = shlex.split(audit_again(in_file))
    assert words[words.index("--given") + 1] == "degree"
    assert words[words.index("--given-by") + 1] == by


# What cannot be


def test_factors_without_decisions_and_names_without_factors_are_refused():
    table = hired(n=600)
    with pytest.raises(AuditError, match="no target, score or decision was named"):
        measured(table, given="degree")
    with pytest.raises(AuditError, match="given_by='me' says who decided"):
        measured(table, "hired", given_by="me")


# What is left among people of equal factors


def test_what_is_left_among_people_of_equal_factors(monkeypatch):
    """Within either level a column tells the sex, in opposite directions; among all it does not."""
    monkeypatch.setattr(_whole_audit, "QUICK", replace(QUICK, most_rounds=1, joint=True))
    rng = np.random.default_rng(0)
    man, degree = rng.random(1600) < 0.5, rng.random(1600) < 0.5
    table = pd.DataFrame(
        {
            "sex": np.where(man, "m", "f"),
            "degree": np.where(degree, "yes", "none"),
            "club": rng.normal(size=1600) + np.where(degree, 1.0, -1.0) * man,
            "skill": rng.normal(size=1600),
        }
    )
    table["hired"] = np.where(table["skill"] + rng.normal(size=1600) > 0, "yes", "no")
    found = measured(table, "hired", given="degree", max_gap=0.5)
    (left,) = found.leakage_given
    assert (left.representation, left.attribute, left.probe) == ("raw", "sex", "linear")
    X = table[["club", "skill"]]
    alone = leakage(X, table["sex"], given=table["degree"], random_state=0)
    assert left.auc.value == pytest.approx(alone.auc, abs=0.02)
    assert left.auc.high - left.auc.low == pytest.approx(np.diff(alone.interval)[0], rel=0.5)
    assert left.above_chance
    among = next(one for one in found.leakage if one.representation == "raw")
    assert among.auc.value < 0.6 < 0.7 < left.auc.value
    said = f"predicts sex with AUC {left.auc.value:.2f}"
    assert re.search(f"a linear model {said} .* among people with equal degree", text_of(found))
    assert Audit.from_json(found.to_json()) == found


def test_quick_audits_do_without_it(found):
    assert found.leakage_given is None
    assert "among people with equal" not in text_of(found)


def test_nothing_is_left_to_measure_where_no_factor_is_shared(monkeypatch):
    monkeypatch.setattr(_whole_audit, "QUICK", replace(QUICK, most_rounds=1, joint=True))
    table = hired(n=600)
    table["degree"] = table["sex"] + " school"
    found = measured(table, "hired", given="degree", ignore=["degree"])
    assert found.leakage_given == []
    assert "nothing can be split" in text_of(found)


def test_probabilities_of_zero_and_one_split_as_groups_that_are_known():
    rng = np.random.default_rng(0)
    education = rng.integers(0, 3, size=2000)
    male = rng.random(2000) < 0.3 + 0.15 * education
    frame = pd.DataFrame({"education": education.astype(str)})
    frame["approved"] = (rng.random(2000) < 0.2 + 0.2 * education + 0.05 * male).astype(int)
    asked = {"decisions": "approved", "given": "education", "quick": True, "n_jobs": 1}
    known = audit(frame.assign(sex=np.where(male, "m", "f")), "sex", **asked)
    frame = frame.assign(p_f=1.0 - male, p_m=1.0 * male)
    probable = audit(frame, probabilities={"sex": {"f": "p_f", "m": "p_m"}}, **asked)

    def split(found):
        (own,) = [one for one in found.downstream if one.model == "existing_model"]
        return own.parities[0].explained

    assert split(probable) == split(known)
    assert split(known).explained.low > 0
