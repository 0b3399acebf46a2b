"""Every estimator, on nasty data: refused in words, or certified; nothing else ever."""

import copy
from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse
from hypothesis import given
from hypothesis import strategies as st
from sklearn.utils import get_tags

from registry import ESTIMATORS, NASTY
from robustness.certificates import (
    assert_certified,
    assert_same_numbers,
    fitted_or_refused,
    rows_that_count,
    size_of_rounding,
    transformed,
)
from robustness.effort import count, effort
from robustness.nasty_data import CONTAINERS, nasty_data
from robustness.nasty_features import ORDINARY_UNITS


def spoil(X):
    """Overwrite what the caller holds, where that is possible."""
    if scipy.sparse.issparse(X):
        X.data[:] = 7.0
    elif isinstance(X, np.ndarray) and X.flags.writeable:
        X[:] = 7.0


@pytest.mark.parametrize("name", NASTY)
@effort(12)
@given(data=nasty_data())
def test_a_fit_is_refused_in_words_or_certified(name, data):
    promise = ESTIMATORS[name]
    before = copy.deepcopy(data.X)
    estimator, told = fitted_or_refused(promise.made(), data)
    assert_same_numbers(data.X, before)
    count(name, "refused" if estimator is None else "fitted")
    if estimator is not None:
        assert_certified(estimator, promise, data, told)
        assert_same_numbers(data.X, before)


@pytest.mark.parametrize("name", NASTY)
@effort(3)
@given(data=nasty_data(weighted=False))
def test_what_was_learned_does_not_change_when_the_callers_rows_do(name, data):
    estimator, _ = fitted_or_refused(ESTIMATORS[name].made(), data)
    if estimator is None:
        return
    first, before = transformed(estimator, data), copy.deepcopy(data.X)
    spoil(data.X)
    again = transformed(estimator, replace(data, X=before))
    np.testing.assert_array_equal(again, first)


@pytest.mark.filterwarnings("ignore:X (has|does not have valid) feature names")
@pytest.mark.parametrize("name", NASTY)
@effort(4)
@given(
    data=nasty_data(containers=[np.array], units=ORDINARY_UNITS),
    container=st.sampled_from([c for c in CONTAINERS if "single" not in c.__name__]),
)
def test_rows_are_transformed_alike_in_any_container(name, data, container):
    estimator, _ = fitted_or_refused(ESTIMATORS[name].made(), data)
    if estimator is None or not rows_that_count(estimator, data).all():
        return
    expected, other = transformed(estimator, data), replace(data, X=container(data.rows))
    if scipy.sparse.issparse(other.X) and not get_tags(estimator).input_tags.sparse:
        with pytest.raises(TypeError, match="Sparse data was passed"):
            transformed(estimator, other)
        return
    found = transformed(estimator, other)
    off = size_of_rounding(estimator, expected, data) + 1e-13 * np.abs(expected).max()
    assert np.all(np.abs(found - expected).max(axis=0) <= np.resize(off, found.shape[1]))
    count(f"containers of {name}", "compared")


def test_no_number_of_components_is_refused_by_all_that_have_one():
    rows = np.random.default_rng(0).normal(size=(20, 4))
    for promise in (ESTIMATORS[name] for name in NASTY):
        if "n_components" in promise.made().get_params():
            estimator = promise.made().set_params(n_components=0)
            with pytest.raises(ValueError, match="n_components=0"):
                estimator.fit(rows, np.arange(20) // 10, sensitive_features=np.arange(20) % 2)
