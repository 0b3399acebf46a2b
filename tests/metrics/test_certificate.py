"""The certificate: it holds as often as promised, and is small enough to be of use."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import ks_2samp, norm
from sklearn.tree import DecisionTreeClassifier

from fairpca.errors import MissingGroupError, SingleGroupError, UnpairedRowsError, UsageError
from fairpca.metrics import certified_gap, selection_rate_gap
from fairpca.metrics._certificate import _METHODS, _clopper_pearson
from slow import first_fast

UNIFORM = np.full(8, 1 / 8)
SKEWED = np.array([0.9, 0.04, 0.03, 0.02, 0.01, 0.0, 0.0, 0.0])
TILTED = np.arange(1, 9) / 36

SHAPES = {
    "two cells": ([np.array([0.6, 0.4]), np.array([0.4, 0.6])], [400, 400]),
    "apart": ([UNIFORM, TILTED], [300, 100]),
    "one cell holds nearly all": ([np.array([0.97, 0.03]), np.array([0.94, 0.06])], [500, 500]),
    "empty cells": ([SKEWED, SKEWED[::-1]], [60, 60]),
    "three groups": ([UNIFORM, TILTED, SKEWED], [100, 200, 40]),
    "a group of three rows": ([UNIFORM, TILTED], [400, 3]),
}


def largest_distance(distributions):
    return max(0.5 * np.abs(p - q).sum() for p in distributions for q in distributions)


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


def random_groups(distributions, sizes, rng):
    """Rows in random order: which group comes first must not matter."""
    cells, groups = draw(distributions, sizes, rng)
    order = rng.permutation(len(cells))
    return cells[order], groups[order]


@pytest.mark.parametrize("method", _METHODS["cells"])
@pytest.mark.parametrize("shape", first_fast(reversed(SHAPES), 2))
def test_the_bound_holds_at_least_as_often_as_promised(shape, method):
    distributions, sizes = SHAPES[shape]
    rng = np.random.default_rng(0)
    truth, repeats = largest_distance(distributions), 400
    held = 0
    for _ in range(repeats):
        cells, groups = random_groups(distributions, sizes, rng)
        # 80 %, so that failures would be seen: 320 of 400 are promised.
        found = certified_gap(
            cells, groups, confidence=0.8, method=method, n_cells=len(distributions[0])
        )
        held += found.bound >= truth - 1e-12
        assert 0 <= found.observed <= found.bound <= 1
    # Binomial(400, 0.8) is below 300 with a probability of less than 0.7 %.
    assert held >= 300


@pytest.mark.parametrize("method", ["deviation", "dkw"])
@pytest.mark.parametrize("shape", first_fast(SCORES, 3))
def test_the_bound_of_scores_holds_for_every_threshold_as_often_as_promised(shape, method):
    scores, sizes = SCORES[shape]
    rng = np.random.default_rng(0)
    truth, groups = largest_threshold_gap(scores), np.repeat(np.arange(len(sizes)), sizes)
    failed = 0
    for _ in range(2000):
        drawn = np.concatenate([one(n, rng) for (one, _), n in zip(scores, sizes, strict=True)])
        found = certified_gap(drawn, groups, of="scores", confidence=0.8, method=method)
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
        found = certified_gap(drawn, groups, of="scores", confidence=0.8, method="dkw")
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


@pytest.mark.parametrize("method", _METHODS["cells"])
def test_more_rows_of_the_same_kind_make_it_smaller(method):
    cells, groups = np.tile([0, 0, 1, 1, 0, 1], 20), np.tile([0, 1, 0, 1, 0, 1], 20)
    bounds = [
        certified_gap(np.tile(cells, r), np.tile(groups, r), n_cells=2, method=method).bound
        for r in (1, 4, 16, 64)
    ]
    observed = certified_gap(cells, groups).observed
    assert bounds == sorted(bounds, reverse=True)
    assert bounds[0] > bounds[-1] > observed


@given(st.integers(0, 2**32 - 1), st.integers(2, 5), st.integers(2, 4))
def test_no_classifier_of_the_cells_is_less_fair_on_these_rows_than_observed(seed, c, m):
    rng = np.random.default_rng(seed)
    groups = np.r_[np.arange(m), rng.integers(m, size=40)]
    cells = rng.integers(c, size=len(groups))
    observed = certified_gap(cells, groups, n_cells=c).observed
    accepted = np.array([[(number >> i) & 1 for i in range(c)] for number in range(2**c)])
    rates = np.array([accepted[:, cells[groups == g]].mean(axis=1) for g in range(m)])
    assert np.ptp(rates, axis=0).max() == pytest.approx(observed)


@given(st.integers(0, 2**32 - 1), st.integers(1, 30), st.integers(2, 4))
def test_no_threshold_is_less_fair_on_these_rows_than_observed(seed, n_values, m):
    rng = np.random.default_rng(seed)
    groups = rng.permutation(np.r_[np.arange(m), rng.integers(m, size=40)])
    values = np.r_[-np.inf, rng.normal(size=n_values), np.inf]  # an infinite score is a score
    scores = rng.choice(values, size=len(groups))
    found = certified_gap(scores, groups, of="scores")
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
    found = certified_gap(scores, groups, of="scores")
    for same in (np.exp(scores), np.argsort(np.argsort(scores)), pd.Series(scores), list(scores)):
        assert certified_gap(same, groups, of="scores") == found
    assert certified_gap(-scores, groups, of="scores").bound == pytest.approx(found.bound)
    near = 2**60 + np.arange(300) % 7  # integers that are one float
    assert certified_gap(near, groups, of="scores").observed > 0


def test_margins_of_scores_are_those_of_the_book():
    n, delta = np.array([400, 100]), 0.1
    groups, scores = np.repeat([0, 1], n), np.tile([0.5, 1.5, 2.5, 3.5], 125)
    deviation, dkw, best = (
        certified_gap(scores, groups, of="scores", confidence=1 - delta, method=method)
        for method in ("deviation", "dkw", "best")
    )
    assert deviation.observed == 0.0
    assert deviation.bound == pytest.approx(np.sqrt(np.log(1 / delta) / 2 * (1 / n).sum()))
    assert dkw.bound == pytest.approx(np.sqrt(np.log(4 / delta) / 2) * (1 / np.sqrt(n)).sum())
    assert best == deviation
    groups = np.repeat([0, 1, 2], [400, 50, 50])
    three = certified_gap(scores, groups, of="scores", confidence=1 - delta, method="dkw")
    errors = np.sqrt(np.log(6 / delta) / 2 / np.array([400, 50, 50]))
    for one, (g, h) in zip(three.pairs, [(0, 1), (0, 2), (1, 2)], strict=True):
        assert one.bound - one.observed == pytest.approx(errors[g] + errors[h])


def test_a_certificate_of_scores_says_that_it_is_about_thresholds():
    found = certified_gap(np.arange(600) / 7, np.arange(600) % 2, of="scores")
    assert (found.of, found.n_cells, found.n_rows) == ("scores", 2, 600)
    assert "no threshold on this score decides positively for 0 and 1" in str(found)
    assert certified_gap(np.arange(600) % 2, np.arange(600) % 3).of == "cells"


def test_a_classifier_trained_by_an_adversary_stays_below_the_bound():
    rng = np.random.default_rng(0)
    p, q = UNIFORM, TILTED
    seen_cells, seen_groups = draw([p, q], [2000, 2000], rng)
    certificate = certified_gap(seen_cells, seen_groups, n_cells=8)
    adversary = DecisionTreeClassifier(random_state=0).fit(seen_cells[:, None], seen_groups)
    new_cells, new_groups = draw([p, q], [100_000, 100_000], rng)
    gap = selection_rate_gap(adversary.predict(new_cells[:, None]), new_groups)
    assert 0.5 * certificate.observed < gap < certificate.bound < 0.3


def test_cells_help_where_one_cell_holds_nearly_all_rows():
    rng = np.random.default_rng(0)
    cells, groups = draw([SKEWED, SKEWED], [3000, 3000], rng)
    deviation, by_cells, best = (
        certified_gap(cells, groups, method=method, n_cells=8).bound
        for method in ("deviation", "cells", "best")
    )
    uniform = certified_gap(*draw([UNIFORM, UNIFORM], [3000, 3000], rng), n_cells=8)
    assert by_cells > deviation  # eight intervals still cost more than they save
    assert best < 1.05 * deviation
    assert uniform.bound < 0.08
    lonely = certified_gap(np.r_[np.zeros(2999, int), 1, np.zeros(3000, int)], groups, n_cells=2)
    assert lonely.bound < 0.01
    assert lonely.bound < certified_gap(cells, groups, method="deviation").bound / 3


def test_one_cell_gives_nothing_away():
    assert certified_gap(np.zeros(20, int), np.arange(20) % 2, n_cells=1).bound == 0.0


def test_the_pair_that_the_bound_is_about_is_named_with_its_sizes():
    cells = np.r_[np.zeros(500, int), np.ones(500, int), [0, 1, 1]]
    groups = np.repeat(["a", "b", "few"], [500, 500, 3])
    certificate = certified_gap(cells, groups, n_cells=2)
    assert certificate.bound == 1.0
    assert {pair.pair for pair in certificate.pairs} == {("a", "b"), ("a", "few"), ("b", "few")}
    assert certificate.pairs[1].n_rows == (500, 3)
    assert "95% confidence" in str(certificate)


def test_groups_of_other_names_and_cells_of_other_names_are_the_same():
    rng = np.random.default_rng(0)
    cells, groups = rng.integers(3, size=200), rng.integers(2, size=200)
    named = certified_gap(np.array(["x", "y", "z"])[cells], np.array(["f", "m"])[groups])
    numbered = certified_gap(cells, groups)
    assert named.bound == pytest.approx(numbered.bound)
    assert named.pair == ("f", "m")
    assert numbered.method == "deviation"  # which does not ask how many cells there are


@given(st.integers(1, 60), st.floats(0.01, 0.99))
def test_exact_intervals_fail_no_more_often_than_allowed(n, p):
    from scipy.stats import binom

    k = np.arange(n + 1)
    low, high = _clopper_pearson(k, np.full(n + 1, n), 0.05)
    weight = binom.pmf(k, n, p)
    assert weight[low > p].sum() <= 0.05 + 1e-9
    assert weight[high < p].sum() <= 0.05 + 1e-9


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"confidence": 1.0}, "confidence=1.0"),
        ({"method": "bootstrap"}, "method='bootstrap'"),
        ({"method": "cells"}, "Pass n_cells"),
        ({"n_cells": 0}, "n_cells=0"),
        ({"n_cells": 2}, "whole numbers from 0 to 1"),
        ({"of": "ranks"}, "of='ranks'.*'cells'.*or 'scores'"),
        ({"method": "dkw"}, "method='dkw' is not a way.* of cells"),
        ({"of": "scores", "method": "fare"}, "of scores. Use one of best, deviation, dkw"),
        ({"of": "scores", "n_cells": 3}, "n_cells=3 was given for scores.*Leave out"),
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
    with pytest.raises(SingleGroupError):
        certified_gap([0.5, 1.5], ["a", "a"], of="scores")
    with pytest.raises(MissingGroupError):
        certified_gap([0.5, 1.5], ["a", None], of="scores")


@pytest.mark.parametrize(
    ("scores", "message"),
    [
        ([0.1, np.nan, 0.3, np.nan], r"scores is missing \(None or NaN\) in 2 of 4 rows.*-inf"),
        ([0.1, None, 0.3, 0.4], "scores is missing.*in 1 of 4 rows"),
        (np.ma.array([0.1, 0.2, 0.3, 0.4], mask=[0, 1, 0, 0]), "scores is missing.*in 1 of 4"),
        (["low", "high", "low", "low"], "not numbers, such as 'low'.*of='cells'"),
        (np.ones((4, 2)), r"scores has shape \(4, 2\).*one column at a time"),
        ([0.1, 0.2, 0.3], "groups has 4 values for 3 rows"),
        ([], "scores has no rows"),
        (0.5, "scores has no rows"),
    ],
)
def test_what_is_not_a_score_is_refused(scores, message):
    with pytest.raises(UsageError, match=message):
        certified_gap(scores, [0, 1, 0, 1], of="scores")


def test_scores_of_other_rows_are_refused():
    scores, groups = pd.Series([0.1, 0.2, 0.3]), pd.Series(["a", "b", "a"], index=[2, 1, 0])
    with pytest.raises(UnpairedRowsError, match="row labels of scores and groups differ"):
        certified_gap(scores, groups, of="scores")


def test_scores_given_as_cells_are_refused_with_what_to_pass():
    rng = np.random.default_rng(0)
    groups, scores = np.arange(200) % 2, rng.normal(size=200)
    for many in (scores, scores.astype(np.float32), scores.tolist(), scores.round(2)):
        with pytest.raises(UsageError, match=r"different numbers in 200 rows.*of='scores'.*Cells"):
            certified_gap(many, groups)
    assert certified_gap(np.round(scores), groups).bound < 1  # whole numbers name cells
    assert certified_gap(np.round(scores, 1), groups).observed < 1  # few of them
    assert certified_gap(np.arange(200.0), groups).bound == 1.0  # names, however many
