"""What fair PLS decides by itself: penalties, shrinkage, landmarks, what is compared together."""

import numpy as np
import pytest
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.metrics import roc_auc_score

from fairpca import FairPLS, UsageError
from fairpca.metrics import certified_gap


@pytest.fixture(scope="module")
def people():
    """Sex shows in the mean of the first feature and the spread of the second."""
    rng = np.random.default_rng(0)
    n = 3000
    sex = rng.choice(["f", "m"], n, p=[0.3, 0.7])
    X = rng.normal(size=(n, 6))
    X[:, 0] += sex == "m"
    X[:, 1] *= np.where(sex == "m", 2.0, 0.7)
    return X, sex, X[:, :4].sum(axis=1) + rng.normal(size=n)


def test_stronger_matching_brings_new_rows_closer(people):
    X, sex, y = people
    half = len(X) // 2
    gaps = []
    for match in ("means", "covariances", "distributions"):
        fair = FairPLS(match=match).fit(X[:half], y[:half], sensitive_features=sex[:half])
        T = fair.transform(X[half:])
        gaps.append(certified_gap(T[:, 0], sex[half:]).observed)
    assert gaps[0] > gaps[1] > gaps[2]


def test_shrinkage_grows_where_rows_are_few(people):
    X, sex, y = people
    wide = np.hstack([X, np.random.default_rng(1).normal(size=(len(X), 30))])
    few, many = (
        FairPLS(match="means").fit(wide[:n], y[:n], sensitive_features=sex[:n]).shrinkage_
        for n in (60, 3000)
    )
    assert few > 3 * many


def test_landmarks_come_from_all_groups_alike(people):
    X, _, y = people
    rare = np.where(np.arange(len(X)) < 60, "rare", "many")
    fair = FairPLS(kernel="rbf", n_landmarks=80, scale=False, random_state=0)
    fair.fit(X, y, sensitive_features=rare)
    from_rare = (fair.landmarks_[:, None] == X[None, :60]).all(axis=2).any(axis=1).sum()
    assert from_rare == 40


def test_the_score_of_two_classes_rises_with_the_positive_one(people):
    X, sex, y = people
    words = np.where(y > 0, "accept", "reject")
    scores = {}
    for positive in ("accept", "reject"):
        fair = FairPLS(pos_label=positive).fit(X, words, sensitive_features=sex)
        scores[positive] = fair.transform(X)[:, 0]
        assert np.corrcoef(scores[positive], words == positive)[0, 1] > 0.3
        assert fair.targets_["y"][-1] == positive


def test_units_of_features_do_not_matter(people):
    X, sex, y = people
    kernel = {"kernel": "rbf", "n_landmarks": 50, "random_state": 0}
    units = np.array([1e4, 1.0, 1e-3, 5.0, 1.0, 1e2])
    for options in ({}, kernel):
        one, other = (
            FairPLS(**options).fit(Z, y, sensitive_features=sex).transform(Z)
            for Z in (X, X * units)
        )
        np.testing.assert_allclose(one, other, atol=1e-6)


@pytest.mark.parametrize("match", ["means", "covariances", "distributions"])
def test_classes_may_be_many(match):
    """Sixty topics of texts, told by forty columns; whole numbers may be a quantity."""
    rng = np.random.default_rng(0)
    topic, sex = np.arange(3000) % 60, rng.integers(0, 2, 3000)
    X = rng.normal(size=(60, 40))[topic] + 0.3 * rng.normal(size=(3000, 40))
    X[:, 0] += sex
    y = np.array([f"topic {i}" for i in topic])
    fair = FairPLS(None if match == "means" else 5, match=match)
    T = fair.fit_transform(X, y, sensitive_features=sex)
    assert len(fair.targets_["y"]) == 60
    assert T.shape == (3000, 39 if match == "means" else 5)
    np.testing.assert_allclose(T[sex == 0].mean(axis=0), T[sex == 1].mean(axis=0), atol=1e-9)
    means = np.stack([T[topic == i].mean(axis=0) for i in range(60)])
    nearest = np.argmin(((T[:, None] - means) ** 2).sum(axis=2), axis=1)
    assert np.mean(nearest == topic) > (0.95 if match == "means" else 0.5)
    with pytest.raises(UsageError, match=r"60 whole-number values.*target_kinds"):
        FairPLS(match=match).fit(X, topic, sensitive_features=sex)


def many_targets(n=6000, d=12, seed=0):
    """Ten targets; twelve features correlate in another way in each group, twelve do not."""
    rng = np.random.default_rng(seed)
    sex = rng.integers(0, 2, n)
    of = rng.normal(size=(2, d, d)) / np.sqrt(d) + np.eye(d)
    told = np.einsum("nd,nde->ne", rng.normal(size=(n, d)), of[sex])
    X = np.hstack([told, rng.normal(size=(n, d))])
    Y = X @ rng.normal(size=(2 * d, 10)) + rng.normal(size=(n, 10))
    return X, sex, {f"t{j}": y for j, y in enumerate(Y.T)}


def auc_of_trees(T, sex):
    half = len(T) // 2
    trees = HistGradientBoostingClassifier(random_state=0).fit(T[:half], sex[:half])
    return roc_auc_score(sex[half:], trees.predict_proba(T[half:])[:, 1])


def test_more_targets_hardly_tell_more_of_the_groups(monkeypatch):
    """On new rows; ten scores that are matched one by one tell as much as no match at all."""
    monkeypatch.setattr("fairpca.solvers._equalize_distributions.STEPS", 60)
    X, sex, targets = many_targets()
    new = slice(3000, None)
    leaks = {}
    for n_targets, match in ((5, "distributions"), (10, "distributions"), (10, "means")):
        y = {name: targets[name][:3000] for name in list(targets)[:n_targets]}
        fair = FairPLS(match=match).fit(X[:3000], y, sensitive_features=sex[:3000])
        leaks[n_targets, match] = auc_of_trees(fair.transform(X[new]), sex[new])
    assert leaks[10, "means"] > 0.7
    assert leaks[10, "distributions"] < leaks[5, "distributions"] + 0.05
    assert leaks[10, "distributions"] < 0.6
