"""The small matrix H and the products of blocks, by the book, on the host and elsewhere."""

import numpy as np
import pytest

from fairpca._moments import products
from fairpca._moments.design import Design
from fairpca._moments.design import _DesignOnDevice as DesignOnDevice
from fairpca._moments.products import CrossProduct
from moments import made_rows
from optional_libraries import array_api_strict as strict

N = 300


def rows_with(m, *, weight=True, like=np.asarray, dtype=float):
    """N rows with an attribute of m levels, some missing, one unused, and a numeric attribute."""
    rng = np.random.default_rng(m)
    codes = rng.integers(-1, m - 1, N)
    values = np.where(rng.random(N) < 0.1, np.nan, rng.normal(40, 10, N))
    columns = (
        made_rows.levels("levels", tuple(range(m)), codes),
        made_rows.numeric("values", values),
    )
    w = rng.uniform(0.5, 2, N) if weight else None
    return made_rows.rows(like(rng.normal(size=(N, 2)).astype(dtype)), w, *columns)


def design_by_the_book(rows, m):
    w = np.ones(N) if rows.weight is None else rows.weight
    levels, numbers = rows.attributes
    known = ~np.isnan(numbers.values)
    v = np.where(known, numbers.values, 0)
    mean = (w * known) @ v / (w @ known)
    spread = np.sqrt((w * known) @ (v - mean) ** 2 / (w @ known))
    columns = [np.ones(N), *(levels.codes == g for g in range(m))]
    return np.column_stack([*columns, np.where(known, (v - mean) / spread, 0), known])


@pytest.mark.parametrize("weight", [False, True], ids=["plain", "weighted"])
@pytest.mark.parametrize("m", [3, 64, 65, 70])
def test_the_design_by_the_book(m, weight):
    rows = rows_with(m, weight=weight)
    book = design_by_the_book(rows, m)
    w = np.ones(N) if rows.weight is None else rows.weight
    design = Design(rows, "float64")
    np.testing.assert_allclose(design.totals, w @ book, atol=1e-9)
    np.testing.assert_allclose(design.level_weights(0), w @ book[:, 1 : m + 1])
    block = slice(40, 99)
    np.testing.assert_allclose(design.block(block), (np.sqrt(w)[:, None] * book)[block], atol=1e-12)
    assert Design(rows, "float32").block(block).dtype == np.float32


def test_the_moments_of_an_attribute_keep_what_is_known_of_it():
    codes = np.array([0, 1, 0])
    known = {"integral_floats": True, "optional": True, "stratum": "y"}
    column = made_rows.levels("x", (0.0, 1.0), codes, **known)
    design = Design(made_rows.rows(np.eye(3), None, column), "float64")
    (read,) = design.read(np.zeros((3, 3)), None)["attributes"]
    assert (read.name, read.stratum, read.labels) == ("x", "y", (0.0, 1.0))
    assert (read.integral_floats, read.optional, read.scatters) == (True, True, None)
    assert read.count.tolist() == [2, 1]


def test_a_number_that_no_row_has_is_zero_on_average():
    rows = made_rows.rows(np.eye(3), None, made_rows.numeric("v", np.full(3, np.nan)))
    (read,) = Design(rows, "float64").read(np.zeros((3, 3)), None)["attributes"]
    assert (read.count, read.weight, read.value_mean, read.value_scatter) == (0, 0.0, 0.0, 0.0)


def test_numbers_of_any_size_fit_into_single_precision():
    values = 1e50 * np.arange(4.0) + 1e50
    rows = made_rows.rows(np.eye(4, dtype=np.float32), None, made_rows.numeric("v", values))
    block = Design(rows, "float32").block(slice(0, 4))
    assert np.isfinite(block).all()
    np.testing.assert_allclose(np.std(block[:, 1]), 1, rtol=1e-6)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("weight", [False, True], ids=["plain", "weighted"])
@pytest.mark.parametrize("m", [3, 127, 128, 299])
def test_a_design_made_elsewhere_is_the_one_made_here(m, weight, dtype):
    here = Design(rows_with(m, weight=weight, dtype=dtype), "float64")
    rows = rows_with(m, weight=weight, like=strict.asarray, dtype=dtype)
    there = Design.of(rows)
    assert isinstance(there, DesignOnDevice)
    for block in (slice(0, 50), slice(40, 99)):
        H = there.block(block)
        assert H.dtype == rows.X.dtype
        rtol = 1e-5 if dtype == np.float32 else 1e-12
        np.testing.assert_allclose(np.asarray(H), here.block(block), rtol=rtol, atol=rtol)
        for g in (0, 1, m - 2, m - 1):
            np.testing.assert_array_equal(
                np.asarray(there.rows_of_level(0, g, block)), here.rows_of_level(0, g, block)
            )
        if weight:
            np.testing.assert_allclose(np.asarray(there.roots(block)), here.roots(block), rtol=rtol)
        else:
            assert there.roots(block) is None


@pytest.fixture
def short_sums(monkeypatch):
    monkeypatch.setattr(products, "SUMMED_IN_SINGLE", 4)
    monkeypatch.setattr(products, "PANEL", 2)


@pytest.mark.parametrize("n", [1, 3, 4, 5, 8, 11])
@pytest.mark.parametrize("d", [1, 3, 4, 5, 6])
def test_products_in_panels_and_short_sums_are_products(short_sums, n, d):
    rng = np.random.default_rng(n)
    blocks = [rng.normal(size=(n, d)) for _ in range(3)]
    symmetric = CrossProduct((d, d), strict.asarray(blocks[0]))
    mixed = CrossProduct((2, d), strict.asarray(blocks[0]))
    for i, block in enumerate(blocks):
        B = strict.asarray(block)
        symmetric.add(B, B)
        mixed.add(B[:, :2] if d > 1 else strict.concat([B, B], axis=1), B)
        done = blocks[: i + 1]
        np.testing.assert_allclose(np.asarray(symmetric.total), sum(b.T @ b for b in done))
        left = [b[:, :2] if d > 1 else np.hstack([b, b]) for b in done]
        np.testing.assert_allclose(
            np.asarray(mixed.total), sum(a.T @ b for a, b in zip(left, done, strict=True))
        )


@pytest.mark.parametrize("make", [np.asarray, strict.asarray], ids=["numpy", "elsewhere"])
@pytest.mark.parametrize("rows", [0, 3, 9])
def test_sums_of_single_precision_products_are_double(short_sums, make, rows):
    block = make(np.ones((rows, 5), dtype=np.float32))
    product = CrossProduct((5, 5), block)
    if rows:
        product.add(block, block)
    total = np.asarray(product.total)
    assert total.dtype == np.float64
    np.testing.assert_array_equal(total, np.full((5, 5), float(rows)))


def test_sums_of_many_rows_are_double_before_they_are_added(short_sums):
    """2^24 + 1 is the first integer that single precision cannot hold."""
    column = np.array([2048, 2048, 2048, 2048, 1, 0, 0, 0], dtype=np.float32)
    block = strict.asarray(column[:, None])
    product = CrossProduct((1, 1), block)
    product.add(block, block)
    assert float(product.total[0, 0]) == 2**24 + 1


@pytest.mark.parametrize("make", [np.asarray, strict.asarray], ids=["numpy", "elsewhere"])
def test_products_of_other_rows_are_merged(make):
    A, B = (np.random.default_rng(i).normal(size=(4, 3)) for i in range(2))
    first, second = CrossProduct((3, 3), make(A)), CrossProduct((3, 3), make(B))
    first.add(make(A), make(A))
    second.add(make(B), make(B))
    first.merge(second)
    np.testing.assert_allclose(np.asarray(first.total), A.T @ A + B.T @ B)
