"""The reader's share and its slope against a naive oracle; what the search promises."""

import numpy as np
import pytest

from assertions import assert_orthonormal
from fairpca._attributes import Levels, Numeric
from fairpca._rows import Rows
from fairpca.moments import collect_moments
from fairpca.solvers import equalize_distributions, equalize_means, mean_gap
from fairpca.solvers._equalize_distributions import (
    RIDGE,
    Compared,
    RandomReader,
    _Squares,
    _Targets,
    separability,
)


def attributes(rng, n):
    codes = rng.integers(-1, 3, size=n)
    return (
        Levels("sex", ("f", "m"), rng.integers(2, size=n)),
        Levels("race", ("a", "b", "c"), codes),
        Numeric("age", np.where(rng.random(n) < 0.1, np.nan, rng.normal(size=n))),
    )


def drawn(seed=0, n=60, k=3):
    rng = np.random.default_rng(seed)
    T = rng.normal(size=(n, k))
    compared = Compared.of(Rows(T, rng.uniform(0.5, 2.0, size=n), attributes(rng, n)))
    return T, compared, RandomReader.draw(rng, T, np.eye(k), share=0.05)


def features_one_by_one(T, reader):
    """The features as the docstring lists them, for real and complex rows."""
    P = T @ reader.projections
    w, c = reader.n_waves, len(reader.thresholds)
    cuts = 1.0 / (1.0 + np.exp(-(P[:, w : w + c] - reader.thresholds)))
    single = c - 2 * reader.n_products
    columns = [*T.T, *np.cos(P[:, :w]).T, *np.sin(P[:, :w]).T, *cuts[:, :single].T]
    first, second = cuts[:, single:].T.reshape(2, reader.n_products, -1)
    columns += [a * b for a, b in zip(first, second, strict=True)]
    columns += [u**2 / (1.0 + u**2 / 10.0) for u in P[:, w + c :].T]
    return np.stack(columns, axis=1)


def share_by_the_book(T, compared, reader):
    """Sums over rows, an explicit inverse; no conjugation, so that complex steps work."""
    F, v = features_one_by_one(T, reader), compared.weight
    centred = F - v @ F
    C = sum(v_i * np.outer(f, f) for v_i, f in zip(v, centred, strict=True))
    ridged = C + RIDGE * np.trace(C) / len(C) * np.eye(len(C))
    total = 0.0
    for h, share in zip(compared.H.T, compared.share, strict=True):
        d = sum(v_i * h_i * f for v_i, h_i, f in zip(v, h, centred, strict=True))
        total = total + share * (d @ np.linalg.inv(ridged) @ d)
    return total


@pytest.mark.parametrize("seed", range(3))
def test_share_and_slope_are_those_of_the_book(seed):
    T, compared, reader = drawn(seed)
    value, _, slope = separability(T, compared, reader, slope=True)
    assert value == pytest.approx(share_by_the_book(T, compared, reader), abs=1e-11)
    step = 1e-30
    for i, j in [(0, 0), (7, 1), (59, 2), (31, 0)]:
        nudged = T.astype(complex)
        nudged[i, j] += 1j * step
        expected = share_by_the_book(nudged, compared, reader).imag / step
        assert slope[i, j] == pytest.approx(expected, abs=1e-9)


def test_the_share_is_what_a_ridge_regression_explains():
    """Of one indicator without a ridge it is R^2."""
    T, compared, reader = drawn(n=400)
    one = Compared(compared.H[:, :1], np.ones(1), np.full(400, 1 / 400))
    one.H[:] = (one.H - one.H.mean()) / one.H.std()
    F = reader(T)[0]
    fitted = np.c_[np.ones(400), F] @ np.linalg.lstsq(np.c_[np.ones(400), F], one.H[:, 0])[0]
    value, null, _ = separability(T, one, reader, null=True)
    assert 0 < value <= fitted.var() + 1e-12
    assert null < F.shape[1] / 400


def test_the_null_is_what_shuffled_groups_give():
    T, compared, reader = drawn(n=500)
    rng, seen = np.random.default_rng(1), []
    compared = Compared(compared.H[:, :1], np.ones(1), np.full(500, 1 / 500))
    for _ in range(200):
        shuffled = Compared(rng.permutation(compared.H), compared.share, compared.weight)
        seen.append(separability(T, shuffled, reader)[0])
    null = separability(T, compared, reader, null=True)[1]
    assert np.mean(seen) == pytest.approx(null, abs=3 * np.std(seen) / np.sqrt(200) + 0.001)


def test_the_slope_of_squares_is_right():
    rng = np.random.default_rng(0)
    Z = rng.normal(size=(300, 5))
    z = rng.integers(2, size=300)
    Z[z == 1, 0] *= 3
    squares = _Squares.of(Z, Compared.of(Rows(Z, None, (Levels("z", (0, 1), z),))))
    A = np.linalg.qr(rng.normal(size=(5, 2)))[0]
    slope, step = squares.slope(A), 1e-6

    def value(A):
        return sum(
            0.5 * share * np.sum((A.T @ gap @ A) ** 2)
            for gap, share in zip(squares.gaps, squares.share, strict=True)
        )

    for i, j in [(0, 0), (3, 1)]:
        nudge = np.zeros_like(A)
        nudge[i, j] = step
        expected = (value(A + nudge) - value(A - nudge)) / (2 * step)
        assert slope[i, j] == pytest.approx(expected, rel=1e-4, abs=1e-8)


def rings(n=3000, seed=0, d=6):
    """Means and covariances of the first two columns are alike; their distributions are not."""
    rng = np.random.default_rng(seed)
    z = rng.integers(2, size=n)
    X = rng.normal(size=(n, d)) * np.linspace(2.0, 1.0, d)
    X[:, 0] = np.where(z == 1, rng.choice([-2.0, 2.0], size=n) + 0.2 * X[:, 0], X[:, 0])
    X[:, 0] *= np.where(z == 1, 2.0 / X[z == 1, 0].std(), 2.0 / X[z == 0, 0].std())
    X[:, 1] += z
    return X, z


def fitted(X, z, k, **options):
    moments = collect_moments(X, z)
    sample = Rows(X, None, (Levels("z", (0, 1), z),))
    return moments, *equalize_distributions(
        moments, k, sample, lambda B: (X - moments.mean) @ B, penalty=4.0, **options
    )


def test_a_direction_that_differs_in_shape_only_is_left_out():
    X, z = rings()
    moments, fair, seen = fitted(X, z, 3)
    assert_orthonormal(fair.basis)
    assert mean_gap(moments, fair) < 1e-10
    length, usual = (np.linalg.norm(b[0]) for b in (fair.basis, equalize_means(moments, 3).basis))
    assert length < 0.65 < 0.99 < usual
    assert seen.start > 2 * seen.null
    assert seen.value - seen.null < 0.1 * (seen.start - seen.null)


def test_the_scatter_is_that_of_the_rows():
    X, z = rings(n=600)
    _, fair, _ = fitted(X, z, 2)
    T = (X - X.mean(axis=0)) @ fair.basis
    np.testing.assert_allclose(T.T @ T, np.diag(fair.scatter), atol=1e-8 * fair.scatter[0])
    assert fair.scatter[0] >= fair.scatter[1]


def test_all_fair_directions_leave_nothing_to_choose():
    X, z = rings(n=600)
    moments, fair, seen = fitted(X, z, 5)
    best = equalize_means(moments, 5)
    np.testing.assert_allclose(fair.basis @ fair.basis.T, best.basis @ best.basis.T, atol=1e-10)
    assert seen.value == seen.start


def test_a_seed_gives_the_same_subspace_and_progress_is_told():
    X, z = rings(n=500)
    lines = []
    first = fitted(X, z, 2, seed=3, progress=lines.append)[1].basis
    np.testing.assert_array_equal(first, fitted(X, z, 2, seed=3)[1].basis)
    assert len(lines) == 2
    assert "readers explain" in lines[0]


def test_slopes_along_directions_that_are_whitened_are_those_of_small_steps():
    """Of a number that no linear map of the scores changes."""
    T, compared, _ = drawn(k=5)
    rng = np.random.default_rng(1)
    squares, C = (
        _Squares.of(T, compared),
        np.cov(rng.normal(size=(5, 40)) * [[1], [2], [3], [4], [5]]),
    )
    aim = _Targets(C, rng.normal(size=(5, 3)))
    A, D = np.linalg.qr(rng.normal(size=(5, 2)))[0], rng.normal(size=(5, 2))

    def value(A):
        V = aim.white(A)
        np.testing.assert_allclose(V.T @ C @ V, np.eye(2), atol=1e-6)
        inner = [V.T @ gap @ V for gap in squares.gaps]
        return 0.5 * sum(s * np.sum(M**2) for s, M in zip(squares.share, inner, strict=True))

    V = aim.white(A)
    slope = np.sum(aim.along(A, V, squares.slope(V)) * D)
    by_steps = (value(A + 1e-5 * D) - value(A - 1e-5 * D)) / 2e-5
    assert slope == pytest.approx(by_steps, rel=1e-4)
    kept, half = aim.kept(A)
    by_steps = (aim.kept(A + 1e-5 * D)[0] - aim.kept(A - 1e-5 * D)[0]) / 2e-5
    assert 2.0 * np.sum(half * D) == pytest.approx(by_steps, rel=1e-6)
    assert aim.kept(aim.start(2))[0] >= kept
