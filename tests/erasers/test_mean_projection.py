"""Mean projection, and what all erasers promise."""

import numpy as np
import pytest
import scipy.sparse
from hypothesis import assume, given
from hypothesis import strategies as st
from sklearn.linear_model import LinearRegression

from assertions import assert_equal_group_means
from fairpca import FairPCA, erasers
from fairpca.erasers import LEACE, SAL, KernelSAL, MeanProjection
from fairpca.errors import InfeasibleError, SingleGroupError
from optional_libraries import torch
from oracles import fair_null_space, indicator_matrix
from registry import ESTIMATORS
from strategies import grouped_rows

FAIR = {type(known.estimator) for known in ESTIMATORS.values() if known.fair}
EXPORTED = [getattr(erasers, name) for name in erasers.__all__]
ERASERS = [one for one in EXPORTED if one in FAIR and one is not KernelSAL]
"""Those that remove all directions between means, and keep the columns."""

EPS = np.finfo(float).eps


def centred(A, weight):
    return A - (weight @ A) / weight.sum()


def correlations_left(T, X, columns, weight):
    """Covariance of erased features with attributes, in standard deviations of both as given.

    Not of the erased feature: of one that is a function of an attribute only rounding is left.
    """
    Z = centred(indicator_matrix(*columns.values()), weight)
    Z /= np.sqrt(weight @ Z**2)
    spread = np.sqrt(weight @ centred(X, weight) ** 2)
    return (Z * weight[:, None]).T @ centred(T, weight) / np.where(spread > 0, spread, 1.0)


def rounding_of(T, X, eraser, weight):
    """Size of rounding errors in entries of T, over the spread: digits go to the distance from 0.

    A projection that changes rows a lot (its norm in units of spread) multiplies them.
    """
    spread = np.sqrt(weight @ centred(X, weight) ** 2 / weight.sum())
    far = 1 + np.max(np.abs(np.vstack([X, T])).max(axis=0) / np.where(spread > 0, spread, np.inf))
    matrix = getattr(eraser, "components_", np.eye(1))
    scale = np.where(spread > 0, spread, 1.0) if len(matrix) == X.shape[1] else np.ones(1)
    size = np.linalg.norm(matrix / scale[:, None] * scale, 2)
    return 32 * EPS * far * max(size, 1.0)  # 0, where all that is left is the mean


@pytest.mark.parametrize("Eraser", ERASERS)
@given(data=grouped_rows(weights=True), power=st.sampled_from([0, 3, 6]), seed=st.integers(0, 999))
def test_no_attribute_correlates_with_an_erased_feature(Eraser, data, power, seed):
    """Far from the origin, nested, weighted, tiny groups, units of 1e-6 next to 1e6."""
    X, columns, weight = data
    rng = np.random.default_rng(seed)
    X = X * 10.0 ** (power * rng.choice([-1, 0, 1], X.shape[1]))
    y = rng.normal(size=len(X))
    eraser = Eraser()
    try:
        T = eraser.fit_transform(X, y, sensitive_features=columns, sample_weight=weight)
    except InfeasibleError:
        assume(False)
    left = np.abs(correlations_left(T, X, columns, weight)).max()
    assert left <= rounding_of(T, X, eraser, weight)


@pytest.fixture
def people():
    rng = np.random.default_rng(0)
    z = rng.integers(0, 3, 400)
    X = rng.normal(size=(400, 6)) @ rng.normal(size=(6, 6)) + rng.normal(size=(3, 6))[z] + 5
    y = X[:, 0] + rng.normal(size=400)
    return X, y, {"z": z, "v": rng.normal(size=400) + X[:, 1]}


@pytest.mark.parametrize("Eraser", ERASERS)
def test_rows_stay_around_their_mean_in_their_own_units(Eraser, people):
    X, y, columns = people
    T = Eraser().fit_transform(X, y, sensitive_features=columns)
    assert T.shape == X.shape
    np.testing.assert_allclose(T.mean(axis=0), X.mean(axis=0), rtol=1e-12)
    assert np.corrcoef(T.ravel(), X.ravel())[0, 1] > 0.3  # the same quantities, not any rotation


@pytest.mark.parametrize("Eraser", ERASERS)
def test_erasing_twice_is_erasing_once(Eraser, people):
    X, y, columns = people
    eraser = Eraser().fit(X, y, sensitive_features=columns)
    T = eraser.transform(X)
    np.testing.assert_allclose(eraser.transform(T), T, atol=1e-11)
    assert eraser.n_directions_ == 3  # three groups, one number
    assert np.linalg.matrix_rank(eraser.components_, tol=1e-9) == 3


@pytest.mark.parametrize("Eraser", ERASERS)
def test_batches_in_any_order_give_the_same_eraser(Eraser, people):
    X, y, columns = people
    batched = Eraser()
    for i in (2, 0, 1, 3):
        part = {name: column[i::4] for name, column in columns.items()}
        batched.partial_fit(X[i::4], y[i::4], sensitive_features=part)
    expected = Eraser().fit(X, y, sensitive_features=columns)
    np.testing.assert_allclose(batched.components_, expected.components_, atol=1e-10)
    np.testing.assert_allclose(batched.transform(X), expected.transform(X), atol=1e-10)


@pytest.mark.parametrize("Eraser", ERASERS)
def test_sparse_rows_give_the_same_eraser(Eraser):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(200, 8)) * (rng.random((200, 8)) < 0.2)
    z, y = rng.integers(0, 2, 200), rng.normal(size=200)
    X[:, 0] += z
    sparse = Eraser().fit_transform(scipy.sparse.csr_array(X), y, sensitive_features=z)
    dense = Eraser().fit_transform(X, y, sensitive_features=z)
    np.testing.assert_allclose(sparse, dense, atol=1e-12)
    assert_equal_group_means(sparse, z)


@pytest.mark.parametrize("Eraser", ERASERS)
def test_more_features_than_rows_are_erased_too(Eraser):
    rng = np.random.default_rng(2)
    X, z, y = rng.normal(size=(30, 80)) + 3, rng.integers(0, 3, 30), rng.normal(size=30)
    X[:, :10] += z[:, None]
    T = Eraser().fit_transform(X, y, sensitive_features=z)
    assert_equal_group_means(T, z)
    assert T.var(axis=0).sum() > 0.5 * X.var(axis=0).sum()


@pytest.mark.parametrize("Eraser", ERASERS)
def test_a_feature_that_repeats_another_is_erased_with_it(Eraser):
    rng = np.random.default_rng(3)
    z, y = rng.integers(0, 2, 100), rng.normal(size=100)
    X = rng.normal(size=(100, 3)) + z[:, None]
    X = np.column_stack([X, X[:, 0], np.full(100, 7.0)])
    T = Eraser().fit_transform(X, y, sensitive_features=z)
    assert_equal_group_means(T[:, :4], z)
    np.testing.assert_allclose(T[:, 3], T[:, 0], atol=1e-12)
    np.testing.assert_allclose(T[:, 4], 7.0, rtol=1e-12)


def test_linear_models_without_regularisation_see_the_same_after_each_of_them(people):
    """All remove the same directions; a model that can undo the rest predicts the same."""
    X, y, columns = people
    target = np.sin(X[:, 2]) + X[:, 3]
    predictions = []
    for eraser in (*(Eraser() for Eraser in ERASERS), FairPCA()):
        T = eraser.fit_transform(X, y, sensitive_features=columns)
        predictions.append(LinearRegression().fit(T, target).predict(T))
    for other in predictions[1:]:
        np.testing.assert_allclose(other, predictions[0], atol=1e-9)


@pytest.mark.parametrize("Eraser", ERASERS)
def test_if_all_directions_give_the_groups_away_nothing_can_be_left(Eraser):
    rng = np.random.default_rng(4)
    z = rng.integers(0, 4, 100)
    with pytest.raises(InfeasibleError, match="Nothing is left"):
        Eraser().fit(rng.normal(size=(100, 3)), rng.normal(size=100), sensitive_features=z)


@pytest.mark.parametrize("Eraser", ERASERS)
def test_one_group_alone_is_refused(Eraser):
    rng = np.random.default_rng(5)
    with pytest.raises(SingleGroupError, match="only the level 'f'"):
        Eraser().fit(rng.normal(size=(9, 3)), rng.normal(size=9), sensitive_features=["f"] * 9)


@given(grouped_rows(min_features=7, max_features=9, weights=True))
def test_mean_projection_is_the_projection_onto_the_null_space_of_the_mean_differences(data):
    X, columns, weight = data
    R = fair_null_space(X, *columns.values(), weight=weight)
    eraser = MeanProjection().fit(X, sensitive_features=columns, sample_weight=weight)
    np.testing.assert_allclose(eraser.components_, R @ R.T, atol=1e-7)


def test_two_groups_lose_the_line_through_their_means():
    rng = np.random.default_rng(6)
    z = rng.integers(0, 2, 300)
    X = rng.normal(size=(300, 4)) + np.outer(z, [1.0, 2.0, 0.0, -1.0])
    line = X[z == 1].mean(axis=0) - X[z == 0].mean(axis=0)
    line /= np.linalg.norm(line)
    T = MeanProjection().fit_transform(X, sensitive_features=z)
    np.testing.assert_allclose(T, X - np.outer((X - X.mean(axis=0)) @ line, line), atol=1e-12)


@pytest.mark.parametrize("method", [MeanProjection, LEACE, SAL])
def test_a_change_of_rank_r_is_kept_and_applied_as_one(method):
    """What is learned grows with d, not with d * d, and no matrix of d * d is there to apply it."""
    rng = np.random.default_rng(0)
    n, d = 2_000, 300
    z = rng.integers(0, 3, n)
    X = rng.normal(size=(n, d)) + z[:, None] * rng.normal(size=d)
    eraser = method().fit(X, sensitive_features=z)
    stored = [a for name, a in vars(eraser).items() if isinstance(a, np.ndarray)]
    stored += [a for a in vars(eraser._map).values() if isinstance(a, np.ndarray)]
    assert max(a.size for a in stored) <= 2 * d
    assert eraser.components_.shape == (d, d)
    expected = (X - eraser.mean_) @ eraser.components_.T + eraser.mean_
    for rows in (slice(None), slice(5)):
        np.testing.assert_allclose(eraser.transform(X[rows]), expected[rows], atol=1e-10)
    sparse = scipy.sparse.csr_array(X)
    np.testing.assert_allclose(eraser.transform(sparse), expected, atol=1e-10)


@pytest.mark.parametrize("dtype", [bool, np.int64, np.int8, np.float32, np.float64])
@pytest.mark.parametrize("method", [*ERASERS, FairPCA], ids=lambda one: one.__name__)
@pytest.mark.parametrize("m", [2, 4, 30])
def test_groups_may_be_given_one_hot(m, method, dtype):
    """As concept-erasure takes them: a column for each group."""
    rng = np.random.default_rng(m)
    z = rng.integers(0, m, 300)
    X, y = rng.normal(size=(300, m + 5)) + rng.normal(size=(m, m + 5))[z], rng.normal(size=300)
    one_hot = (z[:, None] == np.arange(m)).astype(dtype)
    found = method().fit(X, y, sensitive_features=one_hot)
    expected = method().fit(X, y, sensitive_features=z.astype(str))
    np.testing.assert_allclose(found.transform(X), expected.transform(X), atol=1e-10)
    removed = "constraint_rank_" if method is FairPCA else "n_directions_"
    assert getattr(found, removed) == getattr(expected, removed) == m - 1


@pytest.mark.parametrize("dtype", ["bool", "int64", "uint8", "float32", "float64", "bfloat16"])
@pytest.mark.parametrize("method", [LEACE, MeanProjection, FairPCA], ids=lambda one: one.__name__)
def test_groups_may_be_one_hot_tensors(method, dtype):
    rng = np.random.default_rng(0)
    z = rng.integers(0, 3, 300)
    X = torch.from_numpy(rng.normal(size=(300, 7)) + rng.normal(size=(3, 7))[z])
    one_hot = torch.nn.functional.one_hot(torch.from_numpy(z)).to(getattr(torch, dtype))
    found = method().fit(X, sensitive_features=one_hot).transform(X)
    expected = method().fit(X, sensitive_features=z).transform(X)
    assert isinstance(found, torch.Tensor)
    torch.testing.assert_close(found, expected, rtol=0, atol=1e-10)
