"""Groups that are known in part: soft rates, what they miss, and bounds that do not."""

from itertools import product

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import linprog

from fairpca.errors import MissingGroupError, SingleGroupError, UsageError
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


def test_known_groups_have_a_difference_and_no_bounds():
    """Of one group a row, or of probabilities of 0 and 1, both bounds are the difference."""
    _, d, P, w = people(200)
    z = P.argmax(axis=1)
    y = np.random.default_rng(1).normal(size=200)
    for values, function in ((d, selection_rate_difference), (y, mean_prediction_difference)):
        for known in (z, np.array(["a", "b", "c"])[z], np.eye(3)[z], z.tolist()):
            found = proxy_difference(None, values, sensitive_features=known, sample_weight=w)
            exact = function(None, values, sensitive_features=z, sample_weight=w)
            assert found.difference == pytest.approx(exact, abs=1e-12)
            assert found.bounds == pytest.approx((exact, exact), abs=1e-12)


def differences(values, z, places, groups, weight):
    """The difference between the first two groups for all that people of no group may be."""
    for guess in product(range(groups), repeat=len(places)):
        z = z.copy()
        z[places] = guess
        means = [np.average(values[z == g], weights=weight[z == g]) for g in (0, 1)]
        yield means[0] - means[1]


@pytest.mark.parametrize("groups", [2, 3])
@pytest.mark.parametrize("kind", ["decisions", "numbers"])
def test_bounds_of_unknown_groups_are_the_most_that_they_may_be(kind, groups):
    """Of numbers, who would raise one mean and lower the other may count for both: safe."""
    rng = np.random.default_rng(groups)
    for _ in range(6):
        z, w = rng.integers(groups, size=30), rng.uniform(0.5, 2.0, size=30)
        values = rng.integers(2, size=30) if kind == "decisions" else rng.normal(size=30)
        places = rng.choice(30, size=7, replace=False)
        told = z.astype(object)
        told[places] = None
        found = proxy_difference(
            None, values, sensitive_features=told, between=(0, 1), sample_weight=w
        )
        sign = 1 if found.groups == (0, 1) else -1
        low, high = sorted(sign * end for end in found.bounds)
        possible = list(differences(values, z, places, groups, w))
        assert low <= min(possible) + 1e-12
        assert high >= max(possible) - 1e-12
        if kind == "decisions":
            assert (low, high) == pytest.approx((min(possible), max(possible)), abs=1e-12)
        elif groups == 3:  # whom neither group would take is of the third
            largest = max(sign * one for one in possible)
            assert found.bounds[1] == pytest.approx(largest, abs=1e-12)
        known = np.delete(np.arange(30), places)
        exact = selection_rate_difference if kind == "decisions" else mean_prediction_difference
        if groups == 2:
            of_known = exact(
                None, values[known], sensitive_features=z[known], sample_weight=w[known]
            )
            assert found.difference == pytest.approx(of_known, abs=1e-12)


def test_what_is_known_of_the_unknown_narrows_the_bounds():
    """Their shares of groups as probabilities, and a proxy of each of them."""
    rng = np.random.default_rng(2)
    x = rng.beta(0.3, 0.3, size=3000)
    z = rng.random(3000) < x
    d = rng.random(3000) < 0.3 + 0.3 * z
    unknown = rng.random(3000) < 0.4
    P = np.c_[z, ~z].astype(float)
    widths = []
    for of_unknown in (np.nan, np.array([0.5, 0.5]), np.c_[x, 1 - x][unknown]):
        P[unknown] = of_unknown
        found = proxy_difference(None, d, sensitive_features=P)
        assert found.groups == (0, 1)
        assert found.bounds[0] <= d[z].mean() - d[~z].mean() <= found.bounds[1]
        widths.append(np.ptp(found.bounds))
    assert widths[0] > 1.05 * widths[1]
    assert widths[1] > 1.5 * widths[2]


TOLD = {
    "at random": lambda d, z: np.full(len(d), 0.7),
    "by the decision": lambda d, z: np.where(d, 0.9, 0.5),
    "by both": lambda d, z: np.where(d == z, 0.95, 0.45),
    "by both, against": lambda d, z: np.where(d != z, 0.95, 0.45),
}


@pytest.mark.parametrize("who", TOLD)
def test_what_holds_of_people_who_do_not_tell_their_group(who):
    """The interval where they are like the others of their group, the bounds always."""
    rng, rounds, inside, bounded, found = np.random.default_rng(11), 300, 0, 0, []
    for _ in range(rounds):
        z = rng.random(400) < 0.4
        d = rng.random(400) < np.where(z, 0.6, 0.4)
        told = np.where(rng.random(400) < TOLD[who](d, z), np.where(z, "a", "b"), None)
        one = proxy_difference(None, d, sensitive_features=told, between=("a", "b"))
        sign = 1 if one.groups[0] == "a" else -1
        (low, high), (least, most) = (
            sorted(sign * end for end in ends) for ends in (one.interval, one.bounds_interval)
        )
        inside, bounded = inside + (low <= 0.2 <= high), bounded + (least <= 0.2 <= most)
        found.append(sign * one.difference)
    assert bounded >= 0.94 * rounds
    if who == "at random":
        assert 0.92 * rounds <= inside <= 0.98 * rounds
    if who.startswith("by both"):
        assert abs(np.mean(found) - 0.2) > 0.1
        assert inside < 0.5 * rounds


def test_an_unknown_group_as_unequal_as_can_be_is_held_as_often_as_asked():
    """Who did not tell is of the group that makes the difference largest: the bound is true."""
    rng, rounds, bounded = np.random.default_rng(12), 400, 0
    true = (0.24 + 0.15) / (0.4 + 0.15) - 0.3 * 0.35 / (0.3 + 0.15)
    for _ in range(rounds):
        unknown = rng.random(400) < 0.3
        d = rng.random(400) < 0.5
        z = np.where(unknown, d, rng.random(400) < 0.4 / 0.7)
        d = np.where(unknown, d, rng.random(400) < np.where(z, 0.6, 0.35))
        told = np.where(unknown, None, np.where(z, "a", "b"))
        found = proxy_difference(None, d, sensitive_features=told)
        assert found.groups == ("a", "b")
        bounded += found.bounds_interval[0] <= true <= found.bounds_interval[1]
    assert 0.95 * rounds <= bounded <= 0.995 * rounds


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
        "divide percentages by 100": 100 * P,
    }
    of_one = {
        "one column of fractions": P[:, 0],
        "has one column, but one of probabilities is needed for each": P[:, :1],
        "of group 0 in sensitive_features hold values that are no numbers": P.astype(str),
        "has shape (29,), but there are 30 rows": d[1:],
    }
    for message, given in cases.items():
        for function in (selection_rate_difference, proxy_difference):
            with pytest.raises(UsageError) as error:
                function(None, d, sensitive_features=given)
            assert message in str(error.value)
            assert "\n" not in str(error.value)
    for message, given in of_one.items():
        with pytest.raises(UsageError) as error:
            proxy_difference(None, d, sensitive_features=given)
        assert message in str(error.value)
    with pytest.raises(SingleGroupError, match="has 1 group"):
        proxy_difference(None, d, sensitive_features=["a"] * 20 + [None] * 10)
    for function, lost in ((proxy_difference, [np.nan, 0.5, 0.5]), (RATES[0], [np.nan] * 3)):
        with pytest.raises(MissingGroupError, match="in 1 of 30 rows, the first at position 4"):
            function(None, d, sensitive_features=_changed(P, 4, lost))
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
    with pytest.raises(UsageError, match="must be two groups"):
        proxy_difference(None, d, sensitive_features=P, between=("a", "b"))
