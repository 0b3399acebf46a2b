"""Groups that are known as probabilities: soft rates, what they miss, and bounds that do not."""

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import linprog

from fairpca.errors import MissingGroupError, UsageError
from fairpca.metrics import (
    distribution_gap,
    explained_difference,
    false_positive_rate_difference,
    leakage,
    mean_prediction_difference,
    precision_difference,
    proxy_difference,
    selection_rate_difference,
    selection_rate_ratio,
    true_positive_rate_difference,
)

RATES = (
    selection_rate_difference,
    selection_rate_ratio,
    true_positive_rate_difference,
    false_positive_rate_difference,
    precision_difference,
    distribution_gap,
)


def people(n, seed=0, m=3):
    """Labels, decisions, probabilities of groups and weights."""
    rng = np.random.default_rng(seed)
    P = rng.dirichlet(np.ones(m) / 2, size=n)
    return rng.integers(2, size=n), rng.integers(2, size=n), P, rng.integers(0, 4, size=n)


@pytest.mark.parametrize("rate", RATES, ids=lambda rate: rate.__name__)
def test_probabilities_of_0_and_1_are_groups(rate):
    y, d, P, w = people(200)
    z = P.argmax(axis=1)
    sure = pd.get_dummies(z).set_axis(["a", "b", "c"], axis=1)
    named = np.array(["a", "b", "c"])[z]
    for weight in (None, w):
        soft, hard = (rate(y, d, sensitive_features=s, sample_weight=weight) for s in (sure, named))
        assert soft == pytest.approx(hard, abs=1e-12)


def test_rates_are_weighted_by_probabilities():
    y, d, P, w = people(60)
    shares = {
        selection_rate_difference: (w, d),
        true_positive_rate_difference: (w * y, d),
        false_positive_rate_difference: (w * (1 - y), d),
        precision_difference: (w * d, y),
    }
    for rate, (counted, flags) in shares.items():
        by_hand = (counted * flags) @ P / (counted @ P)
        found = rate(y, d, sensitive_features=P, sample_weight=w)
        assert found == pytest.approx(np.ptp(by_hand), abs=1e-12), rate.__name__
    scores = y + np.linspace(0, 1, 60)
    means = (w * scores) @ P / (w @ P)
    found = mean_prediction_difference(None, scores, sensitive_features=P, sample_weight=w)
    assert found == pytest.approx(np.ptp(means), abs=1e-12)


def test_probabilities_within_strata():
    """Of one stratum nothing is given; of two, each person counts in every group of a stratum."""
    _, d, P, w = people(80, m=2)
    x = np.arange(80) % 2
    of = {"sensitive_features": P, "sample_weight": w}
    means = np.array([(w * d * (x == s)) @ P / ((w * (x == s)) @ P) for s in (0, 1)])
    shares = np.array([(w * (x == s)) @ P / (w @ P) for s in (0, 1)])
    by_hand = shares.mean(axis=1) @ (means[:, 0] - means[:, 1])
    found = selection_rate_difference(None, d, **of, given=x)
    assert found == pytest.approx(abs(by_hand), abs=1e-12)


@pytest.mark.parametrize("kind", [np.asarray, pd.DataFrame, dict], ids=lambda kind: kind.__name__)
def test_arrays_frames_and_dicts_of_probabilities_are_alike(kind):
    _, d, P, _ = people(50)
    given = dict(enumerate(P.T)) if kind is dict else kind(P)
    found = proxy_difference(None, d, sensitive_features=given)
    assert found == proxy_difference(None, d, sensitive_features=P.astype(object))
    assert set(found.groups) < {0, 1, 2}
    soft = selection_rate_difference(None, d, sensitive_features=given)
    assert found.difference == pytest.approx(soft, abs=1e-12)


def test_the_estimate_errs_by_the_covariance_that_probabilities_do_not_explain():
    """Chen et al. (2019): in a sample in which probabilities are shares, it is an identity."""
    rng = np.random.default_rng(3)
    cell = rng.integers(8, size=4000)
    z = rng.random(4000) < (cell + 1) / 10
    d = rng.random(4000) < np.where(z, 0.7, 0.5) - 0.03 * cell
    p = np.bincount(cell, z)[cell] / np.bincount(cell)[cell]
    true = d[z].mean() - d[~z].mean()
    found = proxy_difference(
        None, d, sensitive_features=np.c_[1 - p, p], between=(1, 0), pos_label=1
    )
    sign = 1 if found.groups == (1, 0) else -1
    left = np.mean((z - p) * d)  # the covariance within cells
    assert sign * found.difference == pytest.approx(
        true - left * (1 / z.mean() + 1 / (1 - z.mean())), abs=1e-12
    )
    low, high = sorted(sign * end for end in found.bounds)
    assert low <= true <= high


def test_bounds_are_those_of_a_linear_program():
    """In cells of many people, nothing that agrees with the margins differs by more."""
    rng = np.random.default_rng(5)
    shares = np.array([[0.7, 0.2, 0.1], [0.3, 0.3, 0.4], [0.1, 0.6, 0.3], [0.05, 0.15, 0.8]])
    rates, size = np.array([0.2, 0.5, 0.8, 0.4]), 400
    P = np.repeat(shares, size, axis=0)
    d = np.concatenate([rng.permutation(size) < r * size for r in rates])
    found = proxy_difference(None, d, sensitive_features=P, between=(0, 1), pos_label=1)
    a, b = found.groups
    # q[cell, group]: the share of the cell that is selected and of the group.
    objective = np.zeros((4, 3))
    objective[:, a], objective[:, b] = 1 / shares[:, a].sum(), -1 / shares[:, b].sum()
    sums = np.kron(np.eye(4), np.ones(3))
    ends = [
        linprog(
            sign * objective.ravel(), A_eq=sums, b_eq=rates, bounds=[(0, s) for s in shares.flat]
        )
        for sign in (1, -1)
    ]
    assert found.bounds == pytest.approx((ends[0].fun, -ends[1].fun), abs=1e-9)


def test_bounds_of_numbers_are_the_largest_and_smallest_members():
    p, y = np.full(1000, 0.25), np.random.default_rng(0).permutation(np.arange(1000.0))
    found = proxy_difference(None, y, sensitive_features=np.c_[p, 1 - p])
    assert found.difference == pytest.approx(0, abs=1e-9)
    most = y[y >= 750].mean() - y[y < 750].mean()
    assert found.bounds == pytest.approx((-most, most), rel=0.01)


DECIDED = {
    "by probabilities": lambda p, z: 0.3 + 0.4 * p,
    "by the group": lambda p, z: np.where(z, 0.7, 0.5),
    "against the group": lambda p, z: 0.3 + 0.4 * p - 0.2 * (z - p),
    "as unequal as can be": lambda p, z: z * 1.0,
}


@pytest.mark.parametrize("decided", DECIDED)
def test_what_the_estimate_and_the_bounds_hold(decided):
    """The estimate where equal probabilities mean equal decisions, the bounds always."""
    rng, rounds = np.random.default_rng(7), 200

    def drawn(n):
        p = rng.beta(0.4, 0.6, size=n)
        z = rng.random(n) < p
        return p, z, (rng.random(n) < DECIDED[decided](p, z)).astype(int)

    _, z, d = drawn(1_000_000)
    true, inside, bounded, estimates = d[z].mean() - d[~z].mean(), 0, 0, []
    for _ in range(rounds):
        p, _, d = drawn(800)
        found = proxy_difference(None, d, sensitive_features={"z": p, "else": 1 - p})
        sign = 1 if found.groups[0] == "z" else -1
        estimates.append(sign * found.difference)
        inside += (
            min(sign * np.array(found.interval)) <= true <= max(sign * np.array(found.interval))
        )
        ends = sign * np.array(found.bounds_interval)
        bounded += min(ends) <= true <= max(ends)
    assert bounded >= 0.92 * rounds
    if decided == "by probabilities":
        assert 0.91 * rounds <= inside <= 0.99 * rounds
        assert np.mean(estimates) == pytest.approx(true, abs=0.01)
    else:
        too_large = decided == "against the group"
        assert np.mean(estimates) > true + 0.03 if too_large else np.mean(estimates) < true - 0.03


def _changed(P, row, values):
    P = P.copy()
    P[row] = values
    return P


def test_bad_probabilities_are_rejected_in_one_clear_line():
    _, d, P, _ = people(30)
    three = "abc"
    cases = {
        "do not add up to 1 in 2 of 30 rows: at position 4 they come to 0.7": pd.DataFrame(
            _changed(P, [4, 9], [0.2, 0.2, 0.3]), columns=[*three]
        ),
        "the probability -0.2 of group 'a' at position 4": pd.DataFrame(
            _changed(P, 4, [-0.2, 1.4, -0.2]), columns=[*three]
        ),
        "of group 2 in sensitive_features is 0 in all 30 rows": np.c_[
            P[:, 0], 1 - P[:, 0], P[:, 0] * 0
        ],
        "do not add up": np.random.default_rng(0).integers(2, size=(30, 3)),
        "of group 'b' in sensitive_features have shape (29,)": {"a": P[:, 0], "b": 1 - P[1:, 0]},
    }
    for message, given in cases.items():
        for function in (selection_rate_difference, proxy_difference):
            with pytest.raises(UsageError) as error:
                function(None, d, sensitive_features=given)
            assert message in str(error.value)
            assert "\n" not in str(error.value)
    with pytest.raises(MissingGroupError, match="missing in 1 of 30 rows, the first at position 4"):
        proxy_difference(None, d, sensitive_features=_changed(P, 4, [np.nan, 0.5, 0.5]))
    sure = np.where(np.arange(30)[:, None] < 3, [1.0, 0.0], [0.0, 1.0])
    with pytest.raises(UsageError, match="zero in all rows that may belong to group 0"):
        proxy_difference(None, d, sensitive_features=sure, sample_weight=np.arange(30) >= 3)


def test_rounded_probabilities_are_divided_by_their_sum():
    _, d, P, _ = people(100)
    rounded = P.round(2)
    whole = rounded / rounded.sum(axis=1, keepdims=True)
    found, exact = (
        selection_rate_difference(None, d, sensitive_features=of) for of in (rounded, whole)
    )
    assert found == pytest.approx(exact, abs=1e-12)


def test_what_needs_one_group_a_row_says_so():
    _, d, P, _ = people(100)
    for call in (
        lambda: leakage(P, P),
        lambda: explained_difference(None, d, sensitive_features=P, given=d),
        lambda: selection_rate_difference(None, d, sensitive_features=P.astype(str)),
    ):
        with pytest.raises(UsageError, match="one value per row is needed"):
            call()
    with pytest.raises(UsageError, match="a column of probabilities is needed for each group"):
        proxy_difference(None, d, sensitive_features=d)
    with pytest.raises(UsageError, match="must be two groups"):
        proxy_difference(None, d, sensitive_features=P, between=("a", "b"))
