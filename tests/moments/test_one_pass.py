"""How often rows are read, from where they are measured, and in which form they are kept."""

from importlib import import_module

import numpy as np
import pytest

from fairpca import collect_moments
from fairpca._attributes import Levels
from fairpca._rows import Rows
from fairpca.moments import DenseScatter, RowScatter, accumulate
from optional_libraries import array_api_strict as strict


@pytest.fixture
def passes(monkeypatch):
    """The shift of each pass over the rows."""
    shifts = []
    module = import_module("fairpca.moments._accumulate")
    original = module._pass

    def spy(rows, design, shift, kind):
        shifts.append(shift)
        return original(rows, design, shift, kind)

    monkeypatch.setattr(module, "_pass", spy)
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
    module = import_module("fairpca.moments._accumulate")
    shares = []

    def in_three(work, blocks, *, d):
        shares.extend([blocks[:1], blocks[1:4], blocks[4:]])
        return [work(share) for share in shares]

    monkeypatch.setattr(module, "share_blocks", in_three)
    shared = collect_moments(X, {"sex": sex, "age": age}, **options)
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


def test_added_rows_become_a_matrix_once_that_is_smaller():
    X = np.random.default_rng(3).normal(size=(6, 6))
    parts = [collect_moments(rows, [0, 1]) for rows in (X[:2], X[2:4], X[4:])]
    assert isinstance((parts[0] + parts[1]).scatter, RowScatter)
    assert isinstance(sum(parts).scatter, DenseScatter)


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
        levels = Levels("x", ("a", "b"), np.array([0, 1, 0, 1]))
        assert accumulate(Rows(X, None, (levels,))).attributes[0].scatters is None


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
