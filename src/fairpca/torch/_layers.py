"""Layers of a model by name, and the hidden state in what a layer returns."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from copy import copy
from fnmatch import fnmatchcase
from typing import Any

from .._attributes import did_you_mean, listed
from ..errors import UsageError
from ._library import torch_side

MOST_LEVELS, MOST_SHOWN = 8, 3
"""So deep names are looked for in a model, and so many are shown."""

Layers = str | Iterable[str] | None
"""Names of modules or patterns of them; None for the blocks that the model is a list of."""


def checked_model(model: Any, purpose: str) -> Any:
    """Return torch's side for a model whose layers can be hooked."""
    modules = torch_side(purpose)
    if not modules.is_module(model):
        raise UsageError(
            f"model is a {type(model).__name__}, which has no layers to hook. Pass a "
            f"torch.nn.Module, such as the model inside a pipeline."
        )
    for module in model.modules():
        if hasattr(module, "_orig_mod") or getattr(module, "_compiled_call_impl", None):
            raise UsageError(
                "A part of the model is compiled, and compiled code may skip hooks without a "
                "word. Pass the model as it was before torch.compile, and compile it inside the "
                "with block."
            )
    return modules


def layer_of(model: Any, name: str) -> Any:
    """Return a module of a model by its name."""
    try:
        return model.get_submodule(name)
    except AttributeError as reason:
        raise _no_layer(model, name) from reason


def _no_layer(model: Any, name: str) -> UsageError:
    names = [known for known, _ in model.named_modules(remove_duplicate=False) if known]
    return UsageError(
        f"The model has no module {name!r}.{did_you_mean(name, names)} model.named_modules() "
        f"lists all {len(names)}."
    )


def find_layers(model: Any, layers: Layers, purpose: str) -> list[str]:
    """Return the names of the modules that are meant, each once."""
    is_list = checked_model(model, purpose).is_list
    modules = {name: m for name, m in model.named_modules(remove_duplicate=False) if name}
    if layers is None:
        return _blocks([name for name, module in modules.items() if is_list(module)], modules)
    found: dict[str, None] = {}
    for pattern in [layers] if isinstance(layers, str) else layers:
        matching = [name for name in modules if _matches(name, pattern)]
        if not matching:
            raise _no_layer(model, pattern)
        found |= dict.fromkeys(matching)
    if not found:
        raise UsageError(
            "layers is empty. Pass names of modules, or None for the blocks of the model."
        )
    return list(found)


def _matches(name: str, pattern: str) -> bool:
    """Tell whether a pattern fits a name, part by part: a star does not reach over a dot."""
    parts, wanted = name.split("."), pattern.split(".")
    return len(parts) == len(wanted) and all(map(fnmatchcase, parts, wanted))


def _blocks(lists: list[str], modules: Mapping[str, Any]) -> list[str]:
    """Return the parts of the longest list of modules that is not inside another one."""
    outer = [name for name in lists if not any(name.startswith(f"{one}.") for one in lists)]
    longest = max((len(modules[name]) for name in outer), default=0)
    candidates = [name for name in outer if len(modules[name]) == longest > 0]
    if len(candidates) != 1:
        raise _not_one_list(longest, candidates, modules)
    return [f"{candidates[0]}.{i}" for i in range(longest)]


def _not_one_list(longest: int, lists: list[str], modules: Mapping[str, Any]) -> UsageError:
    """Return the error of a model with no list of blocks, or several, with names that it has."""
    if lists:
        many = f"lists of {longest} blocks each: {listed(lists)}"
        example = f"'{lists[0]}.*', or the names of modules"
    elif modules:
        many = "no list of blocks"
        levels = [[name for name in modules if name.count(".") == n] for n in range(MOST_LEVELS)]
        several = next((names for names in levels if len(names) > 1), list(modules))
        example = f"{several[:MOST_SHOWN]}, for example; model.named_modules() has all names"
    else:
        many, example = "no modules inside", "'0' for torch.nn.Sequential(model)"
    return UsageError(
        f"The model has {many}, so its layers have to be named. Pass layers={example}."
    )


def hidden_state(output: Any, layer: str, is_tensor: Any) -> Any:
    """Return the activations in what a layer returned: that, or the first of its parts."""
    first = output
    if isinstance(output, Mapping):
        first = next(iter(output.values()), None)
    elif isinstance(output, tuple | list):
        first = output[0] if output else None
    if not is_tensor(first) or not first.is_floating_point():
        what = type(first).__name__ if first is output else f"{type(output).__name__} that begins "
        if first is not output:
            what += f"with a {type(first).__name__}"
        raise UsageError(
            f"The layer {layer!r} returns a {what}, not activations. Name a module that returns a "
            f"tensor of floats, or a tuple, list or dict that begins with one."
        )
    if first.is_nested or first.ndim not in (2, 3):
        shape = "a nested tensor" if first.is_nested else f"a tensor of shape {tuple(first.shape)}"
        raise UsageError(
            f"The layer {layer!r} returns {shape}. Activations have the shape (batch, tokens, "
            f"features) or (rows, features); torch.nn.TransformerEncoder needs "
            f"enable_nested_tensor=False."
        )
    return first


def with_hidden_state(output: Any, hidden: Any) -> Any:
    """Return what a layer returned with other activations."""
    if isinstance(output, Mapping):
        changed: Any = copy(output)
        changed[next(iter(output))] = hidden
        return changed
    if isinstance(output, tuple) and hasattr(output, "_replace"):  # a named one
        return output._replace(**{output._fields[0]: hidden})  # type: ignore[attr-defined]
    if isinstance(output, tuple | list):
        return type(output)([hidden, *output[1:]])
    return hidden
