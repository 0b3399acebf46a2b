"""The pieces of the search for equal covariances, each against its definition."""

from importlib import import_module

import numpy as np
import pytest

from assertions import assert_orthonormal
from fairpca.solvers import _isotropic_bases as isotropic_bases
from fairpca.solvers._equalize_covariances_exactly import _best, _end, _match, match_covariances
from fairpca.solvers._isotropic_bases import (
    IsotropicBases,
    Lagrangian,
    State,
    isotropic_start,
    largest_isotropic_dimension,
)

module = import_module("fairpca.solvers._equalize_covariances_exactly")
RNG = np.random.default_rng(0)


def rotated(diagonal, seed=0):
    Q = np.linalg.qr(np.random.default_rng(seed).normal(size=(len(diagonal),) * 2))[0]
    return (Q * np.asarray(diagonal, dtype=float)) @ Q.T


def covariance(s, seed=1):
    A = np.random.default_rng(seed).normal(size=(s, s))
    return A @ A.T / s


def leading(C, k):
    return np.linalg.eigh(C)[1][:, ::-1][:, :k]


@pytest.mark.parametrize(
    ("diagonal", "most"),
    [
        ([1, 2, 3, -4, -5], 2),
        ([1, -2, -3, -4, 0], 2),
        ([1, -1, 0, 0, 0], 4),
        ([2, 0, 0], 2),
        ([3, 2, 1], 0),
    ],
)
def test_a_start_pairs_signs_so_that_the_difference_vanishes(diagonal, most):
    T, C = rotated(diagonal), covariance(len(diagonal))
    for unit in (1e-15, 1.0, 1e15):
        assert largest_isotropic_dimension(unit * T) == most
    for k in range(1, len(diagonal) + 1):
        starts = isotropic_start(C, T, k)
        assert len(starts) == (k <= most)
        for L in starts:
            assert L.shape == (len(diagonal), k)
            assert_orthonormal(L)
            np.testing.assert_allclose(L.T @ T @ L, 0, atol=1e-12)


def test_a_start_takes_the_directions_of_most_variance():
    T = np.diag([1.0, 4.0, -1.0, -4.0, 0.0, 0.0])
    C = np.diag([1.0, 9.0, 1.0, 9.0, 5.0, 2.0])
    (L,) = isotropic_start(C, T, 3)
    np.testing.assert_allclose(np.diag(L.T @ C @ L), [9, 5, 2])
    (best,) = isotropic_start(C, T, 1)
    np.testing.assert_allclose(np.abs(best[:, 0]), np.sqrt([0, 0.5, 0, 0.5, 0, 0]), atol=1e-15)
    # Values and variances of different size: heavy goes with heavy.
    (heavy,) = isotropic_start(np.diag([1.0, 9.0, 5.0]), np.diag([1.0, 4.0, -1.0]), 1)
    np.testing.assert_allclose(np.abs(heavy[:, 0]), np.sqrt([0, 0.2, 0.8]), atol=1e-15)
    (pair,) = isotropic_start(np.diag([1.0, 8.0, 8.0, 1.0]), np.diag([1.0, 4.0, -1.0, -4.0]), 1)
    np.testing.assert_allclose(np.abs(pair[:, 0]), np.sqrt([0, 0.2, 0.8, 0]), atol=1e-15)


def test_no_difference_to_match_is_plain_pca():
    C = covariance(5)
    for differences in ([], [1e-12 * np.eye(5)]):
        found = match_covariances(C, differences, 2, starts=[])
        values = np.linalg.eigvalsh(C)[::-1]
        np.testing.assert_allclose(found.variance, values[:2])
        assert (found.gap, found.gradient_norm, found.evaluations) == (0.0, 0.0, 0)
        assert found.converged


def test_what_is_negligible_does_not_depend_on_units():
    C, T = covariance(5), rotated([1, 2, -1, -2, 0])
    for unit in (1e-12, 1e12):
        found = match_covariances(unit * C, [unit * T], 2, starts=[leading(C, 2)])
        assert found.evaluations > 0
        np.testing.assert_allclose(found.L.T @ T @ found.L, 0, atol=1e-7)


@pytest.mark.parametrize("tol", [1e-8, 0.05], ids=["exact", "budget"])
def test_evaluations_and_progress_are_those_of_all_attempts(tol):
    C, T = covariance(6), rotated([1, 2, 3, -1, -2, -3])
    one, told = leading(C, 2), []
    single = match_covariances(C, [T], 2, starts=[one], tol=tol)
    twice = match_covariances(C, [T], 2, starts=[one, one], tol=tol, progress=told.append)
    assert twice.evaluations == 2 * single.evaluations > 0
    assert len(told) >= 2
    assert twice.gap == single.gap <= tol
    assert twice.converged


def test_without_a_way_onto_the_manifold_the_multipliers_finish_alone(monkeypatch):
    C, T = covariance(6), rotated([1, 2, 3, -1, -2, -3])
    monkeypatch.setattr(IsotropicBases, "retract", lambda self, W: None)
    problem, told = Lagrangian(C, [T], C, []), []
    end = _end(problem, leading(C, 2), 1e-8, 2000, told.append)
    assert end.gap <= 1e-8
    assert end.gradient_norm <= 1e-4
    assert end.evaluations > 0
    assert told
    assert problem.kept(end.L) == pytest.approx(
        match_covariances(C, [T], 2, starts=[leading(C, 2)]).variance.sum() / problem.unit, rel=1e-3
    )


def test_random_starts_are_tried_last_and_are_the_same_each_time(monkeypatch):
    """Two differences of the same sign have no common direction; all attempts are spent."""
    C, differences = covariance(4), [np.eye(4), np.diag([1.0, 2.0, 3.0, 4.0])]
    told = []
    first = match_covariances(C, differences, 1, starts=[leading(C, 1)], progress=told.append)
    assert not first.converged
    assert first.gap > 0.1
    again = match_covariances(C, differences, 1, starts=[leading(C, 1)])
    assert again.evaluations == first.evaluations
    assert again.L.tobytes() == first.L.tobytes()
    monkeypatch.setattr(module, "EXTRA_STARTS", 0)
    told_less = []
    less = match_covariances(C, differences, 1, starts=[leading(C, 1)], progress=told_less.append)
    assert less.evaluations < first.evaluations
    assert len(told_less) < len(told)


def test_the_best_end_keeps_most_among_those_within_the_tolerance():
    C = np.diag([3.0, 2.0, 1.0])
    problem = Lagrangian(C, [np.diag([1.0, -1.0, 0.0])], C, [])
    a, b, c = (
        State.at(np.eye(3)[:, [i]], gap=gap, gradient_norm=0.0)
        for i, gap in enumerate([1e-3, 1e-9, 0.0])
    )
    assert _best(problem, [a, c, b], 1e-8) is b
    assert _best(problem, [a, c, b], 1e-9) is b
    assert _best(problem, [a], 1e-8) is a
    assert _best(problem, [a, b, c], 1e-12) is c
    assert _best(problem, [a, b], 1e-12) is b


@pytest.mark.parametrize(
    ("gap", "gradient", "converged"),
    [(1e-8, 1e-4, True), (1.1e-8, 0.0, False), (0.0, 1.1e-4, False), (0.0, 0.9e-4, True)],
)
def test_converged_means_feasible_and_stationary(gap, gradient, converged):
    C = covariance(4)
    state = State.at(np.eye(4, 2), gap=gap, gradient_norm=gradient)
    found = _match(C, state, 1e-8)
    assert found.converged is converged
    assert (found.gap, found.gradient_norm) == (gap, gradient)
    np.testing.assert_allclose(found.L.T @ C @ found.L, np.diag(found.variance), atol=1e-12)
    assert np.all(np.diff(found.variance) <= 0)


@pytest.mark.parametrize("count", [1, 2, 3])
def test_restored_bases_satisfy_every_constraint_and_tangents_keep_them(count):
    s, k = 12, 2
    matrices = np.array([rotated(RNG.normal(size=s), seed) for seed in range(count)])
    manifold = IsotropicBases(matrices)
    start = match_covariances(np.eye(s), list(matrices), k, starts=[np.eye(s, k)]).L
    L = manifold.retract(start + 1e-3 * RNG.normal(size=(s, k)))
    assert L is not None
    assert_orthonormal(L)
    assert np.abs(L.T @ matrices @ L).max() < 1e-12
    V = manifold.tangent(L, RNG.normal(size=(s, k)))
    symmetric = L.T @ V + (L.T @ V).T
    np.testing.assert_allclose(symmetric, 0, atol=1e-11)
    change = L.T @ matrices @ V
    np.testing.assert_allclose(change + np.swapaxes(change, 1, 2), 0, atol=1e-9)
    np.testing.assert_allclose(manifold.tangent(L, V), V, atol=1e-9)
    G = RNG.normal(size=(s, k))
    assert np.vdot(manifold.tangent(L, G), G - manifold.tangent(L, G)) == pytest.approx(0, abs=1e-8)


def test_where_no_basis_satisfies_the_constraint_there_is_none():
    assert IsotropicBases(np.eye(4)[None]).retract(np.eye(4, 2)) is None


@pytest.fixture
def minimised(monkeypatch):
    """What every minimisation was given and what it found."""
    calls = []
    for place in (module, isotropic_bases):
        original = place.minimize_on_stiefel

        def spy(objective, start, original=original, **options):
            found = original(objective, start, **options)
            calls.append((objective, found, options))
            return found

        monkeypatch.setattr(place, "minimize_on_stiefel", spy)
    return calls


def test_every_evaluation_is_counted_and_every_end_is_told(minimised):
    C, T, told = covariance(8), rotated([1, 2, 3, 4, -1, -2, -3, -4]), []
    found = match_covariances(
        C, [T], 2, starts=[leading(C, 2)], progress=told.append, max_steps=1999
    )
    assert found.evaluations == sum(end.evaluations for _, end, _ in minimised)
    assert len(told) == len(minimised)
    assert told[-1].endswith(f"{found.evaluations} evaluations")
    objective, _, options = minimised[-1]  # the one on the manifold
    assert options["max_steps"] == 1999
    L, step, h = RNG.normal(size=(8, 2)), RNG.normal(size=(8, 2)), 1e-5
    slope = (objective(L + h * step)[0] - objective(L - h * step)[0]) / (2 * h)
    assert np.vdot(objective(L)[1], step) == pytest.approx(slope, rel=1e-7)


@pytest.mark.parametrize("retract", [True, False], ids=["hopeless", "without the manifold"])
def test_every_minimisation_of_a_hard_problem_is_told(monkeypatch, minimised, retract):
    C, told = covariance(4), []
    differences = [np.eye(4), np.diag([1.0, 2.0, 3.0, 4.0])]
    if not retract:
        monkeypatch.setattr(IsotropicBases, "retract", lambda self, W: None)
        differences = [rotated([1, 2, -1, -2])]
    match_covariances(C, differences, 1, starts=[leading(C, 1)], progress=told.append)
    assert len(told) == len(minimised) > 3


@pytest.mark.parametrize(("count", "tried"), [(1, True), (2, False)])
def test_signs_are_paired_where_there_is_one_difference_and_the_starts_fail(
    monkeypatch, count, tried
):
    seen = []
    monkeypatch.setattr(module, "EXTRA_STARTS", 0)
    monkeypatch.setattr(module, "isotropic_start", lambda *args: seen.append(args) or [])
    definite = [np.eye(4), np.diag([1.0, 2.0, 3.0, 4.0])][:count]
    C = covariance(4)
    assert not match_covariances(C, definite, 1, starts=[leading(C, 1)]).converged
    assert bool(seen) == tried
    seen.clear()
    possible = match_covariances(C, [rotated([1, 2, -1, -2])], 1, starts=[leading(C, 1)])
    assert possible.converged
    assert not seen
