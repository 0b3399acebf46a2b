"""Audits where nobody's group is known, only probabilities: against simulators who know them."""

import html
import re
import shlex
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import roc_auc_score

from assertions import assert_same_subspace, assert_uncorrelated
from cli.commands import invoke
from fairpca import Audit, FairPCA, FairTableTransformer, audit, fit_table
from fairpca.auditing import Overview
from fairpca.auditing._asking import ask
from fairpca.auditing._findings import Findings
from fairpca.auditing._judging import Round
from fairpca.auditing._measures import Measures
from fairpca.auditing._probabilities import Probable
from fairpca.auditing._question import prepare
from fairpca.auditing._recipes import python_recipe, shell_recipe
from fairpca.auditing._representations import TrainingRows, fit_method
from fairpca.auditing._results import EXISTING, Setting
from fairpca.auditing._splits import QUICK, ExistingModel, HeldOut, Split
from fairpca.errors import AuditError, FairPCAError, MissingGroupError
from fairpca.metrics import (
    distribution_gap,
    false_positive_rate_difference,
    mean_prediction_difference,
    precision_difference,
    proxy_difference,
    selection_rate_difference,
    selection_rate_ratio,
    true_positive_rate_difference,
)
from fairpca.models import Measured

COLUMNS = ["p_white", "p_black", "p_other"]
RACE = {"race": COLUMNS}


def people(n=900, seed=0, gap=0.2):
    """Probabilities of three groups, the group, which nobody knows, and decisions by the former."""
    rng = np.random.default_rng(seed)
    P = rng.dirichlet([1.0, 0.6, 0.4], size=n).round(3)
    P /= P.sum(axis=1, keepdims=True)
    table = pd.DataFrame(P, columns=COLUMNS)
    table["skill"] = rng.normal(size=n)
    table["town"] = rng.choice(["a", "b", "c"], size=n)
    for i in range(5):
        table[f"x{i}"] = rng.normal(size=n) + (2.0 - i) * P[:, i % 3]
    table["granted"] = np.where(rng.random(n) < 0.4 + gap * (P[:, 0] - P[:, 1]), "yes", "no")
    repaid = table["skill"] + table["x0"] + rng.normal(size=n) > 0.5
    table["repaid"] = np.where(repaid, "yes", "no")
    table["risk"] = 1 / (1 + np.exp(-table["skill"] - table["x0"] / 2))
    table["w"] = rng.integers(1, 4, size=n)
    drawn = (rng.random(n)[:, None] >= P.cumsum(axis=1)).sum(axis=1)
    return table, np.array(["white", "black", "other"])[np.minimum(drawn, 2)]


@pytest.fixture(scope="module")
def table():
    return people()[0]


@pytest.fixture(scope="module")
def found(audited, table):
    return audited(table, None, "repaid", decisions="granted", weight="w", probabilities=RACE)


def decided(table, **options):
    """Return an audit of decisions alone, which fits nothing."""
    return decided_of(table[[*COLUMNS, "granted"]], **options)


def decided_of(table, **options):
    given = {"decisions": "granted", "probabilities": RACE, "quick": True, "n_jobs": 1}
    return audit(table, **(given | options))


def parity_of(found, place=0):
    return found.downstream[-1].parities[place]


def text_of(found):
    """Return the words of the page, without the numbers that are embedded in it."""
    page = re.sub(r"<(script|style)\b.*?</\1>", " ", found.to_html(), flags=re.DOTALL)
    return " ".join(html.unescape(re.sub(r"<[^>]+>", " ", page)).split())


# Numbers


@pytest.mark.parametrize("hidden", [0.0, 0.1], ids=["all known", "some unknown"])
def test_probabilities_of_0_and_1_are_groups(hidden):
    """All that an audit of decisions and scores says, to rounding."""
    table, race = people()
    rng = np.random.default_rng(1)
    race = np.where(rng.random(len(race)) < hidden, None, race)
    sure = pd.DataFrame({f"p_{g}": (race == g) * 1.0 for g in ("white", "black", "other")})
    sure[race == None] = np.nan  # noqa: E711
    kept = table[["granted", "repaid", "risk", "w"]]
    asked = {"decisions": "granted", "scores": "risk", "weight": "w", "quick": True, "n_jobs": 1}
    known = audit(kept.assign(race=race), "race", "repaid", **asked)
    columns = {"race": {name.removeprefix("p_"): name for name in sure}}
    soft = audit(pd.concat([kept, sure], axis=1), None, "repaid", probabilities=columns, **asked)
    for one, other in zip(known.downstream, soft.downstream, strict=True):
        assert_alike(one, other)
    for one, other in zip(known.leakage, soft.leakage, strict=True):
        assert one == other
    for one, other in zip(known.data.attributes, soft.data.attributes, strict=True):
        assert one.groups == other.groups
        assert one.n_missing == other.n_missing


def assert_alike(one, other, path=""):
    """Two results of the same numbers, to rounding."""
    assert type(one) is type(other), path
    if isinstance(one, float):
        assert one == pytest.approx(other, abs=1e-12), path
    elif isinstance(one, list):
        for i, pair in enumerate(zip(one, other, strict=True)):
            assert_alike(*pair, f"{path}[{i}]")
    elif hasattr(one, "__dataclass_fields__"):
        for name in one.__dataclass_fields__:
            assert_alike(getattr(one, name), getattr(other, name), f"{path}.{name}")
    else:
        assert one == other, path


def test_rates_and_gaps_are_those_of_the_metrics(table):
    rows = table[[*COLUMNS, "granted", "repaid", "risk", "w"]]
    asked = {"decisions": "granted", "scores": "risk", "weight": "w", "probabilities": RACE}
    found = audit(rows, None, "repaid", quick=True, n_jobs=1, **asked)
    of = {"sensitive_features": table[COLUMNS], "sample_weight": table["w"]}
    y, d = table["repaid"] == "yes", table["granted"] == "yes"
    score, parity = found.downstream[0].parities[0], parity_of(found)
    for name, function in {
        "gap": selection_rate_difference,
        "ratio": selection_rate_ratio,
        "true_positive_gap": true_positive_rate_difference,
        "false_positive_gap": false_positive_rate_difference,
        "precision_gap": precision_difference,
    }.items():
        exact = function(y, d, **of)
        assert getattr(parity, name).value == pytest.approx(exact, abs=1e-12), name
    assert score.distribution_gap.value == pytest.approx(
        distribution_gap(None, table["risk"], **of), abs=1e-12
    )
    w = table["w"].to_numpy(dtype=float)[:, None] * table[COLUMNS].to_numpy()
    for group, own in zip(parity.groups, w.T, strict=True):
        assert group.n_rows == round(table[group.label].sum())
        assert group.selection_rate.value == pytest.approx(np.average(d, weights=own), abs=1e-12)
        assert group.mean_outcome.value == pytest.approx(np.average(y, weights=own))
    for group, own in zip(score.groups, w.T, strict=True):
        assert group.mean_score.value == pytest.approx(np.average(table["risk"], weights=own))
    others = w.sum(axis=1, keepdims=True) - w
    aucs = [
        roc_auc_score(
            np.repeat([1, 0], len(w)), np.tile(table["risk"], 2), sample_weight=np.r_[own, rest]
        )
        for own, rest in zip(w.T, others.T, strict=True)
    ]
    assert score.score_auc.value == pytest.approx(0.5 + np.mean(np.abs(np.array(aucs) - 0.5)))
    (attribute,) = found.data.attributes
    for group, own in zip(attribute.groups, w.T, strict=True):
        assert group.outcome == pytest.approx(np.average(y, weights=own))
        assert group.share == pytest.approx(own.sum() / w.sum())


def test_interval_and_bounds_are_those_of_proxy_difference(table):
    two = table.assign(p_other=table["p_other"] + table["p_black"])
    found = parity_of(decided(two, probabilities={"race": ["p_white", "p_other"]},
                              ignore=["p_black"]))  # fmt: skip
    alone = proxy_difference(
        None, two["granted"] == "yes", sensitive_features=two[["p_white", "p_other"]]
    )
    assert found.gap.value == pytest.approx(alone.difference, abs=1e-12)
    # A share of few people is softened here: a thousandth.
    assert (found.gap.low, found.gap.high) == pytest.approx(alone.interval, abs=1e-3)
    ends = (max(0.0, alone.bounds[0]), max(-alone.bounds[0], alone.bounds[1]))
    assert (found.bounds.smallest, found.bounds.largest) == pytest.approx(ends, abs=1e-12)
    assert found.bounds.n_probable == np.count_nonzero((two["p_white"] % 1) > 0)
    assert found.bounds.n_unknown == 0


def test_numbers_in_standard_deviations(table):
    rows = table[[*COLUMNS]].assign(
        wage=table["x0"] + 3, predicted=table["x0"] + 3 + table["skill"] / 4
    )
    found = audit(rows, None, "wage", scores="predicted", probabilities=RACE, quick=True, n_jobs=1)
    exact = mean_prediction_difference(None, rows["predicted"], sensitive_features=rows[COLUMNS])
    unit = found.data.target.deviation
    assert parity_of(found).gap.value == pytest.approx(exact / unit, abs=1e-12)
    assert "whatever predictions depend on." in " ".join(found.summary.sentences)


# Intervals and bounds, where the truth is known

DECIDED = {
    "by probabilities": lambda P, z: 0.3 + 0.4 * P[:, 0] + 0.2 * P[:, -1],
    "by the group": lambda P, z: np.where(z == 0, 0.7, 0.5),
    "against the group": lambda P, z: 0.3 + 0.4 * P[:, 0] - 0.2 * ((z == 0) - P[:, 0]),
    "as unequal as can be": lambda P, z: (z == 0) * 1.0,
}


def judged(P, decisions):
    """Return how decisions that exist compare between groups of these probabilities."""
    n, m = P.shape
    rows = TrainingRows(np.empty((0, 0)), {}, {}, 0, 0)
    codes = P.argmax(axis=1)
    held_out = HeldOut(
        *(0, rows, np.empty((n, 0)), [], [codes], [m], None),
        places=np.arange(n),
        people=np.arange(n),
        chances=[P],
    )
    labels = tuple("abc"[:m])
    attribute = Measured("race", labels, "probabilities", labels, codes, P[:, 1:], "")
    model = ExistingModel(Setting("decision", column="it"), decisions.astype(float))
    measures = [Measures(model.setting, i) for i in (0, 1)]
    found = Findings(measures, [], [], [attribute], 0.95, None, [model], [held_out])
    return found.parities[model.setting, EXISTING][0]


@pytest.mark.parametrize("m", [2, 3])
@pytest.mark.parametrize("way", DECIDED)
def test_intervals_hold_the_estimand_and_bounds_the_truth(way, m):
    """Where decisions depend on probabilities alone, intervals hold the truth as well."""
    rng, times = np.random.default_rng(11), 300

    def drawn(n):
        P = rng.dirichlet([0.5, 0.5, 0.3][:m], size=n)
        z = np.minimum((rng.random(n)[:, None] >= P.cumsum(axis=1)).sum(axis=1), m - 1)
        return P, z, rng.random(n) < DECIDED[way](P, z)

    P, z, d = drawn(1_000_000)
    soft = np.ptp(d @ P / P.sum(axis=0))
    true = np.ptp([d[z == g].mean() for g in range(m)])
    shares = d @ P / P.sum(axis=0)
    ratio, held, ratios, bounded, right = shares.min() / shares.max(), 0, 0, 0, 0
    for _ in range(times):
        P, _, d = drawn(700)
        found = judged(P, d)
        held += found.gap.low <= soft <= found.gap.high
        ratios += found.ratio.low <= ratio <= found.ratio.high
        right += found.gap.low <= true <= found.gap.high
        bounded += found.bounds.low <= true <= found.bounds.high
    assert min(held, ratios) >= 0.91 * times
    assert m > 2 or held <= 0.99 * times  # not wider than it has to be
    assert bounded >= 0.92 * times
    if way == "by probabilities":
        assert soft == pytest.approx(true, abs=0.005)
        assert right >= 0.91 * times
    else:
        assert abs(soft - true) > 0.03
        assert right < 0.91 * times


def test_errors_of_groups_that_have_people_in_common(table):
    """Resamples of people, and people drawn again, vary as errors and their covariances say."""
    rng, n = np.random.default_rng(3), 800
    P = rng.dirichlet([2.0, 1.0], size=n)
    y = rng.random(n) < 0.5
    scores = rng.normal(size=(n, 1)) + P[:, :1]
    rows = TrainingRows(np.empty((0, 0)), {}, {}, 0, 0, y, "y", "binary")
    halves = [
        HeldOut(
            *(i, rows, np.empty((n // 2, 0)), [], [P.argmax(axis=1)[of]], [2], y[of], 0.5),
            places=of,
            people=of,
            chances=[P[of]],
        )
        for i, of in enumerate((np.arange(n // 2), np.arange(n // 2, n)))
    ]
    one = Round(halves, replace(QUICK, judged_rows=10**9)).judged(scores)
    rates = one.groups[0]["selection_rate"].at(0, np.arange(2))
    apart = np.diff(rates.draws, axis=0).std()
    error = np.sqrt((rates.errors**2).sum() - 2 * rates.shared[0, 1])
    assert apart == pytest.approx(error, rel=0.15)  # of 200 resamples
    assert error < 0.9 * np.linalg.norm(rates.errors)
    # By half: what the first half has more than the second, drawn alike.
    swing = np.sqrt((rates.swing_errors**2).sum() - 2 * rates.swings_shared[0, 1])
    assert 0.5 * error < swing < 1.1 * error


def test_the_error_of_how_a_score_ranks_groups():
    """Of scores that say nothing, as they vary from one to the next."""
    rng, n = np.random.default_rng(8), 500
    P = rng.dirichlet([1.0, 0.8, 0.4], size=n)
    P[: n // 2, 0], P[: n // 2, 1:] = 0.0, P[: n // 2, 1:] / P[: n // 2, 1:].sum(axis=1)[:, None]
    rows = TrainingRows(np.empty((0, 0)), {}, {}, 0, 0)
    half = HeldOut(
        *(0, rows, np.empty((n, 0)), [], [P.argmax(axis=1)], [3], None),
        places=np.arange(n),
        people=np.arange(n),
        chances=[P],
        weights=rng.uniform(0.5, 2.0, size=n),
    )
    one = Round([half])
    found = [one.judged(rng.normal(size=(n, 1)), existing="score").ranked[0] for _ in range(400)]
    aucs, errors = (np.stack(part) for part in zip(*found, strict=True))
    assert errors.mean(axis=0) == pytest.approx(aucs.std(axis=0), rel=0.12)
    assert aucs.mean(axis=0) == pytest.approx(0.5, abs=0.01)


# Leakage and fits


def test_the_auc_of_drawn_groups_is_on_average_that_of_everybody_in_each(table):
    x, P = table["x0"].to_numpy(), table[COLUMNS].to_numpy()
    soft = roc_auc_score(
        np.repeat([1, 0], len(P)), np.tile(x, 2), sample_weight=np.r_[P[:, 0], 1 - P[:, 0]]
    )
    drawn = []
    for seed in range(60):
        (one,) = measured(table, seed)
        drawn.append(roc_auc_score(one.codes == one.labels.index("p_white"), x))
    assert np.mean(drawn) == pytest.approx(soft, abs=3 * np.std(drawn) / np.sqrt(len(drawn)))
    assert np.std(drawn) < 0.03


def measured(table, seed, people=None):
    declared = {name: {c: c for c in columns} for name, columns in RACE.items()}
    people = np.arange(len(table)) if people is None else people
    return Probable(declared, seed).measured(table, people)


def test_rows_of_a_person_are_drawn_together(table):
    twice = pd.concat([table, table], ignore_index=True)
    (one,) = measured(twice, 0, np.tile(np.arange(len(table)), 2))
    assert (one.codes[: len(table)] == one.codes[len(table) :]).all()
    assert len(set(one.codes)) == 3


def test_columns_of_probabilities_are_no_features_and_methods_are_fitted_to_them(table):
    """The fit of the audit, to all rows, is that of the code which it recommends."""
    kept = table.drop(columns=["granted", "risk", "w"])
    given = {"pos_label": None, "ignore": [], "n_components": None, "effort": QUICK, "seed": 0}
    question = ask(kept, None, "repaid", probabilities=RACE, **given)
    roles = {one.name: one.role for one in question.columns}
    assert {name for name, role in roles.items() if role == "probability"} == set(COLUMNS)
    everybody = np.arange(len(kept))
    rows = prepare(question, Split(0, everybody, everybody)).rows
    assert list(rows.sensitive) == ["p_black", "p_other"]
    mine = fit_method(Setting("fair_pca"), rows).estimator
    theirs = fit_table(
        kept.drop(columns="p_white"),
        ["p_black", "p_other"],
        "repaid",
        sensitive_kinds=dict.fromkeys(["p_black", "p_other"], "numeric"),
        n_components=mine.n_components_,
    )
    assert_same_subspace(mine.components_.T, theirs.estimator_.components_.T)
    Z = mine.transform(rows.X)
    for column in COLUMNS:
        assert_uncorrelated(Z, kept[column].to_numpy())


def test_rounded_probabilities_cost_as_many_directions_as_groups(table):
    """All columns of rounded ones, whose sum is not exactly 1, would cost one more."""
    kept = table[[*COLUMNS, *(f"x{i}" for i in range(5)), "skill", "repaid"]].round(3)
    given = {"pos_label": None, "ignore": [], "n_components": None, "effort": QUICK, "seed": 0}
    question = ask(kept, None, "repaid", probabilities=RACE, **given)
    everybody = np.arange(len(kept))
    rows = prepare(question, Split(0, everybody, everybody)).rows
    fair = FairPCA().fit(rows.X, sensitive_features=rows.sensitive)
    assert fair.n_components_ == rows.X.shape[1] - 2
    of_all = FairPCA().fit(rows.X, sensitive_features=kept[COLUMNS])
    assert of_all.n_components_ == rows.X.shape[1] - 3


def test_recommended_code_and_command_can_be_run(table, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    table = table.drop(columns=["risk"])
    table.to_csv("table.csv", index=False)
    found = audit(
        "table.csv", None, "repaid", decisions="granted", ignore=["w"], probabilities=RACE,
        quick=True, n_jobs=1,
    )  # fmt: skip
    names = {"new_rows": table}
    exec(python_recipe(found, Setting("fair_pca", n_components=3)), names)
    features = set(names["model"].encoder_.feature_names_in_)
    assert features == set(table.columns) - {*COLUMNS, "granted", "repaid", "w"}
    Path("model.fairpca").unlink()
    command = shlex.split(shell_recipe(found, Setting("fair_pca", n_components=3)))
    result = invoke(command[1:])
    assert result.exit_code == 0, result.output
    again = FairTableTransformer.load("model.fairpca").transform(table)
    assert (again == names["representation"]).all()
    for column in COLUMNS:
        assert_uncorrelated(np.asarray(again), table[column].to_numpy())


def test_of_groups_that_are_probabilities_there_are_no_joint_groups_and_no_certificates(
    audited, table
):
    sex = np.where(np.arange(len(table)) % 3, "f", "m")
    found = audited(table.assign(sex=sex), ["sex", "town"], "repaid", probabilities=RACE)
    names = [one.name for one in found.data.attributes]
    assert names == ["sex", "town", "race", "sex × town"]
    assert {one.attribute for one in found.certificates} <= {"sex", "town", "sex × town"}
    assert {one.attribute for one in found.leakage} == {"sex", "town", "race"}  # quick
    assert {one.attribute for one in found.proxy_importance} == {"sex", "town", "race"}


def test_alternatives_that_need_the_group_say_so(audited, table):
    found = audited(table, None, "repaid", probabilities=RACE, alternatives=True)
    failed = {
        one.key for one in found.alternatives if one.failure and "needs the group" in one.failure
    }
    assert failed == {one.key for one in found.alternatives if one.needs_attribute}
    assert failed == {"group_thresholds", "correlation_remover"}


def test_groups_of_few_expected_people_are_shown_and_not_probed(table):
    few = table.assign(p_few=0.01 * table["p_other"], p_other=0.99 * table["p_other"])
    found = audit(
        few[[*COLUMNS, "p_few", "granted"]], decisions="granted", quick=True, n_jobs=1,
        probabilities={"race": [*COLUMNS, "p_few"]},
    )  # fmt: skip
    *others, last = found.data.attributes[0].groups
    assert (last.label, last.measured) == ("p_few", False)
    assert all(group.measured for group in others)
    assert (
        "Probes leave out groups of few expected people: 'p_few'" in found.data.attributes[0].note
    )
    assert not parity_of(found).groups[-1].compared


# Words


def test_page_terminal_and_json_say_that_groups_are_probabilities(found):
    for said in (text_of(found), " ".join(found.summary.sentences)):
        assert "Groups of race are probabilities: gaps are right if these are calibrated" in said
        assert "where they do, gaps are usually too small" in said
        assert "If probabilities are calibrated, the gap is" in said
        assert "whatever decisions depend on." in said
    assert "Probes predict a group that is drawn for each person" in text_of(found)
    assert "if probabilities are calibrated" in text_of(found)
    assert any("What columns know of the group beyond" in one for one in found.advice.caveats)
    assert found.settings.probabilities == {"race": {c: c for c in COLUMNS}}
    assert found.settings.sensitive == []
    assert Audit.from_json(found.to_json()) == found
    (notice,) = [one for one in found.notices if one.kind == "probabilities"]
    assert "expected numbers" in notice.text


def test_without_decisions_the_leakage_is_that_of_the_proxy(audited, table):
    found = audited(table.drop(columns=["granted", "repaid", "risk", "w"]), probabilities=RACE)
    said = "Groups of race are probabilities: leakage is that of the proxy."
    assert said in found.summary.sentences
    assert said in text_of(found)
    assert "gaps are right" not in text_of(found)


@pytest.mark.parametrize("more", [{"max_rows": 300}, {"person": "who"}])
def test_rows_that_are_drawn_and_rows_of_a_person(table, more):
    """Decisions that exist are judged on all people, whichever rows models learn from."""
    twice = pd.concat([table, table], ignore_index=True)
    twice["who"] = np.tile(np.arange(len(table)), 2)
    kept = [*COLUMNS, "granted", "x0", "who"]
    used = {"decisions": "granted", "probabilities": RACE, "quick": True, "n_jobs": 1}
    ignored = [] if "person" in more else ["who"]
    found = audit(twice[kept], ignore=ignored, **used, **more)
    exact = selection_rate_difference(
        None, table["granted"] == "yes", sensitive_features=table[COLUMNS]
    )
    assert parity_of(found).gap.value == pytest.approx(exact, abs=1e-12)
    assert found.leakage_of("race")


def test_a_known_column_of_the_same_name_is_ignored_or_in_the_way(table):
    kept = table[[*COLUMNS, "granted"]].assign(race="white")
    with pytest.raises(AuditError, match="has a column 'race', too"):
        decided_of(kept)
    assert decided_of(kept, ignore=["race"], labels={"race": "Origin"}).data.labels


def decided_with(gap, spread, n=4000, seed=4):
    """Decisions of two groups, of which probabilities are within `spread` of 0 or 1."""
    rng = np.random.default_rng(seed)
    p = np.abs((rng.random(n) < 0.5) - spread * rng.random(n))
    granted = rng.random(n) < 0.5 + gap * (p - 0.5)
    return pd.DataFrame({"a": p, "b": 1 - p, "granted": np.where(granted, "yes", "no")})


@pytest.mark.parametrize(
    ("gap", "spread", "state", "condition"),
    [
        (0.0, 0.4, "Limit met, as far as probabilities tell", "and decisions do not depend"),
        (0.0, 0.02, "Limit met, as far as probabilities tell", "are calibrated."),
        (0.5, 0.4, "Limit not met, as far as probabilities tell", "and decisions do not depend"),
        (0.5, 0.02, "Limit not met, as far as probabilities tell", "are calibrated."),
        (0.24, 0.4, "Not settled by these data", "cannot settle"),
    ],
)
def test_a_verdict_says_what_it_assumes(gap, spread, state, condition):
    """Nothing of what decisions depend on where bounds are on the same side of the limit."""
    found = audit(
        decided_with(gap, spread), decisions="granted", probabilities={"race": ["a", "b"]},
        max_gap=0.1, quick=True, n_jobs=1,
    )  # fmt: skip
    assert Overview(found).state == state
    assert condition in found.summary.headline
    assert ("do not depend" in found.summary.headline) == ("do not depend" in condition)


def test_a_verdict_on_known_groups_assumes_nothing_of_others():
    table = decided_with(0.0, 0.4)
    yes = table["granted"] == "yes"
    sex = np.where(yes ^ (np.random.default_rng(0).random(len(yes)) < 0.2), "m", "f")
    found = audit(
        table.assign(sex=sex), "sex", decisions="granted", probabilities={"race": ["a", "b"]},
        max_gap=0.1, quick=True, n_jobs=1,
    )  # fmt: skip
    assert Overview(found).state == "Limit not met"
    assert "calibrated" not in found.summary.headline


def test_unknown_people_beside_probabilities(table):
    some = table.copy()
    some.loc[:49, COLUMNS] = np.nan
    found = decided(some)
    bounds = parity_of(found).bounds
    assert bounds.n_unknown == found.data.attributes[0].n_missing == 50
    assert bounds.n_probable <= len(table) - 50
    known = parity_of(decided(table.iloc[50:]))
    assert parity_of(found).gap.value == pytest.approx(known.gap.value, abs=1e-12)
    assert bounds.largest > known.bounds.largest
    said = "whatever decisions depend on, and whoever the 50 people of unknown group are."
    assert said in text_of(found)


# Since an earlier audit


def test_audits_of_probabilities_are_compared_with_each_other_and_not_with_known_groups():
    before, now = (decided(people(1500, seed=s, gap=g)[0]) for s, g in ((1, 0.0), (2, 0.6)))
    changed = now.since(before).changes
    (gap,) = [one for one in changed.numbers if one.kind == "gap"]
    assert changed.verdict == "worse"
    assert gap.z > 3
    assert now.since(before).to_html()
    table, race = people(1500, seed=3)
    known = audit(
        table[["granted"]].assign(race=race), "race", decisions="granted", quick=True, n_jobs=1
    )
    changed = now.since(known).changes
    assert changed.verdict == "cannot tell"
    gaps = [one for one in changed.numbers if one.attribute == "race"]
    assert gaps
    assert all("probabilities of groups" in one.reason for one in gaps)


# Bad input

WRONG = {
    "beyond 1": (RACE, {"p_white": 1.4}, "probability 1.4 of group 'p_white'"),
    "percentages": (RACE, dict.fromkeys(COLUMNS, 100 / 3), "divide percentages by 100"),
    "not adding up": ({"race": ["p_white", "p_black"]}, {}, "do not add up to 1"),
    "some missing": (RACE, {"p_other": np.nan}, "are missing in 900 of 900 rows"),
    "texts": (RACE, {"p_other": "low"}, "has to be numbers"),
    "unknown column": ({"race": [*COLUMNS, "p_asian"]}, {}, "no column 'p_asian'"),
    "one column": ({"race": ["p_white"]}, {}, "at least two groups"),
    "a text": ({"race": "p_white"}, {}, "not one column for each group"),
    "no dict": (COLUMNS, {}, "does not say of which attribute"),
    "twice": ({"race": ["p_white", "p_white"]}, {}, "'p_white' twice"),
    "in two attributes": (RACE | {"sex": COLUMNS[:2]}, {}, "'p_white' twice"),
    "a feature": ({"town": COLUMNS}, {}, "has a column 'town', too, with the role 'feature'"),
    "few people": (
        {"race": ["p_white", "p_black"]},
        {"p_white": 0.999, "p_black": 0.001},
        "fewer than two have 20 expected people",
    ),
}


@pytest.mark.parametrize("wrong", WRONG)
def test_what_are_no_probabilities_is_rejected(table, wrong):
    given, changed, message = WRONG[wrong]
    with pytest.raises(FairPCAError, match=re.escape(message)) as raised:
        audit(table.assign(**changed), None, "repaid", probabilities=given, quick=True, n_jobs=1)
    assert isinstance(raised.value, ValueError)
    assert "several columns of numbers" not in str(raised.value).lower()


def test_an_attribute_is_sensitive_or_has_probabilities(table):
    with pytest.raises(AuditError, match="named twice, as sensitive and with probabilities"):
        audit(table, "race", probabilities=RACE)
    with pytest.raises(FairPCAError, match="named twice, as sensitive and as probability"):
        audit(table, "p_white", probabilities=RACE)
    with pytest.raises(MissingGroupError, match="No sensitive column was named"):
        audit(table)
