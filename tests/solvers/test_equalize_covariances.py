import numpy as np
import pytest
from hypothesis import given

from assertions import assert_orthonormal, assert_same_subspace
from fairpca import InfeasibleError, SingleGroupError, collect_moments
from fairpca.solvers import covariance_gap, equalize_covariances_spectral, equalize_means, mean_gap
from oracles import fair_null_space, fair_pca_s_by_the_book
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
    if min(counts) < 2 or fair_null_space(X, *columns.values()).shape[1] < 1:
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
