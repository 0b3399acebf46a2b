"""Plain alternatives, measured beside ours: on people of whom it is known what helps."""

import json
import sys
from dataclasses import replace

import jsonschema
import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import roc_auc_score

from fairpca.auditing import Audit, _whole_audit, audit, audit_schema
from fairpca.auditing._alternatives import (
    ALTERNATIVES,
    _joint_groups,
    _scores_of_unseen,
    _share_below,
)
from fairpca.auditing._asking import ask
from fairpca.auditing._question import prepare
from fairpca.auditing._splits import QUICK, halves
from fairpca.errors import AuditError

WITHOUT_FAIRLEARN = ["without_proxies", "group_thresholds"]


def with_one_proxy(n=1600, seed=1):
    """Only `district` tells the sex; without it, nothing that predicts `paid` depends on sex."""
    rng = np.random.default_rng(seed)
    sex = rng.choice(["f", "m"], n)
    table = pd.DataFrame({"sex": sex, "district": 1.6 * (sex == "m") + rng.normal(size=n)})
    table = table.assign(**{f"n{i}": rng.normal(size=n) for i in range(3)})
    table["paid"] = table["n0"] + table["district"] + rng.normal(size=n) > 0.8
    return table


@pytest.fixture(scope="module")
def audited():
    """A function that makes a quick audit of two splits, where less than a digit matters."""

    def made(*asked, **options):
        with pytest.MonkeyPatch.context() as patch:
            effort = replace(QUICK, most_rounds=1, permutations=100)
            patch.setattr(_whole_audit, "QUICK", effort)
            return audit(*asked, **options, quick=True, n_jobs=1)

    return made


@pytest.fixture(scope="module")
def table():
    return with_one_proxy()


@pytest.fixture(scope="module")
def found(audited, table):
    pytest.importorskip("fairlearn")
    return audited(table, "sex", "paid", alternatives=True)


@pytest.fixture(scope="module")
def by_key(found):
    return {one.key: one for one in found.alternatives}


@pytest.fixture(scope="module")
def without_fairlearn(audited, table):
    with pytest.MonkeyPatch.context() as patch:
        for module in ("preprocessing", "reductions"):
            patch.setitem(sys.modules, f"fairlearn.{module}", None)
        return audited(table[:300], "sex", "paid", alternatives=True)


@pytest.fixture(scope="module")
def held_out(table):
    """Both halves of a split, with weights and with people of two rows."""
    table = pd.concat([table[:300], table[:300]]).assign(
        who=np.tile(np.arange(300), 2), w=np.tile(np.r_[np.ones(150), 3 * np.ones(150)], 2)
    )
    asked = {"pos_label": None, "ignore": (), "n_components": None, "person": "who", "weight": "w"}
    question = ask(table, "sex", "paid", **asked, effort=QUICK, seed=0)
    rng = np.random.default_rng(0)
    return prepare(question, halves(question.strata, 1, rng, question.people)[0])


def test_each_says_whether_it_needs_the_attribute_to_decide(by_key):
    assert list(by_key) == list(ALTERNATIVES)
    needing = {key for key, one in by_key.items() if one.needs_attribute}
    assert needing == {"group_thresholds", "correlation_remover"}
    assert {key for key, one in by_key.items() if one.randomised} == {"exponentiated_gradient"}
    assert not any(one.failure for one in by_key.values())


def test_dropping_the_only_proxy_removes_gap_and_leakage(found, by_key):
    assert found.advice.options[0].gap.low > 0.3  # the raw features
    dropped = by_key["without_proxies"]
    assert dropped.left_out == ["district"]
    assert dropped.n_columns == 3
    assert dropped.gap.low == 0
    assert dropped.gap.high < found.advice.options[0].gap.low
    assert not dropped.leak_above_chance
    assert dropped.utility.high < found.advice.options[0].utility.value


def test_thresholds_per_group_leave_no_gap_but_sampling_error(found, by_key):
    even = by_key["group_thresholds"]
    assert even.gap.value < 0.08  # of 800 people in each half: three standard errors
    assert even.gap.low == 0
    assert len(even.models) == 3
    assert by_key["without_proxies"].utility.high < even.utility.value
    assert even.utility.value < found.advice.options[0].utility.value
    assert (even.leak, even.n_columns) == (None, None)  # no columns, so nothing to read


def test_methods_of_fairlearn_do_what_they_promise(found, by_key):
    removed, lottery = by_key["correlation_remover"], by_key["exponentiated_gradient"]
    assert removed.gap.low == 0
    assert removed.n_columns == 4
    assert lottery.gap.low < 0.04  # what it allows, in training data: twice 0.01, either way
    assert lottery.gap.high < found.advice.options[0].gap.low
    assert 0.3 < lottery.selected < 0.7
    assert [one.model for one in lottery.models] == ["linear"]
    assert all(one.selected is None for one in by_key.values() if one is not lottery)


def test_they_are_never_recommended(found):
    compared = {one.key for one in found.representations}
    assert not compared & ALTERNATIVES.keys()
    assert {one.representation for one in found.advice.options} <= compared


def test_the_option_adds_them_and_changes_nothing_else(audited, table, without_fairlearn):
    plain, more = audited(table[:300], "sex", "paid").to_dict(), without_fairlearn.to_dict()
    assert plain["alternatives"] is None
    assert plain["settings"]["alternatives"] is False
    for one in (plain, more):
        for name in ("created", "seconds", "versions", "alternatives"):
            del one[name]
        del one["settings"]["alternatives"]
        for shown in one["representations"]:
            del shown["fit_seconds"]
    assert plain == more


def test_they_are_in_the_json_and_on_the_page(found):
    plain = json.loads(found.to_json())
    jsonschema.validate(plain, audit_schema())
    assert Audit.from_json(found.to_json()) == found
    assert "fairlearn" in found.versions
    page = found.to_html()
    section = page[page.index('<section id="alternatives"') :]
    section = section[: section.index("</section>")]
    assert "disparate treatment" in section
    for name in (one.name for one in ALTERNATIVES.values()):
        assert name in section
    assert "without district" in section
    assert "alternatives=True" in page  # how to make it again
    older = {name: value for name, value in plain.items() if name != "alternatives"}
    assert Audit.from_dict(older).alternatives is None
    assert '<section id="alternatives"' not in Audit.from_dict(older).to_html()


def test_without_fairlearn_the_others_are_measured_and_one_line_says_so(without_fairlearn):
    told = without_fairlearn.alternatives
    assert [one.key for one in told if one.failure is None] == WITHOUT_FAIRLEARN
    (why,) = {one.failure for one in told if one.failure is not None}
    assert why.endswith('pip install "fairpca[parity]"')
    said = "Not measured: CorrelationRemover and ExponentiatedGradient. A method of fairlearn needs"
    assert without_fairlearn.to_html().count(said) == 1


def test_without_a_binary_target_only_columns_are_compared(audited, table):
    found = audited(table[:300].drop(columns="paid"), "sex", alternatives=True)
    assert {one.key for one in found.alternatives} == {"without_proxies", "correlation_remover"}
    for one in (one for one in found.alternatives if one.failure is None):
        assert one.gap is None
        assert 0 < one.utility.value <= 1  # variance kept
        assert one.leak is not None


def test_nothing_is_left_where_every_column_is_a_proxy(audited, table):
    found = audited(table[["sex", "district", "paid"]][:300], "sex", "paid", alternatives=True)
    dropped = next(one for one in found.alternatives if one.key == "without_proxies")
    assert "nothing would be left" in dropped.failure
    assert (dropped.gap, dropped.utility, dropped.leak, dropped.models) == (None, None, None, [])


def test_decisions_alone_have_no_alternatives(audited, table):
    decided = table[["sex", "paid"]].rename(columns={"paid": "granted"})
    with pytest.raises(AuditError, match="no feature to train other models on"):
        audited(decided, "sex", decisions="granted", alternatives=True)


def test_ranks_within_a_group_are_shares_of_its_weight():
    rng = np.random.default_rng(0)
    among, w = rng.integers(0, 9, 40).astype(float), rng.random(40)
    for value, share in zip(
        np.arange(-1, 10.0), _share_below(np.arange(-1, 10.0), among, w), strict=True
    ):
        below, at = w[among < value].sum(), w[among == value].sum()
        assert share == pytest.approx((below + at / 2) / w.sum())


def test_groups_of_few_training_rows_have_no_ranks_of_their_own(held_out):
    race = [np.zeros(len(held_out.rows.X), dtype=int), np.zeros(len(held_out.X), dtype=int)]
    race[0][:19], race[1][:3], race[1][3] = 1, 1, -1
    split = replace(
        held_out,
        kinds=("levels", "levels"),
        codes_train=[held_out.codes_train[0], race[0]],
        codes=[held_out.codes[0], race[1]],
    )
    train, held = _joint_groups(split)
    assert set(train[:19]) == {-1}
    assert set(held[:4]) == {-1}
    assert set(train[19:]) == set(held[4:]) == {0, 1}


def test_rows_are_scored_by_models_that_have_not_seen_the_person(held_out):
    """Trees know the rows that they have seen, and of people with two rows also the other one."""
    noise = np.random.default_rng(0).normal(size=held_out.rows.X.shape)
    _, person = np.unique(held_out.people_train, return_inverse=True)
    assert np.bincount(person).min() == 2
    rows = replace(held_out.rows, X=noise[person])  # says nothing but who it is
    scores = _scores_of_unseen("boosting", replace(held_out, rows=rows), QUICK)
    assert abs(roc_auc_score(rows.y, scores) - 0.5) < 0.15
