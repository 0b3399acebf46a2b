"""The pieces of the search for equal covariances: multipliers, the manifold, starts and ends."""

from dataclasses import replace
from types import SimpleNamespace
from unittest import mock

import numpy as np
import pytest

from assertions import assert_orthonormal
from fairpca.solvers import _equalize_covariances_exactly as exactly
from fairpca.solvers import _isotropic_bases as module
from fairpca.solvers._equalize_covariances_exactly import _best, _end, _match, _match_covariances
from fairpca.solvers._isotropic_bases import (
    IsotropicBases,
    Lagrangian,
    State,
    approach,
    follow,
    isotropic_start,
    largest_isotropic_dimension,
)

S, K = 6, 2
RNG = np.random.default_rng(0)


def symmetric(*shape):
    A = RNG.normal(size=(*shape, S, S))
    return A + np.swapaxes(A, -1, -2)


A = RNG.normal(size=(S, S))
C = A @ A.T
DIFFERENCES = list(3 * symmetric(2))
IMPLIED = [DIFFERENCES[0] + DIFFERENCES[1]]
L = np.linalg.qr(RNG.normal(size=(S, K)))[0]


def lagrangian(implied=()):
    return Lagrangian(C, DIFFERENCES, C, list(implied))


def test_the_gap_is_the_largest_difference_in_units_of_the_covariance():
    size = np.linalg.norm(L.T @ C @ L)
    gaps = [np.linalg.norm(L.T @ T @ L) / size for T in DIFFERENCES]
    assert lagrangian().gap(L) == pytest.approx(max(gaps))
    big = [10 * T for T in DIFFERENCES]
    assert lagrangian(big).gap(L) == pytest.approx(10 * max(gaps))
    assert lagrangian([1e-3 * T for T in DIFFERENCES]).gap(L) == pytest.approx(max(gaps))


@pytest.mark.parametrize("unit", [0.1, 1.0])
def test_rows_that_do_not_vary_have_no_gap(unit):
    nothing = Lagrangian(np.zeros((S, S)), DIFFERENCES, C, [])
    assert nothing.gap(L) == 0
    small = Lagrangian(unit * 1e-3 * C, [unit * 1e-3 * T for T in DIFFERENCES], C, [])
    assert small.gap(L) == pytest.approx(lagrangian().gap(L))


def test_units_of_the_objective_and_the_differences_do_not_matter():
    problem, scaled = lagrangian(), Lagrangian(C, [7 * T for T in DIFFERENCES], 100 * C, [])
    for a, b in zip(problem.products(L), scaled.products(L), strict=True):
        np.testing.assert_allclose(a, b)
    assert np.linalg.norm(problem.stack[:S], 2) == pytest.approx(1)
    assert max(np.linalg.norm(T, 2) for T in problem.stack.reshape(-1, S, S)[1:]) == pytest.approx(
        1
    )
    assert problem.kept(L) == pytest.approx(np.trace(L.T @ C @ L) / np.linalg.norm(C, 2))


def test_no_objective_and_no_difference_are_allowed():
    nothing = Lagrangian(C, [np.zeros((S, S))], np.zeros((S, S)), [])
    assert np.isfinite(nothing.stack).all()
    assert nothing.gap(L) == 0


@pytest.fixture
def objectives(monkeypatch):
    """Problems handed to the minimiser, which answers with `L` each time."""
    seen = []

    def minimiser(objective, start, *, tol, max_steps):
        seen.append((objective, start, tol, max_steps))
        return SimpleNamespace(L=L, value=0.0, gradient_norm=0.125, evaluations=7)

    monkeypatch.setattr(module, "minimize_on_stiefel", minimiser)
    return seen


def some_state(**changes):
    multipliers = symmetric(2)[:, :K, :K]
    multipliers = multipliers + np.swapaxes(multipliers, 1, 2)
    return replace(State(np.eye(S, K), multipliers, 2.5, 1.0, np.inf, 40), **changes)


def test_the_gradient_is_that_of_the_value(objectives):
    state = some_state()
    lagrangian().round(state, 0.01)
    objective, start, tol, max_steps = objectives[0]
    assert (tol, max_steps) == (0.01, module.TOL.steps_per_round)
    assert start is state.L
    at, step = RNG.normal(size=(S, K)), RNG.normal(size=(S, K))
    value, gradient = objective(at)
    h = 1e-5
    slope = (objective(at + h * step)[0] - objective(at - h * step)[0]) / (2 * h)
    assert np.vdot(gradient, step) == pytest.approx(slope, rel=1e-7)
    CL, _, E = lagrangian().products(at)
    book = -np.vdot(at, CL) + np.vdot(state.multipliers, E) + 0.5 * 2.5 * np.vdot(E, E)
    assert value == pytest.approx(book)


def test_a_round_moves_the_multipliers_by_the_violation(objectives):
    state, problem = some_state(), lagrangian()
    after = problem.round(state, 0.01)
    E = problem.products(L)[2]
    np.testing.assert_allclose(after.multipliers, state.multipliers + 2.5 * E)
    assert after.L is L
    assert (after.gradient_norm, after.evaluations) == (0.125, 47)
    assert after.gap == problem.gap(L)
    kept = problem.round(state, 0.01, update=False)
    np.testing.assert_array_equal(kept.multipliers, state.multipliers)


@pytest.mark.parametrize(
    ("share", "penalty", "expected"),
    [(0.2, 2.5, 2.5), (0.3, 2.5, 10.0), (2.0, 2.5, 10.0), (0.3, 4e5, 1e6)],
    ids=["fell fast", "fell slowly", "rose", "at the limit"],
)
def test_a_gap_that_falls_slowly_makes_the_penalty_harder(objectives, share, penalty, expected):
    before = lagrangian().gap(L) / share
    assert lagrangian().round(some_state(gap=before, penalty=penalty), 0.01).penalty == expected


def test_the_first_state_knows_its_gradient_and_nothing_else():
    first = lagrangian().begin(L)
    np.testing.assert_array_equal(first.multipliers, np.zeros((2, K, K)))
    assert (first.penalty, first.gap) == (10.0, lagrangian().gap(L))
    CL, TL, E = lagrangian().products(L)
    G = 2 * ((TL @ (10 * E)).sum(axis=0) - CL)
    along = G - L @ (L.T @ G + G.T @ L) / 2
    assert first.gradient_norm == pytest.approx(np.linalg.norm(along))
    assert first.evaluations == 1
    at = State.at(L, gap=0.5, gradient_norm=0.25)
    assert (at.gap, at.gradient_norm, at.evaluations, at.penalty) == (0.5, 0.25, 0, 0.0)
    assert at.multipliers.size == 0


class Scripted:
    """A problem whose rounds have the given gaps, gradient norms and penalties."""

    def __init__(self, gaps, gradients=None, penalties=None):
        self.gaps = gaps
        self.gradients = gradients or [0.0] * len(gaps)
        self.penalties = penalties or [10.0] * len(gaps)
        self.asked = []

    def begin(self, start):
        return some_state(L=start, gap=1.0)

    def round(self, state, tol, *, update=True):
        i = len(self.asked)
        self.asked.append((tol, state.penalty, update))
        return replace(
            state, gap=self.gaps[i], gradient_norm=self.gradients[i], penalty=self.penalties[i]
        )


def rounds(problem, tol=1e-4, most=10, **changes):
    with mock.patch.object(module, "TOL", replace(module.TOL, rounds=most)):
        end = follow(problem, some_state(gap=1.0, **changes), tol)
    assert end.gap == problem.gaps[len(problem.asked) - 1]
    return len(problem.asked)


def test_it_ends_when_the_gap_and_the_gradient_are_small():
    assert rounds(Scripted([0.1, 1e-4, 1e-5], [0.0, 0.01, 0.0])) == 2
    assert rounds(Scripted([0.1, 1e-4, 1e-5], [0.0, 0.02, 0.0])) == 3
    assert rounds(Scripted([0.1, 0.05, 1e-5])) == 3
    assert rounds(Scripted([0.1] * 10), most=6) == 6


def test_it_gives_up_after_four_hopeless_rounds_in_a_row():
    hard, soft = [1e4] * 12, [9e3] * 12
    assert rounds(Scripted([0.9] * 12, penalties=hard), most=12) == 4
    assert rounds(Scripted([0.9] * 12, penalties=soft), most=12) == 12
    halving = [0.5**i for i in range(1, 13)]
    assert rounds(Scripted(halving, penalties=hard), most=12) == 12
    better_once = [0.9, 0.9, 0.9, 0.4, 0.39, 0.38, 0.37, 0.36, 0.35]
    assert rounds(Scripted(better_once, penalties=hard), most=9) == 8


def test_each_round_is_solved_more_exactly_down_to_a_limit():
    problem = Scripted([0.5] * 6)
    rounds(problem, tol=1e-4, most=6)
    tols = [tol for tol, _, _ in problem.asked]
    np.testing.assert_allclose(tols, [1e-2, 3e-3, 1e-3, 1e-3, 1e-3, 1e-3])
    exact = Scripted([0.5] * 2)
    rounds(exact, most=2, gradient_norm=1e-3)
    assert exact.asked[0][0] == 1e-3


def test_a_budget_is_approached_from_the_soft_side():
    """The first gap within the budget wins; harder penalties would keep less variance."""
    problem = Scripted([0.9, 0.5, 0.2, 0.1, 0.05], penalties=[99.0] * 5)
    assert approach(problem, L, 0.2).gap == 0.2
    assert [penalty for _, penalty, _ in problem.asked] == pytest.approx([0.05, 0.1, 0.2])
    assert not any(update for _, _, update in problem.asked)


def test_a_budget_out_of_reach_ends_with_the_hardest_penalty():
    problem = Scripted([0.9] * 60)
    end = approach(problem, L, 0.2)
    penalties = [penalty for _, penalty, _ in problem.asked]
    assert end.gap == 0.9
    np.testing.assert_allclose(np.divide(penalties[1:], penalties[:-1]), 2)
    assert 0.5e6 < penalties[-1] <= 1e6


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
        found = _match_covariances(C, differences, 2, starts=[])
        values = np.linalg.eigvalsh(C)[::-1]
        np.testing.assert_allclose(found.variance, values[:2])
        assert (found.gap, found.gradient_norm, found.evaluations) == (0.0, 0.0, 0)
        assert found.converged


def test_what_is_negligible_does_not_depend_on_units():
    C, T = covariance(5), rotated([1, 2, -1, -2, 0])
    for unit in (1e-12, 1e12):
        found = _match_covariances(unit * C, [unit * T], 2, starts=[leading(C, 2)])
        assert found.evaluations > 0
        np.testing.assert_allclose(found.L.T @ T @ found.L, 0, atol=1e-7)


@pytest.mark.parametrize("tol", [1e-8, 0.05], ids=["exact", "budget"])
def test_evaluations_and_progress_are_those_of_all_attempts(tol):
    C, T = covariance(6), rotated([1, 2, 3, -1, -2, -3])
    one, told = leading(C, 2), []
    single = _match_covariances(C, [T], 2, starts=[one], tol=tol)
    twice = _match_covariances(C, [T], 2, starts=[one, one], tol=tol, progress=told.append)
    assert twice.evaluations == 2 * single.evaluations > 0
    assert len(told) >= 2
    assert twice.gap == single.gap <= tol
    assert twice.converged


def test_without_a_way_onto_the_manifold_the_multipliers_finish_alone(monkeypatch):
    C, T = covariance(6), rotated([1, 2, 3, -1, -2, -3])
    monkeypatch.setattr(IsotropicBases, "retract", lambda self, W: None)
    told = []
    problem = Lagrangian(C, [T], C, [], told.append)
    end = _end(problem, leading(C, 2), 1e-8, 2000)
    assert end.gap <= 1e-8
    assert end.gradient_norm <= 1e-4
    assert end.evaluations > 0
    assert told
    assert problem.kept(end.L) == pytest.approx(
        _match_covariances(C, [T], 2, starts=[leading(C, 2)]).variance.sum() / problem.unit,
        rel=1e-3,
    )


def test_random_starts_are_tried_last_and_are_the_same_each_time(monkeypatch):
    """Two differences of the same sign have no common direction; all attempts are spent."""
    C, differences = covariance(4), [np.eye(4), np.diag([1.0, 2.0, 3.0, 4.0])]
    told = []
    first = _match_covariances(C, differences, 1, starts=[leading(C, 1)], progress=told.append)
    assert not first.converged
    assert first.gap > 0.1
    again = _match_covariances(C, differences, 1, starts=[leading(C, 1)])
    assert again.evaluations == first.evaluations
    assert again.L.tobytes() == first.L.tobytes()
    monkeypatch.setattr(exactly, "EXTRA_STARTS", 0)
    told_less = []
    less = _match_covariances(C, differences, 1, starts=[leading(C, 1)], progress=told_less.append)
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
    start = _match_covariances(np.eye(s), list(matrices), k, starts=[np.eye(s, k)]).L
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
    for place in (exactly, module):
        original = place.minimize_on_stiefel

        def spy(objective, start, original=original, **options):
            found = original(objective, start, **options)
            calls.append((objective, found, options))
            return found

        monkeypatch.setattr(place, "minimize_on_stiefel", spy)
    return calls


def test_every_evaluation_is_counted_and_every_end_is_told(minimised):
    C, T, told = covariance(8), rotated([1, 2, 3, 4, -1, -2, -3, -4]), []
    found = _match_covariances(
        C, [T], 2, starts=[leading(C, 2)], progress=told.append, max_steps=1999
    )
    begun = 1  # the gradient at the start
    assert found.evaluations == begun + sum(end.evaluations for _, end, _ in minimised)
    assert len(told) == len(minimised)
    assert told[-1].endswith(f"{found.evaluations} evaluations")
    objective, _, options = minimised[-1]  # the one on the manifold
    assert options["max_steps"] == 1999
    L, step, h = RNG.normal(size=(8, 2)), RNG.normal(size=(8, 2)), 1e-5
    slope = (objective(L + h * step)[0] - objective(L - h * step)[0]) / (2 * h)
    assert np.vdot(objective(L)[1], step) == pytest.approx(slope, rel=1e-7)


def test_a_start_that_penalties_would_not_move_goes_to_the_manifold_at_once(minimised):
    """A flat start: leading directions hold nearly all the variance, and it has none of them."""
    C = np.diag([1.0, 1.0, 1.0, *np.full(9, 1e-5)])
    T = np.diag([1.0, -2.0, 1.5, *np.tile([1e-2, -1e-2, 1e-3], 3)])
    pairs = np.eye(12)[:, [3, 6]] + 0.95 * np.eye(12)[:, [4, 7]]
    start = np.linalg.qr(pairs + 1e-3 * RNG.normal(size=(12, 2)))[0]
    found = _match_covariances(C, [T], 2, starts=[start])
    assert [set(options) & {"manifold"} for _, _, options in minimised] == [{"manifold"}]
    assert found.converged
    away = _match_covariances(C, [T], 2, starts=[leading(C, 2)])
    assert found.variance.sum() == pytest.approx(away.variance.sum(), rel=1e-6)


@pytest.mark.parametrize("retract", [True, False], ids=["hopeless", "without the manifold"])
def test_every_minimisation_of_a_hard_problem_is_told(monkeypatch, minimised, retract):
    C, told = covariance(4), []
    differences = [np.eye(4), np.diag([1.0, 2.0, 3.0, 4.0])]
    if not retract:
        monkeypatch.setattr(IsotropicBases, "retract", lambda self, W: None)
        differences = [rotated([1, 2, -1, -2])]
    _match_covariances(C, differences, 1, starts=[leading(C, 1)], progress=told.append)
    assert len(told) == len(minimised) > 3


@pytest.mark.parametrize(("count", "tried"), [(1, True), (2, False)])
def test_signs_are_paired_where_there_is_one_difference_and_the_starts_fail(
    monkeypatch, count, tried
):
    seen = []
    monkeypatch.setattr(exactly, "EXTRA_STARTS", 0)
    monkeypatch.setattr(exactly, "isotropic_start", lambda *args: seen.append(args) or [])
    definite = [np.eye(4), np.diag([1.0, 2.0, 3.0, 4.0])][:count]
    C = covariance(4)
    assert not _match_covariances(C, definite, 1, starts=[leading(C, 1)]).converged
    assert bool(seen) == tried
    seen.clear()
    possible = _match_covariances(C, [rotated([1, 2, -1, -2])], 1, starts=[leading(C, 1)])
    assert possible.converged
    assert not seen
