"""The plan: the law as a sum, as simulated erasers leave it, and turned round."""

from math import exp, expm1, fsum, lgamma, log, sqrt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import norm

from fairpca import FairPCA
from fairpca.erasers import LEACE, SAL, MeanProjection
from fairpca.errors import UsageError
from fairpca.metrics import leakage, plan
from slow import first_fast

SEPARATIONS = st.floats(0.05, 20.0)
COLUMNS = st.integers(2, 5000)
PEOPLE = st.tuples(st.integers(1, 10**5), st.integers(1, 10**5))


def summed(columns, kappa):
    """Return E[1 / (d + 2J)] term by term, as far from the mode as anything counts."""
    mean = kappa / 2
    reach = 12 * sqrt(mean) + 60
    terms = range(max(0, int(mean - reach)), int(mean + reach) + 1)
    weights = [exp(j * log(mean) - mean - lgamma(j + 1)) for j in terms]
    return fsum(w / (columns + 2 * j) for w, j in zip(weights, terms, strict=True)) / fsum(weights)


@given(columns=COLUMNS, people=PEOPLE, separation=SEPARATIONS)
def test_the_share_is_the_sum_of_the_law(columns, people, separation):
    kappa = separation**2 / (1 / people[0] + 1 / people[1])
    if not 1e-3 < kappa < 1e6:
        return  # too small for its logarithm, or too many terms
    planned = plan(people, columns=columns, separation=separation)
    expected = (columns - 1) * summed(columns, kappa)
    assert planned.share_left == pytest.approx(expected, rel=1e-8)


@given(columns=st.integers(2, 10**6), exponent=st.floats(-8, 15))
def test_the_expectation_is_exact_for_every_kappa(columns, exponent):
    """Of J ~ Poisson(kappa / 2): E[1/(2 + 2J)] is known, and so is d E[1/(d + 2J)] from d + 2."""
    kappa = 10.0**exponent
    n = max(1.0, 2 * kappa / 50**2)
    separation = sqrt(2 * kappa / n)

    def expectation(d):  # what is left in one of d directions
        return plan([n, n], columns=d, separation=separation, n_components=1).share_left

    two, few, more = (expectation(d) for d in (2, columns, columns + 2))
    assert two == pytest.approx(-expm1(-kappa / 2) / kappa, rel=1e-11)
    assert columns * few + kappa * more == pytest.approx(1.0, rel=1e-11)


def test_without_people_all_is_left_and_with_all_people_nothing():
    few = plan([1, 1], columns=100, separation=1e-6)
    assert few.share_left == pytest.approx(99 / 100)  # a random direction is removed
    for n in (1e9, 1e12, 1e15):
        many = plan([n, n], columns=100, separation=2.0)
        assert many.share_left == pytest.approx(99 / (4 * n / 2), rel=1e-6)
        assert many.auc_left == pytest.approx(0.5, abs=1e-3)


def test_auc_and_separation_are_two_words_for_one_thing():
    by_auc = plan([30, 70], columns=10, auc=0.8)
    assert norm.cdf(by_auc.separation / sqrt(2)) == pytest.approx(0.8)
    by_separation = plan([30, 70], columns=10, separation=by_auc.separation)
    assert by_separation.auc == pytest.approx(0.8)
    assert by_separation.auc_left == pytest.approx(by_auc.auc_left)


@given(
    columns=st.integers(3, 2000),
    people=PEOPLE,
    auc=st.floats(0.55, 0.999),
    part=st.floats(0.05, 0.95),
)
def test_what_is_needed_is_enough_and_not_more(columns, people, auc, part):
    target = 0.5 + part * (auc - 0.5)
    planned = plan(people, columns=columns, auc=auc, target_auc=target)
    needed = plan(planned.people_needed, columns=columns, auc=auc)
    assert needed.auc_left <= target + 1e-9
    if min(planned.people_needed) > 50:  # smaller groups are rounded up by much
        fewer = [0.97 * n for n in planned.people_needed]
        assert plan(fewer, columns=columns, auc=auc).auc_left > target

    def left(**changed):
        return plan(people, auc=auc, **{"columns": columns, **changed}).auc_left

    if k := planned.n_components_allowed:
        assert left(n_components=k) <= target + 1e-9
    if k < columns - 1:
        assert left(n_components=k + 1) > target - 1e-9
    if d := planned.columns_allowed:
        assert left(columns=d) <= target + 1e-9
    assert left(columns=max(2, d + 1)) > target - 1e-9


@given(columns=st.integers(3, 500), people=PEOPLE, separation=SEPARATIONS)
def test_people_help_and_columns_harm(columns, people, separation):
    def share(people, columns):
        return plan(people, columns=columns, separation=separation).share_left

    here = share(people, columns)
    assert share([2 * n for n in people], columns) < here
    assert share(people, columns + 1) > here
    assert share(people[::-1], columns) == here


def separation_left(fitted, d, difference, covariance):
    """Return the squared separation that any linear model can find behind an affine map."""
    zero = np.zeros((1, d))
    A = (fitted.transform(np.eye(d)) - fitted.transform(zero)).T
    values, V = np.linalg.eigh(A @ covariance @ A.T)
    seen = values > 1e-9 * values.max()
    return float(np.sum((V[:, seen].T @ A @ difference) ** 2 / values[seen]))


DRAWN = {
    "a few columns": (10, [50, 50], 1.0, 0.0),
    "a small group, whitened": (10, [15, 85], 2.0, 0.0),
    "a small group, columns in all units": (10, [15, 85], 2.0, 2.0),
    "little to find": (30, [200, 400], 0.7, 1.0),
    "as many columns as people": (60, [40, 100], 2.5, 1.0),
}


@pytest.mark.parametrize("drawn", first_fast(DRAWN, 3))
def test_erasers_leave_what_the_law_says_whatever_the_covariance(drawn):
    d, people, separation, spread = DRAWN[drawn]
    rng = np.random.default_rng(0)
    n_draws = 400
    groups = np.repeat([0, 1], people)
    units = np.exp(spread * rng.normal(size=d))
    difference = rng.normal(size=d)
    difference *= separation * units / np.linalg.norm(difference)
    erasers = {"LEACE": LEACE(), "SAL": SAL(), "mean projection": MeanProjection()}
    shares = {name: np.empty(n_draws) for name in erasers}
    for i in range(n_draws):
        X = units * rng.normal(size=(len(groups), d)) + np.outer(groups, difference)
        for name, eraser in erasers.items():
            fitted = eraser.fit(X, sensitive_features=groups)
            left = separation_left(fitted, d, difference, np.diag(units**2))
            shares[name][i] = left / separation**2
    expected = plan(people, columns=d, separation=separation).share_left
    for name, found in shares.items():
        error = found.std() / sqrt(n_draws)
        assert error < 0.05 * expected
        assert abs(found.mean() - expected) < 4 * error, name
        assert np.allclose(found, shares["LEACE"], rtol=1e-6)  # they reveal the same


def test_a_few_components_leave_their_part():
    d, people, separation, k = 30, [60, 140], 2.0, 5
    rng = np.random.default_rng(1)
    groups = np.repeat([0, 1], people)
    difference = rng.normal(size=d)
    difference *= separation / np.linalg.norm(difference)
    shares = []
    for _ in range(400):
        X = rng.normal(size=(len(groups), d)) + np.outer(groups, difference)
        fitted = FairPCA(k).fit(X, sensitive_features=groups)
        shares.append(separation_left(fitted, d, difference, np.eye(d)) / separation**2)
    planned = plan(people, columns=d, separation=separation, n_components=k)
    whole = plan(people, columns=d, separation=separation)
    assert planned.share_left == pytest.approx(k / (d - 1) * whole.share_left)
    assert abs(np.mean(shares) - planned.share_left) < 4 * np.std(shares) / 20


def test_of_several_groups_the_smallest_is_predicted():
    d, people, separation = 20, [30, 100, 120, 150], 1.5
    rng = np.random.default_rng(2)
    groups, sizes = np.repeat(range(4), people), np.array(people)
    shares = []
    for _ in range(400):
        means = 0.4 * rng.normal(size=(4, d))
        rest = sizes[1:] @ means[1:] / sizes[1:].sum()
        difference = means[0] - rest
        difference *= separation / np.linalg.norm(difference)
        means[0] = rest + difference
        X = rng.normal(size=(len(groups), d)) + means[groups]
        fitted = LEACE().fit(X, sensitive_features=groups.astype(str))
        shares.append(separation_left(fitted, d, difference, np.eye(d)) / separation**2)
    planned = plan(people, columns=d, separation=separation)
    assert planned.n_components == d - 3
    assert np.mean(shares) == pytest.approx(planned.share_left, rel=0.06)


def test_what_a_probe_of_few_people_finds_is_planned_before_and_after():
    d, people, separation, new = 20, [40, 80], 1.5, 150
    trained_on = [0.8 * new / 3, 0.8 * new * 2 / 3]  # four folds of five
    rng = np.random.default_rng(3)
    aucs = []
    for _ in range(40):
        difference = rng.normal(size=d)
        difference *= separation / np.linalg.norm(difference)
        groups = np.repeat([0, 1, 0, 1], [*people, new // 3, new * 2 // 3])
        X = rng.normal(size=(len(groups), d)) + np.outer(groups, difference)
        fitted = LEACE().fit(X[:120], sensitive_features=groups[:120])
        rows, z = X[120:], groups[120:]
        aucs.append([auc_of_probe(rows, z), auc_of_probe(fitted.transform(rows), z)])
    before, after = np.mean(aucs, axis=0)
    error, error_after = np.std(aucs, axis=0) / sqrt(len(aucs))
    planned = plan(people, columns=d, separation=separation, trained_on=trained_on)
    best = plan(people, columns=d, separation=separation)
    assert abs(planned.auc - before) < 3 * error < best.auc - before
    assert abs(planned.auc_left - after) < 3 * error_after < best.auc_left - after
    again = plan(people, columns=d, auc=planned.auc, trained_on=trained_on)
    assert again.separation == pytest.approx(separation, rel=1e-9)
    assert again.auc_left == pytest.approx(planned.auc_left, rel=1e-9)


def auc_of_probe(X, groups):
    return leakage(X, groups, n_permutations=1, random_state=0).auc


def test_a_probe_of_many_people_is_the_best_linear_model():
    asked = {"columns": 50, "auc": 0.8}
    many = plan([30, 70], **asked, trained_on=[1e12, 1e12])
    assert many.auc_left == pytest.approx(plan([30, 70], **asked).auc_left, rel=1e-9)


def test_a_plan_is_read_in_sentences():
    planned = plan([10, 20, 30], columns=12, auc=0.8, n_components=4, target_auc=0.6)
    text = str(planned)
    assert text.startswith("With 10, 20 and 30 people and 4 components of 12 columns")
    assert "the smallest group of new people" in text
    assert f"AUC {planned.auc_left:.2f} (0.80 before)" in text
    assert f"{planned.n_components_allowed} components" in text
    assert "For AUC" not in str(plan([10, 20], columns=12, auc=0.8))


@pytest.mark.parametrize(
    ("people", "given", "message"),
    [
        ([10], {}, r"people=\[10\] is not a number of 1 or more .* for each"),
        (10, {}, "people=10 is not"),
        ("12", {}, "people='12' is not"),
        ([10, 0], {}, "is not a number of 1 or more"),
        ([10, float("inf")], {}, "is not a number of 1 or more"),
        ([10, "b"], {}, "is not a number of 1 or more"),
        ([10, True], {}, "is not a number of 1 or more"),
        ([10, 10**400], {}, r"up to 1e\+15"),
        ([0.5] * 1000, {}, r"people=\[0.5, 0.5, .*, \.\.\.\] is not"),
        ([10, 10], {"columns": 1}, "2 groups cost 1, one is left"),
        ([10, 10], {"columns": 10**400}, r"is not a whole number from 2 .* to 1e\+15"),
        ([10, 10], {"columns": 5.5}, "columns=5.5 is not a whole number from 2"),
        ([10, 10, 10], {"n_components": 9}, "3 groups cost 2 of 10 columns. Use at most 8"),
        ([10, 10], {"n_components": 0}, "n_components=0 is not a whole number from 1 to"),
        ([10, 10], {"auc": 1.0}, "groups that never overlap"),
        ([10, 10], {"auc": 0.5}, "nothing to remove"),
        ([10, 10], {"auc": "high"}, "auc='high' is not strictly"),
        ([10, 10], {"auc": None}, "neither is given"),
        ([10, 10], {"separation": 1.0}, "both are given"),
        ([10, 10], {"auc": None, "separation": -1.0}, "separation=-1.0 is not"),
        ([10, 10], {"auc": None, "separation": float("nan")}, "separation=nan is not"),
        ([10, 10], {"auc": None, "separation": 1e200}, "up to 100 standard deviations"),
        ([10, 10], {"trained_on": [10]}, r"trained_on=\[10\] is not"),
        ([10, 10], {"trained_on": [3, 4]}, "find that learn 10 columns from 7 people"),
        ([10, 10], {"trained_on": [30, 40], "target_auc": 0.6}, "both given"),
        ([10, 10], {"target_auc": "low"}, "target_auc='low' is not strictly between 0.5"),
        ([10, 10], {"target_auc": 0.45}, "target_auc=0.45 is not strictly between 0.5"),
        ([10, 10], {"target_auc": 0.9}, "not strictly between 0.5, .* and 0.8"),
        ([10, 10], {"target_auc": 0.5}, "takes infinitely many people"),
        ([10, 10], {"target_auc": 0.5 + 1e-12}, "so close to 0.5"),
    ],
)
def test_what_cannot_be_planned_is_told_in_one_line(people, given, message):
    with pytest.raises(UsageError, match=message):
        plan(people, **{"columns": 10, "auc": 0.8, **given})
