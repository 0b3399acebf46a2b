"""Rows stay on their device: memory that NumPy cannot read, and a record of what leaves it."""

import numpy as np
import pytest
from sklearn.base import clone

from devices.people import people, to_numpy
from fairpca import FairKernelPCA, FairPCA
from fairpca.erasers import KernelSAL
from fairpca.errors import OutlierWarning
from optional_libraries import array_api_strict

if np.lib.NumpyVersion(np.__version__) < "2.0.0":
    pytest.skip(
        "array-api-strict sends arrays to its second device with NumPy 2 only",
        allow_module_level=True,
    )

DEVICE = array_api_strict.Device("device1")


@pytest.fixture
def crossings(monkeypatch):
    """The sizes of all arrays that left the device."""
    kind, sizes = type(array_api_strict.asarray(0.0)), []
    to_device = kind.to_device

    def recorded(self, device, /, **options):
        assert device != self.device
        sizes.append(self.size)
        return to_device(self, device, **options)

    monkeypatch.setattr(kind, "to_device", recorded)
    return sizes


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"scale": True, "tradeoff": 0.5},
        {"solver": "iterative"},
        {"n_components": 0.1},
        {"match": "covariances", "covariance_method": "spectral"},
    ],
)
def test_only_vectors_of_features_leave_the_device(crossings, options):
    rows = people(n=600, d=12)
    X = array_api_strict.asarray(rows.X, device=DEVICE)
    fair = FairPCA(**{"n_components": 3, **options})
    T = fair.fit(X, sensitive_features=rows.sensitive).transform(X)
    fair.inverse_transform(T)
    assert T.device == DEVICE
    assert crossings
    assert max(crossings) <= 12


@pytest.mark.parametrize("weighted", [False, True])
def test_a_value_far_from_all_others_is_found_on_the_device(crossings, weighted):
    rows = people(n=600, d=12)
    rows.X[17, 1] = 99999.0
    weight = rows.weight if weighted else None
    rows.weight[17] = 1.0
    with pytest.warns(OutlierWarning) as on_the_host:
        FairPCA(2).fit(rows.X, sensitive_features=rows.sensitive, sample_weight=weight)
    X = array_api_strict.asarray(rows.X, device=DEVICE)
    with pytest.warns(OutlierWarning, match="column 1 has 99999 in row 17") as on_the_device:
        FairPCA(2).fit(X, sensitive_features=rows.sensitive, sample_weight=weight)
    assert str(on_the_device[0].message) == str(on_the_host[0].message)
    assert max(crossings) <= 12


def test_equal_covariances_are_found_on_the_host_from_matrices_alone(crossings):
    rows = people(n=600, d=12)
    X = array_api_strict.asarray(rows.X, device=DEVICE)
    FairPCA(n_components=2, match="covariances").fit(X, sensitive_features=rows.sensitive["sex"])
    assert max(crossings) == 12 * 12


@pytest.mark.parametrize(
    "estimator", [FairKernelPCA(2), FairKernelPCA(2, approximation="nystroem"), KernelSAL()]
)
def test_methods_that_work_on_the_host_fetch_the_rows_once_and_send_back_the_result(
    crossings, estimator
):
    rows = people(n=60)
    sex = rows.sensitive["sex"]
    X = array_api_strict.asarray(rows.X, device=DEVICE)
    expected = clone(estimator).fit(rows.X, sensitive_features=sex).transform(rows.X)
    assert not crossings
    estimator.fit(X, sensitive_features=sex)
    assert crossings == [X.size]
    T = estimator.transform(X)
    assert crossings == [X.size, X.size]
    assert T.device == DEVICE
    np.testing.assert_array_equal(to_numpy(T), expected)
