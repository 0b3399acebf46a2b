import numpy as np
import pytest
import scipy.linalg
from hypothesis import assume, given
from hypothesis import strategies as st

from assertions import assert_equal_group_means, group_means
from fairpca.erasers import LEACE, SPLINCE
from fairpca.errors import InfeasibleError, MissingTargetError
from optional_libraries import pandas as pd
from optional_libraries import polars
from oracles import indicator_matrix
from strategies import grouped_rows


def cross_covariance(X, Z, weight):
    Z = Z - (weight @ Z) / weight.sum()
    X = X - (weight @ X) / weight.sum()
    return (X * weight[:, None]).T @ Z / weight.sum()


def splince_by_the_book(X, Z, Y):
    """W^+ V (U^T V)^{-1} U^T W: U orthogonal to W S_xz; V holds W S_xy, and what both leave."""
    weight = np.ones(len(X))
    S = cross_covariance(X, X, weight)
    root = np.real(scipy.linalg.sqrtm(S))
    W = np.linalg.inv(root)
    away = scipy.linalg.orth(W @ cross_covariance(X, Z, weight), rcond=1e-9)
    kept = scipy.linalg.orth(W @ cross_covariance(X, Y, weight), rcond=1e-9)
    U = scipy.linalg.null_space(away.T)
    V = np.hstack([kept, scipy.linalg.null_space(np.hstack([away, kept]).T)])
    return root @ V @ np.linalg.solve(U.T @ V, U.T) @ W


@pytest.fixture
def people():
    rng = np.random.default_rng(0)
    z = rng.integers(0, 3, 600)
    y = rng.normal(size=600) + z
    X = rng.normal(size=(600, 6)) @ rng.normal(size=(6, 6)) + rng.normal(size=(3, 6))[z]
    return X + np.outer(y, [1, 0, 2, 0, 0, 1]), y, z


def test_splince_is_the_formula_in_the_book(people):
    X, y, z = people
    eraser = SPLINCE().fit(X, y, sensitive_features=z)
    expected = splince_by_the_book(X, indicator_matrix(z), y[:, None])
    np.testing.assert_allclose(eraser.components_, expected, atol=1e-9)


def test_splince_is_the_formula_in_the_book_for_classes(people):
    X, y, z = people
    classes = np.digitize(y, [0.0, 2.0])
    eraser = SPLINCE().fit(X, classes, sensitive_features=z)
    expected = splince_by_the_book(X, indicator_matrix(z), indicator_matrix(classes))
    np.testing.assert_allclose(eraser.components_, expected, atol=1e-9)


@given(grouped_rows(min_features=4, weights=True), st.booleans(), st.integers(0, 999))
def test_every_feature_keeps_its_covariance_with_the_target(data, classes, seed):
    X, columns, weight = data
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 3, len(X)) if classes else rng.normal(size=len(X))
    try:
        T = SPLINCE().fit_transform(X, y, sensitive_features=columns, sample_weight=weight)
    except InfeasibleError:
        assume(False)
    Y = indicator_matrix(y)
    before, after = cross_covariance(X, Y, weight), cross_covariance(T, Y, weight)
    unit = np.sqrt(np.diag(cross_covariance(X, X, weight)))
    far = 1 + np.abs(X).max(axis=0) / np.where(unit > 0, unit, np.inf)
    error = np.abs(after - before) / np.where(unit > 0, unit, 1.0)[:, None]
    assert np.all(error <= 1e-12 * far.max())


def test_classes_keep_the_differences_of_their_means(people):
    X, y, z = people
    classes = np.where(y > 1, "hired", "not")
    T = SPLINCE().fit_transform(X, classes, sensitive_features=z)
    np.testing.assert_allclose(group_means(T, classes), group_means(X, classes), atol=1e-10)
    assert_equal_group_means(T, z)


def change(P, S, M):
    D = M @ (np.eye(len(S)) - P)
    return np.trace(D @ S @ D.T)


def test_no_other_map_that_removes_and_keeps_the_same_changes_the_rows_less(people):
    """Certificate: all such maps are P + N R^T with R orthogonal to both covariances."""
    X, y, z = people
    weight = np.ones(len(X))
    P = SPLINCE().fit(X, y, sensitive_features=z).components_
    S = cross_covariance(X, X, weight)
    S_xz = cross_covariance(X, indicator_matrix(z), weight)
    both = np.hstack([S_xz, cross_covariance(X, y[:, None], weight)])
    R = scipy.linalg.null_space(both.T, rcond=1e-9)
    np.testing.assert_allclose((np.eye(6) - P) @ S @ R, 0, atol=1e-10 * np.linalg.norm(S))
    rng = np.random.default_rng(1)
    for M in rng.normal(size=(30, 6, 6)):
        other = P + 0.01 * rng.normal(size=(6, R.shape[1])) @ R.T
        np.testing.assert_allclose(other @ both, P @ both, atol=1e-10)
        assert change(P, S, M) < change(other, S, M)


def test_leace_changes_less_but_moves_the_covariance_with_the_target(people):
    X, y, z = people
    kept, least = SPLINCE().fit(X, y, sensitive_features=z), LEACE().fit(X, sensitive_features=z)
    assert np.sum((least.transform(X) - X) ** 2) < np.sum((kept.transform(X) - X) ** 2)
    moved = (y - y.mean()) @ (least.transform(X) - X) / len(X)
    assert np.abs(moved).max() > 0.1


def test_a_target_that_is_uncorrelated_with_the_features_leaves_leace(people):
    X, _, z = people
    same = LEACE().fit(X, sensitive_features=z).components_
    twice, z2 = np.vstack([X, X]), np.r_[z, z]
    nothing = np.repeat([0, 1], len(X))
    for target in (nothing, np.ones(2 * len(X))):
        eraser = SPLINCE().fit(twice, target, sensitive_features=z2)
        np.testing.assert_allclose(eraser.components_, same, atol=1e-10)
        assert eraser.overlap_ == 0


def test_a_target_that_the_features_cannot_tell_from_the_attribute_is_infeasible(people):
    X, _, z = people
    with pytest.raises(InfeasibleError, match=r"1 of the 1 direction.*2 to remove.*LEACE"):
        SPLINCE().fit(X, z == 0, sensitive_features=z)
    leace = LEACE().fit(X, sensitive_features=z)
    eraser = SPLINCE(keep="possible").fit(X, z == 0, sensitive_features=z)
    assert eraser.n_lost_ == 1
    np.testing.assert_allclose(eraser.components_, leace.components_, atol=1e-9)


def test_what_is_possible_is_kept_and_the_attribute_goes(people):
    """Three classes, of which one is a group: one of their two directions has to go."""
    X, y, z = people
    classes = np.where(z == 0, "first", np.where(y > 1.5, "high", "low"))
    with pytest.raises(InfeasibleError, match="1 of the 2 direction"):
        SPLINCE().fit(X, classes, sensitive_features=z)
    eraser = SPLINCE(keep="possible").fit(X, classes, sensitive_features=z)
    T = eraser.transform(X)
    assert eraser.n_lost_ == 1
    assert eraser.overlap_ < 1 - 1e-4
    assert_equal_group_means(T, z)
    # What is left of the class means after the attribute explained its part is as before.
    weight = np.ones(len(X))
    W = np.linalg.inv(np.real(scipy.linalg.sqrtm(cross_covariance(X, X, weight))))
    away = W @ cross_covariance(X, indicator_matrix(z), weight)
    before = W @ cross_covariance(X, indicator_matrix(classes), weight)
    after = W @ cross_covariance(T, indicator_matrix(classes), weight)
    shared = scipy.linalg.orth(away, rcond=1e-9)
    np.testing.assert_allclose(after, before - projection_on_both(before, shared), atol=1e-9)


def projection_on_both(V, U):
    """The part of V in the intersection of the spans of V and U, U orthonormal."""
    basis = scipy.linalg.orth(V, rcond=1e-9)
    left, cosines, _ = np.linalg.svd(basis.T @ U)
    both = basis @ left[:, : int(np.sum(cosines > 1 - 1e-9))]
    return both @ (both.T @ V)


def test_the_overlap_tells_how_much_rows_must_change(people):
    """One direction each: the change of rows grows like 1 / sin^2 of the angle between them."""
    X, _, _ = people
    overlaps, changes = [], []
    for share in (0.2, 0.05, 0.01):
        v = X[:, 0] - X[:, 0].mean()
        target = v + share * X[:, 1]
        eraser = SPLINCE().fit(X, target, sensitive_features=v)
        overlaps.append(eraser.overlap_)
        changes.append(np.sum((eraser.transform(X) - X) ** 2))
    assert overlaps[0] < overlaps[1] < overlaps[2] < 1
    sines = 1 - np.array(overlaps) ** 2
    np.testing.assert_allclose(changes[2] / changes[1], sines[1] / sines[2], rtol=0.05)


def test_a_sensitive_column_may_be_called_like_the_target(people):
    X, y, z = people
    a = SPLINCE().fit(X, y, sensitive_features={"y": z})
    b = SPLINCE().fit(X, y, sensitive_features={"z": z})
    np.testing.assert_array_equal(a.components_, b.components_)
    assert a.groups_ == {"y": [0, 1, 2]}


def test_whole_numbers_with_many_values_are_numbers(people):
    X, y, z = people
    counts = np.rint(10 * y).astype(int)
    a = SPLINCE().fit(X, counts, sensitive_features=z)
    b = SPLINCE().fit(X, counts.astype(float), sensitive_features=z)
    np.testing.assert_allclose(a.components_, b.components_)


@pytest.mark.parametrize("kind", ["texts", "categories", "polars"])
def test_texts_and_categories_are_classes_however_many(kind):
    rng = np.random.default_rng(0)
    topic, z = np.arange(1200) % 30, rng.integers(0, 2, 1200)
    X = rng.normal(size=(30, 60))[topic] + rng.normal(size=(1200, 60)) + z[:, None]
    y = {
        "texts": lambda: topic.astype(str),
        "categories": lambda: pd.Series(pd.Categorical(topic)),
        "polars": lambda: polars.Series(topic.astype(str)).cast(polars.Categorical),
    }[kind]()
    T = SPLINCE().fit_transform(X, y, sensitive_features=z)
    assert_equal_group_means(T, z)
    Z, ones = indicator_matrix(topic), np.ones(1200)
    expected = cross_covariance(X, Z, ones)
    np.testing.assert_allclose(cross_covariance(T, Z, ones), expected, atol=1e-10)


def test_the_kind_of_the_target_can_be_declared(people):
    X, y, z = people
    grades = np.clip(np.rint(y), -1, 3).astype(int)
    numbers = SPLINCE(target_kind="numeric").fit(X, grades, sensitive_features=z)
    classes = SPLINCE(target_kind="categorical").fit(X, grades, sensitive_features=z)
    np.testing.assert_allclose(
        classes.components_, SPLINCE().fit(X, grades, sensitive_features=z).components_
    )
    assert np.abs(numbers.components_ - classes.components_).max() > 1e-3
    with pytest.raises(ValueError, match="target_kind='ordinal' is not an option"):
        SPLINCE(target_kind="ordinal").fit(X, grades, sensitive_features=z)


def test_without_a_target_there_is_nothing_to_keep(people):
    X, y, z = people
    with pytest.raises(MissingTargetError, match=r"requires y to be passed.*or use LEACE"):
        SPLINCE().fit(X, sensitive_features=z)
    with pytest.raises(MissingTargetError, match="y is missing in 1 of 600 rows"):
        SPLINCE().fit(X, np.r_[np.nan, y[1:]], sensitive_features=z)
    with pytest.raises(ValueError, match=r"X has 600 rows, but y has shape \(5,\)"):
        SPLINCE().fit(X, y[:5], sensitive_features=z)


def test_rows_without_weight_have_no_say_in_the_target(people):
    X, y, z = people
    weight = (np.arange(len(X)) % 3 > 0).astype(float)
    some = weight > 0
    a = SPLINCE().fit(X, y, sensitive_features=z, sample_weight=weight)
    b = SPLINCE().fit(X[some], y[some], sensitive_features=z[some])
    np.testing.assert_allclose(a.components_, b.components_, atol=1e-10)
