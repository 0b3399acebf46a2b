"""Features nobody would choose: constant, duplicated, tiny, huge, empty, in mixed units."""

import numpy as np
from hypothesis import strategies as st


def plain(rng, n, d):
    return rng.normal(size=(n, d))


def correlated(rng, n, d):
    return plain(rng, n, d) @ rng.normal(size=(d, d))


def duplicated_rows(rng, n, d):
    return plain(rng, max(1, n // 3), d)[rng.integers(0, max(1, n // 3), n)]


def duplicated_columns(rng, n, d):
    return plain(rng, n, 1).repeat(d, axis=1)


def a_constant_column(rng, n, d):
    X = plain(rng, n, d)
    X[:, -1] = 0.1
    return X


def all_rows_alike(rng, n, d):
    return plain(rng, 1, d).repeat(n, axis=0)


def all_zero(rng, n, d):
    return np.zeros((n, d))


def mostly_empty(rng, n, d):
    """Counts: most rows have no entry at all."""
    return rng.poisson(2.0, size=(n, d)) * (rng.random((n, 1)) < 0.4) * 1.0


def one_outlier(rng, n, d):
    X = plain(rng, n, d)
    X[0, 0] = 1e8
    return X


def far_away(rng, n, d):
    return plain(rng, n, d) + 1e6 * rng.normal(size=d)


def very_far_away(rng, n, d):
    return plain(rng, n, d) + 1e14


def mixed_units(rng, n, d):
    """Six orders of magnitude between the columns: salaries beside shares."""
    return plain(rng, n, d) * np.logspace(-3, 3, d)


def wildly_mixed_units(rng, n, d):
    """Twelve orders of magnitude between the columns."""
    return plain(rng, n, d) * np.logspace(6, -6, d)


def absurdly_mixed_units(rng, n, d):
    return plain(rng, n, d) * np.logspace(-140, 140, d)


def zeros_and_ones(rng, n, d):
    return (rng.random((n, d)) < 0.5) * 1.0


SHAPES = [
    plain,
    correlated,
    zeros_and_ones,
    duplicated_rows,
    duplicated_columns,
    a_constant_column,
    all_rows_alike,
    all_zero,
    mostly_empty,
    one_outlier,
    far_away,
    very_far_away,
    mixed_units,
    wildly_mixed_units,
    absurdly_mixed_units,
]

ORDINARY_UNITS = [1.0, 1e-3, 1e6]
UNITS = [*ORDINARY_UNITS, 1e-12, 1e12, 1e-40, 1e40]
UNITS += [10.0**e for e in (-100, 100, -150, 150, -165, 165)]
UNITS += [1e-310, 1e300]
"""Squares of rows in units of 1e-165 underflow, of 1e165 overflow; 1e-310 is denormal."""

SIZES = [(12, 3), (2, 1), (2, 2), (3, 1), (2, 7), (5, 5), (7, 2), (6, 20), (30, 4), (60, 8)]
"""Numbers of rows and of features; the first is the simplest."""


def features(shape, seed, n, d, unit, shift):
    """Return rows; those of the groups (`shift` has a row for each) lie apart."""
    X = shape(np.random.default_rng(seed), n, d)
    spread = X.std(axis=0)
    varies = spread > 1e-10 * np.abs(X).max(axis=0)  # the mean of equal numbers is rounded
    with np.errstate(over="ignore"):
        return (X + shift * np.where(varies, spread, 0.0)) * unit


seeds = st.integers(0, 2**16)
