"""What each layer of a model reveals, before and after its layers are erased."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from .._numerics import to_numpy
from ..errors import UsageError
from ..metrics import Leakage, leakage
from ._erase import erased
from ._layers import Layers, checked_model, find_layers
from ._passes import Given, Passes, check_repeatable, each_batch, taken
from ._scrub import in_order

Loss = Callable[[Any, Any], Any]
"""From what the model makes of a batch, and the batch as it came, to a mean loss."""


@dataclass(frozen=True)
class LayerLeakage:
    """What one probe finds in the activations of one layer.

    Attributes
    ----------
    layer : str
        The name of the module.
    attribute : str
        The name of the attribute; ``"sensitive_features"`` where it has none.
    before : fairpca.metrics.Leakage
        In the model as it is.
    after : fairpca.metrics.Leakage or None
        With the erasers; None without any.

    See Also
    --------
    layer_leakage : What makes it.

    Examples
    --------
    >>> import numpy as np
    >>> from fairpca.metrics import leakage
    >>> from fairpca.torch import LayerLeakage
    >>> sex = np.arange(100) % 2
    >>> found = leakage(sex[:, None] + 0.0, sex, random_state=0)
    >>> print(LayerLeakage("layers.0", "sex", before=found))
    layers.0, sex, linear probe: AUC 1.000 (chance up to 0.613)
    """

    layer: str
    attribute: str
    before: Leakage
    after: Leakage | None = None

    def __str__(self) -> str:
        last = self.before if self.after is None else self.after
        then = "" if self.after is None else f", erased {self.after.auc:.3f}"
        return (
            f"{self.layer}, {self.attribute}, {self.before.probe} probe: AUC "
            f"{self.before.auc:.3f}{then} (chance up to {last.chance_interval[1]:.3f})"
        )


@dataclass(frozen=True)
class ModelLeakage:
    """What the layers of a model reveal, and what erasing costs.

    Attributes
    ----------
    layers : tuple of LayerLeakage
        One for each layer, attribute and probe, in the order in which the model runs the layers.
    loss_before : float or None
        The mean loss of the model as it is; None where it was not asked for.
    loss_after : float or None
        The mean loss with the erasers.

    See Also
    --------
    layer_leakage : What makes it.

    Examples
    --------
    >>> from fairpca.torch import ModelLeakage
    >>> print(ModelLeakage((), loss_before=1.5, loss_after=1.53))
    loss: 1.5, erased 1.53
    """

    layers: tuple[LayerLeakage, ...]
    loss_before: float | None = None
    loss_after: float | None = None

    def __str__(self) -> str:
        lines = [str(one) for one in self.layers]
        if self.loss_before is not None:
            then = "" if self.loss_after is None else f", erased {self.loss_after:.4g}"
            lines.append(f"loss: {self.loss_before:.4g}{then}")
        return "\n".join(lines)


def layer_leakage(
    model: Any,
    batches: Iterable[Any],
    *,
    layers: Layers = None,
    erasers: Mapping[str, Any] | None = None,
    probes: Sequence[Any] = ("linear",),
    loss: Loss | None = None,
    tokens: int = 1,
    effort: float | None = None,
    random_state: int | None = 0,
) -> ModelLeakage:
    """Measure what each layer reveals of an attribute, and the loss, before and after erasing.

    Parameters
    ----------
    model : torch.nn.Module
        Any model. It is run in evaluation mode without gradients, and left as it was.
    batches : iterable
        Held-out batches, as in `scrub`: none of those to which the erasers were fitted.
    layers : str or list of str, default=None
        Names of modules, such as ``"layers.3"``, or patterns such as ``"layers.*"``. None stands
        for those of the erasers, or without erasers for the longest list of layers in the model.
    erasers : dict of str to eraser, default=None
        Fitted erasers by the names of their modules, as `scrub` returns them. Without any, the
        model is measured as it is.
    probes : sequence, default=("linear",)
        Who asks, as in `fairpca.metrics.leakage`; ``("linear", "strong")`` asks twice. Before you
        say that an attribute is hidden, ask the strong probe.
    loss : callable, default=None
        ``loss(outputs, batch)`` returns the mean loss of a batch, as a number or a tensor.
        `outputs` is what the model returns, `batch` what the iterable yields. Batches count by
        their number of sequences.
    tokens : int, default=1
        How many tokens of each sequence are drawn, at random, for the probes. Tokens of one
        sequence resemble each other, so with more than one a probe may remember sequences and find
        leakage where there is none: do so only where labels belong to tokens.
    effort : float or None, default=None
        How many seconds the strong probe may take for each layer and attribute.
    random_state : int or None, default=0
        Seeds the tokens that are drawn, folds and permutations.

    Returns
    -------
    found : ModelLeakage
        One row for each layer, attribute and probe; ``print`` shows them.

    See Also
    --------
    fairpca.metrics.leakage : The same for one representation.

    Examples
    --------
    >>> import torch
    >>> from torch import nn
    >>> from fairpca.torch import layer_leakage, scrub
    >>> rng = torch.Generator().manual_seed(0)
    >>> sex = torch.arange(2000) % 2
    >>> X = torch.randn(2000, 4, generator=rng) + sex[:, None]
    >>> model = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 8), nn.Tanh())
    >>> train, test = [(X[:1500], sex[:1500])], [(X[1500:], sex[1500:])]
    >>> erasers = scrub(model, train, layers=["1", "3"])
    >>> found = layer_leakage(model, test, erasers=erasers)
    >>> [(one.layer, one.before.above_chance, one.after.above_chance) for one in found.layers]
    [('1', True, False), ('3', True, False)]
    """
    modules = checked_model(model, "layer_leakage")
    if layers is None and erasers:
        layers = list(erasers)
    names = find_layers(model, layers, "layer_leakage")
    check_repeatable(batches)
    if tokens < 1:
        raise UsageError(f"tokens={tokens} was given, but a probe needs one of each sequence.")
    if isinstance(probes, str):
        probes = [probes]
    passes = Passes(model, modules)
    names = list(in_order(passes, names, batches))

    def seen(context: Any) -> _Seen:
        drawn = _Seen(names, tokens, check_random_state(random_state))
        with context:
            for batch, given in each_batch(batches):
                drawn.add(passes, given, batch, loss)
        return drawn

    stages = [seen(nullcontext())]
    if erasers:
        stages.append(seen(erased(model, erasers)))
    return ModelLeakage(
        tuple(
            LayerLeakage(
                name,
                attribute,
                *(
                    leakage(
                        stage.rows(name),
                        stage.labels(name)[attribute],
                        probe=probe,
                        effort=effort,
                        random_state=random_state,
                    )
                    for stage in stages
                ),
            )
            for name in names
            for attribute in stages[0].labels(name)
            for probe in probes
        ),
        *(stage.loss for stage in stages),
    )


@dataclass
class _Seen:
    """Rows of each layer that were drawn, their labels, and the sum of losses."""

    layers: Sequence[str]
    tokens: int
    rng: np.random.RandomState
    _rows: dict[str, list[np.ndarray]] = field(default_factory=dict)
    _labels: dict[str, list[dict[str, np.ndarray]]] = field(default_factory=dict)
    _losses: list[tuple[int, float]] = field(default_factory=list)

    def add(self, passes: Passes, given: Given, batch: Any, loss: Loss | None) -> None:
        """Run a batch, and keep a few rows of each layer."""
        seed = self.rng.randint(2**31 - 1)  # the same tokens of every layer
        noted: set[str] = set()

        def note(name: str, hidden: Any) -> None:
            if name in noted:  # a layer that is run again: its first activations
                return
            noted.add(name)
            X, labels, _, counted = given.rows(hidden)
            length = hidden.shape[1] if hidden.ndim == 3 else 1
            drawn = np.random.RandomState(seed)
            rows = _some_of_each(counted.reshape(-1, length), self.tokens, drawn)
            named = labels if isinstance(labels, Mapping) else {"sensitive_features": labels}
            self._rows.setdefault(name, []).append(to_numpy(passes.chosen(X, rows)))
            self._labels.setdefault(name, []).append(taken(named, rows))

        outputs = passes.run(given, self.layers, note)
        if loss is not None:
            self._losses.append((given.n, float(loss(outputs, batch))))

    def rows(self, name: str) -> np.ndarray:
        """Return the rows of a layer."""
        return np.concatenate(self._rows[name])

    def labels(self, name: str) -> dict[str, np.ndarray]:
        """Return the attributes of the rows of a layer."""
        parts = self._labels[name]
        return {key: np.concatenate([part[key] for part in parts]) for key in parts[0]}

    @property
    def loss(self) -> float | None:
        """The mean of the losses of batches, each counted by its number of sequences."""
        if not self._losses:
            return None
        counts, losses = zip(*self._losses, strict=True)
        return float(np.average(losses, weights=counts))


def _some_of_each(counted: np.ndarray, most: int, rng: np.random.RandomState) -> np.ndarray:
    """Return positions of up to so many rows that count of each sequence, in their order."""
    keys = np.where(counted, rng.uniform(size=counted.shape), -1.0)
    first = np.argsort(-keys, axis=1)[:, :most]
    chosen = np.zeros(counted.shape, dtype=bool)
    np.put_along_axis(chosen, first, True, axis=1)
    return np.flatnonzero((chosen & counted).ravel())
