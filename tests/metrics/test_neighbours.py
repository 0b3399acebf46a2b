"""Neighbours and similarities before and after, against brute force."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import ortho_group, spearmanr
from sklearn.metrics.pairwise import cosine_similarity, euclidean_distances
from sklearn.neighbors import NearestNeighbors

from fairpca.errors import UsageError
from fairpca.metrics import _neighbours, leakage, neighbours_kept, similarity_correlation
from optional_libraries import pandas as pd
from optional_libraries import torch

METRICS = ["cosine", "euclidean"]


def embeddings(n=120, d=8, seed=0):
    return np.random.default_rng(seed).normal(size=(n, d)) + 0.5


def by_brute_force(X, T, k, metric):
    near = []
    for rows in (X, T):
        search = NearestNeighbors(n_neighbors=k, metric=metric, algorithm="brute").fit(rows)
        near.append(search.kneighbors(return_distance=False))
    return np.mean([len(set(a) & set(b)) for a, b in zip(*near, strict=True)]) / k


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("k", [1, 10, 118, 119])
def test_neighbours_are_those_of_a_search(k, metric, monkeypatch):
    X, T = embeddings(), embeddings()[:, :3]
    expected = by_brute_force(X, T, k, metric)
    assert neighbours_kept(X, T, n_neighbors=k, metric=metric) == pytest.approx(expected)
    monkeypatch.setattr(_neighbours, "_BLOCK_ENTRIES", 7 * len(X))  # blocks of seven rows
    assert neighbours_kept(X, T, n_neighbors=k, metric=metric) == pytest.approx(expected)


@pytest.mark.parametrize("metric", METRICS)
def test_similarities_are_compared_by_rank_over_all_pairs(metric, monkeypatch):
    X, T = embeddings(), embeddings()[:, :3]
    similar = {"cosine": cosine_similarity, "euclidean": lambda A: -euclidean_distances(A)}[metric]
    upper = np.triu_indices(len(X), 1)
    expected = spearmanr(similar(X)[upper], similar(T)[upper])[0]
    assert similarity_correlation(X, T, metric=metric) == pytest.approx(expected, abs=1e-9)
    monkeypatch.setattr(_neighbours, "_BLOCK_ENTRIES", 100)
    assert similarity_correlation(X, T, metric=metric) == pytest.approx(expected, abs=1e-9)
    drawn = [
        similarity_correlation(X, T, metric=metric, n_pairs=2000, random_state=seed)
        for seed in range(20)
    ]
    assert np.mean(drawn) == pytest.approx(expected, abs=0.02)
    assert 0 < np.std(drawn) < 0.03
    again = similarity_correlation(X, T, metric=metric, n_pairs=2000, random_state=0)
    assert again == drawn[0]


@given(st.integers(2, 60), st.integers(1, 6), st.integers(0, 999), st.sampled_from(METRICS))
def test_rotated_and_rescaled_rows_have_the_same_neighbours(n, d, seed, metric):
    rng = np.random.default_rng(seed)
    X = rng.integers(-2, 3, size=(n, d)).astype(float)  # with many ties, and rows of zeros
    T = 3.0 * (X @ ortho_group.rvs(d, random_state=seed) if d > 1 else -X)
    k = int(rng.integers(1, n))
    assert neighbours_kept(X, X, n_neighbors=k, metric=metric) == pytest.approx(1.0)
    assert neighbours_kept(X, T, n_neighbors=k, metric=metric) == pytest.approx(1.0)
    order = rng.permutation(n)
    Y = rng.integers(-2, 3, size=(n, d))
    found = neighbours_kept(X, Y, n_neighbors=k, metric=metric)
    shuffled = neighbours_kept(X[order], Y[order], n_neighbors=k, metric=metric)
    assert shuffled == pytest.approx(found)
    assert 0 <= found <= 1


@pytest.mark.parametrize("metric", METRICS)
def test_the_same_rows_correlate_and_unrelated_ones_do_not(metric):
    X, T = embeddings(), embeddings(seed=1)
    rotated = X @ ortho_group.rvs(8, random_state=0)
    for same in (X, rotated, 2 * X, X.astype(np.float32), np.asfortranarray(X), pd.DataFrame(X)):
        assert similarity_correlation(X, same, metric=metric) > 1 - 1e-9
        assert neighbours_kept(X, same, metric=metric) > 1 - 1e-3
    assert abs(similarity_correlation(X, T, metric=metric)) < 0.1
    assert neighbours_kept(X, T, metric=metric) == pytest.approx(10 / 119, abs=0.03)


def test_rows_that_are_all_alike_keep_neighbours_by_chance_only():
    X = embeddings(50)
    for T in (np.ones((50, 3)), np.zeros((50, 3))):
        assert neighbours_kept(X, T, n_neighbors=7) == pytest.approx(7 / 49)
        with pytest.raises(UsageError, match="All pairs of rows of T are equally similar"):
            similarity_correlation(X, T)


def test_a_row_far_from_all_others_hides_no_neighbours():
    X, T = embeddings(60), embeddings(60)[:, :4]
    expected = neighbours_kept(X, T, n_neighbors=3, metric="euclidean")
    X, T = np.vstack([X, np.full(8, 1e5)]), np.vstack([T, np.full(4, 1e5)])
    found = neighbours_kept(X, T, n_neighbors=3, metric="euclidean")
    assert found == pytest.approx(expected, abs=0.05)
    assert neighbours_kept(1e200 * X, 1e-200 * T) == pytest.approx(neighbours_kept(X, T))


def test_every_pair_has_a_number():
    i, j = _neighbours._pair(np.arange(1000))
    assert len(set(zip(i.tolist(), j.tolist(), strict=True))) == 1000
    assert ((j >= 0) & (j < i)).all()
    assert i.max() == 45
    for n in (10**5, 3 * 10**6):  # the root of the number has no digits for each pair
        last = n * (n - 1) // 2 - 1
        i, j = _neighbours._pair(np.array([last, last + 1]))
        assert (i.tolist(), j.tolist()) == ([n - 1, n], [n - 2, 0])


@pytest.mark.parametrize(
    ("words", "given"),
    [
        ("metric='dot'", {"metric": "dot"}),
        (r"X has 120 rows and T has 3", {"T": np.eye(3)}),
        ("n_neighbors=120.*119 others", {"n_neighbors": 120}),
        ("n_neighbors=0", {"n_neighbors": 0}),
        ("n_neighbors=True", {"n_neighbors": True}),
        ("row labels", {"X": pd.DataFrame(embeddings()), "T": "reversed"}),
    ],
)
def test_what_cannot_be_compared_is_an_error(words, given):
    given = {"X": embeddings(), "T": embeddings(), **given}
    if isinstance(given["T"], str):
        given["T"] = given["X"][::-1]
    with pytest.raises(UsageError, match=words):
        neighbours_kept(**given)
    if "n_neighbors" not in given:
        with pytest.raises(UsageError, match=words):
            similarity_correlation(**given)


@pytest.mark.parametrize("given", [{"n_pairs": 2}, {"n_pairs": True}, {"X": np.eye(2)}])
def test_a_correlation_needs_three_pairs(given):
    given = {"X": embeddings(), **given}
    with pytest.raises(UsageError, match="needs 3 pairs"):
        similarity_correlation(**given, T=given["X"])


@pytest.mark.parametrize("dtype", ["float64", "float32", "bfloat16", "float16"])
def test_tensors_of_any_precision_are_rows(dtype):
    X = torch.from_numpy(embeddings()).to(getattr(torch, dtype)).requires_grad_()
    rows = X.detach().double().numpy()
    T, groups = X[:, :3], np.arange(120) % 2
    assert neighbours_kept(X, T) == pytest.approx(neighbours_kept(rows, rows[:, :3]))
    found = similarity_correlation(X, T)
    assert found == pytest.approx(similarity_correlation(rows, rows[:, :3]))
    found, expected = (leakage(each, groups, random_state=0).auc for each in (X, rows))
    assert found == pytest.approx(expected, abs=1e-3)
