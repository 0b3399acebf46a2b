"""Tables, tiles and findings say what the audit says."""

import shlex

import pytest

from auditing.page.made_up_audit import (
    bare_audit,
    classes_audit,
    hostile_audit,
    made_up_audit,
    many_groups_audit,
    own_model_audit,
    read,
    wage_audit,
)
from fairpca.auditing._page.figures import page_figures
from fairpca.auditing._page.tables import given_away, page_tables
from fairpca.auditing._page.words import Units
from fairpca.auditing._recipes import audit_again

MOST_TABLES = ["certificates", "curves", "groups", "leakage", "parity"]


def test_rows_are_as_long_as_their_heads():
    for make in (made_up_audit, many_groups_audit, bare_audit, hostile_audit, wage_audit):
        tables = page_tables(read(make()))
        single = [tables[name] for name in ("options", "deciders", "compared")]
        for table in [*single, *(table for name in MOST_TABLES for table in tables[name])]:
            assert {len(row) for row in table.rows} <= {len(table.heads)}


def test_leakage_above_chance_is_marked_and_only_that():
    audit = made_up_audit()
    cells = [
        cell
        for table in page_tables(read(audit))["leakage"]
        for row in table.rows
        for cell in row[2:]
    ]
    marked = [cell.mark == "above chance" for cell in cells]
    by_key = {
        (one["attribute"], one["representation"], one["probe"]): one["above_chance"]
        for one in audit["leakage"]
    }
    ordered = [
        by_key[attribute["name"], one["key"], probe]
        for attribute in audit["data"]["attributes"]
        for one in audit["representations"]
        for probe in ("linear", "boosting", "kernel")
    ]
    assert marked == ordered
    assert 0 < sum(marked) < len(marked)


def test_every_group_is_in_the_table_of_groups_with_what_was_measured():
    audit = many_groups_audit()
    table = page_tables(read(audit))["groups"][0]
    labels = [one["label"] for one in audit["data"]["attributes"][0]["groups"]]
    assert list(dict.fromkeys(row[0].text for row in table.rows)) == labels
    assert "True positive rate" in table.heads
    assert "Precision" in table.heads
    assert "Mean outcome" not in table.heads
    calibration = page_tables(read(own_model_audit()))["groups"][0]
    assert calibration.heads[-2:] == ["Mean prediction", "Mean outcome"]


def test_an_attribute_without_parity_is_not_made_up():
    audit = made_up_audit()
    for one in audit["downstream"]:
        one["parities"] = one["parities"][1:]
    table = page_tables(read(audit))["parity"][0]
    assert table.heads == ["Representation", "Columns", "AUC"]


def test_tiles_tell_every_attribute_by_its_best_probe_before_and_after():
    audit = made_up_audit()
    for one in audit["leakage"]:
        if (one["attribute"], one["representation"], one["probe"]) == ("sex", "raw", "kernel"):
            one["auc"]["value"] = 0.91
    race, sex = given_away(read(audit))
    assert (race.attribute, sex.attribute) == ("race", "sex")
    assert [line.text for line in sex.lines] == ["Raw features", "Fair kernel PCA, 15 components"]
    assert sex.lines[0].details[0] == "91\u00a0of\u00a0100"
    assert "a kernel model, above chance" in sex.lines[0].details[1]
    assert sex.sentence == (
        "Given two people of different sex, such a model says which is which rightly in "
        "91\u00a0of\u00a0100 cases; 50 is guessing."
    )
    assert race.carriers == "column 0, column 1, column 2"
    own = given_away(read(own_model_audit()))[0]
    assert [line.text for line in own.lines][1:3] == ["score risk", "decision granted"]


def test_above_lambda_0_tiles_tell_what_plain_pca_gives_away():
    audit = made_up_audit()
    option = audit["advice"]["options"][1]
    audit["advice"] |= {"representation": "fair_pca", "tradeoff": option["tradeoff"]}
    plain = [
        one["auc"]["value"]
        for one in audit["leakage"]
        if one["attribute"] == "race" and one["representation"] == "pca"
    ]
    line = given_away(read(audit))[0].lines[1]
    assert f"AUC {max(plain):.2f}" in line.details[1]


def test_the_finding_says_whether_chance_explains_what_is_left():
    audit = made_up_audit()
    assert page_figures(read(audit))["leakage"][0].finding.endswith("still above chance.")
    for one in audit["leakage"]:
        one["above_chance"] = False
    assert page_figures(read(audit))["leakage"][0].finding.endswith("cannot be told from chance.")


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (made_up_audit, "given one person with approve = yes and one without, such a model ranks "),
        (wage_audit, "such a model explains 40\u00a0% of the differences in lwage between people"),
        (classes_audit, "given a person of one class of party and one of the others, such a mode"),
        (bare_audit, "90\u00a0% of the variance of the columns can be recovered"),
    ],
)
def test_usefulness_is_told_in_plain_words(make, said):
    evidence = read(make())
    raw = evidence.audit.advice.options[0].utility.value
    assert Units(evidence.audit.data.target).usefulness(raw).startswith(said)


def test_the_command_names_every_setting_and_quotes_hostile_names():
    audit = hostile_audit()
    words = shlex.split(audit_again(read(audit).audit))
    assert words[:3] == ["fairpca", "audit", audit["data"]["source"]]
    named = [words[place + 1] for place, word in enumerate(words) if word == "--sensitive"]
    assert named == audit["settings"]["sensitive"]
    assert words[words.index("--target") + 1] == audit["data"]["target"]["name"]
    assert words[words.index("--seed") + 1] == "0"
    assert "--quick" not in words


def test_a_frame_in_memory_is_audited_again_by_a_call():
    audit = made_up_audit()
    audit["data"]["source"] = ""
    audit["settings"]["quick"] = True
    call = audit_again(read(audit).audit)
    compile(call, "call", "exec")
    assert "sensitive=['race', 'sex']," in call
    assert "quick=True" in call


def test_the_command_says_how_the_file_was_read():
    audit = made_up_audit()
    audit["data"]["source"] = "people.data"
    audit["data"]["reading"] = {"columns": ["a", "b c"], "header": None, "skip_lines": 1}
    words = shlex.split(audit_again(read(audit).audit))
    assert words[words.index("--columns") + 1] == "a,b c"
    assert words[words.index("--skip-lines") + 1] == "1"
    audit["data"]["reading"] = {"columns": None, "header": False, "skip_lines": 0}
    words = shlex.split(audit_again(read(audit).audit))
    assert "--no-header" in words
    assert "--skip-lines" not in words
