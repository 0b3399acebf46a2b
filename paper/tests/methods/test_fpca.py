"""FPCA: the pieces by their optimality conditions, the whole by certificates and published numbers.

Tests marked `slow` run all published splits; they are skipped unless FAIRPCA_SLOW=1 is set.
"""

import json
import os
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assertions import assert_equal_group_means, assert_orthonormal, assert_same_subspace
from fairpca import FairPCA
from fairpca.errors import InfeasibleError, ResidualWarning
from fairpca.metrics import explained_variance_ratio
from fairpca_paper.methods._base import GroupedRows
from fairpca_paper.methods._fpca import FPCA, _fpca_problem, _leading_subspace
from fairpca_paper.methods._fpca_program import _excess_of_spectral_norm, relaxed

slow = pytest.mark.skipif(os.environ.get("FAIRPCA_SLOW") != "1", reason="set FAIRPCA_SLOW=1")

seeds = st.integers(0, 2**32 - 1)


def two_groups_of_rows(seed=0, n=120, d=6):
    """Rows whose groups differ in means and covariances, in units that differ by feature."""
    rng = np.random.default_rng(seed)
    z = rng.permutation(np.arange(n) % 3 == 0).astype(int)
    X = rng.normal(size=(n, d)) @ rng.normal(size=(d, d))
    X[z == 1] = X[z == 1] @ (np.eye(d) + 0.4 * rng.normal(size=(d, d))) + rng.normal(size=d)
    return X * rng.uniform(0.1, 10.0, d) + 5.0, z


def grouped(X, z):
    labels, codes = np.unique(z, return_inverse=True)
    return GroupedRows(X, codes, np.ones(len(X)), tuple(labels.tolist()))


def problem_of(X, z, k, delta=0.0, mu=0.01):
    standardised = (X - X.mean(axis=0)) / X.std(axis=0)
    return _fpca_problem(grouped(standardised, z), k, delta=delta, mu=mu)


def symmetric(rng, d):
    A = rng.normal(size=(d, d))
    return A + A.T


def in_the_fantope(rng, d, k):
    """Averages of projections are all there is in it."""
    bases = [np.linalg.qr(rng.normal(size=(d, k)))[0] for _ in range(4)]
    return sum(share * V @ V.T for share, V in zip(rng.dirichlet(np.ones(4)), bases, strict=True))


def assert_in_the_fantope(P, k):
    values = np.linalg.eigvalsh(P)
    assert values[0] >= -1e-9
    assert values[-1] <= 1 + 1e-9
    assert values.sum() == pytest.approx(k)


@given(seed=seeds, weight=st.sampled_from([0.0, 1e-2, 1.0, 1e2]))
def test_what_is_cut_off_a_spectral_norm_is_a_subgradient_of_its_square(seed, weight):
    M = np.random.default_rng(seed).normal(size=(4, 5))
    W = _excess_of_spectral_norm(M, weight)
    norm, nuclear = np.linalg.norm(M - W, 2), np.linalg.norm(W, "nuc")
    assert nuclear == pytest.approx(2 * weight * norm, abs=1e-9)
    assert np.vdot(W, M - W) == pytest.approx(nuclear * norm, abs=1e-9)


@given(seed=seeds)
def test_no_feasible_matrix_exceeds_a_bound_whatever_the_multipliers(seed):
    rng = np.random.default_rng(seed)
    problem = problem_of(*two_groups_of_rows(seed), k=2, delta=0.3)
    P = problem.feasible(in_the_fantope(rng, 6, 2))
    assert_in_the_fantope(P, 2)
    assert problem.mean_gap(P) <= 0.3 * (1 + 1e-9)
    U = tuple(rng.exponential() * rng.normal(size=(6, 6)) for _ in range(2))
    assert problem.value(P) <= problem.bound(U, rng.exponential())


@pytest.mark.parametrize("delta", [0.0, 0.3])
@pytest.mark.parametrize(("k", "d"), [(1, 6), (3, 6), (2, 24)])
def test_splitting_and_conic_solvers_agree(k, d, delta):
    """Clarabel up to 20 features, SCS above; each certifies its own value."""
    X, z = two_groups_of_rows(1, d=d, n=200)
    ours = FPCA(k, delta=delta).fit(X, sensitive_features=z)
    conic = FPCA(k, delta=delta, solver="cvxpy").fit(X, sensitive_features=z)
    assert conic.duality_gap_ < 1e-5
    assert ours.objective_ == pytest.approx(conic.objective_, rel=1e-5)
    np.testing.assert_allclose(ours.relaxation_, conic.relaxation_, atol=1e-3)


@settings(max_examples=25)
@given(seed=seeds, delta=st.sampled_from([0.0, 0.05, 0.5]), mu=st.sampled_from([0.0, 0.01, 1.0]))
def test_the_solution_is_certified_and_feasible(seed, delta, mu):
    X, z = two_groups_of_rows(seed, n=60, d=5)
    fair = FPCA(2, delta=delta, mu=mu).fit(X, sensitive_features=z)
    assert fair.duality_gap_ <= 1e-7
    assert_in_the_fantope(fair.relaxation_, 2)
    assert fair.relaxed_mean_gap_**2 <= delta**2 + 1e-12
    problem = problem_of(X, z, 2, delta, mu)
    assert fair.objective_ == pytest.approx(problem.value(fair.relaxation_), abs=1e-8)
    assert_orthonormal(fair.components_.T)


def test_means_of_groups_coincide_without_slack():
    X, z = two_groups_of_rows(3)
    fair = FPCA(3).fit(X, sensitive_features=z)
    assert_equal_group_means(fair.transform(X), z)
    assert fair.mean_gap_ < 1e-12


def test_without_a_price_on_covariances_it_is_fair_pca_of_standardised_rows():
    X, z = two_groups_of_rows(4)
    fair = FPCA(2, mu=0.0).fit(X, sensitive_features=z)
    plain = FairPCA(2, scale=True).fit(X, sensitive_features=z)
    assert_same_subspace(fair.components_.T, plain.components_.T, atol=1e-4)
    np.testing.assert_allclose(fair.eigenvalues_, [1, 1, 0, 0, 0, 0], atol=1e-4)


def test_a_higher_price_brings_the_covariances_of_the_relaxation_together():
    X, z = two_groups_of_rows(5)
    problem = problem_of(X, z, 2)
    norms = []
    for price in (0.0, 0.1, 1.0, 10.0):
        P = relaxed(replace(problem, price=price), "splitting", tol=1e-7, max_steps=5000).P
        norms.append(sum(np.linalg.norm(S @ P, 2) ** 2 for S in problem.roots))
    assert norms == sorted(norms, reverse=True)
    assert norms[-1] < 0.8 * norms[0]


def test_the_gaps_are_those_of_the_representation():
    X, z = two_groups_of_rows(6)
    fair = FPCA(2, delta=0.2).fit(X, sensitive_features=z)
    T = fair.transform(X)
    gap = np.linalg.norm(T[z == 1].mean(axis=0) - T[z == 0].mean(axis=0))
    assert fair.mean_gap_ == pytest.approx(gap)
    difference = np.cov(T[z == 1].T, ddof=0) - np.cov(T[z == 0].T, ddof=0)
    assert fair.covariance_gap_ == pytest.approx(np.linalg.norm(difference, 2))


def test_among_tied_directions_those_of_most_variance_are_taken():
    X, z = two_groups_of_rows(12)
    problem = replace(problem_of(X, z, 2), C=np.diag([1.0, 6.0, 2.0, 5.0, 4.0, 3.0]))
    P = np.diag([0.9, 0.2, 0.2, 0.2, 0.2, 0.3])  # the second place: 5; 1, 2, 3 and 4 tie for none
    _, V = _leading_subspace(P, problem)
    assert_same_subspace(V, np.eye(6)[:, [5, 0]])
    P = np.diag([0.9, 0.2, 0.2, 0.2, 0.2, 0.3])
    _, V = _leading_subspace(P, replace(problem, k=4))
    assert_same_subspace(V, np.eye(6)[:, [1, 3, 5, 0]])


def test_weights_count_as_repetitions():
    X, z = two_groups_of_rows(8)
    weight = np.random.default_rng(0).integers(1, 4, len(X))
    weighted = FPCA(2).fit(X, sensitive_features=z, sample_weight=weight)
    repeated = FPCA(2).fit(np.repeat(X, weight, axis=0), sensitive_features=np.repeat(z, weight))
    np.testing.assert_allclose(weighted.relaxation_, repeated.relaxation_, atol=1e-6)


def test_a_constant_column_takes_no_part():
    X, z = two_groups_of_rows(9)
    X[:, 2] = 4.0
    fair = FPCA(2).fit(X, sensitive_features=z)
    assert np.abs(fair.components_[:, 2]).max() < 1e-6


def test_an_unfinished_solution_comes_with_its_gap():
    X, z = two_groups_of_rows(10)
    with pytest.warns(ResidualWarning, match=r"After 3 steps the relative duality gap is \d"):
        fair = FPCA(2, max_iter=3).fit(X, sensitive_features=z)
    assert fair.duality_gap_ > 1e-7


@pytest.mark.parametrize(
    ("sensitive", "message"),
    [
        (np.arange(120) % 3, "has 3 levels"),
        (np.linspace(0, 1, 120), "is numeric"),
        ({"a": np.arange(120) % 2, "b": np.arange(120) % 2}, "2 attributes were given"),
    ],
)
def test_other_than_two_groups_are_refused(sensitive, message):
    X, _ = two_groups_of_rows()
    with pytest.raises(ValueError, match=message):
        FPCA(2).fit(X, sensitive_features=sensitive)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"n_components": 0}, "n_components=0"),
        ({"n_components": 2.5}, "n_components=2.5"),
        ({"delta": -0.1}, "delta=-0.1"),
        ({"mu": np.inf}, "mu=inf"),
        ({"solver": "mosek"}, "solver='mosek'"),
        ({"max_iter": True}, "max_iter=True"),
    ],
)
def test_parameters_that_cannot_be_used_are_named(parameters, message):
    X, z = two_groups_of_rows()
    with pytest.raises(ValueError, match=message):
        FPCA(**parameters).fit(X, sensitive_features=z)


def test_too_many_components_are_refused():
    X, z = two_groups_of_rows()
    with pytest.raises(InfeasibleError, match=r"in 5 feature direction\(s\) only"):
        FPCA(6).fit(X, sensitive_features=z)
    assert FPCA(6, delta=100.0).fit(X, sensitive_features=z).n_components_ == 6


PUBLISHED = [
    (data, k, delta)
    for data in ("compas", "german", "adult")
    for k in (2, 10)
    for delta in (0.0, 0.1)
]
NAMES = {"compas": "COMPAS", "german": "German Credit", "adult": "Adult Income"}


def published_splits(folder, data, k, delta):
    with (
        np.load(folder / "lee2022" / f"{data}.npz") as arrays,
        np.load(folder / "lee2022" / f"{data}_loadings.npz") as loadings,
    ):
        for i in range(10):
            yield arrays[f"train_{i}"], arrays[f"test_{i}"], loadings[f"{k}_fpca_{delta}/{i}"]


def assert_at_least_as_good(value, problem, stored):
    """The stored matrix is not better; or if so, because it takes more than `delta`."""
    if value < problem.value(stored):
        assert problem.mean_gap(stored) > problem.delta
        looser = replace(problem, delta=problem.mean_gap(stored))
        value = relaxed(looser, "splitting", tol=1e-7, max_steps=5000).value
    assert value >= problem.value(stored) * (1 - 1e-6)


def compared_with_published(folder, data, k, delta, splits=10):
    """Fit the splits; return the share of test variance that ours and the stored loadings keep."""
    kept = []
    for train, test, stored in list(published_splits(folder, data, k, delta))[:splits]:
        X, z = train[:, :-2], train[:, -1]
        fair = FPCA(k, delta=delta).fit(X, sensitive_features=z)
        assert fair.duality_gap_ <= 1e-7
        assert fair.relaxed_mean_gap_**2 <= delta**2 + 1e-12
        problem = _fpca_problem(grouped(X, z), k, delta=delta, mu=0.01)
        assert_at_least_as_good(fair.objective_, problem, stored @ stored.T)
        kept.append(
            [explained_variance_ratio(test[:, :-2], U) for U in (fair.components_, stored.T)]
        )
    return 100 * np.array(kept)


@pytest.mark.filterwarnings("ignore::fairpca_paper.methods.FewerComponentsWarning")  # dummies
@pytest.mark.parametrize("delta", [0.0, 0.1])
@pytest.mark.parametrize("k", [2, 10])
def test_on_compas_the_stored_subspaces_come_out(k, delta, data_folder):
    """Where eigenvalues of P are well apart, the published subspace is ours, split by split."""
    for train, _, stored in published_splits(data_folder, "compas", k, delta):
        fair = FPCA(k, delta=delta).fit(train[:, :-2], sensitive_features=train[:, -1])
        cosines = np.linalg.svd(fair.components_ @ stored, compute_uv=False)
        assert cosines.min() > 0.9995


@pytest.mark.parametrize("k", [2, 10])
def test_on_two_splits_of_german_credit_the_value_is_better_and_the_variance_the_same(
    k, data_folder
):
    ours, stored = compared_with_published(data_folder, "german", k, 0.0, splits=2).T
    assert ours.mean() == pytest.approx(stored.mean(), rel=0.05)


@slow
@pytest.mark.slow
@pytest.mark.parametrize(("data", "k", "delta"), PUBLISHED)
def test_the_published_rows_come_out_within_two_percent(data, k, delta, data_folder):
    """Not to the digit: eigenvalues of P nearly tie, and the rest is a solver's last digits."""
    ours, _ = compared_with_published(data_folder, data, k, delta).T
    rows = json.loads(
        (data_folder.parent / "targets" / "paper_tables.json").read_text(encoding="utf-8")
    )
    method = f"FPCA ({'0' if delta == 0 else delta}, 0.01)"
    cells = {(row["dataset"], row["k"], row["method"]): row for row in rows}
    mean, _ = cells[NAMES[data], k, method]["explained_variance_pct"]
    assert ours.mean() == pytest.approx(mean, rel=0.02)
