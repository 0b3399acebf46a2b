"""Conditional demographic parity: groups are equal among people alike in legitimate factors."""

import warnings

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from sklearn import config_context
from sklearn.base import clone
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import fairpca
from assertions import assert_same_subspace
from fairpca import FairKernelPCA, FairPCA, FairPLS
from fairpca.erasers import LEACE, SAL, SPLINCE, KernelSAL, MeanProjection
from fairpca.errors import InfeasibleError, ResidualWarning, SingleGroupError, UsageError
from fairpca.moments import collect_moments
from optional_libraries import pandas as pd
from strategies import grouped_rows


def residuals(V, U, w):
    """Return what a weighted least-squares regression on U and a constant leaves of V."""
    F = np.column_stack([np.ones(len(V)), U]) * np.sqrt(w)[:, None]
    slopes = np.linalg.lstsq(F, V * np.sqrt(w)[:, None], rcond=1e-9)[0]
    return V - np.column_stack([np.ones(len(V)), U]) @ slopes


def partial_covariances(X, Z, strata, U, w=None):
    """Return covariances of residuals, textbook-wise: (k, d) sums, stratum by stratum."""
    w = np.ones(len(X)) if w is None else w
    rows = []
    for s in np.unique(strata):
        i = strata == s
        Zr, Xr = residuals(Z[i], U[i], w[i]), residuals(X[i], U[i], w[i])
        rows.append((w[i, None] * Zr).T @ Xr)
    return np.concatenate(rows)


def indicators(z):
    return (z[:, None] == np.unique(z)).astype(float)


def people(n=500, d=9, seed=0):
    rng = np.random.default_rng(seed)
    edu = rng.choice(["low", "middle", "high"], n)
    hours = 40.0 + 10.0 * rng.normal(size=n)
    age = rng.normal(size=n)
    chance = 0.3 + 0.2 * (edu == "low") + 0.2 * (hours > 40)
    sex = np.where(rng.random(n) < chance, "m", "f")
    X = rng.normal(size=(n, d)) @ rng.normal(size=(d, d))
    X += np.outer(sex == "m", rng.normal(size=d)) + np.outer(hours / 10, rng.normal(size=d))
    X += np.outer(edu == "low", rng.normal(size=d))
    return X, sex, edu, hours, age


NOTHING = np.zeros((500, 0))


def cases():
    _, _, edu, hours, age = people()
    numbers = np.column_stack([hours, age])
    return {
        "levels": ({"education": edu}, edu, NOTHING),
        "numbers": ({"hours": hours, "age": age}, np.zeros(500), numbers),
        "both": ({"education": edu, "hours": hours}, edu, hours[:, None]),
        "nested numbers": (
            {"hours": hours, "minutes": 60 * hours, "age": age, "sum": hours + age},
            np.zeros(500),
            numbers,
        ),
    }


CASES = cases()


@pytest.mark.parametrize("case", CASES)
def test_components_are_those_of_residuals(case):
    X, sex, *_ = people()
    factors, strata, U = CASES[case]
    fair = FairPCA().fit(X, sensitive_features=sex, given=factors)
    C = partial_covariances(X, indicators(sex)[:, 1:], strata, U)
    Q = np.linalg.svd(C.T, full_matrices=False)[0]
    assert_same_subspace(fair.components_.T, np.linalg.svd(Q, full_matrices=True)[0][:, len(C) :])
    assert fair.mean_gap_ < 1e-12
    left = partial_covariances(fair.transform(X), indicators(sex), strata, U)
    assert np.abs(left).max() < 1e-9


@pytest.mark.parametrize("case", CASES)
def test_leace_is_leace_of_the_residuals(case):
    """The textbook's formula, with the attribute replaced by what the factors leave of it."""
    X, sex, *_ = people()
    factors, strata, U = CASES[case]
    T = LEACE().fit(X, sensitive_features=sex, given=factors).transform(X)
    S = np.cov(X.T, bias=True)
    values, V = np.linalg.eigh(S)
    W, inverse = (V * values**-0.5) @ V.T, (V * values**0.5) @ V.T
    A = W @ partial_covariances(X, indicators(sex), strata, U).T
    P = inverse @ A @ np.linalg.pinv(A, rcond=1e-9) @ W
    np.testing.assert_allclose(T, X - (X - X.mean(axis=0)) @ P.T, atol=1e-9)


ERASERS = {
    "mean projection": MeanProjection(),
    "sal": SAL(),
    "leace": LEACE(),
    "splince": SPLINCE(),
    "kernel sal": KernelSAL(kernel="linear"),
    "exact kernel": FairKernelPCA(kernel="linear"),
    "rbf kernel": FairKernelPCA(5),
    "nystroem": FairKernelPCA(5, approximation="nystroem", n_landmarks=50, random_state=0),
    "pls": FairPLS(match="means"),
    "kernel pls": FairPLS(match="means", kernel="rbf", n_landmarks=50, random_state=0),
    "with a trade-off of 0": FairPCA(3, scale=True),
}


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("name", ERASERS)
def test_no_partial_covariance_is_left(name, case):
    X, sex, *_ = people()
    factors, strata, U = CASES[case]
    y = X[:, 0] + X[:, 1] + np.random.default_rng(1).normal(size=len(X)) > 0
    T = ERASERS[name].fit(X, y, sensitive_features=sex, given=factors).transform(X)
    left = partial_covariances(T, indicators(sex), strata, U) / len(X)
    assert np.abs(left / T.std(axis=0)).max() < 1e-9
    assert T.std(axis=0).min() > 1e-3


def test_splince_keeps_all_covariance_with_the_target():
    X, sex, edu, hours, _ = people()
    y = X[:, 0] + np.random.default_rng(1).normal(size=len(X)) > 0
    T = SPLINCE().fit_transform(X, y, sensitive_features=sex, given={"e": edu, "h": hours})
    np.testing.assert_allclose((y - y.mean()) @ T, (y - y.mean()) @ X, atol=1e-9)


@pytest.mark.parametrize("Method", [FairPCA, LEACE])
def test_no_linear_model_within_strata_does_better_than_a_constant(Method):
    """Least squares on the factors, with a slope for each stratum, gains nothing from the rows."""
    X, sex, edu, hours, _ = people()
    T = Method().fit(X, sensitive_features=sex, given={"e": edu, "h": hours}).transform(X)
    z = indicators(sex)[:, 1:]
    for level in np.unique(edu):
        i = edu == level
        ones = np.ones(i.sum())
        alone = residuals(z[i], hours[i, None], ones)
        with_rows = residuals(z[i], np.column_stack([hours[i], T[i]]), ones)
        assert np.sum(alone**2) == pytest.approx(np.sum(with_rows**2), rel=1e-9)


@settings(suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much])
@given(data=grouped_rows(min_features=5, weights=True), seed=st.integers(0, 2**16))
def test_nobody_chose_these_rows(data, seed):
    X, columns, w = data
    rng, n = np.random.default_rng(seed), len(X)
    z = columns["z"]
    strata, U = rng.integers(0, 2, n), rng.normal(size=(n, rng.integers(0, 3)))
    factors = {"s": strata.astype(str)} | {f"u{j}": column for j, column in enumerate(U.T)}
    Z = indicators(z)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            fair = FairPCA(scale=True).fit(
                X, sensitive_features={"z": z}, given=factors, sample_weight=w
            )
    except (InfeasibleError, SingleGroupError):
        assume(False)
    T = fair.transform(X)
    left = partial_covariances(T, Z, strata, U, w) / w.sum()
    far = 1.0 + np.abs(X).max() / X.std(axis=0)[X.std(axis=0) > 1e-9].min()
    assert np.abs(left / T.std(axis=0)).max() < 1e-13 * far + 1e-10


@pytest.mark.parametrize("method", [FairPCA(), FairPCA(2, tradeoff=0.5), LEACE(), SAL(2)])
def test_equalised_odds_is_the_special_case_of_the_target(method):
    X, sex, *_ = people()
    y = np.random.default_rng(1).integers(0, 3, len(X))
    T = method.fit(X, sensitive_features=sex, given=y).transform(X)
    moments = collect_moments(X, sex, y=y, criterion="equalized_odds")
    odds = clone(method).fit_moments(moments)
    np.testing.assert_allclose(T, odds.transform(X), atol=1e-9)
    if isinstance(method, FairPCA):
        odds = clone(method).set_params(criterion="equalized_odds")
        odds.fit(X, y, sensitive_features=sex)
        np.testing.assert_allclose(T, odds.transform(X), atol=1e-9)


def test_a_criterion_and_factors_are_taken_together():
    X, sex, edu, hours, _ = people()
    y = np.random.default_rng(1).integers(0, 2, len(X))
    odds = FairPCA(criterion="equalized_odds").fit(X, y, sensitive_features=sex, given=edu)
    both = FairPCA().fit(X, sensitive_features=sex, given={"y": y, "education": edu})
    np.testing.assert_allclose(odds.components_, both.components_, atol=1e-12)
    positive = FairPCA(3, criterion="equal_opportunity")
    positive.fit(X, y, sensitive_features=sex, given={"education": edu, "hours": hours})
    T, i = positive.transform(X), y == 1
    left = partial_covariances(T[i], indicators(sex)[i], edu[i], hours[i, None])
    assert np.abs(left).max() < 1e-9
    assert np.abs(T.mean(axis=0)).max() < 1e-9  # about the mean of all rows


def test_a_constant_factor_changes_nothing():
    X, sex, *_ = people()
    plain = FairPCA().fit(X, sensitive_features=sex)
    given_it = FairPCA().fit(X, sensitive_features=sex, given=np.ones(len(X)))
    np.testing.assert_allclose(given_it.components_, plain.components_, atol=1e-12)


def test_one_number_among_strata_is_regressed_on_in_each():
    """Not pooled: where slopes differ between strata, a common slope would leave something."""
    X, sex, edu, hours, _ = people()
    X = X + np.outer(np.where(edu == "low", hours, -hours), np.arange(9))
    fair = FairPCA(3).fit(X, sensitive_features=sex, given={"e": edu, "h": hours})
    left = partial_covariances(fair.transform(X), indicators(sex), edu, hours[:, None])
    assert np.abs(left).max() < 1e-8


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("Method", [FairPCA, LEACE])
def test_batches_give_the_same(Method, case):
    X, sex, *_ = people()
    factors = CASES[case][0]
    whole = Method().fit(X, sensitive_features=sex, given=factors)
    parts = Method()
    for rows in (slice(0, 20), slice(20, 300), slice(300, None)):
        of_rows = {name: column[rows] for name, column in factors.items()}
        parts.partial_fit(X[rows], sensitive_features=sex[rows], given=of_rows)
    P, Q = (m.components_.T @ m.components_ for m in (whole, parts))
    np.testing.assert_allclose(P, Q, atol=1e-9)
    yielded = ({"X": X[i], "sensitive_features": sex[i], "given": of(factors, i)} for i in halves())
    assert_same_subspace(Method().fit(yielded).components_.T, whole.components_.T)


def halves():
    return slice(0, 250), slice(250, None)


def of(factors, rows):
    return {name: column[rows] for name, column in factors.items()}


def test_single_precision_costs_no_digits_of_the_regression():
    X, sex, edu, hours, age = people()
    factors = {"e": edu, "h": hours, "a": 1e6 + age, "b": 1e6 + age + 1e-3 * hours}
    single = X.astype(np.float32)
    T = LEACE().fit(single, sensitive_features=sex, given=factors).transform(single.astype(float))
    U = np.column_stack([hours, age])
    left = partial_covariances(T, indicators(sex), edu, U) / len(X)
    assert np.abs(left / T.std(axis=0)).max() < 1e-6


def test_missing_levels_are_a_stratum_and_missing_numbers_an_error():
    X, sex, edu, hours, _ = people()
    some = edu.astype(object)
    some[::5] = None
    fair = FairPCA(2).fit(X, sensitive_features=sex, given=some)
    T = fair.transform(X)[::5]
    gap = T[sex[::5] == "m"].mean(axis=0) - T[sex[::5] == "f"].mean(axis=0)
    assert np.abs(gap).max() < 1e-9
    lacking = np.where(np.arange(500) == 7, np.nan, hours)
    with pytest.raises(UsageError, match=r"'hours' is a number, and missing .* in 1 of 500 rows"):
        FairPCA(2).fit(X, sensitive_features=sex, given={"hours": lacking})


def test_attributes_may_be_missing_where_factors_are_known():
    X, sex, edu, hours, _ = people()
    some, known = sex.astype(object), np.arange(500) % 4 > 0
    some[~known] = None
    fair = FairPCA(4, missing_sensitive="ignore")
    T = fair.fit(X, sensitive_features=some, given={"e": edu, "h": hours}).transform(X)[known]
    left = partial_covariances(T, indicators(sex[known]), edu[known], hours[known, None])
    assert np.abs(left).max() < 1e-9


def test_numeric_attributes_are_regressed_on_factors_too():
    X, _, edu, hours, age = people()
    wage = age + hours / 10 + np.random.default_rng(3).normal(size=len(X))
    fair = FairPCA().fit(X, sensitive_features={"w": wage}, given={"e": edu, "h": hours})
    left = partial_covariances(fair.transform(X), wage[:, None], edu, hours[:, None])
    assert np.abs(left).max() < 1e-8
    assert fair.constraint_rank_ == 3


@pytest.mark.parametrize("factor", ["levels", "numbers"])
def test_a_factor_that_determines_the_attribute_leaves_nothing(factor):
    X, sex, _, hours, _ = people()
    number = 3.0 * (sex == "m") + 2.0 * hours
    stands_for_it = sex if factor == "levels" else {"a": number, "b": hours}
    with pytest.raises(SingleGroupError, match="function of the factors"):
        LEACE().fit(X, sensitive_features=sex, given=stands_for_it)


def test_strata_without_a_counterpart_are_left_out_and_told():
    X, sex, edu, *_ = people()
    alone = np.where(sex == "m", edu, np.where(edu == "low", "middle", edu))  # no woman is low
    with pytest.warns(ResidualWarning, match=r"1 of the 3 strata .*'given'.* lack groups"):
        fair = FairPCA().fit(X, sensitive_features=sex, given=alone)
    assert fair.constraint_rank_ == 2


def test_hundreds_of_strata_take_directions_each_which_is_said():
    X, sex, *_ = people()
    place = np.array([f"place {i}" for i in np.arange(500) % 50])
    with pytest.raises(InfeasibleError, match="50 strata of the legitimate factors takes"):
        FairPCA().fit(X, sensitive_features=sex, given=place)


@pytest.mark.parametrize("Method", [FairPCA, LEACE, MeanProjection, SAL, SPLINCE])
def test_erasers_take_hundreds_of_strata_and_leave_out_those_of_one_group(Method):
    rng, i = np.random.default_rng(0), np.arange(1320)
    place, sex = i % 220, i // 220 % 2
    sex[place < 20] = 1
    X = rng.normal(size=(1320, 300)) + 0.5 * sex[:, None]
    with pytest.warns(ResidualWarning, match=r"20 of the 220 strata .* 20 of them all but one"):
        method = Method().fit(X, X[:, 0], sensitive_features=sex, given=place.astype(str))
    T = method.transform(X)
    removed = "constraint_rank_" if Method is FairPCA else "n_directions_"
    assert getattr(method, removed) == 200
    for here in (place == p for p in range(20, 220)):
        means = [T[here & (sex == s)].mean(axis=0) for s in (0, 1)]
        np.testing.assert_allclose(*means, atol=1e-9)


def refusals():
    _, _, edu, hours, _ = people()
    return {
        "another length": (edu[:7], "X has 500 rows, but the factor 'given' has the shape"),
        "a name": ("education", "is a name, not one entry per row"),
        "no columns": ({}, "given has no columns"),
        "an identifier": ([f"id {i}" for i in range(500)], "function of the factors"),
        "infinite": (np.where(np.arange(500) == 3, np.inf, hours), "infinite"),
        "dates of a frame": (np.zeros((500, 2, 2)), "given has 3 dimensions"),
    }


REFUSALS = refusals()


@pytest.mark.parametrize("case", REFUSALS)
def test_factors_that_cannot_be_used(case):
    X, sex, *_ = people()
    factors, message = REFUSALS[case]
    with pytest.raises((UsageError, SingleGroupError), match=message):
        FairPCA(2).fit(X, sensitive_features=sex, given=factors)


@pytest.mark.parametrize(
    "method",
    [
        FairPCA(1, match="covariances"),
        FairPCA(1, match="distributions"),
        FairPLS(),
        FairKernelPCA(1, match="distributions", approximation="nystroem"),
    ],
)
def test_more_than_means_are_compared_within_levels_only(method):
    X, sex, _, hours, _ = people()
    y = X[:, 0] > 0
    with pytest.raises(UsageError, match="only means can be compared given numbers"):
        method.fit(X, y, sensitive_features=sex, given={"hours": hours})


def test_distributions_are_matched_within_strata():
    rng = np.random.default_rng(0)
    n = 4000
    edu, sex = rng.integers(0, 2, n), rng.integers(0, 2, n)
    X = (
        rng.normal(size=(n, 5))
        + np.outer(edu, [1, 1, 0, 0, 0])
        + np.outer(sex * edu, [1, 0, 0, 0, 1])
    )
    y = X @ [1, 1, 1, 0, 0] + rng.normal(size=n) > 0.5
    fair = FairPLS().fit(X, y, sensitive_features=sex, given=edu)
    s = fair.transform(X)[:, 0]
    for level in (0, 1):
        i = edu == level
        cuts = np.quantile(s[i], np.linspace(0.1, 0.9, 9))
        shares = [(s[i & (sex == g)][:, None] < cuts).mean(axis=0) for g in (0, 1)]
        assert np.abs(shares[0] - shares[1]).max() < 0.06
    assert fair.distribution_gap_ < 0.08


def test_whole_numbers_of_few_values_are_levels_and_kinds_can_be_declared():
    X, sex, *_ = people()
    few, many = np.arange(500) % 7, np.arange(500) % 30
    by_level = FairPCA(1).fit(X, sensitive_features=sex, given={"few": few})
    assert by_level.constraint_rank_ == 7
    assert FairPCA(1).fit(X, sensitive_features=sex, given={"many": many}).constraint_rank_ == 1
    declared = FairPCA(1, sensitive_kinds={"few": "numeric"})
    assert declared.fit(X, sensitive_features=sex, given={"few": few}).constraint_rank_ == 1


def test_batches_that_disagree_on_factors_are_not_added():
    X, sex, edu, hours, _ = people()
    first = collect_moments(X[:250], sex[:250], given={"h": hours[:250]})
    with pytest.raises(UsageError, match=r"given the numbers h cannot be added to .* levels of e"):
        first + collect_moments(X[250:], sex[250:], given={"e": edu[250:]})
    with pytest.raises(UsageError, match="cannot be added to moments of it without any"):
        first + collect_moments(X[250:], sex[250:])


def test_moments_given_factors_are_saved_and_added_to(tmp_path):
    X, sex, edu, hours, _ = people()
    factors = {"e": edu, "h": hours}
    fair = FairPCA(3).partial_fit(
        X[:300], sensitive_features=sex[:300], given=of(factors, slice(0, 300))
    )
    fairpca.save(fair, tmp_path / "fair.fairpca", moments=True)
    again = fairpca.load(tmp_path / "fair.fairpca")
    rest = slice(300, None)
    again.partial_fit(X[rest], sensitive_features=sex[rest], given=of(factors, rest))
    whole = FairPCA(3).fit(X, sensitive_features=sex, given=factors)
    assert_same_subspace(again.components_.T, whole.components_.T)


def test_pipelines_route_factors():
    X, sex, edu, *_ = people()
    with config_context(enable_metadata_routing=True):
        step = FairPCA(2).set_fit_request(sensitive_features=True, given=True)
        routed = make_pipeline(StandardScaler(), step).fit(X, sensitive_features=sex, given=edu)
    direct = FairPCA(2, scale=True).fit(X, sensitive_features=sex, given=edu)
    np.testing.assert_allclose(np.abs(routed.transform(X)), np.abs(direct.transform(X)), atol=1e-9)


def test_sensitive_columns_of_X_and_factors_beside_it():
    X, sex, edu, hours, _ = people()
    frame = pd.DataFrame(X, columns=list("abcdefghi")).assign(sex=sex)
    factors = pd.DataFrame({"e": edu, "h": hours})
    fair = FairPCA(2, sensitive_columns=["sex"]).fit(frame, given=factors)
    plain = FairPCA(2).fit(X, sensitive_features=sex, given={"e": edu, "h": hours})
    np.testing.assert_allclose(fair.components_, plain.components_, atol=1e-12)
    shuffled = factors.sample(frac=1.0, random_state=0)
    with pytest.raises(UsageError, match="row labels"):
        FairPCA(2, sensitive_columns=["sex"]).fit(frame, given=shuffled)


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_files_name_factors(kind, tmp_path):
    from fairpca.io import CSVRows, ParquetRows

    X, sex, edu, hours, _ = people()
    names = [f"x{j}" for j in range(9)]
    table = pd.DataFrame(X, columns=names).assign(sex=sex, education=edu, hours=hours)
    path = tmp_path / f"people.{kind}"
    if kind == "csv":
        table.to_csv(path, index=False)
    else:
        table.to_parquet(path)
    Rows = CSVRows if kind == "csv" else ParquetRows
    rows = Rows(path, sensitive="sex", given=["education", "hours"], batch_rows=120)
    assert rows.head.X.shape[1] == 9
    fair = FairPCA(3).fit(rows)
    direct = FairPCA(3).fit(X, sensitive_features=sex, given={"education": edu, "hours": hours})
    assert_same_subspace(fair.components_.T, direct.components_.T)
    both = Rows(path, sensitive="sex", features=[*names, "hours"], given="hours")
    assert both.head.X.shape[1] == 10
    direct = FairPCA(3).fit(np.column_stack([X, hours]), sensitive_features=sex, given=hours)
    assert_same_subspace(FairPCA(3).fit(both).components_.T, direct.components_.T)


@pytest.mark.parametrize("method", [LEACE(), MeanProjection(), SAL(), SPLINCE()], ids=str)
def test_given_y_is_equalized_odds_of_an_eraser(method):
    """The same as an attribute for each class of y, which is the group there and 0 elsewhere."""
    rng = np.random.default_rng(0)
    y, other = rng.integers(0, 3, 600), rng.normal(size=600)
    group = (rng.random(600) < 0.2 + 0.3 * (y == 1)).astype(int)
    gaps = np.outer(group, rng.normal(size=10)) + np.outer(group * y, rng.normal(size=10))
    X = rng.normal(size=(600, 10)) + gaps + np.outer(y, rng.normal(size=10))
    X[:, 3] += other
    inside = {str(c): np.where(y == c, group - group[y == c].mean(), 0.0) for c in range(3)}
    by_class = clone(method).fit(X, other, sensitive_features=inside)
    found = clone(method).fit(X, other, sensitive_features=group, given=y)
    np.testing.assert_allclose(found.components_, by_class.components_, atol=1e-12)
    T = found.transform(X)
    for c in range(3):
        one, two = (T[(y == c) & (group == g)].mean(axis=0) for g in (0, 1))
        np.testing.assert_allclose(one, two, atol=1e-12)
    odds = FairPCA(criterion="equalized_odds").fit(X, y, sensitive_features=group)
    kept = MeanProjection().fit(X, sensitive_features=group, given=y)
    np.testing.assert_allclose(odds.components_.T @ odds.components_, kept.components_, atol=1e-12)
