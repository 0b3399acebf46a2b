"""Differences of covariances, the directions in which they are flat, and Fair PCA-S in them."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given

from assertions import assert_orthonormal, assert_same_subspace
from fairpca.errors import InfeasibleError, SingleGroupError
from fairpca.moments import collect_moments
from fairpca.solvers import _equalize_covariances as module
from fairpca.solvers import (
    covariance_gap,
    equalize_covariances_spectral,
    equalize_means,
    mean_constraint,
    mean_gap,
)
from fairpca.solvers._equalize_covariances import (
    absolute_difference,
    covariance_differences,
    flat_directions,
    independent_differences,
)
from oracles import fair_pca_s_by_the_book, fair_span
from strategies import grouped_rows


def two_gaussians(n=600, d=10, seed=0):
    rng = np.random.default_rng(seed)
    z = rng.integers(0, 2, n)
    X = rng.normal(size=(n, d)) @ rng.normal(size=(d, d))
    Y = rng.normal(size=(n, d)) @ rng.normal(size=(d, d)) + 1
    return np.where(z[:, None] == 1, X, Y), z


@pytest.mark.parametrize(("k", "l"), [(1, 3), (2, 5), (3, 9)])
def test_two_groups_agree_with_section_3_6_as_printed(k, l):  # noqa: E741
    X, z = two_gaussians()
    moments = collect_moments(X, z, with_scatters=True)
    U = equalize_covariances_spectral(moments, k, directions=l).basis
    assert_same_subspace(U, fair_pca_s_by_the_book(X, z, k=k, l=l))


@given(grouped_rows())
def test_means_stay_equal_and_the_basis_orthonormal(rows):
    X, columns = rows
    counts = [np.unique(c, return_counts=True)[1].min() for n, c in columns.items() if n != "v"]
    if min(counts) < 2 or fair_span(X, *columns.values()).shape[1] < 1:
        return
    moments = collect_moments(X, columns, with_scatters=True)
    subspace = equalize_covariances_spectral(moments, 1, directions=0.5)
    assert_orthonormal(subspace.basis)
    assert mean_gap(moments, subspace) < 1e-9


def test_fewer_directions_bring_covariances_closer_and_keep_less_variance():
    X, z = two_gaussians()
    moments = collect_moments(X, z, with_scatters=True)
    difference = np.cov(X[z == 0].T) - np.cov(X[z == 1].T)
    gaps, kept = [], []
    for directions in (9, 6, 3, 2):
        U = equalize_covariances_spectral(moments, None, directions=directions).basis
        gaps.append(np.linalg.norm(U.T @ difference @ U, 2))
        best = equalize_covariances_spectral(moments, 2, directions=directions)
        kept.append(float(best.scatter.sum()))
    assert gaps == sorted(gaps, reverse=True)
    assert gaps[-1] < 0.2 * gaps[0]
    assert kept == sorted(kept, reverse=True)


def test_all_directions_are_plain_fair_pca():
    X, z = two_gaussians()
    moments = collect_moments(X, z, with_scatters=True)
    U = equalize_covariances_spectral(moments, 3, directions=9).basis
    assert_same_subspace(U, equalize_means(moments, 3).basis)


def test_directions_in_which_three_groups_agree_are_found():
    """Groups differ in the covariance of two features only; these are dropped first."""
    rng = np.random.default_rng(1)
    z = rng.integers(0, 3, 60_000)
    X = rng.normal(size=(60_000, 6))
    X[:, 0] *= np.array([3.0, 1.0, 2.0])[z]
    X[:, 1] += X[:, 0] * np.array([0.0, 1.0, -1.0])[z]
    moments = collect_moments(X, z, with_scatters=True)
    U = equalize_covariances_spectral(moments, None, directions=2).basis
    assert np.abs(U[:2]).max() < 0.05
    assert covariance_gap(moments, U) < 0.05 < covariance_gap(moments, np.eye(6)[:, :2])


def test_the_difference_itself_and_its_square_choose_the_same_directions():
    """A second copy of the attribute forces the general formula."""
    X, z = two_gaussians()
    once = collect_moments(X, {"z": z}, with_scatters=True)
    twice = collect_moments(X, {"z": z, "copy": z}, with_scatters=True)
    assert_same_subspace(
        equalize_covariances_spectral(once, 2, directions=5).basis,
        equalize_covariances_spectral(twice, 2, directions=5).basis,
        atol=1e-6,
    )


def test_wide_data_equal_tall_data_in_the_span_of_the_rows():
    rng = np.random.default_rng(2)
    Y = rng.normal(size=(24, 8)) * np.linspace(1, 3, 8)
    z = np.arange(24) % 2
    Y[z == 1] *= np.linspace(0.5, 2, 8)
    B, _ = np.linalg.qr(rng.normal(size=(60, 8)))
    tall = equalize_covariances_spectral(collect_moments(Y, z, with_scatters=True), 2, directions=4)
    wide = equalize_covariances_spectral(
        collect_moments(Y @ B.T, z, with_scatters=True), 2, directions=4
    )
    assert_same_subspace(wide.basis, B @ tall.basis, atol=1e-7)


def test_a_group_of_one_row_has_no_covariance():
    X, z = two_gaussians(n=20)
    z = np.r_[2, z[1:]]
    moments = collect_moments(X, {"z": z}, with_scatters=True)
    with pytest.raises(SingleGroupError, match=r"group 2 of .*'z' has 1 row"):
        equalize_covariances_spectral(moments, 1, directions=5)


def test_numeric_attributes_alone_have_no_covariances():
    X, _ = two_gaussians(n=30)
    moments = collect_moments(X, {"v": X[:, 0] + 0.5}, with_scatters=True)
    with pytest.raises(InfeasibleError, match="needs a categorical attribute"):
        equalize_covariances_spectral(moments, 1, directions=5)


def test_fewer_directions_than_components_are_refused():
    X, z = two_gaussians(n=50)
    moments = collect_moments(X, z, with_scatters=True)
    with pytest.raises(InfeasibleError, match="covariance_directions=2 is smaller"):
        equalize_covariances_spectral(moments, 3, directions=2)


def test_moments_without_scatters_are_refused():
    X, z = two_gaussians(n=50)
    with pytest.raises(ValueError, match="with_scatters=True"):
        equalize_covariances_spectral(collect_moments(X, z), 1, directions=3)


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
        V = flat_directions(moments, 1, count).directions
        assert_orthonormal(np.hstack([Q, V]))
        np.testing.assert_allclose(
            np.linalg.eigvalsh(V.T @ squares @ V), values[:count], rtol=1e-6, atol=1e-9
        )


def test_equal_covariances_are_flat_in_every_fair_direction():
    half = RNG.normal(size=(50, 3))
    moments = collect_moments(np.vstack([half, -half]), np.repeat([0, 1], 50), with_scatters=True)
    for unit in (1.0, 1e-3):
        inside = moments.rescaled(np.full(3, 1 / unit))
        flat = flat_directions(inside, 1, 2)
        assert_orthonormal(np.hstack([mean_constraint(inside).Q, flat.directions]))


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


def test_directions_without_variance_are_the_flattest_and_left_out():
    """The paper counts them, so what is left of a fraction of d is the same with and without."""
    flat = np.column_stack([X, np.ones(N), X[:, 0]])
    moments = collect_moments(flat, TWO, with_scatters=True)
    for directions, found in ((1.0, 4), (5, 3), (0.5, 1), (2, 1)):
        counted = flat_directions(moments, None, directions)
        assert counted.directions.shape == (7, found)
        assert np.linalg.eigvalsh(counted.moments.scatter.matrix)[0] > 1e-6
    assert flat_directions(moments, 2, 0.5).directions.shape == (7, 2)
    assert flat_directions(moments, None, 3, only_varying=True).directions.shape == (7, 3)
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
    seen = []
    original = module.maximize_variance

    def spy(moments, k, **options):
        seen.append((moments.attributes, options))
        return original(moments, k, **options)

    monkeypatch.setattr(module, "maximize_variance", spy)
    moments = moments_of(TWO)
    total = float(np.trace(moments.scatter.matrix))
    equalize_covariances_spectral(moments, 2, directions=0.8, solver="dense", random_state=3)
    assert seen[1:] == [((), {"total": pytest.approx(total), "solver": "dense", "random_state": 3})]
    share = equalize_covariances_spectral(moments, 0.3, directions=0.8)
    assert share.scatter.sum() >= 0.3 * total
