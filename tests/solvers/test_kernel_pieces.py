"""The pieces of fair kernel PCA: sizes, the choice of solver, negative eigenvalues."""

from importlib import import_module

import numpy as np
import pytest

from fairpca import InfeasibleError
from fairpca._attributes import read_attributes
from fairpca._rows import Rows
from fairpca.moments import attributes_over_rows
from fairpca.solvers import KernelScatter, equalize_kernel_means
from fairpca.solvers._equalize_kernel_means import _deflation_of as deflation_of

module = import_module("fairpca.solvers._equalize_kernel_means")
RNG = np.random.default_rng(0)
N = 40


def attributes(*columns, weight=None):
    named = {str(i): column for i, column in enumerate(columns)}
    rows = Rows(np.zeros((len(columns[0]), 1)), weight, read_attributes(named))
    return attributes_over_rows(rows)


def kernel(values=None, seed=0):
    """A kernel matrix with the given eigenvalues; of Gaussians where none are given."""
    rng = np.random.default_rng(seed)
    if values is None:
        X = rng.normal(size=(N, 3))
        return np.exp(-0.2 * ((X[:, None] - X) ** 2).sum(axis=2))
    Q = np.linalg.qr(rng.normal(size=(len(values), len(values))))[0]
    K = (Q * np.asarray(values)) @ Q.T
    return 0.5 * (K + K.T)


HALVES = attributes(np.arange(N) % 2)


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
@pytest.mark.parametrize("values", [None, [-3.0, *range(1, N)]], ids=["definite", "indefinite"])
def test_the_solver_and_its_options_are_passed_on(used, solver, expected, values):
    scatter = KernelScatter(kernel(values), centred=False)
    equalize_kernel_means(scatter, HALVES, 2, solver=solver, tol=1e-5, seed=7)
    assert [name for name, _, _ in used] == [expected]
    if solver == "iterative":
        assert used[0][2] == {"tol": 1e-5, "seed": 7}


@pytest.mark.parametrize("small", [N - 1, N], ids=["many rows", "few rows"])
@pytest.mark.parametrize(
    ("values", "smallest"),
    [
        ([-3.0, *range(1, N)], -3.0),
        ([-1e-14, *range(1, N)], None),
        ([0.5, *range(1, N)], None),
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
    assert len(glances) == (small < N)
    if glances:
        assert glances[0] == {"products": module.GLANCE, "seed": 0}
    if smallest is None:
        assert found.smallest is None
    else:
        assert found.smallest == pytest.approx(smallest)
    kept = np.maximum(np.linalg.eigvalsh(K), 0)
    assert found.values[0] <= kept[-1] * (1 + 1e-12)
    z = np.arange(N) % 2
    T = found.representation
    np.testing.assert_allclose(T[z == 0].mean(axis=0), T[z == 1].mean(axis=0), atol=1e-8)


def test_a_kernel_known_to_be_definite_is_not_looked_at_twice(monkeypatch, used):
    monkeypatch.setattr(module, "SMALL", N - 1)
    equalize_kernel_means(KernelScatter(kernel()), HALVES, 3, definite=True, solver="dense")
    assert [name for name, _, _ in used] == ["_directly"]


def test_all_rows_but_one_and_the_constraint_can_be_directions():
    scatter = KernelScatter(kernel([*range(1, N + 1)]))
    assert len(equalize_kernel_means(scatter, HALVES, N - 2).values) == N - 2
    with pytest.raises(InfeasibleError, match=f"at most {N - 2} directions"):
        equalize_kernel_means(scatter, HALVES, N - 1)
    plain = KernelScatter(kernel([*range(1, N + 1)]), centred=False)
    assert len(equalize_kernel_means(plain, HALVES, N - 1).values) == N - 1


@pytest.mark.parametrize("solver", ["dense", "iterative"])
def test_a_kernel_that_spans_too_little_says_what_it_spans(solver):
    flat = KernelScatter(kernel([*[0.0] * (N - 3), 1.0, 2.0, 3.0]), centred=False)
    assert len(equalize_kernel_means(flat, HALVES, 2, solver=solver).values) == 2
    with pytest.raises(InfeasibleError, match=r"^n_components=3 is too large: The kernel spans 2 "):
        equalize_kernel_means(flat, HALVES, 3, solver=solver)
    with pytest.raises(InfeasibleError, match=r"^The kernel spans 0 direction.*\('0'\)"):
        equalize_kernel_means(KernelScatter(np.zeros((N, N))), HALVES, None)


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
    monkeypatch.setattr(import_module("fairpca.solvers._kernel_scatter"), "block_rows", lambda n: 7)
    w = RNG.uniform(0.5, 2, N)
    K = kernel()
    weighted = np.sqrt(w)[:, None] * K * np.sqrt(w)
    assert KernelScatter(K, w).norm == pytest.approx(np.linalg.norm(weighted))
    q = np.sqrt(w / w.sum())
    P = np.eye(N) - np.outer(q, q)
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
    age, four = RNG.normal(size=N), np.arange(N) % 4
    scatter = KernelScatter(kernel())
    for columns, rank in (((four,), 3), ((four, four // 2), 3), ((four, age), 4), ((age,), 1)):
        found = deflation_of(scatter, attributes(*columns))
        assert found.rank == rank
        np.testing.assert_allclose(found.Z.T @ found.Z, np.eye(rank), atol=1e-12)
        np.testing.assert_allclose(found.A, scatter.dense() @ found.Z, atol=1e-10)
        np.testing.assert_allclose(found.Z.T @ found.A, np.diag(found.m), atol=1e-10)
        np.testing.assert_allclose(
            found.apply(np.eye(N)), (found.A / found.m) @ found.A.T, atol=1e-10
        )
    nothing = deflation_of(scatter, ())
    assert (nothing.rank, nothing.Z.shape) == (0, (N, 0))


def test_units_of_attributes_do_not_matter_for_the_rank():
    for unit in (1e-30, 1e-9, 1e9, 1e30):
        age = unit * (np.arange(N) % 7 + RNG.random(N))
        four = np.arange(N) % 4
        assert deflation_of(KernelScatter(kernel()), attributes(four, age)).rank == 4


class Indivisible(KernelScatter):
    """A kernel that must not be decomposed as a whole."""

    def dense(self):
        raise AssertionError("decomposed")


@pytest.mark.parametrize("unit", [1e-200, 1e-6, 1.0, 1e6])
@pytest.mark.parametrize("seed", [0, 1])
def test_a_glance_at_many_rows_tells_definite_kernels_from_others(monkeypatch, unit, seed):
    monkeypatch.setattr(module, "SMALL", 299)
    two = attributes(np.arange(300) % 2)
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
        KernelScatter(0.5 * (K + K.T), centred=False), attributes(z), 0
    )
    assert found[0][0] == pytest.approx(-1e-4)


@pytest.mark.parametrize("unit", [1e-30, 1e30])
def test_units_of_weights_do_not_matter_for_the_rank(unit):
    w = unit * RNG.uniform(0.5, 2, N)
    four, age = np.arange(N) % 4, RNG.normal(size=N)
    assert deflation_of(KernelScatter(kernel(), w), attributes(four, age, weight=w)).rank == 4


@pytest.mark.parametrize("centred", [True, False])
def test_an_indefinite_kernel_is_solved_by_its_positive_part(centred):
    K = kernel([-3.0, *range(1, N)])
    if centred:
        P = np.eye(N) - 1 / N
        K = P @ K @ P
    values, V = np.linalg.eigh(K)
    part = (V * np.maximum(values, 0)) @ V.T
    found = equalize_kernel_means(KernelScatter(K, centred=centred), HALVES, 4)
    expected = equalize_kernel_means(KernelScatter(part, centred=centred), HALVES, 4)
    np.testing.assert_allclose(found.values, expected.values)
    np.testing.assert_allclose(
        np.abs(found.representation), np.abs(expected.representation), atol=1e-8
    )
