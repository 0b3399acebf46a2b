import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairpca_paper.methods._fpca_program import (
    _project_below_a_cap,
    _project_onto_fantope,
    nearest_with_sum,
)


@st.composite
def symmetric_matrices(draw):
    """A symmetric matrix, often with multiple eigenvalues, and a trace that it can get."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    d = draw(st.integers(1, 9))
    kind = draw(st.sampled_from(["distinct", "multiple", "zero", "in the fantope"]))
    values = rng.normal(size=d)
    if kind == "multiple":
        values = np.round(values)
    elif kind == "zero":
        values = np.zeros(d)
    elif kind == "in the fantope":
        values = (np.arange(d) < d // 2).astype(float)
    Q = np.linalg.qr(rng.normal(size=(d, d)))[0]
    A = (Q * values * draw(st.sampled_from([1e-3, 1.0, 1e3]))) @ Q.T
    rank = draw(st.one_of(st.integers(0, d), st.floats(0, d)))
    return 0.5 * (A + A.T), rank


def by_bisection(values, total):
    low, high = values.min() - 1.0, values.max()
    for _ in range(200):
        middle = 0.5 * (low + high)
        if np.clip(values - middle, 0, 1).sum() > total:
            low = middle
        else:
            high = middle
    return np.clip(values - high, 0, 1)


@given(symmetric_matrices())
def test_the_result_is_in_the_fantope(problem):
    A, rank = problem
    P = _project_onto_fantope(A, rank)
    values = np.linalg.eigvalsh(P)
    rounding = 1e-13 * max(1.0, np.abs(A).max()) * len(A)
    assert values[0] >= -rounding
    assert values[-1] <= 1.0 + rounding
    assert np.trace(P) == pytest.approx(rank, abs=10 * rounding)


@given(symmetric_matrices())
def test_no_matrix_of_the_fantope_lies_further_along_the_residual(problem):
    # <A - P, Q - P> <= 0 for all Q in the set is what makes P the nearest. The largest <A - P, Q>
    # is the sum of the leading eigenvalues, the last one in part if the rank is not whole.
    A, rank = problem
    P = _project_onto_fantope(A, rank)
    values = np.linalg.eigvalsh(A - P)[::-1]
    share = np.clip(rank - np.arange(len(A)), 0.0, 1.0)
    slack = 1e-11 * max(1.0, np.abs(A).max()) ** 2 * len(A)
    assert values @ share <= np.vdot(A - P, P) + slack


@given(symmetric_matrices())
def test_eigenvalues_agree_with_a_bisection(problem):
    A, rank = problem
    values = np.linalg.eigvalsh(A)
    np.testing.assert_allclose(
        nearest_with_sum(values, rank),
        by_bisection(values, rank),
        atol=1e-13 * max(1.0, np.abs(values).max()) * len(A),
    )


@given(symmetric_matrices())
def test_projecting_twice_is_projecting_once(problem):
    A, rank = problem
    P = _project_onto_fantope(A, rank)
    np.testing.assert_allclose(_project_onto_fantope(P, rank), P, atol=1e-12 * len(A) * 10)


def test_a_matrix_with_a_gap_goes_to_the_projection_onto_its_leading_eigenvectors():
    Q = np.linalg.qr(np.random.default_rng(0).normal(size=(6, 6)))[0]
    A = (Q * [5.0, 4.0, 3.0, 0.0, -1.0, -2.0]) @ Q.T
    np.testing.assert_allclose(_project_onto_fantope(A, 3), Q[:, :3] @ Q[:, :3].T, atol=1e-14)


def test_an_impossible_sum_is_refused():
    with pytest.raises(ValueError, match="4 cannot be the sum of 3 numbers"):
        nearest_with_sum(np.zeros(3), 4)


@given(symmetric_matrices(), st.floats(1e-6, 1.0), st.floats(0.0, 5.0))
def test_the_cap_holds_and_its_price_makes_the_result_optimal(problem, cap, start):
    A, _ = problem
    d = len(A)
    rank = (d - 1) / 2
    e = np.random.default_rng(d).normal(size=d)
    e /= np.linalg.norm(e)
    P, price = _project_below_a_cap(A, rank, e, cap, start=start)
    assert e @ P @ e <= cap * (1 + 1e-9) + 1e-13
    assert price >= 0
    assert price == 0 or e @ P @ e == pytest.approx(cap, rel=1e-6, abs=1e-12)
    nearest = _project_onto_fantope(A - price * np.outer(e, e), rank)
    np.testing.assert_allclose(P, nearest, atol=1e-9)
