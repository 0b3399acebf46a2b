"""Arrays of every library: moved from one to another, multiplied to full precision."""

import numpy as np
import pytest

from devices.people import fitted, people, projector, to_numpy
from fairpca._numerics.arrays import full_precision, like, placed
from places import PLACES


def test_values_go_from_any_library_to_any(place):
    values = np.arange(6.0)[::-1].reshape(2, 3)
    values.flags.writeable = False
    there = like(values, place.put(np.zeros(1, "float32")))
    assert place.holds(there)
    assert str(there.dtype).endswith("float32")
    np.testing.assert_array_equal(like(there, np.zeros(1)), values)
    for other in (np.zeros(1), place.put(np.zeros(1))):
        np.testing.assert_array_equal(to_numpy(placed(there, other)), values)
        assert str(placed(there, other).dtype).endswith("float32")


def test_products_are_exact_even_where_networks_train_in_tf32():
    place = PLACES["torch-cuda"]()
    torch = pytest.importorskip("torch")
    A = place.put(np.random.default_rng(0).normal(size=(512, 512)).astype("float32"))
    exact = A.double() @ A.double()
    torch.set_float32_matmul_precision("high")
    try:
        rough = float((A @ A - exact).abs().max())
        with full_precision(A):
            fine = float((A @ A - exact).abs().max())
        assert float((A @ A - exact).abs().max()) == rough
        rows = people()
        single = rows.with_features(rows.X.astype("float32"))
        fair = fitted(single, put=place.put, n_components=3)
    finally:
        torch.set_float32_matmul_precision("highest")
    assert fine < 0.1 * rough
    np.testing.assert_allclose(projector(fair), projector(fitted(rows, n_components=3)), atol=2e-5)
