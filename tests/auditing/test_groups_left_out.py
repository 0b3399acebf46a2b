"""No group vanishes: a gap says how many it compares, and the others stand beside it."""

import html
import json
import re
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from cli.commands import invoke
from fairpca.auditing._judging import compared_groups


@pytest.fixture(scope="module")
def loans():
    """Six joint groups, three of them of fewer than 100 people; Black women are accepted least."""
    rng = np.random.default_rng(0)
    sizes = {"white & m": 500, "white & f": 160, "Black & m": 140, "Black & f": 60}
    sizes |= {"Asian & m": 70, "Asian & f": 12}
    joint = np.repeat(list(sizes), list(sizes.values()))
    race, sex = np.array([one.split(" & ") for one in joint]).T
    merit = rng.normal(size=len(joint)) - 0.6 * (race == "Black") - 1.0 * (joint == "Black & f")
    return pd.DataFrame(
        {
            "race": race,
            "sex": sex,
            "merit": merit,
            "luck": rng.normal(size=len(joint)),
            "paid": np.where(merit + 0.5 * rng.normal(size=len(joint)) > -0.8, "yes", "no"),
            "granted": np.where(merit > -0.9, "yes", "no"),
        }
    )


@pytest.fixture(scope="module")
def found(audited, loans):
    return audited(loans, ["race", "sex"], "paid", decisions="granted", n_components=2)


def text_of(audit):
    """Return the words of the page, without the numbers that are embedded in it."""
    page = re.sub(r"<(script|style)\b.*?</\1>", " ", audit.to_html(), flags=re.DOTALL)
    return " ".join(html.unescape(re.sub(r"<[^>]+>", " ", page)).split())


def joint_of(audit, key="decision:granted"):
    (one,) = [d for d in audit.downstream if d.representation == key and d.parities]
    (parity,) = [p for p in one.parities if p.attribute == "race × sex"]
    return parity


def test_every_joint_group_is_counted_and_those_left_out_have_people_rate_and_interval(
    found, loans
):
    parity = joint_of(found)
    assert (parity.n_compared, parity.n_groups) == (3, 6)
    joint = loans["race"] + " & " + loans["sex"]
    rates = (loans["granted"] == "yes").groupby(joint).mean()
    assert {group.label: group.n_rows for group in parity.groups} == joint.value_counts().to_dict()
    for group in parity.groups:
        assert group.selection_rate.value == pytest.approx(rates[group.label])
        assert group.selection_rate.low < group.selection_rate.high
    left_out = [group.label for group in parity.groups if not group.compared]
    assert sorted(left_out) == ["Asian & f", "Asian & m", "Black & f"]
    assert rates.idxmin() == "Black & f"  # whom no gap compares


def test_the_same_stands_in_every_option_of_the_json(found):
    options = json.loads(found.to_json())["advice"]["options"]
    assert len(options) > 2
    for option in options:
        groups = option["joint_groups"]
        assert (groups["n_compared"], groups["n_groups"]) == (3, 6)
        told = {group["label"]: group for group in groups["left_out"]}
        assert sorted(told) == ["Asian & f", "Asian & m", "Black & f"]
        assert told["Asian & f"]["n_rows"] == 12
        assert all(group["selection_rate"] is not None for group in told.values())


def test_no_joint_gap_is_printed_without_how_many_groups_it_compares(found):
    words = [found.summary.headline, *found.summary.sentences, *found.advice.reasons]
    (joint,) = [one for one in words if "race × sex" in one]
    assert "3 of 6 groups compared" in joint
    option = found.advice.option or found.advice.options[0]
    for group in option.joint_groups.left_out:
        rate = group.selection_rate
        ends = f"{100 * rate.low:.1f} to {100 * rate.high:.1f}"
        share = f"{group.label} ({group.n_rows} people, {100 * rate.value:.1f} % ({ends}))"
        assert share in joint
    page = text_of(found)
    for match in re.finditer("By race × sex, the gap is", page):
        assert "3 of 6 groups compared" in page[match.start() : match.start() + 200]
    table = page[page.index("no gap in this report includes them") :]
    assert all(label in table for label in ("Asian & f", "Asian & m", "Black & f"))


def test_a_single_attribute_says_so_where_a_group_is_left_out(found):
    """Of race, 82 people are too few beside 660 and 200."""
    (sentence,) = [s for s in found.summary.sentences if "between the groups of race" in s and
                   s.startswith("Decisions (")]  # fmt: skip
    assert "between the groups of race (2 of 3 groups compared)." in sentence
    assert re.search(r"Asian \(82 people, \d+\.\d % \(\d+\.\d to \d+\.\d\)\)", sentence)
    (of_sex,) = [s for s in found.summary.sentences if s.endswith("between the groups of sex.")]
    assert "compared" not in of_sex
    raw = found.advice.options[0]
    if raw.gap_attribute == "race":
        assert "race (2 of 3 groups compared)" in found.summary.headline


def test_the_terminal_prints_it_where_the_gap_is(loans, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    loans.to_csv("loans.csv", index=False)
    asked = ["audit", "loans.csv", "-s", "race", "-s", "sex", "-t", "paid", "--decision", "granted"]
    result = invoke([*asked, "--quick", "--n-jobs", "1", "--verbose"])
    assert result.exit_code == 0, result.output
    said = " ".join(result.output.split())
    assert "Not covered: 1 of 3 groups of race (too few people)." in said
    assert "gaps in percentage points (between the groups of race, 2 of 3 compared" in said
    assert "3 of 6 groups compared" in said
    assert "Asian & f (12 people" in said


def test_one_rule_says_which_groups_are_compared():
    """Seen: groups of 26 and 67 people compared, under a page that said 100."""
    for counts, expected in (
        ([500, 100, 99, 3], [True, True, False, False]),
        ([96, 67, 26, 19], [True, True, True, False]),
        ([300, 50, 20, 1], [True, True, True, False]),
        ([30, 19, 5], [True, True, True]),
        ([30, 19, 0], [True, True, False]),
    ):
        assert compared_groups(np.array(counts)).tolist() == expected


def test_the_auc_of_several_groups_is_called_a_mean_over_the_groups(found):
    """Seen: 'given two people of different race', of an AUC of three groups."""
    sentence = found.summary.sentences[0]
    worst = sentence.rpartition(": ")[2]
    page = text_of(found)
    assert "two people of different race" not in page.lower()
    assert "AUC for predicting race on held-out data; 0.50 is chance; mean of each group" in page
    assert "AUC for predicting sex on held-out data; 0.50 is chance Representation" in page
    assert ("on average over the groups" in worst) == ("group of race" in worst)


def test_an_option_without_joint_groups_says_nothing_of_them(found):
    single = replace(found.advice.options[0], joint_gap=None, joint_groups=None)
    page = replace(found, advice=replace(found.advice, options=[single], representation=None))
    assert "× sex, the gap is" not in text_of(page)


def test_a_rate_of_all_or_nobody_in_a_few_people_is_not_called_certain(audited, loans):
    """Seen: '15 people, 100.0 % (100.0 to 100.0)'."""
    rare = (loans["race"] == "Asian") & (loans["sex"] == "f")
    table = loans.assign(granted=loans["granted"].where(~rare, "yes"))
    found = audited(table[["race", "sex", "granted"]], ["race", "sex"], decisions="granted")
    (group,) = [one for one in joint_of(found).groups if one.label == "Asian & f"]
    assert (group.n_rows, group.selection_rate.value) == (12, 1.0)
    assert 0.7 < group.selection_rate.low < 0.95
