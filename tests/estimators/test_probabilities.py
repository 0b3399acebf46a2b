"""Fits to probabilities of groups: what they remove where these are calibrated, and where not."""

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score

from assertions import assert_same_subspace, assert_uncorrelated
from fairpca import FairKernelPCA, FairPCA
from fairpca.erasers import LEACE, SAL, MeanProjection
from oracles import fair_pca_by_the_book

GROUPS = ("a", "b", "c")


def people(n, *, leak=0.0, seed=0):
    """Rows, groups, and their probabilities, which are calibrated.

    Rows depend on the probabilities, and by `leak` on the group itself.
    """
    rng = np.random.default_rng(seed)
    P = rng.dirichlet([0.6, 0.4, 0.3], size=n)
    z = (rng.random(n)[:, None] > P.cumsum(axis=1)).sum(axis=1)
    X = rng.normal(size=(n, 6)) @ np.diag([3.0, 2.0, 1.5, 1.0, 1.0, 0.5])
    X += P @ np.array([[1.0, 0, 2, 0, 0, 0], [0, 1, 0, -1, 0, 0], [-1, 0, 0, 0, 1, 0]])
    X[:, 5] += leak * (z == 0)
    return X, z, pd.DataFrame(P, columns=GROUPS)


@pytest.mark.parametrize(
    "estimator", [FairPCA(3), FairKernelPCA(3), LEACE(), SAL(), MeanProjection()]
)
def test_probabilities_are_numbers_of_which_one_is_redundant(estimator):
    X, _, P = people(300)
    Z = estimator.fit(X, sensitive_features=P).transform(X)
    for group in GROUPS:
        assert_uncorrelated(Z, P[group].to_numpy())
    without_one = estimator.fit(X, sensitive_features=P[["a", "b"]]).transform(X)
    np.testing.assert_allclose(Z, without_one, atol=1e-9 * np.abs(X).max())


def test_fair_pca_of_probabilities_is_that_of_the_book():
    X, _, P = people(300)
    by_the_book = fair_pca_by_the_book(X, *P.to_numpy().T, k=3)
    assert_same_subspace(FairPCA(3).fit(X, sensitive_features=P).components_.T, by_the_book)


def test_as_many_directions_go_as_with_known_groups():
    X, z, P = people(300)
    of_groups = FairPCA().fit(X, sensitive_features=z)
    of_probabilities = FairPCA().fit(X, sensitive_features=P)
    assert of_probabilities.n_components_ == of_groups.n_components_ == X.shape[1] - 2


def removed(X, sensitive):
    """The directions that fair PCA removes, as a projector."""
    kept = FairPCA().fit(X, sensitive_features=sensitive).components_
    return np.eye(X.shape[1]) - kept.T @ kept


def test_what_goes_with_probabilities_is_what_goes_with_groups():
    """Where columns depend on the group through the probabilities only, by the root of n."""
    apart = {}
    for n in (1_000, 16_000):
        found = []
        for seed in range(20):
            X, z, P = people(n, seed=seed)
            found.append(np.linalg.norm(removed(X, P) - removed(X, z), 2))
        apart[n] = np.sqrt(np.mean(np.square(found)))
    assert apart[16_000] < 0.1
    assert 3 < apart[1_000] / apart[16_000] < 5.5


def test_what_columns_know_beyond_the_probabilities_is_left():
    """What is left is Cov(z - p, x), however many people there are."""
    n, leak = 40_000, 1.0
    X, z, P = people(n, leak=leak)
    eraser = MeanProjection().fit(X, sensitive_features=P)
    Z, is_a = eraser.transform(X), (z == 0).astype(float)
    left = np.cov(Z.T, is_a)[:-1, -1]
    beyond = np.cov(eraser.transform(X).T, is_a - P["a"])[:-1, -1]
    np.testing.assert_allclose(left, beyond, atol=1e-9)
    known = MeanProjection().fit(X, sensitive_features=z == 0).transform(X)
    assert np.linalg.norm(left) > 0.05 > 1e-9 > np.linalg.norm(np.cov(known.T, is_a)[:-1, -1])
    # Of the leak itself, the part of the variance of z that probabilities do not explain.
    unexplained = np.mean(P["a"] * (1 - P["a"]))
    assert left[5] == pytest.approx(leak * unexplained, abs=0.02)


def told_by_some(n, seed, told=0.3):
    """Rows, groups, and probabilities of a logistic regression on those who told their group.

    Its score equations are E[(z - p) x] = 0 among them. The group is no logistic function of x.
    """
    rng = np.random.default_rng(seed)
    z = rng.random(n) < 0.4
    X = rng.normal(size=(n, 5)) * np.where(z, 1.4, 1.0)[:, None]
    X += z[:, None] * np.array([1.0, -0.6, 0.4, 0.0, 0.0])
    some = rng.random(n) < told
    p = LogisticRegression(C=np.inf).fit(X[some], z[some]).predict_proba(X)[:, 1]
    np.testing.assert_allclose((z - p)[some] @ X[some] / some.sum(), 0, atol=1e-3)
    return X, z, p, some


def held_out_auc(eraser, n=20_000):
    """How well a linear model, that is told all groups, predicts them on other people."""
    X, z, _, _ = told_by_some(n, seed=99)
    rows, half = eraser.transform(X), np.arange(n) < n // 2
    model = LogisticRegression(C=np.inf).fit(rows[half], z[half])
    return roc_auc_score(z[~half], model.decision_function(rows[~half]))


def test_a_proxy_of_a_logistic_regression_on_some_erases_what_the_groups_would():
    """By the root of n: with four times the people half the difference, and chance held out."""
    apart = {}
    for n in (2_000, 32_000):
        found = []
        for seed in range(15):
            X, z, p, _ = told_by_some(n, seed)
            by_proxy = LEACE().fit(X, sensitive_features=np.c_[p, 1 - p])
            by_group = LEACE().fit(X, sensitive_features=z)
            found.append(np.linalg.norm(by_proxy.components_ - by_group.components_))
        apart[n] = np.sqrt(np.mean(np.square(found)))
    assert apart[32_000] < 0.1
    assert 3 < apart[2_000] / apart[32_000] < 5.5
    assert held_out_auc(by_group) == pytest.approx(0.5, abs=0.02)
    assert held_out_auc(by_proxy) == pytest.approx(0.5, abs=0.03)


def test_a_proxy_of_one_column_leaves_what_the_others_know_beyond_it():
    """The direction is Cov(x, z - p), as the eraser maps it: it can be computed beforehand."""
    X, z, _, some = told_by_some(40_000, 0)
    one = X[:, [1]]
    p = LogisticRegression(C=np.inf).fit(one[some], z[some]).predict_proba(one)[:, 1]
    eraser = LEACE().fit(X, sensitive_features=np.c_[p, 1 - p])
    beyond = np.cov(eraser.transform(X).T, z - p)[:-1, -1]
    left = np.cov(eraser.transform(X).T, z)[:-1, -1]
    np.testing.assert_allclose(left, beyond, atol=1e-9)
    assert np.argmax(np.abs(left)) == 0  # of the column that knows most beyond the one
    assert held_out_auc(eraser) > 0.6
