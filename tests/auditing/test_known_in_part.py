"""Attributes that are known in part: how many are left out, and what gaps may be with them."""

import html
import re
from itertools import product

import numpy as np
import pandas as pd
import pytest

from fairpca import Audit, audit
from fairpca.auditing import Overview
from fairpca.metrics import proxy_difference, selection_rate_difference


def decided(n=2000, seed=0, gap=0.1):
    """Groups and decisions, of which 50 in 100 are positive on average."""
    rng = np.random.default_rng(seed)
    race = rng.choice(["white", "black"], size=n, p=[0.6, 0.4])
    granted = rng.random(n) < np.where(race == "white", 0.5 + gap / 2, 0.5 - gap / 2)
    return pd.DataFrame({"race": race, "granted": np.where(granted, "yes", "no")})


def measured(people, **options):
    return audit(people, "race", decisions="granted", quick=True, n_jobs=1, **options)


def parity_of(found):
    return found.downstream[-1].parities[0]


def text_of(found):
    """Return the words of the page, without the numbers that are embedded in it."""
    page = re.sub(r"<(script|style)\b.*?</\1>", " ", found.to_html(), flags=re.DOTALL)
    return " ".join(html.unescape(re.sub(r"<[^>]+>", " ", page)).split())


@pytest.fixture(scope="module")
def ashamed():
    """Most black people who were rejected do not tell: the gap among the others is turned round."""
    people = decided(gap=0.15)
    rng = np.random.default_rng(1)
    hide = (people["race"] == "black") & (people["granted"] == "no") & (rng.random(2000) < 0.6)
    return people, people.assign(race=people["race"].mask(hide))


@pytest.fixture(scope="module")
def found(ashamed):
    return measured(ashamed[1])


def test_bounds_hold_whoever_does_not_tell_and_the_gap_among_the_others_does_not(ashamed, found):
    people, told = ashamed
    yes = people["granted"] == "yes"
    truth = selection_rate_difference(None, yes, sensitive_features=people["race"])
    of_known, bounds = parity_of(found).gap, parity_of(found).bounds
    assert not of_known.low <= truth <= of_known.high
    assert bounds.smallest <= truth <= bounds.largest
    assert bounds.n_unknown == told["race"].isna().sum()


def test_bounds_are_those_of_proxy_difference(ashamed, found):
    _, told = ashamed
    yes = told["granted"] == "yes"
    alone = proxy_difference(
        None, yes, sensitive_features=told["race"].where(told["race"].notna(), None)
    )
    bounds = parity_of(found).bounds
    assert parity_of(found).gap.value == pytest.approx(alone.difference, abs=1e-12)
    ends = max(-alone.bounds[0], alone.bounds[1])
    assert (bounds.smallest, bounds.largest) == pytest.approx((0.0, ends), abs=1e-12)
    ends = max(-alone.bounds_interval[0], alone.bounds_interval[1])
    assert (bounds.low, bounds.high) == pytest.approx((0.0, ends), abs=1e-12)


@pytest.mark.parametrize("seed", range(4))
def test_bounds_hold_for_every_way_in_which_few_people_may_belong(seed):
    rng = np.random.default_rng(seed)
    n, groups = 360, ["a", "b", "c"]
    people = pd.DataFrame({"race": np.repeat(groups, 120), "granted": rng.random(n) < 0.5})
    unknown = rng.choice(n, size=4, replace=False)
    told = people.assign(race=people["race"].mask(people.index.isin(unknown)))
    bounds = parity_of(measured(told)).bounds
    possible = []
    for groups_of in product(groups, repeat=4):
        race = people["race"].to_numpy(copy=True)
        race[unknown] = groups_of
        possible.append(selection_rate_difference(None, people["granted"], sensitive_features=race))
    assert bounds.largest == pytest.approx(max(possible), abs=1e-12)
    assert bounds.smallest <= min(possible) + 1e-12


def test_bounds_of_numbers_in_standard_deviations():
    rng = np.random.default_rng(3)
    n = 300
    people = pd.DataFrame({"race": rng.choice(["a", "b"], size=n), "wage": rng.normal(9, 3, n)})
    people["predicted"] = people["wage"] + rng.normal(size=n)
    told = people.assign(race=people["race"].mask(rng.random(n) < 0.1))
    found = audit(told, "race", "wage", scores="predicted", quick=True, n_jobs=1)
    bounds = parity_of(found).bounds
    means = people["predicted"].groupby(people["race"]).mean()
    truth = abs(means["a"] - means["b"]) / found.data.target.deviation
    assert bounds.smallest <= truth <= bounds.largest
    assert bounds.low < bounds.smallest or bounds.smallest == 0
    assert bounds.high > bounds.largest


def test_who_is_left_out_is_told_by_page_json_and_summary(found):
    n = parity_of(found).bounds.n_unknown
    (notice,) = [one for one in found.notices if one.kind == "unknown_group"]
    assert notice.severity == "warning"
    assert f"of {n} of 2,000 rows" in notice.text
    said = f"The group of {n} people is unknown: whoever they are, the gap is"
    page = text_of(found)
    assert said in " ".join(found.summary.sentences)
    assert said in page
    assert f"with {n} people of unknown group" in page
    assert Audit.from_json(found.to_json()) == found


def test_a_limit_is_met_only_where_groups_are_known():
    people = decided(n=6000, gap=0.0, seed=5)
    rng = np.random.default_rng(6)
    told = people.assign(race=people["race"].mask(rng.random(6000) < 0.1))
    found = measured(told, max_gap=0.06)
    assert parity_of(found).gap.high <= 0.06 < parity_of(found).bounds.high
    assert Overview(found).state == "Limit met where groups are known"
    assert (
        "within the limit of 6 points among people whose group is known" in found.summary.headline
    )
    complete = measured(people, max_gap=0.06)
    assert Overview(complete).state == "Limit met"
    assert "known" not in complete.summary.headline


def test_a_few_unknown_people_do_not_change_the_verdict():
    people = decided(n=6000, gap=0.0, seed=5)
    people.loc[:2, "race"] = None
    found = measured(people, max_gap=0.06)
    assert parity_of(found).bounds.high < 0.06
    assert Overview(found).state == "Limit met"


def test_without_unknown_groups_there_are_no_bounds():
    found = measured(decided())
    assert parity_of(found).bounds is None
    assert "unknown" not in text_of(found)


def test_bounds_of_models_hold_the_gap_among_all_people():
    """A model's gap among all people is within its bounds, where a part of them did not tell."""
    rng = np.random.default_rng(7)
    people = decided(n=800, seed=8)
    people["x"] = rng.normal(size=800) + (people["race"] == "white")
    people["u"] = rng.normal(size=800)
    told = people.assign(race=people["race"].mask(rng.random(800) < 0.08))
    asked = {"target": "granted", "quick": True, "n_jobs": 1}
    whole, part = (audit(table, "race", **asked) for table in (people, told))
    raw = [one.downstream[0].parities[0] for one in (whole, part)]
    assert raw[1].bounds.low <= raw[0].gap.value <= raw[1].bounds.high
    assert raw[1].bounds.smallest <= raw[1].gap.value <= raw[1].bounds.largest
