import numpy as np
import pytest
from hypothesis import given

from assertions import assert_same_subspace, group_means
from fairpca import FairPCA
from fairpca.erasers import SAL, MeanProjection
from fairpca.errors import InfeasibleError
from oracles import indicator_matrix
from strategies import grouped_rows


def sal_by_the_book(X, *columns, k, weight=None):
    """Singular vectors of the cross-covariance of centred rows and one-hot attributes."""
    w = np.ones(len(X)) if weight is None else weight
    Z = indicator_matrix(*columns)
    Z = Z - (w @ Z) / w.sum()
    X = X - (w @ X) / w.sum()
    U, values, _ = np.linalg.svd((X * w[:, None]).T @ Z / w.sum())
    return U[:, k:] @ U[:, k:].T, values


@pytest.fixture
def people():
    rng = np.random.default_rng(0)
    z = rng.integers(0, 4, 500)
    X = rng.normal(size=(500, 7)) @ rng.normal(size=(7, 7)) + 2 * rng.normal(size=(4, 7))[z]
    return X, z


@pytest.mark.parametrize("k", [1, 2, 3])
def test_the_leading_singular_vectors_are_removed_as_in_the_book(people, k):
    X, z = people
    weight = np.random.default_rng(1).uniform(0.5, 2, len(X))
    eraser = SAL(k).fit(X, sensitive_features=z, sample_weight=weight)
    projection, values = sal_by_the_book(X, z, k=k, weight=weight)
    np.testing.assert_allclose(eraser.components_, projection, atol=1e-10)
    np.testing.assert_allclose(eraser.singular_values_, values[:3], rtol=1e-10)
    assert eraser.n_directions_ == k


def test_fewer_directions_take_the_most_covariance_and_leave_some(people):
    X, z = people
    gaps = []
    for k in (1, 2, 3):
        T = SAL(k).fit_transform(X, sensitive_features=z)
        gaps.append(np.linalg.norm(np.ptp(group_means(T, z), axis=0)))
    assert gaps[0] > gaps[1] > 1e-3
    assert gaps[2] < 1e-12


@given(grouped_rows(min_features=7, max_features=9))
def test_all_directions_span_what_fair_pca_leaves_out(data):
    """Section 4 of the fair PCA paper: for k = d - r the two project onto the same subspace."""
    X, columns = data
    eraser = SAL().fit(X, sensitive_features=columns)
    fair = FairPCA().fit(X, sensitive_features=columns)
    assert fair.constraint_rank_ == eraser.n_directions_
    # Equal where rows are; elsewhere, as between copies of a column, SAL leaves what it is given.
    centred = X - X.mean(axis=0)
    same = centred @ (eraser.components_ - fair.components_.T @ fair.components_)
    np.testing.assert_allclose(same, 0, atol=1e-8 * np.abs(centred).max())
    again = MeanProjection().fit(X, sensitive_features=columns)
    np.testing.assert_array_equal(eraser.components_, again.components_)


def test_the_unit_of_a_numeric_attribute_does_not_decide_which_direction_goes_first(people):
    X, z = people
    v = X[:, 0] + np.random.default_rng(2).normal(size=len(X))
    a = SAL(1).fit(X, sensitive_features={"z": z, "v": v})
    b = SAL(1).fit(X, sensitive_features={"z": z, "v": 1e6 * v})
    np.testing.assert_allclose(a.components_, b.components_, atol=1e-9)


def test_more_directions_than_there_are_cannot_be_removed(people):
    X, z = people
    with pytest.raises(InfeasibleError, match=r"n_directions=4 is too large.*\('sensitive'\) in 3"):
        SAL(4).fit(X, sensitive_features=z)


def test_two_attributes_with_one_direction_between_them_count_once(people):
    X, z = people
    eraser = SAL().fit(X, sensitive_features={"z": z, "odd": z % 2})
    assert eraser.n_directions_ == 3
    assert_same_subspace(eraser.components_, SAL().fit(X, sensitive_features=z).components_)


@pytest.mark.parametrize("value", [0, -1, 1.5, "all", True])
def test_a_number_of_directions_must_be_one(people, value):
    X, z = people
    with pytest.raises(ValueError, match="is not a number of directions to remove"):
        SAL(value).fit(X, sensitive_features=z)
