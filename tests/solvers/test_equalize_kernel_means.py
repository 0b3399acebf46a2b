"""Fair kernel PCA: Algorithm 3 as printed, linear fair PCA of explicit features, and its pieces."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics.pairwise import pairwise_kernels
from threadpoolctl import threadpool_limits

from assertions import assert_orthonormal
from fairpca._attributes import read_attributes
from fairpca._kernels import KernelScatter, kernel_scatter
from fairpca._moments import attributes_over_rows
from fairpca._rows import Rows
from fairpca.errors import InfeasibleError
from fairpca.solvers import _equalize_kernel_means as module
from fairpca.solvers import equalize_kernel_means
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


def over_rows(columns, weight=None, kinds=None):
    attributes = read_attributes({str(i): c for i, c in enumerate(columns)}, kinds=kinds)
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


FEW = 40


def kernel(values=None, seed=0):
    """A kernel matrix with the given eigenvalues; of Gaussians where none are given."""
    rng = np.random.default_rng(seed)
    if values is None:
        X = rng.normal(size=(FEW, 3))
        return np.exp(-0.2 * ((X[:, None] - X) ** 2).sum(axis=2))
    Q = np.linalg.qr(rng.normal(size=(len(values), len(values))))[0]
    K = (Q * np.asarray(values)) @ Q.T
    return 0.5 * (K + K.T)


HALVES = over_rows([np.arange(FEW) % 2])


@pytest.mark.parametrize(
    ("solver", "k", "n", "expected"),
    [
        ("dense", 2, 10_000, False),
        ("iterative", 2, 10, True),
        ("auto", 2, 500, False),
        ("auto", 2, 501, True),
        ("auto", 50, 1000, True),
        ("auto", 51, 1000, False),
        ("auto", None, 1000, False),
        ("iterative", 0.5, 1000, False),
        ("iterative", None, 1000, False),
    ],
)
def test_few_components_of_many_rows_are_iterated_for(solver, k, n, expected):
    assert module._iterates(solver, k, n) is expected


@pytest.fixture
def used(monkeypatch):
    names = []

    def spy(name):
        original = getattr(module, name)

        def called(*args, **kwargs):
            names.append((name, args, kwargs))
            return original(*args, **kwargs)

        monkeypatch.setattr(module, name, called)

    spy("leading_eigenpairs")
    spy("_directly")
    return names


@pytest.mark.parametrize(
    ("solver", "expected"), [("dense", "_directly"), ("iterative", "leading_eigenpairs")]
)
@pytest.mark.parametrize("values", [None, [-3.0, *range(1, FEW)]], ids=["definite", "indefinite"])
def test_the_solver_and_its_options_are_passed_on(used, solver, expected, values):
    scatter = KernelScatter(kernel(values), centred=False)
    equalize_kernel_means(scatter, HALVES, 2, solver=solver, tol=1e-5, seed=7)
    assert [name for name, _, _ in used] == [expected]
    if solver == "iterative":
        assert used[0][2] == {"tol": 1e-5, "seed": 7}


@pytest.mark.parametrize("small", [FEW - 1, FEW], ids=["many rows", "few rows"])
@pytest.mark.parametrize(
    ("values", "smallest"),
    [
        ([-3.0, *range(1, FEW)], -3.0),
        ([-1e-14, *range(1, FEW)], None),
        ([0.5, *range(1, FEW)], None),
    ],
    ids=["indefinite", "rounding", "definite"],
)
def test_negative_eigenvalues_are_found_reported_and_left_out(
    monkeypatch, used, small, values, smallest
):
    monkeypatch.setattr(module, "SMALL", small)
    K = kernel(values)
    found = equalize_kernel_means(KernelScatter(K, centred=False), HALVES, 3)
    glances = [kwargs for name, _, kwargs in used if name == "leading_eigenpairs"]
    assert len(glances) == (small < FEW)
    if glances:
        assert glances[0] == {"products": module.GLANCE, "seed": 0}
    if smallest is None:
        assert found.smallest is None
    else:
        assert found.smallest == pytest.approx(smallest)
    kept = np.maximum(np.linalg.eigvalsh(K), 0)
    assert found.values[0] <= kept[-1] * (1 + 1e-12)
    z = np.arange(FEW) % 2
    T = found.representation
    np.testing.assert_allclose(T[z == 0].mean(axis=0), T[z == 1].mean(axis=0), atol=1e-8)


def test_a_kernel_known_to_be_definite_is_not_looked_at_twice(monkeypatch, used):
    monkeypatch.setattr(module, "SMALL", FEW - 1)
    equalize_kernel_means(KernelScatter(kernel()), HALVES, 3, definite=True, solver="dense")
    assert [name for name, _, _ in used] == ["_directly"]


def test_all_rows_but_one_and_the_constraint_can_be_directions():
    scatter = KernelScatter(kernel([*range(1, FEW + 1)]))
    assert len(equalize_kernel_means(scatter, HALVES, FEW - 2).values) == FEW - 2
    with pytest.raises(InfeasibleError, match=f"at most {FEW - 2} directions"):
        equalize_kernel_means(scatter, HALVES, FEW - 1)
    plain = KernelScatter(kernel([*range(1, FEW + 1)]), centred=False)
    assert len(equalize_kernel_means(plain, HALVES, FEW - 1).values) == FEW - 1


@pytest.mark.parametrize("solver", ["dense", "iterative"])
def test_a_kernel_that_spans_too_little_says_what_it_spans(solver):
    flat = KernelScatter(kernel([*[0.0] * (FEW - 3), 1.0, 2.0, 3.0]), centred=False)
    assert len(equalize_kernel_means(flat, HALVES, 2, solver=solver).values) == 2
    with pytest.raises(InfeasibleError, match=r"^n_components=3 is too large: The kernel spans 2 "):
        equalize_kernel_means(flat, HALVES, 3, solver=solver)
    with pytest.raises(InfeasibleError, match=r"^The kernel spans 0 direction.*\('0'\)"):
        equalize_kernel_means(KernelScatter(np.zeros((FEW, FEW))), HALVES, None)


@pytest.mark.parametrize("unit", [1e-200, 1e-3, 1.0, 1e200])
@pytest.mark.parametrize("sign", [1, -1])
def test_the_norm_of_a_kernel_in_any_unit(unit, sign):
    """Squares of such numbers would underflow or overflow."""
    K = np.array([[1.0, -3.0], [-3.0, 2.0]])
    w = np.array([0.5, 4.0])
    assert KernelScatter(sign * unit * K).norm == pytest.approx(unit * np.linalg.norm(K), rel=1e-12)
    weighted = np.sqrt(w)[:, None] * K * np.sqrt(w)
    expected = unit * np.linalg.norm(weighted)
    assert KernelScatter(sign * unit * K, w).norm == pytest.approx(expected, rel=1e-12)
    assert KernelScatter(0 * K, w).norm == 0


def test_the_norm_is_summed_over_all_blocks(monkeypatch):
    monkeypatch.setattr(kernel_scatter, "block_rows", lambda n: 7)
    w = RNG.uniform(0.5, 2, FEW)
    K = kernel()
    weighted = np.sqrt(w)[:, None] * K * np.sqrt(w)
    assert KernelScatter(K, w).norm == pytest.approx(np.linalg.norm(weighted))
    q = np.sqrt(w / w.sum())
    P = np.eye(FEW) - np.outer(q, q)
    np.testing.assert_allclose(KernelScatter(K, w).dense(), P @ weighted @ P, atol=1e-12)


def test_noise_and_resolution_are_shares_of_the_norm():
    scatter = KernelScatter(kernel(), precision=1e-10)
    assert scatter.noise < scatter.resolution
    for name in ("noise", "resolution"):
        finer = KernelScatter(1000 * scatter.K, precision=1e-12)
        assert getattr(finer, name) == pytest.approx(10 * getattr(scatter, name))
    many = KernelScatter(np.kron(np.eye(4), scatter.K), precision=1e-10)
    assert many.noise == pytest.approx(2 * scatter.noise)
    assert many.resolution == pytest.approx(scatter.resolution)


def test_the_deflation_removes_what_the_attributes_see():
    age, four = RNG.normal(size=FEW), np.arange(FEW) % 4
    scatter = KernelScatter(kernel())
    for columns, rank in (((four,), 3), ((four, four // 2), 3), ((four, age), 4), ((age,), 1)):
        found = module._deflation_of(scatter, over_rows(columns))
        assert found.rank == rank
        np.testing.assert_allclose(found.Z.T @ found.Z, np.eye(rank), atol=1e-12)
        np.testing.assert_allclose(found.A, scatter.dense() @ found.Z, atol=1e-10)
        np.testing.assert_allclose(found.Z.T @ found.A, np.diag(found.m), atol=1e-10)
        np.testing.assert_allclose(
            found.apply(np.eye(FEW)), (found.A / found.m) @ found.A.T, atol=1e-10
        )
    nothing = module._deflation_of(scatter, ())
    assert (nothing.rank, nothing.Z.shape) == (0, (FEW, 0))


def test_units_of_attributes_do_not_matter_for_the_rank():
    for unit in (1e-30, 1e-9, 1e9, 1e30):
        age = unit * (np.arange(FEW) % 7 + RNG.random(FEW))
        four = np.arange(FEW) % 4
        columns = over_rows([four, age], kinds={"1": "numeric"})
        assert module._deflation_of(KernelScatter(kernel()), columns).rank == 4


class Indivisible(KernelScatter):
    """A kernel that must not be decomposed as a whole."""

    def dense(self):
        raise AssertionError("decomposed")


@pytest.mark.parametrize("unit", [1e-200, 1e-6, 1.0, 1e6])
@pytest.mark.parametrize("seed", [0, 1])
def test_a_glance_at_many_rows_tells_definite_kernels_from_others(monkeypatch, unit, seed):
    monkeypatch.setattr(module, "SMALL", 299)
    two = over_rows([np.arange(300) % 2])
    values = 0.9 ** np.arange(300)
    definite = Indivisible(unit * kernel(values, seed), centred=False)
    assert module._indefinite_eigenpairs(definite, two, seed) is None
    values[-1] = -0.3
    K = unit * kernel(values, seed)
    found, _ = module._indefinite_eigenpairs(KernelScatter(K, centred=False), two, seed)
    assert found[0] == pytest.approx(-0.3 * unit)


def test_a_direction_between_groups_of_negative_length_gives_an_indefinite_kernel_away(monkeypatch):
    """So small an eigenvalue that few products miss it, but the contrast lies along it."""
    monkeypatch.setattr(module, "SMALL", 299)
    z = np.arange(300) % 2
    contrast = (z - 0.5) / np.sqrt(75)
    rng = np.random.default_rng(0)
    Q = np.linalg.qr(np.column_stack([contrast, rng.normal(size=(300, 299))]))[0]
    values = np.concatenate([[-1e-4], 1.0 + 0.001 * np.arange(299)])
    K = (Q * values) @ Q.T
    found = module._indefinite_eigenpairs(
        KernelScatter(0.5 * (K + K.T), centred=False), over_rows([z]), 0
    )
    assert found[0][0] == pytest.approx(-1e-4)


@pytest.mark.parametrize("unit", [1e-30, 1e30])
def test_units_of_weights_do_not_matter_for_the_rank(unit):
    w = unit * RNG.uniform(0.5, 2, FEW)
    four, age = np.arange(FEW) % 4, RNG.normal(size=FEW)
    assert module._deflation_of(KernelScatter(kernel(), w), over_rows([four, age], w)).rank == 4


@pytest.mark.parametrize("centred", [True, False])
def test_an_indefinite_kernel_is_solved_by_its_positive_part(centred):
    K = kernel([-3.0, *range(1, FEW)])
    if centred:
        P = np.eye(FEW) - 1 / FEW
        K = P @ K @ P
    values, V = np.linalg.eigh(K)
    part = (V * np.maximum(values, 0)) @ V.T
    found = equalize_kernel_means(KernelScatter(K, centred=centred), HALVES, 4)
    expected = equalize_kernel_means(KernelScatter(part, centred=centred), HALVES, 4)
    np.testing.assert_allclose(found.values, expected.values)
    np.testing.assert_allclose(
        np.abs(found.representation), np.abs(expected.representation), atol=1e-8
    )


@pytest.mark.parametrize("b", [0, 1, 8, 10])
@pytest.mark.parametrize("part", [2**22, 100])
def test_products_are_the_same_however_they_are_shared(monkeypatch, b, part):
    monkeypatch.setattr("fairpca._kernels.kernel_scatter.PART", part)
    rng = np.random.default_rng(0)
    K = rng.normal(size=(101, 101))
    K, vectors = K + K.T, rng.normal(size=(b, 101))
    plain = KernelScatter(K, centred=False)
    with threadpool_limits(3):
        np.testing.assert_allclose(plain.apply(vectors), vectors @ K, atol=1e-12)
        np.testing.assert_allclose(plain.norm, np.linalg.norm(K), rtol=1e-12)
        with plain.side_by_side() as share:
            np.testing.assert_allclose(plain.apply(vectors, share), vectors @ K, atol=1e-12)
