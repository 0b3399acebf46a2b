"""What probes find, what they do not, and what chance gives."""

import dataclasses
from typing import get_args

import numpy as np
import pytest
from scipy.stats import kstest
from sklearn import config_context
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import StratifiedKFold
from sklearn.neighbors import KNeighborsClassifier
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import Pipeline
from sklearn.svm import LinearSVC

from fairpca.errors import FittedRowsWarning, MissingGroupError, SingleGroupError, UsageError
from fairpca.metrics import (
    _probes,
    fit_probe,
    leakage,
    level_scores,
    make_probe,
)
from fairpca.metrics._inputs import median_threshold
from fairpca.metrics._probes import MORE_PROBES, PROBES, Probe, as_classifier
from optional_libraries import pandas as pd
from slow import first_fast


def noise(n, k=2, seed=0):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, k)), rng.integers(2, size=n)


@pytest.mark.parametrize("probe", PROBES | MORE_PROBES)
def test_only_rows_that_count_are_read(probe):
    """Two thirds of the rows give the attribute away, and hardly count."""
    T, z = noise(900)
    loud = np.arange(900) % 3 > 0
    T[loud, 0] += 4 * z[loud]
    given = {"probe": probe, "n_permutations": 100, "random_state": 0}
    assert leakage(T, z, **given).auc > 0.75
    quiet = leakage(T, z, sample_weight=np.where(loud, 1e-6, 1.0), **given)
    assert quiet.chance_interval[0] < quiet.auc < quiet.chance_interval[1]
    left_out = leakage(T, z, sample_weight=~loud, **given)
    assert left_out == leakage(T[~loud], z[~loud], **given)
    assert left_out.n_rows == 300


def test_weights_that_cannot_be_used_are_refused_in_words():
    T, z = noise(20)
    for weight, words in (
        (np.ones(3), r"shape \(3,\), but there are 20 rows"),
        (np.r_[-1.0, np.ones(19)], "1 negative entries"),
        (np.r_[np.nan, np.ones(19)], "NaN or infinity"),
        (np.zeros(20), "All 20 entries of sample_weight are zero"),
        (1.0 * (z == 1), r"level 0 in only 0 of \d+ rows of positive weight"),
    ):
        with pytest.raises(UsageError, match=words):
            leakage(T, z, sample_weight=weight)
    given = {"probe": KNeighborsClassifier(2), "cv": 2, "sample_weight": np.arange(20)}
    with pytest.raises(UsageError, match=r"fit of KNeighborsClassifier takes none"):
        leakage(T, z, **given)
    assert 0 <= leakage(T, z, **{**given, "sample_weight": np.full(20, 3)}).auc <= 1


@pytest.mark.parametrize("routing", [False, True])
@pytest.mark.parametrize("as_is", [False, True])
@pytest.mark.parametrize("number", [False, True])
@pytest.mark.parametrize("name", PROBES)
def test_weights_reach_every_step_of_a_model(name, number, as_is, routing):
    """A rule that two halves of the rows disagree about is that of the half that counts."""
    rng = np.random.default_rng(0)
    T, second = rng.normal(size=(800, 2)), np.arange(800) >= 400
    y = np.where(second, -1, 1) * T[:, 0]
    y = y if number else (y > 0).astype(int)
    w = np.where(second, 1e-3, 1.0)
    with config_context(enable_metadata_routing=routing):
        model = fit_probe(make_probe(name, as_is=as_is, number=number), T, y, w)
        other = fit_probe(make_probe(name, as_is=as_is, number=number), T, y, w[::-1])
    assert model.score(T[~second], y[~second]) > 0.85
    assert other.score(T[second], y[second]) > 0.85
    assert level_scores(model, T).shape == (800, 1)
    if not as_is and PROBES[name].sees_scale:
        T[second] += 9
        model = fit_probe(make_probe(name, number=number), T, y, w)
        mean = np.average(T, axis=0, weights=w)
        np.testing.assert_allclose(model.named_steps["standardscaler"].mean_, mean)


def test_a_network_learns_from_weights_and_from_few_rows(monkeypatch):
    rng = np.random.default_rng(0)
    T, second = rng.normal(size=(800, 2)), np.arange(800) >= 400
    y, w = (np.where(second, -1, 1) * T[:, 0] > 0).astype(int), np.where(second, 1e-3, 1.0)
    for takes_weights in (True, False):  # as before scikit-learn 1.7
        if not takes_weights:
            no = lambda model, _: not isinstance(model, MLPClassifier)  # noqa: E731
            monkeypatch.setattr(_probes, "has_fit_parameter", no)
        model = fit_probe(make_probe("mlp"), T, y, w)
        assert model.score(T[~second], y[~second]) > 0.85
        assert level_scores(model, T).shape == (800, 1)
    few = fit_probe(make_probe("mlp", 3), T[:30], np.r_[0, np.arange(29) % 2 + 1])
    assert level_scores(few, T).shape == (800, 3)
    assert [*few.classes_] == [0, 1, 2]
    assert not PROBES.keys() & MORE_PROBES.keys()  # audits fit the former


def test_steps_that_pass_rows_through_take_no_weights():
    T, z = noise(60)
    model = Pipeline([("scale", "passthrough"), ("model", LogisticRegression())])
    w = np.arange(60)
    fitted = fit_probe(model, T, z, w)
    plain = LogisticRegression().fit(T, z, sample_weight=w / w.mean())
    np.testing.assert_allclose(fitted.predict_proba(T), plain.predict_proba(T), atol=1e-12)


def test_signature_and_docstring_name_every_probe():
    named, _ = get_args(Probe)
    assert get_args(named) == (*PROBES, *MORE_PROBES, "strong")
    assert all(f'"{name}"' in leakage.__doc__ for name in get_args(named))


def test_a_planted_shift_is_found_by_all_probes():
    T, z = noise(600)
    for probe in PROBES | MORE_PROBES:
        found = leakage(T + z[:, None], z, probe=probe, n_permutations=200, random_state=0)
        assert found.above_chance
        assert found.p_value == pytest.approx(1 / 201)
        assert found.auc > 0.75 > found.chance_interval[1]


@pytest.mark.parametrize("signal", ["interaction", "scale"])
def test_what_trees_kernels_and_networks_see_is_chance_to_a_linear_probe(signal):
    T, z = noise(800)
    if signal == "interaction":
        z = (T[:, 0] * T[:, 1] > 0).astype(int)
    else:
        T = T * (1 + 2 * z[:, None])
    linear, *curved = (leakage(T, z, probe=probe, random_state=0) for probe in PROBES | MORE_PROBES)
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
    with pytest.warns(FittedRowsWarning, match=r"linear probe has an AUC of 0\.\d+ on 400 rows"):
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
    with pytest.raises(SingleGroupError, match=r"takes the single value 1 in all 20 .*"):
        leakage(noise(20)[0], np.ones(20, dtype=int))


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
    with pytest.raises(ValueError, match=r"sensitive_features has 3 values for 4 rows.*one value"):
        leakage(np.eye(4), [0, 1, 0])
    with pytest.raises(ValueError, match=r"sensitive_features has shape \(4, 1\).*one column"):
        leakage(np.eye(4), np.ones((4, 1)))


@pytest.mark.parametrize("probe", ["svm", 3, LinearSVC])
def test_a_probe_that_cannot_be_fitted_is_refused(probe):
    with pytest.raises(ValueError, match=r"cannot be fitted and scored.*Pass 'linear'"):
        leakage(*noise(20), probe=probe)


@pytest.mark.parametrize("arguments", [{"cv": 1}, {"n_permutations": 0}])
def test_too_few_folds_or_permutations_are_refused(arguments):
    with pytest.raises(ValueError, match="at least 2 folds and 1 permutation"):
        leakage(*noise(20), **arguments)


def test_a_constant_column_is_nothing_to_a_probe_of_weighted_rows():
    """Seen: its variance was below 0 by rounding, and the column NaN."""
    rng = np.random.default_rng(0)
    sex, weight = rng.integers(2, size=300), rng.uniform(0.5, 2.0, size=300)
    T = rng.normal(size=(300, 1)) + sex[:, None]
    same = np.column_stack([T, np.full((300, 20), 10.0 ** rng.uniform(-3, 3, size=20))])
    given = {"random_state": 0, "sample_weight": weight}
    for probe in ("linear", "kernel"):
        found = leakage(same, sex, probe=probe, **given)
        assert found.auc == pytest.approx(leakage(T, sex, probe=probe, **given).auc, abs=0.02)


def people_of(factor, seed=0, n=1200):
    """People whose columns and groups follow a factor, and nothing else."""
    rng = np.random.default_rng(seed)
    u = rng.integers(3, size=n) - 1.0 if factor == "levels" else rng.normal(size=n)
    z = (rng.random(n) < 1 / (1 + np.exp(-1.5 * u))).astype(int)
    T = rng.normal(size=(n, 3)) + np.outer(u, [1.0, -1.0, 1.0])
    return T, z, u, pd.Series(u).map("{:.0f}".format) if factor == "levels" else u


@pytest.mark.parametrize("factor", ["levels", "numbers"])
@pytest.mark.parametrize("probe", ["linear", "boosting", "kernel"])
def test_given_what_explains_it_all_nothing_leaks(probe, factor):
    T, z, _, factors = people_of(factor)
    how = {"probe": probe, "random_state": 0, "n_permutations": 200}
    assert leakage(T, z, **how).auc > 0.7
    found = leakage(T, z, given=factors, **how)
    assert not found.above_chance
    assert abs(found.auc - 0.5) < 0.04
    assert leakage(T + 0.7 * z[:, None], z, given=factors, **how).above_chance


def test_given_levels_it_is_the_mean_of_what_leaks_in_each_stratum():
    T, z, _, factors = people_of("levels")
    T = T + 0.5 * np.outer(z, [1, 0, 0])
    weight = np.random.default_rng(1).integers(1, 4, size=len(T))
    how = {"cv": 3, "n_permutations": 50, "random_state": np.random.RandomState(5)}
    found = leakage(T, z, given=factors, sample_weight=weight, **how)
    how["random_state"] = np.random.RandomState(5)  # the strata draw one after the other
    alone, shares = [], []
    for level in factors.unique():
        i = (factors == level).to_numpy()
        alone.append(leakage(T[i], z[i], sample_weight=weight[i], **how))
        sums = [np.sum(weight[i & (z == g)]) for g in (0, 1)]
        squares = [np.sum(weight[i & (z == g)] ** 2) for g in (0, 1)]
        shares.append(1 / sum(s / w**2 for s, w in zip(squares, sums, strict=True)))
    assert found.auc == pytest.approx(np.average([one.auc for one in alone], weights=shares))
    aucs = np.average([one.fold_aucs for one in alone], axis=0, weights=shares)
    assert found.fold_aucs == pytest.approx(aucs)
    assert found.n_strata == 3
    assert found.n_rows == len(T)
    assert " rows in 3 strata (" in str(found)
    widths = [one.interval[1] - one.interval[0] for one in alone]
    assert found.interval[1] - found.interval[0] < min(widths)


def test_what_differs_from_stratum_to_stratum_is_found_given_the_strata():
    """Up in one stratum and down in the other: nothing to who does not know which."""
    T, z = noise(800, 1)
    side = np.arange(800) % 2
    T = T + ((2 * side - 1) * z)[:, None]
    how = {"random_state": 0, "n_permutations": 100}
    assert not leakage(T, z, **how).above_chance
    assert leakage(T, z, given=side, **how).auc > 0.7


def test_strata_and_levels_of_few_people_are_left_out():
    T, z = noise(400)
    third = np.where((np.arange(400) < 100) & (z == 1), 2, z)
    side = pd.Series(np.arange(400) < 100).map({True: "u", False: "v"})
    side[:3] = "few"
    found = leakage(T, third, given=side, n_permutations=10, random_state=0)
    assert (found.n_strata, found.n_rows) == (2, 397)
    with pytest.raises(UsageError, match="No stratum of given has 5 rows of each of two levels"):
        leakage(T, z, given={"own": z.astype(str)})
    with pytest.raises(UsageError, match="single value"):
        leakage(T, z, given=np.repeat("all", 400))
    with pytest.raises(UsageError, match=r"shape \(7,\)"):
        leakage(T, z, given=np.arange(7))


def test_the_strong_probe_and_three_levels_take_factors():
    rng = np.random.default_rng(0)
    side, z = rng.choice([*"uv"], 360), rng.integers(3, size=360)
    T = rng.normal(size=(360, 1)) + 1.5 * (z == 2)[:, None] + 2.0 * (side == "u")[:, None]
    how = {"given": side, "cv": 2, "n_permutations": 50, "random_state": 0}
    assert leakage(T, z, **how).above_chance
    found = leakage(T, z, probe="strong", effort=2, **how)
    assert found.above_chance
    assert found.attackers


def false_alarms(factor, seeds, **how):
    """How often something is found where the factor explains all."""
    found = 0
    for seed in seeds:
        T, z, _, factors = people_of(factor, seed, **how)
        found += leakage(T, z, given=factors, cv=3, n_permutations=100, random_state=0).above_chance
    return found / len(seeds)


@pytest.mark.slow
@pytest.mark.parametrize("factor", ["levels", "numbers"])
@pytest.mark.parametrize("n", [300, 2000])
def test_false_alarms_given_factors_are_rare(factor, n):
    assert false_alarms(factor, range(150), n=n) < 0.08
