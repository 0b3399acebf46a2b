"""What hooks make of activations is what erasers make of rows; nothing else changes."""

from collections import OrderedDict, namedtuple

import numpy as np
import pytest

from fairpca import FairPCA, UsageError
from fairpca.erasers import LEACE, SAL, SPLINCE, KernelSAL, MeanProjection
from fairpca.torch import as_module, erased
from optional_libraries import torch

Named = namedtuple("Named", "hidden weights")

FORMS = {
    "tensor": lambda x: x,
    "tuple": lambda x: (x, "rest"),
    "named tuple": lambda x: Named(x, "rest"),
    "list": lambda x: [x, "rest"],
    "dict": lambda x: {"last_hidden_state": x, "weights": "rest"},
    "ordered dict": lambda x: OrderedDict(last_hidden_state=x, weights="rest"),
}


class Returns(torch.nn.Module if hasattr(torch, "__version__") else object):
    """A layer that returns what a function makes of the activations."""

    def __init__(self, form):
        super().__init__()
        self.form = form

    def forward(self, x):
        return self.form(x)


def model_of(form=lambda x: x):
    return torch.nn.Sequential(OrderedDict(first=Returns(form)))


def parts(output):
    if isinstance(output, dict):
        return list(output.values())
    return list(output) if isinstance(output, tuple | list) else [output]


@pytest.fixture(params=["cpu", "cuda"])
def device(request):
    if request.param == "cuda" and not torch.cuda.is_available():
        pytest.skip("no GPU that torch can use")
    return request.param


@pytest.mark.parametrize("form", FORMS)
def test_the_first_part_of_an_output_is_erased_and_the_rest_is_kept(form, people):
    X, sex = people
    eraser = LEACE().fit(X, sensitive_features=sex)
    model, there = model_of(FORMS[form]), torch.from_numpy(X)
    with erased(model, {"first": eraser}) as same:
        assert same is model
        found = model(there)
    assert type(found) is type(FORMS[form](there))
    hidden, *rest = parts(found)
    np.testing.assert_allclose(hidden.numpy(), eraser.transform(X), atol=1e-12)
    assert rest == parts(FORMS[form](there))[1:]
    assert parts(model(there))[0] is there


@pytest.mark.parametrize("method", [LEACE(), SAL(), MeanProjection(), SPLINCE()], ids=str)
@pytest.mark.parametrize("dtype", ["float64", "float32", "bfloat16", "float16"])
def test_hooks_give_what_transform_gives(method, dtype, device, people):
    X, sex = people
    eraser = method.fit(X, X[:, 2] > 3, sensitive_features=sex)
    there = torch.from_numpy(X).to(device, getattr(torch, dtype)).reshape(100, 4, 6)
    with erased(model_of(), {"first": eraser}) as model:
        found = model(there)
    assert (found.dtype, found.device, found.shape) == (there.dtype, there.device, there.shape)
    expected = eraser.transform(there)
    units = 4 * torch.finfo(there.dtype).eps
    torch.testing.assert_close(found, expected, rtol=units, atol=30 * units)


def test_the_attribute_is_gone_from_half_precision_as_far_as_it_has_digits(people):
    X, sex = people
    there = torch.from_numpy(X).bfloat16()
    with erased(model_of(), {"first": LEACE().fit(there, sensitive_features=sex)}) as model:
        found = model(there).double().numpy()
    before, after = (np.abs(Y[sex == 1].mean(0) - Y[sex == 0].mean(0)).max() for Y in (X, found))
    assert after < before / 500


def test_automatic_mixed_precision_does_not_round_what_is_erased(people):
    X, sex = people
    eraser = LEACE().fit(X, sensitive_features=sex)
    there = torch.from_numpy(X).float()
    with erased(model_of(), {"first": eraser}) as model, torch.autocast("cpu", torch.bfloat16):
        found = model(there)
    np.testing.assert_allclose(found.numpy(), eraser.transform(X), atol=1e-5)


def test_gradients_are_those_of_the_affine_map(people):
    X, sex = people
    eraser = LEACE().fit(X, sensitive_features=sex)
    rows = torch.from_numpy(X[:5]).requires_grad_()
    with erased(model_of(), {"first": eraser}) as model:
        with torch.inference_mode():  # what is kept from here has to be of use below
            model(rows)
        assert torch.autograd.gradcheck(model, (rows,))
        (gradient,) = torch.autograd.grad(model(rows)[0, 2], rows)
    np.testing.assert_allclose(gradient[0].numpy(), eraser.components_[2], atol=1e-12)
    np.testing.assert_array_equal(gradient[1:].numpy(), 0.0)


def test_columns_that_are_gone_are_the_mean(people):
    X, sex = people
    X = np.column_stack([X, sex, 1 - sex])
    eraser = LEACE().fit(X, sensitive_features=sex)
    with erased(model_of(), {"first": eraser}) as model:
        found = model(torch.from_numpy(X)).numpy()
    np.testing.assert_allclose(found, eraser.transform(X), atol=1e-12)
    assert len(np.unique(found[:, 6:], axis=0)) == 1


def test_nested_blocks_erase_one_after_the_other(people):
    X, sex = people
    other = X[:, 3] > 3
    first = MeanProjection().fit(X, sensitive_features=sex)
    second = LEACE().fit(first.transform(X), sensitive_features=other)
    model, there = model_of(), torch.from_numpy(X)
    with erased(model, {"first": first}):
        with erased(model, {"first": second}):
            both = model(there).numpy()
        outer = model(there).numpy()
    np.testing.assert_allclose(both, second.transform(first.transform(X)), atol=1e-12)
    np.testing.assert_allclose(outer, first.transform(X), atol=1e-12)


def hooks_of(model):
    return sum(len(module._forward_hooks) for module in model.modules())


def test_hooks_are_gone_after_errors(people):
    X, sex = people
    eraser = LEACE().fit(X, sensitive_features=sex)
    model = model_of()
    with erased(model, {"first": eraser}):
        assert hooks_of(model) == 1
        with pytest.raises(UsageError), erased(model, {"first": eraser, "second": eraser}):
            pass
        assert hooks_of(model) == 1
    with pytest.raises(UsageError, match="5"), erased(model, {"first": eraser}):
        model(torch.zeros(2, 5))
    assert hooks_of(model) == 0


@pytest.mark.parametrize(
    ("name", "hint"), [("first_", "Did you mean 'first'"), ("nothing.like.it", "lists all 1")]
)
def test_an_unknown_layer_is_an_error_that_names_one_that_may_be_meant(name, hint, people):
    X, sex = people
    eraser = LEACE().fit(X, sensitive_features=sex)
    with pytest.raises(UsageError, match=hint), erased(model_of(), {name: eraser}):
        pass


def test_what_changes_the_number_of_columns_cannot_be_put_into_a_layer(people):
    X, sex = people
    fair = FairPCA(2).fit(X, sensitive_features=sex)
    with pytest.raises(UsageError, match="2 new columns in place of 6"):
        as_module(fair)
    twice = FairPCA(3, tradeoff=0.5).fit(X, sensitive_features=sex)  # six columns, but others
    with pytest.raises(UsageError, match="6 new columns"):
        as_module(twice)
    with pytest.raises(UsageError, match="KernelSAL returns"):
        as_module(KernelSAL(1).fit(X, sensitive_features=sex))
    with pytest.raises(UsageError, match="ndarray is no eraser"):
        as_module(X)


@pytest.mark.parametrize(
    ("form", "message"),
    [
        (lambda x: x[:, :3], r"shape \(400, 3\), but the eraser was fitted to 6"),
        (lambda x: x.reshape(4, 10, 10, 6), r"shape \(4, 10, 10, 6\)"),
        (lambda x: "text", "returns a str, not activations"),
        (lambda x: (x.long(), x), "tuple that begins with a Tensor"),
        (lambda x: [], "not activations"),
        (lambda x: torch.nested.nested_tensor([x, x[:3]]), "nested tensor"),
    ],
)
@pytest.mark.filterwarnings("ignore:The PyTorch API of nested tensors")
def test_outputs_that_are_no_activations_are_errors_that_name_the_layer(form, message, people):
    X, sex = people
    eraser = LEACE().fit(X, sensitive_features=sex)
    model = model_of(form)
    with erased(model, {"first": eraser}), pytest.raises(UsageError, match=message) as raised:
        model(torch.from_numpy(X))
    assert "'first'" in "".join([str(raised.value), *getattr(raised.value, "__notes__", ())])


def test_a_compiled_model_is_an_error_and_compiling_inside_the_block_works(people):
    X, sex = people
    eraser = LEACE().fit(X, sensitive_features=sex)
    model = torch.nn.Sequential(torch.nn.Linear(6, 6, dtype=torch.float64), torch.nn.Tanh())
    there = torch.from_numpy(X)
    compiled = torch.compile(model, backend="eager")
    with pytest.raises(UsageError, match="compile it inside"), erased(compiled, {"0": eraser}):
        pass
    with torch.no_grad(), erased(model, {"0": eraser}):
        expected = model(there)
        torch.testing.assert_close(torch.compile(model, backend="eager")(there), expected)
        assert not torch.allclose(expected, torch.tanh(model[0].weight @ there.T).T)


def test_what_is_no_model_is_an_error(people):
    with pytest.raises(UsageError, match="list, which has no layers"), erased([], {}):
        pass
