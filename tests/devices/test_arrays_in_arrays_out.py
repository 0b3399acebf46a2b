"""What goes in comes out: library, device, precision and shape, for every estimator."""

import numpy as np
import pytest

from devices.people import to_numpy
from fairpca import UsageError
from fairpca._maps import FeatureMap
from fairpca.estimators import PlainPCA
from registry import ESTIMATORS

N, TOKENS, D = 60, 3, 8
KNOWN = [
    name
    for name, known in ESTIMATORS.items()
    if getattr(known.estimator, "kernel", None) != "precomputed"
]


def rows(dtype=np.float64):
    rng = np.random.default_rng(0)
    sex = rng.integers(0, 2, N)
    X = rng.normal(size=(N, D)) + np.outer(sex, rng.normal(size=D))
    y = (X[:, 0] + rng.normal(size=N) > X[:, 0].mean()).astype(int)
    return X.astype(dtype), sex, y


@pytest.mark.filterwarnings("ignore")  # of few rows
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("name", KNOWN)
def test_every_estimator_returns_the_library_device_and_type_of_the_rows(place, name, dtype):
    X, sex, y = rows(dtype)
    there = place.put(X)
    found = ESTIMATORS[name].made().fit(there, place.put(y), sensitive_features=place.put(sex))
    T = found.transform(there)
    assert place.holds(T)
    assert T.dtype == there.dtype
    assert T.shape[0] == N
    one = found.transform(place.put(X[3]))
    assert place.holds(one)
    atol = 1e-9 if dtype is np.float64 else 1e-3
    np.testing.assert_allclose(to_numpy(one), to_numpy(T)[3], atol=atol)
    with pytest.raises(UsageError, match=r"\(8,\).*transform\(X\[None\]\)\[0\]; or pass a tensor"):
        found.transform(X[3])
    np.testing.assert_allclose(found.transform(X[3][None])[0], to_numpy(one), atol=atol)
    cube = found.transform(place.put(X.reshape(N // TOKENS, TOKENS, D)))
    assert cube.shape == (N // TOKENS, TOKENS, T.shape[1])
    np.testing.assert_allclose(to_numpy(cube).reshape(N, -1), to_numpy(T), atol=atol)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("dtype", ["bfloat16", "float16"])
@pytest.mark.parametrize("name", KNOWN)
def test_half_precision_comes_back_in_half_precision(name, dtype):
    torch = pytest.importorskip("torch")
    X, sex, y = rows()
    there = torch.asarray(X, dtype=getattr(torch, dtype))
    T = ESTIMATORS[name].made().fit(there, y, sensitive_features=sex).transform(there)
    assert T.dtype == there.dtype
    assert T.isfinite().all()


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", KNOWN)
def test_activations_of_a_batch_are_rows_of_their_tokens(name):
    """Attributes come for each row of the batch, or for each token."""
    X, sex, y = rows()
    cube, of_rows = X.reshape(N // TOKENS, TOKENS, D), sex[::TOKENS]
    expected = (
        ESTIMATORS[name]
        .made()
        .fit(X, np.repeat(y[::TOKENS], TOKENS), sensitive_features=np.repeat(of_rows, TOKENS))
    )
    for z in (of_rows, np.repeat(of_rows, TOKENS).reshape(-1, TOKENS), {"sex": list(of_rows)}):
        found = ESTIMATORS[name].made().fit(cube, y[::TOKENS], sensitive_features=z)
        np.testing.assert_array_equal(found.transform(X), expected.transform(X))


def test_attributes_that_fit_neither_rows_nor_tokens_raise():
    X, sex, _ = rows()
    with pytest.raises(ValueError, match=r"20 x 3 tokens.*shape \(60,\).*one entry for each"):
        ESTIMATORS["fair pca"].made().fit(X.reshape(20, 3, D), sensitive_features=sex)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", KNOWN)
def test_gradients_flow_through_linear_maps_and_others_say_that_they_do_not(name):
    torch = pytest.importorskip("torch")
    X, sex, y = rows()
    with torch.inference_mode():  # what is learned there has to be of use outside
        found = ESTIMATORS[name].made().fit(torch.asarray(X), y, sensitive_features=sex)
    for shape in [(D,), (5, D), (300, D), (4, 5, D)]:
        there = torch.asarray(np.resize(X, shape)).requires_grad_()
        with torch.no_grad():
            T = found.transform(there)
        assert not T.requires_grad
        if isinstance(found._map, FeatureMap) or isinstance(found, PlainPCA):
            with pytest.raises(UsageError, match=r"requires a gradient.*Pass X\.detach\(\)"):
                found.transform(there)
            continue
        again = found.transform(there)
        torch.testing.assert_close(again.detach(), T)
        weights = torch.randn(
            T.shape[-1], dtype=T.dtype, generator=torch.Generator().manual_seed(0)
        )
        (again @ weights).sum().backward()
        expected, _ = found.column_weights(weights.numpy())
        np.testing.assert_allclose(there.grad.numpy(), np.broadcast_to(expected, shape), atol=1e-9)
