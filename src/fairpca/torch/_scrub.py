"""An eraser for each layer, fitted to what the erasers of earlier layers have left."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any

import numpy as np
from sklearn.base import clone

from .._attributes import listed
from ..erasers import LEACE
from ..errors import FairPCAError, UsageError
from ._erase import erased
from ._layers import Layers, checked_model, find_layers
from ._passes import Enough, Given, Passes, check_repeatable, each_batch, taken


def scrub(
    model: Any, batches: Iterable[Any], *, layers: Layers = None, method: Any = None
) -> dict[str, Any]:
    """Fit an eraser to the activations of each layer, the earlier layers erased.

    Layers are fitted in the order in which the model runs them: what a layer returns depends on
    what was erased before it. For each layer the batches are read once, and the model runs up to
    it. Moments are kept, never activations, so memory does not depend on the number of batches.

    Parameters
    ----------
    model : torch.nn.Module
        Any model. It is run in evaluation mode without gradients, and left as it was.
    batches : iterable
        A DataLoader, a list, or anything else that can be read several times. It yields ``(inputs,
        sensitive_features)``, perhaps with a mask behind and a target behind that, or dicts of
        the model's arguments and ``sensitive_features``. Inputs are a tensor, a tuple of arguments,
        or a dict of them; a dict goes as a whole to a model of one argument, such as a
        SentenceTransformer. Tensors are moved to the device of the model. Attributes are an array,
        or a dict of several, with one entry for each sequence or for each token: of shape (batch,)
        or (batch, tokens). Tokens whose mask is 0 are left out; without a mask, those whose
        ``attention_mask`` in the inputs is 0.
    layers : str or list of str, default=None
        Names of modules, or patterns such as ``"model.layers.*"`` and ``"transformer.h.*.mlp"``, of
        which a star stands for one part of a name. None stands for the blocks of the model: the
        modules of its longest list. Activations have the shape (batch, tokens, n_features) or
        (batch, n_features).
    method : eraser, default=None
        What is fitted to each layer; it has ``partial_fit``. None stands for
        ``fairpca.erasers.LEACE()``.

    Returns
    -------
    erasers : dict of str to eraser
        A fitted eraser by the name of its layer, in the order in which the model runs them. They
        keep no moments.

    See Also
    --------
    erased : Runs the model with them.
    layer_leakage : Measures what layers reveal, on held-out batches.
    fairpca.metrics.plan : Predicts what a linear probe finds there.

    Notes
    -----
    A linear model on one token of one erased layer finds nothing on the data of the fit; one on
    several layers together, on combinations of tokens, or a non-linear one may. The next layer
    computes the attribute again from what non-linear models see, which is why each is erased.
    On new data it finds what `fairpca.metrics.plan` predicts, if rows of the fit are independent;
    with many tokens of each text, less than is planned for as many texts.

    This is the sequential concept scrubbing of [1]_. Theirs keeps the activations of all data.

    References
    ----------
    .. [1] Belrose, Schneider-Joseph, Ravfogel, Cotterell, Raff, Biderman. "LEACE: perfect linear
       concept erasure in closed form". NeurIPS 2023.

    Examples
    --------
    >>> import torch
    >>> from torch import nn
    >>> from fairpca.torch import erased, scrub
    >>> rng = torch.Generator().manual_seed(0)
    >>> sex = torch.arange(200) % 2
    >>> X = torch.randn(200, 4, generator=rng) + sex[:, None]
    >>> model = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 8), nn.Tanh())
    >>> batches = [(X[:100], sex[:100]), (X[100:], sex[100:])]
    >>> erasers = scrub(model, batches, layers=["1", "3"])
    >>> erasers
    {'1': LEACE(), '3': LEACE()}
    >>> with erased(model, erasers):
    ...     hidden = model(X)
    >>> gap = hidden[sex == 1].mean(dim=0) - hidden[sex == 0].mean(dim=0)
    >>> bool(gap.abs().max() < 1e-4)
    True
    """
    modules = checked_model(model, "scrub")
    method = LEACE() if method is None else method
    if not hasattr(method, "partial_fit"):
        raise UsageError(
            f"method={method!r} has no partial_fit, so it cannot be fitted batch by batch. Pass an "
            f"eraser that has, such as fairpca.erasers.LEACE()."
        )
    names = find_layers(model, layers, "scrub")
    check_repeatable(batches)
    passes = Passes(model, modules)
    erasers: dict[str, Any] = {}
    for name, calls in in_order(passes, names, batches).items():
        with erased(model, erasers):
            erasers[name] = _fitted(passes, name, batches, clone(method), once=calls == 1)
    return erasers


def in_order(passes: Passes, names: list[str], batches: Iterable[Any]) -> dict[str, int]:
    """Return how often a pass runs each layer, in the order in which it does."""
    calls: Counter[str] = Counter()
    given = next(each_batch(batches))[1]
    passes.run(given, names, lambda name, _: calls.update([name]))
    if absent := [name for name in names if name not in calls]:
        raise UsageError(
            f"The model did not run {listed(absent)} with the first batch: it is a container, "
            f"another path was taken, or a fused one, which leaves modules out. Name modules that "
            f"are run."
        )
    return dict(calls)


def _fitted(passes: Passes, name: str, batches: Iterable[Any], eraser: Any, once: bool) -> Any:
    """Return an eraser fitted to the activations of a layer, batch by batch."""
    hidden: list[Any] = []

    def note(_: str, activations: Any) -> None:
        hidden.append(activations)
        if once:
            raise Enough

    try:
        for _, given in each_batch(batches):
            passes.run(given, [name], note)
            for activations in hidden:
                _add(passes, eraser, given, activations)
            hidden.clear()
        eraser._check_solved()
    except FairPCAError as error:
        error.add_note(f"This was the layer {name!r}.")
        raise
    eraser.__dict__.pop("moments_", None)  # of shape (d, d), one for each layer
    return eraser


def _add(passes: Passes, eraser: Any, given: Given, activations: Any) -> None:
    X, labels, y, counted = given.rows(activations)
    positions = np.flatnonzero(counted)
    if len(positions):
        X, labels, y = passes.chosen(X, positions), taken(labels, positions), taken(y, positions)
        eraser.partial_fit(X, y, sensitive_features=labels)
