import pickle
import sys

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

import fairpca
from devices.people import fitted, people, projector, to_numpy
from fairpca import FairPCA, FairTableTransformer
from fairpca.errors import MissingExtraError
from fairpca.models import model_card

OPTIONS = {"n_components": 3, "scale": True, "tradeoff": 0.5}


def test_a_model_of_the_host_represents_rows_of_a_device(place):
    rows = people()
    fair = fitted(rows, **OPTIONS)
    T = fair.transform(place.put(rows.X))
    assert place.holds(T)
    np.testing.assert_allclose(to_numpy(T), fair.transform(rows.X), atol=1e-10)
    assert isinstance(fair.components_, np.ndarray)


def test_a_model_of_a_device_represents_rows_of_the_host(place):
    rows = people()
    fair = fitted(rows, put=place.put, **OPTIONS)
    T = fair.transform(rows.X)
    assert isinstance(T, np.ndarray)
    np.testing.assert_allclose(T, to_numpy(fair.transform(place.put(rows.X))), atol=1e-10)
    sparse = pytest.importorskip("scipy.sparse").csr_array(rows.X)
    np.testing.assert_allclose(fair.transform(sparse), T, atol=1e-8)


def test_models_move_there_and_back_without_losing_a_digit(place):
    rows = people()
    fair = fitted(rows, **OPTIONS)
    before, T = clone_of(fair), fair.transform(rows.X)
    assert fair.to_device(place.put(np.zeros(1))) is fair
    names = ["components_", "standard_components_", "mean_", "scale_", "explained_variance_"]
    assert all(place.holds(getattr(fair, name)) for name in names)
    assert place.holds(fair.moments_.attributes[0].total)
    assert place.holds(fair.transform(place.put(rows.X)))
    fair.to_device("cpu")
    for name in names:
        np.testing.assert_array_equal(getattr(fair, name), getattr(before, name))
    np.testing.assert_array_equal(fair.transform(rows.X), T)
    more = people(n=50, seed=1)
    for model in (fair, before):
        model.partial_fit(more.X, sensitive_features=more.sensitive)
    np.testing.assert_allclose(projector(fair), projector(before), atol=1e-10)


def clone_of(fair):
    return pickle.loads(pickle.dumps(fair))


def test_batches_that_were_not_solved_yet_move_too(place):
    rows = people()
    fair = FairPCA(3).partial_fit(rows.X, sensitive_features=rows.sensitive)
    fair.to_device(place.put(np.zeros(1)))
    assert place.holds(fair.components_)
    np.testing.assert_allclose(projector(fair), projector(fitted(rows, n_components=3)), atol=1e-8)


def test_a_model_of_a_device_is_saved_and_loaded_as_numpy(place, tmp_path):
    rows = people()
    fair = fitted(rows, put=place.put, **OPTIONS)
    fairpca.save(fair, tmp_path / "model.fairpca", moments=True)
    loaded = fairpca.load(tmp_path / "model.fairpca")
    for name in ("components_", "mean_", "scale_", "explained_variance_ratio_"):
        value = getattr(loaded, name)
        assert isinstance(value, np.ndarray)
        np.testing.assert_array_equal(value, to_numpy(getattr(fair, name)))
    np.testing.assert_array_equal(
        loaded.moments_.scatter.matrix, to_numpy(fair.moments_.scatter.matrix)
    )
    np.testing.assert_allclose(
        loaded.transform(rows.X), to_numpy(fair.transform(place.put(rows.X))), atol=1e-10
    )


def test_a_model_of_a_device_is_described_and_handed_over_as_numpy(place):
    rows = people()
    there, here = fitted(rows, put=place.put, **OPTIONS), fitted(rows, **OPTIONS)
    model = FairTableTransformer.of(None, there)
    np.testing.assert_allclose(model._map.matrix, here._map.matrix, atol=1e-8)
    np.testing.assert_allclose(model.transform(rows.X), here.transform(rows.X), atol=1e-8)
    assert "variance kept" in model_card(there)


def test_a_model_fitted_with_a_device_is_loaded_where_there_is_none(device, tmp_path):
    rows = people()
    fairpca.save(fitted(rows, device=device, **OPTIONS), tmp_path / "model.fairpca")
    with pytest.MonkeyPatch.context() as patched:
        patched.setitem(sys.modules, "torch", None)
        loaded = fairpca.load(tmp_path / "model.fairpca")
        with pytest.raises(MissingExtraError):
            loaded.transform(rows.X)
        T = loaded.set_params(device=None).transform(rows.X)
    np.testing.assert_allclose(T, fitted(rows, **OPTIONS).transform(rows.X), atol=1e-6)


def test_torch_tensors_are_what_a_named_device_gives(device):
    torch = pytest.importorskip("torch")
    rows = people()
    fair = fitted(rows, **OPTIONS)
    if device == "cpu":
        assert isinstance(fair.to_device(torch.device("cpu")).components_, np.ndarray)
        return
    assert fair.to_device(device).components_.device.type == "cuda"
    assert isinstance(fair.to_device("cpu").components_, np.ndarray)


def test_what_is_not_fitted_cannot_move():
    with pytest.raises(NotFittedError):
        FairPCA(2).to_device("cpu")
    assert clone(FairPCA(2, device="cuda")).device == "cuda"
