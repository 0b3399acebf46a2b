"""Erasers as modules of torch; the only file here that imports it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from copy import deepcopy
from typing import Any

import numpy as np
import torch
from torch import nn

from .._maps import Removal
from .._numerics import full_precision
from ..errors import UsageError

BUFFERS = ("along", "away", "mean", "gone")
"""What a state dict holds; `gone` only where a column is gone as a whole."""

AUTOCAST = ("cpu", "cuda", "xpu")
"""Devices on which torch may choose the precision of products by itself."""


class EraserModule(nn.Module):
    """Activations to ``x - ((x - mean) @ along) @ away.T``, and columns `gone` to their mean."""

    along: Any
    away: Any
    mean: Any
    gone: Any

    def __init__(self, removal: Removal | None = None, dtype: Any = torch.float32) -> None:
        super().__init__()
        parts = {name: getattr(removal, name) for name in BUFFERS} if removal else {}
        for name in BUFFERS[:3]:
            values = np.array(parts.get(name, np.empty((0,))))  # of its own: maps are frozen
            self.register_buffer(name, torch.as_tensor(values).to(dtype))
        gone = parts.get("gone")
        self.register_buffer("gone", None if gone is None else torch.as_tensor(np.array(gone)))

    def forward(self, x: Any) -> Any:
        """Return the activations without what was erased, in their precision, where they are."""
        held = self._buffers  # looking them up as attributes takes as long as a product
        along, away, mean, gone = held["along"], held["away"], held["mean"], held["gone"]
        if x.shape[-1:] != mean.shape or not mean.shape[0]:
            self._refuse(x)
        precision = computed_in(x)
        if mean.dtype != precision or mean.device != x.device:
            along, away, mean = (b.to(x.device, precision) for b in (along, away, mean))
        rows = x if x.dtype == precision else x.to(precision)
        rows = rows if rows.ndim == 2 else rows.reshape(-1, mean.shape[0])
        if along.shape[1] == 1 and not _lowers_precision(x):
            # One pass, where other products begin with a copy; and vectors are never rounded.
            T = rows.addr(torch.mv(rows - mean, along.squeeze(1)), away.squeeze(1), alpha=-1)
        else:
            with _exact_products(x):
                T = rows.addmm((rows - mean) @ along, away.T, alpha=-1)
        if gone is not None:
            T = torch.where(gone.to(x.device), mean, T)
        T = T if T.dtype == x.dtype else T.to(x.dtype)
        return T if x.ndim == 2 else T.reshape(x.shape)

    def _refuse(self, x: Any) -> None:
        """Raise, since there is nothing to erase, or the activations are of another length."""
        d = self.mean.shape[0]
        if d == 0:
            raise UsageError(
                "This module is empty. Load a state dict of as_module(eraser), or make it from a "
                "fitted eraser."
            )
        raise UsageError(
            f"The activations have the shape {tuple(x.shape)}, but the eraser was fitted to {d} "
            f"features, which is the length of the last axis. Erase where the eraser was fitted."
        )

    def extra_repr(self) -> str:
        """Say how much is erased, where the module is printed."""
        d, r = self.mean.shape[0], self.along.shape[-1]
        return f"{r} of {d} directions" if d else "empty"

    def _load_from_state_dict(self, state_dict: Any, prefix: str, *args: Any) -> None:
        # An empty module takes the shapes of what it loads.
        for name in BUFFERS:
            loaded, own = state_dict.get(prefix + name), getattr(self, name)
            if loaded is None and name == "gone":
                self.gone = None
            elif loaded is not None and (own is None or own.shape != loaded.shape):
                dtype = loaded.dtype if own is None else own.dtype
                setattr(self, name, torch.empty_like(loaded, dtype=dtype, device=self.mean.device))
        super()._load_from_state_dict(state_dict, prefix, *args)


class Placed:
    """A module whose buffers follow the activations: copies, one per device and precision."""

    def __init__(self, module: Any) -> None:
        self._module = module
        self._copies: dict[Any, Any] = {}

    def __call__(self, x: Any) -> Any:
        """Return what the module makes of activations."""
        if not isinstance(self._module, EraserModule):
            return self._module(x)
        where = x.device, computed_in(x)
        if where not in self._copies:
            with torch.inference_mode(False):  # what is made in that mode has no gradients later
                self._copies[where] = deepcopy(self._module).to(*where)
        return self._copies[where](x)


def computed_in(x: Any) -> Any:
    """Return the precision in which activations are changed."""
    return x.dtype if x.dtype == torch.float64 else torch.float32


def _lowers_precision(x: Any) -> bool:
    """Tell whether torch may choose the precision of products by itself, even of vectors."""
    kind = x.device.type
    return kind in AUTOCAST and (torch.compiler.is_compiling() or torch.is_autocast_enabled(kind))


@contextmanager
def _exact_products(x: Any) -> Iterator[None]:
    """Keep torch from rounding the factors of products, which would leave some of the attribute."""
    kind = x.device.type
    autocast = torch.autocast(kind, enabled=False) if _lowers_precision(x) else nullcontext()
    exact = kind != "cpu" and not torch.compiler.is_compiling()
    with autocast, full_precision(x) if exact else nullcontext():
        yield


def linear(like: Any, weight: np.ndarray, bias: np.ndarray) -> Any:
    """Return a linear layer with other weights, and all else as that of an example."""
    out, d = weight.shape
    made = nn.Linear(d, out, device=like.weight.device, dtype=like.weight.dtype)
    with torch.no_grad():
        made.weight.copy_(torch.as_tensor(weight))
        made.bias.copy_(torch.as_tensor(bias))
    made.requires_grad_(like.weight.requires_grad)
    return made.train(like.training)


@contextmanager
def evaluating(model: Any) -> Iterator[None]:
    """Put a model in evaluation mode, without gradients; every part is as it was afterwards."""
    modes = [(module, module.training) for module in model.modules()]
    model.eval()
    try:
        with torch.no_grad():
            yield
    finally:
        for module, mode in modes:
            module.training = mode


def moved(value: Any, device: Any) -> Any:
    """Return what a model is given with its tensors on a device."""
    if device is None:
        return value
    if isinstance(value, torch.Tensor):
        return value.to(device)
    if isinstance(value, dict):
        return {name: moved(part, device) for name, part in value.items()}
    if type(value) in (list, tuple):
        return type(value)(moved(part, device) for part in value)
    return value


def device_of(model: Any) -> Any:
    """Return where a model takes its inputs; None if it has no parameter, or none in memory."""
    first = next(model.parameters(), None)
    return None if first is None or first.device.type == "meta" else first.device


def is_tensor(value: Any) -> bool:
    """Tell whether a value is a tensor."""
    return isinstance(value, torch.Tensor)


def is_module(value: Any) -> bool:
    """Tell whether a value is a module."""
    return isinstance(value, nn.Module)


def is_linear(value: Any) -> bool:
    """Tell whether a value is a linear layer of floats, not a quantised one."""
    return isinstance(value, nn.Linear) and value.weight.is_floating_point()


def is_list(value: Any) -> bool:
    """Tell whether a module is a list of layers."""
    return isinstance(value, nn.ModuleList)


def chosen(X: Any, positions: np.ndarray) -> Any:
    """Return some rows of a tensor."""
    return X[torch.as_tensor(positions, device=X.device)]
