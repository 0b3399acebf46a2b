"""Products of blocks as GPUs compute them: panels of many features, stacks of many rows."""

import numpy as np
import pytest

from devices.people import fitted, people, projector, to_numpy
from fairpca._moments import products
from fairpca._moments.products import CrossProduct
from moments import made_rows


@pytest.mark.parametrize("d", [8, 9, 11, 12, 15])
def test_panels_make_the_whole_symmetric_product(place, monkeypatch, d):
    monkeypatch.setattr(products, "PANEL", 4)
    A = np.random.default_rng(0).normal(size=(20, d))
    sums = CrossProduct((d, d), place.put(A))
    for rows in (slice(0, 7), slice(7, 20)):
        block = place.put(A[rows])
        sums.add(block, block)
    assert place.holds(sums.total)
    np.testing.assert_allclose(to_numpy(sums.total), A.T @ A, atol=1e-12)
    block = place.put(A)
    sums.add(block, block)
    np.testing.assert_allclose(to_numpy(sums.total), 2.0 * A.T @ A, atol=1e-12)


@pytest.mark.parametrize("n", [3, 4, 8, 10])
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_stacks_of_rows_make_the_whole_product_in_float64(place, monkeypatch, n, dtype):
    monkeypatch.setattr(products, "SUMMED_IN_SINGLE", 4)
    rng = np.random.default_rng(0)
    A, B = (rng.integers(-9, 9, (n, p)).astype(dtype) for p in (3, 5))  # products are exact
    sums = CrossProduct((3, 5), place.put(A))
    for _ in range(2):
        sums.add(place.put(A), place.put(B))
    assert str(sums.total.dtype).endswith("float64")
    np.testing.assert_array_equal(to_numpy(sums.total), 2.0 * A.T @ B)


def test_nothing_added_is_zero(place):
    total = CrossProduct((2, 3), place.put(np.ones((4, 3)))).total
    assert place.holds(total)
    np.testing.assert_array_equal(to_numpy(total), np.zeros((2, 3)))


@pytest.mark.parametrize("options", [{}, {"weighted": True}, {"match": "covariances"}])
def test_fits_from_panels_and_stacks_are_those_of_numpy(place, monkeypatch, options):
    options = {"n_components": 3, "covariance_method": "spectral", **options}
    rows = people()
    theirs = fitted(rows, **options)
    monkeypatch.setattr(products, "PANEL", 4)
    monkeypatch.setattr(products, "SUMMED_IN_SINGLE", 64)
    ours = fitted(rows, put=place.put, **options)
    np.testing.assert_allclose(projector(ours), projector(theirs), atol=1e-8)


def test_blocks_are_long_on_a_device_and_stay_in_cache_on_the_host():
    class There:
        """As much of an array on a GPU as is asked for."""

        device = "cuda:0"

        def __init__(self, d):
            self.shape = (10, d)

        def __array_namespace__(self, **_):
            return np

    for d in (1, 64, 1000, 6400):
        size = made_rows.rows_per_block(There(d))
        assert size % products.SUMMED_IN_SINGLE == 0
        assert size > made_rows.rows_per_block(np.ones((10, d)))
