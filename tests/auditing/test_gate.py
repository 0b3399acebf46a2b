"""Gates: within a limit, above it, or too few people to say; the same by every door."""

import json
import runpy
from itertools import product
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest

from auditing.page.made_up_audit import made_up_audit
from fairpca import Audit, assert_gate, audit, gate
from fairpca.auditing._gate import _surely
from fairpca.auditing._policy import METRICS, UNDECIDED, Policy, policy_of
from fairpca.auditing._results import Estimate
from fairpca.errors import AuditError, ExitStatus, FairPCAError
from fairpca.metrics import (
    precision_difference,
    selection_rate_difference,
    selection_rate_ratio,
    true_positive_rate_difference,
)

MADE = runpy.run_path(str(Path(__file__).parents[2] / "examples/behind_the_docs/gate.py"))
"""What measures the numbers of docs/howto/ci.md."""

people, POPULATIONS = MADE["people"], MADE["POPULATIONS"]


def test_the_numbers_are_those_of_the_metrics_and_of_the_audit():
    frame = people(3000, [0.5, 0.4, 0.45], [0.6, 0.25, 0.15])
    found = gate(
        frame,
        ["race", "sex"],
        "repaid",
        pos_label=1,
        decisions="approved",
        metrics=["selection_rate", "true_positive_rate", "precision"],
        max_gap=0.05,
        min_ratio=0.8,
    )
    metrics = (
        selection_rate_difference,
        true_positive_rate_difference,
        precision_difference,
        selection_rate_ratio,
    )
    expected = [
        metric(frame["repaid"], frame["approved"], sensitive_features=frame[name])
        for name, metric in product(("race", "sex"), metrics)
    ]
    np.testing.assert_allclose([one.value for one in found.checks], expected, atol=1e-12)
    measured = audit(frame, ["race", "sex"], "repaid", pos_label=1, decisions="approved", n_jobs=1)
    asked = {"max_gap": 0.05, "min_ratio": 0.8}
    asked["metrics"] = ["selection_rate", "true_positive_rate", "precision"]
    assert gate(measured, **asked) == found
    assert gate(Audit.from_json(measured.to_json()), **asked) == found


@pytest.mark.parametrize(
    ("rates", "verdict"),
    [([0.40, 0.41], "within"), ([0.40, 0.60], "exceeded"), ([0.40, 0.46], "undecided")],
)
def test_the_whole_interval_decides(rates, verdict):
    found = gate(people(4000, rates, [0.5, 0.5]), "race", decisions="approved", max_gap=0.05)
    (check,) = found.checks
    assert found.verdict == check.verdict == verdict
    assert found.status == {"within": 0, "exceeded": 1, "undecided": 3}[verdict]
    assert {"within": check.high <= 0.05, "exceeded": check.low > 0.05}.get(
        verdict, check.low <= 0.05 < check.high
    )


@pytest.mark.slow
@pytest.mark.parametrize("n", MADE["SIZES"])
@pytest.mark.parametrize("name", POPULATIONS)
def test_wrong_verdicts_are_rare(name, n):
    """At most 5 % are allowed, and 2.5 % expected at a limit: four errors of 400 drawn samples."""
    shares = MADE["wrong_of_a_population"](name, n)
    assert max(shares) <= 0.05
    assert shares == json.loads(MADE["NUMBERS"].read_text(encoding="utf-8"))["wrong"][name][str(n)]


@pytest.mark.parametrize("name", POPULATIONS)
def test_wrong_verdicts_are_rare_in_some_samples(name):
    """Of 60 samples 0.025 * 60 = 1.5 are wrong on average, and 7 in one of 1,500 runs."""
    shares, populations = POPULATIONS[name]
    for seed in (1, 2):
        assert MADE["wrong_verdicts"](shares, populations[seed], 1_000, 60, seed) <= 6 / 60


@pytest.mark.parametrize(
    ("rates", "sizes"), [((0.001, 0.001), (1500, 1500)), ((0.01, 0.008), (1000, 300))]
)
def test_ratios_of_rare_outcomes_are_rarely_called_exceeded(rates, sizes):
    """The normal interval of a logarithm was wrong in 8.4 and 6.3 % of samples."""
    rng, wrong = np.random.default_rng(0), 0
    race = np.repeat(["a", "b"], sizes)
    for _ in range(300):
        approved = (rng.random(sum(sizes)) < np.repeat(rates, sizes)).astype(int)
        frame = pd.DataFrame({"race": race, "approved": approved})
        found = gate(frame, "race", decisions="approved", min_ratio=0.79)
        wrong += found.verdict == "exceeded"
    assert wrong <= 300 * 0.025


def test_a_ratio_is_exceeded_where_it_is_clear():
    approved = np.concatenate([np.arange(3000) < 60, np.arange(3000) < 15]).astype(int)
    frame = pd.DataFrame({"race": np.repeat(["a", "b"], 3000), "approved": approved})
    found = gate(frame, "race", decisions="approved", min_ratio=0.8)
    assert found.verdict == "exceeded"
    assert found.checks[0].value == 0.25


@given(st.integers(20, 400), st.integers(20, 400), st.data())
def test_the_upper_end_is_never_below_that_of_newcombe(n, m, data):
    """His method 10, from SciPy's intervals of Wilson: few of a rare outcome say little."""
    x, y = data.draw(st.integers(0, n)), data.draw(st.integers(0, m))
    approved = np.concatenate([np.arange(n) < x, np.arange(m) < y]).astype(int)
    frame = pd.DataFrame({"race": np.repeat(["a", "b"], [n, m]), "approved": approved})
    if n + m < 100:  # too few for any number
        return
    (found,) = gate(frame, "race", decisions="approved", max_gap=0.05).checks
    (p, p_low, p_high), (q, q_low, q_high) = (
        (k / of, *binomtest(k, of).proportion_ci(method="wilson")) for k, of in ((x, n), (y, m))
    )
    newcombe = max(p - q + np.hypot(p_high - p, q - q_low), q - p + np.hypot(q_high - q, p - p_low))
    assert found.value == pytest.approx(abs(p - q))
    assert found.high >= newcombe - 1e-6
    assert found.low <= found.value <= found.high <= 1.0
    if min(x, n - x, y, m - y) >= 100:  # where nothing is rare, it is the interval of the audit
        error = np.sqrt(p * (1 - p) / n + q * (1 - q) / m)
        assert found.high == pytest.approx(abs(p - q) + 1.96 * error, abs=0.01)


@given(
    st.floats(0.0, 0.5),
    st.floats(0.0, 0.3),
    st.integers(2, 12),
    st.integers(1, 40),
    st.booleans(),
)
def test_a_family_of_numbers_widens_the_end_that_faces_the_limit(value, below, m, family, ratio):
    low, high = max(0.0, value - below), min(1.0, value + below)
    estimate = Estimate(value, low, high)
    surely = _surely(estimate, m, 0.95, family, ratio=ratio)
    assert surely.value == value
    assert surely.low <= low
    assert surely.high >= high
    if ratio:
        assert surely.low == low
    else:
        assert surely.high == high
    if family <= 2:
        assert surely == estimate


def test_of_many_numbers_one_has_to_exceed_more_clearly():
    rng, half = np.random.default_rng(1), np.arange(10_000)
    approved = np.concatenate([half < 4_645, half < 4_000]).astype(int)  # 6.45 points apart
    frame = pd.DataFrame({"race": np.repeat(["a", "b"], 10_000), "approved": approved})
    alone = gate(frame, "race", decisions="approved", max_gap=0.05)
    assert alone.verdict == "exceeded"
    for i in range(30):
        frame[f"other{i}"] = rng.choice(["x", "y"], size=len(frame))
    names = ["race", *(f"other{i}" for i in range(30))]
    together = gate(frame, names, decisions="approved", max_gap=0.05)
    assert together.checks[0].low <= 0.05 < alone.checks[0].low
    assert together.checks[0].value == pytest.approx(0.0645)
    assert together.checks[0].verdict == together.verdict == "undecided"


# Nights that differ


def test_few_people_are_undecided_and_no_error():
    few = people(60, [0.5, 0.4], [0.5, 0.5])
    found = gate(few, "race", decisions="approved", max_gap=0.05)
    assert found.verdict == "undecided"
    assert "60 rows" in str(found)
    assert found.checks[0].value is None


def test_an_attribute_of_few_people_does_not_hide_another():
    frame = people(2000, [0.6, 0.4], [0.5, 0.5])
    frame["sex"] = np.where(np.arange(2000) < 5, "f", "m")
    found = gate(frame, ["sex", "race"], decisions="approved", max_gap=0.05)
    assert [(one.attribute, one.verdict) for one in found.checks] == [
        ("sex", "undecided"),
        ("race", "exceeded"),
    ]
    assert found.verdict == "exceeded"
    assert "fewer than two groups" in found.checks[0].note


@pytest.mark.parametrize("decision", [1, 0, True, False, "yes", "no"])
def test_the_same_decision_for_all_has_no_gap(decision):
    frame = people(2000, [0.5, 0.5], [0.5, 0.5]).assign(approved=decision)
    found = gate(frame, "race", decisions="approved", max_gap=0.05)
    assert (found.verdict, found.checks[0].value) == ("within", 0.0)
    rate = float(decision in (1, "yes"))
    assert [share for _, share in found.checks[0].groups] == [rate, rate]


def test_a_threshold_that_selects_nobody_is_told():
    frame = people(2000, [0.5, 0.5], [0.5, 0.5])
    frame["risk"] = np.random.default_rng(6).random(2000)
    for threshold, said in ((70, "Nobody is selected."), (-1, "Everybody is selected.")):
        found = gate(frame, "race", scores="risk", threshold=threshold, max_gap=0.05)
        assert found.verdict == "within"
        assert said in str(found)
        assert said in found.to_junit()
    assert "body" not in str(gate(frame, "race", scores="risk", threshold=0.5, max_gap=0.05))


def test_groups_that_are_not_compared_are_named():
    frame = people(3000, [0.5, 0.5, 0.1], [0.49, 0.49, 0.02])
    found = gate(frame, "race", decisions="approved", max_gap=0.2)
    n = int((frame["race"] == "c").sum())
    assert found.verdict == "within"
    assert f"Not compared, too few people: c ({n})." in str(found)


def test_unknown_groups_are_bounded_in_a_note():
    frame = people(3000, [0.5, 0.5], [0.5, 0.5])
    frame.loc[frame.index % 4 == 0, "race"] = None
    found = gate(frame, "race", decisions="approved", max_gap=0.08)
    assert found.verdict == "within"
    assert "The group of 750 people is unknown: whoever they are" in str(found)


def test_joint_groups_are_judged_if_asked_for():
    frame = people(6000, [0.5, 0.5], [0.5, 0.5])
    rng = np.random.default_rng(2)
    alike = (frame["race"] == "a") == (frame["sex"] == "f")
    frame["approved"] = (rng.random(6000) < np.where(alike, 0.6, 0.4)).astype(int)
    asked = {"sensitive": ["race", "sex"], "decisions": "approved", "max_gap": 0.06}
    assert gate(frame, **asked).verdict == "within"
    found = gate(frame, **asked, joint=True)
    assert found.verdict == "exceeded"
    assert found.worst.attribute == "race × sex"


def test_scores_select_as_in_audits_or_above_a_threshold():
    frame = people(3000, [0.5, 0.4], [0.5, 0.5])
    frame["risk"] = np.random.default_rng(3).random(3000) + 0.2 * (frame["race"] == "a")
    above = gate(frame, "race", scores="risk", threshold=0.7, max_gap=0.05)
    decided = frame.assign(risk=(frame["risk"] >= 0.7).astype(int))
    assert above.checks == gate(decided, "race", decisions="risk", max_gap=0.05).checks
    half = gate(frame, "race", scores="risk", max_gap=0.05)
    audited = audit(frame[["race", "risk"]], "race", scores="risk", n_jobs=1)
    assert half.checks == gate(audited, max_gap=0.05).checks


def test_predictions_of_a_number_are_compared_in_its_deviations():
    frame = people(3000, [0.5, 0.4], [0.5, 0.5])
    rng = np.random.default_rng(4)
    frame["wage"] = 10 + 4 * rng.normal(size=3000)
    frame["predicted"] = 10 + 2 * (frame["race"] == "a") + 0.1 * rng.normal(size=3000)
    found = gate(frame, "race", "wage", scores="predicted", max_gap=0.3)
    apart = frame.groupby("race")["predicted"].mean()
    deviation = frame["wage"].std(ddof=0)
    assert found.checks[0].value == pytest.approx((apart["a"] - apart["b"]) / deviation)
    assert "standard deviations" in str(found)


def test_weights_and_persons_count_as_in_audits():
    frame = people(3000, [0.5, 0.4], [0.5, 0.5])
    frame["w"] = np.random.default_rng(5).integers(1, 4, size=3000)
    frame["who"] = np.arange(3000) // 2
    for asked in ({"weight": "w"}, {"person": "who"}):
        found = gate(frame, "race", decisions="approved", max_gap=0.05, **asked)
        frame_of = frame[["race", "approved", next(iter(asked.values()))]]
        audited = audit(frame_of, "race", decisions="approved", n_jobs=1, **asked)
        assert found.checks == gate(audited, max_gap=0.05, **asked).checks
    assert found.n_people == 1500


# Audits


def test_an_audit_without_own_decisions_is_judged_by_models_on_all_columns():
    made = Audit.from_json(json.dumps(made_up_audit()))
    found = gate(made, max_gap=0.05)
    raw = next(one for one in made.advice.options if one.representation == "raw")
    assert max(one.value for one in found.checks) == pytest.approx(raw.gap.value)
    assert {one.model for one in found.checks} == {"models trained on all columns"}
    chosen = gate(made, max_gap=0.05, recommended=True)
    assert max(one.value for one in chosen.checks) == pytest.approx(made.advice.option.gap.value)


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({"sensitive": "salary"}, "not about 'salary'"),
        ({"confidence": 0.8}, "confidence=0.8 is asked for, but the audit .* has 0.9"),
        ({"target": "other"}, "target='other' is asked for, but the audit of .* has"),
        ({"decisions": "granted"}, "asked for the decisions or scores 'granted', but it has none"),
        ({"scores": "risk", "threshold": 0.5}, "threshold is about the scores of a table"),
    ],
)
def test_what_an_audit_does_not_have_is_an_error(asked, message):
    made = Audit.from_json(json.dumps(made_up_audit()))
    with pytest.raises(AuditError, match=message):
        gate(made, max_gap=0.05, **asked)


# Policies


def test_a_policy_is_the_same_in_toml_and_in_python(tmp_path):
    file = tmp_path / "fairness.toml"
    file.write_text(
        """
        sensitive = ["race", "sex"]
        target = "repaid"
        pos-label = 1
        decision = "approved"
        metric = ["selection-rate", "precision"]
        max-gap = 5  # percentage points
        min-ratio = 0.8
        joint = true
        confidence = 0.9
        undecided = "fail"
        numeric = ["age"]
        categorical = ["code"]
        """,
        encoding="utf-8",
    )
    assert policy_of({}, file) == Policy(
        sensitive=("race", "sex"),
        target="repaid",
        pos_label=1,
        decisions=("approved",),
        metrics=("selection_rate", "precision"),
        max_gap=0.05,
        min_ratio=0.8,
        joint=True,
        confidence=0.9,
        undecided="fail",
        sensitive_kinds=(("age", "numeric"), ("code", "categorical")),
    )
    assert policy_of({"max_gap": 0.1, "sensitive": "sex"}, file).max_gap == 0.1
    project = tmp_path / "pyproject.toml"
    project.write_text("[tool.other]\nx = 1\n[tool.fairpca]\nmax-gap = 2.5\n", encoding="utf-8")
    assert policy_of({}, project) == Policy(max_gap=0.025)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("max-gap = 0.05", "max-gap in .* 0.05 means 0.05 percentage points.* 5"),
        ("max-gap = 'five'", "max-gap = 'five' in .* must be a number of percentage points"),
        ("max-gap = true", "max-gap = True in .* must be a number of percentage points"),
        ("max-gap = 120", "from 0 to below 100"),
        ("max-gab = 5", "'max-gab' in .* no key of a policy. Did you mean 'max-gap'"),
        ("sensitive = [1]\nmax-gap = 5", "sensitive = 1 in .* must be a text, or a list of texts"),
        ("metric = 'recall'\nmax-gap = 5", "metrics='recall' is none of"),
        ("undecided = 'warn'\nmax-gap = 5", "undecided='warn' is none of 'pass', 'fail'"),
        ("min-ratio = 1.5", "min_ratio=1.5 must be above 0 and at most 1"),
        ("confidence = 0.2\nmax-gap = 5", "confidence=0.2 must be from 0.5"),
        ("sensitive = 'race'", "needs a limit"),
        ("max-gap =", "is no TOML"),
        (f"max-gap = {'9' * 5000}", "is no TOML"),
        (f"max-gap = {'9' * 400}", "must be a number of percentage points"),
        (f"min-ratio = {'9' * 400}", "must be a number"),
        (f"confidence = {'9' * 400}\nmax-gap = 5", "must be a number"),
        (f"threshold = {'9' * 400}\nmax-gap = 5\nscore = 's'", "must be a number"),
        ("max-gap = nan", "must be a number of percentage points"),
        ("threshold = inf\nmax-gap = 5\nscore = 's'", "must be a number"),
        ("max-gap = [5]", "must be a number of percentage points"),
        ("metric = []\nmax-gap = 5", "metrics is empty"),
        ("tool = 1", r"has no table \[tool.fairpca\]"),
        ("[tool]\nfairpca = 1", "must be a table"),
        ("[tool.other]\nx = 1", r"has no table \[tool.fairpca\]"),
    ],
)
def test_a_policy_that_cannot_be_meant_is_one_clear_error(tmp_path, text, message):
    file = tmp_path / "fairness.toml"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(FairPCAError, match=message):
        policy_of({}, file)


def test_a_policy_may_begin_with_the_mark_of_an_editor(tmp_path):
    file = tmp_path / "fairness.toml"
    file.write_text("max-gap = 5", encoding="utf-8-sig")
    assert policy_of({}, file) == Policy(max_gap=0.05)


def test_what_is_named_twice_is_judged_once(tmp_path):
    file = tmp_path / "fairness.toml"
    twice = 'metric = ["precision", "selection-rate", "precision"]\nmax-gap = 5'
    file.write_text(twice, encoding="utf-8")
    assert policy_of({}, file).metrics == ("precision", "selection_rate")
    given = {"sensitive": ["race", "race"], "decisions": ["a", "b", "a"]}
    assert policy_of(given, file).sensitive == ("race",)
    assert policy_of(given, file).decisions == ("a", "b")


def test_a_limit_in_points_is_no_fraction():
    frame = people(300, [0.5, 0.5], [0.5, 0.5])
    with pytest.raises(AuditError, match=r"max_gap=5 must be a fraction.*max_gap=0.05"):
        gate(frame, "race", decisions="approved", max_gap=5)
    for wrong in (float("nan"), -0.1, 200):
        with pytest.raises(AuditError, match="max_gap"):
            gate(frame, "race", decisions="approved", max_gap=wrong)


@pytest.mark.parametrize(
    ("undecided", "verdict", "status"),
    [(None, "undecided", 3), ("pass", "within", 0), ("fail", "exceeded", 1)],
)
def test_the_policy_says_what_becomes_of_the_undecided(undecided, verdict, status):
    frame = people(4000, [0.40, 0.46], [0.5, 0.5])
    found = gate(frame, "race", decisions="approved", max_gap=0.05, undecided=undecided)
    assert (found.verdict, found.status) == (verdict, ExitStatus(status))
    assert str(found).startswith("Undecided")
    assert found.checks[0].verdict == "undecided"
    clear = people(4000, [0.3, 0.6], [0.5, 0.5])
    found = gate(clear, "race", decisions="approved", max_gap=0.05, undecided=undecided)
    assert found.verdict == "exceeded"


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({"decisions": "approved"}, "needs a limit"),
        ({"decisions": "approved", "max_gap": "5"}, "max_gap='5' must be a number"),
        ({"decisions": "approved", "max_gap": True}, "max_gap=True must be a number"),
        ({"decisions": "approved", "min_ratio": "x"}, "min_ratio='x' must be a number"),
        ({"decisions": "approved", "max_gap": 0.1, "confidence": "high"}, "must be a number"),
        ({"max_gap": 0.05}, "judges decisions or scores"),
        ({"decisions": "approvd", "max_gap": 0.05}, "Did you mean 'approved'"),
        ({"decisions": "approved", "max_gap": 0.05, "metrics": "precision"}, "true outcome"),
        ({"decisions": "approved", "max_gap": 0.05, "recommended": True}, "about an audit"),
        ({"decisions": "approved", "max_gap": 0.05, "threshold": 0.5}, "no score is named"),
        (
            {"decisions": "approved", "min_ratio": 0.8, "metrics": "precision"},
            "min_ratio is about selection rates",
        ),
        (
            {
                "decisions": "approved",
                "min_ratio": 0.8,
                "target": "repaid",
                "metrics": ["precision", "selection_rate"],
            },
            "'precision' has no limit",
        ),
    ],
)
def test_what_cannot_be_judged_is_one_clear_error(asked, message):
    with pytest.raises(FairPCAError, match=message):
        gate(people(300, [0.5, 0.5], [0.5, 0.5]), "race", **asked)


# What is shown


def test_the_assertion_says_what_the_gate_says():
    frame = people(4000, [0.4, 0.6], [0.5, 0.5])
    asked = {"decisions": "approved", "max_gap": 0.05}
    with pytest.raises(AssertionError) as raised:
        assert_gate(frame, "race", **asked)
    assert str(raised.value) == str(gate(frame, "race", **asked))
    assert assert_gate(frame, "race", decisions="approved", max_gap=0.5).verdict == "within"


@pytest.mark.parametrize("undecided", [None, *UNDECIDED])
def test_junit_counts_what_it_has(undecided):
    frame = people(4000, [0.40, 0.46], [0.5, 0.5])
    frame["x<y>"] = np.where(frame["race"] == "a", "&", "\x1b[31m|")
    found = gate(
        frame,
        ["race", "x<y>", "sex"],
        decisions="approved",
        max_gap=0.05,
        min_ratio=0.5,
        undecided=undecided,
    )
    suite = ElementTree.fromstring(found.to_junit().encode())
    cases = list(suite)
    assert len(cases) == int(suite.get("tests")) == len(found.checks) == 6
    kinds = [case[0].tag for case in cases]
    assert kinds.count("failure") == int(suite.get("failures"))
    assert kinds.count("skipped") == int(suite.get("skipped"))
    left = {None: "skipped", "pass": "system-out", "fail": "failure"}[undecided]
    expected = {"within": "system-out", "exceeded": "failure", "undecided": left}
    assert kinds == [expected[one.verdict] for one in found.checks]
    assert (int(suite.get("failures")) > 0) == (found.status == 1)


def test_markdown_takes_names_as_data():
    frame = people(4000, [0.4, 0.6], [0.5, 0.5]).rename(columns={"race": "a|<b>*c*"})
    text = gate(frame, "a|<b>*c*", decisions="approved", max_gap=0.05).to_markdown()
    assert r"a\|\<b\>\*c\*" in text
    rows = [line for line in text.splitlines() if line.startswith("|")]
    assert {line.replace(r"\|", "").count("|") for line in rows} == {5}


def test_plain_values_are_json():
    found = gate(people(300, [0.5, 0.5], [0.5, 0.5]), "race", decisions="approved", max_gap=0.05)
    assert json.loads(json.dumps(found.to_dict()))["status"] == 3
    assert set(METRICS) >= {one.metric for one in found.checks}


def test_numbers_among_decisions_are_named_as_scores():
    frame = people(300, [0.5, 0.5], [0.5, 0.5])
    frame["risk"] = np.random.default_rng(7).random(300)
    with pytest.raises(AuditError, match=r"'risk' has 300 distinct value.*a score \(--score\)"):
        gate(frame, "race", decisions="risk", max_gap=0.05)


def test_bounds_of_probabilities_are_told_as_in_audits():
    frame = people(2000, [0.5, 0.5], [0.5, 0.5])
    p = np.clip(np.random.default_rng(8).normal(0.5, 0.2, size=2000), 0, 1)
    frame = frame[["approved"]].assign(p_a=p, p_b=1 - p)
    asked = {"decisions": "approved", "quick": True, "n_jobs": 1}
    found = audit(frame, probabilities={"race": ["p_a", "p_b"]}, **asked)
    said = str(gate(found, max_gap=0.3))
    assert "If probabilities are calibrated, the gap is 0.0 to" in said
    assert "0 people" not in said
