"""Fair PCA against the book: equal means, the rank of the constraint, and what is refused."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given

from assertions import (
    assert_no_feasible_direction_does_better,
    assert_orthonormal,
    assert_same_subspace,
)
from fairpca import FairPCA
from fairpca._moments import LevelMoments, NumericMoments
from fairpca.errors import InfeasibleError, MissingTargetError, SingleGroupError
from fairpca.moments import collect_moments
from fairpca.solvers import (
    equalize_means,
    largest_gap,
    maximize_variance,
    mean_gap,
)
from fairpca.solvers._equalize_means import check_attributes, check_dimension, names_of
from oracles import fair_null_space, fair_pca_by_the_book, fair_span
from strategies import grouped_rows


@given(grouped_rows(weights=True))
def test_fair_pca_agrees_with_the_book_in_every_dimension(rows):
    X, columns, w = rows
    R = fair_span(X, *columns.values(), weight=w)
    moments = collect_moments(X, columns, sample_weight=w)
    if R.shape[1] == 0:
        with pytest.raises(InfeasibleError, match="Nothing is left"):
            equalize_means(moments, None)
        return
    whole = equalize_means(moments, None)
    assert_same_subspace(whole.basis, R, atol=1e-7)
    everywhere = fair_null_space(X, *columns.values(), weight=w)
    assert whole.constraint_rank == X.shape[1] - everywhere.shape[1]
    S = moments.scatter.matrix
    for k in range(1, R.shape[1]):
        U = equalize_means(moments, k).basis
        assert_orthonormal(U)
        assert_no_feasible_direction_does_better(S, U, R)


@given(grouped_rows(weights=True))
def test_the_constraint_holds_at_rounding(rows):
    X, columns, w = rows
    moments = collect_moments(X, columns, sample_weight=w)
    try:
        subspace = equalize_means(moments, None)
    except InfeasibleError:
        return
    assert mean_gap(moments, subspace) < 1e-9


def test_the_same_subspace_as_the_oracle_when_the_spectrum_is_simple():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 8)) * np.arange(1, 9)
    z = rng.integers(0, 3, 400)
    X[:, :3] += 5 * np.eye(3)[z]
    moments = collect_moments(X, z)
    for k in (1, 2, 5):
        assert_same_subspace(equalize_means(moments, k).basis, fair_pca_by_the_book(X, z, k=k))


@pytest.mark.parametrize("shape", [(300, 12), (30, 60)], ids=["tall", "wide"])
def test_every_solver_finds_the_same_subspace(shape):
    rng = np.random.default_rng(1)
    n, d = shape
    X = rng.normal(size=(n, d)) * np.linspace(3, 1, d)
    moments = collect_moments(X, {"a": np.arange(n) % 3, "v": rng.normal(size=n)})
    bases = {
        solver: equalize_means(moments, 4, solver=solver).basis
        for solver in ("auto", "dense", "iterative")
    }
    for U in bases.values():
        assert_orthonormal(U)
        assert_same_subspace(U, bases["dense"], atol=1e-7)


def test_wide_data_equal_the_book():
    rng = np.random.default_rng(2)
    X, z = rng.normal(size=(20, 45)) + 100, np.arange(20) % 3
    for k in (1, 5, 12):
        U = equalize_means(collect_moments(X, z), k).basis
        assert_same_subspace(U, fair_pca_by_the_book(X, z, k=k), atol=1e-7)


def test_wide_data_have_as_many_components_as_their_rows_span():
    rng = np.random.default_rng(3)
    X, z = rng.normal(size=(6, 20)), np.arange(6) % 2
    moments = collect_moments(X, z)
    whole = equalize_means(moments, None)
    assert_orthonormal(whole.basis)
    assert_same_subspace(whole.basis, fair_span(X, z))
    with pytest.raises(InfeasibleError, match=r"n_components=5 .* along 4 .* besides the 1 that"):
        equalize_means(moments, 5)


def test_without_anything_to_avoid_it_is_plain_pca():
    rng = np.random.default_rng(4)
    X = rng.normal(size=(100, 5)) * np.arange(1, 6)
    U = maximize_variance(collect_moments(X, np.arange(100) % 2), 2).basis
    _, _, V = np.linalg.svd(X - X.mean(axis=0))
    assert_same_subspace(U, V[:2].T)


def test_a_fair_direction_is_not_lost_far_from_the_origin():
    """SciPy's default null-space tolerance loses one in about half of such draws."""
    rng = np.random.default_rng(5)
    for _ in range(50):
        z = rng.integers(0, 4, 50)
        X = rng.normal(size=(50, 6)) + rng.normal(size=6) * 1e5
        assert equalize_means(collect_moments(X, z), None).constraint_rank == 3


@pytest.mark.parametrize("unit", [1e-12, 1e-3, 1e9])
def test_units_of_features_and_attributes_do_not_matter_for_the_rank(unit):
    rng = np.random.default_rng(6)
    v = rng.normal(size=200)
    X = rng.normal(size=(200, 4)) + v[:, None] * [1, 0, 0, 0]
    for scaled_X, scaled_v in ((X * unit, v), (X, v * unit)):
        assert equalize_means(collect_moments(scaled_X, {"v": scaled_v}), None).constraint_rank == 1


def test_columns_in_units_of_1e6_and_1e_6_side_by_side_are_both_erased():
    rng = np.random.default_rng(7)
    z = rng.integers(0, 2, 500)
    units = np.array([1e6, 1e6, 1e6, 1e-6, 1e-6, 1e-6])
    X = (rng.normal(size=(500, 6)) + 0.5 * z[:, None]) * units
    moments = collect_moments(X, z)
    U = equalize_means(moments, None).basis
    T = X @ U - X.mean(axis=0) @ U
    correlation = [np.corrcoef(t, z)[0, 1] for t in T.T]
    assert np.abs(correlation).max() < 1e-9


def test_nested_and_repeated_attributes_take_no_extra_direction():
    rng = np.random.default_rng(8)
    z = rng.integers(0, 5, 300)
    X = rng.normal(size=(300, 10)) + np.eye(10)[z]
    alone = equalize_means(collect_moments(X, {"z": z}), None)
    nested = {"z": z, "again": z, "coarse": z > 2, "number": (z == 3) * 1.5}
    assert equalize_means(collect_moments(X, nested), None).constraint_rank == 4
    assert alone.constraint_rank == 4


def test_too_many_components_say_how_many_directions_the_attributes_take():
    X = np.random.default_rng(9).normal(size=(30, 4))
    with pytest.raises(InfeasibleError, match=r"n_components=4.*2 of the 4.*leaves 2.*<= 2"):
        equalize_means(collect_moments(X, {"z": np.arange(30) % 3}), 4)


def test_nothing_left_is_an_error():
    X = np.random.default_rng(10).normal(size=(30, 2))
    with pytest.raises(InfeasibleError, match="Nothing is left"):
        equalize_means(collect_moments(X, {"z": np.arange(30) % 3}), None)


def test_a_share_of_the_variance_that_no_fair_subspace_holds_is_an_error():
    rng = np.random.default_rng(11)
    z = np.arange(100) % 2
    X = rng.normal(size=(100, 3)) + 10 * z[:, None]
    moments = collect_moments(X, z)
    with pytest.raises(InfeasibleError, match=r"asks for 90\.00%.*together hold \d"):
        equalize_means(moments, 0.9)
    few = equalize_means(moments, 0.01)
    assert few.basis.shape[1] == 1


def test_one_level_or_one_value_is_an_error():
    X = np.random.default_rng(12).normal(size=(10, 3))
    with pytest.raises(SingleGroupError, match="'z' has only the level 'a'"):
        equalize_means(collect_moments(X, {"z": ["a"] * 10}), None)
    with pytest.raises(SingleGroupError, match=r"'v' is 0\.1 in every row"):
        equalize_means(
            collect_moments(X, {"v": [0.1] * 10}, sensitive_kinds={"v": "numeric"}), None
        )


@pytest.mark.parametrize("d", [5, 50])
def test_any_array_library_finds_the_same_subspace(asarray, d):
    rng = np.random.default_rng(13)
    X, z = rng.normal(size=(40, d)) * np.linspace(2, 1, d), np.arange(40) % 3
    expected = equalize_means(collect_moments(X, z), 2).basis
    U = np.asarray(equalize_means(collect_moments(asarray(X), z), 2).basis)
    np.testing.assert_allclose(U, expected, atol=1e-9)


def test_wide_rows_that_the_constraint_explains_whole_are_refused():
    X = np.random.default_rng(0).normal(size=(4, 8))
    for k in (3, 0.5, None):
        with pytest.raises(InfeasibleError, match=r"along 0 .* besides the 3 that separate"):
            FairPCA(k).fit(X, sensitive_features=[0, 1, 2, 3])


EPS = np.finfo(float).eps


def level_moments(**changes):
    base = LevelMoments(
        "x", None, ("a", "b"), np.array([2, 2]), np.array([2.0, 2.0]), np.zeros((2, 1))
    )
    return replace(base, **changes)


def numeric(mean, scatter, weight=4.0):
    return NumericMoments("v", None, 4, weight, mean, scatter, np.zeros(1), np.zeros(1))


@pytest.mark.parametrize(
    ("attribute", "problem", "error"),
    [
        (
            level_moments(labels=("a",), weight=np.ones(1)),
            "has only the level 'a'",
            SingleGroupError,
        ),
        (level_moments(labels=(), weight=np.ones(0)), "has no row", SingleGroupError),
        (level_moments(weight=np.zeros(2)), "has no row", SingleGroupError),
        (level_moments(weight=np.array([0.0, 2.0])), r"group\(s\) \['a'\]", MissingTargetError),
        (
            level_moments(weight=np.array([0.0, 2.0]), stratum=1),
            "no row among the rows with y == 1",
            MissingTargetError,
        ),
        (numeric(7.5, 0.0), "is 7.5 in every row", SingleGroupError),
        (numeric(0.3, 4 * (2 * EPS * 0.3) ** 2), "is 0.3 in every row", SingleGroupError),
        (numeric(0.0, 1e-160), "size 5e-81", ValueError),
        (numeric(1e-80, 1e-170), "size 1e-80", ValueError),
    ],
)
def test_attributes_without_anything_to_compare_are_refused(attribute, problem, error):
    with pytest.raises(error, match=problem):
        check_attributes([level_moments(), attribute])


@pytest.mark.parametrize(
    "attribute",
    [
        level_moments(),
        level_moments(weight=np.array([0.0, 2.0]), optional=True),
        level_moments(labels=("a",), weight=np.ones(1), optional=True),
        numeric(7.5, 1.0),
        numeric(0.3, 4 * (100 * EPS * 0.3) ** 2),
        numeric(0.0, 4e-140),
        numeric(1e-70, 1e-141, weight=0.5),
        numeric(0.0, 6e-151, weight=0.5),
    ],
)
def test_attributes_with_something_to_compare_pass(attribute):
    check_attributes([attribute])


def test_a_refusal_names_each_attribute_once():
    assert names_of([level_moments(), numeric(0, 1), level_moments()]) == "'x', 'v'"
    rng = np.random.default_rng(1)
    columns = {"sex": np.arange(60) % 2, "age": rng.normal(size=60)}
    moments = collect_moments(rng.normal(size=(60, 5)), columns)
    with pytest.raises(InfeasibleError, match=r"\('sex', 'age'\).* in 2 of the 5 .* leaves 3"):
        check_dimension(moments, 2, 4)
    check_dimension(moments, 2, 3)
    with pytest.raises(InfeasibleError, match=r"\('sex', 'age'\) separate .* all 5"):
        check_dimension(moments, 5, None)


@pytest.mark.parametrize("unit", [1e-6, 1.0, 1e6])
def test_the_largest_gap_between_means_has_no_units(unit):
    z = np.repeat([0, 1, 2], [120, 80, 40])
    X = np.random.default_rng(1).normal(size=(240, 5)) + 0.3 * z[:, None]
    moments = collect_moments(unit * X, z)
    spread = np.sqrt(np.var(X, axis=0))
    means = np.array([X[z == g].mean(axis=0) for g in range(3)])
    expected = np.abs((means - X.mean(axis=0)) / spread).max()
    gap = largest_gap(moments.attributes, moments.weight, np.eye(5), moments.scatter.diagonal)
    assert gap == pytest.approx(expected)
