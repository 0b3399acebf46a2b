"""Bugs of size that the tests of this folder found: squares that overflow, or underflow."""

import numpy as np
import pytest
import scipy.sparse

from assertions import assert_equal_group_means
from fairpca import FairKernelPCA, FairPCA, erasers
from registry import ESTIMATORS

RNG = np.random.default_rng(0)
X, Z = RNG.normal(size=(40, 4)), np.arange(40) % 2


@pytest.mark.parametrize("estimator", [FairPCA, FairKernelPCA])
def test_a_numeric_attribute_whose_squares_overflow_is_refused(estimator):
    """It was a RuntimeWarning, and then nothing was made uncorrelated."""
    estimator = estimator(1, sensitive_kinds={"age": "numeric"})
    with pytest.raises(ValueError, match=r"'age' holds values of the size .*e\+200.*Divide it"):
        estimator.fit(X, sensitive_features={"age": RNG.normal(size=40) * 1e200})


@pytest.mark.parametrize("estimator", [FairPCA(1), FairKernelPCA(1), erasers.LEACE()])
def test_a_numeric_attribute_whose_squares_underflow_is_not_called_constant(estimator):
    with pytest.raises(ValueError, match=r"of the size .*e-200, whose squares underflow.*Multiply"):
        estimator.fit(X, sensitive_features={"age": np.linspace(1, 2, 40) * 1e-200})


@pytest.mark.parametrize("name", ["matched covariances", "spectral covariances"])
def test_units_whose_fourth_powers_overflow_are_refused(name):
    """LAPACK did not converge, or a root finder met NaN."""
    with pytest.raises(ValueError, match=r"feature \d has the size .*e\+150.*Divide X"):
        ESTIMATORS[name].made().fit(X * 1e150, sensitive_features=Z)


def test_one_feature_whose_squares_underflow_is_not_taken_for_a_constant():
    """Only the largest feature was looked at, and this one kept its group difference."""
    mixed = X + Z[:, None]
    mixed[:, 2] *= 1e-170
    with pytest.raises(ValueError, match=r"underflow: feature 2 has the size .*Multiply it"):
        FairPCA(2).fit(mixed, sensitive_features=Z)
    batched = FairPCA(2)
    for i in range(40):  # each row for itself says nothing
        batched.partial_fit(mixed[i : i + 1], sensitive_features=Z[i : i + 1])
    with pytest.raises(ValueError, match="underflow: feature 2"):
        batched.transform(mixed)


def test_squares_that_underflow_in_single_precision_do_not_in_double():
    mixed = (X + Z[:, None]).astype(np.float32)
    mixed[:, 2] *= 1e-30
    whole, batched = (FairPCA(2, scale=True) for _ in range(2))
    whole.fit(mixed, sensitive_features=Z)
    for i in range(40):
        batched.partial_fit(mixed[i : i + 1], sensitive_features=Z[i : i + 1])
    for fair in (whole, batched):
        assert np.abs(fair.components_[:, 2]).max() > 0.1
        assert_equal_group_means(fair.transform(mixed).astype(float), Z, rtol=1e-5)


def test_a_row_with_a_tiny_number_is_a_row_like_others():
    """In a batch of one row, that number is all there is to see of the feature."""
    tiny = X.copy()
    tiny[0, 0] = 1e-200
    batched = FairPCA(2).partial_fit(tiny[:1], sensitive_features=Z[:1])
    batched.partial_fit(tiny[1:], sensitive_features=Z[1:])
    assert_equal_group_means(batched.transform(tiny), Z)


@pytest.mark.parametrize(("factor", "what"), [(1e-200, "underflow"), (1e200, "overflow")])
def test_weights_whose_products_leave_the_numbers_are_refused(factor, what):
    with pytest.raises(ValueError, match=f"weights add up to .*{what}.*Only their ratios matter"):
        FairPCA(2).fit(X, sensitive_features=Z, sample_weight=np.full(40, factor))


@pytest.mark.parametrize("make", [np.array, scipy.sparse.csr_array])
def test_rows_too_large_for_a_kernel_are_refused_and_not_an_overflow_error(make):
    with pytest.raises(ValueError, match=r"gamma='scale'.*overflow.*Standardise"):
        FairKernelPCA(1).fit(make((1.0 + X**2) * 1e165), sensitive_features=Z)


def test_rows_too_small_for_a_kernel_are_refused():
    with pytest.raises(ValueError, match=r"Squares of X underflow.*look alike.*Multiply X"):
        FairKernelPCA(1).fit(X * 1e-165, sensitive_features=Z)


def test_infinities_of_both_signs_are_refused_without_a_warning():
    bad = X.copy()
    bad[0, 0], bad[1, 1] = np.inf, -np.inf
    with pytest.raises(ValueError, match="infinity"):
        FairPCA(1).fit(bad, sensitive_features=Z)


@pytest.mark.parametrize("factor", [2.0**-200, 2.0**200])
def test_units_do_not_matter_to_spectral_covariances_of_three_groups(factor):
    """Norms of squared covariances are eighth powers: LAPACK met infinities at 1e45."""
    fair = ESTIMATORS["spectral covariances"].made()
    expected = fair.fit(X, sensitive_features=np.arange(40) % 3).explained_variance_
    found = fair.fit(X * factor, sensitive_features=np.arange(40) % 3).explained_variance_
    np.testing.assert_allclose(found / factor**2, expected, rtol=1e-12)
