"""Twins that differ in the attribute alone: what is removed is how they differ, and no topic."""

import numpy as np
import pytest
from sklearn.base import clone

from fairpca import FairPCA, FairPLS
from fairpca.erasers import LEACE, SAL, MeanProjection, within_pairs
from fairpca.errors import MissingGroupError, ResidualWarning, SingleGroupError, UsageError
from fairpca.metrics import plan
from optional_libraries import pandas as pd
from oracles import indicator_matrix

METHODS = [MeanProjection(), SAL(), LEACE(), FairPCA()]


@pytest.fixture
def texts():
    """Return embeddings of texts, who they are about, and twins; nursing texts are about her.

    The first axis is the gender's, the second that of nursing, and the attribute is in no other.
    """
    rng = np.random.default_rng(0)
    topic = rng.integers(0, 2, 300)
    twins = rng.normal(size=(300, 12)) + np.outer(topic, 4.0 * np.eye(12)[1])
    she, he = twins + rng.normal(0, 0.1, (300, 12)), twins + rng.normal(0, 0.1, (300, 12))
    alone = rng.integers(0, 2, 600)
    nursing = rng.random(600) < np.where(alone == 1, 0.9, 0.1)
    others = rng.normal(size=(600, 12)) + np.outer(nursing, 4.0 * np.eye(12)[1])
    X = np.vstack([she, he, others])
    who = np.r_[np.ones(300, int), np.zeros(300, int), alone]
    X[:, 0] += 3.0 * who
    pair = np.r_[np.arange(300), np.arange(300), -np.arange(1, 601)]
    return X, np.where(who == 1, "she", "he"), pair, np.r_[topic, topic, nursing]


def gap(T, groups):
    return np.linalg.norm(T[groups].mean(axis=0) - T[~groups].mean(axis=0))


@pytest.mark.parametrize("method", METHODS, ids=str)
def test_the_difference_of_twins_goes_and_the_topic_stays(method, texts):
    X, who, pair, topic = texts
    fitted = clone(method).fit(X, sensitive_features=within_pairs(who, pair))
    T, plain = fitted.transform(X), clone(method).fit_transform(X, sensitive_features=who)
    np.testing.assert_allclose(T[:300].mean(axis=0), T[300:600].mean(axis=0), atol=1e-10)
    before, nursing = gap(X, topic == 1), topic == 1
    assert gap(T, nursing) > 0.95 * gap(X[:, 1:], nursing)
    assert gap(plain, nursing) < 0.8 * before
    assert T.shape[1] + (method.__class__ is FairPCA) == 12


def test_what_goes_is_the_direction_of_the_attribute(texts):
    X, who, pair, _ = texts
    removed = (
        np.eye(12) - MeanProjection().fit(X, sensitive_features=within_pairs(who, pair)).components_
    )
    along = np.linalg.svd(removed)[0][:, 0]
    assert abs(along[0]) > 0.999
    assert abs(along @ (X[:300] - X[300:600]).mean(axis=0)) == pytest.approx(
        np.linalg.norm((X[:300] - X[300:600]).mean(axis=0))
    )


@pytest.mark.parametrize("method", METHODS, ids=str)
def test_new_twins_are_told_apart_as_well_as_planned(method):
    """Differences of twins, either way round, are two groups whose means are at delta and -delta.

    So n pairs are n / 2 people in each, whatever the topics are and whoever has no twin.
    """
    rng, n, d, times = np.random.default_rng(0), 60, 10, 400
    A, delta = rng.normal(size=(d, d)), np.eye(d)[0]
    planned = plan([n / 2, n / 2], columns=d, separation=2 * np.linalg.norm(delta))
    left = []
    for _ in range(times):
        he = rng.normal(size=(n, d)) + 9 * rng.normal(size=(n, 1))
        alone = rng.normal(size=(90, d)) + 9 * rng.normal(size=(90, 1))
        X = np.vstack([he, he + delta + rng.normal(size=(n, d)), alone]) @ A
        pair = np.r_[np.arange(n), np.arange(n), np.full(90, np.nan)]
        columns = within_pairs(np.arange(len(X)) // n > 0, pair)
        fitted = clone(method).fit(X, sensitive_features=columns)
        new, origin = (fitted.transform(rows @ A) for rows in (np.eye(d), np.zeros((1, d))))
        M = new - origin  # of differences: delta becomes delta @ M
        left.append((delta @ M) @ np.linalg.pinv(M.T @ M, rcond=1e-9) @ (delta @ M))
    error = np.std(left) / np.sqrt(times)
    assert 0.1 < planned.share_left < 0.2
    assert np.mean(left) == pytest.approx(planned.share_left, abs=4 * error)
    assert 4 * error < 0.1 * planned.share_left


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("m", [2, 3])
def test_the_columns_are_what_is_left_of_indicators_after_those_of_pairs(m, weighted):
    """A regression on one indicator per pair, by weighted least squares."""
    rng = np.random.default_rng(m)
    z, pair = rng.integers(0, m, 80), rng.integers(0, 25, 80)
    w = rng.integers(0, 4, 80).astype(float) if weighted else np.ones(80)
    columns = within_pairs({"z": z}, pair, sample_weight=w if weighted else None)
    P, Z, root = indicator_matrix(pair), indicator_matrix(z), np.sqrt(w)[:, None]
    left = Z - P @ np.linalg.lstsq(root * P, root * Z, rcond=None)[0]
    left = (left if m > 2 else left[:, 1:])[w > 0]
    found = np.stack(list(columns.values()), axis=1)[w > 0]
    np.testing.assert_allclose(found, left, atol=1e-12)
    assert list(columns) == [f"z={level}" for level in range(m if m > 2 else 2)][-found.shape[1] :]


@pytest.mark.parametrize("method", METHODS, ids=str)
def test_complete_pairs_are_the_groups(method):
    rng = np.random.default_rng(1)
    X, z, pair = rng.normal(size=(90, 6)), np.arange(90) % 3, np.arange(90) // 3
    X[:, :2] += np.stack([z == 1, z == 2], axis=1)
    columns = within_pairs(z, pair)
    T = clone(method).fit_transform(X, sensitive_features=columns)
    np.testing.assert_allclose(T, clone(method).fit_transform(X, sensitive_features=z), atol=1e-9)


def test_weights_of_twins_that_differ_let_no_topic_in(texts):
    X, who, pair, topic = texts
    w = np.random.default_rng(2).uniform(0.1, 3, len(X)) * np.where(topic == (who == "she"), 5, 1)
    columns = within_pairs(who, pair, sample_weight=w)
    fitted = MeanProjection().fit(X, sensitive_features=columns, sample_weight=w)
    assert abs(np.linalg.svd(np.eye(12) - fitted.components_)[0][0, 0]) > 0.999


def test_rows_without_a_pair_and_pairs_of_any_kind(texts):
    _, who, pair, _ = texts
    expected = within_pairs(who, pair)["sensitive=she"]
    words = [f"pair {p}" if p >= 0 else None for p in pair]
    numbers = np.where(pair >= 0, pair, np.nan)
    for pairs in (words, numbers, pd.Series(words), pd.Series(numbers), np.array(words, object)):
        np.testing.assert_array_equal(within_pairs(who, pairs)["sensitive=she"], expected)
    assert not expected[600:].any()


def test_batches_and_several_attributes(texts):
    X, who, pair, topic = texts
    rng = np.random.default_rng(3)
    columns = within_pairs({"who": who, "old": rng.integers(0, 2, len(X))}, pair)
    whole, parts = LEACE().fit(X, sensitive_features=columns), LEACE()
    for rows in np.array_split(rng.permutation(len(X)), 4):
        parts.partial_fit(X[rows], sensitive_features={k: v[rows] for k, v in columns.items()})
    np.testing.assert_allclose(parts.components_, whole.components_, atol=1e-10)
    assert whole.groups_ == {"who=she": "numeric", "old=1": "numeric"}
    FairPLS(match="means").fit(X, topic, sensitive_features=columns)


def test_what_cannot_be_paired_is_an_error(texts):
    _, who, pair, _ = texts
    for error, words, given in (
        (SingleGroupError, "No pair has two levels", (who, np.arange(len(who)))),
        (SingleGroupError, "No pair has two levels", (np.arange(4) % 3, np.arange(4))),
        (UsageError, r"pairs has shape \(3,\).*1200 entries", (who, [0, 1, 2])),
        (UsageError, "has fractions", (np.linspace(0, 1.5, len(who)), pair)),
        (MissingGroupError, "missing in 1 of 2", (["she", None], [0, 0])),
    ):
        with pytest.raises(error, match=words):
            within_pairs(*given)
    with pytest.raises(UsageError, match="row labels"):
        within_pairs(pd.Series([0, 1]), pd.Series([0, 0], index=[1, 0]))
    with pytest.warns(ResidualWarning, match=r"\['they'\].*in no pair"):
        columns = within_pairs(["she", "he", "they"], [0, 0, 1])
    assert list(columns) == ["sensitive=he", "sensitive=she"]
