"""The permutation test: the same discrepancy, uniform p-values under chance, small ones else."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import kstest

from fairpca.errors import MissingGroupError, SingleGroupError
from fairpca.metrics import MMDKernel, mmd_test, squared_mmd
from fairpca.metrics import _mmd as mmd
from fairpca.metrics._inputs import stratified_rows


@given(st.integers(0, 2**32 - 1), st.integers(2, 4), st.sampled_from(["median", 0.7]))
def test_on_the_same_rows_it_is_the_squared_mmd(seed, m, bandwidth):
    rng = np.random.default_rng(seed)
    z = np.r_[np.arange(m), rng.integers(m, size=30)]
    T = rng.normal(size=(len(z), 2)) + 0.5 * z[:, None]
    found = mmd_test(T, z, bandwidth=bandwidth, n_permutations=3, random_state=0)
    assert found.mmd2 == pytest.approx(squared_mmd(T, z, bandwidth=bandwidth), abs=1e-12)
    assert found.n_rows == len(z)


@pytest.mark.parametrize("shares", [[0.5, 0.5], [0.8, 0.15, 0.05]])
def test_p_values_are_uniform_where_groups_are_chance(shares):
    def p_value(seed):
        rng = np.random.default_rng(seed)
        z = np.r_[np.arange(len(shares)), rng.choice(len(shares), size=80, p=shares)]
        T = rng.normal(size=(len(z), 3))
        return mmd_test(T, z, n_permutations=99, random_state=seed).p_value

    p = np.array([p_value(seed) for seed in range(400)])
    # The standard error of the share is 0.011; the p-values are multiples of 0.01.
    assert (p <= 0.05).mean() < 0.09
    assert kstest(p, "uniform").pvalue > 0.001


@pytest.mark.parametrize("difference", ["mean", "scale", "correlation"])
def test_any_difference_is_found(difference):
    rng = np.random.default_rng(0)
    z = np.arange(600) % 2
    T = rng.normal(size=(600, 2))
    if difference == "mean":
        T[z == 1] += 0.5
    elif difference == "scale":
        T[z == 1] *= 1.6
    else:
        T[z == 1, 1] = 0.8 * T[z == 1, 0] + 0.6 * T[z == 1, 1]
    found = mmd_test(T, z, random_state=0)
    assert found.above_chance
    assert found.p_value == pytest.approx(1 / 201)
    assert found.chance_mean < found.chance_high < found.mmd2


def test_the_noise_of_a_tiny_group_does_not_hide_a_difference_of_large_ones():
    rng = np.random.default_rng(0)
    z = np.repeat([0, 1, 2], [500, 500, 12])
    T = rng.normal(size=(len(z), 2))
    T[z == 1] += 0.3
    found = mmd_test(T, z, random_state=0)
    assert found.mmd2 < found.chance_high  # the largest is that of the twelve rows
    assert found.above_chance


def test_one_kernel_serves_several_attributes():
    rng = np.random.default_rng(0)
    T = rng.normal(size=(300, 2))
    sex, age = rng.integers(2, size=300), rng.choice(["young", "middle", "old"], size=300)
    kernel = MMDKernel(T)
    for groups in (sex, age):
        assert kernel.test(groups, random_state=1).mmd2 == mmd_test(T, groups, random_state=1).mmd2


def test_many_rows_are_sampled_by_group():
    rng = np.random.default_rng(0)
    z = np.repeat(["often", "seldom", "rare"], [9000, 980, 20])
    T = rng.normal(size=(10_000, 2))
    kernel = MMDKernel(T, max_rows=500, strata=z, random_state=0)
    counts = dict(zip(*np.unique(z[kernel.rows], return_counts=True), strict=True))
    assert counts["rare"] == 20
    assert counts["seldom"] >= 50
    assert counts["often"] > 380
    found = kernel.test(z, random_state=0)
    assert 498 <= found.n_rows <= 500
    assert found.mmd2 == pytest.approx(squared_mmd(T[kernel.rows], z[kernel.rows]), abs=1e-12)
    assert mmd_test(T, z, max_rows=500, random_state=3) == mmd_test(
        T, z, max_rows=500, random_state=3
    )


@given(
    st.lists(st.integers(1, 300), min_size=2, max_size=8),
    st.integers(16, 200),
)
def test_a_sample_keeps_every_group_and_stays_within_its_size(counts, max_rows):
    strata = np.repeat(np.arange(len(counts)), counts)
    rows = stratified_rows(len(strata), max_rows, strata, np.random.RandomState(0))
    assert len(np.unique(rows)) == len(rows) <= max(max_rows, 0)
    assert set(strata[rows]) == set(range(len(counts)))
    assert len(rows) >= min(len(strata), max_rows - len(counts))


def test_blocks_of_permutations_do_not_change_the_answer(monkeypatch):
    rng = np.random.default_rng(0)
    T, z = rng.normal(size=(60, 2)), rng.integers(3, size=60)
    whole = mmd_test(T, z, n_permutations=20, random_state=0)
    monkeypatch.setattr(mmd, "_SHUFFLED_ENTRIES", 400)
    blocks = mmd_test(T, z, n_permutations=20, random_state=0)
    assert blocks.p_value == whole.p_value
    assert blocks.chance_mean == pytest.approx(whole.chance_mean, abs=1e-12)


def test_what_cannot_be_compared_is_refused():
    T = np.random.default_rng(0).normal(size=(20, 2))
    with pytest.raises(SingleGroupError):
        mmd_test(T, np.zeros(20))
    with pytest.raises(MissingGroupError):
        mmd_test(T, ["a", None] * 10)
    with pytest.raises(ValueError, match="n_permutations=0"):
        mmd_test(T, [0, 1] * 10, n_permutations=0)
    with pytest.raises(ValueError, match="max_rows=1 "):
        mmd_test(T, [0, 1] * 10, max_rows=1)
    with pytest.raises(ValueError, match=r"10 levels.*max_rows=15.*Merge"):
        mmd_test(T, np.arange(20) % 10, max_rows=15)
