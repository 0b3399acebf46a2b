"""``fairpca gate`` and ``fairpca audit --fail-above``: one line, a status, files for pipelines."""

import json
import re
import subprocess
import sys
from functools import partial
from xml.etree import ElementTree

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from auditing.page.made_up_audit import made_up_audit
from cli.refusals import assert_refused
from fairpca import assert_gate, gate
from fairpca._cli import app
from fairpca._cli.gate import _Metric
from fairpca._cli.options import Undecided
from fairpca.auditing._policy import METRICS, UNDECIDED


@pytest.fixture
def tonight(tmp_path, command):
    """A table of decisions in the folder: by race they differ by 10 points, by sex hardly."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {"race": rng.choice(["a", "b"], size=6000), "sex": rng.choice(["f", "m"], size=6000)}
    )
    frame["approved"] = np.where(rng.random(6000) < 0.4 + 0.1 * (frame["race"] == "a"), "yes", "no")
    frame["repaid"] = rng.choice(["yes", "no"], size=6000)
    frame["score"] = rng.random(6000)
    frame.to_csv(tmp_path / "tonight.csv", index=False)
    return tmp_path


ASKED = ("gate", "tonight.csv", "--decision", "approved")


@pytest.mark.parametrize(
    ("more", "status", "begins"),
    [
        (
            ("-s", "sex", "--max-gap", "5"),
            0,
            "Within the limit: gap in selection rate",
        ),
        (("-s", "race", "--max-gap", "5"), 1, "Limit exceeded: gap in selection rate of approved"),
        (("-s", "race", "--max-gap", "9"), 3, "Undecided, too few people to say: gap in selection"),
        (("-s", "race", "--max-gap", "9", "--undecided", "pass"), 0, "Undecided, and passes by"),
        (("-s", "race", "--max-gap", "9", "--undecided", "fail"), 1, "Undecided, and fails by"),
        (("-s", "race", "--min-ratio", "0.9"), 1, "Limit exceeded: ratio of selection rates"),
    ],
)
def test_one_line_and_a_status(tonight, command, more, status, begins):
    shown = command(*ASKED, *more)
    assert shown.exit_code == status, shown.output
    (line,) = shown.output.splitlines()
    assert line.startswith(begins)


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (("-s", "race"), "A gate needs a limit"),
        (("-s", "rac", "--max-gap", "5"), "Did you mean 'race'"),
        (("-s", "race", "--max-gap", "0.05"), "As a fraction it is 5 points: pass --max-gap 5."),
        (("-s", "race", "--max-gap", "nan"), "--max-gap nan has to be from 0"),
        (("-s", "race", "--max-gap", "5", "--policy", "none.toml"), "no file 'none.toml'"),
        (("-s", "race", "--max-gap", "5", "--metric", "precision"), "about the true outcome"),
        (("-s", "race", "--max-gap", "5", "--junit", "tonight.csv"), "tonight.csv exists"),
        (("-s", "race", "--max-gap", "5", "--summary", "."), ". is a folder"),
        (("-s", "race", "--max-gap", "5", "--summary", "tonight.csv"), "is what is read"),
        (("-s", "race", "--max-gap", "5", "--summary", "gate.xml"), "Two outputs have the same"),
        (("-s", "race", "--max-gap", "5", "--summary", "tonight.csv/a.md"), "not a folder you may"),
        (("--score", "score", "-s", "race", "--max-gap", "5", "--threshold", "nan"), "nobody, or"),
    ],
)
def test_errors_are_one_line_and_nothing_is_written(tonight, command, more, message):
    before = {one: one.read_bytes() for one in tonight.iterdir()}
    files = () if "--junit" in more else ("--junit", "gate.xml")
    assert_refused(command(*ASKED, *more, *files), message)
    assert {one: one.read_bytes() for one in tonight.iterdir()} == before


def test_a_summary_cannot_be_added_to_the_policy(tonight, command):
    (tonight / "pyproject.toml").write_text("[tool.fairpca]\nmax-gap = 5\n", encoding="utf-8")
    shown = command(*ASKED, "-s", "race", "--summary", "pyproject.toml")
    assert_refused(shown, "pyproject.toml is what is read")


def test_folders_on_the_way_to_a_summary_are_made(tonight, command):
    assert command(*ASKED, "-s", "race", "--max-gap", "5", "--summary", "a/b.md").exit_code == 1
    assert (tonight / "a" / "b.md").read_text(encoding="utf-8").startswith("**Limit exceeded")


NO_TABLES = {
    "empty.csv": ("", "is empty"),
    "names.csv": ("race,approved\n", "no rows"),
    "one.csv": ("race\na\nb\n", "is not a table"),
    "{}.json": ("{}", "schema_version"),
    "rows.json": ('[{"race": "a", "approved": 1}]', "schema_version"),
    "empty.json": ("", "not audit JSON"),
    "deep.json": ("[" * 100_000, "not audit JSON"),
}


@pytest.mark.parametrize("name", NO_TABLES)
def test_what_is_no_table_and_no_audit_is_one_line(tonight, command, name):
    text, message = NO_TABLES[name]
    (tonight / name).write_text(text, encoding="utf-8")
    shown = command("gate", name, "-s", "race", "--decision", "approved", "--max-gap", "5")
    assert_refused(shown, name, message)


def test_a_folder_is_no_table(tonight, command):
    for name in ("folder", "folder.json"):
        (tonight / name).mkdir()
        assert_refused(command("gate", name, *ASKED[2:], "-s", "race", "--max-gap", "5"), name)


@pytest.mark.parametrize("kind", ["parquet", "feather", "csv.gz", "-"])
def test_tables_of_every_kind_have_one_verdict(tonight, command, kind):
    frame = pd.read_csv(tonight / "tonight.csv")
    asked = (*ASKED[2:], "-s", "race", "--max-gap", "5")
    expected = command("gate", "tonight.csv", *asked)
    name = "-" if kind == "-" else f"t.{kind}"
    if kind == "-":
        text = (tonight / "tonight.csv").read_bytes()
        shown = CliRunner().invoke(app, ["gate", "-", *asked], input=text)
    else:
        write = {"parquet": frame.to_parquet, "feather": frame.to_feather}
        write.get(kind, partial(frame.to_csv, index=False))(tonight / name)
        shown = command("gate", name, *asked)
    assert (shown.exit_code, shown.output) == (expected.exit_code, expected.output)
    assert shown.exit_code == 1


def test_names_of_columns_are_data_in_every_output(tonight, command):
    race, approved = "=cmd|' /C'!A0\u202e", "ap\x1b[31m\n<b>`proved"
    frame = pd.read_csv(tonight / "tonight.csv")
    frame.rename(columns={"race": race, "approved": approved}).to_parquet(tonight / "t.parquet")
    files = ("--junit", "gate.xml", "--summary", "summary.md")
    asked = ("-s", race, "--decision", approved, "--max-gap", "5")
    shown = command("gate", "t.parquet", *asked, *files)
    assert shown.exit_code == 1, shown.output
    assert len(shown.output.splitlines()) == 1
    summary = (tonight / "summary.md").read_text(encoding="utf-8")
    ElementTree.parse(tonight / "gate.xml")
    for text in (shown.output, summary):
        assert not {"\x1b", "\u202e"} & set(text)
    assert r"\<b\>\`proved" in summary
    values = command("gate", "t.parquet", *asked, "--json")
    assert json.loads(values.stdout)["checks"][0]["attribute"].startswith("=cmd|")


def test_the_line_says_what_was_compared_and_with_what(tonight, command):
    frame = pd.read_csv(tonight / "tonight.csv")
    rates = (frame["approved"] == "yes").groupby(frame["race"]).mean() * 100
    (line,) = command(*ASKED, "-s", "race", "--max-gap", "5").output.splitlines()
    assert re.sub(r"interval [\d.]+ to [\d.]+", "interval", line) == (
        "Limit exceeded: gap in selection rate of approved by race is "
        f"{rates['a'] - rates['b']:.1f} points (interval), limit 5.0; "
        f"highest a {rates['a']:.1f} %, lowest b {rates['b']:.1f} %."
    )


def test_files_for_pipelines(tonight, command):
    (tonight / "summary.md").write_text("# Earlier\n", encoding="utf-8")
    files = ("--junit", "gate.xml", "--summary", "summary.md")
    shown = command(*ASKED, "-s", "race", "-s", "sex", "--max-gap", "5", *files)
    assert shown.exit_code == 1
    suite = ElementTree.parse(tonight / "gate.xml").getroot()
    assert (suite.get("tests"), suite.get("failures")) == ("2", "1")
    summary = (tonight / "summary.md").read_text(encoding="utf-8")
    assert summary.startswith("# Earlier\n")
    assert "| gap in selection rate of approved by race |" in summary
    values = command(*ASKED, "-s", "race", "--max-gap", "5", "--json")
    assert json.loads(values.stdout)["verdict"] == "exceeded"


def test_the_policy_of_the_project_is_found_and_options_come_first(tonight, command):
    policy = 'sensitive = "race"\ndecision = "approved"\nmax-gap = 5\n'
    (tonight / "pyproject.toml").write_text(f"[tool.fairpca]\n{policy}", encoding="utf-8")
    assert command("gate", "tonight.csv").exit_code == 1
    assert command("gate", "tonight.csv", "--max-gap", "20").exit_code == 0
    assert command("gate", "tonight.csv", "-s", "sex").exit_code == 0
    (tonight / "small.toml").write_text(policy.replace("5", "20"), encoding="utf-8")
    assert command("gate", "tonight.csv", "--policy", "small.toml").exit_code == 0
    (tonight / "pyproject.toml").write_text("[project]\nname = 'x'\n", encoding="utf-8")
    assert_refused(command("gate", "tonight.csv"), "needs a limit")


def test_an_audit_is_judged_from_its_json(tmp_path, command):
    made = json.dumps(made_up_audit(own=("decision:granted",)))
    (tmp_path / "audit.json").write_text(made, encoding="utf-8")
    shown = command("gate", "audit.json", "--max-gap", "50")
    assert shown.exit_code == 0, shown.output
    assert "granted" in shown.output
    assert_refused(command("gate", "audit.json", "--max-gap", "5", "-s", "salary"), "not about")
    old = made.replace(json.loads(made)["schema_version"], "2.0", 1)
    (tmp_path / "old.json").write_text(old, encoding="utf-8")
    assert_refused(command("gate", "old.json", "--max-gap", "5"), "version")


@pytest.mark.parametrize(("limit", "status"), [("5", 1), ("30", 0)])
def test_an_audit_fails_above(tonight, command, limit, status):
    columns = ("-s", "race", "--decision", "approved", "--ignore", "repaid", "--ignore", "score")
    shown = command(
        "audit", "tonight.csv", *columns, "--ignore", "sex", "--fail-above", limit, "-q"
    )
    assert shown.exit_code == status, shown.output
    assert (tonight / "report.html").exists()
    assert f"limit is {limit} points" in (tonight / "report.html").read_text(encoding="utf-8")


def test_undecided_needs_a_limit(tonight, command):
    shown = command("audit", "tonight.csv", "-s", "race", "--undecided", "pass")
    assert_refused(shown, "--undecided is about --fail-above")


def test_the_choices_are_those_of_python():
    assert [one.value.replace("-", "_") for one in _Metric] == list(METRICS)
    assert [one.value for one in Undecided] == list(UNDECIDED)


def random_case(rng):
    """Return a table, and a policy of TOML keys, at random."""
    n, m = int(rng.integers(80, 1500)), int(rng.integers(2, 5))
    race, rates = rng.integers(0, m, size=n), rng.uniform(0.1, 0.9) + rng.uniform(0, 0.2, size=m)
    frame = pd.DataFrame({"race": np.array(list("abcd"))[race], "sex": rng.choice(["f", "m"], n)})
    frame["approved"] = (rng.random(n) < rates[race]).astype(int)
    frame["repaid"] = rng.integers(0, 2, size=n)
    frame["score"] = rng.random(n).round(2)
    keys = {"sensitive": [["race"], ["race", "sex"]][rng.integers(2)]}
    what = rng.choice(["decision", "score", "threshold"])
    keys["decision" if what == "decision" else "score"] = (
        "approved" if what == "decision" else "score"
    )
    if what == "threshold":
        keys["threshold"] = round(rng.uniform(0.2, 0.8), 2)
    if rng.random() < 0.8:
        keys["max-gap"] = float(rng.integers(1, 30))
        if rng.random() < 0.5:
            keys |= {"metric": ["selection-rate", "true-positive-rate"], "target": "repaid"}
            keys["pos-label"] = "1"
    if "max-gap" not in keys or rng.random() < 0.3:
        keys["min-ratio"] = round(rng.uniform(0.5, 1), 2)
    if rng.random() < 0.3:
        keys["undecided"] = str(rng.choice(["pass", "fail"]))
    if rng.random() < 0.3:
        keys["confidence"] = 0.9
    if rng.random() < 0.3:
        keys["joint"] = True
    return frame, keys


def in_toml(keys):
    return "".join(f"{key} = {json.dumps(value)}\n" for key, value in keys.items())


def in_python(keys):
    names = {"decision": "decisions", "score": "scores", "metric": "metrics"}
    given = {names.get(key, key.replace("-", "_")): value for key, value in keys.items()}
    if "max_gap" in given:
        given["max_gap"] /= 100
    if "metrics" in given:
        given["metrics"] = [one.replace("-", "_") for one in given["metrics"]]
    return given


def on_the_command_line(keys):
    for key, value in keys.items():
        if value is True:
            yield f"--{key}"
            continue
        for one in value if isinstance(value, list) else [value]:
            yield from (f"--{key}", str(one))


def test_all_doors_agree_on_random_cases(tmp_path, command):
    """Command line, TOML, Python and the assertion have one verdict, in 200 cases."""
    rng, seen = np.random.default_rng(0), set()
    for _ in range(200):
        frame, keys = random_case(rng)
        frame.to_csv(tmp_path / "t.csv", index=False)
        (tmp_path / "p.toml").write_text(in_toml(keys), encoding="utf-8")
        by_python = gate(frame, **in_python(keys))
        by_toml = gate(frame, policy=tmp_path / "p.toml")
        assert by_python.checks == by_toml.checks
        shown = command("gate", "t.csv", *on_the_command_line(keys))
        assert shown.exit_code == by_python.status == by_toml.status, shown.output
        assert shown.output.strip() == str(by_python)
        if by_python.verdict == "within":
            assert assert_gate(frame, **in_python(keys)) == by_python
        else:
            with pytest.raises(AssertionError):
                assert_gate(frame, policy=tmp_path / "p.toml")
        seen.add(by_python.verdict)
    assert seen == {"within", "exceeded", "undecided"}


TEST_OF_A_USER = """
from fairpca import assert_gate


def test_decisions_are_alike():
    assert_gate("tonight.csv", policy="pyproject.toml")
"""


def test_a_test_of_a_user_fails_with_one_line(tonight, command):
    policy = '[tool.fairpca]\nsensitive = "race"\ndecision = "approved"\nmax-gap = 5\n'
    (tonight / "pyproject.toml").write_text(policy, encoding="utf-8")
    (tonight / "test_fairness.py").write_text(TEST_OF_A_USER, encoding="utf-8")
    run = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_fairness.py"]
    shown = subprocess.run(run, cwd=tonight, capture_output=True, text=True, check=False)
    assert shown.returncode == 1
    assert (
        "AssertionError: Limit exceeded: gap in selection rate of approved by race" in shown.stdout
    )
    assert "_gate.py" not in shown.stdout  # the traceback ends in the user's line
