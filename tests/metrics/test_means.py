"""How far group means are apart, in standard deviations of a column."""

import numpy as np
import pytest
from scipy.stats import norm
from sklearn.metrics import roc_auc_score

from fairpca import FairPCA
from fairpca.metrics import mean_gap


def test_it_is_the_largest_distance_in_units_of_its_column():
    rng = np.random.default_rng(0)
    z = rng.integers(3, size=200)
    T = rng.normal(size=(200, 4)) * [1, 10, 100, 1e-3] + np.outer(z == 2, [0, 5, 0, 0])
    expected = max(
        abs(T[z == g, j].mean() - T[:, j].mean()) / T[:, j].std()
        for g in range(3)
        for j in range(4)
    )
    assert mean_gap(T, z) == pytest.approx(expected)


def test_on_the_training_rows_it_is_what_the_estimator_says():
    rng = np.random.default_rng(0)
    z = rng.choice(["a", "b", "c"], size=300)
    X = rng.normal(size=(300, 6)) + np.outer(z == "c", [2.0, 1, 0, 0, 0, 0])
    fair = FairPCA(3).fit(X, sensitive_features=z)
    assert mean_gap(fair.transform(X), z) < 1e-12
    both = FairPCA(3, tradeoff=1.0).fit(X, sensitive_features=z)
    assert mean_gap(both.transform(X)[:, 3:], z) > 0.5


def test_two_tenths_mean_an_auc_of_about_sixty_one_percent():
    rng = np.random.default_rng(0)
    z = np.arange(200_000) % 2
    within = np.sqrt(1 - 0.2**2)  # so that all rows have a standard deviation of one
    T = within * rng.normal(size=(len(z), 1)) + np.where(z == 1, 0.2, -0.2)[:, None]
    assert mean_gap(T, z) == pytest.approx(0.2, abs=0.01)
    assert roc_auc_score(z, T[:, 0]) == pytest.approx(norm.cdf(0.4 / np.sqrt(2)), abs=0.01)


def test_columns_that_do_not_vary_do_not_count():
    T = np.column_stack([np.full(6, 0.1 + 0.2), [1.0, 2, 3, 3, 2, 1]])
    assert mean_gap(T, [0, 0, 0, 1, 1, 1]) == pytest.approx(0.0, abs=1e-15)
    assert mean_gap(np.ones((4, 2)), [0, 0, 1, 1]) == 0.0
