"""The multiplier method step by step: its gradient, its updates, and when it stops."""

from dataclasses import replace

import numpy as np
import pytest

from fairpca._numerics.stiefel import Minimum
from fairpca.solvers import _isotropic_bases as method
from fairpca.solvers._isotropic_bases import Lagrangian, State, approach, follow

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
        return Minimum(L, 0.0, 0.125, 7)

    monkeypatch.setattr(method, "minimize_on_stiefel", minimiser)
    return seen


def some_state(**changes):
    multipliers = symmetric(2)[:, :K, :K]
    multipliers = multipliers + np.swapaxes(multipliers, 1, 2)
    return replace(State(np.eye(S, K), multipliers, 2.5, 1.0, np.inf, 40), **changes)


def test_the_gradient_is_that_of_the_value(objectives):
    state = some_state()
    lagrangian().round(state, 0.01, 33)
    objective, start, tol, max_steps = objectives[0]
    assert (tol, max_steps) == (0.01, 33)
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
    after = problem.round(state, 0.01, 33)
    E = problem.products(L)[2]
    np.testing.assert_allclose(after.multipliers, state.multipliers + 2.5 * E)
    assert after.L is L
    assert (after.gradient_norm, after.evaluations) == (0.125, 47)
    assert after.gap == problem.gap(L)
    kept = problem.round(state, 0.01, 33, update=False)
    np.testing.assert_array_equal(kept.multipliers, state.multipliers)


@pytest.mark.parametrize(
    ("share", "penalty", "expected"),
    [(0.2, 2.5, 2.5), (0.3, 2.5, 10.0), (2.0, 2.5, 10.0), (0.3, 4e5, 1e6)],
    ids=["fell fast", "fell slowly", "rose", "at the limit"],
)
def test_a_gap_that_falls_slowly_makes_the_penalty_harder(objectives, share, penalty, expected):
    before = lagrangian().gap(L) / share
    assert lagrangian().round(some_state(gap=before, penalty=penalty), 0.01, 9).penalty == expected


def test_the_first_state_knows_nothing_yet():
    first = lagrangian().begin(L)
    np.testing.assert_array_equal(first.multipliers, np.zeros((2, K, K)))
    assert (first.penalty, first.gap) == (10.0, lagrangian().gap(L))
    assert (first.gradient_norm, first.evaluations) == (np.inf, 0)
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

    def round(self, state, tol, max_steps, *, update=True):
        i = len(self.asked)
        self.asked.append((tol, state.penalty, update))
        return replace(
            state, gap=self.gaps[i], gradient_norm=self.gradients[i], penalty=self.penalties[i]
        )


def rounds(problem, tol=1e-4, most=10, **changes):
    told = []
    end = follow(problem, some_state(gap=1.0, **changes), tol, most, 5, told.append)
    assert len(told) == len(problem.asked)
    assert all("covariance gap" in line for line in told)
    assert end.gap == problem.gaps[len(told) - 1]
    return len(told)


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
    told = []
    end = approach(problem, L, 0.2, 5, told.append)
    assert end.gap == 0.2
    assert len(told) == 3
    assert [penalty for _, penalty, _ in problem.asked] == pytest.approx([0.05, 0.1, 0.2])
    assert not any(update for _, _, update in problem.asked)


def test_a_budget_out_of_reach_ends_with_the_hardest_penalty():
    problem = Scripted([0.9] * 60)
    end = approach(problem, L, 0.2, 5, None)
    penalties = [penalty for _, penalty, _ in problem.asked]
    assert end.gap == 0.9
    np.testing.assert_allclose(np.divide(penalties[1:], penalties[:-1]), 2)
    assert 0.5e6 < penalties[-1] <= 1e6
