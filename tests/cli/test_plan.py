"""``fairpca plan``: the same numbers as the function, and one line for what it cannot use."""

import json
from dataclasses import asdict

import pytest
from typer.testing import CliRunner

from cli.refusals import assert_refused
from fairpca._cli import app
from fairpca.metrics import plan

ASKED = ["plan", "--people", "150", "--people", "850", "--columns", "384", "--auc", "0.9"]


def run(*more):
    return CliRunner().invoke(app, [*ASKED, *more])


def test_a_plan_is_printed_and_given_as_json():
    expected = plan([150, 850], columns=384, auc=0.9, target_auc=0.6, n_components=20)
    more = ["--target-auc", "0.6", "--n-components", "20"]
    shown = run(*more)
    assert shown.exit_code == 0
    assert shown.output == f"{expected}\n"
    assert json.loads(run(*more, "--json").output) == json.loads(json.dumps(asdict(expected)))


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (["--separation", "2"], "both are given"),
        (["--people", "0"], "is not a number of 1 or more"),
        (["--target-auc", "0.95"], "target_auc=0.95 is not strictly between"),
        (["--n-components", "384"], "Use at most 383"),
    ],
)
def test_what_cannot_be_planned_is_one_line(tmp_path, monkeypatch, more, message):
    monkeypatch.chdir(tmp_path)
    assert_refused(run(*more), message)
