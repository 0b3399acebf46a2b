"""Fair kernel PCA against Algorithm 3 as printed, and linear fair PCA of explicit features."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics.pairwise import pairwise_kernels

from assertions import assert_orthonormal
from fairpca import InfeasibleError
from fairpca._attributes import read_attributes
from fairpca._rows import Rows
from fairpca.moments import attributes_over_rows
from fairpca.solvers import KernelScatter, equalize_kernel_means
from oracles import centred, fair_kernel_pca_by_the_book
from strategies import grouped_rows

RNG = np.random.default_rng(0)
N = 300  # enough for the iterations not to fall back to a direct solver
X = RNG.normal(size=(N, 9)) * np.linspace(2, 0.5, 9)
FIVE, TWO, AGE = RNG.integers(0, 5, N), RNG.integers(0, 2, N), RNG.normal(size=N)
X[:, 0] += FIVE
X[:, 1] += TWO + 0.5 * AGE

ATTRIBUTES = {
    "two groups": [TWO],
    "five groups": [FIVE],
    "three attributes": [FIVE, TWO, AGE],
    "numeric": [AGE],
    "nested": [FIVE, FIVE // 2],
}
KERNELS = {
    "rbf": {"metric": "rbf", "gamma": 0.2},
    "poly 2": {"metric": "poly", "degree": 2, "gamma": 0.3, "coef0": 1},
    "poly 5": {"metric": "poly", "degree": 5, "gamma": 0.1, "coef0": 1},
    "linear": {"metric": "linear"},
}


def over_rows(columns, weight=None):
    attributes = read_attributes({str(i): c for i, c in enumerate(columns)})
    return attributes_over_rows(Rows(np.zeros((len(columns[0]), 1)), weight, attributes))


def assert_same_column_space(A, B, atol):
    P, Q = np.linalg.qr(A)[0], np.linalg.qr(B)[0]
    np.testing.assert_allclose(P @ P.T, Q @ Q.T, atol=atol)


@pytest.mark.parametrize("solver", ["dense", "iterative"])
@pytest.mark.parametrize("centre", [True, False], ids=["centred", "uncentred"])
@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("attributes", ATTRIBUTES)
def test_it_is_algorithm_3(attributes, kernel, centre, solver):
    columns = ATTRIBUTES[attributes]
    k = 3
    K = pairwise_kernels(X, **KERNELS[kernel])
    values, expected = fair_kernel_pca_by_the_book(centred(K) if centre else K, *columns, k=k)
    fair = equalize_kernel_means(
        KernelScatter(K, centred=centre), over_rows(columns), k, solver=solver
    )
    np.testing.assert_allclose(fair.values, values, rtol=1e-7)
    assert_same_column_space(fair.representation, expected.T, atol=1e-6)


def test_the_constraint_holds_to_rounding_and_components_are_orthogonal():
    K = pairwise_kernels(X, metric="rbf", gamma=0.2)
    attributes = over_rows([FIVE, TWO, AGE])
    fair = equalize_kernel_means(KernelScatter(K), attributes, 8)
    Z = np.vstack([a.contrasts()[0] for a in attributes]).T
    unit = fair.representation / np.sqrt(fair.values)
    assert np.abs(Z.T @ unit).max() < 1e-12
    assert_orthonormal(unit)
    assert fair.constraint_rank == 4 + 1 + 1


def test_no_feasible_direction_does_better():
    """Certificate: whatever else satisfies the constraint has at most the last one's variance."""
    K = centred(pairwise_kernels(X, metric="rbf", gamma=0.2))
    fair = equalize_kernel_means(KernelScatter(K), over_rows([FIVE]), 3)
    Z = (FIVE[:, None] == np.arange(5)) - np.mean(FIVE[:, None] == np.arange(5), axis=0)
    for seed in range(200):
        b = np.random.default_rng(seed).standard_normal(N)
        b -= Z @ np.linalg.pinv(Z.T @ K @ Z) @ (Z.T @ K @ b)  # feasible: Z^T K b = 0
        b -= fair.coefficients @ (fair.coefficients.T @ K @ b)  # orthogonal to the solution
        t = K @ b
        assert t @ t / (b @ t) <= fair.values[-1] * (1 + 1e-9)


def test_polynomial_kernels_equal_linear_fair_pca_of_the_monomials():
    """(x y + 1)^2 is the product of explicit features, so moments must give the same answer."""
    from fairpca import FairPCA

    root2 = np.sqrt(2)
    i, j = np.triu_indices(9, 1)
    monomials = np.hstack([X**2, root2 * X[:, i] * X[:, j], root2 * X])
    linear = FairPCA(3).fit(monomials, sensitive_features={"five": FIVE, "age": AGE})
    K = (X @ X.T + 1) ** 2
    fair = equalize_kernel_means(KernelScatter(K), over_rows([FIVE, AGE]), 3)
    np.testing.assert_allclose(fair.values, linear.explained_variance_ * (N - 1), rtol=1e-10)
    assert_same_column_space(fair.representation, linear.transform(monomials), atol=1e-8)


@pytest.mark.parametrize("centre", [True, False])
def test_weights_are_repetitions(centre):
    w = RNG.integers(1, 4, N)
    K = pairwise_kernels(X, metric="rbf", gamma=0.2)
    repeat = np.repeat(np.arange(N), w)
    weighted = equalize_kernel_means(
        KernelScatter(K, w.astype(float), centre), over_rows([FIVE, AGE], w.astype(float)), 3
    )
    repeated = equalize_kernel_means(
        KernelScatter(K[np.ix_(repeat, repeat)], centred=centre),
        over_rows([FIVE[repeat], AGE[repeat]]),
        3,
    )
    np.testing.assert_allclose(weighted.values, repeated.values)
    unweighted = (weighted.representation / np.sqrt(w)[:, None])[repeat]
    assert_same_column_space(unweighted, repeated.representation, atol=1e-8)


@settings(max_examples=40)
@given(grouped_rows(weights=True), st.booleans(), st.sampled_from(["rbf", "laplacian", "poly"]))
def test_data_nobody_chose(rows, centre, metric):
    """Duplicated columns, offsets, tiny and nested groups, weights: equal means, to rounding."""
    X, columns, w = rows
    X = (X - X.mean(axis=0)) / X.std(axis=0).clip(1e-9)
    K = pairwise_kernels(X, metric=metric, gamma=0.3)
    attributes = over_rows(list(columns.values()), w)
    scatter = KernelScatter(K, w, centre)
    fair = equalize_kernel_means(scatter, attributes, 2)
    unit = fair.representation / np.sqrt(fair.values)
    for a in attributes:
        rows, sizes = a.contrasts()
        assert np.abs(rows @ unit / sizes[:, None]).max() < 1e-9
    np.testing.assert_allclose(
        scatter.apply(fair.coefficients.T).T, fair.representation, atol=1e-9 * scatter.norm
    )


def test_attributes_that_the_kernel_cannot_see_take_no_direction():
    """Twins, one of each group: all group means coincide in every feature space."""
    half = RNG.normal(size=(40, 3))
    both, z = np.vstack([half, half]), np.repeat([0, 1], 40)
    K = pairwise_kernels(both, metric="rbf", gamma=0.5)
    fair = equalize_kernel_means(KernelScatter(K), over_rows([z]), 5)
    plain = equalize_kernel_means(KernelScatter(K), (), 5)
    assert fair.constraint_rank == 0
    np.testing.assert_allclose(fair.values, plain.values)


def test_scatter_and_its_matrix_agree():
    w = RNG.uniform(0.1, 3, N)
    K = pairwise_kernels(X, metric="rbf", gamma=0.2)
    for scatter in (KernelScatter(K), KernelScatter(K, w), KernelScatter(K, w, centred=False)):
        dense = scatter.dense()
        rows = RNG.normal(size=(3, N))
        np.testing.assert_allclose(scatter.apply(rows), rows @ dense, atol=1e-10)
        assert scatter.trace == pytest.approx(np.trace(dense))
    weighted = np.sqrt(w)[:, None] * K * np.sqrt(w)
    assert KernelScatter(K, w).norm == pytest.approx(np.linalg.norm(weighted))


def test_a_share_of_the_variance_takes_the_fewest_components():
    K = pairwise_kernels(X, metric="rbf", gamma=0.2)
    scatter, attributes = KernelScatter(K), over_rows([FIVE])
    whole = equalize_kernel_means(scatter, attributes, None)
    share = whole.values[:5].sum() / scatter.trace
    enough = equalize_kernel_means(scatter, attributes, float(share) - 1e-9)
    assert len(enough.values) == 5
    assert len(whole.values) == N - 1 - 4  # all directions but the mean and the constraints
    with pytest.raises(InfeasibleError, match=r"asks for 99.99% of the variance"):
        equalize_kernel_means(scatter, attributes, 0.9999)


def test_more_components_than_directions_are_refused():
    K = X[:, :2] @ X[:, :2].T
    with pytest.raises(InfeasibleError, match=r"n_components=2 .* spans 1 direction"):
        equalize_kernel_means(KernelScatter(K), over_rows([TWO]), 2)
    with pytest.raises(InfeasibleError, match=r"n_components=300 .* at most 298"):
        equalize_kernel_means(KernelScatter(K), over_rows([TWO]), N)
