"""Fits to probabilities of groups: what they remove where these are calibrated, and where not."""

import numpy as np
import pandas as pd
import pytest

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
