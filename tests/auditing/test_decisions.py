import numpy as np
import pytest
from fairlearn.metrics import MetricFrame, selection_rate, true_positive_rate
from sklearn.metrics import accuracy_score, roc_auc_score

from fairpca.auditing._findings import _largest_difference, _parity, _pooled
from fairpca.auditing._measures import _auc_and_error, _judge, _rates, _scores, share_error
from fairpca.auditing._splits import HeldOut, halves
from fairpca.metrics import reading_model
from slow import slow


def decided(seed=0, n=500, m=3):
    rng = np.random.default_rng(seed)
    codes = rng.integers(-1, m, size=n)
    y = rng.random(n) < 0.4
    scores = rng.normal(size=n) + y + 0.5 * codes
    return scores, y, codes


def judged(scores, rate, y, codes, m):
    held_out = HeldOut(0, None, np.zeros((len(y), 0)), [], [codes], [m], y, rate)
    return _judge(scores, held_out, np.arange(len(y)))


@pytest.mark.parametrize("seed", range(3))
def test_rates_are_those_of_fairlearns_metric_frame(seed):
    scores, y, codes = decided(seed)
    decisions, known = scores > 0.5, codes >= 0
    found = _rates(decisions, y, codes, 3)
    frame = MetricFrame(
        metrics={
            "selected": selection_rate,
            "recognised": true_positive_rate,
            "right": accuracy_score,
        },
        y_true=y[known],
        y_pred=decisions[known],
        sensitive_features=codes[known],
    )
    np.testing.assert_array_equal(found[:, 0], np.bincount(codes[known]))
    np.testing.assert_allclose(found[:, 1:4], frame.by_group.to_numpy(dtype=float), atol=1e-12)


def test_the_gap_is_that_of_fairlearn_on_one_split():
    scores, y, codes = decided()
    decisions, known = scores > 0.5, codes >= 0
    found = _parity("race", list("abc"), [_rates(decisions, y, codes, 3)], 0.95)
    frame = MetricFrame(
        metrics=selection_rate,
        y_true=y[known],
        y_pred=decisions[known],
        sensitive_features=codes[known],
    )
    assert found.dp_gap.value == pytest.approx(frame.difference(method="between_groups"))
    assert found.dp_gap.low <= found.dp_gap.value <= found.dp_gap.high


def test_a_group_without_positive_rows_has_no_true_positive_rate():
    y = np.array([True, False, False, False])
    table = _rates(np.array([True, False, True, False]), y, np.array([0, 0, 1, 1]), 2)
    found = _parity("sex", ["f", "m"], [table], 0.95)
    assert found.eo_gap is None
    assert found.groups[0].true_positive_rate.value == 1.0
    assert found.groups[1].true_positive_rate is None
    assert found.dp_gap.value == 0.0


def test_as_many_are_selected_as_are_positive():
    rng = np.random.default_rng(0)
    y = rng.random(20_000) < 0.1
    scores = rng.normal(size=20_000) + y
    found = judged(scores, 0.1, y, y * 1, 2)
    table = found.groups[0]
    assert table[:, 1] @ table[:, 0] / len(y) == pytest.approx(0.1, abs=1e-4)


def test_the_auc_is_that_of_scikit_learn_with_ties():
    scores, y, _ = decided()
    scores = np.round(scores, 1)
    assert _auc_and_error(scores, y)[0] == pytest.approx(roc_auc_score(y, scores))


def test_the_standard_error_of_the_auc_is_that_of_repeated_samples():
    draws = [_auc_and_error(*decided(seed, n=300)[:2]) for seed in range(400)]
    aucs, errors = np.array(draws).T
    # 400 draws know a standard deviation to about 3.5 %
    assert np.mean(errors) == pytest.approx(np.std(aucs), rel=0.12)


def test_an_interval_over_splits_covers_the_truth_as_often_as_it_says():
    """Halves of the same rows, both ways, twice: each interval is about the population's mean."""
    rng = np.random.default_rng(0)
    hits, repeats = 0, 1000
    for _ in range(repeats):
        rows = rng.random(200) < 0.3
        values = []
        for _ in range(2):
            order = rng.permutation(200)
            values += [rows[order[:100]].mean(), rows[order[100:]].mean()]
        found = _pooled(values, [float(share_error(v, 100)) for v in values], 0.95)
        hits += found.low <= 0.3 <= found.high
    assert hits / repeats > 0.93


def test_a_share_of_nothing_in_few_rows_is_not_certain():
    assert share_error(0.0, 5) > 0.1
    assert share_error(0.0, 5000) < 0.001


def test_splits_without_a_number_are_left_out():
    found = _pooled([0.5, float("nan")], [0.1, float("nan")], 0.95)
    assert found.value == 0.5
    assert np.isnan(_pooled([float("nan")], [0.1], 0.95).value)


@pytest.mark.parametrize("name", ["linear", "boosting", "kernel"])
def test_every_downstream_model_learns_a_simple_rule(name):
    rng = np.random.default_rng(0)
    T = rng.normal(size=(600, 2))
    y = T[:, 0] > 0
    model = reading_model(name, as_is=True).fit(T[:400], y[:400])
    assert model.score(T[400:], y[400:]) > 0.9


@pytest.mark.parametrize("rate", [0.2, 0.9])
def test_a_model_that_says_the_same_of_all_rows_decides_as_most_of_them(rate):
    y = np.arange(100) < 100 * rate
    found = judged(np.zeros(100), rate, y, np.arange(100) % 2, 2)
    assert found.accuracy[0] == max(rate, 1 - rate)
    assert found.auc[0] == 0.5
    assert set(found.groups[0][:, 1]) == {float(rate > 0.5)}


def test_trees_that_learned_rows_by_heart_select_no_fewer_of_others():
    rng = np.random.default_rng(0)
    T = rng.normal(size=(600, 5))
    y = T[:, 0] + 2 * rng.normal(size=600) > 2.9  # about a tenth
    scores = _scores("boosting", T[:300], y[:300], T[300:])
    found = judged(scores, y[:300].mean(), y[300:], np.zeros(300, int), 1)
    assert found.groups[0][0, 1] == pytest.approx(y[:300].mean(), abs=0.01)


def test_a_perfect_order_of_few_rows_is_not_certain():
    few, many = (_auc_and_error(np.arange(n), np.arange(n) >= n // 2) for n in (8, 800))
    assert few[0] == many[0] == 1.0
    assert few[1] > 0.1 > many[1] > 0


def test_groups_with_positive_rows_are_compared_where_another_has_none():
    y = np.array([True, True, True, True, False, False])
    chosen = np.array([True, False, True, True, False, True])
    table = _rates(chosen, y, np.array([0, 0, 1, 1, 2, 2]), 3)
    found = _parity("race", list("abc"), [table], 0.95)
    assert found.eo_gap.value == 0.5
    assert found.groups[2].true_positive_rate is None


@pytest.mark.parametrize(
    ("shares", "sizes"),
    [
        ([0.3] * 6, [50] * 6),
        slow([0.3] * 12, [30] * 12),
        slow([0.3, 0.4], [150, 150]),
        ([0.2, 0.3, 0.45], [600, 200, 60]),
    ],
)
def test_the_largest_difference_of_many_groups_is_covered_as_often_as_said(shares, sizes):
    """Six equal groups of 50 rows are seen 17 points apart, which must not count as a finding."""
    truth, covered, repeats = max(shares) - min(shares), 0, 400
    codes, p = np.repeat(np.arange(len(sizes)), sizes), np.repeat(shares, sizes)
    for seed in range(repeats):
        rng = np.random.default_rng(seed)
        chosen = rng.random(len(p)) < p
        tables = [
            _rates(chosen[s.test], chosen[s.test], codes[s.test], len(sizes))
            for s in halves([codes], 1, rng)
        ]
        gap = _parity("race", [str(size) for size in sizes], tables, 0.95).dp_gap
        assert gap.low <= gap.value <= gap.high
        covered += gap.low <= truth <= gap.high
    # 400 repeats know a share of 95 % to about 1 %
    assert covered / repeats > 0.93


def test_a_difference_needs_two_groups_with_a_number():
    assert np.isnan(_largest_difference([0.3, float("nan")], [0.1, float("nan")], 0.95).value)
    assert _largest_difference([0.3, float("nan"), 0.5], [0.1] * 3, 0.95).value == pytest.approx(
        0.2
    )
