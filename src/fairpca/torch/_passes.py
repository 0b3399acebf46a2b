"""Passes of batches through a model: what goes in, and whose activations come by."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from inspect import Parameter, signature
from typing import Any

import numpy as np

from .._numerics import on_the_host
from .._rows import flat
from ..errors import UsageError
from ._layers import hidden_state, layer_of

FORMS = (
    "Yield (inputs, sensitive_features), (inputs, sensitive_features, mask), or a dict of the "
    "model's arguments and 'sensitive_features'."
)


@dataclass(frozen=True)
class Given:
    """What a batch gives: arguments of the model, labels, which tokens count, and a target."""

    inputs: Any
    labels: Any
    mask: np.ndarray | None = None
    padding: np.ndarray | None = None
    y: Any = None

    @classmethod
    def of(cls, batch: Any) -> Given:
        """Return the parts of what an iterable yielded."""
        if isinstance(batch, Mapping) and "sensitive_features" in batch:
            inputs: Any = {k: v for k, v in batch.items() if k != "sensitive_features"}
            more: list[Any] = [batch["sensitive_features"]]
        elif isinstance(batch, tuple | list) and 2 <= len(batch) <= 4:
            inputs, *more = batch
        else:
            raise UsageError(f"A batch is a {type(batch).__name__}. {FORMS}")
        parts = [_on_the_host(part) for part in more]
        parts += [None] * (3 - len(parts))
        labels, mask, y = parts
        if labels is None:
            raise UsageError(f"A batch has None for sensitive_features. {FORMS}")
        if isinstance(inputs, Mapping):
            inputs = dict(inputs)
        dicts = [
            a for a in (inputs if _are_several(inputs) else [inputs]) if isinstance(a, Mapping)
        ]
        masks = [one["attention_mask"] for one in dicts if "attention_mask" in one]
        return cls(inputs, labels, mask, on_the_host(masks[0]) if masks else None, y)

    @property
    def n(self) -> int:
        """How many sequences, or rows, there are."""
        labels = self.labels
        return len(next(iter(labels.values())) if isinstance(labels, Mapping) else labels)

    def call(self, model: Any, moved: Callable[[Any, Any], Any], device: Any) -> Any:
        """Return what the model makes of the inputs."""
        inputs = moved(self.inputs, device)
        if isinstance(inputs, Mapping) and not _takes_as_one(model, inputs):
            return model(**inputs)
        return model(*inputs) if _are_several(inputs) else model(inputs)

    def counted(self, hidden: Any) -> np.ndarray | None:
        """Return which rows of activations count, in their shape without the last axis."""
        shape = tuple(hidden.shape[:-1])
        mask = self.padding if self.mask is None else np.asarray(self.mask)
        if mask is None:
            return None
        if mask.shape == shape or (len(shape) == 1 and mask.size == shape[0]):
            return mask.reshape(shape) != 0
        if self.mask is None and len(shape) == 1:  # one row for each sequence has no padding
            return None
        name = "attention_mask" if self.mask is None else "mask"
        raise UsageError(
            f"The {name} of a batch has the shape {mask.shape}, but the activations are {shape} "
            f"rows. Pass (inputs, sensitive_features, mask) with a mask of shape {shape}."
        )

    def rows(self, hidden: Any) -> tuple[Any, Any, Any, np.ndarray]:
        """Return activations as rows, the label and target of each, and which of them count."""
        counted = self.counted(hidden)
        X, labels, y = flat(hidden, self.labels, self.y)
        n = int(X.shape[0])
        labels, y = (_each(value, lambda a: _of_rows(a, n)) for value in (labels, y))
        return X, labels, y, np.full(n, True) if counted is None else counted.reshape(n)


def _are_several(inputs: Any) -> bool:
    """Tell whether inputs are several arguments by position."""
    return isinstance(inputs, tuple | list)


def _takes_as_one(model: Any, inputs: Mapping[str, Any]) -> bool:
    """Tell whether a dict is the one argument of a model, as of SentenceTransformer."""
    required = [
        one.name
        for one in signature(model.forward).parameters.values()
        if one.default is one.empty
        and one.kind in (Parameter.POSITIONAL_ONLY, Parameter.POSITIONAL_OR_KEYWORD)
    ]
    return len(required) == 1 and required[0] not in inputs


def _on_the_host(value: Any) -> Any:
    return None if value is None else _each(value, lambda a: np.asarray(on_the_host(a)))


def _each(value: Any, function: Callable[[Any], Any]) -> Any:
    """Return what a function makes of an array, or of each of several columns."""
    if value is None:
        return None
    if isinstance(value, Mapping):
        return {name: function(column) for name, column in value.items()}
    return function(value)


def _of_rows(values: np.ndarray, n: int) -> np.ndarray:
    """Return one entry for each of n rows."""
    if len(values) != n and values.ndim == 2 and values.size == n:
        return values.reshape(n)
    if len(values) != n:
        raise UsageError(
            f"sensitive_features of a batch has the shape {values.shape}, but the activations are "
            f"{n} rows. Pass an entry for each sequence, or for each token."
        )
    return values


def taken(value: Any, rows: np.ndarray) -> Any:
    """Return the entries of some rows."""
    return _each(value, lambda a: a[rows])


def each_batch(batches: Iterable[Any]) -> Iterator[tuple[Any, Given]]:
    """Yield batches as they are, and what they give."""
    nothing = True
    for batch in batches:
        nothing = False
        yield batch, Given.of(batch)
    if nothing:
        raise UsageError(f"batches yields nothing. {FORMS}")


def check_repeatable(batches: Any) -> None:
    """Raise if batches can be read once only."""
    if not isinstance(batches, Iterable) or iter(batches) is batches:
        raise UsageError(
            f"batches is a {type(batches).__name__}, which cannot be read several times, once for "
            f"each layer. Pass a DataLoader, a list, or an object whose __iter__ starts anew."
        )


class Enough(Exception):
    """Ends a pass at a layer: what comes behind it is not needed."""


Note = Callable[[str, Any], None]
"""Takes the name of a layer and its activations."""


class Passes:
    """Runs batches through a model in evaluation mode, and shows activations of some layers."""

    def __init__(self, model: Any, modules: Any) -> None:
        self._model, self._modules = model, modules
        self._device = modules.device_of(model)

    def run(self, given: Given, layers: Iterable[str], note: Note) -> Any:
        """Return what the model makes of a batch; None if `note` raised `Enough`."""
        with ExitStack() as stack:
            for name in layers:
                hook = self._hook(name, note)
                stack.callback(layer_of(self._model, name).register_forward_hook(hook).remove)
            stack.enter_context(self._modules.evaluating(self._model))
            try:
                return given.call(self._model, self._modules.moved, self._device)
            except Enough:
                return None

    def chosen(self, X: Any, positions: np.ndarray) -> Any:
        """Return some rows of activations."""
        return X if len(positions) == X.shape[0] else self._modules.chosen(X, positions)

    def _hook(self, name: str, note: Note) -> Any:
        def show(module: Any, inputs: Any, output: Any) -> None:
            note(name, hidden_state(output, name, self._modules.is_tensor))

        return show
