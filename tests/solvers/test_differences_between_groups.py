"""Differences of covariances, the directions in which they are flat, and what is refused."""

from dataclasses import replace
from importlib import import_module

import numpy as np
import pytest

from assertions import assert_orthonormal
from fairpca import InfeasibleError, SingleGroupError, collect_moments
from fairpca.errors import MissingTargetError
from fairpca.moments import LevelMoments, NumericMoments
from fairpca.solvers import (
    covariance_gap,
    equalize_covariances_spectral,
    largest_gap,
    mean_constraint,
    mean_gap,
)
from fairpca.solvers._equalize_covariances import _flattest_directions as flattest_directions
from fairpca.solvers._equalize_covariances import (
    absolute_difference,
    covariance_differences,
    flat_directions,
    independent_differences,
)
from fairpca.solvers._subspace import check_attributes, check_dimension, names_of

EPS = np.finfo(float).eps
N, D = 240, 5
RNG = np.random.default_rng(1)
Z = np.repeat([0, 1, 2], [120, 80, 40])
MIXES = RNG.normal(size=(3, D, D)) + 2 * np.eye(D)
X = np.vstack([RNG.normal(size=(np.sum(g == Z), D)) @ MIXES[g] for g in range(3)])
X += RNG.normal(size=(3, D))[Z]
TWO = np.arange(N) % 2


def moments_of(z, **options):
    return collect_moments(X, z, with_scatters=True, **options)


def covariances(z):
    return [np.cov(X[z == g].T) for g in np.unique(z)]


def test_differences_are_to_the_average_and_weigh_as_their_groups():
    shares = [1 / 2, 1 / 3, 1 / 6]
    average = sum(p * C for p, C in zip(shares, covariances(Z), strict=True))
    found = covariance_differences(moments_of(Z))
    for (p, T), share, C in zip(found, shares, covariances(Z), strict=True):
        assert p == pytest.approx(share)
        np.testing.assert_allclose(T, C - average, atol=1e-12)


def test_one_difference_per_attribute_is_implied_by_the_others():
    three = independent_differences(moments_of(Z))
    assert len(three) == 2  # without the heaviest group
    found = covariance_differences(moments_of(Z))
    for T, (_, expected) in zip(three, found[1:], strict=True):
        np.testing.assert_allclose(T, expected)
    assert len(independent_differences(moments_of(TWO))) == 1
    repeated = moments_of({"a": Z, "b": Z, "c": -Z, "two": TWO})
    for unit in (1e-4, 1.0, 1e4):
        assert len(independent_differences(repeated.rescaled(np.full(D, 1 / unit)))) == 3


def test_the_absolute_difference_of_two_groups_is_that_of_their_covariances():
    first, second = covariances(TWO)
    values, V = np.linalg.eigh(first - second)
    expected = (V * np.abs(values)) @ V.T
    np.testing.assert_allclose(absolute_difference(moments_of(TWO)), expected, atol=1e-10)
    both = absolute_difference(moments_of({"a": TWO, "b": Z}))
    parts = [absolute_difference(moments_of(z)) for z in (TWO, Z)]
    np.testing.assert_allclose(both, 0.5 * (parts[0] + parts[1]), atol=1e-10)


def test_the_gap_of_covariances_has_no_units():
    U = np.linalg.qr(RNG.normal(size=(D, 2)))[0]
    gap = covariance_gap(moments_of(Z), U)
    size = np.linalg.norm(U.T @ np.cov(X.T, ddof=0) @ U)
    average = sum(np.mean(g == Z) * C for g, C in enumerate(covariances(Z)))
    expected = max(np.linalg.norm(U.T @ (C - average) @ U) for C in covariances(Z)) / size
    assert gap == pytest.approx(expected)
    small = collect_moments(1e-3 * X, Z, with_scatters=True)
    assert covariance_gap(small, U) == pytest.approx(gap)
    constant = collect_moments(np.ones((6, 2)), np.arange(6) % 2, with_scatters=True)
    assert covariance_gap(constant, np.eye(2, 1)) == 0


def test_an_optional_attribute_without_rows_has_no_covariance_to_match():
    """Whether a value is missing: in these rows none is."""
    moments = moments_of(TWO)
    a = moments.attributes[0]
    empty = replace(
        a,
        name="x is missing",
        optional=True,
        labels=(False, True),
        count=np.array([N, 0]),
        weight=np.array([float(N), 0.0]),
        scatters=(a.scatters[0], None),
    )
    both = replace(moments, attributes=(a, empty))
    assert len(covariance_differences(both)) == 2
    full = replace(both, attributes=(a, replace(a, optional=True)))
    assert len(covariance_differences(full)) == 4


@pytest.mark.parametrize("z", [TWO, Z], ids=["two groups", "three groups"])
def test_the_flattest_directions_by_the_book(z):
    moments = moments_of(z)
    Q = mean_constraint(moments).Q
    P = np.eye(D) - Q @ Q.T
    if z is TWO:
        first, second = covariances(z)
        squares = np.linalg.matrix_power(P @ (first - second) @ P, 2)
    else:
        pairs = covariance_differences(moments)
        squares = sum(p * np.linalg.matrix_power(P @ T @ P, 2) for p, T in pairs)
    n_fair = D - Q.shape[1]
    values = np.linalg.eigvalsh(squares)[Q.shape[1] :]
    for count in range(1, n_fair + 1):
        V = flattest_directions(moments, Q, count)
        assert_orthonormal(np.hstack([Q, V]))
        np.testing.assert_allclose(
            np.linalg.eigvalsh(V.T @ squares @ V), values[:count], rtol=1e-6, atol=1e-9
        )


def test_equal_covariances_are_flat_in_every_fair_direction():
    half = RNG.normal(size=(50, 3))
    moments = collect_moments(np.vstack([half, -half]), np.repeat([0, 1], 50), with_scatters=True)
    Q = np.eye(3, 1)
    for unit in (1.0, 1e-3):
        V = flattest_directions(moments.rescaled(np.full(3, 1 / unit)), Q, 2)
        assert_orthonormal(np.hstack([Q, V]))


@pytest.mark.parametrize(
    ("directions", "k", "count"),
    [(0.5, 1, 2), (0.6, 1, 3), (0.59, 1, 2), (0.1, 2, 2), (0.1, None, 1), (1.0, 1, 4), (3, 2, 3)],
)
def test_a_share_of_the_directions_is_rounded_down_but_holds_the_components(directions, k, count):
    flat = flat_directions(moments_of(TWO), k, directions)
    assert flat.directions.shape == (D, count)
    assert flat.moments.n_features == count
    kept = flat.subspace(np.eye(count, 1), np.ones(1))
    assert kept.constraint_rank == 1
    assert mean_gap(moments_of(TWO), kept) < 1e-9


def test_wide_rows_and_directions_without_variance_are_left_out_on_request():
    flat = np.column_stack([X, np.ones(N), X[:, 0]])
    moments = collect_moments(flat, TWO, with_scatters=True)
    assert flat_directions(moments, None, 1.0).directions.shape == (7, 6)
    varying = flat_directions(moments, None, 1.0, only_varying=True)
    assert varying.directions.shape == (7, 4)
    assert np.linalg.eigvalsh(varying.moments.scatter.matrix)[0] > 1e-6
    with pytest.raises(InfeasibleError, match="vary in only 4 fair directions"):
        flat_directions(moments, 5, 1.0, only_varying=True)
    with pytest.raises(InfeasibleError, match="n_components=7 is too large"):
        flat_directions(moments, 7, 1.0)


def test_a_penalty_finds_the_trade_off_in_closed_form():
    moments = moments_of(TWO)
    for penalty in (0.5, 2.0):
        found = equalize_covariances_spectral(moments, 2, directions=1.0, penalty=penalty)
        Q = mean_constraint(moments).Q
        R = np.linalg.qr(np.hstack([Q, np.eye(D)]))[0][:, 1:]
        inside = moments.compressed(R)
        objective = inside.scatter.matrix / N - penalty * absolute_difference(inside)
        best = np.linalg.eigvalsh(objective)[::-1][:2].sum()
        L = R.T @ found.basis
        assert np.trace(L.T @ objective @ L) == pytest.approx(best, rel=1e-6)
    with pytest.raises(InfeasibleError, match="Pass an integer"):
        equalize_covariances_spectral(moments, 0.5, directions=1.0, penalty=0.5)


def test_the_spectral_method_passes_its_options_on(monkeypatch):
    module = import_module("fairpca.solvers._equalize_covariances")
    seen = []
    original = module.maximize_variance

    def spy(moments, k, **options):
        seen.append((moments.attributes, options))
        return original(moments, k, **options)

    monkeypatch.setattr(module, "maximize_variance", spy)
    moments = moments_of(TWO)
    total = float(np.trace(moments.scatter.matrix))
    equalize_covariances_spectral(moments, 2, directions=0.8, solver="dense", random_state=3)
    assert seen == [((), {"total": pytest.approx(total), "solver": "dense", "random_state": 3})]
    share = equalize_covariances_spectral(moments, 0.3, directions=0.8)
    assert share.scatter.sum() >= 0.3 * total


def level_moments(**changes):
    base = LevelMoments(
        "x", None, ("a", "b"), np.array([2, 2]), np.array([2.0, 2.0]), np.zeros((2, 1))
    )
    return replace(base, **changes)


def numeric(mean, scatter, weight=4.0):
    return NumericMoments("v", None, 4, weight, mean, scatter, np.zeros(1), np.zeros(1))


@pytest.mark.parametrize(
    ("attribute", "problem", "error"),
    [
        (
            level_moments(labels=("a",), weight=np.ones(1)),
            "has only the level 'a'",
            SingleGroupError,
        ),
        (level_moments(labels=(), weight=np.ones(0)), "has no row", SingleGroupError),
        (level_moments(weight=np.zeros(2)), "has no row", SingleGroupError),
        (level_moments(weight=np.array([0.0, 2.0])), r"group\(s\) \['a'\]", MissingTargetError),
        (
            level_moments(weight=np.array([0.0, 2.0]), stratum=1),
            "no row among the rows with y == 1",
            MissingTargetError,
        ),
        (numeric(7.5, 0.0), "is 7.5 in every row", SingleGroupError),
        (numeric(0.3, 4 * (2 * EPS * 0.3) ** 2), "is 0.3 in every row", SingleGroupError),
        (numeric(0.0, 1e-160), "size 5e-81", ValueError),
        (numeric(1e-80, 1e-170), "size 1e-80", ValueError),
    ],
)
def test_attributes_without_anything_to_compare_are_refused(attribute, problem, error):
    with pytest.raises(error, match=problem):
        check_attributes([level_moments(), attribute])


@pytest.mark.parametrize(
    "attribute",
    [
        level_moments(),
        level_moments(weight=np.array([0.0, 2.0]), optional=True),
        level_moments(labels=("a",), weight=np.ones(1), optional=True),
        numeric(7.5, 1.0),
        numeric(0.3, 4 * (100 * EPS * 0.3) ** 2),
        numeric(0.0, 4e-140),
        numeric(1e-70, 1e-141, weight=0.5),
        numeric(0.0, 6e-151, weight=0.5),
    ],
)
def test_attributes_with_something_to_compare_pass(attribute):
    check_attributes([attribute])


def test_a_refusal_names_each_attribute_once():
    assert names_of([level_moments(), numeric(0, 1), level_moments()]) == "'x', 'v'"
    moments = moments_of({"sex": TWO, "age": RNG.normal(size=N)})
    with pytest.raises(InfeasibleError, match=r"\('sex', 'age'\).* in 2 of the 5 .* leaves 3"):
        check_dimension(moments, 2, 4)
    check_dimension(moments, 2, 3)
    with pytest.raises(InfeasibleError, match=r"\('sex', 'age'\) separate .* all 5"):
        check_dimension(moments, 5, None)


@pytest.mark.parametrize("unit", [1e-6, 1.0, 1e6])
def test_the_largest_gap_between_means_has_no_units(unit):
    moments = collect_moments(unit * X, Z)
    spread = np.sqrt(np.var(X, axis=0))
    means = np.array([X[g == Z].mean(axis=0) for g in range(3)])
    expected = np.abs((means - X.mean(axis=0)) / spread).max()
    gap = largest_gap(moments.attributes, moments.weight, np.eye(D), moments.scatter.diagonal)
    assert gap == pytest.approx(expected)
