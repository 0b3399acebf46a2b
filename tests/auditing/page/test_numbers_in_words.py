"""Tables and findings say what the audit says."""

import shlex

from auditing.page.made_up_audit import (
    bare_audit,
    hostile_audit,
    made_up_audit,
    many_groups_audit,
    own_model_audit,
    read,
    wage_audit,
)
from fairpca.auditing._page.figures import page_figures
from fairpca.auditing._page.tables import page_tables
from fairpca.auditing._recipes import audit_again

MOST_TABLES = ["rates", "groups", "leakage", "parity"]


def test_rows_are_as_long_as_their_heads():
    for make in (made_up_audit, many_groups_audit, bare_audit, hostile_audit, wage_audit):
        tables = page_tables(read(make()))
        single = [
            tables[name]
            for name in ("first", "options", "costs", "recovery", "influence", "compared")
        ]
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


def test_recovery_is_told_of_every_attribute_by_its_best_probe_before_and_after():
    audit = made_up_audit()
    for one in audit["leakage"]:
        if (one["attribute"], one["representation"], one["probe"]) == ("sex", "raw", "kernel"):
            one["auc"]["value"] = 0.91
    table = page_tables(read(audit))["recovery"]
    assert table.heads[1:3] == ["Raw features", "Fair kernel PCA, 15 components"]
    race, sex = table.rows
    assert (race[0].text, sex[0].text) == ("race", "sex")
    assert (sex[1].text, sex[1].mark) == ("0.91", "above chance")
    assert race[-1].text == "column 0, column 1, column 2"
    own = page_tables(read(own_model_audit()))["recovery"]
    assert "score risk" in own.heads


def test_above_lambda_0_the_recovery_is_that_of_plain_pca():
    audit = made_up_audit()
    option = audit["advice"]["options"][1]
    audit["advice"] |= {"representation": "fair_pca", "tradeoff": option["tradeoff"]}
    plain = [
        one["auc"]["value"]
        for one in audit["leakage"]
        if one["attribute"] == "race" and one["representation"] == "pca"
    ]
    assert page_tables(read(audit))["recovery"].rows[0][2].text == f"{max(plain):.2f}"


def test_the_finding_says_whether_chance_explains_what_is_left():
    audit = made_up_audit()
    assert page_figures(read(audit))["leakage"][0].finding.endswith("significantly above chance.")
    for one in audit["leakage"]:
        one["above_chance"] = False
    assert page_figures(read(audit))["leakage"][0].finding.endswith("not significant.")


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
