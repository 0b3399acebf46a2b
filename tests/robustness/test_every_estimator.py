"""Every estimator, on nasty data: refused in words, or certified; nothing else ever."""

import copy
from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils import get_tags

from fairpca import FairPCA, FairPLS, UsageError
from fairpca.errors import InfeasibleError
from optional_libraries import pandas as pd
from registry import ESTIMATORS, NASTY, fitted_once, small_rows
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


def dependent_features(kind, n=1600, seed=0):
    """Return rows of which some features are functions of others, and the groups they tell."""
    rng = np.random.default_rng(seed)
    z = rng.integers(2, size=n)
    a, b, c = rng.normal(size=(3, n)) + [[2.0], [0.5], [0.0]] * z
    blocks = [np.eye(3)[rng.integers(3, size=n) * z], np.eye(4)[rng.integers(4, size=n)]]
    X = {
        "copies": [a, a, b, c],
        "scaled copies": [20 + a, 2026 - a, 170 + 9 * b, 1700 + 90 * b, 70 + c, 7e4 + 1e3 * c],
        "sums": [a, b, c, a + b + c, 1e6 * (a - b), 1e-3 * (b - c)],
        "one-hot blocks": [*blocks[0].T, *blocks[1].T, a, c],
        "far from the origin": [1e6 + a, 3e6 + 3 * a, 1e6 + b, 1e3 - c],
        "the attribute itself": [a, 3.0 + 7 * z, b, c, 7.0 * z],
        "single precision": [20 + a, 2026 - a, 170 + 9 * b, 1700 + 90 * b, 70 + c],
        "wide": list(rng.normal(size=(150, 5)) @ [a, b, c, rng.normal(size=n), a - b]),
    }[kind]
    X = np.column_stack(X).astype(np.float32 if kind == "single precision" else float)
    return X, z, 100 if kind == "wide" else 400


DEPENDENT = [
    *("copies", "scaled copies", "sums", "one-hot blocks"),
    *("far from the origin", "the attribute itself", "single precision", "wide"),
]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("kind", DEPENDENT)
@pytest.mark.parametrize("name", ESTIMATORS)
def test_no_column_of_a_representation_is_rounding(name, kind):
    """Of two copies of a feature rounding was left, and a scaled model read the group from it."""
    promise = ESTIMATORS[name]
    X, z, n = dependent_features(kind)
    y = np.random.default_rng(1).integers(2, size=len(X))
    try:
        fitted = promise.made().fit(X[:n], y[:n], sensitive_features=z[:n])
    except InfeasibleError:
        return  # in words: asserted elsewhere
    T = fitted.transform(X).astype(float)
    counts, sizes = np.ptp(T, axis=0) > 0, T[:n].std(axis=0)
    terms = np.full(T.shape[1], sizes.max())
    if hasattr(fitted, "dual_components_") and hasattr(fitted, "components_"):
        seen = fitted._map.features(X[:n])  # the columns, and kernel values beside them
        terms = np.abs(fitted._map.matrix).T @ seen.std(axis=0)
    elif hasattr(fitted, "components_"):  # of a linear map, what a column adds up
        terms = np.abs(fitted._map.scaled_matrix).T @ X[:n].std(axis=0)
    elif T.shape == X.shape:
        terms = X[:n].std(axis=0)
    assert np.all(sizes[counts] > (1e-4 if X.dtype == np.float32 else 1e-8) * terms[counts])
    if not promise.fair:
        return
    # A scaled linear model of the group is at chance on new rows.
    compared = np.full(len(y), True)
    if getattr(fitted, "criterion", "") == "equal_opportunity":
        compared = y == 1
    T = T[:, : getattr(fitted, "n_components_", T.shape[1])]
    probe = make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000))
    probe.fit(T[:n][compared[:n]], z[:n][compared[:n]])
    right = np.mean(probe.predict(T[n:][compared[n:]]) == z[n:][compared[n:]])
    assert abs(right - 0.5) < 0.08


PLAIN = clone(ESTIMATORS["plain pca"].estimator).set_params(n_components=4)


@pytest.mark.parametrize("estimator", [FairPCA(3), FairPCA(3, scale=True), PLAIN])
def test_more_components_than_the_rows_have_are_refused_with_their_number(estimator):
    X, z, _ = dependent_features("copies")
    k, most = estimator.n_components, estimator.n_components - 1
    with pytest.raises(InfeasibleError, match=rf"={k} is too large: .* along {most} .* <= {most}"):
        estimator.fit(X, sensitive_features=z)
    assert (
        estimator.set_params(n_components=None).fit(X, sensitive_features=z).n_components_ == most
    )
    for share in (0.2, 0.999999) if k == 4 else (0.2,):
        few = estimator.set_params(n_components=share).fit(X, sensitive_features=z)
        assert few.n_components_ <= most


def test_no_number_of_components_is_refused_by_all_that_have_one():
    rows = np.random.default_rng(0).normal(size=(20, 4))
    for promise in (ESTIMATORS[name] for name in NASTY):
        if "n_components" in promise.made().get_params():
            estimator = promise.made().set_params(n_components=0)
            with pytest.raises(ValueError, match="n_components=0"):
                estimator.fit(rows, np.arange(20) // 10, sensitive_features=np.arange(20) % 2)


@pytest.mark.parametrize("name", ESTIMATORS)
def test_weights_on_a_representation_are_weights_on_the_columns_or_refused(name):
    estimator, (X, _, _), rng = fitted_once(name), small_rows(), np.random.default_rng(0)
    T = estimator.transform(X)
    m, k = 3, T.shape[1]
    coef, intercept = rng.normal(size=(m, k)), rng.normal(size=m)
    if getattr(estimator, "kernel", None) is not None:
        with pytest.raises(UsageError, match="not a linear function of the columns"):
            estimator.column_weights(coef, intercept)
        return
    weights, constant = estimator.column_weights(coef, intercept)
    assert weights.shape == (m, X.shape[1])
    assert constant.shape == (m,)
    size = np.abs(X) @ np.abs(weights.T) + np.abs(constant)
    differences = np.abs(X @ weights.T + constant - (T @ coef.T + intercept))
    assert (differences < 1e-13 * size).all()
    one, added = estimator.column_weights(coef[0].tolist(), float(intercept[0]))
    np.testing.assert_allclose(one, weights[0], rtol=1e-12)
    assert added == pytest.approx(constant[0])
    for wrong in (coef[:, 1:], coef[None], coef[0, 0]):
        with pytest.raises(UsageError, match=f"has {k} columns"):
            estimator.column_weights(wrong)
    with pytest.raises(UsageError, match="one number for each row"):
        estimator.column_weights(coef, intercept[1:])


@pytest.mark.parametrize("estimator", [FairPCA(2, scale=True), FairPLS(n_components=1)])
def test_weights_are_per_unit_of_a_column_scaled_inside(estimator):
    X, sex, y = small_rows()
    units, frame = 10.0 ** np.arange(-2, 4), pd.DataFrame(X, columns=list("abcdef"))
    frame["sex"] = sex
    estimator = clone(estimator).set_params(sensitive_columns=["sex"])
    before = estimator.fit(frame, y).column_weights(np.ones(estimator.transform(frame).shape[1]))
    frame[list("abcdef")] *= units
    after = estimator.fit(frame, y).column_weights(np.ones(estimator.transform(frame).shape[1]))
    np.testing.assert_allclose(after[0] * units, before[0], rtol=1e-6)
    np.testing.assert_allclose(after[1], before[1], rtol=1e-6)
