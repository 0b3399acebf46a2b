"""``fairpca compare``, ``fairpca report`` and ``fairpca audit --since``."""

import json

import numpy as np
import pandas as pd
import pytest

from auditing.page.made_up_audit import SCRIPT, hostile_audit, made_up_audit
from cli.refusals import assert_refused
from fairpca import Audit

OWN = ("score:risk", "decision:granted")


@pytest.fixture
def kept(tmp_path, command):
    """Audits in the folder: now.json, the same of other people a month ago, and a fairer one."""
    now = made_up_audit(own=OWN)
    before = json.loads(json.dumps(now))
    before["created"] = "2026-10-15T17:00:00+00:00"
    before["data"]["fingerprint"] = "sha256:" + "1" * 64
    fairer = json.loads(json.dumps(before))
    for one in fairer["downstream"]:
        for parity in one["parities"]:
            if one["representation"] == "decision:granted" and parity["attribute"] == "sex":
                parity["gap"] = {"value": 0.03, "low": 0.01, "high": 0.05}
    for name, audit in {"now": now, "before": before, "fairer": fairer}.items():
        (tmp_path / f"{name}.json").write_text(json.dumps(audit), encoding="utf-8")
    return tmp_path


@pytest.mark.parametrize(
    ("before", "status", "last"),
    [
        ("before", 0, "Nothing became worse since 2026-10-15 beyond chance."),
        (
            "fairer",
            1,
            "Worse since 2026-10-15: gap by sex (decision granted), 3.0 points before and 17.0 "
            "points now.",
        ),
        ("now", 3, "These audits cannot tell whether anything became worse since 2026-11-15: both"),
    ],
)
def test_the_last_line_is_the_verdict_and_so_is_the_exit_status(
    kept, command, before, status, last
):
    shown = command("compare", f"{before}.json", "now.json")
    assert shown.exit_code == status, shown.output
    assert shown.output.splitlines()[-1].startswith(last)
    assert ("+14.0 points" in shown.output) == (status == 1)
    assert ("could be chance" in shown.output) == (status == 0)
    numbers = command("compare", f"{before}.json", "now.json", "--json")
    assert numbers.exit_code == status
    earlier, now = (
        Audit.from_json((kept / f"{name}.json").read_text()) for name in (before, "now")
    )
    assert json.loads(numbers.stdout) == now.since(earlier).to_dict()["changes"]


def test_markdown_has_the_same_and_names_are_no_markup(kept, command):
    shown = command("compare", "fairer.json", "now.json", "--markdown")
    assert shown.exit_code == 1
    lines = shown.output.splitlines()
    assert lines[0].startswith("**Worse since 2026-10-15: gap by sex (decision granted)")
    rows = [line for line in lines if line.startswith("|")]
    assert rows[2].startswith("| Gap by sex (decision granted) | 3.0 points | 17.0 points | +14.0")
    assert len({line.count("|") for line in rows}) == 1
    hostile = hostile_audit()
    (kept / "hostile.json").write_text(json.dumps(hostile), encoding="utf-8")
    hostile["data"]["fingerprint"], hostile["data"]["columns"] = "other", []
    (kept / "older.json").write_text(json.dumps(hostile), encoding="utf-8")
    said = command("compare", "older.json", "hostile.json", "--markdown").output
    assert "script" in said
    assert SCRIPT not in said
    assert "<" not in said.replace("\\<", "")


def test_a_report_is_drawn_again_as_the_audit_wrote_it(command, tmp_path):
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"sex": rng.choice(["f", "m"], 300), "ok": rng.choice(["no", "yes"], 300)})
    for name in ("first", "second"):
        table.assign(ok=rng.permutation(table["ok"])).to_csv(f"{name}.csv", index=False)
    asked = ("--sensitive", "sex", "--decision", "ok", "--quick", "--quiet")
    command("audit", "first.csv", *asked, "--json", "first.json", "-o", "first.html")
    shown = command("audit", "second.csv", *asked, "--json", "now.json", "--since", "first.json")
    assert shown.exit_code == 0, shown.output
    again = command("report", "now.json", "-o", "again.html")
    assert again.exit_code == 0, again.output
    written = (tmp_path / "report.html").read_bytes()
    assert (tmp_path / "again.html").read_bytes() == written
    assert b"Since the last audit" in written
    plain = json.loads((tmp_path / "now.json").read_text(encoding="utf-8"))
    plain["changes"] = None
    (tmp_path / "plain.json").write_text(json.dumps(plain), encoding="utf-8")
    command("report", "plain.json", "-o", "plain.html")
    assert b"Since the last audit" not in (tmp_path / "plain.html").read_bytes()
    command("report", "plain.json", "-o", "since.html", "--since", "first.json")
    assert (tmp_path / "since.html").read_bytes() == written


@pytest.mark.parametrize(
    ("arguments", "messages"),
    [
        (["compare", "gone.json", "now.json"], ["gone.json: No such file"]),
        (["compare", "table.csv", "now.json"], ["table.csv: This is not audit JSON"]),
        (["compare", "bytes.json", "now.json"], ["bytes.json: This is no text"]),
        (["compare", "list.json", "now.json"], ["list.json: This is no audit"]),
        (["compare", "old.json", "now.json"], ["old.json: schema_version='3.2' cannot be read"]),
        (["compare", "part.json", "now.json"], ["part.json: audit.leakage is missing"]),
        (["compare", "before.json", "part.json"], ["part.json: audit.leakage is missing"]),
        (
            ["compare", "other.json", "now.json"],
            ["The earlier audit is about gender and this one about race and sex", "same attribute"],
        ),
        (["compare", "before.json", "now.json", "--json", "--markdown"], ["Pass one of them"]),
        (["report", "part.json"], ["part.json: audit.leakage is missing"]),
        (["report", "now.json", "--since", "other.json"], ["about gender"]),
        (["report", "now.json", "--since", "gone.json"], ["gone.json: No such file"]),
        (["report", "now.json", "-o", "now.json"], ["now.json exists and is kept"]),
        (["report", "now.json", "-o", "now.json", "-f"], ["is what is read, so it is kept"]),
        (["audit", "table.csv", "-s", "sex", "--since", "other.json"], ["gender", "about sex"]),
        (["audit", "table.csv", "-s", "sex", "--since", "table.csv"], ["This is not audit JSON"]),
    ],
)  # fmt: skip
def test_what_cannot_be_compared_is_one_line_and_nothing_is_written(
    kept, command, arguments, messages
):
    now = made_up_audit()
    files = {
        "table.csv": "sex,age\nf,3\n",
        "list.json": "[1]",
        "old.json": json.dumps({**now, "schema_version": "3.2"}),
        "part.json": json.dumps({k: v for k, v in now.items() if k != "leakage"}),
        "other.json": json.dumps(made_up_audit({"gender": ["x", "y"]})),
    }
    for name, text in files.items():
        (kept / name).write_text(text, encoding="utf-8")
    (kept / "bytes.json").write_bytes(b"\xff\xfe\x00\xd8")
    before = {path.name: path.read_bytes() for path in kept.iterdir()}
    assert_refused(command(*arguments), *messages, absent=["report.html"])
    assert {path.name: path.read_bytes() for path in kept.iterdir()} == before
