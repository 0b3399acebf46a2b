import json
import math
import re
from dataclasses import replace

import numpy as np
import pandas as pd
import polars as pl
import pytest

from fairpca._numerics import threads
from fairpca.auditing import Audit, _whole_audit, audit
from fairpca.auditing._asking import ask
from fairpca.auditing._measures import LAMBDAS
from fairpca.auditing._question import prepare
from fairpca.auditing._representations import METHODS, fit_method
from fairpca.auditing._results import SCHEMA_VERSION, Setting
from fairpca.auditing._splits import QUICK, halves
from fairpca.errors import AuditError, MissingGroupError, SingleGroupError, TableError
from fairpca.metrics import PROBES
from fairpca.tables import TableEncoder
from people import made_up_people
from slow import first_fast


def leak(found, representation, attribute, probe):
    (match,) = [
        leak
        for leak in found.leakage_of(attribute)
        if (leak.representation, leak.probe) == (representation, probe)
    ]
    return match


def assert_same_up_to_rounding(one, other):
    """Other numbers of threads add in another order, which changes the last digits."""
    assert type(one) is type(other)
    if isinstance(one, dict):
        assert one.keys() == other.keys()
        for key in one:
            assert_same_up_to_rounding(one[key], other[key])
    elif isinstance(one, list):
        assert len(one) == len(other)
        for a, b in zip(one, other, strict=True):
            assert_same_up_to_rounding(a, b)
    elif isinstance(one, float):
        assert one == pytest.approx(other, rel=1e-6, abs=1e-9)
    else:
        assert one == other


def test_a_difference_of_means_is_seen_before_and_gone_after_fair_pca(found):
    assert leak(found, "raw", "sex", "linear").auc.low > 0.7
    for key in ("fair_pca", "fair_pca_covariances", "fair_pca_distributions"):
        after = leak(found, key, "sex", "linear")
        assert after.auc.value < 0.6
        assert after.auc.value < leak(found, "raw", "sex", "linear").auc.low


def test_a_difference_of_spreads_stays_visible_to_trees_after_fair_pca_only(found):
    """Race shows in spreads: trees find it with equal means, hardly with near-equal covariances."""
    means = leak(found, "fair_pca", "race", "boosting")
    covariances = leak(found, "fair_pca_covariances", "race", "boosting")
    assert means.above_chance
    assert means.auc.low > 0.6
    assert covariances.auc.value < means.auc.low


def test_everything_is_measured_for_every_representation_attribute_and_probe(found):
    assert [r.key for r in found.representations] == list(METHODS)
    assert all(r.failure is None for r in found.representations)
    names = ["sex", "race", "sex × race"]
    assert [a.name for a in found.data.attributes] == names
    assert len(found.leakage) == len(METHODS) * 2 * len(PROBES)  # a quick look: no intersections
    assert len(found.downstream) == len(METHODS) * len(PROBES)
    assert all([p.attribute for p in d.parities] == names for d in found.downstream)
    assert [c.model for c in found.curves] == ["linear"]  # and that asked for, if it is a kernel
    assert all([p.tradeoff for p in c.points] == [0.0, *LAMBDAS] for c in found.curves)
    assert {c.representation for c in found.certificates} == {"fair_pls"}
    assert {c.attribute for c in found.proxy_importance} == {"sex", "race"}


def test_matched_distributions_hide_spreads_from_trees(found):
    matched = leak(found, "fair_pca_distributions", "race", "boosting")
    assert matched.auc.value < leak(found, "fair_pca", "race", "boosting").auc.low


def test_a_quick_look_does_without_what_takes_long():
    rng = np.random.default_rng(0)
    people = pd.DataFrame(rng.normal(size=(400, 3)), columns=list("abc"))
    people["sex"] = np.where(people["a"] + rng.normal(size=400) > 0, "f", "m")
    compared = {r.key for r in audit(people, "sex", quick=True, n_jobs=1).representations}
    assert compared == {"raw", "pca", "fair_pca", "fair_kernel_pca", "leace"}


def test_a_column_for_the_target_is_measured_like_all_others(found, without_target):
    (pls,) = [r for r in found.representations if r.key == "fair_pls"]
    kept = {r.key for r in found.representations if r.variance_kept is not None}
    assert (pls.n_columns, kept) == (1, METHODS.keys() - {"fair_pls"})
    assert not any(leak(found, "fair_pls", "sex", probe).above_chance for probe in PROBES)
    aucs = {d.representation: d.utility.value for d in found.downstream if d.model == "linear"}
    assert aucs["fair_pls"] > aucs["fair_pca_covariances"]
    assert "fair_pls" not in {r.key for r in without_target[0].representations}


def test_the_target_of_held_out_rows_is_not_looked_at(people):
    asked = {"pos_label": None, "ignore": (), "sensitive_kinds": None, "n_components": 2}
    question = ask(people, "sex", "paid", **asked, effort=QUICK, seed=0)
    split = halves(question.strata, 1, np.random.default_rng(0))[0]
    held_out = np.isin(np.arange(len(people)), split.test)
    otherwise = replace(question, y=question.y ^ held_out)
    one, two = (
        fit_method(Setting("fair_pls"), prepare(asked, split).rows).represent(
            prepare(asked, split).X
        )
        for asked in (question, otherwise)
    )
    assert (one == two).all()


def test_estimates_lie_in_their_intervals_and_where_they_can_be(found):
    for item in found.leakage:
        assert 0 <= item.auc.low <= item.auc.value <= item.auc.high <= 1
        assert 0.5 <= item.chance <= 1
        assert item.above_chance == (item.auc.value > item.chance)
    for item in found.downstream:
        for p in item.parities:
            assert 0 <= p.gap.low <= p.gap.value <= p.gap.high <= 1
            assert 0 <= p.ratio.low <= p.ratio.value <= p.ratio.high <= 1
            rates = [g.selection_rate.value for g in p.groups if g.compared]
            # Of a method that equalises its rows, the fit to all rows is off by more than the mean.
            apart = max(rates) - min(rates)
            assert p.gap.value >= apart - 1e-9
            if item.representation in ("raw", "pca"):
                assert p.gap.value == pytest.approx(apart)
            assert p.ratio.value == pytest.approx(min(rates) / max(rates))
    for item in found.certificates:
        assert 0 <= item.observed <= item.bound <= 1


def test_the_fair_end_of_the_curve_is_fair_pca(found):
    linear = found.curves[0].points[0]
    (fair,) = [d for d in found.downstream if (d.representation, d.model) == ("fair_pca", "linear")]
    assert linear.tradeoff == 0.0
    assert linear.utility.value == pytest.approx(fair.utility.value, abs=1e-3)
    assert linear.parities[0].gap.value == pytest.approx(fair.parities[0].gap.value, abs=0.01)


def test_fairness_costs_accuracy_where_the_target_depends_on_sex(found):
    points = found.curves[0].points
    assert points[0].utility.value < points[-1].utility.value
    assert points[0].parities[0].gap.value < points[-1].parities[0].gap.value


def test_sensitive_columns_are_never_features(people):
    """Were sex a feature, shuffling it would change what is read of the rest."""
    shuffled = people.assign(height=people["height"].to_numpy()[::-1].copy())
    found = audit(shuffled[["sex", "height", "luck"]], "sex", quick=True, n_jobs=1)
    assert [c.name for c in found.data.columns if c.role == "feature"] == ["height", "luck"]
    assert not leak(found, "raw", "sex", "linear").above_chance


def test_without_a_target_nothing_is_said_of_decisions(without_target):
    found, _ = without_target
    assert found.settings.aim == "hide"
    assert found.data.target is None
    assert found.downstream == found.curves == []
    assert not any("decision" in s for s in found.summary.sentences)


def test_the_same_seed_gives_the_same_numbers_in_any_number_of_processes(audited, people):
    few = people[["sex", "height", "skill", "town", "paid"]][:250]

    def numbers(**options):
        found = audited(few, "sex", "paid", n_components=2, **options).to_dict()
        for timed in ("created", "seconds", "versions"):
            del found[timed]
        for representation in found["representations"]:
            del representation["fit_seconds"]
        return found

    once, other = numbers(n_jobs=1), numbers(n_jobs=1, seed=1)
    assert_same_up_to_rounding(once, numbers(n_jobs=2))
    assert once["leakage"] != other["leakage"]


def test_frames_of_other_libraries_give_the_same_audit(people, without_target):
    native, _ = without_target
    table = people[["sex", "height", "town", "luck"]]
    other = audit(pl.from_pandas(table), "sex", quick=True, n_jobs=1)
    assert other.leakage == native.leakage


def test_progress_reaches_the_end(without_target):
    _, steps = without_target
    assert [done for done, _, _ in steps] == list(range(1, steps[-1][1] + 1))
    assert all(done < total for done, total, _ in steps[:-1])  # work goes on
    assert steps[-1][2] == "summary"
    assert "Fair PCA" in " ".join(what for _, _, what in steps)


def test_what_is_sure_to_come_is_counted_before_it_begins(found, steps):
    """A bar that is full while columns are still ranked says that all is done."""
    assert all(done < total for done, total, _ in steps[:-1])
    assert steps[-1] == (len(steps), len(steps), "summary")


def test_the_result_is_plain_json_without_nan(found):
    again = json.loads(found.to_json())
    assert again == found.to_dict()
    assert again["schema_version"] == SCHEMA_VERSION


def test_the_page_and_the_notebook_view_hold_the_headline(found, tmp_path):
    page = found.to_html(tmp_path / "report.html")
    assert (tmp_path / "report.html").read_text(encoding="utf-8") == page
    assert len(page.encode()) < 1_500_000
    start = found.summary.headline[:40]
    assert start in page
    assert start in found._repr_html_()
    assert "<script" not in found._repr_html_()
    assert repr(found).startswith("<Audit of table: On all columns")


def test_a_single_column_says_what_it_cannot_do(of_one_column):
    failures = {r.key: r.failure for r in of_one_column.representations}
    assert failures["raw"] is None
    assert "separate" in failures["fair_pca"] or "n_components" in failures["fair_pca"]
    assert of_one_column.advice.representation in (None, "fair_kernel_pca")


def test_only_single_columns_are_certified(of_one_column, found):
    columns = {r.key: r.n_columns for r in found.representations}
    assert {c.representation for c in found.certificates} == {"fair_pls"}
    assert columns["fair_pls"] == 1
    assert {c.confidence for c in found.certificates} == {0.95}
    assert of_one_column.certificates == []  # of the features as they are nobody asks


@pytest.mark.parametrize(("asked", "started"), [(100_000, 3), (3, 3), (2, 2), (None, 3)])
def test_more_processes_than_cores_are_not_started_and_it_is_said(
    monkeypatch, people, asked, started
):
    monkeypatch.setattr(threads, "cpu_count", lambda: 3)
    monkeypatch.setattr(_whole_audit, "cpu_count", lambda: 3)
    n_jobs = []

    def in_this_process(work, items, n):
        n_jobs.append(n)
        return ((i, work(item)) for i, item in enumerate(items))

    monkeypatch.setattr(_whole_audit, "each_in_processes", in_this_process)
    found = audit(people[["sex", "height"]], "sex", quick=True, n_jobs=asked)
    assert set(n_jobs) == {started}
    told = [notice.text for notice in found.notices if notice.kind == "jobs"]
    assert told == ["100,000 processes were asked for, and 3 started: one per core."] * (
        asked == 100_000
    )


def test_many_rows_are_sampled_and_it_is_said(people):
    table = people[["sex", "height", "luck"]]
    found = audit(table, "sex", quick=True, n_jobs=1, max_rows=300)
    assert found.data.n_rows == 300
    assert any(notice.kind == "sampled" for notice in found.notices)


@pytest.fixture(scope="module")
def with_a_rare_group():
    """150 people of 20,000, three deviations apart, of whom a draw in proportion has two."""
    rng = np.random.default_rng(0)
    people = pd.DataFrame(rng.normal(size=(20_000, 3)), columns=list("abc"))
    people["town"] = np.where(np.arange(20_000) < 150, "small", "large")
    people["paid"] = rng.choice(["no", "yes"], size=20_000)
    people.loc[:149, "a"] += 3.0
    return people.sample(frac=1.0, random_state=0)


def test_a_small_group_of_a_large_table_is_kept_whole_and_counted(audited, with_a_rare_group):
    found = audited(with_a_rare_group, "town", "paid", max_rows=400)
    large, small = found.data.attributes[0].groups
    assert (large.n_rows, small.n_rows, large.n_used + small.n_used) == (19_850, 150, 400)
    assert 50 <= small.n_used < 60  # an eighth of the sample for each group and outcome, and luck
    assert small.share == 150 / 20_000
    assert found.data.target.rate == (with_a_rare_group["paid"] == "yes").mean()
    assert leak(found, "raw", "town", "linear").above_chance
    assert "predicts town with AUC 0.9" in found.summary.sentences[0]
    (told,) = [notice.text for notice in found.notices if notice.kind == "sampled"]
    assert told.startswith("400 of 20,000 rows were drawn at random, with ")
    assert "are weighted to stand for the whole table" in told


def test_a_sample_too_small_for_the_groups_is_refused(with_a_rare_group):
    many = with_a_rare_group.assign(job=[f"job {i % 12}" for i in range(20_000)])
    with pytest.raises(AuditError, match="max_rows=100 is too few to have 20 rows of every group"):
        audit(many, ["town", "job"], quick=True, n_jobs=1, max_rows=100)


def repeated_noise(times):
    rng = np.random.default_rng(0)
    noise = pd.DataFrame(rng.normal(size=(500, 5)), columns=list("abcde"))
    noise["sex"] = rng.choice(["f", "m"], size=500)
    return pd.concat([noise] * times, ignore_index=True)


def test_duplicate_rows_do_not_leak_and_are_reported():
    """Noise whose rows are there four times has an AUC of 0.7 if copies are on both sides."""
    found = audit(repeated_noise(4), "sex", quick=True, n_jobs=1)
    once = audit(repeated_noise(1), "sex", quick=True, n_jobs=1)
    assert max(one.auc.value for one in found.leakage if one.representation == "raw") < 0.6
    assert not any(one.above_chance for one in found.leakage)
    assert found.data.n_rows == 2000
    (told,) = [notice for notice in found.notices if notice.kind == "repeated_rows"]
    assert (told.severity, told.value) == ("warning", 0.75)
    assert told.text.startswith("1,500 rows (75.0 %) are equal to another one, attributes and all")
    assert (found.data.n_people, once.data.n_people) == (500, 500)
    assert not any(notice.kind == "repeated_rows" for notice in once.notices)


def test_people_who_are_alike_in_coarse_columns_are_no_copies():
    rng = np.random.default_rng(0)
    coarse = pd.DataFrame({"job": rng.integers(8, size=600), "size": rng.integers(4, size=600)})
    coarse["sex"] = np.where(rng.random(600) < 0.2 + 0.08 * coarse["job"], "f", "m")
    found = audit(coarse.astype(str), "sex", quick=True, n_jobs=1, n_components=2)
    assert leak(found, "raw", "sex", "linear").above_chance
    (told,) = [notice for notice in found.notices if notice.kind == "repeated_rows"]
    assert told.severity == "info"
    assert "they count as different people" in told.text


def test_columns_of_lists_are_compared_too():
    table = repeated_noise(2).assign(tags=[[i % 3] for i in range(500)] * 2)
    assert [len(people) - len(set(people)) for people in (asked(table), asked(table[:500]))] == [
        500,
        0,
    ]


def asked(table):
    """Return the people of a question."""
    given = {"pos_label": None, "ignore": (), "n_components": None, "effort": QUICK}
    return ask(table, "sex", None, **given, sensitive_kinds=None, seed=0).people


def test_a_group_that_is_one_person_copied_is_too_rare_to_be_measured():
    table = repeated_noise(2)
    table.loc[[0, 500], "sex"] = "x"
    found = audit(pd.concat([table, *[table.iloc[[0]]] * 40]), "sex", quick=True, n_jobs=1)
    (attribute,) = found.data.attributes
    assert {group.label for group in attribute.groups if group.measured} == {"m", "f"}
    (rare,) = [group for group in attribute.groups if not group.measured]
    assert (rare.label, rare.n_rows, attribute.n_missing) == ("x", 42, 0)


def test_rows_without_a_target_are_left_out_and_counted(audited, people):
    few = people[["sex", "height", "skill", "luck"]]
    holes = few.assign(paid=people["paid"].where(np.arange(len(people)) >= 100))
    found = audited(holes, "sex", "paid")
    assert (found.data.n_rows, found.data.n_rows_dropped) == (600, 100)


ODD_AMONG = {
    "numbers in a file": [str(i * 7919 % 1000) for i in range(200)],
    "numbers in memory": [i * 7919 % 1000 for i in range(200)],
    "days": [f"2024-{i % 12 + 1:02}-{i % 28 + 1:02}" for i in range(200)],
    "truth values": ["true", "false"] * 100,
    "levels": [f"level {i % 40}" for i in range(200)],
}


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("rows", [[3], [3, 150]], ids=["once", "twice"])
@pytest.mark.parametrize("kind", ODD_AMONG)
def test_what_a_column_is_does_not_depend_on_the_half_it_is_in(kind, rows, seed):
    frame = pd.DataFrame({"sex": ["f", "m"] * 100, "height": np.arange(200.0), "odd": 0})
    frame["odd"] = pd.Series(ODD_AMONG[kind], dtype=object)
    frame.loc[rows, "odd"] = "unknown"
    asked = {"pos_label": None, "ignore": (), "sensitive_kinds": None, "n_components": None}
    question = ask(frame, "sex", None, **asked, effort=QUICK, seed=seed)
    whole = TableEncoder().fit(frame[["odd"]]).columns_[0].kind
    for split in halves(question.strata, 1, np.random.default_rng(seed)):
        held_out = prepare(question, split)
        assert len(held_out.rows.X) + len(held_out.X) == 200
        half = TableEncoder().fit(frame[["odd"]].iloc[split.train], like=question.encoder)
        as_was = ("numeric",) if kind.startswith("numbers") else ("category", "text")
        assert half.columns_[0].kind == whole in as_was


def test_one_word_among_numbers_does_not_end_an_audit():
    frame = made_up_people(200)[["sex", "height"]]
    frame["income"] = np.where(np.arange(200) == 7, "unknown", np.arange(200).astype(str))
    found = audit(frame, "sex", quick=True, n_jobs=1)
    (column,) = [column for column in found.data.columns if column.name == "income"]
    assert column.note.startswith("1 rows ('unknown') are no numbers and count as missing")
    assert (column.kind, column.n_missing) == ("numeric", 1)


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        ({"sensitive": "colour"}, TableError, "no column 'colour'"),
        ({"sensitive": None}, MissingGroupError, "No sensitive column"),
        ({"target": "town", "above": 1}, TableError, "has to be numbers"),
        ({"model": "forest"}, AuditError, "model='forest'"),
        (
            {"max_gap": 101},
            AuditError,
            "max_gap=101 must be a fraction from 0 to 1; 5 percentage points are 0.05",
        ),
        ({"max_gap": 5}, AuditError, "max_gap=5 must be a fraction; 5 percentage points are 0.05"),
        ({"max_gap": 1}, AuditError, "max_gap=1 must be a fraction; 1 percentage points are 0.01"),
        ({"max_gap": float("nan")}, AuditError, "max_gap=nan"),
        ({"aim": "please"}, AuditError, "aim='please'"),
        ({"target": None, "aim": "decide"}, AuditError, "no target"),
        ({"confidence": 95}, AuditError, "confidence=95"),
        ({"max_gap": -0.1}, AuditError, "max_gap"),
        ({"n_components": 0}, AuditError, "n_components=0"),
        ({"n_components": 99}, AuditError, "99.*at most"),
        ({"max_rows": 3}, AuditError, "max_rows=3"),
    ],
)
def test_questions_that_cannot_be_asked_are_refused(people, change, error, message):
    with pytest.raises(error, match=message):
        audit(people, **({"sensitive": "sex", "target": "paid", "quick": True} | change))


def test_few_rows_and_a_single_group_are_refused(people):
    with pytest.raises(AuditError, match="50 rows, but at least 100"):
        audit(people.head(50), "sex", quick=True)
    with pytest.raises(SingleGroupError, match="'sex' has fewer than two groups"):
        audit(people[people["sex"] == "f"], "sex", quick=True)


@pytest.mark.parametrize("seeds", first_fast([[0], range(4)]), ids=len)
def test_noise_is_not_mistaken_for_leakage(seeds):
    """Of many probes on pure noise, about one in twenty may look better than chance, not half."""
    alarms = []
    for seed in seeds:
        rng = np.random.default_rng(seed)
        noise = pd.DataFrame(rng.normal(size=(400, 5)), columns=list("abcde"))
        noise["sex"] = rng.choice(["f", "m"], size=400)
        found = audit(noise, "sex", quick=True, n_jobs=1, seed=seed)
        alarms += [leak.above_chance for leak in found.leakage]
    assert np.mean(alarms) < 0.15


def test_a_plain_result_knows_its_class(found):
    assert isinstance(found, Audit)


def test_the_made_up_table_is_the_one_described():
    table = made_up_people(n=4000)
    means = table.groupby("sex")["height"].mean()
    assert means["m"] - means["f"] > 1
    assert table.groupby("race")["a0"].std()["z"] > 2


@pytest.mark.slow
def test_a_full_audit_measures_intersections_and_agrees_with_a_quick_one(people, found):
    full = audit(people, ["sex", "race"], "paid", n_components=4)
    assert [a.name for a in full.data.attributes] == ["sex", "race", "sex × race"]
    assert full.settings.n_splits == 4
    for quick in found.leakage:
        (same,) = [
            leak
            for leak in full.leakage_of(quick.attribute)
            if (leak.representation, leak.probe) == (quick.representation, quick.probe)
        ]
        assert abs(same.auc.value - quick.auc.value) < 0.15


def test_metrics_are_the_numbers_of_the_options_under_names_that_trackers_take(audited, people):
    given = people.assign(**{"paid %": people["paid"], "risk": people["height"]})
    found = audited(given, ["sex", "race"], "paid", decisions="paid %", scores="risk")
    metrics = found.to_metrics()
    assert metrics["n_rows"] == len(people)
    keys = {"raw": "raw", "score/risk": "score:risk", "decision/paid _": "decision:paid %"}
    options = {name: _option_of(found, key) for name, key in keys.items()}
    options |= {"recommended": found.advice.option} if found.advice.option else {}
    expected = {"n_rows": len(people)}
    for name, option in options.items():
        for kind, number in (("gap", "gap"), ("ratio", "ratio"), ("leakage", "leak")):
            estimate = getattr(option, number)
            expected |= {f"{name}/{kind}": estimate.value, f"{name}/{kind}_low": estimate.low}
    assert expected.items() <= metrics.items()
    names = list(metrics)
    assert not [n for n in names if re.search(r"[^\w. /-]", n)]
    folders = [(a, b) for a in names for b in names if b.startswith(f"{a}/")]
    assert folders == []  # stores that keep a metric as a file
    assert all(type(v) is float and math.isfinite(v) for v in metrics.values())


def _option_of(found, key):
    return next(one for one in found.advice.options if one.representation == key)
