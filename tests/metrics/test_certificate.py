"""The certificate: it holds as often as promised, and is small enough to be of use."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.tree import DecisionTreeClassifier

from fairpca.errors import MissingGroupError, SingleGroupError
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


def draw(distributions, sizes, rng):
    cells = [rng.choice(len(p), size=n, p=p) for p, n in zip(distributions, sizes, strict=True)]
    return np.concatenate(cells), np.repeat(np.arange(len(sizes)), sizes)


def random_groups(distributions, sizes, rng):
    """Rows in random order: which group comes first must not matter."""
    cells, groups = draw(distributions, sizes, rng)
    order = rng.permutation(len(cells))
    return cells[order], groups[order]


@pytest.mark.parametrize("method", _METHODS)
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


@pytest.mark.parametrize("method", _METHODS)
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
