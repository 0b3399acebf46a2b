"""Checks that raise. Subspaces are compared by projectors: eigenvectors rotate and flip."""

import numpy as np
import pytest


def assert_same_subspace(U, V, atol=1e-8):
    np.testing.assert_allclose(U @ U.T, V @ V.T, atol=atol)


def assert_orthonormal(U, atol=1e-12):
    np.testing.assert_allclose(U.T @ U, np.eye(U.shape[1]), atol=atol)


def group_means(T, z, weight=None):
    w = np.ones(len(T)) if weight is None else weight
    return np.array([np.average(T[z == g], axis=0, weights=w[z == g]) for g in np.unique(z)])


def assert_equal_group_means(T, z, weight=None, rtol=1e-9):
    """Group means differ by at most `rtol` standard deviations."""
    spread = np.sqrt(
        np.average((T - np.average(T, axis=0, weights=weight)) ** 2, axis=0, weights=weight)
    )
    gap = np.ptp(group_means(T, z, weight), axis=0)
    assert np.all(gap <= rtol * np.maximum(spread, spread.max() * 1e-6)), (gap / spread).max()


def assert_uncorrelated(T, values, weight=None, rtol=1e-9):
    w = np.ones(len(T)) if weight is None else weight
    v = values - np.average(values, weights=w)
    T = T - np.average(T, axis=0, weights=w)
    correlation = (w * v) @ T / np.sqrt((w @ v**2) * (w @ T**2))
    assert np.abs(correlation).max() <= rtol, np.abs(correlation).max()


def assert_no_feasible_direction_does_better(S, U, R, rtol=1e-8):
    """Certificate of optimality inside the span of R, without looking at how U was found.

    U is invariant under the restricted scatter, and every feasible direction orthogonal to U has
    at most the variance of the weakest column of U.
    """
    restricted = R.T @ S @ R
    L = R.T @ U
    inner = L.T @ restricted @ L
    scale = np.linalg.norm(S, 2)
    np.testing.assert_allclose(restricted @ L, L @ inner, atol=rtol * scale)
    rest = restricted - L @ inner @ L.T
    assert np.linalg.eigvalsh(rest)[-1] <= np.linalg.eigvalsh(inner)[0] + rtol * scale


def assert_close(actual, expected, scale, rtol=1e-9):
    np.testing.assert_allclose(np.asarray(actual), expected, atol=rtol * scale)


def assert_same_moments(a, b, scale=1.0, rtol=1e-9, weight=1.0):
    """Equal up to rounding, with features of size `scale`, and weights of b times `weight`."""
    n = a.weight
    assert a.n_rows == b.n_rows
    assert n == pytest.approx(weight * b.weight)
    assert_close(a.mean, b.mean, scale, rtol)
    squares = weight * np.asarray(b.scatter.dense().matrix)
    assert_close(a.scatter.dense().matrix, squares, n * scale**2, rtol)
    of_b = {(x.name, x.stratum): x for x in b.attributes}
    assert {(x.name, x.stratum) for x in a.attributes} == of_b.keys()
    for x in a.attributes:
        y = of_b[x.name, x.stratum]
        assert type(x) is type(y)
        if hasattr(x, "value_mean"):
            assert x.count == y.count
            assert x.weight == pytest.approx(weight * y.weight)
            assert x.value_mean == pytest.approx(y.value_mean, abs=1e-9 * max(1, scale))
            assert x.value_scatter == pytest.approx(weight * y.value_scatter)
            assert_close(x.cross, weight * np.asarray(y.cross), n * scale * max(1, scale), rtol)
            assert_close(x.total, weight * np.asarray(y.total), n * scale, rtol)
            continue
        y = y.with_labels(x.labels)
        np.testing.assert_array_equal(x.count, y.count)
        np.testing.assert_allclose(x.weight, weight * y.weight)
        assert_close(x.total, weight * np.asarray(y.total), n * scale, rtol)
        for s, t in zip(x.scatters or (), y.scatters or (), strict=True):
            squares = weight * np.asarray(t.dense().matrix)
            assert_close(s.dense().matrix, squares, n * scale**2, rtol)
