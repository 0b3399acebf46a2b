"""The first screen says what the numbers of the audit say."""

import pytest

from auditing.page.made_up_audit import (
    bare_audit,
    classes_audit,
    made_up_audit,
    many_groups_audit,
    nothing_to_do_audit,
    own_model_audit,
    read,
    wage_audit,
)
from fairpca.auditing._overview import MET, NOT_MET, NOT_SETTLED, Overview, status
from fairpca.auditing._results import Estimate


def overview(audit):
    return Overview(read(audit).audit)


def parities(audit, option, attribute):
    """Return how the models on an option compare, from the JSON alone."""
    return [
        parity
        for one in audit["downstream"]
        if one["representation"] == option["representation"]
        for parity in one["parities"]
        if parity["attribute"] == attribute
    ]


@pytest.mark.parametrize(
    ("ends", "expected"),
    [
        ((0.01, 0.05), MET),
        ((0.051, 0.2), NOT_MET),
        ((0.05, 0.051), NOT_SETTLED),
        (None, NOT_SETTLED),
    ],
)
def test_a_limit_is_met_or_not_with_the_whole_interval(ends, expected):
    gap = None if ends is None else Estimate(sum(ends) / 2, *ends)
    assert status(gap, 0.05) == expected


def test_rates_are_those_of_the_model_family_with_the_largest_gap():
    audit = made_up_audit()
    found = overview(audit)
    raw, recommended = audit["advice"]["options"][0], audit["advice"]["options"][2]
    assert [one.role for one in found.columns()][1:] == ["no method applied", "recommended"]
    rates = found.rates("race")
    groups = audit["data"]["attributes"][0]["groups"]
    assert [line.label for line in rates.groups] == [group["label"] for group in groups]
    for place, option in ((1, raw), (2, recommended)):
        worst = max(parities(audit, option, "race"), key=lambda p: p["gap"]["value"])
        by_label = {group["label"]: group for group in worst["groups"]}
        for line in rates.groups:
            assert line.rates[place].value == by_label[line.label]["selection_rate"]["value"]
        assert rates.ratios[place].value == worst["ratio"]["value"]
        assert rates.gaps[place].value == worst["gap"]["value"]
    assert [line.rates[0].value for line in rates.groups] == [g["outcome"] for g in groups]
    outcomes = [group["outcome"] for group in groups]
    assert rates.gaps[0].value == pytest.approx(max(outcomes) - min(outcomes))


def test_people_are_the_size_of_a_group_times_the_change_of_its_rate():
    found = overview(made_up_audit())
    for line in found.rates("race").groups:
        change = line.rates[2].value - line.rates[1].value
        assert line.more == pytest.approx(line.n_people * change)
        if abs(line.more) >= 0.5:
            more = "more" if line.more > 0 else "fewer"
            assert f"{abs(line.more):,.0f} {more} {line.label}" in found.people()
    weighted = made_up_audit()
    weighted["settings"]["weight"] = "w"
    assert overview(weighted).people() == ""  # rows that count differently are no people


def test_costs_are_of_the_same_model_before_and_after():
    audit = made_up_audit()
    found = overview(audit)
    raw, recommended = audit["advice"]["options"][0], audit["advice"]["options"][2]
    model = recommended["gap_model"]
    numbers = [
        {
            group["label"]: group["precision"]["value"]
            for one in audit["downstream"]
            if (one["representation"], one["model"]) == (option["representation"], model)
            for parity in one["parities"]
            if parity["attribute"] == "race"
            for group in parity["groups"]
        }
        for option in (raw, recommended)
    ]
    assert found.costs()
    for cost in found.costs():
        assert [one.value for one in cost.precision] == [of[cost.label] for of in numbers]


def test_groups_that_are_not_compared_are_named_with_people_rate_and_interval():
    audit = made_up_audit()
    option = audit["advice"]["options"][2]
    small = {**parities(audit, option, "race")[0]["groups"][0], "label": "few", "n_rows": 22}
    option["joint_groups"] = {"n_compared": 3, "n_groups": 4, "left_out": [small]}
    option["joint_attribute"] = "race × sex"
    said = " ".join(overview(audit).not_covered())
    of = option["joint_groups"]
    assert (
        f"{len(of['left_out'])} of {of['n_groups']} groups of {option['joint_attribute']}" in said
    )
    rate = small["selection_rate"]
    ends = [f"{100 * rate[end]:.0f}" for end in ("value", "low", "high")]
    assert "few (22 people, {} % selected, {} to {})".format(*ends) in said


def test_what_exists_stands_for_today():
    found = overview(own_model_audit())
    assert found.today.name == found.advice.options[1].name
    assert found.statement().startswith(found.today.name)


@pytest.mark.parametrize("make", [classes_audit, nothing_to_do_audit, many_groups_audit])
def test_every_audit_with_a_target_has_a_verdict(make):
    found = overview(make())
    assert found.state
    assert found.statement()
    assert found.rates(found.attribute).groups


def test_a_number_has_means_and_no_people():
    found = overview(wage_audit())
    assert found.what == "mean predictions"
    assert "standard deviations" in found.statement()
    assert found.people() == ""
    assert not any(found.rates(found.attribute).ratios)


def test_without_a_target_leakage_is_the_verdict():
    found = overview(bare_audit())
    assert found.columns() == []
    assert found.statement() == ""
    assert found.state in ("Leakage found", "No significant leakage", "No action needed")
    assert found.leak(found.raw).auc.value == pytest.approx(found.raw.leak.value, abs=0.001)


@pytest.mark.parametrize(
    ("name", "label", "pos_label", "expected"),
    [
        ("approve", "loan approved", "1", "approved"),
        ("was_hired", None, "yes", "hired"),
        ("approved", None, "refused", "selected"),
        ("y", None, "1", "selected"),
    ],
)
def test_the_word_for_a_selection_is_the_targets(name, label, pos_label, expected):
    audit = made_up_audit()
    audit["data"]["target"] |= {"name": name, "pos_label": pos_label}
    audit["data"]["labels"] = {name: label} if label else None
    assert overview(audit).selected == expected


@pytest.mark.parametrize("make", [made_up_audit, many_groups_audit, own_model_audit, wage_audit])
def test_the_first_screen_says_what_its_columns_and_brackets_are(make):
    screen = overview(make())
    said = screen.about_the_table()
    assert said.startswith("Past data: ")
    assert f"in brackets: {100 * screen.settings.confidence:.0f} % intervals" in said
    assert ("gaps are computed before rounding" in said) == (not screen.number)
    assert ("trained for this audit" in said) == (
        screen.raw in [c.option for c in screen.columns()]
    )


def test_an_attribute_whose_gap_no_longer_meets_the_limit_is_a_cost():
    screen = overview(made_up_audit())
    limit = screen.settings.max_gap

    def highest(option, name):
        return max(parity.gap.high for parity in screen.evidence.parities(option, name))

    for name in screen.evidence.singles:
        slips = highest(screen.raw, name) <= limit < highest(screen.recommended, name)
        assert (screen.label(name) in screen.slips()) == slips
