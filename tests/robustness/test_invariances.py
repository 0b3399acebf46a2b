"""What must not matter does not: units, origin, order, names of groups, rows counted twice."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairpca.errors import ResidualWarning
from registry import ESTIMATORS
from robustness import nasty_features, nasty_groups
from robustness.certificates import fitted_or_refused, transformed
from robustness.effort import count, effort
from robustness.nasty_data import nasty_data

TAME = [
    nasty_features.plain,
    nasty_features.correlated,
    nasty_features.zeros_and_ones,
    nasty_features.duplicated_columns,
    nasty_features.a_constant_column,
    nasty_features.mostly_empty,
    nasty_features.mixed_units,
]
FAIR = ["all components", "one component", "scaled", "missing ignored", "joint groups"]
FAIR += ["equal opportunity", "equalized odds", "spectral covariances"]
ERASERS = ["leace", "mean projection", "sal"]
LINEAR = [*FAIR, *ERASERS, "plain pca"]
UNITLESS_KERNELS = ["rbf kernel", "cosine kernel", "linear kernel", "kernel sal"]
KERNELS = [*UNITLESS_KERNELS, "laplacian kernel"]
"""A laplacian kernel of distances has a gamma of squares, so units do matter to it."""

ordinary = nasty_data(
    containers=[np.array],
    kinds=[k for k in nasty_groups.LEVELS if k is not nasty_groups.two_hundred],
    shapes=TAME,
    units=nasty_features.ORDINARY_UNITS,
    weighted=False,
)


def rearranged(data, X=None, order=None, weight=None):
    """Return the same people with other numbers, in another order, or with weights."""
    X = data.rows if X is None else X
    order = np.arange(len(X)) if order is None else order
    sensitive = {name: [c.given[i] for i in order] for name, c in data.columns.items()}
    return replace(
        data, X=X[order], rows=X[order], sensitive=sensitive, y=data.y[order], weight=weight
    )


def answer(name, data):
    """Return what is the same for the same question, without signs and bases; None if refused.

    Shares of the variance; of erasers, what becomes of the rows. A kernel to which rows look so
    alike that a `ResidualWarning` tells of it, or with no more variance than rounding, has none.
    """
    estimator, told = fitted_or_refused(ESTIMATORS[name].made(), data)
    if estimator is None:
        return None
    if name in KERNELS:
        share = estimator.explained_variance_ratio_.max()
        if share < 1e-9 or any(w.category is ResidualWarning for w in told):
            return None
    if name in ERASERS:
        return transformed(estimator, data)
    return np.asarray(estimator.explained_variance_ratio_)


def assert_same_answer(name, data, other, undo=np.asarray):
    """Both are refused, or both have the same answer; `undo` takes erased rows back."""
    rows = rearranged(data)
    one, two = answer(name, rows), answer(name, other)
    if name not in KERNELS:  # where rows look nearly alike, rounding decides
        assert (one is None) == (two is None)
    count(f"invariances of {name}", "refused" if one is None else "compared")
    if one is None or two is None:
        return
    if name in ERASERS:
        # Whitening magnifies rounding where groups lie further apart than they are wide.
        size = np.abs(rows.X).max() * max(1.0, data.made_of["gap"])
        np.testing.assert_allclose(undo(two), one, rtol=0, atol=1e-9 * size)
    else:
        np.testing.assert_allclose(two, one, rtol=0, atol=1e-9)


@pytest.mark.parametrize("name", [*LINEAR, *UNITLESS_KERNELS])
@effort(3)
@given(data=ordinary, power=st.sampled_from([-150, -20, 3, 150]))
def test_units_do_not_matter(name, data, power):
    """Powers of two change no digit of the data."""
    factor = 2.0**power
    other = rearranged(data, data.rows * factor)
    assert_same_answer(name, data, other, undo=lambda T: T / factor)


@pytest.mark.parametrize("name", LINEAR)
@effort(3)
@given(data=ordinary, far=st.sampled_from([1.0, 256.0]))
def test_the_origin_does_not_matter(name, data, far):
    step = far * np.abs(data.rows).max(axis=0)
    other = rearranged(data, data.rows + step)
    assert_same_answer(name, data, other, undo=lambda T: T - step)


@pytest.mark.parametrize("name", [*LINEAR, *KERNELS])
@effort(3)
@given(data=ordinary, seed=st.integers(0, 99))
def test_the_order_of_the_rows_does_not_matter(name, data, seed):
    order = np.random.default_rng(seed).permutation(len(data.rows))
    other = rearranged(data, order=order)
    assert_same_answer(name, data, other, undo=lambda T: T[np.argsort(order)])


UNBIASED = ["spectral covariances"]
"""Divides by n - 1, in which a row of weight two is one row."""


@pytest.mark.parametrize("name", sorted({*LINEAR, *KERNELS} - {*UNBIASED}))
@effort(3)
@given(data=ordinary)
def test_rows_that_come_twice_are_rows_of_weight_two(name, data):
    n, d = data.rows.shape
    if n <= d < 2 * n and name not in ERASERS:
        return  # a matrix for one, rows for the other: not the same number of components
    twice = rearranged(data, order=np.r_[np.arange(n), np.arange(n)])
    weighted = rearranged(data, weight=np.full(n, 2.0))
    one, two = answer(name, twice), answer(name, weighted)
    if name not in KERNELS:  # where rows look nearly alike, rounding decides
        assert (one is None) == (two is None)
    if one is not None and two is not None:
        size = np.abs(data.rows).max() if name in ERASERS else 1.0
        np.testing.assert_allclose(one[: len(two)], two, rtol=0, atol=1e-9 * size)


@pytest.mark.parametrize("name", [*LINEAR, *KERNELS])
@effort(3)
@given(data=ordinary)
def test_what_groups_are_called_does_not_matter(name, data):
    renamed = {
        key: [None if c < 0 else f"group {(c * 7 + 3) % 1009}" for c in column.truth]
        for key, column in data.columns.items()
    }
    assert_same_answer(name, data, replace(rearranged(data), sensitive=renamed))
