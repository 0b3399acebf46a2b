"""Fair PLS is what its formulas say, and nobody does better."""

import warnings

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy.stats import ks_2samp

from assertions import assert_equal_group_means, assert_uncorrelated
from fairpca import FairPLS
from fairpca.errors import InfeasibleError, ResidualWarning
from fairpca.metrics import certified_gap
from fairpca.solvers import _predict_targets as module
from oracles import (
    equal_shares_by_the_book,
    fair_pls_by_the_book,
    fair_span,
    kolmogorov_distance,
    soft_contrasts,
    target_matrix,
    thresholds_by_the_book,
)
from strategies import grouped_rows

STEPS = "fairpca.solvers._equalize_distributions.STEPS"

SOFT = {"normal": module.THRESHOLDS, "width": module.WIDTH}


@st.composite
def rows_with_targets(draw):
    """Return X, attributes, weights and targets: classes, a number, or several of them."""
    X, columns, weight = draw(grouped_rows(min_features=4, weights=True))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    assume(all(np.bincount(c).min() > 1 for c in columns.values() if c.dtype.kind != "f"))
    assume(fair_span(X, *columns.values(), weight=weight).shape[1] > 0)
    unit = (X - X.mean(axis=0)) / np.where(np.ptp(X, axis=0) > 0, X.std(axis=0), 1)
    kinds = draw(st.sampled_from(["two", "three", "number", "two and number", "three and two"]))
    targets = {}
    for kind in kinds.split(" and "):
        score = unit @ rng.normal(size=X.shape[1]) + rng.normal(size=len(X))
        cuts = {"two": [0.5], "three": [0.3, 0.6], "number": []}[kind]
        targets[kind] = np.searchsorted(np.quantile(score, cuts), score) if cuts else 1e3 * score
        # A function of the attribute is refused.
        assume(any(len(np.unique(targets[kind][columns["z"] == g])) > 1 for g in columns["z"]))
    if not draw(st.booleans()):
        weight = np.ones(len(X))
    return X, columns, weight, targets


def fitted(rows, **options):
    X, columns, weight, targets = rows
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of rows far from the origin
        fair = FairPLS(**{"scale": False} | options)
        return fair.fit(X, targets, sensitive_features=columns, sample_weight=weight)


def scores(X, W):
    return (X - X.mean(axis=0)) @ W


def standard_deviations(X, weight):
    mean = np.average(X, axis=0, weights=weight)
    return np.sqrt(np.average((X - mean) ** 2, axis=0, weights=weight))


@pytest.mark.parametrize("match", ["means", "covariances", "distributions"])
@given(rows=rows_with_targets(), scale=st.booleans())
def test_every_strength_agrees_with_the_book(match, rows, scale):
    """Distributions of one score; of several, readers are asked."""
    X, columns, weight, targets = rows
    spread, shrinkage, penalty = 0.7 * (match != "means"), 0.3, 50.0
    fair = fitted(
        rows,
        n_components=1 if match == "distributions" else None,
        match=match,
        scale=scale,
        covariance_penalty=0.7,
        distribution_penalty=penalty,
        shrinkage=shrinkage,
    )
    Z = X
    if scale:
        Z = X / np.where(np.ptp(X, axis=0) > 0, standard_deviations(X, weight), 1)
    W, start = fair_pls_by_the_book(
        Z, targets.values(), *columns.values(), weight=weight, shrinkage=shrinkage, spread=spread
    )
    if match == "distributions":
        *matrices, b, t = start
        start = (*matrices, b[:, :1], t[:, :1])
        W, gap = equal_shares_by_the_book(
            Z,
            *columns.values(),
            weight=weight,
            start=start,
            penalty=penalty,
            rounds=module.ROUNDS,
            settled=module.SETTLED,
            **SOFT,
        )
        assert fair.distribution_gap_ == pytest.approx(gap, abs=1e-8)
    far = np.abs(X).max() / X.std(axis=0).max()
    T, expected = fair.transform(X), scores(Z, W)
    T = T - T.mean(axis=0)
    np.testing.assert_allclose(T, expected, rtol=0, atol=1e-9 * max(1, far))


@pytest.mark.parametrize("match", ["means", "distributions"])
@given(rows=rows_with_targets(), scale=st.booleans())
def test_what_a_fit_says_of_its_scores_is_so_on_the_rows(match, rows, scale):
    X, columns, weight, targets = rows
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(STEPS, 5)
        fair = fitted(rows, match=match, scale=scale)
    T = fair.transform(X)
    T = T - np.average(T, axis=0, weights=weight)
    far = np.abs(X).max() / X.std(axis=0).max()
    np.testing.assert_allclose(np.average(T**2, axis=0, weights=weight), 1.0, atol=1e-9 * far)
    for z in columns.values():
        compare = assert_uncorrelated if z.dtype.kind == "f" else assert_equal_group_means
        compare(T, z, weight, rtol=1e-9 * max(1, far))
    for explained, y in zip(fair.explained_targets_.T, targets.values(), strict=True):
        Y = target_matrix(y, weight=weight)
        squared = ((weight[:, None] * T).T @ Y / weight.sum()) ** 2
        np.testing.assert_allclose(explained, squared.sum(axis=1), atol=1e-9 * max(1, far))
    Y = target_matrix(*targets.values(), weight=weight)
    if Y.shape[1] == 1:  # two classes, or a number: scores rise with it
        assert np.all((weight * Y[:, 0]) @ T > 0)
    if match == "distributions":
        gaps = [kolmogorov_distance(s, columns.values(), weight) for s in T.T]
        assert fair.distribution_gap_ == pytest.approx(np.max(gaps), abs=1e-9 * max(1, far))


@pytest.mark.parametrize("match", ["means", "covariances"])
@given(rows=rows_with_targets(), seed=st.integers(0, 100))
def test_no_fair_direction_predicts_more_for_its_penalty(match, rows, seed):
    """Of all directions, and of those that are orthogonal to the components before."""
    X, columns, weight, targets = rows
    fair = fitted(rows, match=match, shrinkage=0.1, covariance_penalty=0.5)
    spread = 0.5 * (match == "covariances")
    _, (R, A, _, _, _) = fair_pls_by_the_book(
        X, targets.values(), *columns.values(), weight=weight, shrinkage=0.1, spread=spread
    )
    w = weight / weight.sum()
    T = R.T @ (X - w @ X).T @ (w[:, None] * target_matrix(*targets.values(), weight=weight))
    found = R.T @ fair.components_.T
    np.testing.assert_allclose(R @ found, fair.components_.T, atol=1e-7 * np.abs(found).max())
    rng = np.random.default_rng(seed)
    far = np.abs(X).max() / X.std(axis=0).max()
    for j, b in enumerate(found.T):
        before = found[:, :j]
        best = np.sum((T.T @ b) ** 2) / (b @ A @ b)
        for size in (1e-3, 1.0, 1e3):
            other = b / np.linalg.norm(b) + size * rng.normal(size=len(b)) / len(b)
            if j:
                inner = before.T @ A @ before
                other = other - before @ np.linalg.solve(inner, before.T @ A @ other)
            assert np.sum((T.T @ other) ** 2) / (other @ A @ other) <= best + 1e-9 * max(1, far)


def groups_that_differ(n=600, d=6, seed=0):
    """Rows of two groups with other variances and shapes, and a class that they predict."""
    rng = np.random.default_rng(seed)
    z = rng.integers(0, 2, n)
    X = rng.gamma(2.0, size=(n, d)) * np.where(z[:, None] == 1, np.linspace(0.5, 3, d), 1.0)
    score = (X - X.mean(axis=0)) @ rng.normal(size=d)
    y = (score + rng.normal(size=n) > 0).astype(int)
    return X, {"z": z}, np.ones(n), {"y": y}


@pytest.mark.parametrize("penalty", [1.0, 3000.0, 1e7])
@pytest.mark.parametrize("seed", [0, 1])
def test_more_rounds_never_cost_more(penalty, seed, monkeypatch):
    rows = X, columns, weight, targets = groups_that_differ(seed=seed)
    _, (R, A, _, b, t) = fair_pls_by_the_book(
        X, targets.values(), *columns.values(), weight=weight, shrinkage=0.01, spread=0.1
    )
    original, kept = module._equalize_shares, []

    def noting(problem, *arguments):
        found = original(problem, *arguments)
        kept.append(R.T @ problem.B @ found[0][:, 0])
        return found

    monkeypatch.setattr(module, "_equalize_shares", noting)
    at_first = scores(X, R @ b[:, 0])
    at = thresholds_by_the_book(at_first / at_first.std(), weight, **SOFT)
    costs = []
    for rounds in range(1, 9):
        monkeypatch.setattr(module, "ROUNDS", rounds)
        fair = fitted(rows, shrinkage=0.01, distribution_penalty=penalty)
        c, (s,) = kept[-1], fair.transform(X).T
        contrast, below, counts = soft_contrasts(s, columns.values(), weight, *at)
        r = np.sqrt(counts)[:, None] * (contrast @ below)
        mu = penalty * (b[:, 0] @ t[:, 0]) / len(module.THRESHOLDS)
        costs.append(c @ A @ c - 2 * t[:, 0] @ c + mu * np.sum(r**2))
    assert np.all(np.diff(costs) <= 1e-9 * np.abs(costs).max())
    assert costs[-1] < costs[0]


def test_shrinkage_is_that_of_generalised_cross_validation():
    """With the hat matrix itself: n times the squared residuals over (n - its trace) squared."""
    X, columns, weight, targets = rows = groups_that_differ(n=90, d=12)
    fair = fitted(rows, match="means")
    R = fair_span(X, *columns.values())
    Z, Y = (X - X.mean(axis=0)) @ R, target_matrix(*targets.values(), weight=weight)
    trace, errors = np.sum((X - X.mean(axis=0)) ** 2), []
    for shrinkage in module.SHRINKAGES:
        ridge = shrinkage * trace / X.shape[1] * np.eye(R.shape[1])
        hat = Z @ np.linalg.solve(Z.T @ Z + ridge, Z.T)
        left = len(X) - 1 - 1 - np.trace(hat)  # a mean, and what separates the groups
        errors.append(np.sum((Y - hat @ Y) ** 2) / left**2)
    assert fair.shrinkage_ == module.CAUTION * module.SHRINKAGES[np.argmin(errors)]


UNITS = {
    "large and small": [1e6, 1e-6, 1e6, 1.0, 1e-6, 1.0],
    "small": 1e-9,
    "large": 1e9,
}
PLACES = {"at the origin": 0.0, "far": 1e5}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("unit", UNITS)
@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("options", [{}, {"scale": True}, {"scale": True, "kernel": "rbf"}])
def test_means_are_equal_in_any_units(dtype, unit, place, options):
    X, _, _, targets = groups_that_differ()
    rng = np.random.default_rng(1)
    tiny = np.where(np.arange(len(X)) % 97 == 0, "few", rng.choice(["a", "b"], len(X)))
    nested = np.where(tiny == "a", "a", "not a")
    X = ((X + PLACES[place]) * UNITS[unit]).astype(dtype)
    X[:, -1] = X[:, 0]  # a copy
    fair = FairPLS(random_state=0, n_landmarks=30, **{"scale": False} | options)
    fair.fit(X, targets, sensitive_features={"tiny": tiny, "nested": nested})
    T = fair.transform(X).astype(float)
    T = T - T.mean(axis=0)
    exact = dtype == np.float64
    far = max(1.0, PLACES[place])
    for z in (tiny, nested):
        assert_equal_group_means(T, z, rtol=(1e-10 if exact else 1e-4) * far)
    np.testing.assert_allclose(T.std(axis=0), 1.0, atol=(1e-9 if exact else 1e-3) * far)
    assert fair.mean_gap_ < (1e-9 if exact else 1e-3)


def test_a_class_without_weight_is_no_class():
    """Of three labels, the one that is last of those that count decides the sign."""
    X, columns, _, targets = groups_that_differ()
    z, y = columns["z"], targets["y"].copy()
    y[:30] = -1
    weighted = FairPLS(shrinkage=0.1, match="means")
    weighted.fit(X, y, sensitive_features=z, sample_weight=(y >= 0).astype(float))
    without = FairPLS(shrinkage=0.1, match="means").fit(X[30:], y[30:], sensitive_features=z[30:])
    np.testing.assert_allclose(weighted.transform(X), without.transform(X), rtol=0, atol=1e-9)
    assert weighted.targets_ == without.targets_ == {"y": [0, 1]}


def test_numbers_alone_are_matched_by_the_book():
    """They have no groups whose variances could be compared, and so no spread counts."""
    X, columns, weight, targets = groups_that_differ()
    v = {"v": X[:, 0] ** 2 + 3.0 * columns["z"]}
    fair = fitted((X, v, weight, targets), shrinkage=0.1, distribution_penalty=500.0)
    _, start = fair_pls_by_the_book(
        X, targets.values(), *v.values(), weight=weight, shrinkage=0.1, spread=0.0
    )
    how = {"rounds": module.ROUNDS, "settled": module.SETTLED, **SOFT}
    W, gap = equal_shares_by_the_book(
        X, *v.values(), weight=weight, start=start, penalty=500.0, **how
    )
    np.testing.assert_allclose(fair.transform(X), scores(X, W), rtol=0, atol=1e-9)
    assert fair.distribution_gap_ == pytest.approx(gap, abs=1e-9)
    options = {"shrinkage": 0.1, "distribution_penalty": 500.0, "missing_sensitive": "group"}
    known = fitted((X, v, weight, targets), **options)  # none is missing, which is no group
    np.testing.assert_allclose(known.transform(X), fair.transform(X), rtol=0, atol=1e-12)
    with pytest.raises(InfeasibleError, match="needs a categorical attribute"):
        fitted((X, v, weight, targets), match="covariances", missing_sensitive="group")


@pytest.mark.parametrize("match", ["means", "covariances", "distributions"])
def test_a_criterion_is_an_attribute_that_other_rows_lack(match):
    X, columns, _, targets = groups_that_differ()
    z, y = columns["z"].astype(object), targets["y"]
    within = {f"z among {c}": np.where(y == c, z, None) for c in (0, 1)}
    options = {"match": match, "shrinkage": 0.1}
    for criterion, groups in (
        ("equal_opportunity", {"z": within["z among 1"]}),
        ("equalized_odds", within),
    ):
        fair = FairPLS(criterion=criterion, **options).fit(X, y, sensitive_features={"z": z})
        other = FairPLS(missing_sensitive="ignore", **options).fit(X, y, sensitive_features=groups)
        np.testing.assert_allclose(fair.transform(X), other.transform(X), rtol=0, atol=1e-10)
        T = fair.transform(X)[y == 1]
        assert_equal_group_means(T, columns["z"][y == 1])


def two_that_correlate_in_one_group(n=4000, seed=0):
    """Each of two targets is alike in both groups, but not their sum."""
    rng = np.random.default_rng(seed)
    sex = rng.integers(0, 2, n)
    a, b = rng.normal(size=(2, n))
    X = np.column_stack([a, np.where(sex == 1, a, b), rng.normal(size=(n, 2))])
    return X, sex, {"first": X[:, 0] + 0.3 * X[:, 2], "second": X[:, 1] + 0.3 * X[:, 3]}


@pytest.mark.filterwarnings("ignore:With 2 components, readers")  # without a penalty
def test_several_scores_are_compared_together(monkeypatch):
    monkeypatch.setattr(STEPS, 60)
    X, sex, targets = two_that_correlate_in_one_group()
    gaps, separabilities = [], []
    for penalty in (0.0, 1000.0):
        fair = FairPLS(covariance_penalty=0.0, distribution_penalty=penalty)
        T = fair.fit(X, targets, sensitive_features=sex).transform(X)
        sums = (T[:, 0] + T[:, 1], T[:, 0] - T[:, 1])
        gaps.append(max(certified_gap(s, sex).observed for s in sums))
        separabilities.append(fair.separability_ - fair.separability_null_)
    assert gaps[1] < 0.5 * gaps[0]
    assert separabilities[1] < 0.1 * separabilities[0]


def test_readers_are_asked_about_several_scores_only():
    X, sex, targets = two_that_correlate_in_one_group(n=300)
    for fair in (FairPLS(1), FairPLS(match="means")):
        assert not hasattr(fair.fit(X, targets, sensitive_features=sex), "separability_")


@pytest.mark.filterwarnings("ignore:With 3 components, readers")  # few steps
@pytest.mark.parametrize("few", [None, 5])
def test_the_best_scores_of_several_come_first_and_rise(few, monkeypatch):
    """The search may be among few directions; what predicts is one of them."""
    if few is not None:
        monkeypatch.setattr("fairpca.solvers._equalize_distributions.MOST_DIRECTIONS", few)
    monkeypatch.setattr(STEPS, 20)
    X, columns, _, _ = groups_that_differ(d=9)
    rng = np.random.default_rng(1)
    targets = {f"t{j}": (X @ rng.normal(size=9) + rng.normal(size=len(X))) for j in range(3)}
    fair = FairPLS().fit(X, targets, sensitive_features=columns["z"])
    T = fair.transform(X)
    R = np.stack([np.corrcoef(t, T.T)[0, 1:] for t in targets.values()])
    np.testing.assert_allclose(R**2, fair.explained_targets_.T, atol=1e-9)
    assert np.all(R[np.argmax(np.abs(R), axis=0), np.arange(3)] > 0)
    assert_equal_group_means(T, columns["z"], rtol=1e-9)


def two_groups(n, seed):
    rng = np.random.default_rng(seed)
    return rng, rng.integers(0, 2, n)


def one_row_of_totals(n=1000):
    rng, z = two_groups(n, 0)
    X = rng.normal(size=(n, 4)) + 0.8 * np.outer(z, [1, 1, 0, 0])
    y = X.sum(axis=1) + rng.normal(size=n) > 0.8
    X[7] = 1e4
    return X, y, z, {}


def incomes(n=1000):
    rng, z = two_groups(n, 1)
    logs = rng.normal(size=(n, 4)) * (1 + 0.3 * z[:, None]) + 0.7 * np.outer(z, [1, 0.5, 0, 0])
    return np.exp(logs), logs.sum(axis=1) + rng.normal(size=n) > 1, z, {}


def yes_and_no(n=1000):
    rng, z = two_groups(n, 2)
    X = (rng.random((n, 4)) < 0.3 + 0.3 * np.outer(z, [1, 0.5, 0, 0])).astype(float)
    return X, X.sum(axis=1) + rng.normal(size=n) > 1.5, z, {"kernel": "rbf", "random_state": 0}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("make", [one_row_of_totals, incomes, yes_and_no])
def test_the_gap_is_kolmogorovs_distance_of_the_score(make):
    """Not smoothed, not between two thresholds: outliers, heavy tails and ties count."""
    X, y, z, options = make()
    fair = FairPLS(**options).fit(X, y, sensitive_features=z)
    s = np.round(fair.transform(X)[:, 0], 7)
    assert fair.distribution_gap_ == pytest.approx(ks_2samp(s[z == 0], s[z == 1])[0], abs=1e-9)


def test_a_score_of_few_values_is_warned_of():
    X, y, z, _ = yes_and_no()
    with pytest.warns(ResidualWarning, match="different values in 1,000 rows"):
        FairPLS().fit(X, y, sensitive_features=z)
    rng = np.random.default_rng(0)
    FairPLS().fit(X + 0.1 * rng.normal(size=X.shape), y, sensitive_features=z)  # no warning


def test_many_values_are_rounded_and_bounded(monkeypatch):
    """Memory does not grow with the rows; what is said is not less than what is so."""
    X, columns, weight, targets = groups_that_differ()
    exact = fitted((X, columns, weight, targets))
    monkeypatch.setattr("fairpca._moments.shares.MOST_VALUES", 100)
    bound = fitted((X, columns, weight, targets))
    s = bound.transform(X)[:, 0]
    so = ks_2samp(*(s[columns["z"] == g] for g in (0, 1)))[0]
    assert so <= bound.distribution_gap_ <= so + 0.02
    assert np.corrcoef(s, exact.transform(X)[:, 0])[0, 1] > 0.999


@pytest.mark.parametrize("kernel", [None, "rbf"])
def test_names_of_classes_and_constant_columns_change_nothing(kernel):
    X, columns, _, targets = groups_that_differ()
    z, y = columns["z"], targets["y"]
    options = {"kernel": kernel, "random_state": 0, "n_landmarks": 40}
    fair = FairPLS(**options).fit(X, np.where(y == 1, "b", "a"), sensitive_features=z)
    (s,) = fair.transform(X).T
    other = FairPLS(**options).fit(X, np.where(y == 1, "a", "b"), sensitive_features=z)
    np.testing.assert_allclose(other.transform(X)[:, 0], -s, rtol=0, atol=1e-9)
    constant = np.column_stack([X, np.full(len(X), 7.0)])
    more = FairPLS(**options).fit(constant, np.where(y == 1, "b", "a"), sensitive_features=z)
    np.testing.assert_allclose(more.transform(constant)[:, 0], s, rtol=0, atol=1e-9)


@pytest.mark.parametrize(("first", "second"), [("1", "2"), (" 1 ", "2"), (1, 2), (True, False)])
def test_scores_rise_with_the_class_that_is_named(first, second):
    X, columns, _, targets = groups_that_differ()
    y = np.array([first if yes else second for yes in targets["y"]], dtype=object)
    (s,) = FairPLS(pos_label=1).fit(X, y, sensitive_features=columns["z"]).transform(X).T
    assert np.corrcoef(s, targets["y"])[0, 1] > 0
