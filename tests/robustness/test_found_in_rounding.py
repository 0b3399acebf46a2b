"""Bugs of rounding, of odd labels and of mixed containers that the tests of this folder found."""

import re
import warnings
from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse

from assertions import assert_equal_group_means, assert_uncorrelated
from fairpca import FairKernelPCA, FairPCA, erasers
from fairpca.errors import InfeasibleError, ResidualWarning
from registry import ESTIMATORS
from robustness.nasty_data import nasty
from systems import long_doubles

RNG = np.random.default_rng(0)
X, Z = RNG.normal(size=(40, 4)), np.arange(40) % 2


def test_a_numeric_attribute_far_from_zero_keeps_its_digits():
    """The rounding of its mean, 1e-6 here, met the mean of the features: a correlation of 6e-7."""
    age = RNG.normal(size=40) + 1e10
    fair = FairPCA(2)
    with pytest.warns(ResidualWarning, match=r"mean_gap_"):  # sums of batches would lose them
        T = fair.fit(X + 0.5, sensitive_features={"age": age}).transform(X + 0.5)
    centred = (age - 1e10) - (age - 1e10).mean()
    assert_uncorrelated(T, centred, rtol=1e-12)


def test_mean_gap_of_a_kernel_does_not_shrink_with_the_weights():
    """Weights of 1e-9 made a gap of 1e-11 look like one of 1e-20."""
    gaps = [
        FairKernelPCA(2).fit(X, sensitive_features=Z, sample_weight=np.full(40, w)).mean_gap_
        for w in (1.0, 1e-9, 1e9)
    ]
    np.testing.assert_allclose(gaps, gaps[0], rtol=0.5)


def exact_variances(components, rows):
    """Variance along each component, in fractions: nothing is rounded."""
    rows = [[Fraction(v) for v in row] for row in rows.tolist()]
    mean = [sum(column) / len(rows) for column in zip(*rows, strict=True)]
    variances = []
    for u in components.tolist():
        t = [
            sum((x - m) * Fraction(c) for x, m, c in zip(row, mean, u, strict=True)) for row in rows
        ]
        variances.append(float(sum(x * x for x in t) / len(rows)))
    return np.array(variances)


@pytest.mark.filterwarnings("ignore::fairpca.errors.UnscaledWarning")  # rightly
@pytest.mark.parametrize("digits", [8, 12, 14])
@pytest.mark.parametrize("order", ["ascending", "descending", "shuffled"])
def test_components_are_ordered_by_variance_whatever_the_units(digits, order):
    """The largest direction left could come last, with a variance of 0 told."""
    rng = np.random.default_rng(1)
    z, d = np.arange(50) % 4, 8
    units = np.logspace(-digits / 2, digits / 2, d)
    if order != "ascending":
        units = units[::-1] if order == "descending" else rng.permutation(units)
    rows = (rng.normal(size=(50, d)) @ rng.normal(size=(d, d)) + rng.normal(size=(4, d))[z]) * units
    fair = FairPCA().fit(rows, sensitive_features=z)
    true = exact_variances(fair.components_, rows)
    assert np.all(true[1:] <= true[:-1] * (1 + 1e-5))
    told = fair.explained_variance_ * 49 / 50
    np.testing.assert_allclose(told, true, rtol=1e-5, atol=1e-28 * np.var(rows, axis=0).sum())
    for component in fair.transform(rows).T:
        assert_equal_group_means(component[:, None], z, rtol=1e-6)
    first = FairPCA(1).fit(rows, sensitive_features=z)
    np.testing.assert_allclose(exact_variances(first.components_, rows), true[:1], rtol=1e-5)


def true_gap(fair, rows, z):
    """The largest group difference, in standard deviations of a component, to 19 digits."""
    rows = rows.astype(np.longdouble)
    U = np.asarray(fair.components_ / (1.0 if fair.scale_ is None else fair.scale_), np.longdouble)
    T = (rows - rows.mean(axis=0)) @ U.T
    means = np.array([T[z == level].mean(axis=0) for level in np.unique(z)])
    return float(np.max(np.abs(means) / np.sqrt(np.mean(T**2, axis=0))))


@long_doubles
@pytest.mark.filterwarnings("ignore::fairpca.errors.UnscaledWarning")  # rightly
@pytest.mark.parametrize("apart", [1.0, 1e3, 1e5, 1e7, 1e9])
@pytest.mark.parametrize("span", [0, 12, 20])
def test_the_gap_that_is_told_is_the_gap_there_is(span, apart):
    """Units that span twelve orders left 7e-4 untold; of groups 1e8 deviations apart 0 was told."""
    for seed in range(12):
        rng = np.random.default_rng(seed)
        m, n = rng.integers(2, 6), rng.choice([50, 400])
        d = m + rng.integers(2, 9)
        z = rng.integers(m, size=n)
        rows = (
            rng.normal(size=(n, d)) @ rng.normal(size=(d, d)) + apart * rng.normal(size=(m, d))[z]
        )
        rows *= 10.0 ** rng.uniform(-span / 2, span / 2, size=d)
        for fair in (FairPCA(), FairPCA(1), FairPCA(scale=True)):
            try:
                fair.fit(rows, sensitive_features=z)
            except InfeasibleError as refusal:
                assert apart * 10.0**span > 1e6, refusal  # noqa: PT017
                continue
            gap = true_gap(fair, rows, z)
            assert gap < 1e-7
            assert gap <= 10 * fair.mean_gap_


@pytest.mark.parametrize("offset", [0.0, 1e3, 1e5])
def test_sparse_wide_rows_far_from_zero_have_no_component_of_rounding(offset):
    """Their products are centred afterwards; what is left of that was taken for a direction."""
    rng = np.random.default_rng(90)
    rows = np.round(rng.normal(size=(4, 9)) * 8) / 8 + offset
    groups = [None, None, "f", "m"]
    options = {"missing_sensitive": "ignore"}
    dense = FairPCA(**options).fit(rows, sensitive_features=groups)
    sparse = FairPCA(**options).fit(scipy.sparse.csr_array(rows), sensitive_features=groups)
    assert sparse.n_components_ == dense.n_components_
    np.testing.assert_allclose(sparse.explained_variance_, dense.explained_variance_, rtol=1e-4)


def test_two_wide_rows_of_two_groups_leave_no_component_along_their_difference():
    """All variance is between the groups; what rounding left of it became the first component."""
    for seed in range(720, 760):
        data = nasty(n=2, d=7, gap=0.0, seed=seed)
        with pytest.raises(InfeasibleError, match="vary along 0 direction"):
            FairPCA(scale=True).fit(data.X, sensitive_features=data.sensitive)


@pytest.mark.parametrize("keep", ["all", "possible"])
def test_groups_that_differ_by_rounding_only_are_refused_by_what_whitens(keep):
    """It was an error of LAPACK: the matrix is not positive definite."""
    data = nasty(
        n=210, d=205, shape="very_far_away", groups=("two", "two_hundred"), unit=1e6,
        weight="uneven", labels="numbers", seed=1,
    )  # fmt: skip
    with pytest.raises(InfeasibleError, match=r"vary by no more than rounding.*Subtract"):
        erasers.SPLINCE(keep).fit(
            data.X, data.y, sensitive_features=data.sensitive, sample_weight=data.weight
        )


def test_a_component_of_a_kernel_that_is_nearly_rounding_says_so():
    """An indefinite kernel left an eigenvalue of 1e-15: equal means were claimed to 1e-12.

    Whether it counts as a direction at all, depends on the machine; where not, it is refused.
    """
    data = nasty(groups=("float_levels", "float_levels"), weight="some", seed=1)
    fair = ESTIMATORS["sigmoid kernel"].made()
    try:
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            fair.fit(data.X, data.y, sensitive_features=data.sensitive, sample_weight=data.weight)
    except InfeasibleError:
        return
    assert any(re.search("mean_gap_|semi-definite", str(one.message)) for one in said)
    assert fair.mean_gap_ > 1e-4


@pytest.mark.parametrize("value", [1e5, 1e9, 1e15 / 3])
def test_a_constant_far_from_zero_separates_no_groups(value):
    """Rounding of its mean counted as a difference of 1e-11, and nothing was left of one column."""
    alone = np.full((3, 1), value)
    with pytest.raises(InfeasibleError, match=r"Nothing is left: .* along 0 direction\(s\)\."):
        FairPCA().fit(alone, sensitive_features=["f", "m", "m"])
    fair = FairPCA().fit(np.column_stack([X, np.full(40, value)]), sensitive_features=Z)
    assert (fair.constraint_rank_, fair.n_components_) == (1, 3)


@pytest.mark.parametrize("eraser", [erasers.LEACE(), erasers.SPLINCE("possible")])
@pytest.mark.parametrize("value", [1.0, 1e15 / 3, 1e40 / 3])
def test_a_constant_of_any_size_does_not_change_how_others_are_erased(eraser, value):
    """What rounding left of its scatter, 1e48 here, was inverted along with that of the others."""
    beside = np.column_stack([X, np.full(40, value)])
    alone = eraser.fit_transform(X, X[:, 0], sensitive_features=Z)
    T = eraser.fit_transform(beside, X[:, 0], sensitive_features=Z)
    np.testing.assert_allclose(T[:, :4], alone, atol=1e-9)


def test_two_rows_that_look_alike_to_all_landmarks_divide_by_nothing():
    data = nasty(n=2, d=2, shape="far_away")
    with pytest.raises(InfeasibleError, match="vary along 0 direction"):
        ESTIMATORS["nystroem"].made().fit(data.X, sensitive_features=data.sensitive)


@pytest.mark.parametrize(
    "labels", [[("f", 1), ("m", 2)], [("f",), "m"], [("f", 1), ("m",)], [["f", 1], ["m", 2]]]
)
def test_tuples_can_be_labels(labels):
    """NumPy refused an array of several shapes, or made two columns of one."""
    fair = FairPCA(1).fit(X, sensitive_features={"group": labels * 20})
    expected = [tuple(v) if isinstance(v, list) else v for v in labels]
    assert set(fair.groups_["group"]) == set(expected)


@pytest.mark.parametrize("kernel", ["rbf", "laplacian", "cosine", "poly", "linear"])
@pytest.mark.parametrize("approximation", [None, "nystroem"])
@pytest.mark.parametrize("fitted_to", [np.array, scipy.sparse.csr_array])
def test_sparse_rows_look_to_a_kernel_like_the_same_rows_in_an_array(
    kernel, approximation, fitted_to
):
    """An rbf kernel fitted to arrays measured these, not sparse rows, from a centre: 20 % off."""
    fair = FairKernelPCA(
        2, kernel=kernel, approximation=approximation, n_landmarks=12, random_state=0
    )
    fair.fit(fitted_to(X + 1.0), sensitive_features=Z)
    sparse, dense = (fair.transform(make(X + 1.0)) for make in (scipy.sparse.csr_array, np.array))
    np.testing.assert_allclose(sparse, dense, atol=1e-10 * np.abs(dense).max())


def test_rows_that_do_not_count_do_not_make_a_batch_underflow():
    """Equal rows of the positive class beside others had no squares, and seemed too small."""
    rows, y, groups = np.array([[1e6], [1e6], [2e6]]), [1, 1, 0], ["f", "m", "m"]
    fair = FairPCA(criterion="equal_opportunity")
    fair.partial_fit(rows, y, sensitive_features=groups)
    assert fair.moments_.n_rows == 2
