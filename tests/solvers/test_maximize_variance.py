"""Which eigensolver runs, and that each returns ordered, matching pairs."""

import numpy as np
import pytest

from assertions import assert_orthonormal
from fairpca.errors import InfeasibleError
from fairpca.moments import collect_moments
from fairpca.solvers import _maximize_variance as module
from fairpca.solvers import equalize_means, maximize_variance, mean_constraint
from fairpca.solvers._subspace import DualSubspace, Subspace, components_to_reach

PLACES = ("_by_lanczos", "_by_gram_side", "_by_dense_eigenvectors")


@pytest.fixture
def used(monkeypatch):
    names = []

    def spy(name):
        original = getattr(module, name)

        def called(*args, **kwargs):
            names.append(name)
            return original(*args, **kwargs)

        monkeypatch.setattr(module, name, called)

    for name in PLACES:
        spy(name)
    return names


def moments(n, d, seed=0):
    X = np.random.default_rng(seed).normal(size=(n, d)) * np.linspace(3, 1, d)
    return collect_moments(X, np.arange(n) % 2)


@pytest.mark.parametrize(
    ("shape", "solver", "k", "expected"),
    [
        ((60, 8), "auto", 2, "_by_dense_eigenvectors"),
        ((60, 8), "dense", 2, "_by_dense_eigenvectors"),
        ((60, 8), "iterative", 2, "_by_lanczos"),
        ((60, 8), "iterative", 8, "_by_dense_eigenvectors"),
        ((6, 20), "auto", 2, "_by_gram_side"),
        ((6, 20), "dense", 2, "_by_gram_side"),
        ((6, 20), "iterative", 2, "_by_lanczos"),
        ((6, 20), "iterative", None, "_by_gram_side"),
    ],
)
def test_the_solver_is_the_one_asked_for(used, shape, solver, k, expected):
    m = moments(*shape)
    found = maximize_variance(m, k, solver=solver)
    assert used == [expected]
    S = m.scatter.dense().matrix
    assert_orthonormal(found.basis)
    np.testing.assert_allclose(S @ found.basis, found.basis * found.scatter, atol=1e-8)
    assert np.all(np.diff(found.scatter) <= 1e-9)


@pytest.mark.parametrize(("side", "expected"), [(6, "_by_gram_side"), (5, "_by_lanczos")])
def test_many_rows_of_many_features_are_iterated_on(monkeypatch, used, side, expected):
    monkeypatch.setattr(module, "SMALL_SIDE", side)
    maximize_variance(moments(6, 20), 2)
    equalize_means(moments(6, 20), 2)
    assert used == [expected, expected]


def test_a_matrix_that_is_there_already_is_never_too_large(monkeypatch, used):
    monkeypatch.setattr(module, "SMALL_SIDE", 2)
    maximize_variance(moments(60, 8), 2)
    assert used == ["_by_dense_eigenvectors"]


def test_all_directions_of_wide_rows_are_those_in_which_they_vary():
    found = maximize_variance(moments(6, 20), None)
    assert found.basis.shape == (20, 5)
    assert np.all(found.scatter > 0)


@pytest.mark.parametrize("k", [2, None])
@pytest.mark.parametrize("solver", ["dense", "iterative"])
@pytest.mark.parametrize("n", [3, 9])
def test_rows_that_do_not_vary_have_no_direction(k, solver, n):
    alike = collect_moments(np.ones((n, 5)), np.arange(n) % 2)
    with pytest.raises(InfeasibleError, match=r"along 0 direction\(s\)\. .*Use other features"):
        maximize_variance(alike, k, solver=solver)
    with pytest.raises(InfeasibleError, match=r"along 0 direction\(s\) besides the 1 that"):
        maximize_variance(alike, k, solver=solver, avoid=np.eye(5, 1))


@pytest.mark.parametrize("unit", [1e-3, 1.0, 1e3])
def test_variance_in_small_units_is_ordered_next_to_large_ones(unit):
    rng = np.random.default_rng(2)
    scales = unit * np.array([1e9, 1e9, 3.0, 2.0, 1.0, 0.0])
    X = rng.normal(size=(200, 6))
    X = np.linalg.qr(X - X.mean(axis=0))[0] * scales
    m = collect_moments(X, np.arange(200) % 2)
    found = maximize_variance(m, 5)
    assert_orthonormal(found.basis)
    np.testing.assert_allclose(np.abs(found.basis[2:5, 2:5]), np.eye(3), atol=1e-5)
    np.testing.assert_allclose(
        found.scatter[2:], (unit * np.array([3.0, 2.0, 1.0])) ** 2, rtol=1e-4
    )
    for k in (1, 2, 3, 4):
        np.testing.assert_allclose(maximize_variance(m, k).scatter, found.scatter[:k], rtol=1e-6)
    assert maximize_variance(m, None).basis.shape == (6, 5)
    with pytest.raises(InfeasibleError, match=r"n_components=6 .* along 5 .*components <= 5\."):
        maximize_variance(m, 6)


def test_a_share_is_one_of_the_total_that_is_given():
    m = moments(60, 8)
    values = maximize_variance(m, 8).scatter
    assert len(maximize_variance(m, 0.5).scatter) == components_to_reach(values, 0.5, values.sum())
    assert len(maximize_variance(m, 0.5, total=float(values[0])).scatter) == 1
    constraint = mean_constraint(m)
    fair = equalize_means(m, None).scatter
    assert len(equalize_means(m, 0.5, total=float(fair[0])).scatter) == 1
    assert len(equalize_means(m, 0.5, total=1.9 * float(fair[:3].sum())).scatter) == 3
    given = equalize_means(m, 2, constraint=constraint)
    assert given.constraint_rank == constraint.rank == 1


def test_a_constraint_that_is_given_is_the_one_that_holds():
    m, other = moments(60, 8), moments(60, 8, seed=5)
    given = equalize_means(m, 3, constraint=mean_constraint(other))
    np.testing.assert_allclose(mean_constraint(other).rows @ given.basis, 0, atol=1e-10)
    assert np.abs(mean_constraint(m).rows @ given.basis).max() > 1e-3


@pytest.mark.parametrize("solver", ["dense", "iterative"])
def test_the_solver_is_passed_on(used, solver):
    equalize_means(moments(60, 8), 2, solver=solver)
    assert used == [{"dense": "_by_dense_eigenvectors", "iterative": "_by_lanczos"}[solver]]


@pytest.mark.parametrize("units", [np.ones(8), np.logspace(-6, 6, 8), np.logspace(9, -9, 8)])
def test_polishing_removes_rounding_in_the_units_of_each_feature(units):
    """Two rows that a feature in units of 1e6 makes nearly parallel were one to a linear solver."""
    rng, z = np.random.default_rng(1), np.arange(60) % 3
    X = (rng.normal(size=(60, 8)) + rng.normal(size=(3, 8))[z]) * units
    constraint = mean_constraint(collect_moments(X, z))
    assert_orthonormal(constraint.Q)
    U = np.linalg.qr(np.hstack([constraint.Q, np.diag(1 / units)]))[0][:, 2:]
    U = constraint.polished(U)
    terms = np.abs(constraint.rows) @ np.abs(U)
    assert np.all(np.abs(constraint.rows @ U) <= 1e-14 * terms)


def test_the_fewest_components_that_reach_a_share():
    values = np.array([4.0, 3.0, 2.0, 1.0])
    assert [components_to_reach(values, s, 10.0) for s in (0.1, 0.4, 0.41, 0.7, 0.9, 1.0)] == [
        1,
        1,
        2,
        2,
        3,
        4,
    ]
    thirds = np.array([1.0, 1.0, 1.0]) / 3
    assert components_to_reach(thirds, 2 / 3, float(thirds.sum())) == 2
    assert components_to_reach(0.01 * values, 0.4, 0.1) == 1
    with pytest.raises(InfeasibleError, match=r"all 4 directions .* hold 50.00%"):
        components_to_reach(values, 0.6, 20.0)
    with pytest.raises(InfeasibleError, match=r"all 1 directions .* hold 0.00%"):
        components_to_reach(values, 0.6, 0.0)


def test_the_first_components_of_a_subspace():
    U, values = np.eye(4, 3), np.array([3.0, 2.0, 1.0])
    first = Subspace(U, values, 1).first(2)
    np.testing.assert_array_equal(first.basis, U[:, :2])
    assert (first.scatter.tolist(), first.constraint_rank) == ([3.0, 2.0], 1)
    dual = DualSubspace(values, U, 2 * U, 1, None, 0.0, 9.0).first(2)
    np.testing.assert_array_equal(dual.coefficients, U[:, :2])
    np.testing.assert_array_equal(dual.representation, 2 * U[:, :2])
    assert (dual.values.tolist(), dual.total) == ([3.0, 2.0], 9.0)


@pytest.mark.parametrize("unit", [1e-6, 1.0, 1e6])
def test_small_directions_beside_correlated_large_ones(unit):
    """An eigensolver alone would bury squares of 1 to 9 under the rounding of 1e18."""
    rng = np.random.default_rng(4)
    F = rng.normal(size=(300, 6))
    F = np.linalg.qr(F - F.mean(axis=0))[0]
    turn = np.linalg.qr(rng.normal(size=(4, 4)))[0]
    small = (F[:, 2:] * np.array([3.0, 2.0, 1.0, 0.5])) @ turn + F[:, :1]
    m = collect_moments(unit * np.column_stack([1e9 * F[:, :2], small]), np.arange(300) % 2)
    found = maximize_variance(m, 5)
    assert_orthonormal(found.basis)
    np.testing.assert_allclose(found.scatter[2:], unit**2 * np.array([9.0, 4.0, 1.0]), rtol=1e-3)
    np.testing.assert_allclose(np.abs(found.basis[2:, 2:].T @ turn.T), np.eye(3, 4), atol=1e-3)


def test_directions_end_where_rounding_is_all():
    U = np.eye(5)[:, :4] * np.array([1.0, 0.95, 1.5, 0.5])
    assert module._of_unit_length(U) == 2
    assert module._of_unit_length(U[:, :2]) == 2
    assert module._of_unit_length(U[:, 3:]) == 0


@pytest.mark.parametrize("unit", [1e-30, 1.0, 1e30])
def test_units_of_weights_and_attributes_do_not_matter_for_the_constraint(unit):
    rng = np.random.default_rng(3)
    X, z, age = rng.normal(size=(60, 8)), np.arange(60) % 3, rng.normal(size=60)
    weights, kinds = np.full(60, unit), {"age": "numeric"}
    given = {"z": z, "age": unit * age}
    m = collect_moments(X, given, sample_weight=weights, sensitive_kinds=kinds)
    constraint = mean_constraint(m)
    assert constraint.rank == 3
    fair = X @ equalize_means(m, 2).basis
    np.testing.assert_allclose(age @ (fair - fair.mean(axis=0)), 0, atol=1e-10)
    for g in range(3):
        np.testing.assert_allclose(fair[z == g].mean(axis=0), fair.mean(axis=0), atol=1e-12)
