"""Fair kernel PCA where digits, weights, sparse formats, threads or kernels are difficult."""

import threading

import numpy as np
import pytest
import scipy.sparse
from sklearn.exceptions import NotFittedError
from sklearn.metrics.pairwise import rbf_kernel
from threadpoolctl import threadpool_limits

from assertions import assert_equal_group_means, group_means
from blas import blas_threads
from fairpca import FairKernelPCA
from fairpca.errors import IndefiniteKernelWarning, InfeasibleError

MODES = [{}, {"approximation": "nystroem", "n_landmarks": 40}]


def gap(T, z, weight=None):
    """Largest difference of group means in standard deviations."""
    return float((np.ptp(group_means(T, z, weight), axis=0) / T.std(axis=0)).max())


@pytest.mark.parametrize("mode", MODES, ids=["exact", "nystroem"])
@pytest.mark.parametrize("kernel", ["laplacian", "rbf"])
def test_unsorted_and_duplicate_sparse_entries_are_what_they_add_up_to(kernel, mode):
    rng = np.random.default_rng(0)
    dense = np.where(rng.random((60, 8)) < 0.5, rng.normal(size=(60, 8)), 0.0)
    z = np.arange(60) % 2
    coo = scipy.sparse.coo_array(dense)
    rows, columns = (np.r_[index, index] for index in (coo.row, coo.col))
    order = np.argsort(rows * 100 + rng.random(len(rows)))
    indptr = np.r_[0, np.cumsum(np.bincount(rows, minlength=60))]
    halves = np.r_[coo.data, coo.data][order] / 2
    messy = scipy.sparse.csr_array((halves, columns[order], indptr), shape=dense.shape)
    before = messy.data.copy(), messy.indices.copy()
    fair = FairKernelPCA(3, kernel=kernel, random_state=0, **mode)
    T = fair.fit(messy, sensitive_features=z).transform(messy)
    np.testing.assert_array_equal(T, fair.transform(messy))
    assert_equal_group_means(T, z)
    expected = FairKernelPCA(3, kernel=kernel, random_state=0, **mode)
    expected.fit(dense, sensitive_features=z)
    np.testing.assert_allclose(fair.eigenvalues_, expected.eigenvalues_, rtol=1e-7)
    np.testing.assert_array_equal(messy.data, before[0])
    np.testing.assert_array_equal(messy.indices, before[1])


@pytest.mark.parametrize("approximation", ["nystroem", "random_features"])
def test_noise_is_not_taken_for_directions_when_nothing_fair_is_left(approximation):
    c = np.random.default_rng(0).integers(0, 30, 2000)
    fair = FairKernelPCA(3, approximation=approximation, n_landmarks=100, random_state=0)
    with pytest.raises(InfeasibleError, match=r"vary along 0 direction"):
        fair.fit(np.eye(30)[c], sensitive_features=c.astype(str))


@pytest.mark.parametrize("seed", range(5))
def test_an_indefinite_kernel_gains_no_variance_from_the_constraint(seed):
    """Deflating negative directions would turn them into positive variance."""
    rng = np.random.default_rng(seed)
    X, z = rng.normal(size=(150, 4)), rng.integers(0, 10, 150)
    options = {"kernel": "sigmoid", "gamma": 0.25, "coef0": 0.5}
    fair, both = FairKernelPCA(3, **options), FairKernelPCA(3, tradeoff=1.0, **options)
    with pytest.warns(IndefiniteKernelWarning):
        T = fair.fit_transform(X, sensitive_features=z)
    with pytest.warns(IndefiniteKernelWarning):
        plain = both.fit_transform(X, sensitive_features=z)
    np.testing.assert_allclose(fair.transform(X), T, atol=1e-9 * np.abs(T).max())
    assert_equal_group_means(T, z)
    assert fair.eigenvalues_[0] <= plain[:, 3].var() * 150 * (1 + 1e-9)
    assert fair.explained_variance_ratio_.sum() <= 1.0


def test_many_rows_with_an_indefinite_kernel_are_noticed_too():
    rng = np.random.default_rng(0)
    X, z = rng.normal(size=(700, 4)), rng.integers(0, 2, 700)
    with pytest.warns(IndefiniteKernelWarning):
        fair = FairKernelPCA(2, kernel="sigmoid", gamma=0.5).fit(X, sensitive_features=z)
    assert_equal_group_means(fair.transform(X), z)


def test_the_inverse_without_centring_is_an_inverse():
    X, z = np.random.default_rng(0).normal(size=(100, 4)) + 3, np.arange(100) % 2
    fair = FairKernelPCA(2, kernel="linear", center=False).fit(X, sensitive_features=z)
    T = fair.transform(X)
    np.testing.assert_allclose(fair.transform(fair.inverse_transform(T)), T, atol=1e-10)


@pytest.mark.parametrize("seed", range(5))
def test_a_nearly_weightless_group_is_one_constraint(seed):
    rng = np.random.default_rng(seed)
    X, z = rng.normal(size=(200, 3)), np.repeat([1, 0], [2, 198])
    w = 10.0 ** rng.uniform(-4, 4, 200)
    w[:2] = 1e-4
    fair = FairKernelPCA(3, gamma=0.3).fit(X, sensitive_features=z, sample_weight=w)
    assert fair.constraint_rank_ == 1
    assert gap(fair.transform(X), z, w) < 1e-6


@pytest.mark.parametrize("scale", [1e-85, 1e-40, 1e60])
def test_units_do_not_matter_to_a_linear_kernel(scale):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(600, 8)) * np.linspace(1, 0.5, 8)
    z = rng.integers(0, 2, 600)
    one, other = (
        FairKernelPCA(2, kernel="linear").fit(X * s, sensitive_features=z).eigenvalues_ / s**2
        for s in (1.0, scale)
    )
    np.testing.assert_allclose(other, one, rtol=1e-9)


def test_tiny_weights_are_weights():
    rng = np.random.default_rng(0)
    X, z = rng.normal(size=(600, 4)), rng.integers(0, 2, 600)
    fits = [
        FairKernelPCA(2).fit(X, sensitive_features=z, sample_weight=np.full(600, w))
        for w in (2.0, 1e-170)
    ]
    one, other = fits[0].eigenvalues_ / 2.0, fits[1].eigenvalues_ / 1e-170
    np.testing.assert_allclose(other, one, rtol=1e-9)


def test_batches_do_not_hold_on_to_the_callers_weights():
    rng = np.random.default_rng(0)
    X, z, w = rng.normal(size=(60, 3)), np.arange(60) % 2, rng.uniform(0.5, 2, 60)
    parameters = {"approximation": "random_features", "n_landmarks": 100, "random_state": 0}
    fair = FairKernelPCA(3, **parameters)
    fair.partial_fit(X, sensitive_features=z, sample_weight=w)
    expected = FairKernelPCA(3, **parameters).fit(X, sensitive_features=z, sample_weight=w.copy())
    w[:] = 1e6
    np.testing.assert_allclose(fair.eigenvalues_, expected.eigenvalues_)


def test_limits_of_threads_are_lifted_whoever_leaves_last():
    X, z = np.random.default_rng(0).normal(size=(300, 3)), np.arange(300) % 2
    fair = FairKernelPCA(2, n_jobs=1).fit(X, sensitive_features=z)
    with threadpool_limits(2, user_api="blas"):
        threads = [
            threading.Thread(target=lambda: [fair.transform(X) for _ in range(5)]) for _ in range(6)
        ]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        assert blas_threads() == 2


def test_given_kernels_in_single_precision_are_used_in_double():
    rng = np.random.default_rng(0)
    X, z = rng.normal(size=(200, 3)), np.arange(200) % 2
    K = rbf_kernel(X, gamma=0.01).astype(np.float32)
    fair = FairKernelPCA(3, kernel="precomputed").fit(K, sensitive_features=z)
    T = fair.transform(K)
    assert T.dtype == np.float32
    assert gap(T.astype(float), z) < 1e-5
    assert fair.mean_gap_ > 1e-12  # says what the digits of K allow


def test_a_slightly_asymmetric_kernel_is_made_symmetric_and_said_to_be_less_exact():
    rng = np.random.default_rng(0)
    X, z = rng.normal(size=(200, 3)), np.arange(200) % 2
    K = rbf_kernel(X, gamma=0.3)
    noisy = K + 1e-9 * rng.normal(size=K.shape)
    fair = FairKernelPCA(3, kernel="precomputed").fit(noisy, sensitive_features=z)
    assert gap(fair.transform(noisy), z) < fair.mean_gap_ < 1e-7


def test_features_in_large_units_lose_digits_and_mean_gap_says_so():
    rng = np.random.default_rng(0)
    X, z = rng.normal(size=(200, 3)), np.arange(200) % 2
    X[:, 0] = rng.integers(0, 5, 200) * 1e5
    fair = FairKernelPCA(3, gamma=0.3)
    with pytest.warns(UserWarning, match="mean_gap_"):
        fair.fit(X, sensitive_features=z)
    one_by_one = np.vstack([fair.transform(row[None]) for row in X])
    assert gap(one_by_one, z) < fair.mean_gap_


@pytest.mark.filterwarnings("ignore::fairpca.errors.IndefiniteKernelWarning")
def test_products_may_overflow_where_the_kernel_is_bounded():
    """Seen: centring at all rows, as equal opportunity does, warned of an overflow."""
    rng = np.random.default_rng(0)
    X, z = 1e157 * rng.normal(size=(24, 3)), np.array(["a", "b"] * 12)
    fair = FairKernelPCA(1, kernel="sigmoid", gamma=0.01, criterion="equal_opportunity")
    assert np.isfinite(fair.fit(X, np.arange(24) % 3 > 0, sensitive_features=z).eigenvalues_).all()


def test_overflow_is_a_refusal_and_not_a_warning():
    X, z = np.random.default_rng(0).normal(size=(50, 3)), np.arange(50) % 2
    with pytest.raises(ValueError, match="overflow"):
        FairKernelPCA(1, kernel="linear").fit(X * 1e170, sensitive_features=z)
    with pytest.raises(ValueError, match=r"gamma='scale'.*overflow"):
        FairKernelPCA(1).fit(X * 1e200, sensitive_features=z)
    fair = FairKernelPCA(1, kernel="poly", degree=9).fit(X, sensitive_features=z)
    with pytest.raises(ValueError, match="further out than the training rows"):
        fair.transform(X * 1e40)


def test_the_inverse_of_what_was_not_fitted():
    X, z = np.random.default_rng(0).normal(size=(50, 3)), np.arange(50) % 2
    with pytest.raises(NotFittedError):
        FairKernelPCA(2, kernel="linear").inverse_transform(X[:, :2])
    changed = FairKernelPCA(2).fit(X, sensitive_features=z).set_params(kernel="linear")
    with pytest.raises(ValueError, match="fitted with another kernel"):
        changed.inverse_transform(X[:, :2])
