"""Rows in float32 whose spectrum decays, as those of embeddings do, keep all that they say."""

from unittest import mock

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assertions import assert_equal_group_means
from fairpca import FairKernelPCA, FairPCA, FairPLS, erasers
from fairpca._moments import accumulate
from fairpca.errors import InfeasibleError
from fairpca.estimators import PlainPCA, _finite_moments
from fairpca.moments import collect_moments
from optional_libraries import array_api_strict

ROUNDED = 1e-5
"""What rounding of float32 rows leaves of group differences, in standard deviations."""


def rotated(X, rng):
    return X @ np.linalg.qr(rng.normal(size=(X.shape[1], X.shape[1])))[0]


def decaying(n, d, power, seed=0):
    """Return rows whose j-th direction has the deviation j^-power, and two groups."""
    rng = np.random.default_rng(seed)
    X = rotated(rng.normal(size=(n, d)) * np.arange(1.0, d + 1.0) ** -power, rng)
    z = rng.integers(0, 2, n)
    X[:, 0] += 0.3 * z * X[:, 0].std()
    return X.astype("float32"), z


def embeddings(n=300, d=32):
    """Rows of unit length, two dimensions of which are dead."""
    rng = np.random.default_rng(1)
    X = rotated(rng.normal(size=(n, d)) * np.arange(1.0, d + 1.0) ** -0.6, rng)
    z = rng.integers(0, 2, n)
    X[:, 3] += 0.5 * z * X[:, 3].std()
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    X[:, [7, 20]] = 1e-33 * (rng.normal(size=(n, 2)) + 0.5 * z[:, None])
    return X.astype("float32"), z


def activations(n=60, d=200):
    """More features than rows, a few of which are a thousand times as large."""
    rng = np.random.default_rng(2)
    X, z = rng.normal(size=(n, d)), rng.integers(0, 2, n)
    X[:, 3] += 0.5 * z
    X[:, [10, 77, 100]] = 1000.0 * X[:, [10, 77, 100]] + 3000.0
    return X.astype("float32"), z


def pixels(n=500, side=8):
    """Whole numbers from 0 to 255 that hardly differ from their neighbours."""
    rng = np.random.default_rng(3)
    at, z = np.linspace(0.0, np.pi, side), rng.integers(0, 2, n)
    waves = [np.outer(np.cos(a * at), np.cos(b * at)).ravel() for a in range(4) for b in range(3)]
    X = 128.0 + 20.0 * rng.normal(size=(n, 12)) @ waves + 10.0 * np.outer(z, waves[1])
    return np.clip(np.rint(X + rng.normal(size=X.shape)), 0, 255).astype("uint8"), z


def in_batches(X, z, size):
    fair = FairPCA(None)
    for start in range(0, len(X), size):
        rows = slice(start, start + size)
        fair.partial_fit(X[rows], sensitive_features=z[rows])
    return fair


WAYS = {
    "fit": lambda X, z: FairPCA(None).fit(X, sensitive_features=z),
    "another library": lambda X, z: FairPCA(None).fit(
        array_api_strict.asarray(X), sensitive_features=z
    ),
    "moments": lambda X, z: FairPCA(None).fit_moments(collect_moments(X, z)),
    "batches": lambda X, z: in_batches(X, z, 1 + len(X) // 3),
    "small batches": lambda X, z: in_batches(X, z, 1 + X.shape[1] // 3),
    "no groups": lambda X, z: PlainPCA(None).fit(X),
}


@st.composite
def rows_in_float64(draw):
    """Rows of a spectrum, down to what float32 has some digits of; copies, sums, dead features."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n, d = draw(st.sampled_from([(60, 8), (90, 30), (12, 40), (40, 41)]))
    X = rng.normal(size=(n, d)) * np.geomspace(1.0, 10.0 ** -draw(st.integers(0, 5)), d)
    X = rotated(X, rng) if draw(st.booleans()) else X
    X += draw(st.sampled_from([0.0, 1.0])) * X.std(axis=0)
    z = np.arange(n) % 2
    X[:, 0] += z * X[:, 0].std()
    more = {
        "nothing": X[:, :0],
        "a copy": X[:, :1],
        "other units": 3.0 * X[:, :1] + 0.1,
        "a sum": X.sum(axis=1, keepdims=True),
        "a constant": np.full((n, 1), 3.3),
        "a dead feature": 1e-33 * rng.normal(size=(n, 1)),
    }
    X = np.hstack([X, more[draw(st.sampled_from(sorted(more)))]])
    return X * draw(st.sampled_from([1e-12, 1.0, 1e12])), z


@pytest.mark.filterwarnings("ignore::fairpca.errors.UnscaledWarning")
@given(rows_in_float64(), st.sampled_from(sorted(WAYS)))
def test_float32_copies_keep_as_many_components(rows, way):
    X, z = rows
    exact, rounded = (WAYS[way](X.astype(dtype), z) for dtype in ("float64", "float32"))
    assert rounded.n_components_ == exact.n_components_


@pytest.mark.parametrize("way", sorted(WAYS))
@pytest.mark.parametrize(("n", "d"), [(400, 60), (100, 150)])
def test_all_directions_are_kept(n, d, way):
    """Of 383 there were 75 left, of 1,997 20, and twice as many were refused."""
    X, z = decaying(n, d, 1.5)
    fair = WAYS[way](X, z)
    assert fair.n_components_ == min(n - 1, d) - (way != "no groups")
    if way != "no groups":
        # Where a component has little variance, rounding of rows as a whole shows.
        smallest = fair.transform(X.astype("float64")).std(axis=0).min() / X.std()
        assert_equal_group_means(fair.transform(X.astype("float64")), z, rtol=1e-12 / smallest)


@pytest.mark.parametrize("dtype", ["uint8", "float32"])
@pytest.mark.parametrize("made", [embeddings, activations, pixels])
@pytest.mark.parametrize(
    "estimator",
    [
        FairPCA(10),
        FairPCA(10, scale=True),
        FairPCA(3, match="covariances", covariance_method="spectral"),
        FairPLS(),
        erasers.MeanProjection(),
        erasers.LEACE(),
        erasers.SAL(),
        erasers.SPLINCE(),
        FairKernelPCA(3),
        FairKernelPCA(3, approximation="nystroem", n_landmarks=20, random_state=0),
    ],
    ids=repr,
)
@pytest.mark.filterwarnings("ignore::fairpca.errors.UnscaledWarning")
def test_what_models_and_cameras_give_is_taken(estimator, made, dtype):
    """Dead dimensions of embeddings were refused, to be left out."""
    X, z = made()
    if X.dtype != dtype and dtype == "uint8":
        pytest.skip("these are no whole numbers")
    X = X.astype(dtype)
    y = np.asarray(X[:, 1] > np.median(X[:, 1]), dtype=int)
    T = estimator.fit(X, y, sensitive_features=z).transform(X)
    assert_equal_group_means(T.astype("float64"), z, rtol=ROUNDED)


@pytest.mark.parametrize("eraser", [erasers.MeanProjection(), erasers.LEACE(), erasers.SAL()])
def test_a_dead_dimension_shows_no_group_either(eraser):
    X, z = embeddings()
    T = eraser.fit(X, sensitive_features=z).transform(X).astype("float64")
    assert np.abs(T[:, 7]).max() < 1e-31
    gap = T[z == 1].mean(axis=0) - T[z == 0].mean(axis=0)
    assert np.all(np.abs(gap) < ROUNDED * T.std(axis=0))


@pytest.mark.parametrize("factor", [1e-35, 1e-20, 1e20, 1e30])
def test_units_that_squares_in_single_precision_have_no_number_for(factor):
    X, z = decaying(200, 10, 0.7)
    plain, scaled = (FairPCA(3).fit(A, sensitive_features=z) for A in (X, X * np.float32(factor)))
    np.testing.assert_allclose(scaled.components_, plain.components_, atol=1e-5)


def passes(estimator, X, z):
    """Return how often rows are added up, and in how many of these in double precision."""
    seen = []

    def counted(rows, **how):
        seen.append(rows.double)
        return accumulate(rows, **how)

    with mock.patch.object(_finite_moments, "accumulate", counted):
        estimator.fit(X, sensitive_features=z)
    return seen


@pytest.mark.parametrize("shape", [(2_000, 20), (60, 100)])
def test_rows_are_added_up_twice_only_where_single_precision_is_too_little(shape):
    X, z = decaying(*shape, 0.5)
    assert passes(FairPCA(5), X, z) == [False]
    assert passes(FairPCA(5), *decaying(*shape, 6.0)) == [False, True]
    assert passes(FairPCA(5), X.astype("float64"), z) == [False]


def test_moments_of_a_fit_of_few_components_say_what_they_lack():
    X, z = decaying(400, 60, 1.5)
    few = FairPCA(3).fit(X, sensitive_features=z)
    with pytest.raises(InfeasibleError, match="or fit to the rows again"):
        FairPCA(50).fit_moments(few.moments_)
    assert FairPCA(50).fit(X, sensitive_features=z).n_components_ == 50


def test_the_size_that_is_too_large_is_named():
    X, z = decaying(50, 4, 0.5)
    X = X.astype("float64")
    X[7, 2] = -1.0
    X *= 1e200
    X[7, 2] *= 7.0
    with pytest.raises(ValueError, match=r"feature 2 has the size 7e\+200\."):
        FairPCA(1).fit(X, sensitive_features=z)
