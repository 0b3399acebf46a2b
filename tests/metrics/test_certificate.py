"""The certificate: it holds as often as promised, and is small enough to be of use."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import ks_2samp, norm
from sklearn.tree import DecisionTreeClassifier

from fairpca.errors import MissingGroupError, SingleGroupError, UsageError
from fairpca.metrics import certified_gap, selection_rate_difference
from slow import first_fast

METHODS = ("deviation", "dkw")
UNIFORM = np.full(8, 1 / 8)
TILTED = np.arange(1, 9) / 36


def normal(mean, scale):
    """A score without ties: how to draw it, and its distribution function."""
    return (
        lambda n, rng: mean + scale * rng.normal(size=n),
        lambda t: norm.cdf((t - mean) / scale),
    )


def tied(shares):
    """A score that takes few values, 0 to k - 1."""
    steps = np.r_[0.0, np.cumsum(shares)]
    return (
        lambda n, rng: rng.choice(len(shares), size=n, p=shares).astype(float),
        lambda t: steps[np.clip(np.floor(t).astype(int) + 1, 0, len(shares))],
    )


SCORES = {
    "equal": ([normal(0, 1), normal(0, 1)], [200, 200]),
    "shifted, unequal sizes": ([normal(0, 1), normal(0.5, 1)], [600, 60]),
    "one threshold matters": ([tied([0.6, 0.4]), tied([0.4, 0.6])], [300, 300]),
    "ties": ([tied(UNIFORM), tied(TILTED)], [150, 100]),
    "spread only": ([normal(0, 1), normal(0, 1.5)], [200, 120]),
    "three groups": ([normal(0, 1), normal(0.3, 1), normal(0, 2)], [150, 100, 40]),
    "a group of three rows": ([normal(0, 1), normal(1, 1)], [400, 3]),
}
GRID = np.linspace(-8, 9, 6801)  # with all ties among its points


def largest_threshold_gap(scores):
    below = [distribution(GRID) for _, distribution in scores]
    return max(np.abs(p - q).max() for p in below for q in below)


def draw(distributions, sizes, rng):
    cells = [rng.choice(len(p), size=n, p=p) for p, n in zip(distributions, sizes, strict=True)]
    return np.concatenate(cells), np.repeat(np.arange(len(sizes)), sizes)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("shape", first_fast(SCORES, 3))
def test_the_bound_of_scores_holds_for_every_threshold_as_often_as_promised(shape, method):
    scores, sizes = SCORES[shape]
    rng = np.random.default_rng(0)
    truth, groups = largest_threshold_gap(scores), np.repeat(np.arange(len(sizes)), sizes)
    failed = 0
    for _ in range(2000):
        drawn = np.concatenate([one(n, rng) for (one, _), n in zip(scores, sizes, strict=True)])
        found = certified_gap(drawn, groups, confidence=0.8, method=method)
        failed += found.bound < truth - 1e-12
        assert 0 <= found.observed <= found.bound <= 1
    # Binomial(2000, 0.2) is above 455 with a probability of about 0.1 %.
    assert failed <= 455
    if shape == "one threshold matters" and method == "deviation":
        # What Hoeffding's inequality gives away: a normal quantile says 3.4 %, 67 draws, sd 8.
        assert 40 < failed < 95


@pytest.mark.parametrize("sizes", [(300, 300), (600, 60)])
def test_dkw_holds_at_every_threshold_by_itself(sizes):
    """Nowhere is the gap of the population farther from that of the rows than the margin."""
    rng = np.random.default_rng(0)
    groups, failed = np.repeat([0, 1], sizes), 0
    truth = norm.cdf(GRID) - norm.cdf(GRID - 0.5)
    for _ in range(500):
        drawn = rng.normal(size=sum(sizes)) + 0.5 * groups
        found = certified_gap(drawn, groups, confidence=0.8, method="dkw")
        below = [np.searchsorted(np.sort(drawn[groups == g]), GRID, "right") for g in (0, 1)]
        gap = below[0] / sizes[0] - below[1] / sizes[1]
        failed += np.abs(gap - truth).max() > found.bound - found.observed
    assert failed <= 130  # Binomial(500, 0.2) is above with a probability of less than 0.1 %


def test_it_is_not_so_careful_as_to_be_of_no_use():
    """The deviation bound may fail with 20 %, and a bound that never fails gives something away."""
    rng = np.random.default_rng(0)
    p, q = np.array([0.6, 0.4]), np.array([0.4, 0.6])
    bounds = np.array(
        [certified_gap(*draw([p, q], [400, 400], rng), confidence=0.8).bound for _ in range(1000)]
    )
    # Where the best set is clear, Hoeffding is all that is lost: a normal quantile at 0.1 less.
    assert 0.85 < np.mean(bounds >= 0.2) < 0.97
    assert bounds.mean() == pytest.approx(0.2 + np.sqrt(0.5 * np.log(5) * 2 / 400), abs=0.01)


@pytest.mark.parametrize("method", METHODS)
def test_more_rows_of_the_same_kind_make_it_smaller(method):
    cells, groups = np.tile([0, 0, 1, 1, 0, 1], 20), np.tile([0, 1, 0, 1, 0, 1], 20)
    bounds = [
        certified_gap(np.tile(cells, r), np.tile(groups, r), method=method).bound
        for r in (1, 4, 16, 64)
    ]
    observed = certified_gap(cells, groups).observed
    assert bounds == sorted(bounds, reverse=True)
    assert bounds[0] > bounds[-1] > observed


@given(st.integers(0, 2**32 - 1), st.integers(1, 30), st.integers(2, 4))
def test_no_threshold_is_less_fair_on_these_rows_than_observed(seed, n_values, m):
    rng = np.random.default_rng(seed)
    groups = rng.permutation(np.r_[np.arange(m), rng.integers(m, size=40)])
    values = np.r_[-np.inf, rng.normal(size=n_values), np.inf]  # an infinite score is a score
    scores = rng.choice(values, size=len(groups))
    found = certified_gap(scores, groups)
    for one in found.pairs:
        first, second = (scores[groups == g] for g in one.pair)
        gaps = [
            abs(np.mean(above(first, t)) - np.mean(above(second, t)))
            for t in scores
            for above in (np.greater, np.greater_equal)
        ]
        assert one.observed == pytest.approx(max(gaps), abs=1e-12)
        assert one.observed == pytest.approx(ks_2samp(first, second).statistic, abs=1e-12)
        assert one.n_rows == (len(first), len(second))
        low, high = np.sort(rng.choice(values, size=2))
        between = [np.mean((low < some) & (some <= high)) for some in (first, second)]
        assert abs(np.subtract(*between)) <= 2 * one.observed + 1e-12
    assert found.observed == max(one.observed for one in found.pairs)
    assert found.bound == max(one.bound for one in found.pairs)


def test_the_order_of_scores_is_all_that_counts():
    rng = np.random.default_rng(0)
    scores, groups = rng.normal(size=300), rng.integers(3, size=300)
    found = certified_gap(scores, groups)
    for same in (np.exp(scores), np.argsort(np.argsort(scores)), pd.Series(scores), list(scores)):
        assert certified_gap(same, groups) == found
    assert certified_gap(-scores, groups).bound == pytest.approx(found.bound)
    near = 2**60 + np.arange(300) % 7  # integers that are one float
    assert certified_gap(near, groups).observed > 0


def test_margins_of_scores_are_those_of_the_book():
    n, delta = np.array([400, 100]), 0.1
    groups, scores = np.repeat([0, 1], n), np.tile([0.5, 1.5, 2.5, 3.5], 125)
    deviation, dkw = (
        certified_gap(scores, groups, confidence=1 - delta, method=method) for method in METHODS
    )
    assert deviation.observed == 0.0
    assert deviation.bound == pytest.approx(np.sqrt(np.log(1 / delta) / 2 * (1 / n).sum()))
    assert dkw.bound == pytest.approx(np.sqrt(np.log(4 / delta) / 2) * (1 / np.sqrt(n)).sum())
    assert certified_gap(scores, groups, confidence=1 - delta) == deviation
    groups = np.repeat([0, 1, 2], [400, 50, 50])
    three = certified_gap(scores, groups, confidence=1 - delta, method="dkw")
    errors = np.sqrt(np.log(6 / delta) / 2 / np.array([400, 50, 50]))
    for one, (g, h) in zip(three.pairs, [(0, 1), (0, 2), (1, 2)], strict=True):
        assert one.bound - one.observed == pytest.approx(errors[g] + errors[h])


def test_a_certificate_of_scores_says_that_it_is_about_thresholds():
    found = certified_gap(np.arange(600) / 7, np.arange(600) % 2)
    assert found.n_rows == 600
    assert "no threshold on this score decides positively for 0 and 1" in str(found)


def test_a_threshold_chosen_by_an_adversary_stays_below_the_bound():
    rng = np.random.default_rng(0)
    seen, seen_groups = draw([UNIFORM, TILTED], [2000, 2000], rng)
    certificate = certified_gap(seen, seen_groups)
    adversary = DecisionTreeClassifier(max_depth=1).fit(seen[:, None], seen_groups)
    new, new_groups = draw([UNIFORM, TILTED], [100_000, 100_000], rng)
    gap = selection_rate_difference(
        None, adversary.predict(new[:, None]), sensitive_features=new_groups
    )
    assert 0.5 * certificate.observed < gap < certificate.bound < 0.3


def test_the_pair_that_the_bound_is_about_is_named_with_its_sizes():
    scores = np.r_[np.zeros(500), np.ones(500), [0, 1, 1]]
    groups = np.repeat(["a", "b", "few"], [500, 500, 3])
    certificate = certified_gap(scores, groups)
    assert certificate.bound == 1.0
    assert {pair.pair for pair in certificate.pairs} == {("a", "b"), ("a", "few"), ("b", "few")}
    assert certificate.pairs[1].n_rows == (500, 3)
    assert "95% confidence" in str(certificate)


def test_groups_of_other_names_are_the_same():
    rng = np.random.default_rng(0)
    scores, groups = rng.normal(size=200), rng.integers(2, size=200)
    named = certified_gap(scores, np.array(["f", "m"])[groups])
    assert named.bound == certified_gap(scores, groups).bound
    assert named.pair == ("f", "m")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"confidence": 1.0}, "confidence=1.0"),
        ({"method": "bootstrap"}, "method='bootstrap' is not a way.*Use one of deviation, dkw"),
    ],
)
def test_what_cannot_be_certified_is_refused(arguments, message):
    with pytest.raises(ValueError, match=message):
        certified_gap([0, 1, 2, 0], [0, 1, 0, 1], **arguments)


def test_one_group_or_a_missing_one_is_refused():
    with pytest.raises(SingleGroupError):
        certified_gap([0, 1], ["a", "a"])
    with pytest.raises(MissingGroupError):
        certified_gap([0, 1], ["a", None])


@pytest.mark.parametrize(
    ("scores", "message"),
    [
        ([0.1, np.nan, 0.3, np.nan], r"scores is missing \(None or NaN\) in 2 of 4 rows.*-inf"),
        ([0.1, None, 0.3, 0.4], "scores is missing.*in 1 of 4 rows"),
        (np.ma.array([0.1, 0.2, 0.3, 0.4], mask=[0, 1, 0, 0]), "scores is missing.*in 1 of 4"),
        (["low", "high", "low", "low"], "not numbers, such as 'low'.*Pass numbers"),
        (np.ones((4, 2)), r"scores has shape \(4, 2\).*one column at a time"),
        ([0.1, 0.2, 0.3], "sensitive_features has 4 values for 3 rows"),
        ([], r"scores has shape \(0,\).*a row at least"),
        (0.5, r"scores has shape \(\), but one value"),
    ],
)
def test_what_is_not_a_score_is_refused(scores, message):
    with pytest.raises(UsageError, match=message):
        certified_gap(scores, [0, 1, 0, 1])


def test_scores_of_other_rows_are_refused():
    scores, groups = pd.Series([0.1, 0.2, 0.3]), pd.Series(["a", "b", "a"], index=[2, 1, 0])
    with pytest.raises(UsageError, match="labels of scores and sensitive_features differ"):
        certified_gap(scores, groups)
