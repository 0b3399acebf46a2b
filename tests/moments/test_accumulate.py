"""Moments are what their names say: however rows are split, shifted, typed and stored."""

from dataclasses import replace
from functools import reduce
from importlib import import_module
from itertools import pairwise
from operator import add

import numpy as np
import pytest
import scipy.sparse
from hypothesis import given
from hypothesis import strategies as st

from assertions import assert_close, assert_same_moments
from fairpca import FairPCA
from fairpca._moments import (
    DenseScatter,
    LevelMoments,
    NumericMoments,
    RowScatter,
    accumulate,
    products,
)
from fairpca.moments import collect_moments
from moments import made_rows
from optional_libraries import array_api_strict as strict
from strategies import grouped_rows


def scatter_by_the_book(X, w=None):
    w = np.ones(len(X)) if w is None else w
    centred = X - np.average(X, axis=0, weights=w)
    return (centred * w[:, None]).T @ centred


@given(grouped_rows(weights=True))
def test_moments_are_what_their_names_say(rows):
    X, columns, w = rows
    moments = collect_moments(X, columns, sample_weight=w, with_scatters=True)
    mean = np.average(X, axis=0, weights=w)
    spread = np.std(X, axis=0).max()
    assert_close(moments.mean, mean, np.abs(X).max())
    assert_close(
        moments.scatter.dense().matrix, scatter_by_the_book(X, w), len(X) * spread**2, 1e-8
    )
    for a in moments.attributes:
        column = columns[a.name]
        if isinstance(a, LevelMoments):
            for g, label in enumerate(a.labels):
                of_g = column == label
                centred = X[of_g] - mean
                assert a.count[g] == of_g.sum()
                assert_close(a.total[g], w[of_g] @ centred, len(X) * spread, 1e-8)
                expected = scatter_by_the_book(X[of_g], w[of_g])
                assert_close(a.scatters[g].dense().matrix, expected, len(X) * spread**2, 1e-8)
        else:
            v = column - np.average(column, weights=w)
            size = len(X) * spread * np.std(column)
            assert_close(a.cross, (w * v) @ (X - mean), size, 1e-8)


@given(grouped_rows(weights=True), st.lists(st.integers(0, 60), max_size=4))
def test_moments_do_not_depend_on_how_the_rows_are_split(rows, cuts):
    X, columns, w = rows
    whole = collect_moments(X, columns, sample_weight=w, with_scatters=True)
    edges = sorted({0, len(X), *(min(cut, len(X)) for cut in cuts)})
    parts = [
        collect_moments(
            X[a:b],
            {name: column[a:b] for name, column in columns.items()},
            sample_weight=w[a:b],
            with_scatters=True,
            sensitive_kinds={"v": "numeric"} if "v" in columns else None,
        )
        for a, b in pairwise(edges)
    ]
    assert_same_moments(reduce(add, parts), whole, np.abs(X).max())
    assert_same_moments(reduce(add, parts[::-1]), whole, np.abs(X).max())


def test_float32_rows_near_a_thousand_keep_their_scatter():
    """X^T X - n mu mu^T in float32 has a relative error of several hundred per cent here."""
    rng = np.random.default_rng(0)
    X = (rng.normal(size=(20_000, 5)) * 0.1 + 1000).astype(np.float32)
    moments = collect_moments(X, rng.integers(0, 2, len(X)))
    exact = scatter_by_the_book(X.astype(float))
    naive = (X.T @ X - len(X) * np.outer(X.mean(0), X.mean(0))).astype(float)
    size = np.abs(exact).max()
    assert np.abs(naive - exact).max() / size > 0.1
    assert np.abs(moments.scatter.matrix - exact).max() / size < 2e-5


def test_whole_numbers_are_levels_over_batches_too_until_one_has_a_fraction():
    X = np.random.default_rng(0).normal(size=(13, 2))
    values = [*map(float, range(12)), 0.5]
    batches = [collect_moments(X[i : i + 1], {"v": [v]}) for i, v in enumerate(values)]
    assert len(reduce(add, batches[:12]).attributes[0].labels) == 12
    whole, apart = collect_moments(X, {"v": values}), reduce(add, batches)
    assert isinstance(apart.attributes[0], NumericMoments)
    np.testing.assert_allclose(apart.attributes[0].cross, whole.attributes[0].cross, atol=1e-12)


def test_levels_and_numbers_that_cannot_be_reconciled_are_refused():
    X = np.ones((2, 2))
    with pytest.raises(ValueError, match=r"numeric in one batch.*sensitive_kinds"):
        collect_moments(X, {"v": ["a", "b"]}) + collect_moments(X, {"v": [0.5, 0.25]})


def test_moments_of_different_width_do_not_add():
    with pytest.raises(ValueError, match="Moments of 2 features cannot be added"):
        collect_moments(np.ones((2, 2)), [0, 1]) + collect_moments(np.ones((2, 3)), [0, 1])


@pytest.mark.parametrize("with_weights", [False, True])
@pytest.mark.parametrize("shape", [(40, 6), (6, 40)], ids=["tall", "wide"])
@pytest.mark.parametrize("offset", [0.0, 50.0])
def test_sparse_rows_give_the_moments_of_their_dense_twin(shape, with_weights, offset):
    rng = np.random.default_rng(3)
    X = scipy.sparse.random(*shape, density=0.3, format="csr", random_state=3)
    X = scipy.sparse.csr_array(X)
    if offset:  # a column without zeros, far from the origin
        X = scipy.sparse.hstack([X, offset + rng.normal(size=(shape[0], 1))], format="csr")
    z = np.arange(shape[0]) % 3
    w = rng.uniform(0.5, 2, shape[0]) if with_weights else None
    sparse = collect_moments(X, z, sample_weight=w, with_scatters=True)
    dense = collect_moments(X.toarray(), z, sample_weight=w, with_scatters=True)
    assert_same_moments(sparse, dense, max(1.0, offset), 1e-12)


def test_rows_become_a_matrix_once_that_is_smaller():
    rng = np.random.default_rng(5)
    X, z = rng.normal(size=(20, 8)), np.arange(20) % 2
    first, second = collect_moments(X[:5], z[:5]), collect_moments(X[5:], z[5:])
    few = collect_moments(X[:3], z[:3]) + collect_moments(X[3:6], z[3:6])
    assert isinstance(few.scatter, RowScatter)
    assert isinstance((first + second).scatter, DenseScatter)
    assert_same_moments(first + second, collect_moments(X, z), 3.0)


@pytest.mark.parametrize("d", [4, 40])
def test_any_array_library_gives_the_same_moments_and_no_input_is_written_to(asarray, d):
    rng = np.random.default_rng(6)
    X, z, v = rng.normal(size=(30, d)) + 1e3, np.arange(30) % 3, rng.normal(size=30)
    reference = collect_moments(X, {"z": z, "v": v}, with_scatters=True)
    other = collect_moments(asarray(X), {"z": z, "v": v}, with_scatters=True)
    assert_same_moments(other, reference, 1e3, 1e-13)


def test_lengths_that_differ_are_refused():
    with pytest.raises(ValueError, match=r"X has 3 rows.*has 2 entries"):
        collect_moments(np.ones((3, 2)), [0, 1])


def test_a_spread_that_rounding_of_the_mean_explains_counts_as_constant():
    moments = collect_moments(np.eye(2), [0, 1])
    noisy = replace(
        moments, mean=np.array([0.3, 0.0]), scatter=DenseScatter(np.diag([1e-32, 1e-32]))
    )
    assert noisy.varies.tolist() == [False, True]
    assert noisy.standard_deviations[0] == 1


@pytest.fixture
def passes(monkeypatch):
    """The shift of each pass over the rows."""
    shifts = []
    module = import_module("fairpca._moments.accumulate")
    original = module.one_pass

    def spy(rows, design, shift, kind):
        shifts.append(shift)
        return original(rows, design, shift, kind)

    monkeypatch.setattr(module, "one_pass", spy)
    return shifts


def normal(mean, n=1000, dtype=float):
    X = np.random.default_rng(0).normal(size=(n, 2))
    return ((X - X.mean(axis=0)) / X.std(axis=0) + mean).astype(dtype)


@pytest.mark.parametrize(
    ("X", "shifted"),
    [
        (normal([3, 0]), False),
        (normal([20, 0]), True),
        (normal([0.5, 0], dtype=np.float32), False),
        (normal([1.2, 0], dtype=np.float32), True),
        (normal([3, 0], dtype=np.float32), True),
        (np.column_stack([normal([1, 1]), np.zeros(1000)]), False),
    ],
    ids=["near", "far", "near, single", "off by 1.2, single", "off by 3, single", "a zero column"],
)
def test_rows_are_shifted_only_where_digits_would_be_lost(passes, X, shifted):
    moments = collect_moments(X, np.arange(1000) % 2)
    assert [shift is not None for shift in passes] == [shifted]
    np.testing.assert_allclose(moments.mean, X.mean(axis=0), atol=1e-5)


def test_columns_far_apart_take_one_pass_each_about_its_own_mean(passes):
    X = normal([1e8, -1e6])
    moments = collect_moments(X, np.arange(1000) % 2)
    assert len(passes) == 1
    np.testing.assert_allclose(passes[0], X.mean(axis=0), rtol=1e-6)
    np.testing.assert_allclose(np.diag(moments.scatter.matrix), 1000, rtol=1e-6)


def test_a_sample_that_misjudged_the_rows_costs_a_second_pass(passes):
    X = normal([1e6, 0], n=51_200)
    X[:: 51_200 // 256, 0] -= 1e6 - 1  # the rows that are looked at first
    moments = collect_moments(X, np.arange(51_200) % 2)
    assert len(passes) == 2
    np.testing.assert_allclose(moments.mean, X.mean(axis=0), rtol=1e-12, atol=1e-12)
    centred = X - X.mean(axis=0)
    np.testing.assert_allclose(moments.scatter.matrix, centred.T @ centred, rtol=1e-9, atol=1e-3)


@pytest.mark.parametrize("with_scatters", [False, True])
@pytest.mark.parametrize("complete", [True, False], ids=["all known", "some missing"])
def test_shares_of_the_blocks_add_up(monkeypatch, with_scatters, complete):
    """As threads take them; three shares, one of them of a single block."""
    n = 25_000
    rng = np.random.default_rng(1)
    X, w, age = rng.normal(size=(n, 3)), rng.uniform(0.5, 2, n), rng.normal(size=n)
    sex = np.array(["f", "m", None if not complete else "f"], dtype=object)[rng.integers(0, 3, n)]
    options = {
        "sample_weight": w,
        "with_scatters": with_scatters,
        "missing_sensitive": "ignore",
    }
    whole = collect_moments(X, {"sex": sex, "age": age}, **options)
    module = import_module("fairpca._moments.accumulate")
    shares = []

    def each(work, runs):
        shares.extend(runs)
        return [work(run) for run in runs]

    monkeypatch.setattr(module, "RUN", n * 3 // 32)
    monkeypatch.setattr(module, "each_item", each)
    shared = collect_moments(X, {"sex": sex, "age": age}, **options)
    assert len(shares) >= 4
    assert all(len(share) > 0 for share in shares)
    np.testing.assert_allclose(shared.mean, whole.mean, atol=1e-12)
    np.testing.assert_allclose(shared.scatter.matrix, whole.scatter.matrix, atol=1e-7)
    for a, b in zip(shared.attributes, whole.attributes, strict=True):
        np.testing.assert_allclose(a.total, b.total, atol=1e-7)
        scatters = [getattr(x, "scatters", None) or () for x in (a, b)]
        for s, t in zip(*scatters, strict=True):
            np.testing.assert_allclose(s.matrix, t.matrix, atol=1e-7)


@pytest.mark.parametrize(("n", "form"), [(5, RowScatter), (6, DenseScatter)])
def test_rows_are_kept_while_there_are_fewer_of_them_than_features(n, form):
    X = np.random.default_rng(2).normal(size=(n, 6))
    moments = collect_moments(X, np.arange(n) % 2, with_scatters=True)
    assert isinstance(moments.scatter, form)
    centred = X - X.mean(axis=0)
    np.testing.assert_allclose(moments.scatter.dense().matrix, centred.T @ centred, atol=1e-12)


def test_sparse_rows_with_many_entries_become_a_matrix_at_once():
    sparse = pytest.importorskip("scipy.sparse")
    dense = np.random.default_rng(4).normal(size=(12, 3))
    few = np.zeros((12, 9))
    few[:, 0] = dense[:, 0]
    of = lambda X: collect_moments(sparse.csr_array(X), np.arange(12) % 2, with_scatters=True)  # noqa: E731
    assert isinstance(of(dense).scatter, DenseScatter)
    assert isinstance(of(dense).attributes[0].scatters[0], DenseScatter)
    assert isinstance(of(few).scatter, RowScatter)
    assert isinstance(of(few).attributes[0].scatters[0], RowScatter)


def test_scatters_of_groups_are_collected_only_on_request():
    for X in (np.ones((4, 2)) * np.arange(4)[:, None], np.eye(4, 6)):
        assert collect_moments(X, [0, 1, 0, 1]).attributes[0].scatters is None
        column = made_rows.levels("x", ("a", "b"), np.array([0, 1, 0, 1]))
        assert accumulate(made_rows.rows(X, None, column)).attributes[0].scatters is None


@pytest.mark.parametrize("shape", [(6, 9), (60, 9)], ids=["wide", "tall"])
def test_differences_between_groups_keep_their_digits_far_from_the_origin(shape):
    rng = np.random.default_rng(5)
    steps = np.round(rng.normal(size=shape) * 1024) / 1024
    z = np.arange(shape[0]) % 2
    near, far = (collect_moments(steps + offset, z) for offset in (0.0, 2.0**30))
    np.testing.assert_allclose(
        far.attributes[0].total, near.attributes[0].total, rtol=1e-12, atol=1e-12
    )


@pytest.mark.parametrize("make", ["numpy", "elsewhere"])
def test_narrow_levels_far_apart_keep_the_digits_of_their_scatters(make):
    """Each level is measured from a few of its own rows.

    Entries at 1e7 are rounded by 2e-9, which is 1e-6 in a sum of 500 products; measured from the
    other level, the sums of squares would be rounded by 10.
    """
    X, z = normal([0, 0]), np.arange(1000) % 2
    far = X + np.where(z == 0, -1e7, 1e7)[:, None]
    rows = far if make == "numpy" else strict.asarray(far)
    scatters = collect_moments(rows, z, with_scatters=True).attributes[0].scatters
    for g in (0, 1):
        centred = far[z == g] - far[z == g].mean(axis=0)
        np.testing.assert_allclose(np.asarray(scatters[g].matrix), centred.T @ centred, atol=1e-5)


def test_weights_of_no_rows_are_numbers_that_can_be_saved():
    rows = np.arange(12.0).reshape(4, 3)
    fair = FairPCA(1, criterion="equal_opportunity")
    fair.partial_fit(rows, [0, 0, 0, 0], sensitive_features=[*"abab"], sample_weight=np.ones(4))
    (group,) = fair.moments_.attributes
    assert group.weight.dtype == float


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("levels", [2, 32, 33, 500])
def test_many_levels_are_added_up_as_few_are(levels, weighted):
    rng = np.random.default_rng(levels)
    n = 3000
    X, z = rng.normal(size=(n, 4)) + 5.0, rng.integers(0, levels, n).astype(object)
    z[:levels], z[-9:] = np.arange(levels), None
    w = rng.uniform(0.5, 2, n) if weighted else np.ones(n)
    moments = collect_moments(
        X,
        {"sex": np.arange(n) % 2, "town": z},
        sample_weight=w if weighted else None,
        missing_sensitive="ignore",
        sensitive_kinds={"town": "categorical"},
    )
    town = moments.attributes[1]
    centred = w[:, None] * (X - np.average(X, axis=0, weights=w))
    by_hand = [centred[z == label].sum(axis=0) for label in town.labels]
    np.testing.assert_allclose(town.total, by_hand, atol=1e-9)
    np.testing.assert_allclose(town.weight, [w[z == label].sum() for label in town.labels])


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("columns", [3, 40])
def test_products_of_stacks_of_rows_are_those_of_all_rows(columns, dtype, threads, monkeypatch):
    rng = np.random.default_rng(0)
    A, B = (rng.normal(size=(20_001, d)).astype(dtype) for d in (columns, 7))
    monkeypatch.setattr(products, "blas_threads", lambda: threads)
    found = products.product(A, B)
    exact = A.astype(float).T @ B.astype(float)
    np.testing.assert_allclose(found, exact, atol=2e-3 if dtype == "float32" else 1e-10)
    assert found.dtype == "float64"


@pytest.mark.parametrize(("n", "d", "shared"), [(1_000_000, 10, True), (100, 10, False)])
def test_threads_share_many_rows_and_not_a_few(n, d, shared):
    assert (len(runs_of(n, d)) > 1) == shared


def test_wide_products_are_left_to_blas():
    assert len(runs_of(50_000, 1024)) > 1
    assert len(runs_of(50_000, 1025)) == 1


def runs_of(n, d):
    """Return the runs of blocks that threads take; the rows take no memory."""
    module = import_module("fairpca._moments.accumulate")
    people = made_rows.rows(np.broadcast_to(0.0, (n, d)), np.broadcast_to(1.0, n))
    return module._runs(people, module.TotalProducts, shifted=True)
