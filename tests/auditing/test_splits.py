import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairpca.auditing._measures import sampled_with_rare_groups
from fairpca.auditing._splits import (
    QUICK,
    copies,
    drawn_rows,
    evenly_sampled,
    halves,
    one_row_each,
)


def test_models_of_a_quick_audit_are_fitted_to_whole_halves():
    """Seen on mortgages: of 4,000 rows, trees differ by 12.1 points, of 10,000 and more by 13.9."""
    assert 2 * QUICK.train_rows >= QUICK.max_rows


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


@given(st.integers(4, 200), st.integers(1, 4), st.integers(0, 2**20))
def test_rows_of_one_person_stay_together(n, rows_each, seed):
    rng = np.random.default_rng(seed)
    people, sex = rng.permutation(n * rows_each) // rows_each, rng.integers(0, 2, size=n)
    for split in halves([sex[people]], 1, rng, people):
        assert not set(people[split.train]) & set(people[split.test])
        assert len(split.train) + len(split.test) == n * rows_each
        once = split.test[one_row_each(people[split.test], rng)]
        assert sorted(people[once]) == sorted(set(people[split.test]))
        assert abs(len(once) - n / 2) <= 0.5


def test_every_row_of_a_person_is_as_likely_to_be_the_one_that_is_measured():
    people = np.repeat(np.arange(300), 4)
    place = one_row_each(people, seeded(0)) % 4
    np.testing.assert_allclose(np.bincount(place) / 300, 0.25, atol=0.1)
    np.testing.assert_array_equal(one_row_each(people, seeded(0)) // 4, np.arange(300))


@pytest.mark.parametrize("levels", [2, 10, 1000])
@pytest.mark.parametrize("n_columns", [1, 2, 4, 20])
def test_equal_rows_are_copies_unless_people_are_expected_to_be_alike(levels, n_columns):
    """Of few coarse columns nobody can tell, and people are not taken for copies."""
    rng = np.random.default_rng(0)
    people = [rng.integers(levels, size=400) for _ in range(n_columns)]
    people.append(rng.choice(2, size=400, p=[0.7, 0.3]))
    assert not copies(people)[1]
    row, copied = copies([np.tile(column, 3) for column in people])
    np.testing.assert_array_equal(row[:400], row[400:800])
    np.testing.assert_array_equal(row[:400][np.unique(row, return_index=True)[1]], np.unique(row))
    if levels == 1000 or (levels, n_columns) == (10, 20):
        assert copied
        assert n_columns < 4 or copies([np.r_[column, column[:40]] for column in people])[1]


@given(st.integers(50, 3000), st.integers(0, 2**20))
def test_every_group_of_a_draw_has_some_rows_and_stands_for_all(n, seed):
    rng = np.random.default_rng(seed)
    sex, race = rng.integers(0, 2, size=n), np.where(rng.random(n) < 0.02, 1, 0)
    race[:30] = [-1] * 10 + [1] * 20
    rows, stands_for = drawn_rows([sex, race], n // 2 + 25, rng, at_least=1000)
    assert len(rows) == len(set(rows)) == min(n, n // 2 + 25)
    assert np.all(np.diff(rows) > 0)
    assert stands_for.min() >= 1 - 1e-9
    least = max(20, (n // 2 + 25) // 8)
    for codes in (sex, race):
        known = codes >= 0
        whole, drawn = np.bincount(codes[known]), np.bincount(codes[rows][known[rows]], minlength=2)
        assert np.all(drawn[whole <= least] == whole[whole <= least])
        assert np.all(drawn >= np.minimum(whole, least) - 4)  # a step along the line may fall out
        heavy = np.bincount(codes[rows][known[rows]], stands_for[known[rows]], minlength=2)
        assert np.abs(heavy - whole).max() <= 4 * stands_for.max()


def test_sums_over_draws_are_those_of_the_table_in_the_mean():
    """A value that goes with the rare group and with the outcome, as rates of a table do."""
    rng = np.random.default_rng(0)
    rare, yes = (rng.random((2, 4000)) < [[0.02], [0.03]]).astype(int)
    value = 3 * rare + 5 * yes + rng.normal(size=4000)
    sums = []
    for seed in range(400):
        rows, stands_for = drawn_rows([rare, yes], 400, np.random.default_rng(seed), at_least=60)
        assert np.bincount(rare[rows])[1] >= 40
        sums.append([stands_for @ value[rows], stands_for @ (value * rare)[rows]])
    sums, truth = np.array(sums), np.array([value.sum(), (value * rare).sum()])
    np.testing.assert_array_less(np.abs(sums.mean(axis=0) - truth), 4 * sums.std(axis=0) / 20)


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
