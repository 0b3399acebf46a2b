import numpy as np
import pytest
import scipy.linalg
from hypothesis import given
from hypothesis import strategies as st

from assertions import assert_equal_group_means, assert_uncorrelated
from fairpca.erasers import LEACE, SAL, MeanProjection
from fairpca.moments import collect_moments
from oracles import indicator_matrix
from strategies import grouped_rows


def covariances(X, *columns, weight=None):
    """Covariance of the rows, and their covariance with one-hot and numeric attributes."""
    w = np.ones(len(X)) if weight is None else weight
    Z = indicator_matrix(*columns)
    Z, X = Z - (w @ Z) / w.sum(), X - (w @ X) / w.sum()
    return (X * w[:, None]).T @ X / w.sum(), (X * w[:, None]).T @ Z / w.sum()


def leace_by_the_book(X, *columns, weight=None, rcond=1e-9):
    """Belrose et al.: x' = x - W^+ (W S_xz)(W S_xz)^+ W (x - mean), W the root of S^+."""
    S, S_xz = covariances(X, *columns, weight=weight)
    values, V = np.linalg.eigh(S)
    root = (V * np.sqrt(np.clip(values, 0, None))) @ V.T
    W = np.linalg.pinv(root, rcond=rcond, hermitian=True)
    A = W @ S_xz
    return np.eye(len(S)) - root @ A @ np.linalg.pinv(A, rcond=rcond) @ W


@pytest.fixture
def people():
    rng = np.random.default_rng(0)
    z = rng.integers(0, 3, 500)
    X = rng.normal(size=(500, 6)) @ rng.normal(size=(6, 6)) + rng.normal(size=(3, 6))[z]
    return X, z, X[:, 1] + 2 * rng.normal(size=500)


@pytest.mark.parametrize("weighted", [False, True])
def test_leace_is_the_formula_in_the_book(people, weighted):
    X, z, v = people
    weight = np.random.default_rng(1).uniform(0.2, 3, 500) if weighted else None
    eraser = LEACE().fit(X, sensitive_features={"z": z, "v": v}, sample_weight=weight)
    P = leace_by_the_book(X, z, v, weight=weight)
    np.testing.assert_allclose(eraser.components_, P, atol=1e-9)
    mean = np.average(X, axis=0, weights=weight)
    np.testing.assert_allclose(eraser.transform(X), mean + (X - mean) @ P.T, atol=1e-9)


@given(grouped_rows(min_features=7, max_features=9), st.sampled_from([0, 3]))
def test_leace_is_the_formula_in_the_book_on_difficult_rows(data, power):
    """On training rows also where features repeat: elsewhere a pseudo-inverse has its own idea.

    The book is taken to units in which its inverses are harmless; the map does not depend on them.
    """
    X, columns = data
    mean, unit = X.mean(axis=0), X.std(axis=0)
    unit = np.where(unit > 1e-6, unit, 1.0)
    standard = (X - mean) / unit
    expected = standard @ leace_by_the_book(standard, *columns.values(), rcond=1e-5).T
    units = 10.0 ** (power * np.linspace(-1, 1, X.shape[1]))
    found = LEACE().fit_transform(X * units, sensitive_features=columns)
    found = (found / units - mean) / unit
    np.testing.assert_allclose(found, expected, atol=1e-5)


def change(P, S, M):
    """E |M (x' - x)|^2."""
    D = M @ (np.eye(len(S)) - P)
    return np.trace(D @ S @ D.T)


def test_no_feasible_map_changes_the_rows_less_in_any_norm(people):
    """Certificate: all maps with P S_xz = 0 are P0 + N R^T, R the null space of S_xz^T."""
    X, z, v = people
    S, S_xz = covariances(X, z, v)
    R = scipy.linalg.null_space(S_xz.T, rcond=1e-9)
    P = LEACE().fit(X, sensitive_features={"z": z, "v": v}).components_
    orthogonal = MeanProjection().fit(X, sensitive_features={"z": z, "v": v}).components_
    rng = np.random.default_rng(2)
    for _ in range(50):
        M = rng.normal(size=(6, 6))
        least = change(P, S, M)
        assert least < change(orthogonal, S, M)
        for size in (1e-3, 1.0):
            other = P + size * rng.normal(size=(6, R.shape[1])) @ R.T
            np.testing.assert_allclose(other @ S_xz, 0, atol=1e-9)
            assert least < change(other, S, M)
        # Oblique projections along any complement of the removed directions.
        B = rng.normal(size=(6, 3))
        A = S_xz @ rng.normal(size=(S_xz.shape[1], 3))
        oblique = np.eye(6) - A @ np.linalg.solve(B.T @ A, B.T)
        np.testing.assert_allclose(oblique @ S_xz, 0, atol=1e-7 * np.linalg.norm(oblique))
        assert least < change(oblique, S, M)


def test_the_gradient_vanishes_along_all_feasible_maps(people):
    """First-order certificate of the same: (I - P) S is orthogonal to every N R^T."""
    X, z, _ = people
    S, S_xz = covariances(X, z)
    P = LEACE().fit(X, sensitive_features=z).components_
    R = scipy.linalg.null_space(S_xz.T, rcond=1e-9)
    np.testing.assert_allclose((np.eye(6) - P) @ S @ R, 0, atol=1e-11 * np.linalg.norm(S))


def test_units_and_rotations_of_the_features_do_not_matter(people):
    X, z, _ = people
    B = np.random.default_rng(3).normal(size=(6, 6))
    T = LEACE().fit_transform(X, sensitive_features=z)
    np.testing.assert_allclose(LEACE().fit_transform(X @ B, sensitive_features=z), T @ B, atol=1e-9)
    units = 10.0 ** np.linspace(-6, 6, 6)
    scaled = LEACE().fit_transform(X * units, sensitive_features=z)
    np.testing.assert_allclose(scaled / units, T, atol=1e-12)


@pytest.mark.parametrize("unit", [1.0, 1e-6, 1e-12])
def test_an_attribute_in_small_units_is_erased(people, unit):
    X, _, v = people
    eraser = LEACE().fit(X, sensitive_features=unit * v)
    assert eraser.n_directions_ == 1
    assert_uncorrelated(eraser.transform(X), v, rtol=1e-12)


def test_a_rare_group_is_erased():
    """One row in five hundred: its indicator has a variance of 0.002."""
    rng = np.random.default_rng(4)
    rare = np.arange(20_000) % 500 == 0
    X = rng.normal(size=(20_000, 5)) + 2 * rare[:, None]
    assert_equal_group_means(LEACE().fit_transform(X, sensitive_features=rare), rare, rtol=1e-12)


def test_nearly_equal_features_do_not_spoil_the_erasure():
    """The scatter has a condition number of 1e14, and the group shows in the tiny difference."""
    rng = np.random.default_rng(5)
    z = rng.integers(0, 2, 1000)
    X = rng.normal(size=(1000, 4))
    X = np.column_stack([X, X[:, 0] + 1e-7 * (z + rng.normal(size=1000))])
    T = LEACE().fit_transform(X, sensitive_features=z)
    assert_equal_group_means(T, z, rtol=1e-12)


def test_single_precision_erases_to_single_precision(people):
    X, z, _ = people
    single = LEACE().fit_transform(X.astype(np.float32), sensitive_features=z)
    assert single.dtype == np.float32
    assert_equal_group_means(single.astype(float), z, rtol=1e-5)
    double = LEACE().fit_transform(X, sensitive_features=z)
    np.testing.assert_allclose(single, double, atol=1e-4)


def test_an_eraser_is_as_precise_as_its_rows_unless_these_are_beyond_its_range(people):
    X, z, _ = people
    for rows, kind in ((X, np.float64), (X.astype(np.float32), np.float32)):
        fitted = LEACE().fit(rows, sensitive_features=z)._map
        assert {a.dtype for a in (fitted.along, fitted.away, fitted.mean)} == {np.dtype(kind)}
    tiny = (X * 1e-42).astype(np.float32)
    fitted = LEACE().fit(tiny, sensitive_features=z)
    assert fitted._map.along.dtype == np.float64  # 1e42 is no float32
    assert np.isfinite(fitted.components_).all()


@pytest.mark.parametrize("seed", range(20))
def test_only_copies_of_attributes_are_gone_as_a_whole(seed):
    rng = np.random.default_rng(seed)
    z, d = rng.integers(0, 2, 300), int(rng.integers(4, 40))
    X = rng.normal(size=(300, d))
    X = (X + 0.5 * X[:, [0]]) * 10.0 ** rng.uniform(-6, 6, d)
    copy = int(rng.integers(d))
    assert LEACE().fit(X, sensitive_features=z)._map.gone is None
    X[:, copy] = 3.0 * z
    eraser = LEACE().fit(X, sensitive_features=z)
    assert np.flatnonzero(eraser._map.gone).tolist() == [copy]
    assert (eraser.transform(X)[:, copy] == eraser.mean_[copy]).all()


def test_with_fewer_rows_than_features_each_group_loses_its_mean():
    """Any attribute is a linear function of so few rows, so that LEACE is its own oracle."""
    rng = np.random.default_rng(6)
    X, z = rng.normal(size=(20, 50)), np.arange(20) % 3
    means = np.array([X[z == g].mean(axis=0) for g in range(3)])
    expected = X - means[z] + X.mean(axis=0)
    np.testing.assert_allclose(LEACE().fit_transform(X, sensitive_features=z), expected, atol=1e-10)


def test_an_attribute_that_shows_nowhere_changes_nothing():
    rng = np.random.default_rng(7)
    X = rng.normal(size=(40, 3))
    X = np.vstack([X, X])
    z = np.repeat(["f", "m"], 40)
    eraser = LEACE().fit(X, sensitive_features=z)
    assert eraser.n_directions_ == 0
    np.testing.assert_allclose(eraser.transform(X), X, atol=1e-14)


@pytest.mark.parametrize("shape", ["tall", "wide", "a repeated feature"])
@pytest.mark.parametrize("method", [MeanProjection, SAL, LEACE])
def test_moments_of_any_array_library_will_do(method, shape, asarray, people):
    X, z, _ = people
    if shape != "tall":
        X = np.tile(X, 90)[:500] if shape == "wide" else np.column_stack([X, X[:, 0]])
    linear = method().fit_moments(collect_moments(asarray(X), z))._map
    expected = method().fit_moments(collect_moments(X, z))._map
    np.testing.assert_allclose(np.asarray(linear.matrix), expected.matrix, atol=1e-9)
    np.testing.assert_allclose(np.asarray(linear(asarray(X))), expected(X), atol=1e-9)


class TestAgainstThePublicImplementation:
    @pytest.fixture
    def fitted(self):
        reason = "the comparison needs the package concept-erasure, which needs torch"
        torch = pytest.importorskip("torch", reason=reason)
        erasure = pytest.importorskip("concept_erasure", reason=reason)

        def fitted(X, Z, **options):
            x, z = torch.from_numpy(X), torch.from_numpy(Z)
            plain = {"shrinkage": False, "constrain_cov_trace": False, **options}
            return erasure.LeaceFitter.fit(x, z, **plain).eraser(x).numpy()

        return fitted

    def test_well_scaled_rows_are_erased_alike(self, people, fitted):
        X, z, _ = people
        theirs = fitted(X, indicator_matrix(z), svd_tol=1e-8)
        ours = LEACE().fit_transform(X, sensitive_features=z)
        np.testing.assert_allclose(ours, theirs, atol=1e-10)

    def test_their_absolute_tolerance_leaves_small_units_unerased_and_ours_does_not(
        self, people, fitted
    ):
        X, _, v = people
        small = 1e-3 * v
        theirs, ours = fitted(X, small[:, None]), LEACE().fit_transform(X, sensitive_features=small)

        def correlation(T):
            return max(abs(np.corrcoef(column, v)[0, 1]) for column in T.T)

        np.testing.assert_allclose(theirs, X, atol=1e-12)
        assert correlation(theirs) > 0.1
        assert correlation(ours) < 1e-12

    def test_their_absolute_tolerance_leaves_rare_groups_unerased_and_ours_does_not(self, fitted):
        rng = np.random.default_rng(4)
        rare = np.arange(20_000) % 500 == 0
        X = rng.normal(size=(20_000, 5))
        X[rare, 0] += 1.0
        theirs = fitted(X, rare[:, None].astype(float))
        ours = LEACE().fit_transform(X, sensitive_features=rare)
        assert theirs[rare, 0].mean() - theirs[~rare, 0].mean() > 0.5
        assert abs(ours[rare, 0].mean() - ours[~rare, 0].mean()) < 1e-12
