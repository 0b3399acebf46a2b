"""What `fairpca audit` prints of an audit; its numbers are made up."""

import json
from dataclasses import replace
from io import StringIO
from pathlib import Path

import pytest
from rich.console import Console

from cli.commands import invoke
from cli.refusals import assert_refused
from fairpca import audit
from fairpca._cli.audit import _Aim, _Model, _print_audit
from fairpca.auditing._audit_result import Audit
from fairpca.auditing._results import (
    SCHEMA_VERSION,
    Advice,
    Alternative,
    Attribute,
    Data,
    Downstream,
    Estimate,
    Leak,
    Notice,
    Option,
    Parity,
    Representation,
    Setting,
    Settings,
    Summary,
    Target,
)
from fairpca.auditing._whole_audit import AIMS
from fairpca.errors import AuditError
from fairpca.metrics import PROBES


def near(value, by=0.02):
    return Estimate(value, value - by, value + by)


def representation(key, name, kind="method", **given):
    usual = {"guarantee": "", "n_columns": 4, "variance_kept": None, "fit_seconds": 0.1}
    return Representation(
        key, Setting(key), name, kind, **{**usual, "failure": None, "note": "", **given}
    )


def leak(key, attribute, auc, probe="linear"):
    return Leak(key, attribute, probe, near(auc), 0.55, auc > 0.55, 0.01, 0.01)


def parity(attribute, gap):
    return Parity(attribute, None, near(gap), near(0.81), None, None, None, None, None, [], 2, 2)


def option(key, name, gap, taken, **given):
    usual = {"n_columns": 4, "tradeoff": None, "gap_attribute": "race", "gap_model": "linear"}
    usual |= {"utility": near(0.764), "utility_model": "linear", "leak": near(0.583)}
    usual |= {"leak_attribute": "race", "leak_probe": "boosting", "leak_above_chance": True}
    usual |= {"ratio": near(0.913), "joint_gap": None, "joint_attribute": None, "reduction": None}
    usual |= {"gap_groups": None, "joint_groups": None}
    usual |= {"models": [], "eligible": True, "selection_frequency": taken}
    return Option(key, name, gap=gap, **{**usual, **given})


def settings(**given):
    usual = {"sensitive": ["race"], "target": "paid", "above": None, "aim": "decide"}
    usual |= {"max_gap": 0.05, "model": "any", "n_components": 4, "common_components": None}
    usual |= {"n_splits": 4, "n_decision_splits": 4, "n_probe_rows": 100, "confidence": 0.95}
    usual |= {"seed": 0, "quick": False, "sensitive_kinds": None, "scores": [], "decisions": []}
    return Settings(
        **{**usual, "person": None, "weight": None, "missing": [], "scale": "standard", **given}
    )


def made_up(**given):
    attributes = [Attribute("race", ["race"], "levels", [], 0, "")]
    attributes.append(Attribute("race × sex", ["race", "sex"], "intersection", [], 0, ""))
    target = Target("paid", "binary", "yes", 0.4, [], None, None)
    data = Data("t", "t.csv", "", 100, 0, 100, 3, 5, [], [], attributes, target)
    usual = {
        "settings": settings(),
        "data": data,
        "notices": [Notice("person", "warning", "nr", "race", 0.5, "'nr' seems to tell whose.")],
        "summary": Summary("The headline.", ["The headline.", "A finding."]),
        "advice": Advice(
            "decide",
            "recommended",
            "leace",
            None,
            [],
            [
                option("raw", "Raw features", near(0.224, 0.031), 0.0),
                option("leace", "LEACE", near(0.052, 0.06), 0.87),
            ],
            ["Take LEACE."],
            "",
            "",
            ["Trees see more."],
        ),
        "representations": [
            representation("raw", "Raw features", "features"),
            representation("leace", "LEACE", note="4 of 5 directions."),
            representation("fair_pca", "Fair PCA", n_columns=None, failure="No direction is left."),
        ],
        "leakage": [leak("raw", "race", 0.81), leak("leace", "race", 0.51)],
        "downstream": [Downstream("raw", "linear", near(0.8), None, None, [parity("race", 0.2)])],
    }
    usual |= {
        key: [] for key in ("curves", "certificates", "proxy_importance", "decision_importance")
    }
    return Audit(SCHEMA_VERSION, "0", "2026", 1.0, {}, **{**usual, **given})


def printed(audit, *, verbose=True):
    console = Console(file=StringIO(), width=160)
    _print_audit(console, audit, verbose=verbose)
    return console.file.getvalue()


def rows(text, name):
    """Return the words of the lines that begin with a name, one list a line."""
    found = (line for line in text.splitlines() if line.startswith(name))
    return [line.removeprefix(name).split() for line in found]


def test_options_are_listed_with_gap_ratio_utility_leakage_and_how_often_they_are_selected():
    text = printed(made_up())
    assert "gaps in percentage points" in text
    raw, _ = rows(text, "Raw features ")
    assert raw == ["4", "22.4", "(19.3", "to", "25.5)", "0.91", "0.76", "0.58", "0", "%"]
    advised, _ = rows(text, "LEACE ")
    assert advised == ["4", "5.2", "(-0.8", "to", "11.2)", "0.91", "0.76", "0.58", "87", "%"]
    assert "The headline." not in printed(made_up(), verbose=False)
    for line in ("• A finding.", "! 'nr' seems to tell whose.", "→ Take LEACE.", "Trees see more."):
        assert line in text


def test_what_could_not_be_fitted_has_its_reason_and_no_dashes():
    text = printed(made_up())
    assert "! Fair PCA could not be fitted: No direction is left." in text
    assert "! LEACE: 4 of 5 directions." in text
    assert "Fair PCA: could not be fitted, for the reason above" in text
    assert "–" not in text
    assert "AUC for predicting race on held-out data" in text
    assert "AUC for predicting race × sex" not in text  # of which no probe was asked


def test_a_number_has_gaps_in_deviations_and_r2():
    audit = made_up()
    target = Target("wage", "number", None, None, [], 3.0, 1.2)
    text = printed(replace(audit, data=replace(audit.data, target=target)))
    assert "gaps in standard deviations" in text
    assert "R2" in text
    assert rows(text, "Raw features ")[0][1:6] == ["0.22", "(0.19", "to", "0.26)", "0.76"]
    assert "ratio" not in text


def test_without_a_target_there_are_no_gaps():
    audit = made_up()
    advice = replace(audit.advice, options=[replace(audit.advice.options[0], gap=None, ratio=None)])
    data = replace(audit.data, target=None)
    text = printed(replace(audit, data=data, advice=advice, downstream=[]))
    assert "gap" not in text
    assert "variance kept" in text
    assert rows(text, "Raw features ")[0] == ["4", "0.76", "0.58", "0", "%"]


def test_an_existing_model_is_not_an_option_to_select():
    audit = made_up()
    own = representation("score:risk", "Score 'risk'", "score", n_columns=1)
    listed = option("score:risk", "Score 'risk'", near(0.31), 0.0, n_columns=1)
    text = printed(
        replace(
            audit,
            representations=[*audit.representations, own],
            advice=replace(audit.advice, options=[*audit.advice.options, listed]),
            leakage=[*audit.leakage, leak("score:risk", "race", 0.66)],
        )
    )
    first, second = rows(text, "Score 'risk' ")
    assert first == ["1", "31.0", "(29.0", "to", "33.0)", "0.91", "0.76", "0.58"]
    assert second == ["1", "0.66", "±0.02"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--max-gap", "101"), "--max-gap 101 has to be from 0 to below 100 percentage points"),
        (("--max-gap", "0.05"), "As a fraction it is 5 points: pass --max-gap 5."),
        (("--confidence", "95"), "confidence=95.0 must be from 0.5 to below 1; 0.95 is usual."),
        (("--model", "forest"), "'linear', 'boosting', 'kernel'"),
        (("--aim", "win"), "'hide', 'decide', 'keep'"),
        (("--above", "much"), "Invalid value for '--above'"),
        (("--numeric", "s", "--categorical", "s"), "'s' cannot be --numeric and --categorical"),
    ],
)
def test_options_that_cannot_be_are_rejected(arguments, message, command):
    Path("t.csv").write_text("a,s\n1,f\n2,m\n", encoding="utf-8")
    result = command("audit", "t.csv", "-s", "s", *arguments)
    assert result.exit_code == 2
    assert message in " ".join(result.output.split())
    assert not Path("report.html").exists()


def test_a_recommendation_can_be_asked_for_every_aim_and_probe_and_for_any():
    assert [*_Aim] == list(AIMS)
    assert [*_Model] == [*PROBES, "any"]
    assert all(f'"{name}"' in audit.__doc__ for name in _Model)


def test_an_error_starts_no_processes(monkeypatch, command):
    """Else they complain, on the same terminal, that nobody is there."""
    started = []
    monkeypatch.setattr("fairpca.auditing._whole_audit.each_in_processes", started.append)
    Path("t.csv").write_text("a,s\n1,f\n2,m\n", encoding="utf-8")
    assert_refused(command("audit", "t.csv", "-s", "colour", "--jobs", "2"), "no column 'colour'")
    assert started == []


def test_every_option_of_the_call_is_one_of_the_command(monkeypatch, command):
    """What is said on the command line arrives as it was said."""
    Path("t.csv").write_text("a,s\n1,f\n2,m\n", encoding="utf-8")
    asked = {}

    def remember(table, sensitive, target, **given):
        asked.update(given, sensitive=sensitive, target=target)
        raise AuditError("enough")

    monkeypatch.setattr("fairpca.auditing.audit", remember)
    words = "--sensitive s --target y --above 2.5 --score p --score q --decision d --person who"
    words += " --weight w --model boosting --confidence 0.9 --max-gap 5 --aim hide"
    words += " --numeric y --categorical s"
    result = command("audit", "t.csv", *words.split())
    assert "enough" in result.output
    expected = {"above": 2.5, "scores": ["p", "q"], "decisions": ["d"], "person": "who"}
    expected |= {
        "weight": "w",
        "model": "boosting",
        "aim": "hide",
        "confidence": 0.9,
        "max_gap": 0.05,
    }
    expected |= {"sensitive_kinds": {"y": "numeric", "s": "categorical"}}
    assert {name: asked[name] for name in expected} == expected


def test_the_json_of_an_audit_on_a_terminal_is_ascii(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)  # where the page is written

    class Found:
        advice = Advice("hide", "no action needed", None, None, [], [], [], "", "", [])
        changes = None

        def to_html(self):
            return ""

        def to_dict(self):
            return {"name": "\x9b31m \u202e ü"}

    monkeypatch.setattr("fairpca.auditing.audit", lambda *_, **__: Found())
    monkeypatch.setattr("fairpca.tables.read_table", lambda *_, **__: None)
    monkeypatch.setattr("fairpca._cli.audit._print_audit", lambda *_, **__: None)
    result = invoke(["audit", "x.csv", "--json", "-", "-q"])
    assert result.exit_code == 0, result.output
    assert result.stdout.isascii()
    assert json.loads(result.stdout) == {"name": "\x9b31m \u202e ü"}


def alternative(name, *, needs=False, failure=None):
    measured = failure is None
    numbers = {"gap": near(0.039), "ratio": near(0.97), "utility": near(0.78)} if measured else {}
    names = Alternative.__dataclass_fields__
    known = {"key": name, "name": name, "how": "", "needs_attribute": needs, "failure": failure}
    known |= {"randomised": False, "left_out": [], "models": []}
    return Alternative(**{**dict.fromkeys(names), **known, **numbers})


def test_alternatives_are_listed_with_whether_they_need_the_attribute():
    why = "A method of fairlearn needs what is not there."
    told = [alternative("Thresholds", needs=True), alternative("Dropped")]
    told += [alternative("First", failure=why), alternative("Second", failure=why)]
    text = printed(made_up(alternatives=told), verbose=False)
    assert "needs the attribute" in text
    assert rows(text, "  Thresholds ") == [["yes", "3.9", "(1.9", "to", "5.9)", "0.78"]]
    assert rows(text, "  Dropped ") == [["no", "3.9", "(1.9", "to", "5.9)", "0.78"]]
    assert f"! Not measured: First, Second. {why}" in text
    assert "needs the attribute" not in printed(made_up())
