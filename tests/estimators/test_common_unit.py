"""The unit in which fair PCA compares features: one, unless they are far too large or small."""

import numpy as np
import pytest

from fairpca.estimators._fair_pca import _common_unit
from fairpca.moments import collect_moments


def moments_of_size(size, n=40):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, 3)) * [1.0, 0.5, 0.25]
    return collect_moments(size * X, np.arange(n) % 2)


@pytest.mark.parametrize("size", [1e-12, 0.5, 1.0, 3.0, 1e6, 1e12])
def test_ordinary_features_keep_their_units(size):
    assert _common_unit(moments_of_size(size)) == 1.0


@pytest.mark.parametrize("size", [1e-100, 1e-60, 1e-25, 1e25, 1e60, 1e70])
@pytest.mark.parametrize("n", [10, 1000])
def test_the_unit_of_extreme_features_is_a_power_of_two_of_their_size(size, n):
    moments = moments_of_size(size, n)
    unit = _common_unit(moments)
    assert np.frexp(unit)[0] == 0.5  # dividing by it changes no digit
    largest = float(np.sqrt(moments.scatter.diagonal.max() / moments.weight))
    assert 0.7 < largest / unit < 1.5


def test_constant_features_have_no_unit():
    assert _common_unit(collect_moments(np.ones((6, 2)), [0, 1] * 3)) == 1.0
