"""How much is the price of few people: the planner's law, for the halves of an audit."""

import re
import shlex

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from fairpca._cli import app
from fairpca.auditing import audit
from fairpca.metrics import plan

N, D = 400, 20
FOLDS = 2  # of a quick audit


def table(groups, n=N, d=D, separation=2.0, seed=0):
    rng = np.random.default_rng(seed)
    z = rng.choice(list(groups), n, p=list(groups.values()))
    difference = rng.normal(size=d)
    difference *= separation / np.linalg.norm(difference)
    X = rng.normal(size=(n, d)) + np.outer(z == "a", difference)
    return pd.DataFrame({"group": z, **{f"x{j}": X[:, j] for j in range(d)}})


@pytest.fixture(scope="module")
def of_two():
    rows = table({"a": 0.25, "b": 0.75})
    return audit(rows, "group", n_components=5, quick=True, n_jobs=1)


def leak_of(found, key, attribute="group", probe="linear"):
    (leak,) = [
        one
        for one in found.leakage_of(attribute)
        if (one.representation, one.probe) == (key, probe)
    ]
    return leak


def test_the_price_is_that_of_the_plan_for_half_of_the_people(of_two):
    groups = {one.label: one.n_rows for one in of_two.data.attributes[0].groups}
    people = [groups["a"] / 2, groups["b"] / 2]
    before = leak_of(of_two, "raw").auc
    for key, k in (("leace", D - 1), ("fair_pca", 5)):
        price = leak_of(of_two, key).few_people

        def expected(auc, times=1, k=k):
            planned = plan(
                [times * n for n in people],
                columns=D,
                auc=auc,
                n_components=k,
                trained_on=[n * (1 - 1 / FOLDS) for n in people],
            )
            return planned.auc_left

        assert price.n_people == int(min(people))
        assert price.n_more == 4 * price.n_people
        for end in ("value", "low", "high"):
            found = getattr(price.expected, end)
            assert found == pytest.approx(expected(getattr(before, end)), abs=1e-9)
        assert price.expected_of_more == pytest.approx(expected(before.value, 4), abs=1e-9)


def test_normal_groups_leave_what_is_expected(of_two):
    for key in ("leace", "fair_pca"):
        leak = leak_of(of_two, key)
        assert leak.auc.low < leak.few_people.expected.value < leak.auc.high
    whole = leak_of(of_two, "leace").few_people.expected.value
    assert 0.55 < whole < leak_of(of_two, "raw").auc.value


def test_only_linear_probes_after_equal_means_have_a_price(of_two):
    for leak in of_two.leakage:
        method = leak.representation.partition("@")[0]
        linear = leak.probe == "linear" and method.startswith(("leace", "fair_pca"))
        assert (leak.few_people is not None) == linear


@pytest.fixture(scope="module")
def of_many():
    """Three groups, an age, joint groups and a category, in three rows of each person."""
    rows = table({"a": 0.2, "b": 0.3, "c": 0.5}, d=3)
    rng = np.random.default_rng(1)
    rows["age"], rows["sex"] = rng.normal(50, 10, N), rng.choice(["f", "m"], N)
    rows["town"] = rng.choice(list("uvwxyz"), N)  # encoded as six columns, which vary in five
    thrice = pd.concat([rows] * 3, ignore_index=True)
    thrice["who"] = np.tile(np.arange(N), 3)
    asked = {"person": "who", "quick": True, "n_jobs": 1, "n_components": 2}
    return rows, audit(thrice, ["group", "age", "sex"], **asked)


def test_numbers_and_joint_groups_have_no_price(of_many):
    assert {one.attribute for one in of_many[1].leakage if one.few_people} == {"group", "sex"}


def test_people_count_not_rows_and_directions_not_columns_and_all_groups(of_many):
    rows, found = of_many
    people = np.unique(rows["group"], return_counts=True)[1] / 2
    expected = [
        plan(
            [n, people.sum() - n],
            columns=3 + 5,
            auc=leak_of(found, "raw").auc.value,
            n_components=8 - 2,
            trained_on=[n / 2, (people.sum() - n) / 2],
        ).auc_left
        for n in people
    ]
    price = leak_of(found, "leace").few_people
    assert price.n_people == int(people.min())
    assert price.expected.value == pytest.approx(np.mean(expected), abs=0.002)  # odd halves


def test_the_page_says_it_where_a_linear_method_is_recommended_or_none(of_two):
    told = [one for one in of_two.summary.sentences if "the price of so few people" in one]
    after = of_two.advice.representation or "leace"
    assert len(told) == (leak_of(of_two, after).few_people is not None)


def test_a_notice_tells_of_few_people_and_what_it_takes(of_many):
    few = table({"a": 0.25, "b": 0.75}, n=200, d=30, separation=3)
    found = audit(few, "group", quick=True, n_jobs=1)
    (notice,) = [one for one in found.notices if one.kind == "few_people"]
    people = min(one.n_rows for one in found.data.attributes[0].groups)
    assert f"the smallest group has {people} people for 30 columns" in notice.text
    command = re.search(r"fairpca (plan .*)", notice.text)[1]
    shown = CliRunner().invoke(app, shlex.split(command))
    assert f"AUC {notice.value:.2f} (" in shown.output
    assert "For AUC 0.55: " in shown.output
    assert not [one for one in of_many[1].notices if one.kind == "few_people"]
