"""The simplest audit: what was decided, and about whom; outcomes and scores if there are any."""

import json

import numpy as np
import pandas as pd
import pytest

from cli.commands import invoke
from fairpca import Audit, audit
from fairpca.auditing._recipes import audit_again
from fairpca.errors import AuditError, TableError


@pytest.fixture(scope="module")
def decided():
    rng = np.random.default_rng(0)
    n = 1200
    g = rng.choice(["f", "m"], n, p=[0.4, 0.6])
    risk = rng.normal(size=n) + 0.5 * (g == "m")
    repaid = risk + rng.normal(size=n) > 0.5
    return pd.DataFrame(
        {
            "g": g,
            "granted": np.where(risk > 0.3, "yes", "no"),
            "risk": risk,
            "repaid": np.where(repaid, "yes", "no"),
        }
    )


def rates(table, column="granted", among=None):
    yes = (table[column] == "yes") if among is None else (table.loc[among, column] == "yes")
    return yes.groupby(table["g"] if among is None else table.loc[among, "g"]).mean()


def test_decisions_and_groups_alone_are_audited_on_the_command_line(decided, tmp_path, monkeypatch):
    """Seen: an IndexError."""
    monkeypatch.chdir(tmp_path)
    decided[["g", "granted"]].to_csv("d.csv", index=False)
    result = invoke(["audit", "d.csv", "-s", "g", "--decision", "granted", "--json", "d.json"])
    assert result.exit_code == 0, result.output
    found = json.loads((tmp_path / "d.json").read_text(encoding="utf-8"))
    (option,) = found["advice"]["options"]
    true = rates(decided)
    assert found["advice"]["verdict"] == "only measured"
    assert option["gap"]["value"] == pytest.approx(true["m"] - true["f"])
    assert option["ratio"]["value"] == pytest.approx(true["f"] / true["m"])
    (parity,) = found["downstream"][0]["parities"]
    by_label = {group["label"]: group["selection_rate"]["value"] for group in parity["groups"]}
    assert by_label == pytest.approx(dict(true))
    said = " ".join(result.output.split())
    for group, rate in true.items():
        assert f"{group} ({(decided['g'] == group).sum()}) {100 * rate:.0f}" in said
    assert f"Largest gap by g {100 * (true['m'] - true['f']):.0f} (" in said
    assert "Limit of 5 points not met" in said


def test_outcomes_give_the_errors_of_each_group(decided):
    found = audit(decided.drop(columns="risk"), "g", "repaid", decisions="granted", n_jobs=1)
    assert [one.kind for one in found.representations] == ["decision"]
    (parity,) = found.downstream[0].parities
    positive = decided["repaid"] == "yes"
    for name, among, column in (
        ("true_positive_rate", positive, "granted"),
        ("false_positive_rate", ~positive, "granted"),
        ("precision", decided["granted"] == "yes", "repaid"),
    ):
        true = rates(decided, column, among)
        for group in parity.groups:
            assert getattr(group, name).value == pytest.approx(true[group.label])
    assert parity.true_positive_gap.value == pytest.approx(
        np.ptp(rates(decided, "granted", positive))
    )


def test_a_score_beside_them_is_no_feature_and_nothing_is_made_of_it(decided):
    """Seen: fair PLS of the score was recommended."""
    table = decided[["g", "granted", "risk"]]
    found = audit(table, "g", decisions="granted", scores="risk", n_jobs=1)
    assert {one.key for one in found.representations} == {"decision:granted", "score:risk"}
    assert found.data.n_features == found.data.n_encoded == 0
    assert {c.role for c in found.data.columns} == {"sensitive", "decision", "score"}
    assert (found.advice.representation, found.advice.code, found.advice.command) == (None, "", "")
    assert "its higher half counts as selected" in found.summary.sentences[0]
    assert "n_components" not in audit_again(found)
    again = Audit.from_json(found.to_json())
    assert again == found


def test_its_page_shows_what_groups_get_and_nothing_that_was_not_measured(decided):
    page = audit(decided[["g", "granted"]], "g", decisions="granted", n_jobs=1).to_html()
    assert "Rates by group" in page
    assert "Share selected by g" in page
    for absent in ("Cost by group", "all columns", "Recommended:", "No tested method helps"):
        assert absent not in page
    words = page[: page.index('id="audit-data"')]
    assert "n/a" not in words
    assert "None" not in words


@pytest.mark.parametrize(
    ("limit", "words"),
    [
        (0.01, "above the limit of 1 point"),
        (0.5, "within the limit of 50 points"),
        (0.19, "these data cannot settle whether that is within the limit of 19 points"),
    ],
)
def test_it_is_held_against_the_limit(decided, limit, words):
    found = audit(decided[["g", "granted"]], "g", decisions="granted", max_gap=limit, n_jobs=1)
    gap = found.advice.options[0].gap
    assert (gap.low > limit) == ("above" in words)
    assert (gap.high <= limit) == words.startswith("within")
    assert found.summary.headline.endswith(f"points: {words}.")


def test_people_weights_and_rare_joint_groups_go_with_it(decided):
    rng = np.random.default_rng(1)
    table = decided[["g", "granted"]].assign(
        race=np.where(np.arange(len(decided)) < 15, "x", rng.choice(["a", "b"], len(decided))),
        w=rng.uniform(0.5, 2, len(decided)),
        who=np.arange(len(decided)) // 2,
    )
    given = {"decisions": "granted", "weight": "w", "person": "who", "n_jobs": 1}
    found = audit(table, ["g", "race"], **given)
    option = found.advice.options[0]
    assert option.joint_groups.n_groups > option.joint_groups.n_compared
    assert any(f"{option.joint_groups.n_groups} groups compared" in r for r in found.advice.reasons)


def test_without_features_scores_or_decisions_there_is_nothing_to_audit(decided):
    with pytest.raises(TableError, match="No feature is left"):
        audit(decided[["g", "granted"]], "g", "granted", n_jobs=1)
    with pytest.raises(AuditError, match="there is no feature to make components from"):
        audit(decided[["g", "granted"]], "g", decisions="granted", n_components=2, n_jobs=1)
