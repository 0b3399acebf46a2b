import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from fairpca.auditing._splits import (
    evenly_sampled,
    halves,
    represents,
    sampled_with_rare_groups,
)


def seeded(seed):
    return np.random.default_rng(seed)


@given(st.integers(2, 200), st.integers(1, 3), st.integers(0, 2**20))
def test_every_row_is_held_out_once_a_round_and_never_trained_on_there(n, n_rounds, seed):
    rng = np.random.default_rng(seed)
    strata = [rng.integers(0, 3, size=n), rng.integers(0, 2, size=n)]
    splits = halves(strata, n_rounds, rng)
    assert [s.index for s in splits] == list(range(2 * n_rounds))
    for first, second in zip(splits[0::2], splits[1::2], strict=True):
        np.testing.assert_array_equal(np.sort(np.r_[first.test, second.test]), np.arange(n))
        for split in (first, second):
            assert not set(split.train) & set(split.test)


@given(st.integers(10, 300), st.integers(0, 2**20))
def test_halves_have_the_same_share_of_every_combination(n, seed):
    rng = np.random.default_rng(seed)
    a, b = rng.integers(0, 3, size=n), rng.integers(0, 2, size=n)
    first = halves([a, b], 1, rng)[0]
    joint = 2 * a + b
    train, test = (np.bincount(joint[rows], minlength=6) for rows in (first.train, first.test))
    assert np.abs(train - test).max() <= 1


def test_another_round_divides_otherwise():
    strata = [np.zeros(100, int)]
    splits = halves(strata, 2, np.random.default_rng(0))
    assert not np.array_equal(splits[0].test, splits[2].test)
    assert not np.array_equal(splits[0].test, splits[3].test)


@given(st.integers(1, 500), st.integers(1, 100), st.integers(0, 2**20))
def test_a_sample_has_distinct_rows_and_groups_in_proportion(n, wanted, seed):
    rng = np.random.default_rng(seed)
    groups = rng.integers(0, 3, size=n)
    rows = evenly_sampled([groups], wanted, rng)
    assert len(rows) == len(set(rows)) == min(n, wanted)
    expected = np.bincount(groups, minlength=3) * len(rows) / n
    assert np.abs(np.bincount(groups[rows], minlength=3) - expected).max() < 2


def test_a_group_of_many_rare_combinations_is_in_both_halves():
    """Each of its rows is a combination of its own, so chance alone would divide it."""
    rare = np.repeat([1, 0], [20, 400])
    other = np.r_[np.arange(20), seeded(0).integers(0, 20, size=400)]
    for seed in range(300):
        first, _ = halves([rare, other], 1, seeded(seed))
        assert 5 <= rare[first.test].sum() <= 15


def test_a_sample_of_known_rows_keeps_rare_groups():
    codes = np.repeat([0, 1, 2, -1], [5000, 60, 10, 3000])
    rows = sampled_with_rare_groups(codes, 400, seeded(0))
    assert len(rows) <= 400
    np.testing.assert_array_equal(np.bincount(codes[rows])[1:], [50, 10])
    assert codes[rows].min() >= 0
    assert represents(rows, codes)
    assert not represents(rows[codes[rows] < 2], codes)
    assert not represents(np.r_[rows, len(codes) - 1], codes)
