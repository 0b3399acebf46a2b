"""The Python and the commands that an audit hands over do what they say, with all that was said."""

import shlex
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from cli.commands import invoke
from fairpca import FairTableTransformer
from fairpca.auditing._asking import ask
from fairpca.auditing._recipes import audit_again, python_recipe, shell_recipe
from fairpca.auditing._results import Setting, Settings
from fairpca.auditing._splits import QUICK
from people import made_up_people


@pytest.fixture(scope="module")
def table():
    people = made_up_people(n=300).drop(columns=[f"n{i}" for i in range(1, 6)])
    years = 20 + np.arange(300) % 40
    who, yes = np.arange(300) // 2, np.where(people["skill"] > 0, "yes", "no")
    return people.assign(risk=people["skill"], said=yes, who=who, w=1.0, years=years)


def asked(table, target="paid", *, source="table.csv", person=None, weight=None, **given):
    """Return what recipes look at: the settings of an audit, and its table."""
    usual = {"pos_label": None, "ignore": ["n0"], "n_components": None, "effort": QUICK}
    own = {"scores": ["risk"], "person": person, "weight": weight}
    question = ask(table, ["sex"], target, seed=0, **{**usual, **own, **given})
    settings = Settings(
        sensitive=["sex"],
        target=target,
        above=given.get("above"),
        aim="decide",
        max_gap=0.05,
        model="boosting",
        n_components=3,
        common_components=None,
        n_splits=2,
        n_decision_splits=2,
        n_probe_rows=100,
        confidence=0.9,
        seed=0,
        quick=True,
        sensitive_kinds=given.get("sensitive_kinds"),
        scores=["risk"],
        decisions=list(given.get("decisions", ())),
        person=person,
        weight=weight,
        missing=[],
        scale="standard",
    )
    data = question.described()
    object.__setattr__(data, "source", source)
    return SimpleNamespace(settings=settings, data=data)


def test_the_command_repeats_all_that_was_said(table):
    kinds = {"years": "numeric"}
    given = {"decisions": ["said"], "person": "who", "weight": "w", "sensitive_kinds": kinds}
    audit = asked(table, "years", above=30.5, **given)
    words = shlex.split(audit_again(audit))
    said = "--above 30.5 --score risk --decision said --person who --weight w --model boosting"
    for option, value in zip(*[iter(said.split())] * 2, strict=True):
        assert words[words.index(option) + 1] == value
    for more in (["--numeric", "years"], ["--max-gap", "5"], ["--target", "years"]):
        assert words[words.index(more[0]) + 1] == more[1]
    assert "--pos-label" not in words


def test_a_call_repeats_all_that_was_said(table):
    call = audit_again(asked(table, source="", person="who", weight="w"))
    compile(call, "call", "exec")
    for said in (
        "scores=['risk']",
        "max_gap=0.05",
        "person='who'",
        "weight='w'",
        "model='boosting'",
    ):
        assert f"    {said},\n" in call
    assert "pos_label='yes'" in call
    assert "above" not in call
    assert "decisions" not in call


def test_a_score_that_stands_alone_is_no_feature(table):
    audit = asked(table[["sex", "paid", "risk", "w"]], ignore=[], weight="w")
    assert [c.name for c in audit.data.columns if c.role == "feature"] == []


@pytest.mark.parametrize(
    ("key", "target", "given"),
    [
        ("fair_pca", "paid", {"person": "who", "weight": "w"}),
        ("fair_pca", "years", {"above": 30.5}),
        ("fair_pls", "paid", {"person": "who"}),
        ("fair_pls", "height", {}),
        ("fair_pls", "years", {"sensitive_kinds": {"years": "numeric"}}),
        ("leace", "years", {"sensitive_kinds": {"years": "numeric"}}),
        ("fair_pls", "town", {}),
        ("fair_pls", "years", {"above": 30.5}),
    ],
)
def test_what_was_no_feature_of_the_audit_is_none_of_the_model(
    key, target, given, table, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    table.to_csv("table.csv", index=False)
    audit = asked(table, target, **given)
    no_features = {"sex", "risk", "n0", target, *(given.get(o) for o in ("person", "weight"))}
    names = {"new_rows": table[[c for c in table if c not in no_features]]}
    exec(python_recipe(audit, Setting(key, n_components=2)), names)
    assert names["representation"].shape[0] == 300
    features = set(names["model"].encoder_.feature_names_in_)
    assert features == set(table.columns) - no_features
    command = shell_recipe(audit, Setting(key, n_components=2))
    if key == "fair_pls" and "above" in given:
        assert command == ""
        return
    Path("model.fairpca").unlink()
    result = invoke(shlex.split(command)[1:])
    assert result.exit_code == 0, result.output
    again = FairTableTransformer.load("model.fairpca").transform(names["new_rows"])
    assert (again == names["representation"]).all()
