"""What probes find, what they do not, and what chance gives."""

import dataclasses

import numpy as np
import pytest
from scipy.stats import kstest
from sklearn.dummy import DummyClassifier
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import StratifiedKFold
from sklearn.svm import LinearSVC

from fairpca.errors import MissingGroupError, SingleGroupError
from fairpca.metrics import leakage, linear_inseparability
from fairpca.metrics._inputs import median_threshold
from fairpca.metrics._probes import PROBES, as_classifier
from optional_libraries import pandas as pd
from slow import first_fast


def noise(n, k=2, seed=0):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, k)), rng.integers(2, size=n)


def test_a_planted_shift_is_found_by_all_probes():
    T, z = noise(600)
    for probe in PROBES:
        found = leakage(T + z[:, None], z, probe=probe, n_permutations=200, random_state=0)
        assert found.above_chance
        assert found.p_value == pytest.approx(1 / 201)
        assert found.auc > 0.75 > found.chance_interval[1]


@pytest.mark.parametrize("signal", ["interaction", "scale"])
def test_what_boosting_and_kernels_see_is_chance_to_a_linear_probe(signal):
    T, z = noise(800)
    if signal == "interaction":
        z = (T[:, 0] * T[:, 1] > 0).astype(int)
    else:
        T = T * (1 + 2 * z[:, None])
    linear, *curved = (leakage(T, z, probe=probe, random_state=0) for probe in PROBES)
    assert not linear.above_chance
    assert linear.chance_interval[0] < linear.auc < linear.chance_interval[1]
    assert all(found.above_chance and found.auc > 0.8 for found in curved)


@pytest.mark.parametrize("seeds", first_fast([range(300, 400), range(300)]), ids=len)
def test_on_pure_noise_p_values_are_roughly_uniform(seeds):
    p = np.array(
        [
            leakage(*noise(120, 5, seed), n_permutations=199, random_state=seed).p_value
            for seed in seeds
        ]
    )
    # The standard error of 300 is 0.013 for the first share, 0.029 for the second. Taking the
    # folds for independent gives about 0.11 at 0.05, which is what this test is here to catch.
    assert (p <= 0.05).mean() < 0.08
    assert 0.42 < (p <= 0.5).mean() < 0.62
    assert kstest(p, "uniform").pvalue > 0.001


def test_equal_means_on_the_measured_rows_push_a_linear_probe_below_one_half():
    X, z = noise(400, 10)
    gap = X[z == 1].mean(axis=0) - X[z == 0].mean(axis=0)
    T = X - np.outer(X @ gap, gap) / (gap @ gap)
    found = leakage(T, z, random_state=0)
    assert found.auc < found.chance_interval[0] < 0.5


def test_fold_aucs_are_those_of_scikit_learn_and_auc_is_their_mean():
    T, z = noise(150)
    T = T + 0.5 * z[:, None]
    found = leakage(T, z, cv=4, random_state=7)
    folds = StratifiedKFold(4, shuffle=True, random_state=7).split(T, z)
    _, classifier = as_classifier("linear")
    expected = [
        roc_auc_score(z[test], classifier.fit(T[train], z[train]).predict_proba(T[test])[:, 1])
        for train, test in folds
    ]
    assert found.fold_aucs == pytest.approx(expected)
    assert found.auc == pytest.approx(np.mean(expected))
    assert found.n_rows == 150


def test_a_probe_that_says_the_same_of_everyone_is_exactly_chance():
    found = leakage(*noise(100), probe=DummyClassifier(), random_state=0)
    assert (found.probe, found.auc, found.p_value) == ("DummyClassifier", 0.5, 1.0)
    assert found.chance_interval == (0.5, 0.5)


def test_any_classifier_is_cloned_and_may_have_decisions_only():
    T, z = noise(200)
    probe = LinearSVC()
    found = leakage(T + 2 * z[:, None], z, probe=probe, n_permutations=99, random_state=0)
    assert found.above_chance
    assert not hasattr(probe, "coef_")


@pytest.mark.parametrize("probe", ["linear", LinearSVC()])
def test_the_third_of_three_levels_is_found_and_the_average_says_how_well(probe):
    rng = np.random.default_rng(0)
    z = rng.choice(["a", "b", "c"], size=600)
    T = rng.normal(size=(600, 2)) + 10 * (z == "c")[:, None]
    found = leakage(T, z, probe=probe, n_permutations=99, random_state=0)
    # c against the rest: 1; a against {b, c}: half of the rest is c, so 0.5 * 0.5 + 0.5 * 1.
    assert found.auc == pytest.approx((1 + 0.75 + 0.75) / 3, abs=0.04)


def test_the_same_seed_gives_the_same_answer_and_the_result_is_frozen():
    T, z = noise(100)
    assert leakage(T, z, random_state=3) == leakage(T, z, random_state=3)
    with pytest.raises(dataclasses.FrozenInstanceError):
        leakage(T, z, n_permutations=1).auc = 0.5


def test_names_of_levels_do_not_matter_nor_does_their_container():
    T, z = noise(100)
    names = np.array(["no", "yes"])[z]
    reference = leakage(T, z, random_state=0)
    for attribute in (names, list(names), pd.Series(names), pd.Categorical(names), z == 1, 1.0 * z):
        assert leakage(T, attribute, random_state=0) == reference
    mixed = [1 if code else "0" for code in z]
    assert leakage(T, mixed, random_state=0).n_rows == 100


def test_the_text_of_a_result_states_the_auc_and_what_chance_gives():
    text = str(leakage(*noise(100), random_state=0))
    assert text.startswith("linear probe: AUC 0.")
    assert "] on 100 rows (chance 0." in text


def test_numeric_attributes_are_split_at_their_median():
    T, _ = noise(300)
    income = np.exp(T[:, 0])
    found = leakage(T, income, random_state=0)
    assert found == leakage(T, income > np.median(income), random_state=0)


@pytest.mark.parametrize(
    ("values", "threshold"),
    [
        ([0.5, 1.0, 2.0], 1.0),
        (np.arange(11.0), 5.0),
        ([0.5, 2.0, 2.0, 2.0], 0.5),
    ],
)
def test_both_sides_of_a_median_split_have_rows(values, threshold):
    assert median_threshold(np.asarray(values)) == threshold


def test_one_level_only_is_refused():
    with pytest.raises(SingleGroupError, match=r"attribute takes the single value 1 in all 20 .*"):
        leakage(noise(20)[0], np.ones(20, dtype=int))
    with pytest.raises(SingleGroupError, match="single value 'a'"):
        linear_inseparability(np.eye(2), ["a", "a"])


def test_a_level_rarer_than_the_folds_is_refused_with_the_counts():
    z = ["a"] * 17 + ["rare"] * 3
    with pytest.raises(ValueError, match=r"'rare' in only 3 of 20 rows.*cv=5.*Merge"):
        leakage(noise(20)[0], z)


@pytest.mark.parametrize(
    "attribute",
    [
        ["a", "b", None, "a"],
        ["a", "b", np.nan, "a"],
        [0.0, 1.0, np.nan, 1.0],
        np.array([0.0, 1.0, np.nan, 1.0]),
        pd.Series([0, 1, None, 1], dtype="Int64"),
        pd.Series(["a", "b", None, "a"]),
        pd.Series(pd.to_datetime(["2020", "2021", None, "2020"])),
    ],
)
def test_missing_values_are_refused_with_their_position(attribute):
    with pytest.raises(MissingGroupError, match=r"in 1 of 4 rows, the first at position 2.*Drop"):
        leakage(np.eye(4), attribute, cv=2)


def test_lengths_that_differ_are_refused():
    with pytest.raises(ValueError, match=r"attribute has 3 values for 4 rows.*one value per row"):
        leakage(np.eye(4), [0, 1, 0])
    with pytest.raises(ValueError, match=r"attribute has shape \(4, 1\).*one column"):
        leakage(np.eye(4), np.ones((4, 1)))


@pytest.mark.parametrize("probe", ["svm", 3, LinearSVC])
def test_a_probe_that_cannot_be_fitted_is_refused(probe):
    with pytest.raises(ValueError, match=r"cannot be fitted and scored.*Pass 'linear'"):
        leakage(*noise(20), probe=probe)


@pytest.mark.parametrize("arguments", [{"cv": 1}, {"n_permutations": 0}])
def test_too_few_folds_or_permutations_are_refused(arguments):
    with pytest.raises(ValueError, match="at least 2 folds and 1 permutation"):
        leakage(*noise(20), **arguments)


def test_separated_groups_have_no_errors_and_mixed_ones_about_half():
    rng = np.random.default_rng(0)
    z = rng.permutation(np.repeat([0, 1], 500))
    T = rng.normal(size=(1000, 2))
    assert linear_inseparability(T + 20 * z[:, None], z) == 0
    assert linear_inseparability(T, z) == pytest.approx(0.5, abs=0.05)


def test_errors_are_counted_on_the_test_rows_when_they_are_given():
    T, z = [[0.0], [1.0], [4.0], [5.0]], ["a", "a", "b", "b"]
    error = linear_inseparability(
        T, z, T_test=[[0.0], [1.0], [5.0]], attribute_test=["b", "a", "b"]
    )
    assert error == pytest.approx(1 / 3)


def test_test_rows_are_split_at_the_median_of_the_training_rows():
    T = np.arange(20.0)[:, None]
    error = linear_inseparability(
        T, np.arange(20.0) + 0.25, T_test=[[15.0], [18.0]], attribute_test=[15.5, 18.5]
    )
    assert error == 0


def test_a_test_level_that_was_never_trained_on_is_refused():
    with pytest.raises(ValueError, match=r"1 level\(s\) that attribute lacks, such as 'c'.*Train"):
        linear_inseparability(np.eye(2), ["a", "b"], T_test=np.eye(2), attribute_test=["a", "c"])


@pytest.mark.parametrize(
    ("given", "absent"), [("T_test", "attribute_test"), ("attribute_test", "T_test")]
)
def test_half_of_a_test_set_is_refused(given, absent):
    with pytest.raises(ValueError, match=f"{given} was given without {absent}"):
        linear_inseparability(np.eye(2), [0, 1], **{given: np.eye(2)})
