"""What changed since an earlier audit: z scores, false alarms, and what cannot be compared."""

import json
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy.stats import norm

from auditing.page.made_up_audit import bare_audit, made_up_audit, wage_audit
from fairpca import Audit, audit
from fairpca.auditing import _measures, _whole_audit
from fairpca.auditing._changes_in_words import ChangesInWords
from fairpca.auditing._results import Estimate
from fairpca.auditing._since import _holm
from fairpca.auditing._splits import QUICK
from fairpca.errors import AuditError

OWN = ("score:risk", "decision:granted")


def people(rng, n=1000, fall=0.0):
    """Return people of three races and two sexes; approvals of women have fallen."""
    sex = rng.choice(["f", "m"], n)
    race = rng.choice(["a", "b", "c"], n, p=[0.6, 0.25, 0.15])
    share = 0.5 + 0.08 * (sex == "m") - 0.05 * (race == "c") - fall * (sex == "f")
    granted = np.where(rng.random(n) < share, "yes", "no")
    return pd.DataFrame({"sex": sex, "race": race, "granted": granted})


def decided(table, sensitive=("sex", "race"), **options):
    return audit(table, list(sensitive), decisions="granted", n_jobs=1, quick=True, **options)


@pytest.fixture
def fewer_probes(monkeypatch):
    """No boosted trees, which take most of the time."""
    few = {name: _measures.PROBES[name] for name in ("linear", "kernel")}
    monkeypatch.setattr(_measures, "PROBES", few)
    monkeypatch.setattr(_whole_audit, "QUICK", replace(QUICK, permutations=100))


def number(changes, kind, **which):
    found = [
        one
        for one in changes.numbers
        if one.kind == kind and all(getattr(one, k) == v for k, v in which.items())
    ]
    assert len(found) == 1, (kind, which, found)
    return found[0]


def edited(made, change, **parts):
    """Return an audit of another table, a month before, changed in place as dictionaries."""
    plain = {**made, **parts, "created": "2026-10-15T17:00:00+00:00"}
    plain = json.loads(json.dumps(plain))
    plain["data"]["fingerprint"] = "sha256:" + "1" * 64
    change(plain)
    return Audit.from_dict(plain)


def unchanged(plain):
    """Leave an audit as it is."""


def test_z_is_the_difference_in_standard_errors_of_two_samples(fewer_probes):
    rng = np.random.default_rng(0)
    tables = people(rng, 800), people(rng, 1200, fall=0.2)
    before, now = map(decided, tables)
    changes = now.since(before).changes
    gaps, variances = [], []
    for table in tables:
        by = (table["granted"] == "yes").groupby(table["sex"]).agg(["mean", "size"])
        gaps.append(by["mean"]["m"] - by["mean"]["f"])
        variances.append((by["mean"] * (1 - by["mean"]) / by["size"]).sum())
    found = number(changes, "gap", attribute="sex")
    assert found.before.value == pytest.approx(gaps[0])
    assert found.difference.value == pytest.approx(gaps[1] - gaps[0])
    assert found.z == pytest.approx((gaps[1] - gaps[0]) / np.sqrt(sum(variances)), rel=0.01)
    reach = norm.ppf(0.975) * np.sqrt(sum(variances))
    assert found.difference.low == pytest.approx(gaps[1] - gaps[0] - reach, abs=0.002)
    assert (found.verdict, changes.verdict) == ("worse", "worse")
    share = number(changes, "share", attribute="sex", part="f")
    shares = [(table["sex"] == "f").mean() for table in tables]
    error = np.sqrt(sum(p * (1 - p) / len(t) for p, t in zip(shares, tables, strict=True)))
    assert share.z == pytest.approx((shares[1] - shares[0]) / error, rel=0.02, abs=0.01)


def test_the_other_way_round_what_was_worse_is_better(fewer_probes):
    rng = np.random.default_rng(0)
    before, now = decided(people(rng, 1000, fall=0.25)), decided(people(rng, 1000))
    there = before.since(now).changes
    back = now.since(before).changes
    assert len(there.numbers) == len(back.numbers)
    for one in there.numbers:
        other = number(back, one.kind, attribute=one.attribute, part=one.part)
        assert one.difference.value == pytest.approx(-other.difference.value)
        assert one.z == pytest.approx(-other.z)
        turned = {"worse": "better", "better": "worse"}.get(one.verdict, one.verdict)
        assert other.verdict == turned
    assert (there.verdict, back.verdict) == ("worse", "nothing worse")


@pytest.mark.parametrize("seed", range(3))
def test_holm_is_what_it_is_defined_as(seed):
    p = np.random.default_rng(seed).random(9) ** 4
    order = np.argsort(p)
    for level in np.linspace(0.01, 0.99, 25):
        rejected = set()
        for step, place in enumerate(order):
            if p[place] * (len(p) - step) > level:
                break
            rejected.add(place)
        assert set(np.flatnonzero(np.array(_holm(p)) <= level)) == rejected
    assert _holm([]) == []


def test_of_samples_of_one_population_few_are_called_worse_and_changes_are_found(fewer_probes):
    """Five decisions, 800 people, and intervals from a textbook; without Holm 12 % were wrong."""
    rng, reach = np.random.default_rng(0), norm.ppf(0.975)
    names = [f"d{i}" for i in range(5)]
    table = people(rng, 800).assign(**{name: rng.choice(["no", "yes"], 800) for name in names})
    made = audit(table[["sex", *names]], "sex", decisions=names, n_jobs=1, quick=True)
    made = replace(made, leakage=[])
    sizes = [400, 400]

    def sampled(number, fall):
        downstream = []
        for one in made.downstream:
            p = rng.binomial(sizes, [0.55, 0.45 - fall]) / sizes
            gap, error = p[0] - p[1], np.sqrt(np.sum(p * (1 - p) / sizes))
            gap = Estimate(gap, max(0.0, gap - reach * error), gap + reach * error)
            (parity,) = one.parities
            parity = replace(parity, gap=gap, ratio=None, groups=[])
            downstream.append(replace(one, parities=[parity]))
        data = replace(made.data, fingerprint=str(number))
        return replace(made, downstream=downstream, data=data)

    wrong, alone, found = [], [], []
    for pair in range(300):
        before, now, later = (sampled((pair, i), fall) for i, fall in enumerate((0, 0, 0.15)))
        changes = now.since(before).changes
        assert sum(one.kind == "gap" for one in changes.numbers) == 5
        wrong.append(changes.verdict == "worse")
        alone.append(any(one.kind == "gap" and one.z > reach for one in changes.numbers))
        worse = [one.verdict == "worse" for one in later.since(before).changes.numbers]
        found.append(sum(worse) / 5)
    assert np.mean(wrong) <= 0.05
    assert np.mean(alone) >= 0.08
    assert np.mean(found) >= 0.6


@pytest.mark.slow
def test_of_audits_of_one_population_few_are_called_worse():
    """Two attributes, their intersection, gaps, ratios and leakage of 1,000 decisions."""
    wrong, found = 0, 0
    for seed in range(200):
        rng = np.random.default_rng(seed)
        before, now, worse = (decided(people(rng, 1000, fall)) for fall in (0.0, 0.0, 0.2))
        wrong += now.since(before).changes.verdict == "worse"
        found += worse.since(before).changes.verdict == "worse"
    assert wrong <= 10
    assert found >= 160


@pytest.mark.slow
def test_of_retrained_models_few_are_called_worse():
    """Leakage, gaps and accuracy of models that are trained anew on either sample."""
    from people import made_up_people

    wrong = 0
    for seed in range(20):
        before, now = (
            audit(made_up_people(n, [seed, n]), ["sex", "race"], "paid", quick=True)
            for n in (700, 1200)
        )
        wrong += now.since(before).changes.verdict == "worse"
    assert wrong <= 2


def test_the_same_table_shows_no_change_of_people(fewer_probes):
    table = people(np.random.default_rng(0))
    changes = decided(table, seed=1).since(decided(table)).changes
    assert changes.verdict == "cannot tell"
    assert changes.numbers
    for one in changes.numbers:
        assert (one.z, one.verdict) == (None, "not compared")
        assert "same table" in one.reason


def test_audits_without_a_common_attribute_are_rejected():
    now = Audit.from_dict(made_up_audit({"sex": ["male", "female"]}))
    with pytest.raises(AuditError, match="about race and this one about sex: no sensitive"):
        now.since(edited(made_up_audit({"race": ["x", "y"]}), unchanged))


def test_a_group_that_only_one_audit_compares_is_left_out_of_both_gaps():
    now = Audit.from_dict(made_up_audit(own=OWN))

    def few_hispanic(plain):
        for parity in (p for one in plain["downstream"] for p in one["parities"]):
            for group in parity["groups"]:
                if group["label"] == "hispanic":
                    group.update(compared=False, n_rows=60)
                    parity["gap"] = {"value": 0.06, "low": 0.03, "high": 0.09}

    changes = now.since(edited(made_up_audit(own=OWN), few_hispanic)).changes
    found = number(changes, "gap", attribute="race", representation="decision:granted")
    assert found.now.value == pytest.approx(0.17 / 3)  # between white and black alone
    assert found.verdict == "no change"
    assert any("Gaps by race leave out hispanic" in note for note in changes.notes)


def test_where_too_few_people_are_left_the_audits_cannot_tell():
    now = Audit.from_dict(made_up_audit({"sex": ["male", "female"]}, own=OWN))

    def few_women(plain):
        for parity in (p for one in plain["downstream"] for p in one["parities"]):
            parity["groups"][1].update(n_rows=19)

    made = made_up_audit({"sex": ["male", "female"]}, own=OWN)
    changes = now.since(edited(made, few_women)).changes
    found = number(changes, "gap", attribute="sex", representation="decision:granted")
    assert (found.verdict, found.z, changes.verdict) == ("not compared", None, "cannot tell")
    assert "fewer than two groups" in found.reason


def test_groups_that_are_spelled_otherwise_are_not_called_too_few():
    def recoded(plain):
        text = json.dumps(plain).replace('"male"', '"M"').replace('"female"', '"F"')
        plain.update(json.loads(text))

    made = made_up_audit({"sex": ["male", "female"]}, own=OWN)
    changes = Audit.from_dict(made).since(edited(made, recoded)).changes
    found = number(changes, "gap", attribute="sex", representation="decision:granted")
    assert found.verdict == "not compared"
    assert found.reason == "no group is in both audits: spell them alike if they are the same"
    assert changes.verdict == "cannot tell"
    assert any(note.startswith("Groups of sex that are gone: ") for note in changes.notes)
    assert not any("too few people" in note for note in changes.notes)


@pytest.mark.parametrize(
    ("given", "told"),
    [
        (lambda made: made, "is a dict, but must be .*from_dict"),
        (lambda made: json.dumps(made, indent=1), "is a text of JSON, but must be .*from_json"),
        (lambda made: pd.DataFrame({"a": [1]}), "is a DataFrame, but must be"),
    ],
)
def test_what_is_no_earlier_audit_is_told_how_to_make_one(given, told):
    made = made_up_audit()
    with pytest.raises(TypeError, match=told):
        Audit.from_dict(made).since(given(made))


def test_numbers_are_others_only_beside_some():
    now = Audit.from_dict(made_up_audit(own=OWN))
    same = edited(made_up_audit(own=OWN), unchanged)
    n = len(now.since(same).changes.numbers)
    assert ChangesInWords(now.since(same)).others() == f"{n} numbers without a change beyond chance"


@pytest.mark.parametrize(
    ("change", "kinds", "reason"),
    [
        (lambda a: a["data"].update(n_people=500), {"gap", "leakage", "utility"}, "--max-rows"),
        (lambda a: a["settings"].update(weight="w"), {"gap", "leakage"}, "weights"),
        (lambda a: a["data"]["target"].update(pos_label="no"), {"gap", "utility"}, "targets"),
    ],
)
def test_what_does_not_mean_the_same_is_not_compared(change, kinds, reason):
    now = Audit.from_dict(made_up_audit(own=OWN))
    changes = now.since(edited(made_up_audit(own=OWN), change)).changes
    for one in changes.numbers:
        if one.representation == "raw" and one.kind in kinds:
            assert reason in one.reason
            assert one.z is None
    own = number(changes, "gap", attribute="race", representation="decision:granted")
    assert (own.z is None) == (reason == "weights")


def test_people_who_differ_by_less_than_a_factor_of_two_are_compared():
    now = Audit.from_dict(made_up_audit(own=OWN))
    before = edited(made_up_audit(own=OWN), lambda a: a["data"].update(n_people=1000))
    assert all(one.z is not None for one in now.since(before).changes.numbers)


def test_what_differs_otherwise_is_in_the_notes():
    def other(plain):
        data = plain["data"]
        data["columns"][0]["name"] = "old column"
        data["attributes"][1]["groups"][0]["label"] = "man"
        plain["settings"]["quick"] = True
        plain["fairpca_version"] = "0.0.9"
        plain["advice"]["verdict"] = "tie"

    now = Audit.from_dict(made_up_audit())
    notes = now.since(edited(made_up_audit(), other)).changes.notes
    for said in (
        "Option quick before: True; now: False",
        "Groups of sex that are new: male (994 rows)",
        "Groups of sex that are gone: man (994 rows)",
        "Columns that are new: column 0",
        "Columns that are gone: old column",
        "Made by different versions: fairpca 0.0.9 and 0.1.0",
    ):
        assert said in notes
    swapped = edited(made_up_audit(), unchanged).since(now).changes
    assert "2026-10-15 17:00): perhaps they are swapped" in swapped.notes[0]


def test_an_attribute_that_is_audited_no_more_leaves_the_verdict_open():
    one, both = made_up_audit({"sex": ["male", "female"]}), made_up_audit()
    changes = Audit.from_dict(one).since(edited(both, unchanged)).changes
    assert changes.verdict == "cannot tell"
    assert "race is audited no more" in changes.notes
    more = Audit.from_dict(both).since(edited(one, unchanged)).changes
    assert more.verdict == "nothing worse"
    assert "race is audited now, and was not before" in more.notes


def test_each_audit_cuts_a_numeric_attribute_at_its_own_median(fewer_probes):
    def of(seed):
        rng = np.random.default_rng(seed)
        table = people(rng).assign(age=rng.normal(40, 10, 1000))
        return decided(table.drop(columns="race"), ["age", "sex"])

    changes = of(1).since(of(0)).changes
    assert changes.verdict == "nothing worse"
    rates = [one for one in changes.numbers if one.kind == "selection_rate"]
    assert {"age up to its median", "age above its median"} <= {one.part for one in rates}
    assert not any("Groups of" in note for note in changes.notes)


def test_a_cut_interval_is_as_wide_as_its_other_side():
    """A gap of 2 points with an interval from 0 to 8 is not known to 1 point."""

    def with_gap(low, value, high):
        def change(plain):
            for one in plain["downstream"]:
                for parity in one["parities"]:
                    parity["gap"] = {"value": value, "low": low, "high": high}

        return change

    made = made_up_audit({"sex": ["male", "female"]}, own=OWN)
    before = edited(made, with_gap(0.0, 0.0, 0.01))
    now = replace(edited(made, with_gap(0.0, 0.02, 0.08)), data=Audit.from_dict(made).data)
    found = number(
        now.since(before).changes, "gap", attribute="sex", representation="decision:granted"
    )
    assert found.z == pytest.approx(0.02 / (np.hypot(0.06, 0.01) / norm.ppf(0.95)))


@pytest.mark.parametrize("make", [made_up_audit, bare_audit, wage_audit])
def test_changes_are_kept_in_the_json(make):
    found = Audit.from_dict(make()).since(edited(make(), unchanged))
    assert found.changes.verdict == "nothing worse"
    again = Audit.from_json(found.to_json())
    assert again == found
    assert again.to_html() == found.to_html()
    assert "Since the last audit" in found.to_html()
    older = found.to_dict()
    del older["changes"]
    assert Audit.from_dict({**older, "schema_version": "4.1"}).changes is None


def test_words_say_what_became_worse_and_what_could_have_been_seen():
    def fairer(plain):
        for one in plain["downstream"]:
            for parity in one["parities"]:
                if parity["attribute"] == "sex" and one["representation"] == "decision:granted":
                    parity["gap"] = {"value": 0.03, "low": 0.01, "high": 0.05}

    now = Audit.from_dict(made_up_audit(own=OWN))
    told = ChangesInWords(now.since(edited(made_up_audit(own=OWN), fairer)))
    assert told.headline() == (
        "Worse since 2026-10-15: gap by sex (decision granted), 3.0 points before and 17.0 points "
        "now."
    )
    (line,) = told.significant
    assert (line.difference, line.verdict) == ("+14.0 points", "worse")
    same = ChangesInWords(now.since(edited(made_up_audit(own=OWN), unchanged)))
    assert same.headline() == "Nothing became worse since 2026-10-15 beyond chance."
    gap = next(
        one for one in same.changes.numbers if one.kind == "gap" and one.representation == "raw"
    )
    n = sum(
        one.kind not in ("share", "missing", "selection_rate", "mean_score")
        for one in same.changes.numbers
    )
    error = np.hypot(0.03, 0.03) / norm.ppf(0.95)
    least = norm.isf(0.1 / 2 / n) * error
    reach = float(np.hypot(0.03, 0.03))
    assert vars(gap.difference) == pytest.approx({"value": 0.0, "low": -reach, "high": reach})
    assert f"by less than {100 * least:.1f} points could be chance" in same.visible()
