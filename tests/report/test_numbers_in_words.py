"""Tables, tiles and findings say what the audit says."""

import shlex

from fairpca.auditing._page.figures import _leakage_finding
from fairpca.auditing._page.tables import page_tables
from fairpca.auditing._page.words import summary_tiles
from fairpca.auditing._recipes import audit_again
from report.made_up_audit import (
    bare_audit,
    hostile_audit,
    made_up_audit,
    many_groups_audit,
    read,
)

MOST_TABLES = ["certificates", "curves", "gaps", "groups", "leakage", "parity"]


def test_rows_are_as_long_as_their_heads():
    for make in (made_up_audit, many_groups_audit, bare_audit, hostile_audit):
        tables = page_tables(read(make()))
        for table in (table for name in MOST_TABLES for table in tables[name]):
            assert table.rows
            assert {len(row) for row in table.rows} == {len(table.heads)}


def test_leakage_above_chance_is_marked_and_only_that():
    audit = made_up_audit()
    cells = [
        cell
        for table in page_tables(read(audit))["leakage"]
        for row in table.rows
        for cell in row[1:]
    ]
    marked = [cell.tone == "seen" for cell in cells]
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


def test_every_group_is_in_the_table_of_groups():
    audit = many_groups_audit()
    table = page_tables(read(audit))["groups"][0]
    labels = [one["label"] for one in audit["data"]["attributes"][0]["groups"]]
    assert list(dict.fromkeys(row[0].text for row in table.rows)) == labels
    assert len(table.rows) == len(labels) * len(audit["representations"])


def test_an_attribute_without_parity_is_not_made_up():
    audit = made_up_audit()
    for one in audit["downstream"]:
        one["parities"] = one["parities"][1:]
    table = page_tables(read(audit))["parity"][0]
    assert {cell.text for row in table.rows for cell in row[3:]} == {"n/a"}


def test_tiles_tell_the_worst_attribute_and_the_best_probe():
    audit = made_up_audit()
    audit["advice"]["tradeoff"] = None
    for one in audit["leakage"]:
        if one["attribute"] == "sex" and one["representation"] == "raw":
            one["auc"]["value"] = 0.91
    leakage, gap, accuracy = summary_tiles(read(audit))
    assert "sex" in leakage.label
    assert leakage.before == "0.91"
    after = [
        one["auc"]["value"]
        for one in audit["leakage"]
        if one["attribute"] == "sex" and one["representation"] == "fair_pca"
    ]
    assert leakage.after == f"{max(after):.2f}"
    assert (gap.before, gap.after) == ("23.0", "7.0\u00a0points")
    assert (accuracy.before, accuracy.after) == ("88.0", "86.4\u00a0%")


def test_tiles_above_lambda_0_tell_what_plain_pca_gives_away_and_what_that_lambda_decides():
    audit = made_up_audit()
    points = audit["curves"][0]["points"]
    audit["advice"] |= {"representation": "fair_pca", "tradeoff": points[3]["tradeoff"]}
    leakage, _, accuracy = summary_tiles(read(audit))
    plain = [
        one["auc"]["value"]
        for one in audit["leakage"]
        if one["attribute"] in leakage.label and one["representation"] == "pca"
    ]
    assert leakage.after == f"{max(plain):.2f}"
    assert "rescales its inputs" in leakage.note
    assert accuracy.after == f"{100 * points[3]['accuracy']['value']:.1f}\u00a0%"


def test_without_a_target_only_leakage_has_a_tile():
    tiles = summary_tiles(read(bare_audit()))
    assert [tile.label.split(",")[0] for tile in tiles] == ["AUC of guessing age"]


def test_without_anything_fair_there_are_no_tiles():
    audit = made_up_audit()
    for one in audit["representations"][1:]:
        one["failure"] = "Too few rows."
    assert summary_tiles(read(audit)) == []


def test_the_finding_says_whether_chance_explains_what_is_left():
    audit = made_up_audit()
    assert _leakage_finding(read(audit), "race").endswith("still above chance.")
    for one in audit["leakage"]:
        one["above_chance"] = False
    assert _leakage_finding(read(audit), "race").endswith("cannot be told from chance.")


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
