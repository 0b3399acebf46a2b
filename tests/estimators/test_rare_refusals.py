"""What hardly anybody passes: refused in words, or taken for what it is."""

import numpy as np
import pytest
import scipy.linalg
import scipy.sparse

from fairpca import FairKernelPCA, FairPCA
from fairpca.errors import InfeasibleError
from fairpca.moments import collect_moments

RNG = np.random.default_rng(0)
X, SEX, Y = RNG.normal(size=(60, 4)), np.resize(["f", "m"], 60), np.resize([0, 0, 1], 60)
X[SEX == "m", 0] += 1.0


def test_one_column_has_no_columns_to_take_as_attributes():
    with pytest.raises(ValueError, match=r"1 dimension\(s\)"):
        FairPCA(1, sensitive_columns=[0]).fit(X[:, 0])


def test_moments_are_neither_rows_nor_have_sensitive_columns():
    with pytest.raises(TypeError, match="fit_moments takes GroupMoments, not ndarray"):
        FairPCA(1).fit_moments(X)
    with pytest.raises(ValueError, match="sensitive_columns names columns of X"):
        FairPCA(1, sensitive_columns=[0]).fit_moments(collect_moments(X, SEX))


def test_moments_cannot_be_added_to_a_number():
    with pytest.raises(TypeError, match="unsupported operand"):
        collect_moments(X, SEX) + 1


def test_labels_in_one_column_are_labels():
    fair = FairPCA(2, criterion="equal_opportunity")
    flat = fair.fit(X, Y, sensitive_features=SEX).components_
    column = fair.fit(X, Y[:, None], sensitive_features=SEX).components_
    np.testing.assert_array_equal(column, flat)


@pytest.mark.parametrize("estimator", [FairPCA(2), FairKernelPCA(2)])
def test_rows_so_small_that_their_squares_vanish_are_refused(estimator):
    with pytest.raises(ValueError, match=r"quares of X.* underflow"):
        estimator.fit(X * 1e-200, sensitive_features=SEX)


def test_weights_so_small_that_products_vanish_are_refused():
    with pytest.raises(ValueError, match=r"weights.* underflow"):
        FairPCA(2).fit(X, sensitive_features=SEX, sample_weight=np.full(60, 1e-310))


def test_sparse_rows_that_are_all_alike_are_refused():
    with pytest.raises(InfeasibleError, match="vary along 0 direction"):
        FairPCA(1).fit(scipy.sparse.csr_array((60, 4)), sensitive_features=SEX)


def test_attributes_that_read_the_same_are_refused():
    with pytest.raises(ValueError, match="names that read the same"):
        FairPCA(1).fit(X, sensitive_features={1: SEX, "1": SEX})


def test_kinds_must_say_of_which_column():
    with pytest.raises(ValueError, match="does not say which column"):
        FairPCA(1, sensitive_kinds="numeric").fit(X, sensitive_features=SEX)


def test_entries_that_cannot_be_levels_are_refused():
    lists = np.empty(60, dtype=object)
    lists[:] = [[sex] for sex in SEX]
    with pytest.raises(ValueError, match="entries of type list"):
        FairPCA(1).fit(X, sensitive_features=lists)
