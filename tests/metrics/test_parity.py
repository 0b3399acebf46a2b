"""Gaps in decisions, by hand and against fairlearn, without which they are computed."""

import inspect

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import ks_2samp
from sklearn.metrics import precision_score

from fairpca import metrics
from fairpca.errors import MissingGroupError, MissingTargetError, UsageError
from fairpca.metrics import (
    distribution_gap,
    group_shares,
    mean_prediction_difference,
    precision_difference,
    select_top,
    selection_rate_difference,
    selection_rate_ratio,
    shares_up_to,
    true_positive_rate_difference,
)

OF_DECISIONS = (
    "selection_rate_difference",
    "selection_rate_ratio",
    "true_positive_rate_difference",
    "false_positive_rate_difference",
    "precision_difference",
)
SAME = "Return the same as fairlearn.metrics."
OF_NUMBERS = ("mean_prediction_difference", "distribution_gap")


def decisions(seed=0, n=200):
    rng = np.random.default_rng(seed)
    return rng.integers(2, size=n), rng.integers(2, size=n), rng.choice(["a", "b", "c"], size=n)


@st.composite
def weighted_people(draw):
    """Labels, decisions, scores with ties, groups that all have all four cases, and weights."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    every = np.array([(y, d, z) for y in (0, 1) for d in (0, 1) for z in range(3)])
    drawn = rng.integers((2, 2, 3), size=(draw(st.integers(0, 30)), 3))
    y, d, z = rng.permutation(np.r_[every, drawn]).T
    weight = np.where(rng.random(len(y)) < 0.2, 0, rng.integers(1, 5, size=len(y)))
    weight[np.unique(np.stack([y, d, z]), axis=1, return_index=True)[1]] = 1
    return y, d, np.round(rng.normal(size=len(y)), 1), np.array([*"abc"])[z], weight


def found(name, y, d, score, z, weight=None):
    if name in OF_NUMBERS:
        return getattr(metrics, name)(y, score, sensitive_features=z, sample_weight=weight)
    return getattr(metrics, name)(y, d, sensitive_features=z, sample_weight=weight)


@pytest.mark.parametrize("name", OF_DECISIONS + OF_NUMBERS)
@given(weighted_people(), st.floats(1e-3, 1e3))
def test_a_weight_is_so_many_rows_and_only_ratios_matter(name, people, scale):
    *rows, weight = people
    repeated = found(name, *(np.repeat(column, weight) for column in rows))
    assert found(name, *rows, weight) == pytest.approx(repeated)
    assert found(name, *rows, scale * weight) == pytest.approx(repeated)
    assert found(name, *rows, np.full(len(weight), scale)) == found(name, *rows)


@given(weighted_people(), st.floats(0, 1), st.floats(1e-3, 1e3))
def test_so_many_are_selected_that_no_threshold_comes_nearer(people, share, scale):
    _, _, score, _, weight = people
    said = select_top(score, share, sample_weight=scale * weight)
    repeated = select_top(np.repeat(score, weight), share)
    np.testing.assert_array_equal(np.repeat(said, weight), repeated)
    distances = [
        abs(np.average(score >= cut, weights=weight) - share) for cut in (*score, score.max() + 1)
    ]
    assert abs(np.average(said, weights=weight) - share) <= min(distances) + 1e-9
    assert not said.any() or score[said].min() > score[~said].max(initial=-np.inf)


def test_rows_with_equal_scores_are_selected_alike():
    assert select_top([3.0, 1.0, 3.0, 2.0], 0.25).tolist() == [True, False, True, False]
    assert select_top([3.0, 1.0, 3.0, 2.0], 0.2).tolist() == [False] * 4
    for share, everybody in ((0.0, False), (0.49, False), (0.5, True), (1.0, True)):
        assert set(select_top(np.zeros(9), share).tolist()) == {everybody}
    assert select_top([np.inf, -np.inf, 0.0], 1 / 3).tolist() == [True, False, False]


def test_shares_and_scores_that_select_nothing_are_refused():
    for share in (-0.1, 30, float("nan")):
        with pytest.raises(UsageError, match=r"is not a share of the rows.*from 0"):
            select_top([1.0, 2.0], share)
    with pytest.raises(UsageError, match=r"scores is missing .* in 1 of 2 rows"):
        select_top([1.0, np.nan], 0.5)
    for scores in ([], 3.0, [[1.0, 2.0]]):
        with pytest.raises(UsageError, match=r"scores has shape \(.*\), but one value per row"):
            select_top(scores, 0.5)
    with pytest.raises(UsageError, match=r"scores has values that are not numbers, such as 'a'"):
        select_top(["a", "b"], 0.5)


@pytest.mark.parametrize("weighted", [False, True])
def test_rates_are_those_of_fairlearn(weighted):
    of = pytest.importorskip("fairlearn.metrics")
    y, y_pred, z = decisions(2)
    w = np.random.default_rng(3).exponential(size=len(y)) if weighted else None
    same = {n for n in OF_DECISIONS if getattr(metrics, n).__doc__.startswith(f"{SAME}{n}")}
    assert same == {*OF_DECISIONS} - {"precision_difference"}
    for name in same:
        given = {"sensitive_features": z} | ({"sample_weight": w} if weighted else {})
        theirs = getattr(of, name)(y, y_pred, **given)
        assert getattr(metrics, name)(y, y_pred, **given) == pytest.approx(theirs)
    score = np.random.default_rng(4).normal(size=len(y))
    for name, of_group, said in (
        ("precision_difference", precision_score, y_pred),
        ("mean_prediction_difference", of.mean_prediction, score),
    ):
        frame = of.MetricFrame(
            metrics=of_group,
            y_true=y,
            y_pred=said,
            sensitive_features=z,
            sample_params={"sample_weight": w} if weighted else None,
        )
        ours = getattr(metrics, name)(y, said, sensitive_features=z, sample_weight=w)
        assert ours == pytest.approx(frame.difference())


def test_selection_rates_and_gaps_of_numbers_ignore_the_truth():
    y, y_pred, z = decisions(3)
    for name in ("selection_rate_difference", "selection_rate_ratio", *OF_NUMBERS):
        function = getattr(metrics, name)
        expected = function(None, y_pred, sensitive_features=z)
        assert function(y, y_pred, sensitive_features=z) == expected
        assert function(1 - y, y_pred, sensitive_features=z) == expected


@given(weighted_people())
def test_a_distribution_is_shares_above_all_thresholds(people):
    _, _, score, z, weight = people
    codes = np.unique(z, return_inverse=True)[1]
    place = np.unique(score, return_inverse=True)[1]
    for among in (None, weight):
        up_to = shares_up_to(place, codes, among=among)
        above = [group_shares(score > cut, codes, among=among) for cut in np.unique(score)]
        np.testing.assert_allclose(up_to.T, 1 - np.array(above), atol=1e-12)
    pairs = [("a", "b"), ("a", "c"), ("b", "c")]
    largest = max(ks_2samp(score[z == g], score[z == h]).statistic for g, h in pairs)
    assert distribution_gap(None, score, sensitive_features=z) == pytest.approx(largest)


def test_groups_without_rows_have_no_shares():
    assert np.isnan(shares_up_to(np.array([0, 1]), np.array([0, 0]), m=2)[1]).all()


def test_gaps_of_numbers_are_in_their_units():
    wages, z = np.array([10.0, 14.0, 9.0, 10.0]), [*"mmff"]
    assert mean_prediction_difference(None, 1000 * wages, sensitive_features=z) == 2500
    assert (
        distribution_gap(None, 1000 * wages, sensitive_features=z)
        == distribution_gap(None, wages, sensitive_features=z)
        == 0.5
    )
    assert distribution_gap(None, [np.inf, 1, 0, -np.inf], sensitive_features=z) == 1.0
    with pytest.raises(UsageError, match="infinite values, which have no mean"):
        mean_prediction_difference(None, [np.inf, 1, 0, 1], sensitive_features=z)


def test_a_ratio_of_nothing_is_refused():
    with pytest.raises(UsageError, match=r"selects \(1\) nobody in 4 rows.*0/0"):
        selection_rate_ratio(None, [0, 0, 0, 0], sensitive_features=[*"aabb"])
    assert selection_rate_ratio(None, [0, 0, 0, 1], sensitive_features=[*"aabb"]) == 0
    assert selection_rate_ratio(None, [1, 1, 1, 1], sensitive_features=[*"aabb"]) == 1


def test_every_gap_takes_weights_and_says_which_it_cannot_use():
    y, y_pred, z = decisions(4, 8)
    z[:6] = [*"abcabc"]
    score = np.arange(8.0)
    gaps = [n for n, f in vars(metrics).items() if n in metrics.__all__ and _is_of_groups(f)]
    assert set(gaps) == {*OF_DECISIONS, *OF_NUMBERS, "explained_difference", "proxy_difference"}
    for name in {*gaps} - {"explained_difference", "proxy_difference"}:
        for weight, words in (
            ([1.0, 2.0], r"shape \(2,\), but there are 8 rows"),
            ([-1.0] + [1.0] * 7, r"1 negative entries"),
            ([np.nan] + [1.0] * 7, r"NaN or infinity"),
            (np.zeros(8), r"All 8 entries of sample_weight are zero"),
            ((z != "b") * 1.0, r"zero in all rows of group b"),
        ):
            with pytest.raises(UsageError, match=words):
                found(name, y, y_pred, score, z, weight)


def _is_of_groups(function):
    return inspect.isfunction(function) and {"y_pred", "sensitive_features"} <= set(
        inspect.signature(function).parameters
    )


def test_the_lacking_rows_of_a_group_are_named():
    y, given = [1, 0, 1, 1], {"sensitive_features": [*"aabb"]}
    with pytest.raises(MissingTargetError, match=r"nothing but positives.* 2 rows of group b"):
        metrics.false_positive_rate_difference(y, [1, 0, 1, 0], **given)
    with pytest.raises(MissingTargetError, match=r"y_pred has no positive \(1\).* group b"):
        precision_difference(y, [1, 0, 0, 0], **given)
    with pytest.raises(MissingTargetError, match=r"no positive \(1\) among the 1 rows of group a"):
        true_positive_rate_difference(y, [1, 0, 1, 0], **given, sample_weight=[0, 1, 1, 1])


def test_gaps_are_the_largest_differences_of_shares():
    y, y_pred, z = decisions(1)
    selected = [y_pred[z == g].mean() for g in "abc"]
    recognised = [y_pred[(z == g) & (y == 1)].mean() for g in "abc"]
    assert selection_rate_difference(y, y_pred, sensitive_features=z) == pytest.approx(
        np.ptp(selected)
    )
    assert true_positive_rate_difference(y, y_pred, sensitive_features=z) == pytest.approx(
        np.ptp(recognised)
    )


def test_any_label_can_be_the_positive_one():
    y_pred = ["deny", "approve", "deny", "deny"]
    assert (
        selection_rate_difference(
            None, y_pred, sensitive_features=[0, 0, 1, 1], pos_label="approve"
        )
        == 0.5
    )


def test_nobody_selected_is_parity():
    assert selection_rate_difference(None, [0, 0, 0], sensitive_features=["a", "b", "b"]) == 0


def test_scores_and_unknown_labels_are_refused():
    with pytest.raises(ValueError, match=r"y_pred has 3 distinct values.*Threshold scores"):
        selection_rate_difference(None, [0.1, 0.5, 0.9], sensitive_features=["a", "b", "b"])
    with pytest.raises(ValueError, match=r"y_pred has 2 distinct values.*pos_label=1"):
        selection_rate_difference(None, ["yes", "no"], sensitive_features=["a", "b"])


def test_a_group_without_positives_is_refused_by_name():
    with pytest.raises(MissingTargetError, match=r"no positive \(1\) among the 2 rows of group b"):
        true_positive_rate_difference(
            [1, 0, 0, 0], [1, 0, 1, 0], sensitive_features=["a", "a", "b", "b"]
        )


def test_missing_groups_and_other_lengths_are_refused():
    with pytest.raises(MissingGroupError, match="sensitive_features is missing"):
        selection_rate_difference(None, [0, 1], sensitive_features=["a", None])
    with pytest.raises(ValueError, match="y_true has 3 values for 2 rows"):
        true_positive_rate_difference([0, 1, 1], [0, 1], sensitive_features=["a", "b"])
