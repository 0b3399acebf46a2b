"""Fitted erasers where a model computes: on the outputs of layers, as modules, in weights."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from typing import Any

import numpy as np

from .._maps import Removal
from .._numerics import to_numpy
from ..errors import UsageError
from ._layers import checked_model, hidden_state, layer_of, with_hidden_state
from ._library import torch_side


@contextmanager
def erased(model: Any, erasers: Mapping[str, Any]) -> Iterator[Any]:
    """Erase from what layers of a model return, as long as the block lasts.

    Gradients flow through. What is changed is the hidden state: the output of a layer, or the first
    part of an output that is a tuple, a list or a dict, as in transformers. Half precision is
    computed in single precision; type and device stay.

    Parameters
    ----------
    model : torch.nn.Module
        Any model. If it is to be compiled, compile it inside the block.
    erasers : dict of str to eraser
        Fitted erasers of `fairpca.erasers`, or what `as_module` returned, by the name of the module
        whose output each changes, such as ``"layers.12"``. The names are those of
        ``model.named_modules()``.

    Yields
    ------
    model : torch.nn.Module
        The same model. Its hooks are removed at the end, also after an error. Blocks may be nested:
        the inner one changes what the outer one has left.

    See Also
    --------
    scrub : Fits an eraser for each layer.
    layer_leakage : Measures what layers reveal, before and after.

    Examples
    --------
    >>> import torch
    >>> from fairpca.erasers import LEACE
    >>> from fairpca.torch import erased
    >>> rng = torch.Generator().manual_seed(0)
    >>> sex = torch.arange(200) % 2
    >>> X = torch.randn(200, 4, generator=rng) + sex[:, None]
    >>> model = torch.nn.Sequential(torch.nn.Linear(4, 3), torch.nn.Tanh())
    >>> hidden = model[0](X)
    >>> with erased(model, {"0": LEACE().fit(hidden, sensitive_features=sex)}):
    ...     hidden = model[0](X)
    >>> gap = hidden[sex == 1].mean(dim=0) - hidden[sex == 0].mean(dim=0)
    >>> bool(gap.abs().max() < 1e-5)
    True
    """
    modules = checked_model(model, "erased")
    placed = {name: modules.Placed(_as_module(modules, one)) for name, one in erasers.items()}
    with ExitStack() as hooks:
        for name, erase in placed.items():
            hook = _hook(name, erase, modules.is_tensor)
            hooks.callback(layer_of(model, name).register_forward_hook(hook).remove)
        yield model


def _hook(name: str, erase: Callable[[Any], Any], is_tensor: Callable[[Any], bool]) -> Any:
    def change(module: Any, inputs: Any, output: Any) -> Any:
        hidden = hidden_state(output, name, is_tensor)
        try:
            return with_hidden_state(output, erase(hidden))
        except UsageError as error:
            error.add_note(f"This was the layer {name!r}.")
            raise

    return change


def as_module(eraser: Any = None) -> Any:
    """Return a fitted eraser as a torch module, which needs two vectors per direction and a mean.

    Parameters
    ----------
    eraser : eraser, default=None
        A fitted one of `fairpca.erasers`. None makes an empty module, into which a state dict is
        loaded.

    Returns
    -------
    module : torch.nn.Module
        It takes activations of shape (..., n_features) of any precision, and has no parameters. Its
        buffers are `along` and `away` of shape (n_features, n_directions), `mean` of shape
        (n_features,), in single precision; and `gone`, which tells the columns of which nothing is
        left, where there are any.

    See Also
    --------
    fairpca.save : Saves the eraser itself, with its parameters.
    fairpca.models.export_torch : Writes a module that needs no fairpca.

    Notes
    -----
    In half precision the buffers have three digits, and a thousandth of the attribute is left.
    Where a module is part of a model that is converted, convert it back: ``module.float()``.

    Examples
    --------
    >>> import numpy as np
    >>> import torch
    >>> from fairpca.erasers import LEACE
    >>> from fairpca.torch import as_module
    >>> sex = np.arange(200) % 2
    >>> X = np.random.default_rng(0).normal(size=(200, 4)) + sex[:, None]
    >>> eraser = LEACE().fit(X, sensitive_features=sex)
    >>> module = as_module(eraser)
    >>> {name: tuple(buffer.shape) for name, buffer in module.state_dict().items()}
    {'along': (4, 1), 'away': (4, 1), 'mean': (4,)}
    >>> again = as_module()
    >>> again.load_state_dict(module.state_dict())
    <All keys matched successfully>
    >>> bool(np.allclose(again(torch.from_numpy(X)), eraser.transform(X), atol=1e-5))
    True
    """
    modules = torch_side("as_module")
    return modules.EraserModule() if eraser is None else modules.EraserModule(_removal(eraser))


def _as_module(modules: Any, eraser: Any) -> Any:
    """Return an eraser as a module with all its digits; a module as it is."""
    if modules.is_module(eraser):
        return eraser
    return modules.EraserModule(_removal(eraser), modules.torch.float64)


def _removal(eraser: Any) -> Removal:
    """Return what a fitted eraser does, on the host."""
    check = getattr(eraser, "_check_solved", None)
    if check is None:
        raise UsageError(
            f"A {type(eraser).__name__} is no eraser. Pass a fitted one of fairpca.erasers, such "
            f"as LEACE().fit(X, sensitive_features=...)."
        )
    check()
    fitted = eraser._map
    if not isinstance(fitted, Removal):
        d, k = eraser.n_features_in_, fitted.n_outputs
        raise UsageError(
            f"{type(eraser).__name__} returns {k} new columns in place of {d} features, and the "
            f"next layer expects the features themselves. Pass a linear eraser, which keeps them: "
            f"LEACE, SPLINCE, SAL or MeanProjection."
        )
    return fitted.converted(to_numpy)


def fold(eraser: Any, linear: Any) -> Any:
    """Return a linear layer that erases first: ``folded(x)`` is ``linear(eraser(x))``.

    Then nothing is left to compute at inference. It is the same only for what goes directly into
    this layer: between a block of a transformer and the next linear layer there is usually a
    normalisation, and other layers read the same activations.

    Parameters
    ----------
    eraser : eraser
        A fitted one of `fairpca.erasers`, of as many features as the layer has inputs.
    linear : torch.nn.Linear
        The layer; it is not changed.

    Returns
    -------
    folded : torch.nn.Linear
        A new layer with a bias, of the same type and on the same device. Weights are computed in
        double precision.

    Examples
    --------
    >>> import torch
    >>> from fairpca.erasers import LEACE
    >>> from fairpca.torch import fold
    >>> rng = torch.Generator().manual_seed(0)
    >>> sex = torch.arange(200) % 2
    >>> X = torch.randn(200, 4, generator=rng) + sex[:, None]
    >>> eraser = LEACE().fit(X, sensitive_features=sex)
    >>> linear = torch.nn.Linear(4, 3)
    >>> folded = fold(eraser, linear)
    >>> torch.allclose(folded(X), linear(eraser.transform(X)), atol=1e-5)
    True
    """
    modules = torch_side("fold")
    if not modules.is_linear(linear):
        raise UsageError(
            f"linear is a {type(linear).__name__}, whose weights are not those of a "
            f"torch.nn.Linear of floats. Use erased, or put as_module(eraser) before it."
        )
    removal = _removal(eraser)
    if linear.in_features != removal.n_inputs:
        raise UsageError(
            f"The layer has {linear.in_features} inputs, but the eraser was fitted to "
            f"{removal.n_inputs} features. Fit it to the activations that go into this layer."
        )
    W = to_numpy(linear.weight).astype(float)
    bias = 0.0 if linear.bias is None else to_numpy(linear.bias)
    kept = W if removal.gone is None else np.where(removal.gone, 0.0, W)
    moved = kept @ removal.away
    constant = moved @ (removal.along.T @ removal.mean) + (W - kept) @ removal.mean
    return modules.linear(linear, kept - moved @ removal.along.T, bias + constant)
