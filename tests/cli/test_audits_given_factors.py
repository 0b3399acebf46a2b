"""Legitimate factors on the command line: `fairpca audit --given`, and what it recommends."""

import shlex
from pathlib import Path

import numpy as np
import pytest

from cli.commands import invoke
from cli.refusals import assert_refused
from fairpca import Audit, audit, load
from fairpca.auditing import Overview
from fairpca.auditing._recipes import conditional_recipe
from optional_libraries import pandas as pd


def hired(n):
    """Women have a degree less often, and are hired less often with the same degree."""
    rng = np.random.default_rng(0)
    man = rng.random(n) < 0.6
    degree = rng.random(n) < 0.3 + 0.25 * man
    yes = rng.random(n) < 0.2 + 0.4 * degree + 0.1 * man
    return pd.DataFrame(
        {
            "sex": np.where(man, "m", "f"),
            "degree": np.where(degree, "yes", "none"),
            "skill": rng.normal(size=n),
            "hobby": rng.normal(size=n) + man,
            "hired": np.where(yes, "yes", "no"),
        }
    )


def test_code_and_commands_that_fit_run_with_codes_as_factors(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    table = hired(n=600).assign(level=lambda t: (t["degree"] == "yes") * 40 + 13)
    table.to_csv("jobs.csv", index=False)
    kinds = {"sensitive_kinds": {"level": "categorical"}}
    found = audit("jobs.csv", "sex", "hired", given="level", quick=True, n_jobs=1, **kinds)
    assert found.advice.code
    assert "level" not in found.advice.code
    scope = {"new_rows": table}
    exec(found.advice.code, scope)
    assert "given" not in scope["model"].info_
    conditional = shlex.split(conditional_recipe(found))
    result = invoke([*conditional[1:], "--force"])
    assert result.exit_code == 0, result.output
    assert list(load("model.fairpca").info_["given"]) == ["level"]


def test_the_terminal_says_it_in_one_line_and_the_json_has_it(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    hired(n=900).to_csv("jobs.csv", index=False)
    asked = ["audit", "jobs.csv", "-s", "sex", "-t", "hired", "--given", "degree"]
    result = invoke(
        [*asked, "--given-by", "the board", "--quick", "--json", "audit.json", "-j", "1"]
    )
    assert result.exit_code == 0, result.output
    printed = " ".join(result.stdout.split())
    found = Audit.from_json(Path("audit.json").read_text("utf-8"))
    said = Overview(found).explained(found.advice.options[0], "sex")
    assert (
        f"{said[0].upper()}{said[1:]}. That degree is a legitimate factor was decided by the board."
        in (printed)
    )
    again = invoke(["report", "audit.json", "--out", "again.html"])
    assert again.exit_code == 0, again.output
    assert Path("again.html").read_text("utf-8") == Path("report.html").read_text("utf-8")


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ("degre", "no column 'degre', which was given. Did you mean 'degree'?"),
        ("sex", "given names 'sex', which has the role 'sensitive' already"),
        ("hired", "given names the target 'hired'"),
        ("same", "The factor 'same' has the single value 'x' in all 600 rows"),
        ("name", "The factor 'name' has another value in each of 600 rows"),
        ("person", "given names 'person', which has the role 'person' already"),
    ],
)
def test_factors_that_cannot_be_are_refused_in_one_line(given, words, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    table = hired(n=600).assign(same="x", name=[f"p{i}" for i in range(600)], person=range(600))
    table.to_csv("jobs.csv", index=False)
    asked = [
        "audit",
        "jobs.csv",
        "-s",
        "sex",
        "-t",
        "hired",
        "--person",
        "person",
        "--given",
        given,
    ]
    assert_refused(invoke(asked), words, absent=["report.html"])
