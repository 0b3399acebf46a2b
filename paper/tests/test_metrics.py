"""The discrepancy against its double sum, and its test against chance."""

import json
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import kstest
from sklearn.decomposition import PCA

from fairpca.errors import MissingGroupError, SingleGroupError
from fairpca.metrics import explained_variance_ratio
from fairpca_paper import metrics
from fairpca_paper.metrics import (
    linear_inseparability,
    median_bandwidth,
    mmd_test,
    squared_mmd,
)
from slow import first_fast

NAMES = {"Adult Income": "adult", "German Credit": "german", "COMPAS": "compas"}


def double_sum_mmd2(A, B, sigma):
    def mean_kernel(P, Q):
        return np.mean([[np.exp(-((p - q) @ (p - q)) / (2 * sigma**2)) for q in Q] for p in P])

    return mean_kernel(A, A) + mean_kernel(B, B) - 2 * mean_kernel(A, B)


@st.composite
def grouped_rows(draw):
    m = draw(st.integers(2, 4))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    z = np.r_[np.arange(m), rng.integers(m, size=draw(st.integers(0, 12)))]
    return rng.normal(size=(len(z), draw(st.integers(1, 3)))) + 0.5 * z[:, None], z


@given(grouped_rows(), st.floats(0.1, 10))
def test_the_largest_pair_of_groups_agrees_with_the_double_sum(rows, sigma):
    T, z = rows
    expected = max(
        double_sum_mmd2(T[z == a], T[z == b], sigma) for a, b in combinations(np.unique(z), 2)
    )
    assert squared_mmd(T, z, bandwidth=sigma) == pytest.approx(expected, abs=1e-12)


@given(grouped_rows(), st.floats(0.01, 100), st.floats(-100, 100))
def test_with_the_median_bandwidth_units_and_origin_do_not_matter(rows, scale, shift):
    T, z = rows
    assert squared_mmd(scale * T + shift, z) == pytest.approx(squared_mmd(T, z), abs=1e-6)


@given(grouped_rows())
def test_it_lies_between_zero_and_two(rows):
    assert 0 <= squared_mmd(*rows, bandwidth=0.3) <= 2


def test_two_copies_of_the_same_rows_do_not_differ():
    T = np.random.default_rng(0).normal(size=(40, 3))
    assert squared_mmd(np.r_[T, T], np.repeat(["a", "b"], 40)) == pytest.approx(0, abs=1e-15)


def test_groups_of_equal_means_but_other_scale_do_differ():
    rng = np.random.default_rng(0)
    z = np.repeat([0, 1], 500)
    T = rng.normal(size=(1000, 2))
    assert squared_mmd(T * (1 + 2 * z[:, None]), z) > 20 * squared_mmd(T, z)


def test_blocks_do_not_change_the_answer(monkeypatch):
    rng = np.random.default_rng(0)
    T, z = rng.normal(size=(60, 2)), rng.integers(3, size=60)
    whole = squared_mmd(T, z)
    monkeypatch.setattr(metrics, "_BLOCK_ENTRIES", 50)
    assert squared_mmd(T, z) == pytest.approx(whole, abs=1e-14)


@given(st.integers(0, 2**32 - 1), st.integers(2, 25))
def test_the_median_runs_over_all_pairs_of_different_rows_once(seed, n):
    T = np.random.default_rng(seed).normal(size=(n, 2))
    squares = [np.sum((T[i] - T[j]) ** 2) for i, j in combinations(range(n), 2)]
    assert median_bandwidth(T) ** 2 == pytest.approx(np.median(squares) / 2)


def test_the_median_of_many_rows_is_repeatable_and_close():
    T = np.random.default_rng(0).normal(size=(7000, 2))
    # |t_i - t_j|^2 / 2 is chi-squared with two degrees of freedom: its median is 2 log 2. Its
    # estimate from 5000 rows has a standard error of about 1 %.
    assert median_bandwidth(T) == median_bandwidth(T)
    assert median_bandwidth(T) ** 2 == pytest.approx(2 * np.log(2), rel=0.04)


def test_no_scale_is_made_up_when_most_rows_are_equal():
    with pytest.raises(ValueError, match=r"pairs among the 9 rows.*equal.*Pass the bandwidth"):
        median_bandwidth(np.r_[np.zeros((8, 1)), [[1.0]]])


@pytest.mark.parametrize("bandwidth", [0, -1.0, np.inf, np.nan, "mean"])
def test_a_bandwidth_that_is_no_width_is_refused(bandwidth):
    with pytest.raises(ValueError, match=f"bandwidth={bandwidth!r} is not a width"):
        squared_mmd([[0.0], [1.0]], [0, 1], bandwidth=bandwidth)


def test_one_group_or_a_missing_group_is_refused():
    with pytest.raises(SingleGroupError, match="takes the single value 'a' in all 2 rows"):
        squared_mmd([[0.0], [1.0]], ["a", "a"])
    with pytest.raises(MissingGroupError, match=r"sensitive_features is missing in 1 of 2 rows"):
        squared_mmd([[0.0], [1.0]], ["a", None])


@pytest.mark.parametrize("k", [2, 10])
@pytest.mark.parametrize("dataset", first_fast(NAMES))
def test_the_published_numbers_of_plain_pca_come_out_to_the_printed_digit(dataset, k, data_folder):
    splits = np.load(data_folder / "lee2022" / f"{NAMES[dataset]}.npz")
    table = json.loads(
        (data_folder.parent / "targets" / "paper_tables.json").read_text(encoding="utf-8")
    )
    row = next(r for r in table if (r["dataset"], r["k"], r["method"]) == (dataset, k, "PCA"))

    discrepancies, kept = [], []
    for i in range(10):
        train, test = splits[f"train_{i}"][:, :-2], splits[f"test_{i}"][:, :-2]
        pca = PCA(k, svd_solver="full").fit(train)
        sigma = median_bandwidth(pca.transform(train))
        z = splits[f"test_{i}"][:, -1]
        discrepancies.append(squared_mmd(pca.transform(test), z, bandwidth=sigma))
        kept.append(100 * explained_variance_ratio(test, pca.components_))

    # Half a unit of the last printed digit.
    half_3, half_2 = 0.00051, 0.0051
    assert [np.mean(discrepancies), np.std(discrepancies)] == pytest.approx(row["mmd2"], abs=half_3)
    expected = row["explained_variance_pct"]
    assert [np.mean(kept), np.std(kept)] == pytest.approx(expected, abs=half_2)


@given(st.integers(0, 2**32 - 1), st.integers(2, 4), st.sampled_from(["median", 0.7]))
def test_on_the_same_rows_it_is_the_squared_mmd(seed, m, bandwidth):
    rng = np.random.default_rng(seed)
    z = np.r_[np.arange(m), rng.integers(m, size=30)]
    T = rng.normal(size=(len(z), 2)) + 0.5 * z[:, None]
    found = mmd_test(T, z, bandwidth=bandwidth, n_permutations=3, random_state=0)
    assert found.mmd2 == pytest.approx(squared_mmd(T, z, bandwidth=bandwidth), abs=1e-12)
    assert found.n_rows == len(z)


@pytest.mark.parametrize("shares", first_fast([[0.8, 0.15, 0.05], [0.5, 0.5]]))
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


def test_many_rows_are_sampled_by_group():
    z = np.repeat([0, 1, 2], [9000, 980, 20])
    rows = metrics._sample(z, 500, np.random.default_rng(0))
    often, seldom, rare = np.bincount(z[rows])
    assert rare == 20
    assert seldom >= 50
    assert often > 380
    X = np.random.default_rng(0).normal(size=(10_000, 2))
    found = mmd_test(X, z, max_rows=500, random_state=3)
    assert 498 <= found.n_rows <= 500
    assert found == mmd_test(X, z, max_rows=500, random_state=3)


@given(
    st.lists(st.integers(1, 300), min_size=2, max_size=8),
    st.integers(16, 200),
)
def test_a_sample_keeps_every_group_and_stays_within_its_size(counts, max_rows):
    strata = np.repeat(np.arange(len(counts)), counts)
    rows = metrics._sample(strata, max_rows, np.random.default_rng(0))
    assert len(np.unique(rows)) == len(rows) <= max(max_rows, 0)
    assert set(strata[rows]) == set(range(len(counts)))
    assert len(rows) >= min(len(strata), max_rows - len(counts))


def test_blocks_of_permutations_do_not_change_the_answer(monkeypatch):
    rng = np.random.default_rng(0)
    T, z = rng.normal(size=(60, 2)), rng.integers(3, size=60)
    whole = mmd_test(T, z, n_permutations=20, random_state=0)
    monkeypatch.setattr(metrics, "_SHUFFLED_ENTRIES", 400)
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
    with pytest.raises(ValueError, match=r"10 groups.*max_rows=15.*Merge"):
        mmd_test(T, np.arange(20) % 10, max_rows=15)


def test_separated_groups_have_no_errors_and_mixed_ones_about_half():
    rng = np.random.default_rng(0)
    z = rng.permutation(np.repeat([0, 1], 500))
    X = rng.normal(size=(1000, 2))
    assert linear_inseparability(X + 20 * z[:, None], z) == 0
    assert linear_inseparability(X, z) == pytest.approx(0.5, abs=0.05)


def test_errors_are_counted_on_the_test_rows_when_they_are_given():
    X, z = [[0.0], [1.0], [4.0], [5.0]], ["a", "a", "b", "b"]
    error = linear_inseparability(
        X, z, X_test=[[0.0], [1.0], [5.0]], sensitive_features_test=["b", "a", "b"]
    )
    assert error == pytest.approx(1 / 3)


def test_what_a_classifier_cannot_be_asked_is_refused():
    two = ["a", "b"]
    with pytest.raises(SingleGroupError, match="single value 'a'"):
        linear_inseparability(np.eye(2), ["a", "a"])
    with pytest.raises(ValueError, match=r"1 group\(s\) of the test rows.* such as 'c'"):
        linear_inseparability(np.eye(2), two, X_test=np.eye(2), sensitive_features_test=["a", "c"])
    for half in ({"X_test": np.eye(2)}, {"sensitive_features_test": two}):
        with pytest.raises(ValueError, match="belong together"):
            linear_inseparability(np.eye(2), two, **half)
