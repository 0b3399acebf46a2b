"""What an audit is asked of: levels in several spellings, and which is the positive class."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from fairpca import audit
from fairpca.auditing._asking import ask
from fairpca.auditing._recipes import audit_again
from fairpca.auditing._splits import QUICK

N = 400
RNG = np.random.default_rng(0)
SEX, YES = RNG.integers(0, 2, N), RNG.integers(0, 2, N)


def table(outcome, **columns):
    made = {"sex": np.where(SEX, "m", "f"), "age": RNG.normal(size=N), "out": outcome}
    return pd.DataFrame({**made, **columns})


def asked(frame, pos_label=None, **how):
    how = {"ignore": (), "n_components": None, "effort": QUICK, "seed": 0, **how}
    return ask(frame, "sex", "out", pos_label=pos_label, **how)


def test_two_spellings_are_asked_about_as_one_and_named():
    outcome, granted = np.where(YES, "Yes", "No"), np.where(YES, "granted", "refused")
    clean = table(outcome, granted=granted)
    others = {"out": np.char.lower(outcome), "granted": np.char.add(granted, ".")}
    odd = RNG.random(N) < 0.3
    messy = clean.assign(**{c: np.where(odd, other, clean[c]) for c, other in others.items()})
    messy["sex"] = np.where(odd, " " + messy["sex"].str.upper(), messy["sex"])
    found, expected = (asked(frame, decisions="granted") for frame in (messy, clean))
    assert found.target == expected.target
    assert found.counted == expected.counted
    np.testing.assert_array_equal(found.y, expected.y)
    np.testing.assert_array_equal(found.existing[0].values, expected.existing[0].values)
    told = {n.column: n.text for n in found.notices if n.kind == "spelling"}
    assert set(told) == {"out", "granted", "sex"}
    n = int((messy["out"] == "yes").sum())
    assert f"'Yes' ({YES.sum() - n} rows) with 'yes' ({n})" in told["out"]
    assert not [n for n in expected.notices if n.kind == "spelling"]


WORDS = [
    *(("hired", "rejected"), ("accept", "reject"), ("accepted", "rejected")),
    *(("granted", "refused"), ("approved", "denied"), ("Loan approved", "loan refused")),
    *(("default", "no default"), ("recid", "non-recid"), ("eligible", "ineligible")),
    *((">50K", "<=50K"), ("fully paid", "charged off"), ("good", "bad"), ("hire", "other")),
    *((1, 0), (True, False), (1, -1), ("a pass", "a zero"), ("Admit", "Wait")),
]


@pytest.mark.parametrize(("yes", "no"), WORDS)
def test_words_of_decisions_tell_the_yes(yes, no):
    for outcome in (np.where(YES, yes, no), pd.Series(np.where(YES, yes, no), dtype=object)):
        found = asked(table(outcome))
        assert found.target.pos_label == str(yes)
        np.testing.assert_array_equal(found.y, YES == 1)
        assert not [n for n in found.notices if n.kind == "pos_label"]


@pytest.mark.parametrize(
    ("outcomes", "why"), [(("blue", "red"), "last in the alphabet"), ((1, 2), "larger")]
)
def test_a_yes_that_nothing_tells_is_said_with_the_way_to_say_otherwise(outcomes, why):
    frame = table(np.where(YES, *outcomes))
    found = asked(frame)
    (told,) = [n for n in found.notices if n.kind == "pos_label"]
    assert told.severity == "warning"
    assert f"'{outcomes[1]}', the {why}, is taken" in told.text
    assert f"--pos-label '{outcomes[0]}'" in told.text
    said = asked(frame, pos_label=str(outcomes[0]))
    assert said.target.pos_label == str(outcomes[0])
    assert not [n for n in said.notices if n.kind == "pos_label"]


def test_a_decision_has_the_yes_of_the_target_or_says_which_was_taken():
    red = np.where(YES, "red", "blue")
    with_target = asked(table(red, choice=red), pos_label="blue", decisions="choice")
    np.testing.assert_array_equal(with_target.existing[0].values, YES == 0)
    assert not [n for n in with_target.notices if n.kind == "pos_label"]
    alone = asked(table(np.where(YES, "yes", "no"), choice=red), decisions="choice")
    (told,) = [n for n in alone.notices if n.kind == "pos_label"]
    assert told.column == "choice"
    assert "'red', the last in the alphabet, is taken" in told.text


def test_a_dot_or_a_dash_among_numbers_is_missing_in_attributes_and_targets_as_well():
    wage = np.round(RNG.normal(20, 5, N), 2)
    frame = table(wage.astype(str), sex=(1 + SEX).astype(str))
    frame.loc[:29, "sex"] = "."
    frame.loc[30:59, "out"] = "-"
    found = asked(frame)
    assert found.target.kind == "number"
    assert (found.n_dropped, found.counted[0].n_missing) == (30, 30)
    assert {group.label for group in found.counted[0].groups} == {"1", "2"}
    told = {n.column: n.text for n in found.notices if n.kind == "format"}
    assert told["sex"] == "'sex': 30 rows ('.') are no numbers and count as missing."


def test_spellings_are_counted_in_all_rows_where_some_are_drawn():
    frame = table(np.where(YES, np.where(SEX, "Yes", "yes"), "no"))
    found = asked(frame, effort=replace(QUICK, max_rows=200))
    assert len(found.features) == 200
    (told,) = [n.text for n in found.notices if n.kind == "spelling"]
    counts = frame["out"].value_counts()
    most, other = ("Yes", "yes") if counts["Yes"] >= counts["yes"] else ("yes", "Yes")
    assert f"'{most}' ({counts[most]} rows) with '{other}' ({counts[other]})" in told


def test_an_audit_takes_a_sentinel_for_missing_only_when_told():
    """One 99999 in 400 rows: it is told of, and without it the column reveals sex again."""
    rng = np.random.default_rng(0)
    sex = rng.integers(2, size=400)
    table = pd.DataFrame({"sex": sex, "years": rng.normal(size=400) + 2 * sex, "luck": sex * 0.0})
    table["luck"] = rng.normal(size=400)
    table.loc[7, "years"] = 99999
    given = {"quick": True, "n_jobs": 1}
    plain, told = audit(table, "sex", **given), audit(table, "sex", missing=[99999], **given)
    kinds = [[n.column for n in one.notices if n.kind == "outlier"] for one in (plain, told)]
    assert kinds == [["years"], []]
    linear = [
        next(k.auc.value for k in one.leakage if (k.representation, k.probe) == ("raw", "linear"))
        for one in (plain, told)
    ]
    assert linear[1] > 0.88
    assert "--missing" in audit_again(replace(told, data=replace(told.data, source="t.csv")))
    ranked = audit(table, "sex", scale="rank", **given)
    assert ranked.settings.scale == "rank"
