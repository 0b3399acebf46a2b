"""Erasers as modules that are saved and loaded, and inside the weights of a layer."""

import io
import os

import numpy as np
import pytest

from fairpca import UsageError
from fairpca.erasers import LEACE, MeanProjection
from fairpca.torch import as_module, erased, fold
from optional_libraries import torch


def fitted(people, gone=False):
    X, sex = people
    X = np.column_stack([X, sex, 1 - sex]) if gone else X
    return LEACE().fit(X, sensitive_features=sex), X


@pytest.mark.parametrize("gone", [False, True])
def test_a_state_dict_makes_an_empty_module_whole(gone, people):
    eraser, X = fitted(people, gone)
    module = as_module(eraser)
    assert ("gone" in module.state_dict()) == gone
    assert list(module.parameters()) == []
    file = io.BytesIO()
    torch.save(module.state_dict(), file)
    file.seek(0)
    again = as_module()
    again.load_state_dict(torch.load(file, weights_only=True))
    there = torch.from_numpy(X)
    torch.testing.assert_close(again(there), module(there), rtol=0, atol=0)
    assert again(there).dtype == there.dtype
    np.testing.assert_allclose(again(there).numpy(), eraser.transform(X), atol=1e-5)


def test_another_state_dict_replaces_the_first(people):
    (with_gone, _), (without, X) = fitted(people, gone=True), fitted(people)
    module = as_module(with_gone)
    module.load_state_dict(as_module(without).state_dict())
    np.testing.assert_allclose(module(torch.from_numpy(X)).numpy(), without.transform(X), atol=1e-5)
    module.load_state_dict(as_module(with_gone).state_dict())
    assert module.gone.tolist() == [False] * 6 + [True] * 2


def test_modules_inside_a_module_are_saved_with_it(people, tmp_path):
    safetensors = pytest.importorskip("safetensors.torch")
    eraser, X = fitted(people)
    whole = torch.nn.Sequential(torch.nn.Linear(6, 6), as_module(eraser))
    path = tmp_path / "whole.safetensors"
    safetensors.save_file(whole.state_dict(), path)
    empty = torch.nn.Sequential(torch.nn.Linear(6, 6), as_module())
    empty.load_state_dict(safetensors.load_file(path))
    there = torch.from_numpy(X).float()
    torch.testing.assert_close(empty(there), whole(there), rtol=0, atol=0)


def test_a_file_has_three_vectors_for_a_binary_attribute(people, tmp_path):
    """As many numbers as the module of concept-erasure: two vectors and a bias."""
    save_file = pytest.importorskip("safetensors.torch").save_file
    rng, d = np.random.default_rng(0), 1000
    sex = rng.integers(0, 2, 2000)
    X = (rng.normal(size=(2000, d)) + sex[:, None]).astype(np.float32)
    state = as_module(LEACE().fit(X, sensitive_features=sex)).state_dict()
    assert sum(tensor.numel() * tensor.itemsize for tensor in state.values()) == 3 * d * 4
    save_file(state, tmp_path / "eraser.safetensors")
    assert os.path.getsize(tmp_path / "eraser.safetensors") < 3 * d * 4 + 400


def test_a_module_erases_where_an_eraser_does(people):
    eraser, X = fitted(people)
    model, there = torch.nn.Sequential(torch.nn.Identity()), torch.from_numpy(X).bfloat16()
    with erased(model, {"0": as_module(eraser)}):
        by_module = model(there)
    with erased(model, {"0": eraser}):
        torch.testing.assert_close(by_module, model(there))
    with erased(model, {"0": torch.nn.Softmax(dim=1)}):  # any other one
        torch.testing.assert_close(model(there), torch.softmax(there, 1))


def test_modules_say_what_is_wrong(people):
    with pytest.raises(UsageError, match="module is empty"):
        as_module()(torch.zeros(3, 6))
    assert repr(as_module()) == "EraserModule(empty)"
    eraser, _ = fitted(people)
    assert repr(as_module(eraser)) == "EraserModule(1 of 6 directions)"
    with pytest.raises(UsageError, match="fitted to 6 features"):
        as_module(eraser)(torch.zeros(3, 5))


@pytest.mark.parametrize("gone", [False, True])
@pytest.mark.parametrize("bias", [False, True])
@pytest.mark.parametrize("dtype", ["float64", "float32", "bfloat16"])
def test_a_folded_layer_is_the_layer_after_the_eraser(gone, bias, dtype, people):
    eraser, X = fitted(people, gone)
    dtype = getattr(torch, dtype)
    linear = torch.nn.Linear(X.shape[1], 5, bias=bias, dtype=dtype).eval().requires_grad_(False)
    before = linear.weight.clone()
    folded = fold(eraser, linear)
    assert type(folded) is torch.nn.Linear
    assert (folded.weight.dtype, folded.training) == (dtype, False)
    assert not folded.weight.requires_grad
    torch.testing.assert_close(linear.weight, before, rtol=0, atol=0)
    there = torch.from_numpy(X)
    exact = torch.nn.Linear(X.shape[1], 5, bias=bias).double()
    exact.load_state_dict(linear.state_dict())
    expected = exact(torch.from_numpy(eraser.transform(X)))
    units = torch.finfo(dtype).eps
    torch.testing.assert_close(folded.double()(there), expected, rtol=0, atol=60 * units)


def test_only_layers_that_fit_can_be_folded(people):
    eraser, _ = fitted(people)
    with pytest.raises(UsageError, match="Conv1d"):
        fold(eraser, torch.nn.Conv1d(6, 5, 1))
    with pytest.raises(UsageError, match="7 inputs, but the eraser was fitted to 6"):
        fold(eraser, torch.nn.Linear(7, 5))


def test_an_attribute_that_no_mean_shows_leaves_activations_as_they_are(people):
    X, sex = people
    X = X - np.array([X[sex == s].mean(axis=0) for s in (0, 1)])[sex]
    eraser = MeanProjection().fit(X, sensitive_features=sex)
    assert eraser.n_directions_ == 0
    module = as_module()
    module.load_state_dict(as_module(eraser).state_dict())
    there = torch.from_numpy(X)
    torch.testing.assert_close(module(there), there)
