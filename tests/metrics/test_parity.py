"""Gaps in decisions, by hand and against fairlearn, without which they are computed."""

import numpy as np
import pytest

from fairpca.errors import MissingGroupError, MissingTargetError
from fairpca.metrics import selection_rate_gap, true_positive_rate_gap


def decisions(seed=0, n=200):
    rng = np.random.default_rng(seed)
    return rng.integers(2, size=n), rng.integers(2, size=n), rng.choice(["a", "b", "c"], size=n)


def test_gaps_are_those_of_fairlearn():
    metrics = pytest.importorskip("fairlearn.metrics", reason="needs the extra 'parity'")
    y, y_pred, z = decisions()
    dp = metrics.demographic_parity_difference(y, y_pred, sensitive_features=z)
    eo = metrics.equal_opportunity_difference(y, y_pred, sensitive_features=z)
    assert selection_rate_gap(y_pred, z) == pytest.approx(dp)
    assert true_positive_rate_gap(y_pred, z, y_true=y) == pytest.approx(eo)


def test_gaps_are_the_largest_differences_of_shares():
    y, y_pred, z = decisions(1)
    selected = [y_pred[z == g].mean() for g in "abc"]
    recognised = [y_pred[(z == g) & (y == 1)].mean() for g in "abc"]
    assert selection_rate_gap(y_pred, z, y_true=y) == pytest.approx(np.ptp(selected))
    assert true_positive_rate_gap(y_pred, z, y_true=y) == pytest.approx(np.ptp(recognised))


def test_any_label_can_be_the_positive_one():
    y_pred = ["deny", "approve", "deny", "deny"]
    assert selection_rate_gap(y_pred, [0, 0, 1, 1], pos_label="approve") == 0.5


def test_nobody_selected_is_parity():
    assert selection_rate_gap([0, 0, 0], ["a", "b", "b"]) == 0


def test_scores_and_unknown_labels_are_refused():
    with pytest.raises(ValueError, match=r"y_pred has 3 distinct values.*Threshold scores"):
        selection_rate_gap([0.1, 0.5, 0.9], ["a", "b", "b"])
    with pytest.raises(ValueError, match=r"y_pred has 2 distinct values.*pos_label=1"):
        selection_rate_gap(["yes", "no"], ["a", "b"])


def test_a_group_without_positives_is_refused_by_name():
    with pytest.raises(MissingTargetError, match=r"no positive \(1\) among the 2 rows of group b"):
        true_positive_rate_gap([1, 0, 1, 0], ["a", "a", "b", "b"], y_true=[1, 0, 0, 0])


def test_missing_groups_and_other_lengths_are_refused():
    with pytest.raises(MissingGroupError, match="sensitive_features is missing"):
        selection_rate_gap([0, 1], ["a", None])
    with pytest.raises(ValueError, match="y_true has 3 values for 2 rows"):
        true_positive_rate_gap([0, 1], ["a", "b"], y_true=[0, 1, 1])
